//! `posix-shell`: a text for the system's shell that only a POSIX shell understands.

use super::super::language::Language::{self, JavaScript, Python};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{shell_text, with_commands};
use super::super::source::Source;
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::PosixShell,
    severity: Severity::Warning,
    finds: "A command is given to the system's shell in a form that only a POSIX shell understands: single quotes, $NAME, $(…), \
            /dev/null, `;` between commands, NAME=value before one, `|| true`.",
    why: "On Windows that shell is cmd.exe. To it single quotes are letters of the word, $NAME stands for itself, and there is \
          no /dev/null: the command does something else, or fails.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Text(r"\b(?:system|popen|getoutput|getstatusoutput|create_subprocess_shell)\b")]),
        Need::of(&[Python], &[Text(r"\bsubprocess\b"), Text(r"\bshell\b")]),
        Need::of(Language::SCRIPTS, &[Text("child_process"), Text(r"\b(?:exec|spawn)(?:Sync)?\b")]),
    ],
    mend: "give an argv and no shell: subprocess.run([…]), execFileSync(program, […])",
    bad: &[
        (Python, "import subprocess\n\ndef f(name):\n    subprocess.run(f\"git commit -m '{name}'\", shell=True)\n"),
        (Python, "import os\n\nos.system(\"git gc 2>/dev/null\")\n"),
        (
            Python,
            "import shlex, subprocess\n\ndef f(x):\n    subprocess.run(\"git log \" + shlex.quote(x), shell=True)\n",
        ),
        (Python, "import subprocess\n\nCOMMAND = \"git gc || true\"\nsubprocess.check_output(COMMAND, shell=True)\n"),
        (JavaScript, "require('child_process').exec('git status 2>/dev/null', done);\n"),
        (
            JavaScript,
            "const { execSync } = require('child_process');\nexecSync('git log --format=\\'%H\\' \"$BRANCH\"');\n",
        ),
    ],
    good: &[
        (Python, "import subprocess\n\nsubprocess.run(\"git status --short\", shell=True)\n"),
        (Python, "import subprocess\n\nsubprocess.run([\"git\", \"commit\", \"-m\", \"it's\"])\n"),
        (Python, "import subprocess\n\nsubprocess.run(\"echo '$X'\", shell=True, executable=\"/bin/bash\")\n"),
        (
            JavaScript,
            "const { execSync } = require('child_process');\nexecSync(\"echo 'x'\", { shell: '/bin/bash' });\n",
        ),
        (
            JavaScript,
            "const { execFileSync } = require('child_process');\nexecFileSync('git', ['log', \"--format='%H'\"]);\n",
        ),
    ],
    seen: Seen {
        found: 0,
        right: 0,
        wrong: 0,
        remark: "three that a first form found were in modules for macOS and for rpm, which are left out.",
    },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if source.is_for_posix() {
        return;
    }
    for call in &source.calls {
        if !matches!(call.node.kind(), "call" | "call_expression") || source.is_guarded(call.node) {
            continue;
        }
        let quotes = quoted_by_posix(source, call);
        let said = shell_text(source, call).and_then(|text| with_commands(&text, posix));
        if let Some(what) = said.or(quotes) {
            hits.push(Hit::at(call.node, format!("the system's shell is given {what}")));
        }
    }
}

/// What of a text is a POSIX shell's own.
fn posix(text: &Source<'_>) -> Option<&'static str> {
    // Who calls one of these is on its system.
    const OF_SYSTEMS: &[&str] = &["rpm", "dpkg", "apt-get", "systemctl", "launchctl", "osascript", "defaults", "brew"];
    if text.calls_of(OF_SYSTEMS).next().is_some() {
        return None;
    }
    text.syntax.nodes().filter(|node| node.is_named()).find_map(|node| match node.kind() {
        "raw_string" => Some("single quotes"),
        "simple_expansion" | "expansion" => Some("a variable of a POSIX shell's form"),
        "command_substitution" => Some("$(…)"),
        "heredoc_redirect" => Some("a text that follows (<<)"),
        "declaration_command" => Some("a command that cmd.exe has not"),
        "program" if node.children().last().is_some_and(|last| last.kind() == "&") => Some("`&` for the background"),
        "file_redirect" if node.child("destination").is_some_and(|to| to.text() == "/dev/null") => Some("/dev/null"),
        "program" if node.children().any(|part| part.kind() == ";") => Some("`;` between commands"),
        // `FOO=1 make`
        "command" if node.children().next().is_some_and(|first| first.kind() == "variable_assignment") => {
            Some("a variable before its command")
        }
        // They are no programs, or none that Windows has.
        "command_name" if matches!(node.text(), "true" | "export" | "command" | "source" | "unset" | "[" | "[[") => {
            Some("a command that cmd.exe has not")
        }
        _ => None,
    })
}

/// Whether a command for a shell is built with `shlex.quote`.
fn quoted_by_posix(source: &Source<'_>, call: &super::super::source::Call<'_>) -> Option<&'static str> {
    let through_shell = call.keyword("shell").is_some_and(|shell| shell.text() == "True")
        && call.keyword("executable").is_none()
        || matches!(&*call.name, "os.system" | "os.popen" | "asyncio.create_subprocess_shell");
    let quotes = |node: Node<'_>| {
        node.kind() == "call"
            && node
                .child("function")
                .is_some_and(|function| matches!(&*source.name_of(function), "shlex.quote" | "shlex.join"))
    };
    (through_shell && call.node.descendants().any(quotes)).then_some("words that shlex quotes for a POSIX shell")
}
