//! `by-name`: processes that are found or ended by name.

use super::super::language::Language::{self, Go, JavaScript, Python, Rust, Shell};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{argv, given_text, with_commands};
use super::super::source::{Call, Source};
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::ByName,
    severity: Severity::Warning,
    finds: "Processes are found, counted or ended by their name.",
    why: "The name is not yours alone: it meets other sessions, other users, another run of the same test, and the command \
          that asks. Windows has none of these programs, and Git Bash's ps knows no command lines.",
    hosts: &[TrapHost::Windows, TrapHost::Any],
    needs: &[
        Need::of(&[Shell], &[Text(PROGRAMS)]),
        Need::of(&[Python], &[Text(PROGRAMS), Text(r"\b(?:subprocess|system|popen)\b")]),
        Need::of(Language::SCRIPTS, &[Text(PROGRAMS), Text("child_process")]),
        Need::of(&[Rust, Go], &[Text(PROGRAMS), Text(r"\b(?:Command|exec)\b")]),
    ],
    mend: "keep the process id of what you start, and ask for that (kill -0 \"$pid\", child.poll())",
    bad: &[
        (Shell, "pkill -f guard.py\n"),
        (Shell, "ps aux | grep guard.py\n"),
        (Shell, "if pgrep -f worker >/dev/null; then exit 0; fi\n"),
        (Python, "import subprocess\n\nsubprocess.run([\"pgrep\", \"-f\", \"guard\"])\n"),
        (Python, "import os\n\nos.system(\"killall guard\")\n"),
        (Python, "import subprocess\n\nsubprocess.run([\"bash\", \"-euo\", \"pipefail\", \"-c\", \"pkill guard\"])\n"),
        (JavaScript, "const { execSync } = require('child_process');\nexecSync('ps aux | grep guard');\n"),
        (Rust, "fn f() { Command::new(\"pkill\").arg(\"guard\").status().ok(); }\n"),
        (Go, "package a\n\nfunc f() { exec.Command(\"pgrep\", \"guard\").Run() }\n"),
    ],
    good: &[
        (Shell, "kill -0 \"$pid\"\n"),
        (Shell, "ps -p \"$pid\" -o comm=\n"),
        (Shell, "pgrep -P \"$pid\"\n"),
        (Python, "import os\n\nif os.name == \"posix\":\n    os.system(\"killall guard\")\n"),
    ],
    seen: Seen { found: 3, right: 3, wrong: 0, remark: "" },
    find,
};

const PROGRAMS: &str = r"\b(?:pgrep|pkill|killall|pidof|ps)\b";

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    for call in &source.calls {
        let program =
            argv(source, call).and_then(|argv| searching(&argv, || is_piped_on(source, call))).or_else(|| {
                let text = given_text(source, call)?;
                with_commands(&text, |inner| {
                    inner
                        .calls
                        .iter()
                        .find_map(|command| searching(&argv(inner, command)?, || is_piped_on(inner, command)))
                })?
            });
        if let Some(program) = program.filter(|_| !source.is_guarded(call.node)) {
            hits.push(Hit::at(call.node, format!("{program} looks for processes by name")));
        }
    }
}

/// The program, if what it does is to look for a name. `piped`: whether its output is looked through.
fn searching(argv: &[String], piped: impl Fn() -> bool) -> Option<&'static str> {
    let (program, rest) = argv.split_first()?;
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(&word.as_str()));
    match program.rsplit('/').next()? {
        // Children of a process, or of a session, are somebody's own.
        "pgrep" if !has(&["-P", "--parent", "-s", "-g"]) => Some("pgrep"),
        "pkill" if !has(&["-P", "--parent", "-s", "-g"]) => Some("pkill"),
        "killall" => Some("killall"),
        "pidof" => Some("pidof"),
        "ps" if has(&["-C"])
            || (!has(&["-p", "--pid", "-o"]) || has(&["-e", "-A", "-ax", "-eo", "axo"]))
                && has(&["aux", "-ef", "-e", "-A", "ax", "-aux", "-ax", "-eo", "axo", "auxww"])
                && piped() =>
        {
            Some("ps")
        }
        _ => None,
    }
}

/// Whether a command's output goes to something that looks for a text; of an argv, that is not known, and taken for granted.
fn is_piped_on<'s>(source: &Source<'s>, call: &Call<'s>) -> bool {
    if call.node.kind() != "command" {
        return true;
    }
    let Some(pipeline) = call.node.within(&["pipeline"]) else { return false };
    let searches = |node: Node<'_>| {
        node.kind() == "command_name" && matches!(node.text(), "grep" | "egrep" | "rg" | "awk" | "sed")
    };
    !source.index("searches", pipeline, |node| searches(node).then_some("")).is_empty()
}
