//! `unquoted-variable`: a wired command with a path that falls apart at a space.

use super::super::language::Language::Shell;
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::paths::words;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{given_text, with_commands};
use super::super::source::{Call, Source};
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::UnquotedVariable,
    severity: Severity::Warning,
    finds: "A command that a host calls has a variable with a folder or a file in it, and no quotes around it.",
    why: "A shell splits what the variable stands for at its spaces. In a project below `/home/ann/my work` the command is \
          another one, and fails where it worked before.",
    hosts: &[TrapHost::Any],
    needs: &[Need::of(&[Shell], &[Text(r"[$`]")]).when(|about| about.wired.is_some())],
    mend: "put it into double quotes, in JSON with backslashes before them: \\\"$CLAUDE_PROJECT_DIR/hooks/guard.py\\\"",
    bad: &[
        (Shell, "python3 $CLAUDE_PROJECT_DIR/hooks/guard.py\n"),
        (Shell, "cat ${PLUGIN_ROOT}\n"),
        (Shell, "[ -f $CLAUDE_PROJECT_DIR/off ] && exit 0\n"),
        (Shell, "bash -c '$CLAUDE_PROJECT_DIR/hooks/guard.sh'\n"),
        (Shell, "bash -c \"$CLAUDE_PROJECT_DIR/hooks/guard.sh\"\n"),
        (Shell, "python3 $(git rev-parse --show-toplevel)/hooks/guard.py\n"),
    ],
    good: &[
        (Shell, "python3 \"$CLAUDE_PROJECT_DIR/hooks/guard.py\"\n"),
        (Shell, "exit $?\n"),
        (Shell, "cd \"${CLAUDE_PROJECT_DIR:-.}\"\n"),
        (Shell, "x=$HOME/bin\n"),
        (Shell, "[[ -f $CLAUDE_PROJECT_DIR/off ]] && exit 0\n"),
        (Shell, "bash -c '\"$CLAUDE_PROJECT_DIR/hooks/guard.sh\"'\n"),
    ],
    seen: Seen {
        found: 24,
        right: 22,
        wrong: 2,
        remark: "the wrong ones are of a file whose name the command makes itself, without a space.",
    },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if !source.wired {
        return;
    }
    for (node, name) in split(source) {
        hits.push(Hit::at(node, said(name)));
    }
    // `sh -c '…'`: another shell reads it.
    for call in &source.calls {
        let Some(text) = given_text(source, call) else { continue };
        let inner = with_commands(&text, |inner| split(inner).first().map(|(_, name)| said(name)));
        let found = inner.or_else(|| put_in(call).map(said));
        hits.extend(found.map(|message| Hit::at(call.node, message)));
    }
}

fn said(name: &str) -> String {
    format!("{name} is not quoted: a space in it makes two words")
}

/// What a shell splits at spaces: variables with a path in words of a command, each with how it is written.
fn split<'s>(source: &Source<'s>) -> Vec<(Node<'s>, &'s str)> {
    let mut found = Vec::new();
    for node in source.syntax.nodes() {
        if !is_path(node) {
            continue;
        }
        let Some(parent) = node.parent() else { continue };
        let outer = if parent.kind() == "concatenation" { parent.parent() } else { Some(parent) };
        // Only words of a command are split; what is given to a name is not, nor what stands in `[[ … ]]`.
        let is_split = outer.is_some_and(|outer| match outer.kind() {
            "command" | "command_name" | "file_redirect" => true,
            "unary_expression" | "binary_expression" | "test_command" => {
                let test = outer.ancestors().take(8).chain([outer]).find(|around| around.kind() == "test_command");
                test.is_some_and(|test| test.children().next().is_some_and(|bracket| bracket.text() == "["))
            }
            _ => false,
        });
        if is_split {
            found.push((node, node.text()));
        }
    }
    found
}

/// Whether something put into a text is a folder or a file: `$CLAUDE_PROJECT_DIR`, `$(pwd)`.
fn is_path(node: Node<'_>) -> bool {
    match node.kind() {
        "simple_expansion" | "expansion" => {
            let name = node.parts().find(|part| part.kind() == "variable_name").map_or("", Node::text);
            words(name).iter().any(|word| PATHS.contains(&word.as_str()))
        }
        "command_substitution" => {
            let command = node.parts().next().filter(|inner| inner.kind() == "command");
            command.is_some_and(|command| {
                matches!(command.text(), "pwd" | "git rev-parse --show-toplevel")
                    || command.text().starts_with("dirname ")
            })
        }
        _ => false,
    }
}

/// Words of names of variables that stand for one.
const PATHS: &[&str] =
    &["dir", "root", "home", "path", "file", "folder", "pwd", "cwd", "project", "tmpdir", "workspace", "toplevel"];

/// A path that is put into the text for another shell, which has no quotes of its own: `sh -c "$DIR/x.sh"`.
fn put_in<'s>(call: &Call<'s>) -> Option<&'s str> {
    let text = call.positional.iter().find(|word| word.kind() == "string")?;
    let has_quotes = text.text().contains("\\\"") || text.text().contains('\'');
    let path = text.descendants().find(|part| is_path(*part))?;
    (!has_quotes).then(|| path.text())
}
