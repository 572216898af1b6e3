//! The check's own output, still open.

use super::Blame;
use super::lasting::Lasting;
use crate::model::{Finding, Kind, Process, Severity, Stream};
use crate::platform::Outcome;

/// A finding per process that kept a stream open beyond the grace; one without a process if nobody was found.
pub fn held(outcome: &Outcome, lasting: &Lasting<'_>, blame: &Blame<'_>) -> Vec<Finding> {
    let is_held = |stream: Stream| {
        let captured = outcome.captured(stream);
        lasting.outlasts(captured.end_us) && captured.lost.is_none()
    };
    let mut findings = Vec::new();
    let mut found = [false; 2];
    let lasted = lasting.processes.iter().map(|(process, _)| *process);
    for process in outcome.alive.iter().chain(&outcome.outside).chain(lasted) {
        let open: Vec<Stream> = process.pipes.iter().copied().filter(|stream| is_held(*stream)).collect();
        for stream in &open {
            found[*stream as usize] = true;
        }
        if !open.is_empty() {
            findings.push(finding(&open, Some(process), blame));
        }
    }
    for stream in [Stream::Stdout, Stream::Stderr] {
        if is_held(stream) && !found[stream as usize] {
            findings.push(finding(&[stream], None, blame));
        }
    }
    findings
}

fn finding(streams: &[Stream], process: Option<&Process>, blame: &Blame<'_>) -> Finding {
    let what = streams.iter().map(|stream| stream.name()).collect::<Vec<_>>().join(" and ");
    let verb = if streams.len() == 1 { "is" } else { "are" };
    let who = process.map_or_else(|| "a process that could not be found".to_owned(), Process::short);
    let mut finding = Finding::new(
        Kind::HeldPipe,
        Severity::Error,
        format!("the check's {what} {verb} still open in {who}: a host that reads to the end would hang"),
    );
    finding.case = process.and_then(|process| blame.case(process, None));
    finding.process = process.cloned();
    finding.remedy = Some("start it with stdin, stdout and stderr at /dev/null".to_owned());
    finding
}
