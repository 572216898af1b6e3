//! What a shell does with a command: where its output goes, and whether it is waited for.

use super::language::Language;
use super::literal::literal;
use super::names::Names;
use super::source::{About, Source};
use super::syntax::{Node, Syntax};

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

/// Calls a function with the commands of a shell's text, holes in it filled with a letter.
pub fn with_commands<R>(text: &str, then: impl FnOnce(&Source<'_>) -> R) -> Option<R> {
    let text = text.replace(super::literal::HOLE, "x");
    let syntax = Syntax::parse(Language::Shell, &text).ok()?;
    let names = Names::default();
    Some(then(&Source::new(About::of(Language::Shell, ""), &syntax, &names)))
}

/// What starts a program in Python: with an argv, or with a text for the system's shell.
pub const PYTHON_STARTERS: &[&str] =
    &["subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output"];

/// The text that a call gives to the system's shell; `None` of any other call, and of one that names its shell.
#[must_use]
pub fn shell_text(source: &Source<'_>, call: &super::source::Call<'_>) -> Option<String> {
    let first = call.positional.first().copied();
    let text = match (source.language, &*call.name) {
        (Language::Python, "os.system" | "os.popen" | "subprocess.getoutput" | "subprocess.getstatusoutput") => first?,
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
        _ => return None,
    };
    super::literal::pieces(text)
}

/// The text that a call gives to a shell: the system's, or one that its argv names (`["bash", "-c", "…"]`).
#[must_use]
pub fn given_text(source: &Source<'_>, call: &super::source::Call<'_>) -> Option<String> {
    shell_text(source, call).or_else(|| {
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

/// The words of an argv that a call starts, as far as they stand there.
#[must_use]
pub fn argv(source: &Source<'_>, call: &super::source::Call<'_>) -> Option<Vec<String>> {
    words_of(source, call, literal)
}

fn words_of(
    source: &Source<'_>,
    call: &super::source::Call<'_>,
    read: fn(Node<'_>) -> Option<String>,
) -> Option<Vec<String>> {
    let words = |list: Node<'_>| list.parts().map(|part| read(part).unwrap_or_default()).collect::<Vec<_>>();
    match (source.language, &*call.name) {
        (Language::Shell, _) => Some(std::iter::once(call.name.clone()).chain(call.words()).collect()),
        (Language::Python, name) if PYTHON_STARTERS.contains(&name) => {
            call.argument(0, "args").filter(|list| matches!(list.kind(), "list" | "tuple")).map(words)
        }
        (
            _,
            "child_process.spawn" | "child_process.spawnSync" | "child_process.execFile" | "child_process.execFileSync",
        ) => {
            let mut argv = vec![read(*call.positional.first()?)?];
            argv.extend(
                call.positional.get(1).filter(|list| list.kind() == "array").into_iter().flat_map(|list| words(*list)),
            );
            Some(argv)
        }
        (Language::Go, "exec.Command") | (Language::Rust, "Command.new" | "std.process.Command.new") => {
            Some(call.positional.iter().map(|word| read(*word).unwrap_or_default()).collect())
        }
        _ => None,
    }
}
