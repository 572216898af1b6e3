//! Whether a source knows that systems have different separators between the parts of a path.

use super::literal::pieces;
use super::paths::is_path_text;
use super::source::{Source, scope};
use super::syntax::Node;

/// Whether the function that a node lies in sees to separators, or has its paths from where they are slashes.
pub fn sees_to_separators<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    // `os.path.join(*path.split("/"))` makes one of the system's.
    let joins = |around: Node<'_>| around.child("function").is_some_and(|function| function.text().ends_with("join"));
    let joined = node.ancestors().take(6).any(joins);
    // What surrounds a function without a name is read with it.
    let around = Some(scope(node))
        .filter(|scope| matches!(scope.kind(), "arrow_function" | "lambda"))
        .and_then(|it| it.within(&["lexical_declaration", "expression_statement", "return_statement"]));
    let has = |part: Node<'s>| !source.index("separators", part, |node| sees(node).then_some("")).is_empty();
    joined || has(scope(node)) || around.is_some_and(has)
}

/// Names of what brings a path to slashes, or has it so.
const SEEN: &[&str] = &[
    "as_posix",
    "posixpath",
    "PurePosixPath",
    "normcase",
    "replaceAll",
    "zipfile",
    "tarfile",
    "ZipFile",
    "urlparse",
    "urlsplit",
    "namelist",
    "ToSlash",
    "path_slash",
    "to_slash",
];

/// Whether a node is such a name, or a text that says so.
fn sees(node: Node<'_>) -> bool {
    match node.kind() {
        "identifier" | "property_identifier" | "field_identifier" => {
            let text = node.text();
            let of = || node.parent().is_some_and(|of| matches!(of.kind(), "attribute" | "member_expression"));
            SEEN.contains(&text) || matches!(text, "sep" | "altsep") && of() || {
                let lower = text.to_ascii_lowercase();
                ["normalis", "normaliz", "posix", "slash", "separator"].iter().any(|part| lower.contains(part))
                    && !matches!(&*lower, "normpath" | "normalize")
            }
        }
        // `.replace("\\", "/")`, `.split("\\")`, and a text that is the same with backslashes; what git lists has slashes
        // everywhere.
        "string" | "raw_string_literal" | "interpreted_string_literal" | "string_literal" | "char_literal" => {
            let text = pieces(node).unwrap_or_else(|| node.text().trim_matches('\'').replace("\\\\", "\\"));
            match &*text {
                "\\" => is_of_separator(node),
                "ls-files" | "ls-tree" | "--name-only" | "--name-status" | "--porcelain" => true,
                // `[\\/]` is a pattern for both.
                text if text.contains('\\') => {
                    text.contains('[') && text.contains('/') || is_path_text(&text.replace('\\', "/"))
                }
                _ => false,
            }
        }
        "regex" => node.text().contains("\\\\"),
        _ => false,
    }
}

/// Whether a backslash is replaced by a slash, or looked for as well.
fn is_of_separator(backslash: Node<'_>) -> bool {
    let by = backslash.next_sibling().and_then(Node::next_sibling);
    let is_replaced = by.is_some_and(|by| pieces(by).is_some_and(|by| by == "/") || by.text() == "'/'");
    let around = backslash.parent();
    let compares =
        around.is_some_and(|around| matches!(around.kind(), "comparison_operator" | "tuple" | "array_expression"));
    let call = around.and_then(Node::parent).and_then(|call| call.child("function"));
    let method = call.map_or("", |function| function.text().rsplit('.').next().unwrap_or_default());
    let looks = matches!(
        method,
        "split" | "rsplit" | "partition" | "rpartition" | "rfind" | "lastIndexOf" | "includes" | "contains"
    );
    is_replaced || compares || looks
}
