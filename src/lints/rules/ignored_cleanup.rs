//! `ignored-cleanup`: errors of a temporary folder's removal are ignored, and nothing else is done about them.

use super::super::language::Language::Python;
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::IgnoredCleanup,
    severity: Severity::Note,
    finds: "`TemporaryDirectory(ignore_cleanup_errors=True)`, where nothing in the same function waits for a process or ends one.",
    why: "It hides what Windows says, and does not mend it: the folder and whoever sits in it stay.",
    hosts: &[TrapHost::Windows],
    needs: &[Need::of(&[Python], &[Text(r"\bignore_cleanup_errors\b")])],
    mend: "end and wait for what was started in it, or give that another folder; then the argument is not needed",
    bad: &[(
        Python,
        "import tempfile\n\ndef f(run):\n    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:\n        run(folder)\n",
    )],
    good: &[
        (
            Python,
            "import tempfile\n\ndef f(run):\n    with tempfile.TemporaryDirectory() as folder:\n        run(folder)\n",
        ),
        (
            Python,
            "import tempfile\n\ndef f(start):\n    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:\n        child = start(folder)\n        child.wait()\n",
        ),
    ],
    seen: Seen { found: 0, right: 0, wrong: 0, remark: "" },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    for call in source.calls_of(&["tempfile.TemporaryDirectory"]) {
        let ignores = call.keyword("ignore_cleanup_errors").is_some_and(|value| value.text() == "True");
        let waits = source.scope_has("waits", call.node, |node| {
            node.kind() == "identifier" && matches!(node.text(), "wait" | "communicate" | "terminate" | "kill" | "join")
        });
        if ignores && !waits {
            hits.push(Hit::at(call.node, "errors of the folder's removal are ignored"));
        }
    }
}
