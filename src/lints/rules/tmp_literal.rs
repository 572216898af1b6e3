//! `tmp-literal`: a file name below `/tmp`.

use super::super::language::Language::{self, Go, JavaScript, Python, Rust, Shell};
use super::super::literal::{is_text, pieces};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::TmpLiteral,
    severity: Severity::Warning,
    finds: "A file below `/tmp` is named outright.",
    why: "Windows has no /tmp: what is written there goes to \\tmp of the current drive, or fails. Elsewhere the name is one \
          for all: two runs at once, or two users, meet in it, and a test that sets TMPDIR does not keep it apart.",
    hosts: &[TrapHost::Windows, TrapHost::Any],
    needs: &[Need::of(Language::ALL, &[Text("/tmp")])],
    mend: "ask for the folder (tempfile.gettempdir(), os.tmpdir(), mktemp), and make a name of your own in it",
    bad: &[
        (Python, "LOG = \"/tmp/guard.log\"\n"),
        (Python, "def f(name):\n    return open(f\"/tmp/{name}\", \"rb\")\n"),
        (JavaScript, "const fs = require('fs');\nfs.writeFileSync('/tmp/state.json', text);\n"),
        (Shell, "echo x >>/tmp/guard.log\n"),
        (Rust, "fn f() { File::create(\"/tmp/state\").ok(); }\n"),
        (Go, "package a\n\nfunc f() { os.Create(\"/tmp/state\") }\n"),
    ],
    good: &[
        (Python, "import os, tempfile\n\nLOG = os.path.join(tempfile.gettempdir(), \"guard.log\")\n"),
        (Python, "def f():\n    \"\"\"/tmp/x is an example.\"\"\"\n"),
        (Python, "def f(path):\n    return path.startswith(\"/tmp/\") or path in (\"/tmp\",)\n"),
        (Python, "EVENT = {\"cwd\": \"/tmp/project\"}\n"),
        (JavaScript, "expect(f({ cwd: '/tmp/x' })).toBe('/tmp/x');\n"),
        (Shell, "log=\"${TMPDIR:-/tmp}/guard.$$\"\n"),
        (Shell, "x=$(mktemp /tmp/guard.XXXXXX)\n"),
    ],
    seen: Seen { found: 10, right: 10, wrong: 0, remark: "" },
    find,
};

/// Functions that open, make or remove what they are given, by the last part of their names.
const USING: &[&str] = &[
    "open",
    "mkdir",
    "makedirs",
    "mkdtemp",
    "mkstemp",
    "rmtree",
    "remove",
    "unlink",
    "rename",
    "replace",
    "copy",
    "copyfile",
    "move",
    "listdir",
    "chdir",
    "connect",
    "FileHandler",
    "writeFileSync",
    "readFileSync",
    "writeFile",
    "readFile",
    "appendFileSync",
    "mkdirSync",
    "existsSync",
    "rmSync",
    "unlinkSync",
    "readdirSync",
    "statSync",
    "mkdtempSync",
    "createWriteStream",
    "createReadStream",
    "copyFileSync",
    "renameSync",
    "create",
    "create_dir_all",
    "create_dir",
    "write",
    "read_to_string",
    "remove_file",
    "remove_dir_all",
    "Create",
    "Open",
    "OpenFile",
    "WriteFile",
    "ReadFile",
    "MkdirAll",
    "Mkdir",
    "RemoveAll",
    "Remove",
];

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    for node in source.syntax.nodes().filter(|node| is_text(*node) && node.is_named()) {
        // A part of a text is told with the whole.
        if node
            .parent()
            .is_some_and(|parent| matches!(parent.kind(), "concatenated_string" | "concatenation" | "string"))
        {
            continue;
        }
        let Some(text) = pieces(node).filter(|text| is_below_tmp(text)) else { continue };
        let used = if source.language == Shell { shell(node, &text) } else { elsewhere(source, node) };
        if used && !source.is_guarded(node) {
            hits.push(Hit::at(
                node,
                format!("{} is named outright", super::short(&text.replace(super::super::literal::HOLE, "…"))),
            ));
        }
    }
}

fn is_below_tmp(text: &str) -> bool {
    ["/tmp", "/var/tmp"]
        .iter()
        .any(|folder| text.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        && !text.contains(['\n', ' ', '*'])
}

/// Whether a word of a shell is used as a file, and is not the default of a variable, nor a template of `mktemp`.
fn shell(node: Node<'_>, text: &str) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "file_redirect" | "variable_assignment" => text != "/tmp",
        "command" => {
            let program = parent.child("name").map_or("", Node::text);
            let makes = ["mkdir", "touch", "rm", "cat", "tee", "cp", "mv", "source", "tail", "head", "cd"];
            makes.contains(&program) && text != "/tmp"
        }
        _ => false,
    }
}

/// Whether a text is given to something that uses files, or to a name that stands for one.
fn elsewhere(source: &Source<'_>, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "argument_list" | "arguments" => {
            let Some(call) = parent.parent() else { return false };
            let Some(function) = call.child("function").or_else(|| call.child("constructor")) else { return false };
            let name = source.name_of(function);
            let last = name.rsplit('.').next().unwrap_or_default();
            let is_method_of_text =
                matches!(last, "replace" | "copy" | "remove" | "write" | "move") && name.starts_with('.');
            (USING.contains(&last) && !is_method_of_text)
                || !source.is_test()
                    && matches!(
                        &*name,
                        "pathlib.Path" | "os.path.join" | "path.join" | "path.resolve" | "os.environ.get"
                    )
        }
        "assignment" | "variable_declarator" | "const_item" | "static_item" => {
            !source.is_test() && parent.child("right").or_else(|| parent.child("value")) == Some(node)
        }
        "keyword_argument" => {
            let name = parent.child("name").map_or("", Node::text);
            !source.is_test() && matches!(name, "dir" | "filename" | "cwd" | "path")
        }
        "default_parameter" | "typed_default_parameter" => !source.is_test(),
        "boolean_operator" | "binary_expression" => {
            // `os.environ.get("TMPDIR") or "/tmp"`
            // On Windows USERPROFILE is there, and the text is never used.
            let other = parent
                .child("left")
                .is_some_and(|left| left.text().contains("USERPROFILE") || left.text().contains("homedir"));
            let is_or = parent.children().any(|part| matches!(part.text(), "or" | "||" | "??"));
            !source.is_test() && is_or && !other && parent.child("right") == Some(node)
        }
        _ => false,
    }
}
