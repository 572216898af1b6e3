//! `no-encoding`: a text file or a pipe without an encoding.

use super::super::language::Language::Python;
use super::super::literal::literal;
use super::super::needs::Need;
use super::super::needs::Sign::{Calls, Text};
use super::super::paths::words;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{PYTHON_STARTERS, argv};
use super::super::source::{Call, Source};
use super::super::syntax::Node;
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
        Need::of(&[Python], &[Calls(&["open"], opens_text)]).when(|about| !about.is_test() && !about.is_for_posix()),
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
    ],
    good: &[
        (Python, "def f(path):\n    return open(path, encoding=\"utf-8\")\n"),
        (Python, "def f(path):\n    return open(path, \"rb\")\n"),
        (Python, "import tarfile\n\ndef f(path):\n    return tarfile.open(path)\n"),
        (Python, "def f(path):\n    return path.read_text(\"utf-8\")\n"),
        (Python, "import subprocess\n\ndef f(argv):\n    return subprocess.run(argv, text=True, encoding=\"utf-8\")\n"),
        (Python, "import json\n\ndef f(path, answer):\n    path.write_text(json.dumps(answer))\n"),
        (Python, "import os\n\nNULL = open(os.devnull, \"w\")\n"),
        (Python, "def f(path):\n    return int(path.read_text().strip())\n"),
        (Python, "import os\n\ndef f(path):\n    path.write_text(str(os.getpid()))\n"),
        (
            Python,
            "import subprocess\n\ndef f(pid):\n    return subprocess.run([\"ps\", \"-p\", pid], capture_output=True, text=True)\n",
        ),
        (Python, "import subprocess\n\ndef f(argv):\n    return subprocess.run(argv, text=True)\n"),
    ],
    seen: Seen {
        found: 86,
        right: 80,
        wrong: 6,
        remark: "the wrong ones are files that are ASCII whatever happens, files that only POSIX has, and a program of Windows' own that writes in a code page. Self-tests' own files are left out since a first form found hundreds that are ASCII; numbers, and programs that only POSIX has, since a second one was wrong 13 times in 96.",
    },
    find,
};

/// Whether an `open`, of a module or of a path, may be one of a text.
fn opens_text(call: &Written<'_>) -> bool {
    let before = call.before.trim_ascii_end();
    let Some(object) = before.strip_suffix(b".").map(<[u8]>::trim_ascii_end) else { return may_be_text(call, 1) };
    let name = object.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').map_or(0, |at| at + 1);
    let name = object[name..].to_ascii_lowercase();
    let of_path = [&b"path"[..], b"file"].iter().any(|word| memchr::memmem::find(&name, word).is_some());
    name == b"io" && may_be_text(call, 1) || (of_path || object.ends_with(b")")) && may_be_text(call, 0)
}

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
    for call in &source.calls {
        // A self-test's own files have the letters that it gives them, which are ASCII in most; what it reads of a program,
        // it reads as the host would.
        let own = source.is_test() && (source.text.is_ascii() || !PYTHON_STARTERS.contains(&&*call.name));
        if own || has_open && call.name == "open" {
            continue;
        }
        let says = call.keyword("encoding").is_some_and(|encoding| encoding.text() != "None");
        if says || call.spread.iter().any(|spread| spread.text().starts_with('*')) {
            continue;
        }
        if let Some(what) = lacking(source, call).filter(|_| !source.is_guarded(call.node)) {
            hits.push(Hit::at(call.node, format!("{what} and no encoding")));
        }
    }
}

/// What a call opens as text without an encoding.
fn lacking(source: &Source<'_>, call: &Call<'_>) -> Option<String> {
    let (mode, most) = match &*call.name {
        "open" | "io.open" | "os.fdopen" => (call.argument(1, "mode"), 3),
        "tempfile.NamedTemporaryFile" | "tempfile.TemporaryFile" => {
            // Bytes, unless a mode says otherwise.
            call.argument(0, "mode")?;
            (call.argument(0, "mode"), 2)
        }
        ".open" if call.receiver.is_some_and(|receiver| is_pathlib(source, receiver)) => (call.argument(0, "mode"), 2),
        ".read_text" => {
            let resource = call
                .receiver
                .is_some_and(|receiver| receiver.text().contains("files(") || receiver.text().contains("resource"));
            return (call.positional.is_empty() && call.named.is_empty() && !resource && !is_number(call.node))
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
    let verb = if mode.contains(['w', 'a', 'x', '+']) { "written" } else { "read" };
    Some(format!("a file is {verb} as text"))
}

/// Whether a text is ASCII whatever its parts are: it stands there, or is JSON with its letters escaped.
fn is_ascii(source: &Source<'_>, text: Node<'_>) -> bool {
    let escaped = text.child("function").is_some_and(|function| source.name_of(function) == "json.dumps")
        && !text.descendants().any(|part| part.kind() == "identifier" && part.text() == "ensure_ascii");
    let shown = || {
        text.child("arguments").filter(|_| text.child("function").is_some_and(|it| it.text() == "str"))?.parts().next()
    };
    escaped || literal(text).is_some_and(|text| text.is_ascii()) || shown().is_some_and(|value| is_count(source, value))
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
fn pipes(source: &Source<'_>, call: &Call<'_>) -> Option<String> {
    // They are on no Windows, where alone the encoding matters.
    const OF_POSIX: &[&str] =
        &["ps", "lsof", "pgrep", "pkill", "pidof", "fuser", "uname", "id", "mount", "df", "launchctl"];
    let program = argv(source, call).and_then(|argv| argv.into_iter().next());
    if program.is_some_and(|program| OF_POSIX.contains(&program.rsplit('/').next().unwrap_or(&program))) {
        return None;
    }
    let is = |name: &str| call.keyword(name).is_some_and(|value| value.text() == "True");
    let text = is("text") || is("universal_newlines");
    let piped = |name: &str| call.keyword(name).is_some_and(|value| value.text().ends_with("PIPE"));
    let reads =
        is("capture_output") || piped("stdout") || piped("stderr") || piped("stdin") || call.method() == "check_output";
    (text && reads).then(|| "a program's output is read as text".to_owned())
}

/// Whether an expression is an object of pathlib's, by its name or by how it is made.
fn is_pathlib(source: &Source<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "identifier" => words(node.text()).iter().any(|word| matches!(word.as_str(), "path" | "file" | "filepath")),
        "call" => node.child("function").is_some_and(|function| source.name_of(function) == "pathlib.Path"),
        "parenthesized_expression" => node.parts().next().is_some_and(|inner| inner.kind() == "binary_operator"),
        _ => false,
    }
}
