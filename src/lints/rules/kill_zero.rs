//! `kill-zero`: `os.kill(pid, 0)`, which is no look at a process on Windows.

use super::super::language::Language::Python;
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use super::super::values::meant;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::KillZero,
    severity: Severity::Warning,
    finds: "`os.kill(pid, 0)` asks whether a process is alive, where nothing asks for the system first.",
    why: "On Windows 0 is CTRL_C_EVENT: the call sends Ctrl-C to the process and all that share its console, or fails with an \
          OSError that is none of those which it has elsewhere.",
    hosts: &[TrapHost::Windows],
    needs: &[Need::of(&[Python], &[Text(r"\bkill\b"), Text(r"\b0\b")])],
    mend: "ask for the system first (if os.name == \"posix\"), and on Windows OpenProcess and its exit code, or psutil.pid_exists",
    bad: &[(Python, "import os\n\ndef f(pid):\n    os.kill(pid, 0)\n")],
    good: &[
        (Python, "import os\n\ndef f(pid):\n    if os.name == \"nt\":\n        return None\n    os.kill(pid, 0)\n"),
        (
            Python,
            "import os\n\nCAN = os.name != \"nt\"\n\ndef f(pid):\n    if not CAN:\n        return True\n    os.kill(pid, 0)\n",
        ),
        (Python, "import os, signal\n\ndef f(pid):\n    os.kill(pid, signal.SIGTERM)\n"),
    ],
    seen: Seen { found: 8, right: 8, wrong: 0, remark: "" },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    for call in source.calls_of(&["os.kill"]) {
        let signal = call.positional.get(1).copied();
        let is_zero = signal.is_some_and(|signal| meant(source, signal).iter().any(|value| value.text() == "0"));
        if is_zero && !source.is_guarded(call.node) {
            hits.push(Hit::at(call.node, "on Windows os.kill(pid, 0) is no look at a process, but Ctrl-C to it"));
        }
    }
}
