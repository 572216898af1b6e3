//! One run, and what it comes to.

use super::Sums;
use super::entry::{Entry, Kind};
use super::tally::Tally;
use crate::model::{CaseOutcome, Frame};
use crate::readers::Arrival;
use crate::readers::cases::{CaseList, MOST_CASES, MOST_FRAMES, Outcomes};

/// What lines tell of a run, as numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    leafs: u64,
    parents: u64,
    files: u64,
    /// Of leafs, and of parents that are known to be tests.
    outcomes: Outcomes,
    /// Parents that failed though nothing in them did: suites, and what may be one.
    hooks: u64,
    doubtful: u64,
}

impl Told {
    fn with(self, more: Self) -> Self {
        Self {
            leafs: self.leafs + more.leafs,
            parents: self.parents + more.parents,
            files: self.files + more.files,
            outcomes: Outcomes {
                passed: self.outcomes.passed + more.outcomes.passed,
                failed: self.outcomes.failed + more.outcomes.failed,
                skipped: self.outcomes.skipped + more.outcomes.skipped,
                unknown: self.outcomes.unknown + more.outcomes.unknown,
            },
            hooks: self.hooks + more.hooks,
            doubtful: self.doubtful + more.doubtful,
        }
    }

    fn nothing(self) -> bool {
        self.leafs + self.parents == 0
    }

    fn agrees(self, tally: &Tally) -> bool {
        tally.suites.is_none_or(|suites| self.leafs + self.parents == tally.tests + suites)
    }
}

/// What lines tell of a run.
#[derive(Default)]
pub struct Session {
    told: Told,
    /// A tally, and what was told before it. A run is over when something else begins.
    ended: Option<(Told, Tally)>,
    cases: CaseList,
    /// Parents that may be tests or suites.
    parents: Vec<Entry>,
    /// A line that only node's runner prints was seen.
    pub seen: bool,
    /// A case began and has no outcome.
    pub begun: Option<(String, Arrival)>,
    /// Where the cases failed, and the same once more from the list at the end.
    pub frames: Vec<Frame>,
    pub listed: Vec<Frame>,
    /// What else went wrong, outside of any case.
    pub others: Vec<Frame>,
    pub notes: Vec<String>,
    /// The reporter tells no numbers.
    pub numberless: bool,
}

impl Session {
    /// Takes what a line says of a test or suite.
    pub fn record(&mut self, entry: Entry) {
        let Entry { name, outcome, reason, at, kind, failed_within } = &entry;
        match kind {
            Kind::File if *outcome != CaseOutcome::Failed => {
                self.told.leafs += 1;
                self.told.files += 1;
                return;
            }
            Kind::Leaf | Kind::File => self.told.leafs += 1,
            Kind::Test => self.told.parents += 1,
            Kind::Suite | Kind::Parent => {
                self.told.parents += 1;
                if *outcome == CaseOutcome::Failed && !failed_within {
                    if *kind == Kind::Suite {
                        self.told.hooks += 1;
                    } else {
                        self.told.doubtful += 1;
                    }
                    self.name(name, *outcome, None, *at);
                }
                if *kind == Kind::Parent && self.parents.len() < MOST_CASES {
                    self.parents.push(entry);
                }
                return;
            }
        }
        let (name, outcome, reason, at) = (name.clone(), *outcome, reason.clone(), *at);
        let count = match outcome {
            CaseOutcome::Passed => &mut self.told.outcomes.passed,
            CaseOutcome::Failed => &mut self.told.outcomes.failed,
            CaseOutcome::Skipped => &mut self.told.outcomes.skipped,
            CaseOutcome::Unknown => &mut self.told.outcomes.unknown,
        };
        *count += 1;
        self.name(&name, outcome, reason.as_deref(), at);
    }

    /// Cases of several files may have the same name, and are cases of their own.
    fn name(&mut self, name: &str, outcome: CaseOutcome, reason: Option<&str>, at: Arrival) {
        self.cases.record(name, outcome, reason, at);
        self.cases.end_suite();
    }

    /// Whether the run has ended, as far as it tells.
    pub fn is_settled(&self) -> bool {
        self.ended.is_some() || !self.told.nothing()
    }

    /// A tally: of this run, of a run within it, or of another one after it.
    pub fn tally(&mut self, tally: Tally, sums: &mut Sums) {
        self.begun = None;
        let told = std::mem::take(&mut self.told);
        if let Some((before, earlier)) = self.ended.take() {
            let whole = before.with(told);
            if whole.agrees(&tally) && !before.agrees(&earlier) {
                // The earlier one was printed by a case.
                self.ended = Some((whole, tally));
                return;
            }
            if !before.agrees(&earlier) && !told.agrees(&tally) {
                sums.unclear = true;
                sums.say("several tallies, and which of them are of one run can't be told");
            }
            self.close(before, earlier, sums);
        }
        self.ended = Some((told, tally));
    }

    fn close(&mut self, told: Told, tally: Tally, sums: &mut Sums) {
        let Tally { tests, suites, pass, fail, cancelled, skipped, todo } = tally;
        let mut outcomes =
            Outcomes { passed: pass, failed: fail + cancelled, skipped: skipped + todo, ..Outcomes::default() };
        if !told.agrees(&tally) && !told.nothing() {
            let seen = told.leafs + told.parents;
            sums.say(format!(
                "node's tally says {} tests and suites, its lines tell of {seen}: the tally counts",
                tests + suites.unwrap_or(0)
            ));
        }
        outcomes.failed += told.hooks
            + match suites {
                Some(suites) if suites >= told.parents => told.doubtful,
                Some(0) => 0,
                // Some of them are tests; those that the tally has no failure for are suites.
                _ => (told.outcomes.failed + told.doubtful).saturating_sub(outcomes.failed).min(told.doubtful),
            };
        outcomes.passed = outcomes.passed.saturating_sub(told.files);
        if suites == Some(0) {
            for entry in std::mem::take(&mut self.parents) {
                if entry.outcome != CaseOutcome::Failed || entry.failed_within {
                    self.name(&entry.name, entry.outcome, entry.reason.as_deref(), entry.at);
                }
            }
        }
        self.parents.clear();
        files(told, sums);
        sums.tallies += 1;
        sums.add(outcomes, (told.files == 0).then_some(0));
    }

    /// The run is over.
    pub fn end(mut self, sums: &mut Sums) {
        if self.numberless && self.ended.is_none() {
            sums.unclear = true;
            sums.say("node's dot reporter tells no numbers");
            sums.add(Outcomes::default(), None);
        } else {
            let told = self.told;
            let tallied = self.ended.is_some();
            if let Some((before, tally)) = self.ended.take() {
                self.close(before, tally, sums);
            }
            if self.seen && !(told.nothing() && (tallied || self.begun.is_none())) {
                if let Some((name, at)) = self.begun.take() {
                    self.name(&name, CaseOutcome::Unknown, None, at);
                }
                let mut outcomes = told.outcomes;
                outcomes.failed += told.hooks + told.doubtful;
                files(told, sums);
                sums.say("node's run ended without its tally: what was seen before counts");
                sums.add(outcomes, (told.files == 0).then_some(1));
            }
        }
        for text in self.notes {
            sums.say(text);
        }
        let places = if self.listed.len() >= self.frames.len() { self.listed } else { self.frames };
        for frame in self.others.into_iter().chain(places) {
            sums.frames.extend(Some(frame));
        }
        sums.take(self.cases);
    }

    /// Adds a frame to one of the lists.
    pub fn frame(list: &mut Vec<Frame>, frame: Frame) {
        if list.len() <= MOST_FRAMES {
            list.push(frame);
        }
    }
}

fn files(told: Told, sums: &mut Sums) {
    if told.files > 0 {
        let them = if told.files == 1 { "1 file was" } else { "files were" };
        let number = if told.files == 1 { String::new() } else { format!("{} ", told.files) };
        sums.say(format!(
            "{number}{them} loaded and told of no case in it: node counts such a file as a test that passed"
        ));
    }
}
