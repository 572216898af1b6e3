//! `unquoted-variable`: a wired command with a path that falls apart at a space.

use super::super::language::Language::Shell;
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::paths::words;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::UnquotedVariable,
    severity: Severity::Warning,
    finds: "A command that a host calls has a variable with a folder or a file in it, and no quotes around it.",
    why: "A shell splits what the variable stands for at its spaces. In a project below `/home/ann/my work` the command is \
          another one, and fails where it worked before.",
    hosts: &[TrapHost::Any],
    needs: &[Need::of(&[Shell], &[Text(r"\$")]).when(|about| about.wired.is_some())],
    mend: "put it into double quotes, in JSON with backslashes before them: \\\"$CLAUDE_PROJECT_DIR/hooks/guard.py\\\"",
    bad: &[(Shell, "python3 $CLAUDE_PROJECT_DIR/hooks/guard.py\n"), (Shell, "cat ${PLUGIN_ROOT}\n")],
    good: &[
        (Shell, "python3 \"$CLAUDE_PROJECT_DIR/hooks/guard.py\"\n"),
        (Shell, "exit $?\n"),
        (Shell, "cd \"${CLAUDE_PROJECT_DIR:-.}\"\n"),
        (Shell, "x=$HOME/bin\n"),
    ],
    seen: Seen { found: 0, right: 0, wrong: 0, remark: "" },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if !source.wired {
        return;
    }
    for node in source.syntax.nodes().filter(|node| matches!(node.kind(), "simple_expansion" | "expansion")) {
        let Some(parent) = node.parent() else { continue };
        let outer = if parent.kind() == "concatenation" { parent.parent() } else { Some(parent) };
        // Only words of a command are split; what is given to a name is not.
        if !outer.is_some_and(|outer| matches!(outer.kind(), "command" | "command_name" | "file_redirect")) {
            continue;
        }
        let name =
            node.parts().find(|part| part.kind() == "variable_name").map_or("", super::super::syntax::Node::text);
        let is_path = words(name).iter().any(|word| {
            matches!(
                word.as_str(),
                "dir" | "root" | "home" | "path" | "file" | "folder" | "pwd" | "cwd" | "project" | "tmpdir"
            )
        });
        if is_path {
            hits.push(Hit::at(node, format!("{} is not quoted: a space in it makes two words", node.text())));
        }
    }
}
