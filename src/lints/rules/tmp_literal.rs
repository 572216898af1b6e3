//! `tmp-literal`: a file name below `/tmp`.

use super::super::language::Language::{self, Go, JavaScript, Python, Rust, Shell};
use super::super::literal::{is_text, pieces};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::paths::words;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{PYTHON_STARTERS, given_text, with_commands};
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
        (Go, "package a\n\nconst log = \"/tmp/guard.log\"\n"),
        (Python, "def f(name):\n    return \"/tmp/%s.lock\" % name\n"),
        (Shell, "LOG=\"${GUARD_LOG:-/tmp/guard.log}\"\n"),
        (Shell, "[ -f /tmp/guard.off ] && exit 0\n"),
    ],
    good: &[
        (Python, "import os, tempfile\n\nLOG = os.path.join(tempfile.gettempdir(), \"guard.log\")\n"),
        (Python, "def f():\n    \"\"\"/tmp/x is an example.\"\"\"\n"),
        (Python, "def f(path):\n    return path.startswith(\"/tmp/\") or path in (\"/tmp\",)\n"),
        (Python, "EVENT = {\"cwd\": \"/tmp/project\"}\n"),
        (JavaScript, "expect(f({ cwd: '/tmp/x' })).toBe('/tmp/x');\n"),
        (Shell, "log=\"${TMPDIR:-/tmp}/guard.$$\"\n"),
        (Shell, "x=$(mktemp /tmp/guard.XXXXXX)\n"),
        (JavaScript, "const folder = process.env.TMPDIR || process.env.TEMP || '/tmp';\n"),
    ],
    seen: Seen { found: 55, right: 54, wrong: 1, remark: "the wrong one runs in an image of Linux alone." },
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
    for call in source.calls.iter().filter(|_| source.language != Shell) {
        let Some(text) = given_text(source, call).filter(|text| text.contains("/tmp/")) else { continue };
        if !source.is_test_at(call.node)
            && !source.is_guarded(call.node)
            && let Some(file) = with_commands(&text, of_shell)
        {
            hits.push(Hit::at(call.node, format!("{} is named outright", super::short(&file))));
        }
    }
    for node in source.syntax.nodes().filter(|node| is_text(*node) && node.is_named()) {
        // A part of a text is told with the whole.
        if node
            .parent()
            .is_some_and(|parent| matches!(parent.kind(), "concatenated_string" | "concatenation" | "string"))
        {
            continue;
        }
        let Some(text) = pieces(node).filter(|text| is_below_tmp(text)) else { continue };
        let used = if source.language == Shell { shell(source, node, &text) } else { elsewhere(source, node) };
        if used && !source.is_guarded(node) {
            hits.push(Hit::at(
                node,
                format!("{} is named outright", super::short(&text.replace(super::super::literal::HOLE, "…"))),
            ));
        }
    }
}

/// The file that a text for a shell writes below `/tmp`: `os.system("make >/tmp/make.log")`.
fn of_shell(text: &Source<'_>) -> Option<String> {
    text.syntax
        .nodes()
        .filter(|node| node.kind() == "file_redirect")
        .find_map(|redirect| redirect.child("destination").and_then(pieces).filter(|to| is_below_tmp(to)))
}

fn is_below_tmp(text: &str) -> bool {
    ["/tmp", "/var/tmp"]
        .iter()
        .any(|folder| text.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        && !text.contains(['\n', ' ', '*'])
}

/// Whether a word of a shell is used as a file, and is not the folder that a variable has by default, nor a template of
/// `mktemp`.
fn shell(source: &Source<'_>, node: Node<'_>, text: &str) -> bool {
    const USING: &[&str] = &[
        "mkdir", "touch", "rm", "cat", "tee", "cp", "mv", "source", ".", "tail", "head", "cd", "ln", "ls", "find",
        "chmod", "flock", "tar", "wc", "grep",
    ];
    let Some(parent) = node.parent() else { return false };
    let is_file = !matches!(text.trim_end_matches('/'), "/tmp" | "/var/tmp");
    is_file
        && match parent.kind() {
            // `LOG=${LOG:-/tmp/x.log}`, `[ -f /tmp/x ]`
            "file_redirect" | "variable_assignment" | "expansion" | "unary_expression" => true,
            // `--log /tmp/x.log`
            "command" => {
                let before = parent.parts().take_while(|part| *part != node).last();
                USING.contains(&parent.child("name").map_or("", Node::text))
                    || !source.is_test()
                        && before.is_some_and(|before| before.kind() == "word" && before.text().starts_with("--"))
            }
            _ => false,
        }
}

/// The whole that a text is the beginning of: `"/tmp/" + name`, `"/tmp/%s" % name`, `"/tmp/{}".format(name)`.
fn whole(text: Node<'_>) -> Node<'_> {
    let mut whole = text;
    for around in text.ancestors().take(8) {
        let goes_on = match around.kind() {
            "binary_operator" | "binary_expression" => {
                let by = around.child("operator").map_or("", Node::text);
                matches!(by, "+" | "%") && around.child("left") == Some(whole)
            }
            "attribute" => around.text().ends_with(".format"),
            "call" => around.child("function") == Some(whole),
            "parenthesized_expression" | "expression_list" => true,
            _ => false,
        };
        if !goes_on {
            break;
        }
        whole = around;
    }
    whole
}

/// Whether a text is given to something that uses files, or to a name that stands for one.
fn elsewhere(source: &Source<'_>, text: Node<'_>) -> bool {
    let node = whole(text);
    let Some(parent) = node.parent() else { return false };
    let is_test = source.is_test_at(node);
    let is_in_test_of_rust = || is_test && source.language == Rust;
    match parent.kind() {
        "argument_list" | "arguments" => {
            let Some(call) = parent.parent() else { return false };
            let Some(function) = call.child("function").or_else(|| call.child("constructor")) else { return false };
            let name = source.name_of(function);
            let last = name.rsplit('.').next().unwrap_or_default();
            let is_method_of_text =
                matches!(last, "replace" | "copy" | "remove" | "write" | "move") && name.starts_with('.');
            (USING.contains(&last) && !is_method_of_text && !is_in_test_of_rust())
                || !is_test && (GIVING.contains(&&*name))
        }
        // `subprocess.run(["touch", "/tmp/flag"])`
        "list" | "array" => {
            let call = parent.parent().and_then(Node::parent);
            let name = call.and_then(|call| call.child("function")).map(|function| source.name_of(function));
            let starts = |name: &str| PYTHON_STARTERS.contains(&name) || name.starts_with("child_process.");
            !is_test && name.is_some_and(|name| starts(&name))
        }
        "assignment"
        | "variable_declarator"
        | "const_item"
        | "static_item"
        | "const_spec"
        | "var_spec"
        | "let_declaration"
        | "short_var_declaration" => !is_test && parent.child("right").or_else(|| parent.child("value")) == Some(node),
        // `{"log_file": "/tmp/x.log"}`; what is called a file or a folder may be an event's.
        "pair" => {
            let key = parent.child("key").map_or("", Node::text);
            let is_own = |word: &String| {
                matches!(
                    word.as_str(),
                    "log" | "logfile" | "lock" | "lockfile" | "socket" | "pid" | "pidfile" | "cache" | "state"
                )
            };
            !is_test && parent.child("value") == Some(node) && words(key).iter().any(is_own)
        }
        // `format!("/tmp/{}", pid)`
        "token_tree" => {
            let name = parent.parent().and_then(|it| it.child("macro")).map_or("", Node::text);
            !is_test && name == "format"
        }
        "keyword_argument" => {
            let name = parent.child("name").map_or("", Node::text);
            !is_test && matches!(name, "dir" | "filename" | "cwd" | "path" | "default")
        }
        "default_parameter" | "typed_default_parameter" | "return_statement" | "return_expression" => !is_test,
        "boolean_operator" | "binary_expression" => {
            // `os.environ.get("TMPDIR") or "/tmp"`
            // On Windows these are there, and the text is never used.
            let other = parent.child("left").is_some_and(|left| {
                let asked = words(left.text());
                asked
                    .iter()
                    .any(|word| matches!(word.as_str(), "userprofile" | "homedir" | "temp" | "tmp" | "gettempdir"))
            });
            let is_or = parent.children().any(|part| matches!(part.text(), "or" | "||" | "??"));
            !is_test && is_or && !other && parent.child("right") == Some(node)
        }
        _ => false,
    }
}

/// Functions that make a path of what they are given.
const GIVING: &[&str] = &[
    "pathlib.Path",
    "os.path.join",
    "path.join",
    "path.resolve",
    "os.environ.get",
    "os.getenv",
    "Path.new",
    "PathBuf.from",
    "std.path.Path.new",
    "std.path.PathBuf.from",
    "filepath.Join",
    "fmt.Sprintf",
];
