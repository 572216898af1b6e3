//! `slash-path`: a path of the system that is compared with, or split at, slashes.

use super::super::language::Language::{self, JavaScript, Python};
use super::super::needs::Need;
use super::super::needs::Sign::{Calls, Made, Text};
use super::super::paths::{is_file_text, is_made, is_named_other, is_path, is_path_text, sees_to_separators, text_of};
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::{Call, Source, scope};
use super::super::syntax::Node;
use super::super::written::{Written, has_text, plain_text};
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::SlashPath,
    severity: Severity::Warning,
    finds: "A path of the system is compared with a text that has slashes, or split at them.",
    why: "On Windows a path has backslashes: the comparison is never true and the split gives one part, without an error. A \
          self-test on Linux is green, whatever it covers.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Calls(LOOKING, has_path)]).when(|about| !about.is_for_posix()),
        Need::of(&[Python], &[Calls(SPLITTING, has_path)]).when(|about| !about.is_for_posix()),
        Need::of(&[Python], &[Text(COMPARED)]).when(|about| !about.is_for_posix()),
        Need::of(Language::SCRIPTS, &[Made(in_scripts)]).when(|about| !about.is_for_posix()),
    ],
    mend: "compare parts (Path(p).parts, path.split(path.sep)), or bring the path to slashes first (Path(p).as_posix())",
    bad: &[
        (Python, "def f(p):\n    return p.endswith(\".claude/state/x.json\")\n"),
        (Python, "import os\n\ndef f(path):\n    return os.path.abspath(path).split(\"/\")\n"),
        (Python, "def f(event):\n    return \"/node_modules/\" in event[\"file_path\"]\n"),
        (JavaScript, "const f = (filePath) => filePath.includes('/hooks/');\n"),
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
    ],
    seen: Seen {
        found: 1,
        right: 1,
        wrong: 0,
        remark: "in a hook that splits `file_path` of an event. A first form of the rule was wrong in 40 of 44 places, nearly all of them in self-tests that invent their paths, and in modules that know addresses: both are left out since.",
    },
    find,
};

/// Whether a call is given a text that may be one of a path.
fn has_path(call: &Written<'_>) -> bool {
    let is_path = |first: &[u8]| match plain_text(first) {
        Some(text) => is_path_text(text) || text == "/",
        None => first.contains(&b'/') && has_text(first),
    };
    call.arguments.iter().any(|argument| is_path(argument))
}

/// A text of a path, as far as it stands there, before or after a comparison.
const COMPARED: &str = r#"(?x)
    [=!]= (?: \s | \\ | \#[^\n]*\n )* (?:
        [rRbBfFuU]{0,2} ["']+ [\w./@+-]* (?: [\w.@+-]/ | /[\w.@+-] ) [\w./@+-]* ["'{]
      | [rR]? [fF] [rR]? ["']+ [\w./@+-]* \{
      | [rRbBfFuU]{0,2} (?: "[^"\s]*" | '[^'\s]*' ) \s* [rRbBfFuU]{0,2} ["'] [\w./] )
  | (?: ["'] [\w./@+-]* (?: [\w.@+-]/ | /[\w.@+-] ) [\w./@+-]* | \} [\w./@+-]* | ["'] \s* [rRbBfFuU]{0,2} ["'] [\w./@+-]+ ) ["']+
    (?: \s | \\ | \#[^\n]*\n )* (?: [=!]= | \b in\b | \b not\s+in\b )"#;

/// Methods that look for their first argument.
const LOOKING: &[&str] = &[
    "endswith",
    "startswith",
    "find",
    "index",
    "removeprefix",
    "removesuffix",
    "endsWith",
    "startsWith",
    "includes",
    "indexOf",
    "lastIndexOf",
];
/// Of those the ones that look at an end: a whole text is searched with the others.
const ENDS: &[&str] = &["endswith", "startswith", "removeprefix", "removesuffix", "endsWith", "startsWith"];
const SPLITTING: &[&str] = &["split", "rsplit", "partition", "rpartition"];

/// The same in JavaScript, before or after a comparison or as what a method is given first.
fn in_scripts() -> String {
    let methods = [LOOKING, SPLITTING].concat().join("|");
    let begins = r#"["'`][\w./@+-]*(?:/|\$\{)"#;
    let ends = r#"(?:["'`][\w./@+-]*/[\w./@+-]*|\}[\w./@+-]*)["'`]"#;
    let given = format!(r"\b(?:{methods})\s*(?:\?\.\s*)?(?:[</`]|\(\s*(?:[\[/]|{begins}))");
    format!(r"{given}|[=!]=\s*(?:/[*/]|{begins})|{ends}\s*(?:/[*/]|[=!]=|in\b)")
}

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let reads = source.language == Python || source.language.is_script();
    if !reads || source.is_for_posix() || source.imports(&["posixpath"]) {
        return;
    }
    for call in &source.calls {
        if let Some(hit) = method(source, call) {
            hits.push(hit);
        }
    }
    for node in source.syntax.nodes() {
        if matches!(node.kind(), "comparison_operator" | "binary_expression") {
            hits.extend(comparison(source, node));
        }
    }
}

fn method<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Hit> {
    let (receiver, argument) = (call.receiver?, *call.positional.first()?);
    let texts: Vec<String> = match argument.kind() {
        "tuple" | "array" => argument.parts().filter_map(text_of).collect(),
        _ => text_of(argument).into_iter().collect(),
    };
    let method = call.method();
    let of_path = || is_one(source, receiver);
    let is_trap = if SPLITTING.contains(&method) {
        texts.iter().any(|text| text == "/") && of_path()
    } else if LOOKING.contains(&method) {
        texts
            .iter()
            .any(|text| is_path_text(text) && of_path() || ENDS.contains(&method) && is_file(source, text, receiver))
    } else {
        false
    };
    if !is_trap || source.is_guarded(call.node) || sees_to_separators(source, call.node) {
        return None;
    }
    let verb = if SPLITTING.contains(&method) { "split at" } else { "compared with" };
    Some(Hit::at(
        call.node,
        format!("`{}` is a path of the system, and is {verb} {}", short(receiver), short(argument)),
    ))
}

fn comparison<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Hit> {
    let operator = node.children().find(|part| matches!(part.text(), "==" | "!=" | "in" | "not in" | "===" | "!=="))?;
    let sides: Vec<Node<'_>> = node.parts().filter(|part| part.index() != operator.index()).collect();
    let [left, right] = sides[..] else { return None };
    let (text, path) = match (text_of(left), text_of(right)) {
        (Some(text), None) => (text, right),
        (None, Some(text)) if !operator.text().ends_with("in") => (text, left),
        _ => return None,
    };
    let is_whole = !operator.text().ends_with("in");
    let looks = is_path_text(&text) && is_one(source, path) || is_whole && is_file(source, &text, path);
    if !looks || source.is_guarded(node) || sees_to_separators(source, node) {
        return None;
    }
    Some(Hit::at(node, format!("`{}` is a path of the system, and is compared with {text:?}", short(path))))
}

/// Whether an expression is a path of the system. A self-test has paths of its own invention, which have slashes on every
/// system: there it is one if the system has just made it.
fn is_one<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    // Where there are addresses, what is called a path may be one of those.
    let is_path = |node| is_path(source, node) && !knows_addresses(source);
    let is_given = || {
        let given = source.index("bound", scope(node), |node| match node.kind() {
            "assignment" => node.child("left").map(Node::text),
            "variable_declarator" => node.child("name").map(Node::text),
            _ => None,
        });
        let values = given.get(node.text()).map_or(&[][..], Vec::as_slice).iter().take(8);
        let mut values = values.filter_map(|node| node.child("right").or_else(|| node.child("value")));
        values.any(|value| value.kind() != "identifier" && is_path(value)) && !is_named_other(node)
    };
    let is = is_path(node) || node.kind() == "identifier" && is_given();
    is && (!source.is_test() || is_made(source, node))
}

fn knows_addresses(source: &Source<'_>) -> bool {
    source.imports(&["urllib", "http", "url", "express"])
}

/// Whether something, whatever it is called, is compared with what can only be a file in a folder.
fn is_file(source: &Source<'_>, text: &str, node: Node<'_>) -> bool {
    is_file_text(text) && !source.is_test() && !is_named_other(node)
}

/// The beginning of a node's text.
fn short(node: Node<'_>) -> String {
    super::short(node.text())
}
