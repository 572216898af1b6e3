//! `rename-over`: a rename that Windows refuses if the target is there.

use super::super::language::Language::Python;
use super::super::literal::{HOLE, literal, pieces};
use super::super::names::RENAMING;
use super::super::needs::Need;
use super::super::needs::Sign::Calls;
use super::super::paths::words;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::{Call, Source, scope};
use super::super::syntax::Node;
use super::super::values::meant;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::RenameOver,
    severity: Severity::Warning,
    finds: "A new version of a file is put in its place by `os.rename`, or an old one put aside under a name that is always the same.",
    why: "On Linux and macOS it replaces what is there; on Windows it raises FileExistsError, so the second run fails, not the \
          first.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Calls(&["os.rename", "os.renames"], |call| !call.arguments.is_empty())])
            .when(|about| !about.is_test()),
        Need::of(&[Python], &[RENAMING]).when(|about| !about.is_test()),
    ],
    mend: "use os.replace, which replaces on every system",
    bad: &[
        (Python, "import os\n\ndef f(path):\n    os.rename(path + \".tmp\", path)\n"),
        (Python, "import os\n\ndef f(tmp_path, path):\n    os.rename(tmp_path, path)\n"),
        (Python, "def f(tmp, target):\n    tmp.rename(target)\n"),
        (
            Python,
            "import os, tempfile\n\ndef f(path, data):\n    fd, name = tempfile.mkstemp()\n    os.rename(name, path)\n",
        ),
        (Python, "import os\n\ndef rotate(log):\n    os.rename(log, log + \".1\")\n"),
    ],
    good: &[
        (Python, "import os\n\ndef f(tmp_path, path):\n    os.replace(tmp_path, path)\n"),
        (
            Python,
            "import os\n\ndef f(tmp_path, path):\n    if os.path.exists(path):\n        os.remove(path)\n    os.rename(tmp_path, path)\n",
        ),
        (Python, "import os\n\ndef f(old, new):\n    os.rename(old, new)\n"),
        (Python, "import os, time\n\ndef f(log):\n    os.rename(log, f\"{log}.{time.time_ns()}\")\n"),
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
            ("os.rename" | "os.renames", [from, to]) => (*from, *to),
            ("os.rename" | "os.renames", []) => match (call.keyword("src"), call.keyword("dst")) {
                (Some(from), Some(to)) => (from, to),
                _ => continue,
            },
            (".rename", [to]) => match call.receiver {
                Some(from) => (from, *to),
                None => continue,
            },
            _ => continue,
        };
        let is_new = is_draft(from) || meant(source, from).into_iter().any(|it| is_made_aside(source, it));
        let is_trap = is_new && !is_draft(to) || is_backup(from, to);
        if is_trap && !removes(source, call, to) && !source.is_guarded(call.node) {
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

/// Whether a file was made aside by `tempfile`: `mkstemp()`, and the name of a `NamedTemporaryFile`.
fn is_made_aside<'s>(source: &Source<'s>, from: Node<'s>) -> bool {
    let made = |node: Node<'s>| {
        let name = node.child("function").map(|function| source.name_of(function)).unwrap_or_default();
        matches!(&*name, "tempfile.mkstemp" | "tempfile.NamedTemporaryFile")
    };
    let of_file = || {
        let file = from.child("object").filter(|_| from.child("attribute").is_some_and(|it| it.text() == "name"))?;
        Some(meant(source, file).into_iter().any(made))
    };
    made(from) || of_file().unwrap_or_default() || is_second_of_mkstemp(source, from)
}

/// `fd, name = tempfile.mkstemp()`
fn is_second_of_mkstemp<'s>(source: &Source<'s>, name: Node<'s>) -> bool {
    let made = source.index("second", scope(name), |node| {
        let left = node.child("left").filter(|left| node.kind() == "assignment" && left.kind() == "pattern_list")?;
        let function = node.child("right")?.child("function")?;
        if source.name_of(function) == "tempfile.mkstemp" { left.parts().nth(1).map(Node::text) } else { None }
    });
    name.kind() == "identifier" && made.contains_key(name.text())
}

/// Whether a file is put aside under a name of its own that is always the same: `os.rename(log, log + ".1")`.
fn is_backup(from: Node<'_>, to: Node<'_>) -> bool {
    let is_fixed = |ending: Node<'_>| literal(ending).is_some_and(|text| text.starts_with(['.', '-', '_', '~']));
    match to.kind() {
        "binary_operator" => {
            let (left, right) = (to.child("left"), to.child("right"));
            left.is_some_and(|left| left.text() == from.text()) && right.is_some_and(is_fixed)
        }
        // `f"{log}.1"`
        "string" => {
            let mut holes = to.parts().filter(|part| part.kind() == "interpolation");
            let first = holes.next().and_then(|hole| hole.parts().next());
            let rest = pieces(to).unwrap_or_default();
            let rest = rest.strip_prefix(HOLE);
            first.is_some_and(|first| first.text() == from.text())
                && holes.next().is_none()
                && rest.is_some_and(|rest| rest.starts_with(['.', '-', '_', '~']))
        }
        // `path.with_suffix(".bak")`
        "call" => {
            let of = to.child("function").and_then(|function| function.child("object"));
            let method = to.child("function").and_then(|function| function.child("attribute")).map_or("", Node::text);
            let given = to.child("arguments").and_then(|given| given.parts().next());
            of.is_some_and(|of| of.text() == from.text()) && method == "with_suffix" && given.is_some_and(is_fixed)
        }
        _ => false,
    }
}

/// Whether the target is removed, or asked for, in the same function.
fn removes<'s>(source: &Source<'s>, call: &Call<'s>, target: Node<'s>) -> bool {
    const SEEING: &[&str] = &["remove", "unlink", "exists", "rmtree", "isfile", "isdir", "is_file"];
    // `str(path)` is asked for as `path`.
    let is_text = target.child("function").is_some_and(|function| matches!(function.text(), "str" | "Path"));
    let inner = target.child("arguments").filter(|_| is_text).and_then(|given| given.parts().next());
    let target = inner.unwrap_or(target);
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
    // Who catches FileExistsError knows.
    let knows = call.node.within(&["try_statement"]).is_some_and(|tries| {
        let handlers = tries.parts().filter(|part| part.kind() == "except_clause").take(8);
        handlers.flat_map(Node::descendants).any(|part| part.kind() == "identifier" && part.text() == "FileExistsError")
    });
    knows || given.contains_key(target.text()) || asked.contains_key(target.text())
}
