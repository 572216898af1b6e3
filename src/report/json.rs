//! The report and the events as JSON.

use std::cell::RefCell;
use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{Error as _, SerializeSeq, Serializer};
use serde_json::Value;

use crate::model::{
    CheckReport, Comparison, Event, Examination, Finding, Gate, Hooks, HostFacts, Lints, Manifests, Place, Report,
    RunFacts, SourceFacts, Tool, Totals, Verification,
};

/// The JSON Schema of the report, generated from its types.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Report);
    schema.insert("title".to_owned(), Value::from("hostproof report, version 1"));
    schema.to_value()
}

/// The JSON Schema of one line of `--events`, generated from its types.
#[must_use]
pub fn events_schema() -> Value {
    let mut schema = schemars::schema_for!(Event<'_>);
    schema.insert("title".to_owned(), Value::from("hostproof events, version 1: one line"));
    schema.to_value()
}

/// The JSON Schema of what `doctor --json` prints, generated from its types.
#[must_use]
pub fn doctor_schema() -> Value {
    let mut schema = schemars::schema_for!(Examination);
    schema.insert("title".to_owned(), Value::from("hostproof doctor, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `hooks --json` prints, generated from its types.
#[must_use]
pub fn hooks_schema() -> Value {
    let mut schema = schemars::schema_for!(Hooks);
    schema.insert("title".to_owned(), Value::from("hostproof hooks, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `lint --code --json` prints, generated from its types.
#[must_use]
pub fn lints_schema() -> Value {
    let mut schema = schemars::schema_for!(Lints);
    schema.insert("title".to_owned(), Value::from("hostproof lint --code, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `receipt verify --json` prints, generated from its types.
#[must_use]
pub fn verification_schema() -> Value {
    let mut schema = schemars::schema_for!(Verification);
    schema.insert("title".to_owned(), Value::from("hostproof receipt verify, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `compare --json` prints, generated from its types.
#[must_use]
pub fn comparison_schema() -> Value {
    let mut schema = schemars::schema_for!(Comparison);
    schema.insert("title".to_owned(), Value::from("hostproof compare, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `gate --json` prints, generated from its types.
#[must_use]
pub fn gate_schema() -> Value {
    let mut schema = schemars::schema_for!(Gate);
    schema.insert("title".to_owned(), Value::from("hostproof gate, version 1"));
    schema.to_value()
}

/// JSON of what others wrote, in which nothing steers a terminal: what JSON itself leaves as it is, is escaped.
#[must_use]
pub fn plain_json(json: &str) -> String {
    let plain = |c: char| match c {
        '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    json.chars().map(plain).collect()
}

/// The report as a file.
#[must_use]
pub fn json(report: &Report) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(report).unwrap_or_default();
    json.push(b'\n');
    json
}

/// Writes a report with these checks in place of its own, one at a time.
///
/// # Errors
///
/// What the system says, or whoever gives the checks.
pub fn write_json(
    mut out: &mut dyn Write,
    report: &Report,
    checks: impl Iterator<Item = io::Result<CheckReport>>,
) -> io::Result<()> {
    let Report { schema, tool, run, place, host, source, manifests, totals, checks: _, findings } = report;
    let checks = Checks(RefCell::new(checks));
    let document = Streamed { schema, tool, run, place, host, source, manifests, totals, checks, findings };
    serde_json::to_writer_pretty(&mut out, &document)?;
    out.write_all(b"\n")
}

/// [`Report`], of which the checks come one at a time.
#[derive(Serialize)]
#[serde(bound = "")]
struct Streamed<'a, I: Iterator<Item = io::Result<CheckReport>>> {
    schema: &'a str,
    tool: &'a Tool,
    run: &'a RunFacts,
    place: &'a Place,
    host: &'a HostFacts,
    source: &'a SourceFacts,
    manifests: &'a Manifests,
    totals: &'a Totals,
    checks: Checks<I>,
    findings: &'a [Finding],
}

struct Checks<I>(RefCell<I>);

impl<I: Iterator<Item = io::Result<CheckReport>>> Serialize for Checks<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for check in &mut *self.0.borrow_mut() {
            list.serialize_element(&check.map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_in_pieces_is_the_same_as_one_at_once() {
        let check = serde_json::json!({
            "id": "a", "variant": null, "title": null, "origin": null, "verdict": "passed", "reason": null, "argv": ["x"],
            "cwd": null, "exit": {"code": 0}, "started": null, "duration_ms": 1, "stdout_end_ms": null, "reader": null,
            "cases": {}, "frames": [], "findings": [], "processes": [],
            "stdout": {"bytes": 1, "tail": "x", "cut": false}, "stderr": {"bytes": 0, "tail": "", "cut": false}
        });
        for checks in [vec![], vec![check.clone()], vec![check.clone(), check]] {
            let checks: Vec<CheckReport> = serde_json::from_value(checks.into()).expect("checks");
            let report = Report { checks, ..empty() };
            let mut pieces = Vec::new();
            let checks = report.checks.iter().cloned().map(Ok);
            write_json(&mut pieces, &Report { checks: Vec::new(), ..report.clone() }, checks)
                .expect("it can be written");
            assert_eq!(String::from_utf8(pieces), String::from_utf8(json(&report)));
        }
        let lost = std::iter::once(Err(io::Error::other("gone")));
        let report: io::Result<()> = write_json(&mut Vec::new(), &empty(), lost);
        assert!(report.is_err_and(|error| error.to_string().contains("gone")));
    }

    fn empty() -> Report {
        let nothing = Value::Null;
        serde_json::from_value(serde_json::json!({
            "schema": "", "tool": {"name": "", "version": ""},
            "run": {"id": "", "argv": [], "started": "", "duration_ms": 0, "jobs": 1, "interrupted": false},
            "place": {"kind": "host"}, "host": crate::model::HostFacts::default(),
            "source": {"start": nothing, "end": nothing}, "manifests": {"digest": nothing, "files": []},
            "totals": crate::model::Totals::default(), "checks": []
        }))
        .expect("a report")
    }
}
