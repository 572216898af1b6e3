//! `slash-path`: a path of the system that is compared with, or split at, slashes.

use std::cell::LazyCell;

use super::super::language::Language::{self, Go, JavaScript, Python, Rust, Shell, Tsx, TypeScript};
use super::super::literal::{HOLE, first_hole, summed};
use super::super::needs::Need;
use super::super::needs::Sign::{Made, Text};
use super::super::paths::{Sure, is_file_text, is_named_other, is_path_text, knows_addresses, naming, path, text_of};
use super::super::rule::{Hit, Rule, Seen};
use super::super::separators::sees_to_separators;
use super::super::source::{Call, Source};
use super::super::syntax::Node;
use super::super::values::{meant, values};
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::SlashPath,
    severity: Severity::Warning,
    finds: "A path of the system is compared with a text that has slashes, or split at them.",
    why: "On Windows a path has backslashes: the comparison is never true and the split gives one part, without an error. A \
          self-test on Linux is green, whatever it covers.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(Language::ALL, &[Text(SLASHED), Made(naming)]).when(|about| !about.is_for_posix()),
        Need::of(&[Python], &[Text(SLASHED), Text(ENDING)]).when(|about| !about.is_for_posix()),
        Need::of(Language::SCRIPTS, &[Text(SLASHED), Text(ENDING)]).when(|about| !about.is_for_posix()),
    ],
    mend: "compare parts (Path(p).parts, path.split(path.sep)), or bring the path to slashes first (Path(p).as_posix())",
    bad: &[
        (Python, "def f(p):\n    return p.endswith(\".claude/state/x.json\")\n"),
        (Python, "import os\n\ndef f(path):\n    return os.path.abspath(path).split(\"/\")\n"),
        (Python, "def f(event):\n    return \"/node_modules/\" in event[\"file_path\"]\n"),
        (JavaScript, "const f = (filePath) => filePath.includes('/hooks/');\n"),
        (Python, "PARTS = (\"/.git/\", \"/hooks/\")\n\ndef f(path):\n    return any(part in path for part in PARTS)\n"),
        (Python, "import re\n\ndef f(file_path):\n    return re.search(r\"/\\.git/\", file_path)\n"),
        (
            TypeScript,
            "import { relative } from 'node:path';\nexport const f = (root: string, x: string) => relative(root, x) === 'src/a.ts';\n",
        ),
        (Rust, "fn f(p: &Path) -> bool { p.to_string_lossy().ends_with(\"state/x.json\") }\n"),
        (Go, "package a\n\nfunc f(p string) bool { return strings.Contains(filepath.Clean(p), \"/.git/\") }\n"),
    ],
    good: &[
        (Python, "def f(environ):\n    return environ[\"SERVER_PROTOCOL\"] != \"HTTP/0.9\"\n"),
        (
            Python,
            "from pathlib import Path\n\ndef f(p):\n    return Path(p).as_posix().endswith(\".claude/state/x.json\")\n",
        ),
        (Python, "def f(path):\n    return path.replace(\"\\\\\", \"/\").endswith(\"state/x.json\")\n"),
        (Python, "def f(url):\n    return url.split(\"/\")\n"),
        (Python, "def f(kind):\n    return kind == \"application/json\"\n"),
        (JavaScript, "const f = (p) => p.split(path.sep).includes('hooks');\n"),
        (Python, "def check(self, event):\n    self.assertEqual(event[\"cwd\"], \"/p\")\n"),
        (Python, "def f(path):\n    return \"/.git/\" in path or \"\\\\.git\\\\\" in path\n"),
        (Rust, "fn f(p: &Path) -> bool { p.ends_with(\"state/x.json\") }\n"),
        (Go, "package a\n\nfunc f(p string) bool { return strings.Contains(filepath.ToSlash(p), \"/.git/\") }\n"),
    ],
    seen: Seen {
        found: 7,
        right: 7,
        wrong: 0,
        remark: "all in what splits or searches a file's path that an event, a program or the system gave. Self-tests that invent their paths, modules that know addresses, what is relative and scripts of pages are left out: earlier forms were wrong there.",
    },
    find,
};

/// A text, in part or as a whole, with a slash in it, or a pattern.
const SLASHED: &str = r#"["'`][^"'`\s]*/|/[^"'`\s]*["'`]|\}/|\\/"#;

/// The end of a text that names a file.
const ENDING: &str = r#"\.[A-Za-z][A-Za-z0-9]{0,4}["'`]"#;

/// Methods that look for their first argument.
const LOOKING: &[&str] = &[
    "endswith",
    "startswith",
    "find",
    "rfind",
    "index",
    "rindex",
    "count",
    "removeprefix",
    "removesuffix",
    "endsWith",
    "startsWith",
    "includes",
    "indexOf",
    "lastIndexOf",
    "starts_with",
    "ends_with",
    "contains",
    "strip_prefix",
    "strip_suffix",
];
/// Of those the ones that look at an end: a whole text is searched with the others.
const ENDS: &[&str] =
    &["endswith", "startswith", "removeprefix", "removesuffix", "endsWith", "startsWith", "starts_with", "ends_with"];
/// Methods that cut at their first argument, and those that look for a separator.
const SPLITTING: &[&str] = &[
    "split",
    "rsplit",
    "splitn",
    "rsplitn",
    "split_once",
    "rsplit_once",
    "partition",
    "rpartition",
    "count",
    "rfind",
    "rindex",
    "lastIndexOf",
];
/// Functions whose first argument is looked at and whose second is looked for.
const FUNCTIONS: &[&str] = &[
    "strings.HasSuffix",
    "strings.HasPrefix",
    "strings.Contains",
    "strings.Index",
    "strings.LastIndex",
    "strings.TrimPrefix",
    "strings.TrimSuffix",
    "strings.Split",
    "strings.SplitN",
    "fnmatch.fnmatch",
    "fnmatch.fnmatchcase",
];
/// Functions whose first argument is a pattern that the second is searched with.
const SEARCHING: &[&str] = &["re.search", "re.match", "re.fullmatch", "re.findall", "re.split"];
/// Assertions of two things that are to be the same, or of one that is to be in the other.
const ASSERTING: &[&str] = &[
    "assertEqual",
    "assertEquals",
    "assertNotEqual",
    "assertIn",
    "assertNotIn",
    "equal",
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "notStrictEqual",
];

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let reads = source.language != Shell;
    if !reads || source.is_for_posix() || source.imports(&["posixpath"]) || is_for_browsers(source) {
        return;
    }
    for call in &source.calls {
        if let Some(hit) = method(source, call).or_else(|| function(source, call)) {
            hits.push(hit);
        }
    }
    for node in source.syntax.nodes() {
        match node.kind() {
            "comparison_operator" | "binary_expression" => hits.extend(comparison(source, node)),
            "switch_statement" | "expression_switch_statement" => hits.extend(switched(source, node)),
            _ => {}
        }
    }
}

/// Whether it is a script of a page: the paths that it knows are those that a server gives it.
fn is_for_browsers(source: &Source<'_>) -> bool {
    source.language.is_script()
        && !source.imports(&[""])
        && source.syntax.nodes().any(|node| node.kind() == "identifier" && matches!(node.text(), "window" | "document"))
}

/// The texts that an argument gives: itself, those of a list, and those that a name stands for.
fn texts<'s>(source: &Source<'s>, argument: Node<'s>) -> Vec<String> {
    let mut texts = Vec::new();
    for node in meant(source, argument) {
        match node.kind() {
            "tuple" | "array" | "list" | "set" => {
                texts.extend(node.parts().take(MOST).filter_map(text_of));
            }
            "char_literal" => texts.push(node.text().trim_matches('\'').to_owned()),
            // `str(root) + "/"`
            "binary_operator" | "binary_expression" => {
                texts.extend(summed(node).filter(|text| !text.starts_with(HOLE) || begins_with_path(source, node)));
            }
            // `new Set([…])`, `frozenset((…))`
            "new_expression" | "call" if node.kind() == "new_expression" || makes_set(node) => {
                let lists = node.child("arguments").into_iter().flat_map(Node::parts).flat_map(Node::parts);
                texts.extend(lists.take(MOST).filter_map(text_of));
            }
            // The keys of a dictionary.
            "dictionary" | "object" => {
                texts.extend(node.parts().take(MOST).filter_map(|pair| pair.child("key")).filter_map(text_of));
            }
            "string" | "template_string" => {
                texts.extend(text_of(node).filter(|text| !text.starts_with(HOLE) || begins_with_path(source, node)));
            }
            _ => texts.extend(text_of(node)),
        }
    }
    texts
}

/// Whether the first part of a sum, or of a text, is a path: `str(root) + "/"`, `f"{root}/"`.
fn begins_with_path<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    let mut first = node;
    for _ in 0..8 {
        let inner = match first.kind() {
            "binary_operator" | "binary_expression" => first.child("left"),
            "string" | "template_string" => first_hole(first),
            _ => None,
        };
        let Some(inner) = inner else { break };
        first = inner;
    }
    path(source, first) > Sure::Not
}

/// The most texts of a list that are looked at.
const MOST: usize = 200;

fn method<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Hit> {
    let method = call.method();
    if !call.name.starts_with('.') && call.receiver.is_none() {
        return None;
    }
    let (receiver, argument) = (call.receiver?, *call.positional.first()?);
    if ASSERTING.contains(&method) {
        return asserted(source, call);
    }
    // `/\/hooks\//.test(path)`
    if method == "test" {
        let is_trap = has_slash(source, receiver) && is_searched(source, argument) && is_open(source, call.node);
        return is_trap.then(|| hit(call.node, argument, "searched with", receiver));
    }
    if matches!(method, "has" | "get") {
        let is_key = texts(source, receiver).iter().any(|text| is_path_text(text));
        let is_trap = is_key && is_one(source, argument) && is_open(source, call.node);
        return is_trap.then(|| hit(call.node, argument, "looked for in", receiver));
    }
    // `PATTERN.search(path)`, `path.match(/…/)`
    if matches!(method, "search" | "match" | "fullmatch" | "matchAll") {
        let (path, pattern) = if argument.kind() == "regex" { (receiver, argument) } else { (argument, receiver) };
        let is_trap = has_slash(source, pattern) && is_searched(source, path) && is_open(source, call.node);
        return is_trap.then(|| hit(call.node, path, "searched with", pattern));
    }
    let replaces = matches!(method, "replace" | "split") && source.language != Rust;
    if !SPLITTING.contains(&method) && !LOOKING.contains(&method) && !replaces {
        return None;
    }
    // `Path::starts_with` compares parts.
    if source.language == Rust
        && matches!(method, "starts_with" | "ends_with" | "strip_prefix")
        && !is_text_of_rust(source, receiver)
    {
        return None;
    }
    let mut texts = texts(source, argument);
    if texts.is_empty() && argument.kind() == "identifier" {
        texts = each(source, argument);
    }
    // Asked for one of the texts at most.
    let of_path = LazyCell::new(|| is_one(source, receiver));
    let splits = SPLITTING.contains(&method) && texts.iter().any(|text| text == "/");
    let looks = || {
        LOOKING.contains(&method)
            && texts
                .iter()
                .any(|text| is_path_text(text) && *of_path || ENDS.contains(&method) && is_file(source, text, receiver))
    };
    // `str(path).replace(str(root) + "/", "")`
    let cuts = || replaces && texts.iter().any(|text| text.starts_with(HOLE) && text.ends_with('/'));
    if !(splits && *of_path || looks() || cuts() && *of_path) || !is_open(source, call.node) {
        return None;
    }
    let verb = if splits { "split at" } else { "compared with" };
    Some(hit(call.node, receiver, verb, argument))
}

/// Whether a pattern is compiled, and has a slash and no backslash to go with it.
fn has_slash<'s>(source: &Source<'s>, pattern: Node<'s>) -> bool {
    meant(source, pattern).into_iter().any(|pattern| match pattern.kind() {
        "regex" => pattern.text().contains("\\/") && !pattern.text().contains("\\\\"),
        "call" => {
            let compiles = pattern.child("function").is_some_and(|it| source.name_of(it) == "re.compile");
            let text = pattern.child("arguments").and_then(|given| given.parts().next()).filter(|_| compiles);
            text.and_then(text_of).is_some_and(|text| is_pattern_of_path(&text))
        }
        _ => false,
    })
}

/// Whether a pattern is one of a path with folders, whatever stands between its slashes.
fn is_pattern_of_path(text: &str) -> bool {
    text.contains('/')
        && !text.contains("//")
        && !text.contains([' ', ':', '<'])
        && !text.contains("\\\\")
        && text.trim_matches('/').len() > 1
}

/// Whether an expression of Rust is a text, and no path: something has made one of it.
fn is_text_of_rust<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    const MAKING: &[&str] =
        &["to_str", "to_string_lossy", "display", "to_string", "into_owned", "into_string", "to_owned"];
    meant(source, node).into_iter().any(|node| {
        node.descendants().take(64).any(|part| part.kind() == "field_identifier" && MAKING.contains(&part.text()))
    })
}

/// `strings.HasSuffix(path, "a/b")`, `re.search("/a/", path)`, `fnmatch(path, "*/a/*.py")`
fn function<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Hit> {
    let [first, second, ..] = call.positional[..] else { return None };
    let (path, pattern) = if FUNCTIONS.contains(&&*call.name) {
        (first, second)
    } else if SEARCHING.contains(&&*call.name) {
        (second, first)
    } else {
        return None;
    };
    let splits = matches!(&*call.name, "strings.Split" | "strings.SplitN" | "strings.LastIndex");
    let is_pattern = SEARCHING.contains(&&*call.name) || call.name.starts_with("fnmatch");
    let is_looked_for =
        |text: &String| splits && text == "/" || is_path_text(text) || is_pattern && is_pattern_of_path(text);
    let is_trap =
        texts(source, pattern).iter().any(is_looked_for) && is_one(source, path) && is_open(source, call.node);
    let verb = if splits { "split at" } else { "compared with" };
    is_trap.then(|| hit(call.node, path, verb, pattern))
}

/// `self.assertEqual(os.path.join("a", "b"), "a/b")`
fn asserted<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Hit> {
    let [first, second, ..] = call.positional[..] else { return None };
    let (text, made) = match (text_of(first), text_of(second)) {
        (Some(text), None) => (text, second),
        (None, Some(text)) => (text, first),
        _ => return None,
    };
    // Who asserts is a self-test, whatever its file is called.
    let is_trap = is_path_text(&text) && path(source, made) == Sure::Made && is_open(source, call.node);
    is_trap.then(|| compared(call.node, made, &text))
}

fn comparison<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Hit> {
    let operator = node.children().find(|part| matches!(part.text(), "==" | "!=" | "in" | "not in" | "===" | "!=="))?;
    let sides: Vec<Node<'_>> = node.parts().filter(|part| part.index() != operator.index()).collect();
    let [left, right] = sides[..] else { return None };
    let is_in = operator.text().ends_with("in");
    let (texts, path) = match (texts(source, left), texts(source, right)) {
        (of_left, _) if !of_left.is_empty() && text_of(right).is_none() => (of_left, right),
        (_, of_right) if !of_right.is_empty() && text_of(left).is_none() => {
            // `"a" in words`
            if is_in && text_of(right).is_some() {
                return None;
            }
            (of_right, left)
        }
        // `any(part in path for part in PARTS)`
        _ if is_in => (each(source, left), right),
        _ => return None,
    };
    let is_whole = !is_in || path == left;
    let of_path = LazyCell::new(|| is_one(source, path));
    let looks = texts.iter().any(|text| is_path_text(text) && *of_path || is_whole && is_file(source, text, path));
    if !looks || !is_open(source, node) {
        return None;
    }
    Some(compared(node, path, texts.first().map_or("", String::as_str)))
}

/// `switch (path.relative(root, file)) { case 'src/index.ts': … }`
fn switched<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Hit> {
    let value = node.child("value")?;
    let cases = node.descendants().filter(|part| matches!(part.kind(), "switch_case" | "expression_case"));
    let mut texts = cases.filter_map(|case| case.child("value")).flat_map(|value| texts(source, value)).take(MOST);
    let text = texts.find(|text| is_path_text(text))?;
    let is_trap = is_one(source, value) && is_open(source, node);
    is_trap.then(|| compared(value, value, &text))
}

/// `set(…)`, `frozenset(…)`, `tuple(…)`
fn makes_set(call: Node<'_>) -> bool {
    call.child("function").is_some_and(|it| matches!(it.text(), "frozenset" | "set" | "tuple"))
}

/// The texts of the list that a name runs through.
fn each<'s>(source: &Source<'s>, name: Node<'s>) -> Vec<String> {
    values(source, name).into_iter().flat_map(|list| texts(source, list)).collect()
}

fn compared(at: Node<'_>, path: Node<'_>, text: &str) -> Hit {
    Hit::at(at, format!("`{}` is a path of the system, and is compared with {text:?}", short(path)))
}

fn hit<'s>(at: Node<'s>, path: Node<'s>, verb: &str, by: Node<'s>) -> Hit {
    Hit::at(at, format!("`{}` is a path of the system, and is {verb} {}", short(path), short(by)))
}

/// Whether nothing around it asks for the system, or sees to separators.
fn is_open<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    !source.is_guarded(node) && !sees_to_separators(source, node)
}

/// Whether what a pattern is searched for in is a path of the system.
fn is_searched<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    // What has a pattern and is called a path and no more is an address as often.
    is_one(source, node) && (node.text() != "path" || path(source, node) == Sure::Made)
}

/// Whether an expression is a path of the system. A self-test has paths of its own invention, which have slashes on every
/// system: there it is one if the system has just made it. Where there are addresses, what is called a path may be one.
fn is_one<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    let only_made = source.is_test_at(node) || knows_addresses(source);
    path(source, node) > if only_made { Sure::Named } else { Sure::Not }
}

/// Whether something, whatever it is called, is compared with what can only be a file in a folder.
fn is_file<'s>(source: &Source<'s>, text: &str, node: Node<'s>) -> bool {
    let is_plain = matches!(source.language, Python | JavaScript | TypeScript | Tsx);
    is_plain && is_file_text(text) && !source.is_test() && !is_named_other(node)
}

/// The beginning of a node's text.
fn short(node: Node<'_>) -> String {
    super::short(node.text())
}
