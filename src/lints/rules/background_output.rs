//! `background-output`: a shell sends something into the background that keeps the hook's output.

use std::collections::HashMap;

use super::super::language::Language::{self, JavaScript, Python, Shell};
use super::super::literal::pieces;
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::options::Options;
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::{LONE, PYTHON_STARTERS, given_text, is_of_output, redirects_output, sent, with_commands};
use super::super::source::{Call, Source, scope};
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
    needs: &[
        Need::of(&[Shell], &[Text(LONE)]),
        Need::of(&[Python], &[Text(LONE), Text(r"\b(?:subprocess|system)\b")]),
        Need::of(Language::SCRIPTS, &[Text(LONE), Text("child_process")]),
    ],
    mend: "redirect the whole: { a && b; } >/dev/null 2>&1 &",
    bad: &[
        (Shell, "[ -f x ] && (sleep 9; sync) >/dev/null 2>&1 &\n"),
        (Shell, "sleep 9 &\n"),
        (Shell, "(sleep 9 >/dev/null; sync) 2>/dev/null &\n"),
        (Shell, "f() {\n  tail -f log | grep x &\n}\n"),
        (Shell, "bash -c 'sleep 9 &'\n"),
        (Shell, "worker 2>&1 >/dev/null &\n"),
        (JavaScript, "const { execSync } = require('child_process');\nexecSync('worker &');\n"),
        (Python, "import subprocess\n\nsubprocess.run([\"bash\", \"-c\", \"sleep 9 &\"])\n"),
        (Python, "import os\n\nos.system(\"sleep 9 &\")\n"),
    ],
    good: &[
        (Shell, "{ [ -f x ] && sleep 9; } >/dev/null 2>&1 &\n"),
        (Shell, "sleep 9 >/dev/null 2>&1 &\n"),
        (Shell, "sleep 9 &\nwait\n"),
        (Shell, "bash -c 'sleep 9 &' >/dev/null\n"),
        (Python, "import subprocess\n\nsubprocess.run([\"bash\", \"-c\", \"sleep 9 &\"], stdout=subprocess.DEVNULL)\n"),
        (Python, "import subprocess\n\nsubprocess.run([\"bash\", \"-c\", \"sleep 9 & wait\"])\n"),
        (Shell, "exec >/dev/null 2>&1\nsleep 9 &\n"),
        (Shell, "(exec >/dev/null 2>&1; sleep 9) &\n"),
        (Shell, "start() {\n  (sleep 9; sync) &\n}\nstart\npid=$!\n"),
        (Shell, "server &\npid=$!\nrun\nkill $pid\n"),
        (Shell, "sleep 9 &>>log &\n"),
        (Shell, "(sleep 9; sync) &\nlog \"running ($!)\"\n"),
    ],
    seen: Seen {
        found: 2,
        right: 2,
        wrong: 0,
        remark: "what a script waits for, or keeps the process id of, is left out since some of those were found.",
    },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if source.language == Shell {
        for (node, message) in of_shell(source) {
            hits.push(Hit::at(node, message));
        }
    }
    for call in &source.calls {
        let Some(text) = given_text(source, call).filter(|_| !has_own_output(source, call)) else { continue };
        let found = with_commands(&text, |inner| of_shell(inner).into_iter().next().map(|(_, message)| message));
        hits.extend(found.map(|message| Hit::at(call.node, message)));
    }
}

/// Whether what a call starts has another output than this process, or one that is not told.
fn has_own_output<'s>(source: &Source<'s>, call: &Call<'s>) -> bool {
    match source.language {
        Shell => redirects_output(call.node) || call.node.within(&["command_substitution"]).is_some(),
        Python if PYTHON_STARTERS.contains(&&*call.name) => {
            let options = Options::of(source, call);
            // A pipe is read to its end, as the host does.
            let pipes = options.has("capture_output") || call.name.ends_with("output");
            options.untold || options.has("stdout") && !pipes
        }
        Python => call.name != "os.system",
        // They read a pipe to its end.
        language if language.is_script() && matches!(&*call.name, "child_process.exec" | "child_process.execSync") => {
            false
        }
        language if language.is_script() => {
            let inherits = |stdio: Node<'_>| stdio.descendants().any(|node| pieces(node).as_deref() == Some("inherit"));
            !call.keyword("stdio").is_some_and(inherits)
        }
        _ => true,
    }
}

/// What a shell sends into the background with its output.
fn of_shell<'s>(source: &Source<'s>) -> Vec<(Node<'s>, String)> {
    let mut found = Vec::new();
    let first_exec = source
        .calls_of(&["exec"])
        .filter(|call| {
            call.node.parent().is_some_and(|parent| {
                parent.children().any(|part| part.kind() == "file_redirect" && is_of_output(part))
            })
        })
        .map(|call| call.node.index())
        .next();
    let looked_after = LookedAfter::of(source);
    for (statement, mark) in sent(source) {
        if first_exec.is_some_and(|exec| exec < statement.index()) || is_inside_redirected(statement) {
            continue;
        }
        if let Some(message) = keeps(statement)
            && !looked_after.has(mark)
        {
            found.push((statement, message));
        }
    }
    found
}

/// Where a shell waits for what it sent into the background, ends it, or keeps its process id; and where it sends something
/// there. All by the function they lie in, in the order of the text.
#[derive(Debug, Default)]
struct LookedAfter {
    sent: HashMap<usize, Vec<usize>>,
    waits: HashMap<usize, Vec<usize>>,
    ids: HashMap<usize, Vec<usize>>,
}

impl LookedAfter {
    fn of(source: &Source<'_>) -> Self {
        let mut all = Self::default();
        for node in source.syntax.nodes() {
            let list = match node.kind() {
                "&" if !node.is_named() => &mut all.sent,
                "special_variable_name" if node.text() == "!" => &mut all.ids,
                _ => continue,
            };
            list.entry(scope(node).index()).or_default().push(node.index());
        }
        for call in &source.calls {
            // `kill %1` is for a job of this shell's own.
            let of_jobs = || call.positional.iter().any(|word| word.text().trim_matches('"').starts_with('%'));
            if call.name == "wait" || call.name == "kill" && of_jobs() {
                all.waits.entry(scope(call.node).index()).or_default().push(call.node.index());
            }
        }
        all
    }

    /// Whether what an `&` sends is looked after: by a wait after it, or by `$!` before the next one.
    fn has(&self, mark: Node<'_>) -> bool {
        let (function, at) = (scope(mark).index(), mark.index());
        let after = |list: &HashMap<usize, Vec<usize>>| {
            let list = list.get(&function)?;
            list.get(list.partition_point(|place| *place <= at)).copied()
        };
        let next = after(&self.sent).unwrap_or(usize::MAX);
        // Who calls a function that ends with it has its process id.
        let part = scope(mark);
        let ends_function = part.parent().is_some() && part.end_index() <= mark.index() + 3;
        if ends_function && !self.ids.is_empty() {
            return true;
        }
        after(&self.waits).is_some() || after(&self.ids).is_some_and(|id| id < next)
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
    // `2>&1 >/dev/null`: the second output is where the first one was.
    let mut redirections = statement.children().filter(|part| part.kind() == "file_redirect");
    let crosses = redirections.next().is_some_and(|first| first.text().replace(' ', "") == "2>&1")
        && redirections.next().is_some_and(is_of_output);
    match body.kind() {
        _ if crosses && body.kind() != "list" => {
            Some("2>&1 stands before the redirection, so that its errors keep the hook's output".to_owned())
        }
        "subshell" | "compound_statement" if !redirects && begins_with_exec(body) => None,
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

/// `(exec >/dev/null 2>&1; worker)`
fn begins_with_exec(group: Node<'_>) -> bool {
    group.parts().next().is_some_and(|first| {
        first.kind() == "redirected_statement"
            && first.child("body").is_some_and(|body| body.text() == "exec")
            && first.children().any(|part| part.kind() == "file_redirect" && is_of_output(part))
    })
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
