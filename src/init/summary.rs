//! What is said at the end.

use std::fmt::Write;

use super::draft::{Draft, Seen};
use super::write::FILE;
use crate::model::Wiring;
use crate::words::counted;

/// The longest list of names.
const NAMES: usize = 8;

/// What was written (or would be), and how to go on.
pub fn summary(draft: &Draft<'_>, dry_run: bool) -> String {
    let ids = |wanted: Seen| {
        let ids = draft.tests.iter().filter(|(_, report)| Seen::of(report) == wanted);
        ids.map(|(test, _)| test.id.as_str()).collect::<Vec<_>>()
    };
    let mut text = format!(
        "{} {} {FILE}\n",
        counted(draft.tests.len(), "check"),
        if dry_run { "would be written to" } else { "written to" }
    );
    for (seen, label) in [(Seen::Green, "green"), (Seen::Left, "green, but left something behind"), (Seen::Red, "red")]
    {
        let ids = ids(seen);
        if !ids.is_empty() {
            let more = if ids.len() > NAMES { format!(", and {} more", ids.len() - NAMES) } else { String::new() };
            let _ = writeln!(text, "  {} {label}: {}{more}", ids.len(), ids[..ids.len().min(NAMES)].join(", "));
        }
    }
    if !draft.wired.is_empty() {
        let wired = counted(draft.wired.len(), "wired hook");
        let _ = writeln!(text, "  {wired} found; those that no check seems to run are named in the file");
    }
    for note in draft.notes {
        let _ = writeln!(text, "  note: {}", super::yaml::comment(note));
    }
    text.push_str("next\n");
    if dry_run {
        text.push_str("  hostproof init            write it\n");
        return text.trim_end().to_owned();
    }
    if !ids(Seen::Left).is_empty() {
        let _ = writeln!(text, "  {FILE}   look at each proposed `allow`: mend what was left, or say why it is meant");
    }
    if !ids(Seen::Red).is_empty() {
        let _ = writeln!(text, "  {FILE}   the comments say why a check was red; counts are missing there");
    }
    text.push_str("  hostproof run             run the checks, and add checks.d to the repository\n");
    text.trim_end().to_owned()
}

/// What is said when there is nothing to write.
pub fn nothing_found(wired: &[Wiring], notes: &[String]) -> String {
    let mut text = "no self-tests found, so nothing was written\n\
        looked for: test_*.py and *_test.py (pytest, unittest, scripts), test*.sh and *_test.sh, *.test.js beside hooks,\n\
        the `test` script of package.json, and Cargo.toml with tests\n"
        .to_owned();
    if !wired.is_empty() {
        let _ = writeln!(text, "{} found that nothing tests:", counted(wired.len(), "wired hook"));
        for wired in wired.iter().take(NAMES) {
            let _ = writeln!(text, "  {}", super::yaml::comment(&format!("{}: {}", wired.occasion(), wired.command())));
        }
    }
    for note in notes {
        let _ = writeln!(text, "note: {}", super::yaml::comment(note));
    }
    text.push_str("next\n  hostproof try -- COMMAND  run a self-test of another name and see what it leaves behind");
    text
}
