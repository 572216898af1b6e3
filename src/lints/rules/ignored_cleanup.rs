//! `ignored-cleanup`: errors of a temporary folder's removal are ignored, and nothing else is done about them.

use super::super::language::Language::Python;
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::options::Options;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::{Call, Source, scope};
use super::super::syntax::Node;
use super::super::values::meant;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::IgnoredCleanup,
    severity: Severity::Note,
    finds: "`TemporaryDirectory(ignore_cleanup_errors=True)`, or `rmtree` with `ignore_errors` of a folder in which something was \
            started, where nothing in the same function waits for a process or ends one.",
    why: "It hides what Windows says, and does not mend it: the folder and whoever sits in it stay.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Text(r"\bignore_cleanup_errors\b")]),
        Need::of(&[Python], &[Text(r"\brmtree\b"), Text(r"\bmkdtemp\b")]),
    ],
    mend: "end and wait for what was started in it, or give that another folder; then the argument is not needed",
    bad: &[
        (
            Python,
            "import tempfile\n\ndef f(run):\n    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:\n        run(folder)\n",
        ),
        (
            Python,
            "import shutil, subprocess, tempfile\n\ndef f(argv):\n    folder = tempfile.mkdtemp()\n    subprocess.Popen(argv, cwd=folder)\n    shutil.rmtree(folder, ignore_errors=True)\n",
        ),
    ],
    good: &[
        (Python, "import shutil\n\nshutil.rmtree(\"build\", ignore_errors=True)\n"),
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
    for call in &source.calls {
        if ignores(source, call) && !waits(source, call.node) {
            hits.push(Hit::at(call.node, "errors of the folder's removal are ignored"));
        }
    }
}

/// Whether a call removes a temporary folder, now or later, and passes over what goes wrong.
fn ignores<'s>(source: &Source<'s>, call: &Call<'s>) -> bool {
    let of_partial =
        || call.name == "functools.partial" && call.positional.first().is_some_and(|it| is_folder(source, *it));
    match &*call.name {
        "tempfile.TemporaryDirectory" => is_asked(source, call),
        "functools.partial" if of_partial() => is_asked(source, call),
        // A folder of `mkdtemp`, in a function that starts something which may sit in it.
        "shutil.rmtree" => {
            let quiet = call.argument(1, "ignore_errors").is_some_and(|value| value.text() == "True")
                || ["onerror", "onexc"].iter().any(|name| {
                    call.keyword(name).is_some_and(|handler| {
                        handler.kind() == "lambda" && handler.child("body").is_some_and(|body| body.kind() == "none")
                    })
                });
            let made = call.positional.first().is_some_and(|folder| {
                meant(source, *folder).into_iter().any(|folder| {
                    folder.child("function").is_some_and(|function| source.name_of(function) == "tempfile.mkdtemp")
                })
            });
            let part = scope(call.node);
            let starts = || source.calls_of(&["subprocess.Popen"]).any(|other| scope(other.node) == part);
            quiet && made && starts()
        }
        _ => false,
    }
}

fn is_asked<'s>(source: &Source<'s>, call: &Call<'s>) -> bool {
    Options::of(source, call).values("ignore_cleanup_errors").any(|value| value.text() == "True")
}

fn is_folder(source: &Source<'_>, node: Node<'_>) -> bool {
    source.name_of(node) == "tempfile.TemporaryDirectory"
}

fn waits<'s>(source: &Source<'s>, at: Node<'s>) -> bool {
    source.scope_has("waits", at, |node| {
        node.kind() == "identifier" && matches!(node.text(), "wait" | "communicate" | "terminate" | "kill" | "join")
    })
}
