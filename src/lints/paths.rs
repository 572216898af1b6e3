//! What in a source is a path of the system, as far as names and texts tell.

use super::literal::{HOLE, is_text, pieces};
use super::source::Source;
use super::syntax::Node;

/// Words of names that stand for a path.
const PATHS: &[&str] = &[
    "path",
    "file",
    "filename",
    "filepath",
    "dir",
    "directory",
    "folder",
    "cwd",
    "root",
    "fname",
    "dirname",
    "rootdir",
    "basedir",
];

/// An expression for what a source has in it wherever an expression in it is a path. What gives one has such a word in its
/// name, too.
pub fn naming() -> String {
    format!(r"(?i:{}|\bf?p\b)", PATHS.join("|"))
}

/// Words of names that stand for something else with slashes in it.
const OTHERS: &[&str] = &[
    "url", "uri", "href", "route", "endpoint", "ref", "branch", "api", "link", "mime", "request", "req", "zip",
    "module", "posix", "pattern", "glob", "arcname", "instance", "relative", "script", "content", "contents", "text",
    "type",
];

/// Functions that give a path of the system.
const GIVING: &[&str] = &[
    "os.path.join",
    "os.path.abspath",
    "os.path.realpath",
    "os.path.normpath",
    "os.path.dirname",
    "os.path.relpath",
    "os.path.expanduser",
    "os.getcwd",
    "os.fspath",
    "pathlib.Path",
    "pathlib.Path.cwd",
    "path.join",
    "path.resolve",
    "path.normalize",
    "path.relative",
    "path.dirname",
    "process.cwd",
];

/// Beginnings of texts that have slashes and are no path.
const MEDIA: &[&str] = &[
    "application/",
    "text/",
    "image/",
    "audio/",
    "video/",
    "multipart/",
    "message/",
    "font/",
    "model/",
    "refs/",
    "origin/",
];

/// The words of a name: those between `_`, `-` and `.`, and those that begin with a capital letter.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("never empty").extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether an expression is a path of the system.
pub fn is_path(source: &Source<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "identifier" => {
            let name = node.text();
            name == "__dirname" || name == "__filename" || name == "__file__" || named_path(name)
        }
        "attribute" | "member_expression" => {
            let last = node.child("attribute").or_else(|| node.child("property"));
            let whole = words(node.text());
            !whole.iter().any(|word| OTHERS.contains(&word.as_str()))
                && last.is_some_and(|last| named_path(last.text()))
        }
        // `event["file_path"]`
        "subscript" | "subscript_expression" => {
            let key = node.child("subscript").or_else(|| node.child("index"));
            key.and_then(pieces).is_some_and(|key| named_path(&key))
        }
        "call" | "call_expression" => {
            let Some(function) = node.child("function") else { return false };
            let name = source.name_of(function);
            if GIVING.contains(&&*name) {
                return true;
            }
            let first = node.child("arguments").and_then(|arguments| arguments.parts().next());
            match &*name {
                "str" | "String" => first.is_some_and(|first| is_path(source, first)),
                // `event.get("file_path", "")`
                ".get" => first.and_then(pieces).is_some_and(|key| named_path(&key)),
                ".lower" | ".toLowerCase" | ".strip" | ".trim" => {
                    let receiver = function.child("object");
                    receiver.is_some_and(|receiver| is_path(source, receiver))
                }
                _ => false,
            }
        }
        "parenthesized_expression" => node.parts().next().is_some_and(|inner| is_path(source, inner)),
        _ => false,
    }
}

/// Whether an expression is a call that gives a path of the system.
pub fn is_made(source: &Source<'_>, node: Node<'_>) -> bool {
    node.child("function").is_some_and(|function| {
        let name = source.name_of(function);
        let first = || node.child("arguments").and_then(|arguments| arguments.parts().next());
        GIVING.contains(&&*name) || name == "str" && first().is_some_and(|first| is_made(source, first))
    })
}

fn named_path(name: &str) -> bool {
    let words = words(name);
    let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    matches!(name, "p" | "fp") || is(PATHS) && !is(OTHERS)
}

/// Whether a text is one of a path with folders: `.claude/state/x.json`, `src/a.py`, `/hooks/`.
pub fn is_path_text(text: &str) -> bool {
    let inner = text.trim_matches('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/@+".contains(c) || c == HOLE;
    if inner.is_empty() || !text.contains('/') || !text.chars().all(plain) || text.contains("//") {
        return false;
    }
    !MEDIA.iter().any(|media| text.starts_with(media)) && !is_of_posix(text)
}

/// Whether a text can be nothing but a path with folders and a file: `state/x.json`.
pub fn is_file_text(text: &str) -> bool {
    let parts = text.trim_start_matches('/').split('/').collect::<Vec<_>>();
    let ends = |name: &str| {
        name.rsplit_once('.').is_some_and(|(stem, ending)| {
            // `HTTP/0.9` is a version.
            let begins = ending.starts_with(|c: char| c.is_ascii_alphabetic());
            let is_ending =
                begins && (1..6).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
            !stem.is_empty() && is_ending
        })
    };
    is_path_text(text) && parts.len() > 1 && parts.last().is_some_and(|last| ends(last))
}

/// Whether a name says that something with slashes is no path of the system.
pub fn is_named_other(node: Node<'_>) -> bool {
    words(node.text()).iter().any(|word| OTHERS.contains(&word.as_str()))
}

/// Whether it is below a folder that only POSIX systems have: who asks for it knows where it is.
pub fn is_of_posix(text: &str) -> bool {
    [
        "/dev/", "/proc/", "/sys/", "/etc/", "/usr/", "/bin/", "/tmp/", "/var/", "/home/", "/opt/", "/run/", "/root/",
        "/Users/", "/mnt/",
    ]
    .iter()
    .any(|folder| text.starts_with(folder) || text == folder.trim_end_matches('/'))
}

/// Whether the function that a node lies in sees to separators, or has its paths from where they are slashes.
pub fn sees_to_separators<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
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
    ];
    // `os.path.join(*path.split("/"))` makes one of the system's.
    let joins = |around: Node<'_>| around.child("function").is_some_and(|function| function.text().ends_with("join"));
    let joined = node.ancestors().take(6).any(joins);
    joined
        || source.scope_has("separators", node, |node| match node.kind() {
            "identifier" | "property_identifier" => {
                let text = node.text();
                let of = || node.parent().is_some_and(|of| matches!(of.kind(), "attribute" | "member_expression"));
                SEEN.contains(&text) || matches!(text, "sep" | "altsep") && of() || {
                    let lower = text.to_ascii_lowercase();
                    ["normalis", "normaliz", "posix", "slash"].iter().any(|part| lower.contains(part))
                        && lower != "normpath"
                }
            }
            // `.replace("\\", "/")` and `.replace(/\\/g, "/")`; what git lists has slashes everywhere.
            "string" => pieces(node).is_some_and(|text| match &*text {
                "\\" => node.next_sibling().and_then(Node::next_sibling).and_then(pieces).is_some_and(|by| by == "/"),
                "ls-files" | "ls-tree" | "--name-only" | "--name-status" | "--porcelain" => true,
                _ => false,
            }),
            "regex" => node.text().contains("\\\\"),
            _ => false,
        })
}

/// Whether a node is a text, and which.
pub fn text_of(node: Node<'_>) -> Option<String> {
    is_text(node).then(|| pieces(node)).flatten()
}
