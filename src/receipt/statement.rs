//! The statement of a receipt: made from a run's report, and read again from bytes whose signature holds.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::digest::is_hex;
use super::moment::Moment;
use crate::model::{
    CHECK_SUBJECT, CheckReport, LeftOut, Place, RECEIPT, Receipt, ReceiptCheck, ReceiptFinding, ReceiptRun,
    ReceiptSource, Report, RepositoryFacts, STATEMENT, Severity, Statement, Subject, TREE_SUBJECT, Verdict,
};
use crate::plan::{Plan, Planned};
use crate::words::{beginning, timestamp};

/// How far the clocks of two machines may be apart.
const CLOCKS: Duration = Duration::from_secs(300);

/// How long the names of git's objects are: SHA-1, SHA-256.
const OBJECT: [usize; 2] = [40, 64];

/// No receipt is of more checks.
const MAX_CHECKS: usize = 20_000;

/// A run, as far as a receipt is made of it.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    pub plan: &'a Plan,
    pub report: &'a Report,
    pub start: &'a Moment,
    pub end: &'a Moment,
    pub repository: &'a RepositoryFacts,
    /// When the last check had its verdict.
    pub finished: SystemTime,
    pub strict: bool,
}

/// The JSON Schema of the statement, generated from its types.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Statement);
    schema.insert("title".to_owned(), Value::from("hostproof receipt, version 1: the statement in its envelope"));
    schema.to_value()
}

/// What can be stated of a run, whose checks come one at a time.
///
/// # Errors
///
/// Why nothing can: sentences, one a line.
pub fn statement(
    run: &Run<'_>,
    reports: impl Iterator<Item = Result<CheckReport, String>>,
) -> Result<Statement, String> {
    let Run { plan, report, start, end, .. } = run;
    if let Some(stop) = report.run.stopped {
        return Err(format!("the run was stopped before its end ({})", stop.words()));
    }
    let (before, after) = (start.checkout(), end.checkout());
    if before.tree != after.tree {
        return Err(format!(
            "commit {} was checked out when the run began, and {} at its end",
            before.commit, after.commit
        ));
    }
    let (mut subject, mut checks, mut left_out) =
        (vec![tree_subject(&before.tree, &before.commit)], Vec::new(), Vec::new());
    let planned: HashMap<&str, &Planned> = plan.checks.iter().map(|planned| (planned.id(), planned)).collect();
    for check in reports {
        let check = check?;
        let planned = planned.get(check.id.as_str());
        let digest =
            planned.ok_or_else(|| "it was not planned".to_owned()).and_then(|planned| digest(run, planned, &check));
        match digest {
            Ok(digest) => {
                subject.push(check_subject(&check.id, digest));
                checks.push(of_check(&check));
            }
            Err(because) => left_out.push(LeftOut { id: check.id.clone(), because }),
        }
    }
    if checks.is_empty() {
        return Err(reasons(&left_out));
    }
    let predicate = Receipt {
        tool: report.tool.clone(),
        run: ReceiptRun {
            id: report.run.id.clone(),
            started: report.run.started.clone(),
            finished: timestamp(run.finished),
            strict: run.strict,
        },
        place: place(report),
        host: report.host.clone(),
        manifests: report.manifests.clone(),
        source: ReceiptSource { start: before, end: after, repository: run.repository.clone() },
        checks,
        left_out,
        totals: report.totals.clone(),
    };
    Ok(Statement { kind: STATEMENT.to_owned(), subject, predicate_type: RECEIPT.to_owned(), predicate })
}

/// Why nothing can be said of checks, one a line.
#[must_use]
pub fn reasons(left_out: &[LeftOut]) -> String {
    let lines: Vec<String> = left_out.iter().map(|left| format!("{}: {}", left.id, left.because)).collect();
    if lines.is_empty() { "no check was run".to_owned() } else { lines.join("\n") }
}

fn digest(run: &Run<'_>, planned: &Planned, report: &CheckReport) -> Result<String, String> {
    if report.verdict == Verdict::Skipped {
        return Err(format!("it was skipped: {}", report.reason.as_deref().unwrap_or("nothing of it ran")));
    }
    let setup = run.plan.setup(planned);
    let before = run.start.inputs(&planned.check(), setup).map_err(|why| format!("when the run began, {why}"))?;
    // The tree is the same, so that what is as committed is what it was.
    run.end.inputs(&planned.check(), setup).map_err(|why| format!("after the run, {why}"))?;
    Ok(before.digest())
}

/// Where it ran. What an engine has left its mark on is no host, however hostproof came there.
fn place(report: &Report) -> Place {
    let host = Place::host();
    if report.host.container.is_some() && report.place == host { Place::container() } else { report.place.clone() }
}

fn tree_subject(tree: &str, commit: &str) -> Subject {
    Subject {
        name: TREE_SUBJECT.to_owned(),
        digest: [("gitTree".to_owned(), tree.to_owned())].into(),
        annotations: [("commit".to_owned(), commit.to_owned())].into(),
    }
}

fn check_subject(id: &str, digest: String) -> Subject {
    let name = format!("{CHECK_SUBJECT}{id}");
    Subject { name, digest: [("sha256".to_owned(), digest)].into(), annotations: [].into() }
}

fn of_check(check: &CheckReport) -> ReceiptCheck {
    let findings = check.findings.iter().map(|finding| ReceiptFinding {
        kind: finding.kind.slug().to_owned(),
        severity: finding.severity,
        message: finding.message.clone(),
        allowed: finding.allowed.clone(),
    });
    ReceiptCheck {
        id: check.id.clone(),
        variant: check.variant.clone(),
        verdict: check.verdict,
        reason: check.reason.clone(),
        cases: check.cases.counts(),
        findings: findings.collect(),
        duration_ms: check.duration_ms,
    }
}

/// The types that a payload says it is of.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(rename = "predicateType")]
    predicate_type: String,
}

/// Reads a statement. `now` is for those that are from the future.
///
/// # Errors
///
/// If it is none that this hostproof knows, or contradicts itself: a sentence.
pub fn parse(payload: &[u8], now: SystemTime) -> Result<Statement, String> {
    let statement: Statement = of_type(payload, RECEIPT, "receipt")?;
    consistent(&statement, now)?;
    Ok(statement)
}

/// The type of what a statement says; `None` if it is no statement.
#[must_use]
pub fn predicate_type(payload: &[u8]) -> Option<String> {
    serde_json::from_slice::<Head>(payload).ok().map(|head| head.predicate_type)
}

/// Reads a statement whose predicate is of a type, and is called that.
///
/// # Errors
///
/// If it is none of that type: a sentence.
pub fn of_type<S: DeserializeOwned>(payload: &[u8], predicate: &str, name: &str) -> Result<S, String> {
    let read = |error: serde_json::Error| format!("it holds no {name}: {}", beginning(&error.to_string(), 200));
    let head: Head = serde_json::from_slice(payload).map_err(read)?;
    for (said, known) in [(&head.kind, STATEMENT), (&head.predicate_type, predicate)] {
        if said != known {
            let said = beginning(said, 120);
            return Err(format!("it holds a {said}, not a {known}; a newer hostproof may know it"));
        }
    }
    serde_json::from_slice(payload).map_err(read)
}

/// The digest of a check's inputs.
#[must_use]
pub fn digest_of<'s>(statement: &'s Statement, id: &str) -> Option<&'s str> {
    let is_it = |subject: &&Subject| subject.name.strip_prefix(CHECK_SUBJECT) == Some(id);
    statement.subject.iter().find(is_it)?.digest.get("sha256").map(String::as_str)
}

/// The tree that it is of.
#[must_use]
pub fn tree_of(statement: &Statement) -> Option<&str> {
    statement.subject.iter().find(|subject| subject.name == TREE_SUBJECT)?.digest.get("gitTree").map(String::as_str)
}

fn consistent(statement: &Statement, now: SystemTime) -> Result<(), String> {
    let receipt = &statement.predicate;
    if receipt.checks.len() > MAX_CHECKS || statement.subject.len() > MAX_CHECKS + 1 {
        return Err(format!("it is of more than {MAX_CHECKS} checks"));
    }
    let mut names = BTreeSet::new();
    for subject in &statement.subject {
        if !names.insert(subject.name.as_str()) {
            return Err(format!("it has two subjects called {}", subject.name));
        }
        let (key, lengths) =
            if subject.name.starts_with(CHECK_SUBJECT) { ("sha256", &[64][..]) } else { ("gitTree", &OBJECT[..]) };
        let is_known = key == "sha256" || subject.name == TREE_SUBJECT;
        let sound = is_known && subject.digest.get(key).is_some_and(|digest| is_hex(digest, lengths));
        if !sound {
            return Err(format!("its subject {} is none of a receipt", subject.name));
        }
    }
    let source = &receipt.source;
    if ![&source.start.commit, &source.end.commit].into_iter().all(|commit| is_hex(commit, &OBJECT)) {
        return Err("its commits are none".to_owned());
    }
    if [&source.start.tree, &source.end.tree].into_iter().any(|tree| tree_of(statement) != Some(tree)) {
        return Err("its tree is not the one that it says was run".to_owned());
    }
    let mut ids = BTreeSet::new();
    for check in &receipt.checks {
        if !ids.insert(check.id.as_str()) {
            return Err(format!("it says two things of check {}", check.id));
        }
        if digest_of(statement, &check.id).is_none() {
            return Err(format!("it says something of check {}, which is none of its subjects", check.id));
        }
        let errors = check.findings.iter().any(|finding| finding.severity == Severity::Error);
        if !check.verdict.is_red() && errors || !check.cases.agree() {
            return Err(format!("it contradicts itself about check {}", check.id));
        }
    }
    if ids.is_empty() || ids.len() + 1 != names.len() {
        return Err("it has a subject that it says nothing of".to_owned());
    }
    let [started, finished] = [&receipt.run.started, &receipt.run.finished].map(|text| text.parse::<jiff::Timestamp>());
    let (Ok(started), Ok(finished)) = (started, finished) else {
        return Err("its times are none".to_owned());
    };
    if finished < started {
        return Err("it ended before it began".to_owned());
    }
    if jiff::Timestamp::try_from(now + CLOCKS).is_ok_and(|now| finished > now) {
        return Err(format!("it is from the future: {}", receipt.run.finished));
    }
    Ok(())
}
