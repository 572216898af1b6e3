//! What is told of a run while it goes on.

use std::borrow::Cow;
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::SystemTime;

use indicatif::{ProgressBar, ProgressStyle};

use super::events::Events;
use super::show::Show;
use crate::env;
use crate::model::{CheckReport, Event};
use crate::plan::Plan;
use crate::report::{self, Look};
use crate::run::Observer;
use crate::words::timestamp;

/// A line per finished check, and what runs now where somebody looks.
pub struct Telling<'a> {
    events: &'a Events,
    show: Show,
    look: Look,
    width: usize,
    bar: ProgressBar,
    running: Mutex<Vec<String>>,
}

impl<'a> Telling<'a> {
    /// Nothing has happened yet.
    pub fn new(plan: &Plan, show: Show, look: Look, events: &'a Events) -> Self {
        const WIDEST: usize = 40;
        let width = plan.checks.iter().map(|planned| planned.id().chars().count()).max().unwrap_or(0).min(WIDEST);
        let bar = if shows_progress(stderr().is_terminal(), env::text("TERM").as_deref()) {
            ProgressBar::new(plan.checks.len() as u64)
        } else {
            ProgressBar::hidden()
        };
        let template = if look.unicode {
            " {spinner} {pos}/{len}  {elapsed}  {wide_msg}"
        } else {
            " {pos}/{len}  {elapsed}  {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
        }
        Self { events, show, look, width, bar, running: Mutex::default() }
    }

    /// Nothing more will happen.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut running = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut running);
        if !self.bar.is_hidden() {
            self.bar.set_message(self.look.text(&running.join("  ")));
        }
    }
}

impl Observer for Telling<'_> {
    fn check_started(&self, id: &str) {
        let at = timestamp(SystemTime::now());
        self.bar.suspend(|| self.events.tell(&Event::CheckStarted { id: id.into(), at: at.into() }));
        self.change(|running| {
            // What runs again is there.
            if !running.iter().any(|known| known == id) {
                running.push(id.to_owned());
            }
        });
    }

    fn check_ended(&self, check: &CheckReport) {
        self.change(|running| running.retain(|id| *id != check.id));
        self.bar.inc(1);
        let line = report::check_line(self.look, check, self.width);
        self.bar.suspend(|| {
            self.show.line(&line);
            self.events.tell(&Event::CheckEnded { check: Cow::Borrowed(check) });
        });
    }
}

/// Whether progress is shown: it is drawn on standard error, by moving the cursor. Where the results go, and in which
/// colours, has nothing to do with it.
fn shows_progress(is_terminal: bool, term: Option<&str>) -> bool {
    is_terminal && term != Some("dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shown_on_every_terminal_that_can() {
        assert!(shows_progress(true, Some("xterm")) && shows_progress(true, None));
        assert!(!shows_progress(true, Some("dumb")) && !shows_progress(false, Some("xterm")));
    }
}
