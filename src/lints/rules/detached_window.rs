//! `detached-window`: `DETACHED_PROCESS` together with `CREATE_NO_WINDOW`.

use super::super::language::Language::{self, Python, Rust};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::DetachedWindow,
    severity: Severity::Warning,
    finds: "`DETACHED_PROCESS` is combined with `CREATE_NO_WINDOW`.",
    why: "The two exclude each other, and Windows then ignores CREATE_NO_WINDOW: the process has no console, and each console \
          program that it starts opens a window of its own on the screen.",
    hosts: &[TrapHost::Windows],
    needs: &[Need::of(Language::ALL, &[Text(r"\bDETACHED_PROCESS\b"), Text(r"\bCREATE_NO_WINDOW\b")])],
    mend: "use CREATE_NO_WINDOW alone, with CREATE_NEW_PROCESS_GROUP if Ctrl-C is to pass it by",
    bad: &[
        (Python, "import subprocess\n\nFLAGS = subprocess.DETACHED_PROCESS | subprocess.CREATE_NO_WINDOW\n"),
        (Rust, "fn f(command: &mut Command) { command.creation_flags(DETACHED_PROCESS | CREATE_NO_WINDOW); }\n"),
    ],
    good: &[
        (Python, "import subprocess\n\nFLAGS = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP\n"),
        (Python, "import subprocess\n\nEITHER = [subprocess.DETACHED_PROCESS, subprocess.CREATE_NO_WINDOW]\n"),
    ],
    seen: Seen { found: 1, right: 1, wrong: 0, remark: "in the spawn of a daemon." },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let is_or = |node: &Node<'_>| {
        matches!(node.kind(), "binary_operator" | "binary_expression") && node.children().any(|part| part.text() == "|")
    };
    for node in source.syntax.nodes().filter(is_or) {
        // The outermost says it all.
        if node.parent().as_ref().is_some_and(is_or) {
            continue;
        }
        let has = |name: &str| node.descendants().any(|part| part.kind() == "identifier" && part.text() == name);
        if has("DETACHED_PROCESS") && has("CREATE_NO_WINDOW") {
            hits.push(Hit::at(node, "DETACHED_PROCESS makes Windows ignore CREATE_NO_WINDOW"));
        }
    }
}
