//! `in-place-write`: a file that others poll is written in place.

use std::collections::BTreeSet;

use super::super::language::Language::{self, Go, JavaScript, Python, Rust, Shell};
use super::super::literal::literal;
use super::super::needs::Need;
use super::super::needs::Sign::{Calls, Made, Text};
use super::super::paths::{function_words, words};
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::{Call, Source, scope};
use super::super::syntax::Node;
use super::super::values::meant;
use super::super::written::{Written, has_text, plain_text};
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::InPlaceWrite,
    severity: Severity::Warning,
    finds: "A file of state that another process reads (by its name: state, cache, status, heartbeat, lock, pid file, or \
            written by a function that publishes) is written in place.",
    why: "Between the opening and the last byte it is empty or half: hooks run at once, and whoever reads then gets broken \
          JSON. A run that is ended in between leaves it so.",
    hosts: &[TrapHost::Any],
    needs: &[
        Need::of(&[Python], &[Made(names), Calls(&["open"], may_write)]).when(|about| !about.is_test()),
        Need::of(&[Python], &[Made(names), Text(r"\bwrite_(?:text|bytes)\b")]).when(|about| !about.is_test()),
        Need::of(Language::SCRIPTS, &[Made(names), Text("writeFile|Bun")]).when(|about| !about.is_test()),
        Need::of(&[Rust], &[Made(names), Text(r"\b(?:fs|File)\b")]).when(|about| !about.is_test()),
        Need::of(&[Go], &[Made(names), Text(r"\b(?:WriteFile|Create)\b")]).when(|about| !about.is_test()),
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
        (Shell, "echo $$ >\"$FOLDER/worker.pid\"\n"),
        (Rust, "fn save(text: &str) { std::fs::write(\"state.json\", text).ok(); }\n"),
        (Go, "package a\n\nfunc save(text []byte) { os.WriteFile(\"state.json\", text, 0o600) }\n"),
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
        (Shell, "exec 9>\"$LOCK_FILE\"\nflock -n 9\n"),
        (Shell, "(set -o noclobber; echo $$ >\"$LOCK_FILE\")\n"),
        (Shell, "echo \"$json\" >\"$STATE_FILE.tmp\" && mv \"$STATE_FILE.tmp\" \"$STATE_FILE\"\n"),
    ],
    seen: Seen { found: 25, right: 24, wrong: 1, remark: "the wrong one is written by an installer alone." },
    find,
};

/// An expression for what the name of such a file, or that of a function, has in it.
fn names() -> String {
    format!("(?i:lock|cache|registry|{}|{}|pid(?:[^a-z]|$))|[pP]id[A-Z]", SHARED.join("|"), PUBLISHING.join("|"))
}

/// Whether an `open` may have a mode that begins with `w`.
fn may_write(call: &Written<'_>) -> bool {
    // What is no text is not known.
    let writes = |mode: &[u8]| plain_text(mode).map_or_else(|| has_text(mode), |mode| mode.starts_with('w'));
    // Of a path's own `open` the mode is the first.
    [0, 1].into_iter().filter_map(|at| call.argument(at, "mode")).any(writes)
}

/// Words of names of files that several read.
const SHARED: &[&str] = &["state", "status", "heartbeat", "pidfile"];
/// Words of names that say what kind of thing it is, behind those that say what is in it.
const GENERAL: &[&str] = &["file", "path", "name", "json", "jsonl", "txt", "yaml", "toml", "db", "data", "dat"];
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
        let Some(path) = written(source, call) else { continue };
        let fills = call.name != "open" || !is_only_made(source, call.node);
        let names = meant(source, path);
        let is_trap =
            names.iter().any(|path| is_shared(*path, call.node)) || fills && names.iter().any(|path| is_lock(*path));
        if is_trap && !renames(source, call.node) && !source.is_test_at(call.node) {
            hits.push(Hit::at(call.node, format!("{} is written in place", super::short(path.text()))));
        }
    }
}

/// The file that a call writes from its beginning.
fn written<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Node<'s>> {
    let first = call.positional.first().copied();
    match (source.language, &*call.name) {
        (Python, "open" | "io.open") => {
            let writes = call.argument(1, "mode").and_then(literal).is_some_and(|mode| mode.starts_with('w'));
            first.filter(|_| writes)
        }
        (Python, ".open") => {
            let writes = call.argument(0, "mode").and_then(literal).is_some_and(|mode| mode.starts_with('w'));
            call.receiver.filter(|_| writes)
        }
        (Python, ".write_text" | ".write_bytes") => call.receiver,
        (_, "fs.writeFileSync" | "fs.writeFile" | "fs.promises.writeFile" | "fs/promises.writeFile" | "Bun.write")
            if source.language.is_script() =>
        {
            // `{ flag: 'wx' }` makes it, `{ flag: 'a' }` adds to it.
            let adds = call.keyword("flag").and_then(literal).is_some_and(|flag| flag != "w");
            first.filter(|_| !adds)
        }
        (Rust, "fs.write" | "std.fs.write" | "File.create" | "fs.File.create" | "std.fs.File.create")
        | (Go, "os.WriteFile" | "ioutil.WriteFile" | "os.Create") => first,
        _ => None,
    }
}

/// Whether a file is opened and not written: it is made, and a lock is taken of it.
fn is_only_made<'s>(source: &Source<'s>, open: Node<'s>) -> bool {
    let part = open.within(&["with_statement"]).unwrap_or_else(|| scope(open));
    let writes = source.index("writes", part, |node| {
        let writes = matches!(node.kind(), "identifier" | "property_identifier")
            && matches!(node.text(), "write" | "dump" | "writelines" | "print");
        writes.then_some("")
    });
    writes.is_empty()
}

/// Whether a file is one for people: `status.txt`.
fn is_report(path: Node<'_>) -> bool {
    matches!(ending(path), "txt" | "md" | "html" | "csv")
}

/// What stands behind the last dot of a path's text.
fn ending(path: Node<'_>) -> &str {
    let text = last_of(path).text().trim_end_matches(['"', '\'', '`', ')']);
    text.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Whether a name is that of a lock, with what is written into it for those who wait.
fn is_lock(path: Node<'_>) -> bool {
    let mut named = Vec::new();
    for part in last_of(path).descendants().take(40) {
        if is_word(part) {
            named.extend(words(part.text()));
        }
    }
    let is_draft = named.iter().any(|word| DRAFTS.contains(&word.as_str()));
    let is_other = named.iter().any(|word| matches!(word.as_str(), "package" | "yarn" | "cargo" | "poetry" | "uv"));
    !is_draft && !is_other && named.iter().any(|word| matches!(word.as_str(), "lock" | "lockfile"))
}

fn is_word(part: Node<'_>) -> bool {
    matches!(
        part.kind(),
        "identifier"
            | "string_content"
            | "string_fragment"
            | "property_identifier"
            | "variable_name"
            | "word"
            | "interpreted_string_literal_content"
    )
}

/// Whether an expression, or the function that it stands in, names a file that several read.
fn is_shared(path: Node<'_>, at: Node<'_>) -> bool {
    let mut named = Vec::new();
    let mut of_cache = false;
    for part in last_of(path).descendants().filter(|part| is_word(*part)) {
        let these = words(part.text());
        // `cache-primer.txt` is none.
        let noun = these.iter().rev().find(|word| !GENERAL.contains(&word.as_str()));
        of_cache |= noun.is_some_and(|noun| noun == "cache" || noun == "registry");
        named.extend(these);
    }
    let is = |list: &[&str]| named.iter().any(|word| list.contains(&word.as_str()));
    // `pid_file`
    let is_pid = named.windows(2).any(|pair| pair[0] == "pid" && matches!(pair[1].as_str(), "file" | "path"))
        // `worker.pid`
        || named.len() > 1 && ending(path) == "pid";
    if is(DRAFTS) || is_report(path) {
        return false;
    }
    let function = function_words(at);
    let does = |list: &[&str]| function.iter().any(|word| list.contains(&word.as_str()));
    is(SHARED) || of_cache || is_pid || does(PUBLISHING) || does(SAVING) && (does(SHARED) || does(&["cache"]))
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
        matches!(node.kind(), "identifier" | "property_identifier" | "field_identifier")
            && (matches!(node.text(), "replace" | "rename" | "renameSync" | "Rename" | "link" | "create_new" | "mkstemp" | "NamedTemporaryFile" | "O_EXCL")
                || node.kind() == "field_identifier" && node.text() == "persist"
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
    // `set -o noclobber`, `set -C`: a lock that is there is not written.
    let keeps_what_is_there =
        source.calls_of(&["set"]).any(|call| call.words().any(|word| matches!(&*word, "noclobber" | "-C")));
    let made: BTreeSet<&str> = source
        .syntax
        .nodes()
        .filter(|node| node.kind() == "variable_assignment")
        .filter(|node| node.child("value").is_some_and(|value| value.text().contains("mktemp")))
        .filter_map(|node| node.child("name").map(Node::text))
        .collect();
    for node in source.syntax.nodes().filter(|node| node.kind() == "file_redirect") {
        let is_over = node.children().any(|part| part.text() == ">" && !part.is_named());
        let Some(to) = node.child("destination").filter(|_| is_over) else { continue };
        // `exec 9>file` and `(…) 9>file` open it for a lock; `$(mktemp)` is a draft.
        let descriptor = node.child("descriptor").map_or("1", Node::text);
        let is_draft =
            to.descendants().filter(|part| part.kind() == "variable_name").any(|name| made.contains(name.text()));
        if descriptor != "1" || is_draft {
            continue;
        }
        // `: >file` makes it, or empties it.
        let body = node.parent().and_then(|parent| parent.child("body"));
        let writes = body.is_some_and(|body| !matches!(body.text(), ":" | "true" | "exec"));
        if writes && (is_shared(to, to) || is_lock(to) && !keeps_what_is_there) {
            hits.push(Hit::at(node, format!("{} is written in place", super::short(to.text()))));
        }
    }
}
