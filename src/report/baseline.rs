//! What is new since an earlier run, for people.

use super::Look;
use super::terminal::one_line;
use crate::model::Baseline;
use crate::words::first_of;

/// How many ids of old failures are shown.
const SHOWN: usize = 5;

/// The new failures with why, and how many were there before.
#[must_use]
pub fn baseline(look: Look, baseline: &Baseline) -> Vec<String> {
    let Baseline { of, commit, new, old, mended, unknown } = baseline;
    let commit = commit.as_deref().filter(|commit| !commit.starts_with(of.as_str()));
    let commit = commit.map(|commit| format!(" ({})", commit.chars().take(12).collect::<String>())).unwrap_or_default();
    let since = look.text(&one_line(&format!("since {of}{commit}")));
    let title = match new.len() {
        0 => look.green(&format!("nothing new is red {since}")),
        1 => look.red(&format!("1 new failure {since}")),
        n => look.red(&format!("{n} new failures {since}")),
    };
    let mut lines = vec![String::new(), title];
    let line = |text: String| format!("    {}", look.text(&one_line(&text)));
    lines.extend(new.iter().map(|worse| line(format!("{}: {}", worse.id, worse.why))));
    for (what, ids) in [("red before, too", old), ("mended", mended), ("red, and not known of before", unknown)] {
        if !ids.is_empty() {
            lines.push(line(format!("{what}: {}", first_of(ids, SHOWN))));
        }
    }
    lines
}
