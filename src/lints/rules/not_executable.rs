//! `not-executable`: a hook script that may not be executed.

use super::super::language::Language::{self, Shell};
use super::super::needs::Need;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::NotExecutable,
    severity: Severity::Error,
    finds: "A script that a host or a check starts by itself has no executable bit.",
    why: "The system refuses to start it, and a hook that can't be started refuses nothing: the host goes on. A file that was \
          made on Windows has no such bit in git.",
    hosts: &[TrapHost::Linux, TrapHost::Macos],
    needs: &[Need::of(Language::ALL, &[]).when(|about| about.executable == Some(false))],
    mend: "chmod +x it (git update-index --chmod=+x FILE), or name its interpreter in the command",
    bad: &[(Shell, "#!/bin/sh\n# executable: no\n")],
    good: &[(Shell, "#!/bin/sh\n# executable: yes\n")],
    seen: Seen { found: 10, right: 10, wrong: 0, remark: "hooks of three agents in one project." },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if source.executable == Some(false) {
        let end = source.text.find('\n').unwrap_or(source.text.len());
        hits.push(Hit { bytes: 0..end, message: "it is started by itself, and may not be executed".to_owned() });
    }
}
