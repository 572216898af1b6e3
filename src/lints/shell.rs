//! What a shell does with a command: where its output goes, and whether it is waited for.

use super::language::Language;
use super::literal::{literal, summed};
use super::names::Names;
use super::source::{About, Call, Source};
use super::syntax::{Node, Syntax};
use super::values::meant;

/// Whether a command, or what it is the last part of, is sent into the background.
#[must_use]
pub fn is_in_background(node: Node<'_>) -> bool {
    background(node).is_some()
}

/// The statement before an `&` that a command is a part of.
fn background(node: Node<'_>) -> Option<Node<'_>> {
    let mut statement = node;
    loop {
        let parent = statement.parent()?;
        if statement.next_sibling().is_some_and(|after| after.kind() == "&" && !after.is_named()) {
            return Some(statement);
        }
        if !matches!(
            parent.kind(),
            "redirected_statement" | "list" | "pipeline" | "subshell" | "compound_statement" | "negated_command"
        ) {
            return None;
        }
        statement = parent;
    }
}

/// An `&` that is no part of `&&` and of a redirection.
pub const LONE: &str = r"(?:^|[^&>|<])&(?:[^&>]|$)";

/// What a shell sends into the background: each statement, and the `&` after it.
#[must_use]
pub fn sent<'s>(source: &Source<'s>) -> Vec<(Node<'s>, Node<'s>)> {
    let mut all = Vec::new();
    for parent in source.syntax.nodes() {
        let mut before: Option<Node<'_>> = None;
        for part in parent.children() {
            let sent =
                before.replace(part).filter(|before| part.kind() == "&" && !part.is_named() && before.is_named());
            all.extend(sent.map(|sent| (sent, part)));
        }
    }
    all
}

/// Whether a command's standard output goes elsewhere, by what is written at it or around it.
#[must_use]
pub fn redirects_output(node: Node<'_>) -> bool {
    std::iter::once(node)
        .chain(node.ancestors())
        .take_while(|around| !matches!(around.kind(), "program" | "function_definition" | "command_substitution"))
        .any(|around| {
            around.children().any(|part| part.kind() == "file_redirect" && is_of_output(part))
                || around.kind() == "pipeline"
        })
}

/// Whether a redirection is one of standard output: `>x`, `1>x`, `&>x`, `>>x`.
pub fn is_of_output(redirect: Node<'_>) -> bool {
    let descriptor = redirect.child("descriptor").map(Node::text);
    let operator = redirect.children().find(|part| !part.is_named() && part.text().contains('>'));
    let Some(operator) = operator else { return false };
    let to = redirect.child("destination").map_or("", Node::text);
    // `>&2` gives it the other output, which the host reads as well, and counts as another place all the same.
    let closes = to == "-";
    match descriptor {
        None | Some("1") => operator.text() != ">&" || closes || to == "2",
        Some(_) => false,
    }
}

/// What a function finds among the commands of a shell's text, holes in it filled with a letter.
pub fn with_commands<R>(text: &str, then: impl FnOnce(&Source<'_>) -> Option<R>) -> Option<R> {
    let text = text.replace(super::literal::HOLE, "x");
    let syntax = Syntax::parse(Language::Shell, &text).ok()?;
    let names = Names::default();
    then(&Source::new(About::of(Language::Shell, ""), &syntax, &names))
}

/// What starts a program in Python: with an argv, or with a text for the system's shell.
pub const PYTHON_STARTERS: &[&str] =
    &["subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output"];

/// What starts a program whose words are its arguments.
const OF_WORDS: &[&str] = &[
    "asyncio.create_subprocess_exec",
    "exec.Command",
    "Command.new",
    "std.process.Command.new",
    "process.Command.new",
];

/// The text that a call gives to the system's shell; `None` of any other call, and of one that names its shell.
#[must_use]
pub fn shell_text<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<String> {
    let first = call.positional.first().copied();
    let text = match (source.language, &*call.name) {
        (
            Language::Python,
            "os.system"
            | "os.popen"
            | "subprocess.getoutput"
            | "subprocess.getstatusoutput"
            | "asyncio.create_subprocess_shell",
        ) => first?,
        (Language::Python, name) if PYTHON_STARTERS.contains(&name) => {
            let through = call.keyword("shell").is_some_and(|shell| shell.text() == "True");
            if !through || call.keyword("executable").is_some() {
                return None;
            }
            call.argument(0, "args")?
        }
        (_, "child_process.exec" | "child_process.execSync") if source.language.is_script() => {
            if call.keyword("shell").is_some() {
                return None;
            }
            first?
        }
        (_, "child_process.spawn" | "child_process.spawnSync") if source.language.is_script() => {
            call.keyword("shell").filter(|shell| shell.text() == "true")?;
            first?
        }
        _ => return None,
    };
    meant(source, text).into_iter().find_map(summed)
}

/// The text that a call gives to a shell: the system's, or one that its argv names (`["bash", "-c", "…"]`).
#[must_use]
pub fn given_text<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<String> {
    shell_text(source, call).or_else(|| {
        // Of a shell's own commands the name alone says it of most.
        if source.language == Language::Shell && !is_posix_shell(&call.name) {
            return None;
        }
        let words = words_of(source, call, super::literal::pieces)?;
        let (program, rest) = words.split_first()?;
        is_posix_shell(program).then_some(())?;
        let mut rest = rest.iter();
        let is_option = |word: &&String| word.starts_with(['-', '+']) || word.as_str() == "pipefail";
        let script = rest.by_ref().take_while(is_option).any(|word| word.starts_with('-') && word.ends_with('c'));
        script.then(|| rest.next().cloned())?
    })
}

/// Whether a program is a POSIX shell, by its name.
fn is_posix_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name.strip_suffix(".exe").unwrap_or(name), "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash")
}

/// The words of an argv that a call starts, as far as they stand there; without those that only start another program
/// (`sudo`, `timeout 5`, `xargs`).
#[must_use]
pub fn argv<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Vec<String>> {
    words_of(source, call, literal).map(|words| inner(&words))
}

/// The program that another one starts, with its words.
fn inner(words: &[String]) -> Vec<String> {
    const STARTING: &[&str] =
        &["sudo", "doas", "command", "exec", "env", "timeout", "xargs", "nice", "builtin", "busybox"];
    let mut rest = words;
    while let Some((program, after)) = rest.split_first()
        && STARTING.contains(&program.rsplit('/').next().unwrap_or(program))
    {
        // `command -v x` asks.
        if program == "command" && after.first().is_some_and(|word| matches!(word.as_str(), "-v" | "-V")) {
            break;
        }
        let is_own = |word: &&String| {
            word.starts_with('-') || word.contains('=') || word.starts_with(|c: char| c.is_ascii_digit())
        };
        let skipped = after.iter().take_while(is_own).count();
        if after.len() == skipped {
            break;
        }
        rest = &after[skipped..];
    }
    rest.to_vec()
}

fn words_of<'s>(source: &Source<'s>, call: &Call<'s>, read: fn(Node<'_>) -> Option<String>) -> Option<Vec<String>> {
    let words = |list: Node<'_>| list.parts().map(|part| read(part).unwrap_or_default()).collect::<Vec<_>>();
    let list = |given: Node<'s>| {
        meant(source, given).into_iter().find(|list| matches!(list.kind(), "list" | "tuple" | "array"))
    };
    match (source.language, &*call.name) {
        (Language::Shell, _) => Some(std::iter::once(call.name.clone()).chain(call.words()).collect()),
        (Language::Python, name) if PYTHON_STARTERS.contains(&name) => {
            call.argument(0, "args").and_then(list).map(words)
        }
        (
            _,
            "child_process.spawn" | "child_process.spawnSync" | "child_process.execFile" | "child_process.execFileSync",
        ) => {
            let mut argv = vec![read(*call.positional.first()?)?];
            argv.extend(call.positional.get(1).copied().and_then(list).into_iter().flat_map(words));
            Some(argv)
        }
        (Language::Go, "exec.CommandContext") => {
            Some(call.positional.iter().skip(1).map(|word| read(*word).unwrap_or_default()).collect())
        }
        (_, name) if OF_WORDS.contains(&name) => {
            let mut argv: Vec<String> = call.positional.iter().map(|word| read(*word).unwrap_or_default()).collect();
            if source.language == Language::Rust {
                argv.extend(of_chain(call.node, read));
            }
            Some(argv)
        }
        _ => None,
    }
}

/// `.arg("-f").args(["a", "b"])`, that follow a `Command::new`.
fn of_chain(new: Node<'_>, read: fn(Node<'_>) -> Option<String>) -> Vec<String> {
    let mut words = Vec::new();
    let mut last = new;
    for around in new.ancestors().take(64) {
        match around.kind() {
            "field_expression" => {}
            "call_expression"
                if around.child("function").is_some_and(|function| function.child("value") == Some(last)) =>
            {
                let method =
                    around.child("function").and_then(|function| function.child("field")).map_or("", Node::text);
                let given = around.child("arguments").into_iter().flat_map(Node::parts);
                match method {
                    "arg" => words.extend(given.map(|word| read(word).unwrap_or_default())),
                    "args" => {
                        let lists = given.flat_map(Node::descendants).filter(|word| word.kind() == "string_literal");
                        words.extend(lists.map(|word| read(word).unwrap_or_default()));
                    }
                    _ => {}
                }
                last = around;
            }
            _ => break,
        }
    }
    words
}
