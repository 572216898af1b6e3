//! `no-encoding`: a text file or a pipe without an encoding.

use super::super::language::Language::Python;
use super::super::literal::{HOLE, literal, pieces};
use super::super::names::RENAMING;
use super::super::needs::Need;
use super::super::needs::Sign::{Calls, Text};
use super::super::paths::{function_words, words};
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{PYTHON_STARTERS, argv};
use super::super::source::{Call, Source, scope};
use super::super::syntax::Node;
use super::super::values::{meant, values};
use super::super::written::{Written, has_text, plain_text};
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::NoEncoding,
    severity: Severity::Warning,
    finds: "A text file is opened, or a program's output read as text, and nothing says in which encoding.",
    why: "Python takes the system's: UTF-8 on Linux and macOS, an old code page on Windows until Python 3.15. The same file \
          is then other text, or a UnicodeDecodeError, there; what is written there can't be read elsewhere.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Calls(&["open"], |call| may_be_text(call, 0) || may_be_text(call, 1))])
            .when(|about| !about.is_test() && !about.is_for_posix()),
        Need::of(&[Python], &[Text(OTHERS)]).when(|about| !about.is_test() && !about.is_for_posix()),
        Need::of(&[Python], &[RENAMING]).when(|about| !about.is_for_posix()),
        Need::of(&[Python], &[Text(r"\bio\s+as\b"), Calls(&["open"], |_| true)])
            .when(|about| !about.is_test() && !about.is_for_posix()),
        Need::of(&[Python], &[Calls(&["os.fdopen"], |call| may_be_text(call, 1))])
            .when(|about| !about.is_test() && !about.is_for_posix()),
        Need::of(
            &[Python],
            &[Calls(&["NamedTemporaryFile", "TemporaryFile"], |call| {
                call.argument(0, "mode").is_some() && may_be_text(call, 0)
            })],
        )
        .when(|about| !about.is_test() && !about.is_for_posix()),
        Need::of(&[Python], &[Calls(&["read_text"], |call| call.arguments.is_empty())])
            .when(|about| !about.is_test() && !about.is_for_posix()),
        Need::of(&[Python], &[Calls(&["write_text"], |call| call.arguments.len() == 1)])
            .when(|about| !about.is_test() && !about.is_for_posix()),
        Need::of(&[Python], &[Calls(&["subprocess.check_output"], reads_text)]).when(|about| !about.is_for_posix()),
        Need::of(&[Python], &[Text("capture_output|PIPE"), Text("subprocess"), Calls(PYTHON_STARTERS, reads_text)])
            .when(|about| !about.is_for_posix()),
    ],
    mend: "say encoding=\"utf-8\"",
    bad: &[
        (Python, "def f(path):\n    with open(path) as file:\n        return file.read()\n"),
        (Python, "def f(path):\n    open(path, mode=\"w\").write(\"x\")\n"),
        (Python, "from pathlib import Path\n\nTEXT = Path(\"a\").read_text()\n"),
        (Python, "def f(path, text):\n    path.write_text(text)\n"),
        (Python, "def f(path, error):\n    path.write_text(str(error))\n"),
        (
            Python,
            "import subprocess\n\ndef f(argv):\n    return subprocess.run(argv, capture_output=True, text=True)\n",
        ),
        (Python, "import tempfile\n\ndef f():\n    return tempfile.NamedTemporaryFile(\"w\", suffix=\".json\")\n"),
        (Python, "import gzip\n\ndef f(path):\n    return gzip.open(path, \"rt\")\n"),
        (Python, "import configparser\n\nSETTINGS = configparser.ConfigParser()\nSETTINGS.read(\"hooks.ini\")\n"),
        (Python, "import logging\n\nlogging.basicConfig(filename=\"hook.log\")\n"),
        (Python, "def f(path, name):\n    with open(path, \"w\") as file:\n        file.write(name)\n"),
    ],
    good: &[
        (Python, "def f(path):\n    return open(path, encoding=\"utf-8\")\n"),
        (Python, "def f(path):\n    return open(path, \"rb\")\n"),
        (Python, "import tarfile\n\ndef f(path):\n    return tarfile.open(path)\n"),
        (Python, "def f(path):\n    return path.read_text(\"utf-8\")\n"),
        (Python, "import subprocess\n\ndef f(argv):\n    return subprocess.run(argv, text=True, encoding=\"utf-8\")\n"),
        (Python, "import json\n\ndef f(path, answer):\n    path.write_text(json.dumps(answer))\n"),
        (Python, "import os\n\nNULL = open(os.devnull, \"w\")\n"),
        (Python, "import json\n\ndef f(path, x):\n    with open(path, \"w\") as file:\n        json.dump(x, file)\n"),
        (
            Python,
            "import os\n\ndef f(path):\n    with open(path, \"w\") as file:\n        file.write(str(os.getpid()))\n",
        ),
        (Python, "open(\"flag\", \"w\").close()\n"),
        (Python, "def f(path):\n    return int(path.read_text().strip())\n"),
        (Python, "import os\n\ndef f(path):\n    path.write_text(str(os.getpid()))\n"),
        (
            Python,
            "import subprocess\n\ndef f(pid):\n    return subprocess.run([\"ps\", \"-p\", pid], capture_output=True, text=True)\n",
        ),
        (Python, "import subprocess\n\ndef f(argv):\n    return subprocess.run(argv, text=True)\n"),
        (
            Python,
            "import subprocess\n\nHEAD = subprocess.check_output([\"git\", \"rev-parse\", \"HEAD\"], text=True)\n",
        ),
        (
            Python,
            "import subprocess\n\nFILES = subprocess.check_output([\"git\", \"-C\", ROOT, \"ls-files\"], text=True)\n",
        ),
        (
            Python,
            "import subprocess, sys\n\ndef f(script):\n    return subprocess.run([sys.executable, script], capture_output=True, text=True)\n",
        ),
        (Python, "def f(pid_path):\n    return pid_path.read_text()\n"),
        (Python, "def _self_test_names(folder):\n    assert (folder / \"a.md\").read_text() == \"a\"\n"),
    ],
    seen: Seen {
        found: 228,
        right: 207,
        wrong: 21,
        remark: "the wrong ones are files and output that are ASCII whatever happens, what only POSIX has, and a program of Windows' own that writes in a code page. Self-tests' own files, numbers, JSON with its letters escaped, versions, names of commits, git's lists of files and what another Python writes are left out.",
    },
    find,
};

/// Modules and functions that open files as text in another way.
const OTHERS: &str =
    r"TextIOWrapper|fileinput|FileHandler|basicConfig|configparser|SpooledTemporaryFile|getoutput|getstatusoutput";

/// Whether what a call opens, with its mode at that place, may be a text, and nothing says in which encoding.
fn may_be_text(call: &Written<'_>, mode: usize) -> bool {
    let is_text = |mode: &[u8]| plain_text(mode).map_or_else(|| has_text(mode), |mode| !mode.contains('b'));
    says_none(call) && call.argument(mode, "mode").is_none_or(is_text)
}

fn says_none(call: &Written<'_>) -> bool {
    !call.is_spread() && call.keyword("encoding").is_none_or(|encoding| encoding == b"None")
}

/// Whether a call that starts a program reads its output as text, and nothing says in which encoding.
fn reads_text(call: &Written<'_>) -> bool {
    says_none(call) && ["text", "universal_newlines"].iter().any(|name| call.keyword(name) == Some(b"True"))
}

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if source.language != Python || source.is_for_posix() {
        return;
    }
    // A module that has an `open` of its own means that.
    let has_open = source.syntax.nodes().any(|node| {
        let name = if node.kind() == "assignment" { node.child("left") } else { node.child("name") };
        matches!(node.kind(), "assignment" | "function_definition") && name.is_some_and(|name| name.text() == "open")
    });
    let (is_test, is_ascii) = (source.is_test(), source.text.is_ascii());
    for call in source.calls.iter().filter(|call| !(has_open && call.name == "open")) {
        let says = call.keyword("encoding").is_some_and(|encoding| encoding.text() != "None");
        if says || call.spread.iter().any(|spread| spread.text().starts_with('*')) {
            continue;
        }
        let Some(what) = lacking(source, call) else { continue };
        // A self-test's own files have the letters that it gives them, which are ASCII in most; what it reads of a program,
        // it reads as the host would.
        let own = (is_ascii || !PYTHON_STARTERS.contains(&&*call.name)) && (is_test || is_in_test(call.node));
        if !own && !source.is_guarded(call.node) {
            hits.push(Hit::at(call.node, format!("{what} and no encoding")));
        }
    }
}

/// Whether a node is in a function that tests something, by its name: some programs have a self-test of their own.
fn is_in_test(node: Node<'_>) -> bool {
    function_words(node).iter().any(|word| matches!(word.as_str(), "test" | "tests" | "selftest"))
}

/// What a call opens as text without an encoding.
fn lacking<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<String> {
    let (mode, most) = match &*call.name {
        "open" | "io.open" | "os.fdopen" | "aiofiles.open" => (call.argument(1, "mode"), 3),
        "subprocess.getoutput" | "subprocess.getstatusoutput" => {
            return Some("a program's output is read as text".to_owned());
        }
        "tempfile.SpooledTemporaryFile" => {
            let mode = call.keyword("mode").or_else(|| call.positional.get(1).copied()).and_then(literal)?;
            return (!mode.contains('b')).then(|| "a file is written as text".to_owned());
        }
        "tempfile.NamedTemporaryFile" | "tempfile.TemporaryFile" => {
            // Bytes, unless a mode says otherwise.
            call.argument(0, "mode")?;
            (call.argument(0, "mode"), 2)
        }
        ".open" if call.receiver.is_some_and(|receiver| is_pathlib(source, receiver)) => (call.argument(0, "mode"), 2),
        "gzip.open" | "bz2.open" | "lzma.open" => {
            // Bytes, unless a mode says otherwise.
            let mode = call.argument(1, "mode").and_then(literal)?;
            return mode.contains('t').then(|| "a file is opened as text".to_owned());
        }
        "io.TextIOWrapper" => return (call.positional.len() == 1).then(|| "bytes are read as text".to_owned()),
        "fileinput.input" | "fileinput.FileInput" => {
            let says = call.keyword("openhook").is_some() || call.keyword("mode").is_some();
            return (!says && !call.positional.is_empty()).then(|| "files are read as text".to_owned());
        }
        "logging.FileHandler"
        | "logging.handlers.RotatingFileHandler"
        | "logging.handlers.TimedRotatingFileHandler" => {
            return (call.positional.len() < 3).then(|| "a log is written as text".to_owned());
        }
        "logging.basicConfig" => {
            return call.keyword("filename").map(|_| "a log is written as text".to_owned());
        }
        ".read" if call.receiver.is_some_and(|receiver| is_parser(source, receiver)) => {
            return (call.positional.len() == 1).then(|| "settings are read as text".to_owned());
        }
        ".read_text" => {
            let resource = call
                .receiver
                .is_some_and(|receiver| receiver.text().contains("files(") || receiver.text().contains("resource"));
            let plain =
                is_number(call.node) || call.receiver.is_some_and(|file| words(file.text()).contains(&"pid".into()));
            return (call.positional.is_empty() && call.named.is_empty() && !resource && !plain)
                .then(|| "text is read from a file".to_owned());
        }
        ".write_text" => {
            let plain = call.positional.first().is_some_and(|text| is_ascii(source, *text));
            return (call.positional.len() == 1 && !plain).then(|| "text is written to a file".to_owned());
        }
        name if PYTHON_STARTERS.contains(&name) => return pipes(source, call),
        _ => return None,
    };
    if call.positional.len() > most {
        return None;
    }
    let mode = match mode {
        None => "r".to_owned(),
        Some(mode) => literal(mode)?,
    };
    let first = call.positional.first().or(call.receiver.as_ref())?;
    let of_system =
        literal(*first).is_some_and(|path| ["/dev/", "/proc/", "/sys/"].iter().any(|folder| path.starts_with(folder)));
    if mode.contains('b') || of_system || first.text().ends_with("devnull") {
        return None;
    }
    let writes = mode.contains(['w', 'a', 'x', '+']);
    if writes && !mode.contains('+') && is_written_in_ascii(source, call.node) {
        return None;
    }
    let verb = if writes { "written" } else { "read" };
    Some(format!("a file is {verb} as text"))
}

/// Whether all that is done with an opened file writes nothing but ASCII: numbers, and JSON with its letters escaped; or
/// nothing at all, where it is only made.
fn is_written_in_ascii<'s>(source: &Source<'s>, open: Node<'s>) -> bool {
    let Some(around) = open.parent() else { return false };
    // `open(path, "w").close()`
    if around.kind() == "attribute" {
        return around.child("attribute").is_some_and(|method| method.text() == "close");
    }
    // `with open(path, "w") as file:`, `file = open(path, "w")`
    let name = match around.kind() {
        "as_pattern" => around.child("alias").and_then(|alias| alias.parts().next()),
        "assignment" => around.child("left").filter(|left| left.kind() == "identifier"),
        "with_item" => return true,
        _ => None,
    };
    let Some(name) = name else { return false };
    let part =
        open.within(&["with_statement"]).filter(|_| around.kind() == "as_pattern").unwrap_or_else(|| scope(open));
    let mut uses = source.uses(part, name.text()).into_iter().filter(|used| *used != name).take(20);
    uses.all(|used| is_ascii_use(source, used))
}

fn is_ascii_use<'s>(source: &Source<'s>, used: Node<'s>) -> bool {
    let Some(around) = used.parent() else { return false };
    let call = around.parent();
    match around.kind() {
        // `file.write(…)`
        "attribute" => match around.child("attribute").map_or("", Node::text) {
            "close" | "flush" | "fileno" | "seek" | "truncate" | "name" => true,
            "write" => {
                let text = call.and_then(|call| call.child("arguments")?.parts().next());
                text.is_some_and(|text| is_ascii(source, text))
            }
            _ => false,
        },
        // `json.dump(answer, file)`, `fcntl.flock(file, …)`
        "argument_list" => call.is_some_and(|call| {
            let function = call.child("function").map(|function| source.name_of(function)).unwrap_or_default();
            let raw = || call.descendants().any(|part| part.text() == "ensure_ascii");
            matches!(&*function, "json.dump" | "pickle.dump") && !raw() || function.starts_with("fcntl.")
        }),
        _ => false,
    }
}

/// Whether an expression is a reader of settings: `configparser.ConfigParser()`.
fn is_parser<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    meant(source, node).into_iter().any(|node| {
        let made = node.child("function").map(|function| source.name_of(function)).unwrap_or_default();
        made.starts_with("configparser.") && made.ends_with("ConfigParser")
    })
}

/// Whether a text is ASCII whatever its parts are: it stands there, or is JSON with its letters escaped.
fn is_ascii<'s>(source: &Source<'s>, text: Node<'s>) -> bool {
    let escaped = text.child("function").is_some_and(|function| source.name_of(function) == "json.dumps")
        && !text.descendants().any(|part| part.kind() == "identifier" && part.text() == "ensure_ascii");
    let shown = || {
        text.child("arguments").filter(|_| text.child("function").is_some_and(|it| it.text() == "str"))?.parts().next()
    };
    let sums = || {
        let parts = text.parts().collect::<Vec<_>>();
        text.kind() == "binary_operator"
            && parts.len() == 2
            && parts.iter().all(|part| part.kind() != "binary_operator" && is_ascii(source, *part))
    };
    // `f"{os.getpid()}"`
    let filled = || {
        let mut holes = text.parts().filter(|part| part.kind() == "interpolation").peekable();
        text.kind() == "string"
            && holes.peek().is_some()
            && pieces(text).is_some_and(|text| text.replace(HOLE, "").is_ascii())
            && holes.all(|hole| hole.parts().next().is_some_and(|value| is_count(source, value)))
    };
    let plain = literal(text).is_some_and(|text| text.is_ascii());
    escaped || plain || shown().is_some_and(|value| is_count(source, value)) || sums() || filled()
}

/// Whether a text is at once made a number of.
fn is_number(text: Node<'_>) -> bool {
    let around = text.ancestors().take_while(|around| matches!(around.kind(), "attribute" | "call" | "argument_list"));
    around.filter_map(|around| around.child("function")).any(|function| matches!(function.text(), "int" | "float"))
}

/// Whether a value is a number, by its name or by how it is made.
fn is_count(source: &Source<'_>, value: Node<'_>) -> bool {
    const NUMBERS: &[&str] = &["pid", "count", "counter", "number", "total", "size", "time", "port"];
    match value.kind() {
        "integer" | "float" => true,
        "identifier" => words(value.text()).last().is_some_and(|word| NUMBERS.contains(&word.as_str())),
        "call" => value.child("function").is_some_and(|function| {
            matches!(
                &*source.name_of(function),
                "os.getpid" | "os.getppid" | "time.time" | "time.monotonic" | "len" | "int"
            )
        }),
        _ => false,
    }
}

/// A program's output that is read as text.
fn pipes<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<String> {
    // They are on no Windows, where alone the encoding matters.
    const OF_POSIX: &[&str] =
        &["ps", "lsof", "pgrep", "pkill", "pidof", "fuser", "uname", "id", "mount", "df", "launchctl"];
    let is = |name: &str| call.keyword(name).is_some_and(|value| value.text() == "True");
    let text = is("text") || is("universal_newlines");
    let piped = |name: &str| call.keyword(name).is_some_and(|value| value.text().ends_with("PIPE"));
    let reads =
        is("capture_output") || piped("stdout") || piped("stderr") || piped("stdin") || call.method() == "check_output";
    if !text || !reads {
        return None;
    }
    let argv = argv(source, call).unwrap_or_default();
    let program = argv.first().map(|program| program.rsplit('/').next().unwrap_or(program));
    let is_ascii = says_ascii(&argv) || is_python(source, call);
    let is_read = !is_ascii && !program.is_some_and(|program| OF_POSIX.contains(&program));
    is_read.then(|| "a program's output is read as text".to_owned())
}

/// Whether a command tells nothing but ASCII: versions, names of commits, and of files as git writes them (the letters of
/// others escaped, but for `-z`).
fn says_ascii(argv: &[String]) -> bool {
    const OF_FILES: &[&str] = &["ls-files", "--stat", "--name-only", "--name-status"];
    let [program, first, rest @ ..] = argv else { return false };
    let has = |words: &[&str]| argv.iter().any(|word| words.contains(&word.as_str()));
    let of_commit = first == "rev-parse"
        && !rest.iter().any(|word| word.starts_with("--") && word != "--short" && word != "--verify")
        || has(&["rev-list", "merge-base"]);
    let is_git = program.rsplit('/').next() == Some("git");
    let asks_version = argv.last().is_some_and(|last| matches!(last.as_str(), "--version" | "-version" | "-V"));
    is_git && (of_commit || has(OF_FILES) && !has(&["-z"])) || asks_version
}

/// Whether a call starts another Python, which writes in the encoding that this one reads.
fn is_python<'s>(source: &Source<'s>, call: &Call<'s>) -> bool {
    let given = call.argument(0, "args").map(|given| meant(source, given)).unwrap_or_default();
    let lists = given.into_iter().filter(|list| matches!(list.kind(), "list" | "tuple"));
    lists.filter_map(|list| list.parts().next()).any(|first| source.name_of(first) == "sys.executable")
}

/// Whether an expression is an object of pathlib's, by its name or by how it is made.
fn is_pathlib<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    match node.kind() {
        "identifier" => {
            words(node.text()).iter().any(|word| matches!(word.as_str(), "path" | "file" | "filepath"))
                || node.text() == "p" && source.imports(&["pathlib"])
                || values(source, node)
                    .into_iter()
                    .any(|value| value.kind() != "identifier" && is_pathlib(source, value))
        }
        "call" => node.child("function").is_some_and(|function| source.name_of(function).starts_with("pathlib.Path")),
        "binary_operator" => {
            node.child("left").is_some_and(|left| left.kind() != "binary_operator" && is_pathlib(source, left))
        }
        "parenthesized_expression" => node.parts().next().is_some_and(|inner| inner.kind() == "binary_operator"),
        _ => false,
    }
}
