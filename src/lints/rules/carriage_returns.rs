//! `carriage-returns`: a script with line ends that its interpreter takes for text.

use super::super::language::Language::{self, Python, Shell};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::CarriageReturns,
    severity: Severity::Error,
    finds: "A script for a POSIX shell, or the first line of any script that names its interpreter, ends with CR LF.",
    why: "A shell takes the CR for a part of the last word, also Git Bash on Windows; and no program is called `python3\\r`.",
    hosts: &[TrapHost::Any],
    needs: &[
        Need::of(&[Shell], &[Text("\r\n")]).when(|about| about.wired.is_none()),
        Need::of(Language::ALL, &[Text(r"\A#![^\n]*\r\n")]).when(|about| about.wired.is_none()),
    ],
    mend: "save it with LF, and keep it so: `*.sh text eol=lf` in .gitattributes",
    bad: &[(Shell, "#!/bin/sh\r\ncd /\r\n"), (Python, "#!/usr/bin/env python3\r\nprint(1)\r\n")],
    good: &[(Shell, "#!/bin/sh\ncd /\n"), (Python, "print(1)\r\n")],
    seen: Seen { found: 1, right: 1, wrong: 0, remark: "" },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let Some(at) = source.text.find("\r\n") else { return };
    let first_line = source.text.starts_with("#!") && !source.text[..at].contains('\n');
    if source.wired || !(source.language == Shell || first_line) {
        return;
    }
    let start = source.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let what = if source.language == Shell {
        "the shell takes the CR for a part of the line"
    } else {
        "no program has that name"
    };
    hits.push(Hit { bytes: start..at, message: format!("the line ends with CR LF: {what}") });
}
