//! `in-place-write`: a file that others poll is written in place.

use super::super::language::Language::{self, JavaScript, Python, Shell};
use super::super::literal::literal;
use super::super::needs::Need;
use super::super::needs::Sign::{Calls, Made, Text};
use super::super::paths::words;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::{Source, scope};
use super::super::syntax::Node;
use super::super::written::{Written, has_text, plain_text};
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::InPlaceWrite,
    severity: Severity::Warning,
    finds: "A file of state that another process reads (by its name: state, cache, status, heartbeat, pid file, or \
            written by a function that publishes) is written in place.",
    why: "Between the opening and the last byte it is empty or half: hooks run at once, and whoever reads then gets broken \
          JSON. A run that is ended in between leaves it so.",
    hosts: &[TrapHost::Any],
    needs: &[
        Need::of(&[Python], &[Calls(&["open"], |call| may_write(call) && is_named(call))])
            .when(|about| !about.is_test()),
        Need::of(&[Python], &[Made(functions), Calls(&["open"], may_write)]).when(|about| !about.is_test()),
        Need::of(&[Python], &[Made(names), Text(r"\bwrite_(?:text|bytes)\b")]).when(|about| !about.is_test()),
        Need::of(Language::SCRIPTS, &[Made(names), Text("writeFile")]).when(|about| !about.is_test()),
        Need::of(&[Shell], &[Made(names), Text(">")]).when(|about| !about.is_test()),
    ],
    mend: "write a draft beside it, and put it in its place with os.replace (rename, mv)",
    bad: &[
        (
            Python,
            "import json\n\ndef save(state_path, state):\n    with open(state_path, \"w\", encoding=\"utf-8\") as file:\n        json.dump(state, file)\n",
        ),
        (
            Python,
            "def publish(path, text):\n    with open(path, \"w\", encoding=\"utf-8\") as file:\n        file.write(text)\n",
        ),
        (Python, "def f(folder, text):\n    (folder / \"cache.json\").write_text(text, encoding=\"utf-8\")\n"),
        (
            JavaScript,
            "const fs = require('fs');\nconst save = (stateFile, text) => { fs.writeFileSync(stateFile, text); };\n",
        ),
        (Shell, "echo \"$json\" >\"$STATE_FILE\"\n"),
    ],
    good: &[
        (
            Python,
            "import os\n\ndef publish(path, text):\n    draft = path + \".tmp\"\n    with open(draft, \"w\", encoding=\"utf-8\") as file:\n        file.write(text)\n    os.replace(draft, path)\n",
        ),
        (
            Python,
            "def f(path, text):\n    with open(path, \"w\", encoding=\"utf-8\") as file:\n        file.write(text)\n",
        ),
        (Python, "def f(state_path):\n    return open(state_path, encoding=\"utf-8\").read()\n"),
        (
            JavaScript,
            "const fs = require('fs');\nconst save = (stateFile, text) => { fs.writeFileSync(stateFile + '.tmp', text); fs.renameSync(stateFile + '.tmp', stateFile); };\n",
        ),
        (Shell, "echo \"$json\" >\"$STATE_FILE.tmp\" && mv \"$STATE_FILE.tmp\" \"$STATE_FILE\"\n"),
    ],
    seen: Seen { found: 16, right: 15, wrong: 1, remark: "the wrong one is written by an installer alone." },
    find,
};

/// An expression for what the name of such a file, or that of a function, has in it.
fn names() -> String {
    format!("(?i:{}|{}|pid(?:[^a-z]|\\z))|[pP]id[A-Z]", SHARED.join("|"), PUBLISHING.join("|"))
}

/// The same for the name of a function alone.
fn functions() -> String {
    format!(r"\bdef\s+\w*(?:{})", names())
}

/// Whether the file that a call is given may have such a name.
fn is_named(call: &Written<'_>) -> bool {
    let file = call.arguments.first().map(|file| file.to_ascii_lowercase()).unwrap_or_default();
    SHARED.iter().chain(&["pid"]).any(|word| memchr::memmem::find(&file, word.as_bytes()).is_some())
}

/// Whether an `open` may have a mode that begins with `w`.
fn may_write(call: &Written<'_>) -> bool {
    let mode = call.argument(1, "mode");
    // What is no text is not known.
    mode.is_some_and(|mode| plain_text(mode).map_or_else(|| has_text(mode), |mode| mode.starts_with('w')))
}

/// Words of names of files that several read.
const SHARED: &[&str] = &["state", "cache", "status", "heartbeat", "pidfile"];
/// The same for a function that writes: what it publishes is for others whatever it is, and what it saves if its name says so.
const PUBLISHING: &[&str] = &["publish"];
const SAVING: &[&str] = &["save", "write", "store", "dump", "persist", "update", "record"];
/// Words that say: a draft, or a test's own.
const DRAFTS: &[&str] = &["tmp", "temp", "draft", "partial", "part", "new", "backup", "log", "logfile"];

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if source.is_test() {
        return;
    }
    if source.language == Shell {
        return shell(source, hits);
    }
    for call in &source.calls {
        let path = match (source.language, &*call.name) {
            (Python, "open" | "io.open") => {
                let writes = call.argument(1, "mode").and_then(literal).is_some_and(|mode| mode.starts_with('w'));
                if writes { call.positional.first().copied() } else { None }
            }
            (Python, ".write_text" | ".write_bytes") => call.receiver,
            (_, "fs.writeFileSync" | "fs.writeFile" | "fs.promises.writeFile" | "fs/promises.writeFile")
                if source.language.is_script() =>
            {
                call.positional.first().copied()
            }
            _ => None,
        };
        let Some(path) = path else { continue };
        if is_shared(path, call.node) && !renames(source, call.node) {
            hits.push(Hit::at(call.node, format!("{} is written in place", super::short(path.text()))));
        }
    }
}

/// Whether an expression, or the function that it stands in, names a file that several read.
fn is_shared(path: Node<'_>, at: Node<'_>) -> bool {
    let mut named = Vec::new();
    for part in last_of(path).descendants() {
        if matches!(
            part.kind(),
            "identifier" | "string_content" | "string_fragment" | "property_identifier" | "variable_name" | "word"
        ) {
            named.extend(words(part.text()));
        }
    }
    let is = |list: &[&str]| named.iter().any(|word| list.contains(&word.as_str()));
    // `pid_file`
    let is_pid = named.windows(2).any(|pair| pair[0] == "pid" && matches!(pair[1].as_str(), "file" | "path"));
    if is(DRAFTS) {
        return false;
    }
    let function = Some(scope(at))
        .filter(|scope| scope.parent().is_some())
        .and_then(|scope| scope.child("name"))
        .map(|name| words(name.text()))
        .unwrap_or_default();
    let does = |list: &[&str]| function.iter().any(|word| list.contains(&word.as_str()));
    is(SHARED) || is_pid || does(PUBLISHING) || does(SAVING) && does(SHARED)
}

/// The last part of a path that is joined: the file, whatever its folder is called.
fn last_of(path: Node<'_>) -> Node<'_> {
    let path = if path.kind() == "parenthesized_expression" { path.parts().next().unwrap_or(path) } else { path };
    let joined = match path.kind() {
        "call" | "call_expression"
            if path.child("function").is_some_and(|function| function.text().ends_with("join")) =>
        {
            path.child("arguments").and_then(|given| given.parts().last())
        }
        "binary_operator" => path.child("right").filter(|_| path.children().any(|part| part.text() == "/")),
        // `"$FOLDER/file"`
        "string" => path.parts().last().filter(|last| last.kind() == "string_content" && last.text().contains('/')),
        _ => None,
    };
    joined.unwrap_or(path)
}

/// Whether a function puts something in its place by a rename.
fn renames<'s>(source: &Source<'s>, at: Node<'s>) -> bool {
    source.scope_has("renames", at, |node| {
        matches!(node.kind(), "identifier" | "property_identifier")
            && (matches!(node.text(), "replace" | "rename" | "renameSync" | "link" | "mkstemp" | "NamedTemporaryFile" | "O_EXCL")
                || node.text().to_ascii_lowercase().contains("atomic"))
            // `text.replace("a", "b")` is another matter.
            && !node.parent().is_some_and(|method| {
                method.parent().and_then(|call| call.child("arguments")).is_some_and(|given| {
                    node.text() == "replace" && given.parts().count() == 2 && given.parts().all(|part| part.kind() != "identifier")
                })
            })
    })
}

fn shell(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let moves = source.calls.iter().any(|call| matches!(&*call.name, "mv" | "ln" | "install"));
    if moves {
        return;
    }
    for node in source.syntax.nodes().filter(|node| node.kind() == "file_redirect") {
        let is_over = node.children().any(|part| part.text() == ">" && !part.is_named());
        let Some(to) = node.child("destination").filter(|_| is_over) else { continue };
        // `: >file` makes it, or empties it.
        let body = node.parent().and_then(|parent| parent.child("body"));
        let writes = body.is_some_and(|body| !matches!(body.text(), ":" | "true"));
        if writes && is_shared(to, to) {
            hits.push(Hit::at(node, format!("{} is written in place", super::short(to.text()))));
        }
    }
}
