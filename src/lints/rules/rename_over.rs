//! `rename-over`: a rename that Windows refuses if the target is there.

use super::super::language::Language::Python;
use super::super::needs::Need;
use super::super::needs::Sign::Calls;
use super::super::paths::words;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::{Call, Source, scope};
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::RenameOver,
    severity: Severity::Warning,
    finds: "A new version of a file is put in its place by `os.rename`.",
    why: "On Linux and macOS it replaces what is there; on Windows it raises FileExistsError, so the second run fails, not the \
          first.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Calls(&["os.rename"], |call| !call.arguments.is_empty())]).when(|about| !about.is_test())
    ],
    mend: "use os.replace, which replaces on every system",
    bad: &[
        (Python, "import os\n\ndef f(path):\n    os.rename(path + \".tmp\", path)\n"),
        (Python, "import os\n\ndef f(tmp_path, path):\n    os.rename(tmp_path, path)\n"),
        (Python, "def f(tmp, target):\n    tmp.rename(target)\n"),
    ],
    good: &[
        (Python, "import os\n\ndef f(tmp_path, path):\n    os.replace(tmp_path, path)\n"),
        (
            Python,
            "import os\n\ndef f(tmp_path, path):\n    if os.path.exists(path):\n        os.remove(path)\n    os.rename(tmp_path, path)\n",
        ),
        (Python, "import os\n\ndef f(old, new):\n    os.rename(old, new)\n"),
    ],
    seen: Seen { found: 0, right: 0, wrong: 0, remark: "" },
    find,
};

/// Words of names that stand for a file which is to take another's place.
const DRAFTS: &[&str] = &["tmp", "temp", "temporary", "draft", "partial", "new", "swap", "staging", "atomic"];

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    // A self-test knows what is there.
    if source.language != Python || source.is_test() {
        return;
    }
    for call in &source.calls {
        let (from, to) = match (&*call.name, &call.positional[..]) {
            ("os.rename", [from, to]) => (*from, *to),
            (".rename", [to]) => match call.receiver {
                Some(from) => (from, *to),
                None => continue,
            },
            _ => continue,
        };
        if is_draft(from) && !is_draft(to) && !removes(source, call, to) && !source.is_guarded(call.node) {
            let message =
                format!("{} takes the place of {} by a rename", super::short(from.text()), super::short(to.text()));
            hits.push(Hit::at(call.node, message));
        }
    }
}

/// Whether an expression names a draft: by a word of a name, or by the ending of a text.
fn is_draft(node: Node<'_>) -> bool {
    node.descendants().any(|part| match part.kind() {
        "identifier" => words(part.text()).iter().any(|word| DRAFTS.contains(&word.as_str())),
        "string_content" => {
            words(part.text()).iter().any(|word| matches!(word.as_str(), "tmp" | "temp" | "new" | "part"))
        }
        _ => false,
    })
}

/// Whether the target is removed, or asked for, in the same function.
fn removes<'s>(source: &Source<'s>, call: &Call<'s>, target: Node<'s>) -> bool {
    const SEEING: &[&str] = &["remove", "unlink", "exists", "rmtree", "isfile", "isdir", "is_file"];
    let seeing = |node: Node<'s>| {
        let function = node.child("function").filter(|_| node.kind() == "call")?;
        let last = function.text().rsplit('.').next().unwrap_or_default();
        SEEING.contains(&last).then_some((node, function))
    };
    // `os.remove(path)`, and `path.unlink()`.
    let given = source.index("seen arguments", scope(call.node), |node| {
        let (call, _) = seeing(node)?;
        call.child("arguments")?.parts().next().map(Node::text)
    });
    let asked = source.index("seen objects", scope(call.node), |node| seeing(node)?.1.child("object").map(Node::text));
    given.contains_key(target.text()) || asked.contains_key(target.text())
}
