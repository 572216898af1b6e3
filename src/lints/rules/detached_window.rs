//! `detached-window`: `DETACHED_PROCESS`, whose children open windows.

use super::super::flags::{has_flag, is_detached_process, says_detached};
use super::super::language::Language::{Go, Python, Rust};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::options::Options;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use super::super::syntax::Node;
use super::super::values::meant;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::DetachedWindow,
    severity: Severity::Warning,
    finds: "A process is started with `DETACHED_PROCESS`, alone or together with `CREATE_NO_WINDOW`.",
    why: "A detached process has no console, and each console program that it starts (git, node, python) opens a window of its \
          own on the screen. CREATE_NO_WINDOW beside it does not help: the two exclude each other, and Windows ignores it.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python, Rust, Go], &[Text(r"\b(?:DETACHED_PROCESS|CREATE_NO_WINDOW)\b")]),
        Need::of(&[Python, Rust, Go], &[Text("(?i)creation_?flags")]),
    ],
    mend: "use CREATE_NO_WINDOW alone, with CREATE_NEW_PROCESS_GROUP if Ctrl-C is to pass it by",
    bad: &[
        (Python, "import subprocess\n\nFLAGS = subprocess.DETACHED_PROCESS | subprocess.CREATE_NO_WINDOW\n"),
        (Rust, "fn f(command: &mut Command) { command.creation_flags(DETACHED_PROCESS | CREATE_NO_WINDOW); }\n"),
        (Python, "import subprocess\n\ndef f(argv):\n    subprocess.Popen(argv, creationflags=0x00000008)\n"),
        (Rust, "const FLAGS: u32 = 0x8;\nfn f(command: &mut Command) { command.creation_flags(FLAGS); }\n"),
        (Go, "package a\n\nvar attributes = syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}\n"),
    ],
    good: &[
        (Python, "import subprocess\n\nFLAGS = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP\n"),
        (Python, "import subprocess\n\nEITHER = [subprocess.DETACHED_PROCESS, subprocess.CREATE_NO_WINDOW]\n"),
    ],
    seen: Seen { found: 2, right: 2, wrong: 0, remark: "in the spawns of a daemon." },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    for node in source.syntax.nodes() {
        // The outermost says it all.
        if is_or(node)
            && !node.parent().is_some_and(is_or)
            && names_one(node)
            && says_detached(node)
            && has_flag(node, "CREATE_NO_WINDOW", HIDDEN)
        {
            hits.push(Hit::at(node, "DETACHED_PROCESS makes Windows ignore CREATE_NO_WINDOW"));
        }
    }
    for flags in given(source) {
        if !is_detached_process(source, flags) {
            continue;
        }
        let is_hit = |node: Node<'_>| hits.iter().any(|hit| hit.bytes == node.bytes());
        let told = flags.descendants().take(80).any(is_hit) || meant(source, flags).into_iter().any(is_hit);
        if !told {
            hits.push(Hit::at(flags, "with DETACHED_PROCESS each console program that it starts opens a window"));
        }
    }
}

const HIDDEN: u64 = 0x0800_0000;

/// Whether one of the two is named: numbers alone may be flags of something else.
fn names_one(flags: Node<'_>) -> bool {
    flags.descendants().take(80).any(|part| matches!(part.text(), "DETACHED_PROCESS" | "CREATE_NO_WINDOW"))
}

fn is_or(node: Node<'_>) -> bool {
    matches!(node.kind(), "binary_operator" | "binary_expression") && node.children().any(|part| part.text() == "|")
}

/// The flags that processes are started with.
fn given<'s>(source: &Source<'s>) -> Vec<Node<'s>> {
    let mut given = Vec::new();
    for call in &source.calls {
        match source.language {
            Python if STARTING.contains(&&*call.name) => {
                let options = Options::of(source, call);
                given.extend(options.values("creationflags"));
            }
            Rust if call.method() == "creation_flags" => given.extend(call.positional.first()),
            _ => {}
        }
    }
    if source.language == Go {
        for element in source.syntax.nodes().filter(|node| node.kind() == "keyed_element") {
            if let [key, value] = element.parts().collect::<Vec<_>>()[..]
                && key.text() == "CreationFlags"
            {
                given.push(value);
            }
        }
    }
    // Two calls may share their options.
    given.sort_by_key(|node| node.index());
    given.dedup();
    given
}

const STARTING: &[&str] = &["subprocess.Popen", "asyncio.create_subprocess_exec", "functools.partial"];
