//! What in a source is a path of the system, as far as names and texts tell.

use super::language::Language;
use super::literal::{HOLE, first_hole, is_text, pieces};
use super::names::{first_part, last_part};
use super::source::{Source, scope};
use super::syntax::Node;
use super::values::values;

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
    // `dir`, `root`, `file` and `path` are there wherever they are a part of a word.
    let made = "relative|suffix|with_name|absolute|expanduser|lossy|display|te?mp|home|walk|glob|getwd|executable|argv|\
                appdata|normalize";
    format!(r"(?i:{}|{made}|\bf?p\b)", PATHS.join("|"))
}

/// Words of names that stand for something else with slashes in it.
const OTHERS: &[&str] = &[
    "url", "uri", "href", "route", "endpoint", "ref", "branch", "api", "link", "mime", "request", "req", "zip",
    "module", "rel", "page", "posix", "pattern", "glob", "arcname", "instance", "relative", "script", "content",
    "contents", "text", "type",
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
    "os.walk",
    "glob.glob",
    "glob.iglob",
    "pathlib.Path",
    "pathlib.Path.cwd",
    "pathlib.Path.home",
    "tempfile.gettempdir",
    "tempfile.mkdtemp",
    "path.join",
    "path.resolve",
    "path.normalize",
    "path.relative",
    "path.dirname",
    "url.fileURLToPath",
    "process.cwd",
    "os.homedir",
    "os.tmpdir",
    "filepath.Join",
    "filepath.Clean",
    "filepath.Abs",
    "filepath.Rel",
    "filepath.Dir",
    "filepath.EvalSymlinks",
    "filepath.FromSlash",
    "os.Getwd",
    "os.UserHomeDir",
    "os.TempDir",
    "os.MkdirTemp",
    "os.Executable",
    "Path.new",
    "PathBuf.from",
    "std.env.current_dir",
    "env.current_dir",
    "std.env.temp_dir",
    "env.temp_dir",
];

/// Methods that only paths of the system have.
const OF_PATHS: &[&str] = &[
    ".relative_to",
    ".joinpath",
    ".with_suffix",
    ".with_name",
    ".absolute",
    ".expanduser",
    ".to_string_lossy",
    ".display",
    ".to_path_buf",
    ".with_extension",
    ".with_file_name",
];

/// Methods of the same: what they give is what they are called on, in another form.
const SAME: &[&str] = &[
    ".lower",
    ".toLowerCase",
    ".strip",
    ".trim",
    ".rstrip",
    ".casefold",
    ".toString",
    ".resolve",
    ".to_string",
    ".into_owned",
    ".to_owned",
    ".unwrap",
    ".expect",
    ".unwrap_or_default",
    ".unwrap_or",
    ".as_ref",
    ".as_path",
    ".to_str",
    ".strip_prefix",
    ".to_lowercase",
    ".clone",
    ".canonicalize",
    ".as_str",
    ".into_string",
    ".join",
];

/// Functions of the same.
const SAME_OF_FIRST: &[&str] = &[
    "str",
    "String",
    "os.fspath",
    "filepath.ToLower",
    "strings.ToLower",
    "string",
    "os.path.expandvars",
    "sorted",
    "set",
    "list",
    "tuple",
];

/// How sure it is that an expression is a path of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    Not,
    /// It is called so.
    Named,
    /// Something that gives one has made it.
    Made,
}

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

/// The words of the name of the function that a node lies in.
pub fn function_words(node: Node<'_>) -> Vec<String> {
    let function = Some(scope(node)).filter(|scope| scope.parent().is_some());
    function.and_then(|function| function.child("name")).map(|name| words(name.text())).unwrap_or_default()
}

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
pub fn is_path<'s>(source: &Source<'s>, node: Node<'s>) -> bool {
    path(source, node) > Sure::Not
}

/// How sure it is that an expression is a path of the system: by what it is called, or by what makes it, through names.
pub fn path<'s>(source: &Source<'s>, node: Node<'s>) -> Sure {
    path_within(source, node, 8)
}

/// The same, through so many parts at most.
fn path_within<'s>(source: &Source<'s>, node: Node<'s>, depth: usize) -> Sure {
    let Some(depth) = depth.checked_sub(1) else { return Sure::Not };
    let of = |node: Node<'s>| path_within(source, node, depth);
    let named = |is: bool| if is { Sure::Named } else { Sure::Not };
    match node.kind() {
        "identifier" => {
            let name = node.text();
            if matches!(name, "__dirname" | "__filename" | "__file__") {
                return Sure::Made;
            }
            let values = values(source, node);
            // `for p in page_paths`
            let is_other = || values.iter().any(|value| value.kind() == "identifier" && is_named_other(*value));
            let made = values.iter().map(|value| of(*value)).max().unwrap_or(Sure::Not);
            if made == Sure::Made || !is_named_other(node) && !is_other() {
                return made.max(named(named_path(name)));
            }
            Sure::Not
        }
        "attribute" | "member_expression" | "selector_expression" => {
            let text = node.text();
            if matches!(text, "sys.executable" | "process.execPath") || is_directory_variable(source, node) {
                return Sure::Made;
            }
            let last = last_part(node);
            let other = is_named_other(node);
            let parent = || ["object", "operand"].iter().find_map(|field| node.child(field));
            // `Path(x).parent`
            if last.is_some_and(|last| last.text() == "parent") {
                return parent().map_or(Sure::Not, of);
            }
            named(!other && last.is_some_and(|last| named_path(last.text())))
        }
        // `event["file_path"]`
        "subscript" | "subscript_expression" => {
            if is_directory_variable(source, node) || matches!(node.text(), "sys.argv[0]" | "process.argv[1]") {
                return Sure::Made;
            }
            let key = node.child("subscript").or_else(|| node.child("index"));
            named(key.and_then(pieces).is_some_and(|key| named_path(&key)))
        }
        "call" | "call_expression" => called(source, node, depth),
        "named_expression"
        | "parenthesized_expression"
        | "await"
        | "await_expression"
        | "try_expression"
        | "non_null_expression"
        | "as_expression"
        | "reference_expression" => node
            .child("value")
            .or_else(|| node.parts().find(|part| part.kind() != "mutable_specifier"))
            .map_or(Sure::Not, of),
        // `{str(x.relative_to(root)) for x in …}`
        "set_comprehension" | "list_comprehension" | "generator_expression" => node.child("body").map_or(Sure::Not, of),
        // `path or ""`
        "boolean_operator" => node.child("left").map_or(Sure::Not, of),
        // `Path(root) / "x"`
        "binary_operator" if source.language == Language::Python => {
            let operator = node.child("operator").map_or("", Node::text);
            match operator {
                "/" => node.child("left").map_or(Sure::Not, of),
                "+" => node.parts().map(of).max().unwrap_or(Sure::Not),
                _ => Sure::Not,
            }
        }
        // `f"{path}"`
        "string" | "template_string" if is_hole(node) => first_hole(node).map_or(Sure::Not, of),
        _ => Sure::Not,
    }
}

fn called<'s>(source: &Source<'s>, node: Node<'s>, depth: usize) -> Sure {
    let Some(function) = node.child("function") else { return Sure::Not };
    let name = source.name_of(function);
    if GIVING.contains(&&*name) || is_directory_variable(source, node) {
        return Sure::Made;
    }
    let first = || node.child("arguments").and_then(|arguments| arguments.parts().next());
    if SAME_OF_FIRST.contains(&&*name) {
        return first().map_or(Sure::Not, |first| path_within(source, first, depth));
    }
    // `event.get("file_path", "")`
    if name == ".get" && first().and_then(pieces).is_some_and(|key| named_path(&key)) {
        return Sure::Named;
    }
    let receiver = || first_part(function);
    let method = name.rsplit('.').next().map_or(String::new(), |last| format!(".{last}"));
    // `"/".join(words)` is of words; `path.join("x")` of Rust is of the path.
    let is_of_words = || receiver().is_some_and(is_text);
    if OF_PATHS.contains(&&*method) && name.starts_with('.') && !is_of_words() {
        return Sure::Made;
    }
    if SAME.contains(&&*method) && (method != ".join" || source.language == Language::Rust) {
        return receiver().map_or(Sure::Not, |receiver| path_within(source, receiver, depth));
    }
    Sure::Not
}

/// Whether an expression is a variable of the environment that names a folder: `os.environ["HOME"]`, `process.env.HOME`.
fn is_directory_variable(source: &Source<'_>, node: Node<'_>) -> bool {
    let environment = |of: Option<Node<'_>>| {
        of.is_some_and(|of| matches!(&*source.name_of(of), "os.environ" | "process.env") || of.text() == "process.env")
    };
    let name = match node.kind() {
        "attribute" | "member_expression" if environment(node.child("object")) => {
            node.child("property").map(|name| name.text().to_owned())
        }
        "subscript" | "subscript_expression"
            if environment(node.child("value")) || environment(node.child("object")) =>
        {
            node.child("subscript").or_else(|| node.child("index")).and_then(pieces)
        }
        "call" | "call_expression" => {
            let function = node.child("function").map(|function| source.name_of(function)).unwrap_or_default();
            matches!(&*function, "os.environ.get" | "os.getenv" | "os.Getenv" | "std.env.var" | "env.var")
                .then(|| node.child("arguments")?.parts().next().and_then(pieces))
                .flatten()
        }
        _ => None,
    };
    name.is_some_and(|name| {
        matches!(&*name, "HOME" | "USERPROFILE" | "TMPDIR" | "TEMP" | "TMP" | "PWD" | "APPDATA" | "LOCALAPPDATA")
            || ["_DIR", "_ROOT", "_HOME", "_CWD"].iter().any(|ending| name.ends_with(ending))
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

/// Whether a source has to do with addresses: what it calls a path may be one.
pub fn knows_addresses(source: &Source<'_>) -> bool {
    let is_known = |whole: &str| {
        ["urllib", "http", "express", "flask", "fastapi", "django", "aiohttp"].iter().any(|module| whole.starts_with(module))
            // The two that turn one into the other make paths of the system.
            || whole.starts_with("url") && !matches!(whole, "url.fileURLToPath" | "url.pathToFileURL")
    };
    source.imported().any(is_known)
}

/// Whether a name says that something with slashes is no path of the system.
pub fn is_named_other(node: Node<'_>) -> bool {
    words(node.text()).iter().any(|word| OTHERS.contains(&word.as_str()))
}

/// Whether it is below a folder that only POSIX systems have: who asks for it knows where it is.
pub fn is_of_posix(text: &str) -> bool {
    [
        "/dev/",
        "/proc/",
        "/sys/",
        "/etc/",
        "/usr/",
        "/bin/",
        "/tmp/",
        "/var/",
        "/home/",
        "/opt/",
        "/run/",
        "/root/",
        "/Users/",
        "/mnt/",
        "/System/",
        "/Library/",
        "/private/",
        "/sbin/",
        "/lib/",
        "/boot/",
        "/Applications/",
    ]
    .iter()
    .any(|folder| text.starts_with(folder) || text == folder.trim_end_matches('/'))
}

/// Whether a text is nothing but what is put into it: `f"{path}"`.
fn is_hole(text: Node<'_>) -> bool {
    pieces(text).is_some_and(|text| text.chars().eq([HOLE]))
}

/// Whether a node is a text, and which.
pub fn text_of(node: Node<'_>) -> Option<String> {
    let text = is_text(node).then(|| pieces(node)).flatten()?;
    (!text.chars().eq([HOLE])).then_some(text)
}
