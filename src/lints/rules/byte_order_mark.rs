//! `byte-order-mark`: a byte order mark before the first line.

use super::super::language::Language::{self, Python, Shell};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::ByteOrderMark,
    severity: Severity::Error,
    finds: "A script begins with a byte order mark, before the line that names its interpreter or before a shell's first word.",
    why: "The system looks for `#!` in the first two bytes and finds the mark: it starts the file with another shell, or not at \
          all; and a shell takes the mark for a part of the first word.",
    hosts: &[TrapHost::Linux, TrapHost::Macos],
    needs: &[Need::of(Language::ALL, &[Text(r"\A\xef\xbb\xbf")]).when(|about| about.wired.is_none())],
    mend: "save it as UTF-8 without the mark",
    bad: &[(Shell, "\u{feff}cd /\n"), (Python, "\u{feff}#!/usr/bin/env python3\n")],
    good: &[(Shell, "cd /\n"), (Python, "\u{feff}import os\n")],
    seen: Seen { found: 0, right: 0, wrong: 0, remark: "" },
    find,
};

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    let Some(rest) = source.text.strip_prefix('\u{feff}') else { return };
    if !source.wired && (rest.starts_with("#!") || source.language == Shell) {
        hits.push(Hit { bytes: 0..3, message: "it begins with a byte order mark".to_owned() });
    }
}
