//! `slash-join`: a path that is built by joining texts with a slash.

use super::super::language::Language::{self, Go, JavaScript, Python, Rust};
use super::super::literal::HOLE;
use super::super::needs::Need;
use super::super::needs::Sign::{Made, Text};
use super::super::paths::{is_path, naming, text_of};
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
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
        Need::of(&[Python], &[Made(behind_a_path)]).when(|about| !about.is_test()),
        Need::of(Language::SCRIPTS, &[Made(naming), Text(r"\}/|\+\s*(?:/[*/]|[\x22\x27`]/)")])
            .when(|about| !about.is_test()),
        Need::of(&[Rust], &[Text(r"\{\}/"), Text(r"\bdisplay\b")]).when(|about| !about.is_test()),
        Need::of(&[Rust, Go], &[Made(naming), Text(r"\+\s*(?:/[*/]|[\x22`]/)")]).when(|about| !about.is_test()),
    ],
    mend: "join with os.path.join, pathlib or path.join",
    bad: &[
        (Python, "def f(root):\n    return open(f\"{root}/state.json\", \"rb\")\n"),
        (Python, "def f(root_dir, name):\n    return root_dir + \"/\" + name\n"),
        (JavaScript, "const f = (dir) => read(`${dir}/state.json`);\n"),
        (Rust, "fn f(root: &Path) -> String { format!(\"{}/state.json\", root.display()) }\n"),
        (Go, "package a\n\nfunc f(dir string) string { return dir + \"/state.json\" }\n"),
    ],
    good: &[
        (Python, "import os\n\ndef f(root):\n    return os.path.join(root, \"state.json\")\n"),
        (Python, "def f(base_url):\n    return f\"{base_url}/state.json\"\n"),
        (JavaScript, "const f = (done, files) => `${done}/${files}`;\n"),
        (Rust, "fn f(root: &Path) -> PathBuf { root.join(\"state.json\") }\n"),
        (Rust, "fn f(done: u32, all: u32) -> String { format!(\"{}/{}\", done, all) }\n"),
        (Go, "package a\n\nfunc f(dir string) string { return filepath.Join(dir, \"state.json\") }\n"),
    ],
    seen: Seen { found: 2, right: 1, wrong: 1, remark: "the wrong one is an address." },
    find,
};

/// A slash behind a hole with the name of a path in it, in one line or at the end of one of several; or one that is added.
fn behind_a_path() -> String {
    let names = naming();
    format!(
        r#"(?m)["']\{{[^\n]*{names}[^\n]*\}}/|^[^{{\n]*\}}/|(?:{names}[\w\x80-\xff]*|[)\]])(?:\s|\\|#[^\n]*\n)*\+(?:\s|\\|#[^\n]*\n)*[rRbBfFuU]{{0,2}}["']+/"#
    )
}

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let reads = matches!(source.language, Python | Rust | Go) || source.language.is_script();
    // Where there are addresses, a path may be one of those; a self-test has paths of its own invention.
    if !reads || source.is_test() || source.imports(&["urllib", "http", "url", "express", "posixpath"]) {
        return;
    }
    for node in source.syntax.nodes() {
        let built = match node.kind() {
            "string" | "template_string" => interpolated(source, node),
            "binary_operator" | "binary_expression" => added(source, node),
            "macro_invocation" => formatted(source, node),
            _ => None,
        };
        if let Some(path) = built.filter(|_| !source.is_guarded(node)) {
            hits.push(Hit::at(node, format!("a path is built of `{}` and a slash", super::short(path.text()))));
        }
    }
}

/// `f"{root}/x"`
fn interpolated<'s>(source: &Source<'_>, node: Node<'s>) -> Option<Node<'s>> {
    let first = node.parts().find(|part| part.kind() != "string_start")?;
    if !matches!(first.kind(), "interpolation" | "template_substitution") {
        return None;
    }
    let rest = text_of(node)?;
    let after = rest.strip_prefix(HOLE)?.strip_prefix('/')?;
    if after.starts_with(HOLE) && after.chars().count() == 1 || after.contains([' ', '\n', '?', ':']) {
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
    (hole.is_empty() && shows && !rest.is_empty() && !rest.contains([' ', '\n', '?', ':'])).then_some(tokens)
}

/// `root + "/" + name`
fn added<'s>(source: &Source<'_>, node: Node<'s>) -> Option<Node<'s>> {
    let (left, right) = (node.child("left")?, node.child("right")?);
    let is_sum = node.children().any(|part| part.text() == "+" && !part.is_named());
    let slashed = text_of(right)?;
    let is_plain = slashed.starts_with('/') && !slashed.contains([' ', '\n', '?', ':']);
    (is_sum && is_plain && is_path(source, left)).then_some(left)
}
