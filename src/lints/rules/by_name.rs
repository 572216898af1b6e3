//! `by-name`: processes that are found or ended by name.

use super::super::language::Language::{self, Go, JavaScript, Python, Rust, Shell};
use super::super::literal::literal;
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
        Need::of(
            &[Python],
            &[Text(PROGRAMS), Text(r"\b(?:subprocess|system|popen|getoutput|getstatusoutput|asyncio|psutil)\b")],
        ),
        Need::of(Language::SCRIPTS, &[Text(PROGRAMS), Text("child_process")]),
        Need::of(&[Rust, Go], &[Text(PROGRAMS), Text(r"\b(?:Command|exec|processes_by_\w+)\b")]),
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
        (Go, "package a\n\nfunc f() { exec.Command(\"sh\", \"-c\", \"ps aux | grep guard\").Run() }\n"),
        (Rust, "fn f() { Command::new(\"ps\").args([\"aux\"]).output().ok(); }\n"),
        (Shell, "sudo pkill guard\n"),
        (Shell, "trap 'pkill -f guard.py' EXIT\n"),
        (
            Python,
            "import subprocess\n\nCOMMAND = [\"taskkill\", \"/F\", \"/IM\", \"node.exe\"]\nsubprocess.run(COMMAND)\n",
        ),
        (Python, "import psutil\n\nfor p in psutil.process_iter():\n    if p.name() == \"guard\":\n        p.kill()\n"),
    ],
    good: &[
        (Shell, "kill -0 \"$pid\"\n"),
        (Shell, "ps -p \"$pid\" -o comm=\n"),
        (Shell, "pgrep -P \"$pid\"\n"),
        (Shell, "command -v pgrep\n"),
        (Python, "import subprocess\n\ndef f(pid):\n    subprocess.run([\"taskkill\", \"/F\", \"/PID\", pid])\n"),
        (Python, "import os\n\nif os.name == \"posix\":\n    os.system(\"killall guard\")\n"),
    ],
    seen: Seen { found: 3, right: 3, wrong: 0, remark: "" },
    find,
};

const PROGRAMS: &str =
    r"\b(?:pgrep|pkill|killall|pidof|ps|tasklist|taskkill|process_iter|processes_by_(?:exact_)?name)\b";

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
                })
            });
        // `trap 'pkill x' EXIT`
        let trapped = || {
            let text = Some(call).filter(|call| call.name == "trap" && source.language == Shell)?.words().next()?;
            with_commands(&text, |inner| inner.calls.iter().find_map(|it| searching(&argv(inner, it)?, || false)))
        };
        let program = program.or_else(trapped);
        if let Some(program) = program.filter(|program| *program == "taskkill" || !source.is_guarded(call.node)) {
            hits.push(Hit::at(call.node, format!("{program} looks for processes by name")));
        }
    }
    let by_name = |call: &&Call<'_>| matches!(call.method(), "processes_by_name" | "processes_by_exact_name");
    hits.extend(
        source
            .calls
            .iter()
            .filter(by_name)
            .map(|call| Hit::at(call.node, format!("{} looks for processes by name", call.method()))),
    );
    hits.extend(
        source
            .calls_of(&["psutil.process_iter"])
            .filter(|call| compares_names(source, call))
            .map(|call| Hit::at(call.node, "psutil's processes are looked through for a name")),
    );
}

/// Whether what goes through all processes looks at their names.
fn compares_names<'s>(source: &Source<'s>, call: &Call<'s>) -> bool {
    source.scope_has("names of processes", call.node, |node| match node.kind() {
        "comparison_operator" => {
            let names = |part: Node<'_>| {
                let text = match part.kind() {
                    "identifier" => part.text().to_owned(),
                    "string" => literal(part).unwrap_or_default(),
                    _ => return false,
                };
                matches!(&*text, "name" | "cmdline" | "exe")
            };
            node.descendants().take(40).any(names)
        }
        _ => false,
    })
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
        "taskkill" | "taskkill.exe" if has(&["/IM", "/im", "/Im", "-im", "//IM"]) => Some("taskkill"),
        "pidof" => Some("pidof"),
        // Of one process it is asked by its id.
        "tasklist" | "tasklist.exe" if !has(&["/FI", "/fi", "//FI"]) => Some("tasklist"),
        "ps" if has(&["-C"])
            || (!has(&["-p", "--pid", "-o"]) || has(&["-e", "-A", "-ax", "-eo", "axo", "-axo", "-Ao"]))
                && has(&[
                    "aux", "-ef", "-e", "-A", "ax", "-aux", "-ax", "-eo", "axo", "auxww", "-axo", "-eaf", "-Ao", "-Af",
                    "-auxww", "auxw", "-eF",
                ])
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
