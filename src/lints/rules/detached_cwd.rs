//! `detached-cwd`: a process that is started to outlive the hook, in a folder that nobody chose.

use super::super::detach::{DETACHING, DETACHING_PYTHON, detached};
use super::super::language::Language::{self, Go, JavaScript, Python, Rust, Shell};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{LONE, given_text, is_in_background, redirects_output, sent, with_commands};
use super::super::source::Source;
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::DetachedCwd,
    severity: Severity::Warning,
    finds: "A process is started to live on after the hook, and nothing says in which folder.",
    why: "It sits in whatever folder the hook was started in. Windows removes no folder that a process sits in: a test that \
          runs the hook in a temporary folder fails when that goes, and on Linux the process stays in a deleted one.",
    hosts: &[TrapHost::Windows],
    needs: &[
        DETACHING,
        DETACHING_PYTHON,
        // `(worker &)`
        Need::of(&[Shell], &[Text(LONE), Text(r"\(")]),
        Need::of(&[Python], &[Text(LONE), Text(r"\b(?:subprocess|system|popen|getoutput|getstatusoutput|asyncio)\b")]),
        Need::of(Language::SCRIPTS, &[Text(LONE), Text("child_process")]),
        Need::of(&[Rust, Go], &[Text(LONE), Text(r#""-[a-z]*c""#)]),
    ],
    mend: "give it a folder that outlives it: cwd=… where it is started (in a shell: cd there first)",
    bad: &[
        (
            Python,
            "import subprocess\n\ndef f(argv):\n    subprocess.Popen(argv, start_new_session=True, stdout=subprocess.DEVNULL)\n",
        ),
        (
            Python,
            "import os\nfrom subprocess import DEVNULL, DETACHED_PROCESS, Popen\n\ndef f(argv):\n    if os.name == \"nt\":\n        how = \
             {\"creationflags\": DETACHED_PROCESS}\n    else:\n        how = {\"start_new_session\": True}\n    Popen(argv, \
             stdout=DEVNULL, **how)\n",
        ),
        (
            JavaScript,
            "const { spawn } = require('child_process');\nspawn('node', ['w.js'], { detached: true, stdio: 'ignore' }).unref();\n",
        ),
        (
            Python,
            "import subprocess\n\ndef f(worker):\n    subprocess.Popen([\"setsid\", worker], stdout=subprocess.DEVNULL)\n",
        ),
        (Python, "import os\n\nos.system(\"nohup worker >/dev/null 2>&1 &\")\n"),
        (Python, "import subprocess\n\nsubprocess.run([\"bash\", \"-c\", \"nohup worker >/dev/null 2>&1 &\"])\n"),
        (Shell, "nohup python3 worker.py >/dev/null 2>&1 &\n"),
        (Shell, "setsid --fork worker >/dev/null\n"),
        (Shell, "(worker >/dev/null 2>&1 &)\n"),
        (Shell, "worker >/dev/null 2>&1 &\ndisown\n"),
        (
            Python,
            "import os\n\ndef daemon(argv):\n    if os.fork():\n        return\n    os.setsid()\n    os.execvp(argv[0], argv)\n",
        ),
        (
            Python,
            "import subprocess\n\ndef f(argv):\n    subprocess.Popen(argv, creationflags=0x8, stdout=subprocess.DEVNULL)\n",
        ),
        (
            JavaScript,
            "const { spawn } = require('child_process');\nconst how = { stdio: 'ignore' };\nhow.detached = true;\nspawn('w', [], how).unref();\n",
        ),
        (
            Rust,
            concat!(
                "fn f() {\n    let mut command = Command::new(\"worker\");\n    command.pre_exec(|| { libc:",
                ":setsid(); Ok(()) });\n    command.stdout(Stdio::null()).spawn().ok();\n}\n"
            ),
        ),
        (Rust, "fn f() { Command::new(\"worker\").process_group(0).stdout(Stdio::null()).spawn().ok(); }\n"),
        (
            Go,
            "package a\n\nfunc f() {\n\tcmd := exec.Command(\"worker\")\n\tcmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}\n\tcmd.Start()\n}\n",
        ),
    ],
    good: &[
        (
            Python,
            "import subprocess\n\ndef f(argv, root):\n    subprocess.Popen(argv, cwd=root, start_new_session=True, stdout=subprocess.DEVNULL)\n",
        ),
        (
            Python,
            "import subprocess\n\ndef f(argv):\n    child = subprocess.Popen(argv, start_new_session=True)\n    child.wait()\n",
        ),
        (
            JavaScript,
            "const { spawn } = require('child_process');\nspawn('node', ['w.js'], { detached: true, cwd: root, stdio: 'ignore' }).unref();\n",
        ),
        (
            Python,
            "import subprocess\n\ndef f(root):\n    subprocess.run([\"bash\", \"-c\", \"nohup w >/dev/null 2>&1 &\"], cwd=root)\n",
        ),
        (Python, "import subprocess\n\nsubprocess.run([\"nohup\", \"worker\"])\n"),
        (
            Rust,
            "fn f(root: &Path) {\n    let mut command = Command::new(\"worker\");\n    command.process_group(0).current_dir(root);\n    \
             command.stdout(Stdio::null()).spawn().ok();\n}\n",
        ),
        (Shell, "(cd / && worker >/dev/null 2>&1 &)\n"),
        (Shell, "cd /\nnohup python3 worker.py >/dev/null 2>&1 &\n"),
        (Shell, "python3 worker.py &\nwait\n"),
    ],
    seen: Seen { found: 13, right: 12, wrong: 1, remark: "the wrong one is a function of a test's own shell." },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    for detached in detached(source).iter().filter(|detached| !detached.has_cwd) {
        let message = format!("a process is detached ({}) without a folder of its own", detached.by);
        hits.push(Hit::at(detached.node, message));
    }
    if source.language == Shell {
        for (node, message) in of_shell(source) {
            hits.push(Hit::at(node, message));
        }
    }
    for call in &source.calls {
        let Some(text) = given_text(source, call) else { continue };
        let has_cwd = call.keyword("cwd").is_some() || !call.spread.is_empty();
        if !has_cwd && !source.is_guarded(call.node) {
            let found = with_commands(&text, |inner| of_shell(inner).into_iter().next().map(|(_, message)| message));
            hits.extend(found.map(|message| Hit::at(call.node, message)));
        }
    }
}

/// What a shell detaches.
fn of_shell<'s>(source: &Source<'s>) -> Vec<(Node<'s>, String)> {
    let mut found = Vec::new();
    let first_cd = source.calls_of(&["cd"]).map(|call| call.node.index()).next();
    for call in source.calls_of(&["nohup", "setsid"]) {
        let moved = first_cd.is_some_and(|cd| cd < call.node.index());
        // `setsid --fork` needs no `&`.
        let forks = call.name == "setsid" && call.words().any(|word| matches!(&*word, "-f" | "--fork"));
        if !moved && (forks || is_in_background(call.node)) && !source.is_guarded(call.node) {
            let quiet = if redirects_output(call.node) { "" } else { ", and with the hook's output" };
            let message = format!("a process is detached ({}) without a folder of its own{quiet}", call.name);
            found.push((call.node, message));
        }
    }
    found.extend(disowned(source, first_cd));
    found
}

/// What a shell sends into the background and gives away: `(worker >log 2>&1 &)`, `worker >log 2>&1 & disown`.
fn disowned<'s>(source: &Source<'s>, first_cd: Option<usize>) -> Vec<(Node<'s>, String)> {
    let mut found = Vec::new();
    let disowns = source.calls_of(&["disown"]).map(|call| call.node.index()).next();
    for (statement, mark) in sent(source) {
        let group = mark.parent().filter(|group| group.kind() == "subshell");
        let last_of_subshell = group.is_some() && mark.next_sibling().is_none_or(|next| next.kind() == ")");
        let given_away = last_of_subshell || disowns.is_some_and(|at| at > mark.index());
        let moved = first_cd.is_some_and(|cd| cd < mark.index());
        // `nohup` and `setsid` are told above; a function of the script itself is no program that lives on.
        let by_program = statement.descendants().any(|part| {
            part.kind() == "command_name"
                && matches!(part.text(), "nohup" | "setsid" | "sleep" | "wait" | "echo" | "read")
        });
        if given_away && !moved && !by_program && !source.is_guarded(mark) {
            let by = if last_of_subshell { "( … & )" } else { "disown" };
            found.push((statement, format!("a process is detached ({by}) without a folder of its own")));
        }
    }
    found
}
