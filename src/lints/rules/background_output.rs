//! `background-output`: a shell sends something into the background that keeps the hook's output.

use super::super::language::Language::Shell;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::is_of_output;
use super::super::source::Source;
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::BackgroundOutput,
    severity: Severity::Warning,
    finds: "Something is sent into the background and keeps the hook's standard output; in `[…] && (…) >/dev/null &` the shell \
            around it does.",
    why: "A host reads a hook's output to its end, which comes when the last process that has it is gone. In `a && b >x &` \
          the redirection is b's alone; the `&` makes another shell that runs both, has the hook's output, and waits for b.",
    hosts: &[TrapHost::Any],
    mend: "redirect the whole: { a && b; } >/dev/null 2>&1 &",
    bad: &[
        (Shell, "[ -f x ] && (sleep 9; sync) >/dev/null 2>&1 &\n"),
        (Shell, "sleep 9 &\n"),
        (Shell, "(sleep 9 >/dev/null; sync) 2>/dev/null &\n"),
        (Shell, "f() {\n  tail -f log | grep x &\n}\n"),
    ],
    good: &[
        (Shell, "{ [ -f x ] && sleep 9; } >/dev/null 2>&1 &\n"),
        (Shell, "sleep 9 >/dev/null 2>&1 &\n"),
        (Shell, "sleep 9 &\nwait\n"),
        (Shell, "exec >/dev/null 2>&1\nsleep 9 &\n"),
        (Shell, "server &\npid=$!\nrun\nkill $pid\n"),
        (Shell, "sleep 9 &>>log &\n"),
        (Shell, "(sleep 9; sync) &\nlog \"running ($!)\"\n"),
    ],
    seen: Seen {
        found: 0,
        right: 0,
        wrong: 0,
        remark: "A script that keeps the process id of what it starts is left out since one of those was found, whose output goes to a log.",
    },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if source.language != Shell {
        return;
    }
    // Who waits for what it starts, or ends it, keeps nothing; who keeps its process id looks after it.
    let keeps_id = source.syntax.nodes().any(|node| node.kind() == "special_variable_name" && node.text() == "!");
    if keeps_id || source.calls.iter().any(|call| matches!(&*call.name, "wait" | "kill" | "pkill" | "coproc")) {
        return;
    }
    let first_exec = source
        .calls_of(&["exec"])
        .filter(|call| {
            call.node.parent().is_some_and(|parent| {
                parent.children().any(|part| part.kind() == "file_redirect" && is_of_output(part))
            })
        })
        .map(|call| call.node.index())
        .next();
    for mark in source.syntax.nodes().filter(|node| node.kind() == "&" && !node.is_named()) {
        let Some(parent) = mark.parent() else { continue };
        let Some(before) = parent.children().filter(|part| part.index() < mark.index()).last() else { continue };
        if !before.is_named() || first_exec.is_some_and(|exec| exec < before.index()) || is_inside_redirected(before) {
            continue;
        }
        if let Some(message) = keeps(before) {
            hits.push(Hit::at(before, message));
        }
    }
}

/// Why a statement that runs in the background keeps the output, if it does.
fn keeps(statement: Node<'_>) -> Option<String> {
    let redirects = statement.kind() == "redirected_statement"
        && statement.children().any(|part| part.kind() == "file_redirect" && is_of_output(part));
    let body = if statement.kind() == "redirected_statement" {
        statement.child("body").unwrap_or(statement)
    } else {
        statement
    };
    match body.kind() {
        "list" if redirects => Some(
            "the redirection is that of the last command alone: the shell that runs the list keeps the output"
                .to_owned(),
        ),
        _ if redirects => None,
        "command" | "subshell" | "compound_statement" | "list" | "pipeline" | "if_statement" | "while_statement"
        | "for_statement" | "negated_command" => {
            Some("it runs in the background with the hook's standard output".to_owned())
        }
        _ => None,
    }
}

/// Whether something around it redirects the output of all that is in it.
fn is_inside_redirected(statement: Node<'_>) -> bool {
    statement.ancestors().any(|around| {
        around.kind() == "command_substitution"
            || around.kind() == "redirected_statement"
                && around.child("body").is_some_and(|body| body.kind() != "list")
                && around.children().any(|part| part.kind() == "file_redirect" && is_of_output(part))
    })
}
