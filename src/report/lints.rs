//! What was found in sources, for people: place by place, with why and the mend at the first of each kind.

use std::collections::BTreeSet;

use super::look::Look;
use crate::model::{Lint, LintTotals, Lints, Severity, TrapHost, Unread};
use crate::words::{counted, shown};

/// The lines.
#[must_use]
pub fn lints(look: Look, found: &Lints) -> Vec<String> {
    let mut lines = Vec::new();
    let mut told = BTreeSet::new();
    let (allowed, open): (Vec<&Lint>, Vec<&Lint>) = found.lints.iter().partition(|lint| lint.allowed.is_some());
    for lint in open {
        lines.extend(one(look, lint, told.insert(lint.kind)));
        lines.push(String::new());
    }
    if !allowed.is_empty() {
        lines.push(look.bold("allowed by a comment"));
        for lint in allowed {
            let because = lint.allowed.as_deref().unwrap_or_default();
            lines.push(format!(" {}   {}   because {}", text(&lint.place()), lint.kind.slug(), text(because)));
        }
        lines.push(String::new());
    }
    section(look, "not looked at", &found.unread, &mut lines);
    section(look, "not understood", &found.unclear, &mut lines);
    lines.extend(found.notes.iter().map(|note| format!("note: {}", text(note))));
    lines.push(look.bold(&counts(&found.totals)));
    lines.iter().map(|line| look.text(line)).collect()
}

fn section(look: Look, title: &str, unread: &[Unread], lines: &mut Vec<String>) {
    if unread.is_empty() {
        return;
    }
    lines.push(look.bold(title));
    for unread in unread {
        let line = unread.line.map(|line| format!(":{line}")).unwrap_or_default();
        lines.push(format!(" {}{line}   {}", text(&unread.file), text(&unread.message)));
    }
    lines.push(String::new());
}

fn one(look: Look, lint: &Lint, first: bool) -> Vec<String> {
    let label = match lint.severity {
        Severity::Error => look.red("RED "),
        Severity::Warning => look.yellow("warn"),
        Severity::Note => look.dim("note"),
    };
    let mut lines = vec![
        format!(" {label}  {}   {}   on {}", look.bold(&text(&lint.place())), lint.kind.slug(), hosts(&lint.hosts)),
        format!("       {}", text(&lint.message)),
        format!("       {:>5} | {}", lint.line, text(&lint.snippet)),
    ];
    if first {
        lines.push(format!("       why    {}", lint.why));
        lines.push(format!("       mend   {}     hostproof explain {}", lint.remedy, lint.kind.slug()));
    }
    lines
}

/// `Windows and every host`
#[must_use]
pub fn hosts(hosts: &[TrapHost]) -> String {
    hosts.iter().map(|host| host.name()).collect::<Vec<_>>().join(" and ")
}

/// `2 warnings, 1 note in 4 files and 1 command`
#[must_use]
pub fn counts(totals: &LintTotals) -> String {
    let all = [
        (totals.errors, counted(totals.errors, "error")),
        (totals.warnings, counted(totals.warnings, "warning")),
        (totals.notes, counted(totals.notes, "note")),
        (totals.allowed, format!("{} allowed", totals.allowed)),
    ];
    let found: Vec<String> = all.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text).collect();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    let commands =
        if totals.commands > 0 { format!(" and {}", counted(totals.commands, "command")) } else { String::new() };
    let unread = if totals.unread > 0 { format!(", {} not looked at", totals.unread) } else { String::new() };
    format!("{found} in {}{commands}{unread}", counted(totals.files, "file"))
}

/// What others wrote, on one line.
fn text(text: &str) -> String {
    shown(text.as_bytes()).split_whitespace().collect::<Vec<_>>().join(" ")
}
