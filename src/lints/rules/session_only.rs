//! `session-only`: a session of its own that is taken for detachment.

use super::super::detach::{DETACHING, DETACHING_PYTHON, detached};
use super::super::language::Language::{JavaScript, Python, Rust};
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::SessionOnly,
    severity: Severity::Warning,
    finds: "A process is started in a session of its own and keeps the hook's standard output.",
    why: "A session of its own ends nobody's wait: hosts read a hook's output to its end, and that comes when the last process \
          that has it is gone. The hook answers at once, and the agent waits for the worker.",
    hosts: &[TrapHost::Any],
    needs: &[DETACHING, DETACHING_PYTHON],
    mend: "give it outputs of its own: stdin, stdout and stderr to DEVNULL or to a file",
    bad: &[
        (
            Python,
            "import subprocess\n\ndef f(argv, root):\n    subprocess.Popen(argv, cwd=root, start_new_session=True)\n",
        ),
        (
            Python,
            "import os, subprocess\n\ndef f(argv, root):\n    subprocess.Popen(argv, cwd=root, preexec_fn=os.setsid)\n",
        ),
        (
            JavaScript,
            "import { spawn } from 'node:child_process';\nspawn('w', [], { detached: true, cwd: root, stdio: 'inherit' }).unref();\n",
        ),
        (Rust, "fn f(root: &Path) { Command::new(\"worker\").current_dir(root).process_group(0).spawn().ok(); }\n"),
    ],
    good: &[
        (
            Python,
            "import subprocess\n\ndef f(argv, root):\n    subprocess.Popen(argv, cwd=root, start_new_session=True, stdout=subprocess.DEVNULL)\n",
        ),
        (
            Python,
            "import subprocess\n\ndef f(argv):\n    with subprocess.Popen(argv, start_new_session=True) as child:\n        child.wait()\n",
        ),
        (
            JavaScript,
            "import { spawn } from 'node:child_process';\nspawn('w', [], { detached: true, cwd: root, stdio: 'ignore' }).unref();\n",
        ),
    ],
    seen: Seen { found: 1, right: 1, wrong: 0, remark: "in CPython's webbrowser." },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    for detached in detached(source).iter().filter(|detached| !detached.has_output) {
        let message = format!("a process in a session of its own ({}) keeps the hook's standard output", detached.by);
        hits.push(Hit::at(detached.node, message));
    }
}
