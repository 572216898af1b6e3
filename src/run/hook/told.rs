//! Of what was seen of a hook's calls: cases, findings, times.

use super::case::Case;
use super::find::Found;
use crate::model::{
    self, CaseOutcome, Check, Counts, FaultSeen, Finding, HookReport, Kind, ProcessTimes, Reading, Severity,
    WiringFaultKind,
};
use crate::platform::{Captured, Ended, Outcome, StartError};

/// All of a check's calls.
pub struct Told {
    pub report: HookReport,
    pub reading: Reading,
    pub left: Vec<Finding>,
    pub processes: Vec<ProcessTimes>,
    /// What is told of the check as a whole: the output of the first call that is not as expected, or of the last.
    pub outcome: Outcome,
    pub argv: Vec<String>,
    /// The outcome is that of a call that is not as expected.
    settled: bool,
    /// A call came to an end: the next is not the first.
    called: bool,
}

impl Told {
    /// Before the first call.
    pub fn new(found: &Found, check: &Check) -> Self {
        let limits = found.wirings.iter().filter_map(|wiring| wiring.limit.as_ref());
        let report = HookReport {
            host: found.host(),
            file: found.wirings[0].file.clone(),
            event: found.wirings[0].event.clone(),
            limit_ms: limits.map(|limit| limit.ms).min(),
            cold_ms: None,
            warm_ms: None,
            calls: Vec::new(),
        };
        let zero = Some(0);
        let planned = Some(check.events.len() as u64);
        let counts = Counts { planned, ran: zero, passed: zero, failed: zero, skipped: zero, unknown: zero };
        let mut told = Self {
            report,
            reading: Reading { reader: Some("hook".to_owned()), counts, ..Reading::default() },
            left: Vec::new(),
            processes: Vec::new(),
            outcome: nothing(),
            argv: Vec::new(),
            settled: false,
            called: false,
        };
        told.broken_on_sight(found);
        told
    }

    /// What keeps the hook from working on its host is told, whatever it answers here.
    fn broken_on_sight(&mut self, found: &Found) {
        for wiring in &found.wirings {
            // That a script is missing shows by itself, and so it does when it can't be executed.
            let by_itself = [WiringFaultKind::ScriptMissing, WiringFaultKind::NotExecutable];
            for fault in wiring.faults.iter().filter(|fault| fault.kind.is_error() && !by_itself.contains(&fault.kind))
            {
                let place = fault.place.clone().unwrap_or_else(|| wiring.place());
                let message = format!("{place}: {}: {}", fault.kind.slug(), fault.message);
                let mut finding = Finding::new(Kind::Unmet, Severity::Error, message);
                finding.remedy = Some(fault.remedy.clone());
                self.left.push(finding);
            }
        }
    }

    /// Whether the run was ended meanwhile.
    pub fn is_cancelled(&self) -> bool {
        self.outcome.ended == Ended::Cancelled
    }

    /// Whether nothing was started yet.
    pub fn is_cold(&self) -> bool {
        !self.called
    }

    /// Takes in what came of an event.
    pub fn case(&mut self, case: Case) {
        let (outcome, why) = case.judged();
        let Counts { ran, passed, failed, unknown, .. } = &mut self.reading.counts;
        let of_outcome = match outcome {
            CaseOutcome::Passed => passed,
            CaseOutcome::Failed => failed,
            _ => &mut *unknown,
        };
        *of_outcome = of_outcome.map(|number| number + 1);
        if outcome != CaseOutcome::Unknown {
            *ran = ran.map(|number| number + 1);
        }
        self.reading.cases.push(model::Case { reason: why.clone(), ..model::Case::new(case.name.clone(), outcome) });
        let late = case.calls.iter().any(|call| call.late.is_some());
        if let Some(why) = why.filter(|_| !late) {
            let kind = if outcome == CaseOutcome::Unknown { Kind::NoProof } else { Kind::Unmet };
            let mut finding = Finding::new(kind, Severity::Error, format!("{}: {why}", case.name));
            finding.case = Some(case.name.clone());
            self.left.push(finding);
        }
        self.left.extend(case.findings);
        self.processes.extend(case.processes);
        for call in case.calls {
            let took = Some(call.told.took_ms);
            let time = if case.cold { &mut self.report.cold_ms } else { &mut self.report.warm_ms };
            if call.told.exit.is_some() || call.late.is_some() {
                *time = (*time).max(took);
            }
            self.report.calls.push(call.told);
        }
        self.called |= !case.outcomes.is_empty();
        self.outcome.duration_us += case.duration_us;
        for (seen, argv) in case.outcomes {
            self.take(seen, argv, outcome == CaseOutcome::Passed);
        }
    }

    /// Adds what is told of the check as a whole.
    fn take(&mut self, seen: Outcome, argv: Vec<String>, as_expected: bool) {
        let sum = &mut self.outcome;
        sum.unread.extend(seen.unread);
        sum.blind.extend(seen.blind);
        sum.faultless = sum.faultless.take().or(seen.faultless);
        // One call's second is not the second of all, but each was there to be made.
        sum.faults.resize_with(sum.faults.len().max(seen.faults.len()), FaultSeen::default);
        for (sum, seen) in sum.faults.iter_mut().zip(seen.faults) {
            sum.add(seen);
        }
        sum.notes.extend(seen.notes);
        if sum.started_boot_ms == 0 {
            sum.started_boot_ms = seen.started_boot_ms;
        }
        if seen.ended == Ended::Cancelled {
            sum.ended = Ended::Cancelled;
        }
        if !self.settled {
            sum.exit = seen.exit;
            (sum.stdout, sum.stderr) = (seen.stdout, seen.stderr);
            for captured in [&mut sum.stdout, &mut sum.stderr] {
                // Who held it is told already.
                captured.end_us.get_or_insert(seen.duration_us);
            }
            self.argv = argv;
            self.settled = !as_expected;
        }
    }
}

/// An outcome of no job at all: nobody holds its streams.
fn nothing() -> Outcome {
    let none = StartError { action: String::new(), file: String::new(), errno: 0 };
    let ended = Captured { end_us: Some(0), ..Captured::default() };
    Outcome { not_started: None, stdout: ended.clone(), stderr: ended, ..Outcome::of_nothing(none) }
}
