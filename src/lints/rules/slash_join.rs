//! `slash-join`: a path that is built by joining texts with a slash.

use super::super::language::Language::{self, Go, JavaScript, Python, Rust};
use super::super::literal::HOLE;
use super::super::needs::Need;
use super::super::needs::Sign::{Made, Text};
use super::super::paths::{is_path, knows_addresses, naming, text_of};
use super::super::rule::{Hit, Rule, Seen};
use super::super::separators::sees_to_separators;
use super::super::source::{Call, Source};
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::SlashJoin,
    severity: Severity::Note,
    finds: "A path is built by joining texts with a slash.",
    why: "Windows opens it, but it is another text than the one that the system or a library makes of the same file \
          (`C:\\p/x` and `C:\\p\\x`): as a key, in a comparison or in an answer the two differ.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python, Rust, Go], &[Text(SLASHED), Made(naming)]).when(|about| !about.is_test()),
        Need::of(Language::SCRIPTS, &[Text(SLASHED), Made(naming)]).when(|about| !about.is_test()),
    ],
    mend: "join with os.path.join, pathlib or path.join",
    bad: &[
        (Python, "def f(root):\n    return open(f\"{root}/state.json\", \"rb\")\n"),
        (Python, "def f(root_dir, name):\n    return root_dir + \"/\" + name\n"),
        (JavaScript, "const f = (dir) => read(`${dir}/state.json`);\n"),
        (Rust, "fn f(root: &Path) -> String { format!(\"{}/state.json\", root.display()) }\n"),
        (Go, "package a\n\nfunc f(dir string) string { return dir + \"/state.json\" }\n"),
        (Go, "package a\n\nfunc f() string { wd, _ := os.Getwd(); return fmt.Sprintf(\"%s/x.json\", wd) }\n"),
        (Python, "import os\n\nSTATE = \"/\".join([os.getcwd(), \"state.json\"])\n"),
        (JavaScript, "const settings = process.env.HOME + '/.claude/settings.json';\n"),
    ],
    good: &[
        (Python, "import os\n\ndef f(root):\n    return os.path.join(root, \"state.json\")\n"),
        (Python, "def f(base_url):\n    return f\"{base_url}/state.json\"\n"),
        (JavaScript, "const f = (done, files) => `${done}/${files}`;\n"),
        (Rust, "fn f(root: &Path) -> PathBuf { root.join(\"state.json\") }\n"),
        (Rust, "fn f(done: u32, all: u32) -> String { format!(\"{}/{}\", done, all) }\n"),
        (Go, "package a\n\nfunc f(dir string) string { return filepath.Join(dir, \"state.json\") }\n"),
    ],
    seen: Seen {
        found: 12,
        right: 3,
        wrong: 9,
        remark: "the wrong ones are texts for people and for models, and paths that are meant to have slashes.",
    },
    find,
};

/// A slash behind something that is put in, or at the beginning of a text.
const SLASHED: &str = r#"\}/|["'`]/|%[sv]/"#;

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let reads = matches!(source.language, Python | Rust | Go) || source.language.is_script();
    // Where there are addresses, a path may be one of those; a self-test has paths of its own invention.
    if !reads || source.is_test() || knows_addresses(source) || source.imports(&["posixpath"]) {
        return;
    }
    for node in source.syntax.nodes() {
        let built = match node.kind() {
            "string" | "template_string" => interpolated(source, node),
            "binary_operator" | "binary_expression" => added(source, node).or_else(|| percent(source, node)),
            "macro_invocation" => formatted(source, node),
            _ => None,
        };
        add(source, node, built, hits);
    }
    for call in &source.calls {
        let built = joined(source, call).or_else(|| filled(source, call));
        add(source, call.node, built, hits);
    }
}

fn add<'s>(source: &Source<'s>, at: Node<'s>, built: Option<Node<'s>>, hits: &mut Vec<Hit>) {
    if let Some(path) =
        built.filter(|_| !source.is_guarded(at) && !source.is_test_at(at) && !sees_to_separators(source, at))
    {
        hits.push(Hit::at(at, format!("a path is built of `{}` and a slash", super::short(path.text()))));
    }
}

/// Whether what comes after the slash can be of a path.
fn is_plain(rest: &str) -> bool {
    !rest.contains([' ', '\n', '?', ':'])
}

/// `f"{root}/x"`
fn interpolated<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Node<'s>> {
    let first = node.parts().find(|part| part.kind() != "string_start")?;
    if !matches!(first.kind(), "interpolation" | "template_substitution") {
        return None;
    }
    let rest = text_of(node)?;
    let after = rest.strip_prefix(HOLE)?.strip_prefix('/')?;
    if after.starts_with(HOLE) && after.chars().count() == 1 || !is_plain(after) {
        return None;
    }
    let path = first.parts().next()?;
    is_path(source, path).then_some(path)
}

/// `format!("{}/x", root.display())`
fn formatted<'s>(source: &Source<'_>, node: Node<'s>) -> Option<Node<'s>> {
    if source.language != Rust || node.child("macro")?.text() != "format" {
        return None;
    }
    let tokens = node.parts().find(|part| part.kind() == "token_tree")?;
    let text = text_of(tokens.parts().next()?)?;
    let (hole, rest) = text.strip_prefix('{')?.split_once('}')?;
    let rest = rest.strip_prefix('/')?;
    // `display()` is said of paths alone.
    let shows = tokens.parts().any(|part| part.kind() == "identifier" && part.text() == "display");
    (hole.is_empty() && shows && !rest.is_empty() && is_plain(rest)).then_some(tokens)
}

/// `root + "/" + name`
fn added<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Node<'s>> {
    let (left, right) = (node.child("left")?, node.child("right")?);
    let is_sum = node.children().any(|part| part.text() == "+" && !part.is_named());
    let slashed = text_of(right)?;
    // `folder + "/"` alone says that it is one.
    if slashed == "/" && node.parent().is_none_or(|around| around.kind() != node.kind()) {
        return None;
    }
    (is_sum && slashed.starts_with('/') && is_plain(&slashed) && is_path(source, left)).then_some(left)
}

/// `"%s/x" % root`
fn percent<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Node<'s>> {
    let (left, right) = (node.child("left")?, node.child("right")?);
    node.children().find(|part| part.text() == "%" && !part.is_named())?;
    let text = text_of(left)?;
    let first = if right.kind() == "tuple" { right.parts().next()? } else { right };
    let rest = text.strip_prefix("%s/")?;
    (source.language == Python && is_plain(rest) && is_path(source, first)).then_some(first)
}

/// `"{}/x".format(root)`, `fmt.Sprintf("%s/x", root)`
fn filled<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Node<'s>> {
    let (text, first) = match &*call.name {
        ".format" => (text_of(call.receiver?)?, *call.positional.first()?),
        "fmt.Sprintf" => (text_of(*call.positional.first()?)?, *call.positional.get(1)?),
        _ => return None,
    };
    let rest = ["{}/", "{0}/", "%s/", "%v/"].iter().find_map(|hole| text.strip_prefix(hole))?;
    (is_plain(rest) && is_path(source, first)).then_some(first)
}

/// `"/".join([root, name])`, `[root, name].join('/')`
fn joined<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Node<'s>> {
    let (receiver, argument) = (call.receiver?, *call.positional.first()?);
    if call.method() != "join" {
        return None;
    }
    let (by, list) = if text_of(receiver).is_some() { (receiver, argument) } else { (argument, receiver) };
    let first = Some(list).filter(|list| matches!(list.kind(), "list" | "tuple" | "array"))?.parts().next()?;
    // What has been cut at the system's separator is put together again.
    (text_of(by)? == "/" && is_path(source, first)).then_some(first)
}
