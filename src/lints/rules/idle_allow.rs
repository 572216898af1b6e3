//! `idle-allow`: an `allow` that has no reason, names no kind, or silences nothing. `allows` finds them, when all else is found.

use super::super::language::Language;
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::Source;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::IdleAllow,
    severity: Severity::Warning,
    finds: "A comment `hostproof: allow …` has no reason, names a kind that there is not, or silences nothing.",
    why: "It says that something was looked at and found harmless. One without a reason tells nobody why; one that silences \
          nothing will hide what comes next.",
    hosts: &[TrapHost::Any],
    needs: &[Need::of(Language::ALL, &[Text("(?i)hostproof")])],
    mend: "write `hostproof: allow KIND because …` on the line of the finding or on the one before; remove it when it is not needed",
    bad: &[],
    good: &[],
    seen: Seen { found: 0, right: 0, wrong: 0, remark: "" },
    find,
};

fn find(_: &Source<'_>, _: &mut Vec<Hit>) {}
