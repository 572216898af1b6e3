//! Receipts for people: what one says, and what several are worth. All of it others wrote.

use super::kept::{Kept, Said};
use super::look::Look;
use super::terminal::of_planned as counts;
use crate::model::{
    Disregarded, InputsNow, ReceiptCheck, Revocation, Severity, Statement, TREE_SUBJECT, Verdict, Verification,
    VerifiedCheck, VerifiedReceipt,
};
use crate::words::{counted, duration, shown};

/// How many things that differ are named.
const NAMED: usize = 3;

/// What a receipt or a revocation says of itself.
#[must_use]
pub fn said(look: Look, kept: &Kept) -> Vec<String> {
    match &kept.said {
        Said::Receipt(statement) => receipt(look, statement, kept),
        Said::Revocation(receipt, said) => revocation(look, receipt, said, kept),
    }
}

fn receipt(look: Look, statement: &Statement, kept: &Kept) -> Vec<String> {
    let receipt = &statement.predicate;
    let red = receipt.checks.iter().filter(|check| check.verdict.is_red()).count();
    let count = receipt.checks.len();
    let answer = format!(
        "receipt of {}: {}",
        counted(count, "check"),
        if red == 0 { "green".to_owned() } else { format!("{red} red") }
    );
    let host = &receipt.host;
    let system = [Some(host.os.as_str()), host.os_version.as_deref(), Some(host.arch.as_str())];
    let tree = statement.subject.iter().find(|subject| subject.name == TREE_SUBJECT);
    let tree = tree.and_then(|subject| subject.digest.get("gitTree")).map_or("", String::as_str);
    let from = receipt.source.repository.origin.as_ref().map(|origin| format!(" of {origin}")).unwrap_or_default();
    let facts = [
        ("signed", by(&kept.keys)),
        ("digest", kept.digest.clone()),
        ("run", format!("{}, by {} {}", receipt.run.id, receipt.tool.name, receipt.tool.version)),
        ("time", format!("{} to {}", receipt.run.started, receipt.run.finished)),
        ("place", format!("{}, {}", receipt.place.kind, system.into_iter().flatten().collect::<Vec<_>>().join(", "))),
        ("source", format!("commit {}{from}", receipt.source.start.commit)),
        ("tree", tree.to_owned()),
    ];
    let mut lines = vec![look.bold(&answer), String::new()];
    lines.extend(facts.into_iter().map(|(name, fact)| format!("{name:<8}{}", text(&fact))));
    lines.push(String::new());
    let width = receipt.checks.iter().map(|check| text(&check.id).chars().count()).max().unwrap_or(0);
    for check in &receipt.checks {
        lines.push(line(look, check, width));
        for finding in &check.findings {
            let allowed = finding.allowed.as_ref().map(|why| format!(", allowed: {}", text(why))).unwrap_or_default();
            let kind = text(&finding.kind);
            let kind = if finding.severity == Severity::Error { look.red(&kind) } else { kind };
            lines.push(format!("         {kind}   {}{allowed}", text(&finding.message)));
        }
    }
    let left_out = receipt.left_out.iter();
    lines.extend(left_out.map(|left| format!(" {}  {}: {}", look.yellow("out "), text(&left.id), text(&left.because))));
    lines.iter().map(|line| look.text(line)).collect()
}

fn revocation(look: Look, receipt: &str, revocation: &Revocation, kept: &Kept) -> Vec<String> {
    let because = revocation.because.as_ref().map_or_else(|| "it is not said".to_owned(), |because| text(because));
    let facts = [
        ("signed", by(&kept.keys)),
        ("receipt", receipt.to_owned()),
        ("time", revocation.revoked.clone()),
        ("because", because),
        ("by", format!("{} {}", revocation.tool.name, revocation.tool.version)),
    ];
    let facts = facts.into_iter().map(|(name, fact)| format!("{name:<9}{}", text(&fact)));
    let lines = [look.bold("revocation of a receipt"), String::new()].into_iter().chain(facts);
    lines.map(|line| look.text(&line)).collect()
}

/// Who signed something, as it says itself.
fn by(keys: &[String]) -> String {
    match keys {
        [] => "nobody: it is unsigned".to_owned(),
        keys => {
            format!("{}; hostproof receipt verify tells whose that is, and whether it holds", text(&keys.join(", ")))
        }
    }
}

fn line(look: Look, check: &ReceiptCheck, width: usize) -> String {
    let took = duration(std::time::Duration::from_millis(check.duration_ms));
    let reason = check.reason.as_ref().map(|reason| format!("  {}", text(reason))).unwrap_or_default();
    let (tag, id) = (tag(look, check.verdict), text(&check.id));
    format!(" {tag}  {id:<width$}  {:>9}  {took:>7}  {}{reason}", counts(&check.cases), check.verdict.name())
}

/// What receipts are worth.
#[must_use]
pub fn verification(look: Look, verification: &Verification) -> Vec<String> {
    let holding = verification.receipts.iter().filter(|receipt| receipt.ok).count();
    let answer = format!("good for commit {}: {holding} of {}", verification.head.commit, verification.receipts.len());
    let mut lines = vec![look.bold(&answer)];
    for receipt in &verification.receipts {
        lines.push(String::new());
        lines.extend(verified(look, receipt));
    }
    lines.extend(disregarded(&verification.disregarded));
    if verification.head.dirty {
        lines.push(String::new());
        lines.push("note: what is not committed here was not compared".to_owned());
    }
    lines.iter().map(|line| look.text(line)).collect()
}

fn disregarded(things: &[Disregarded]) -> Vec<String> {
    if things.is_empty() {
        return Vec::new();
    }
    let named = things.iter().take(NAMED).map(|thing| format!("    {}: {}", text(&thing.file), text(&thing.why)));
    let more = things.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("    and {more} more"));
    let head = [String::new(), "not taken into account:".to_owned()];
    head.into_iter().chain(named).chain(more).collect()
}

fn verified(look: Look, receipt: &VerifiedReceipt) -> Vec<String> {
    let label = if receipt.ok { look.green("ok  ") } else { look.red("RED ") };
    let signer = match (&receipt.signer, &receipt.fingerprint) {
        (Some(signer), Some(key)) => format!("   signed by {} ({key})", text(signer)),
        _ => String::new(),
    };
    let mut lines = vec![format!(" {label}  {}{signer}", text(&receipt.file))];
    if let (Some(place), Some(os), Some(finished)) = (&receipt.place, &receipt.os, &receipt.finished) {
        let tree = if receipt.same_tree == Some(true) { "the tree that is checked out" } else { "another tree" };
        lines.push(format!("       {} {}, {}, of {tree}", text(place), text(os), text(finished)));
    }
    lines.extend(receipt.refused.iter().map(|why| format!("       {}", text(why))));
    let width = receipt.checks.iter().map(|check| text(&check.id).chars().count()).max().unwrap_or(0);
    for check in &receipt.checks {
        let (tag, id) = (tag(look, check.verdict), text(&check.id));
        let inputs = inputs(check);
        lines.push(format!(
            "       {tag}  {id:<width$}  {:>9}  {}, {inputs}",
            counts(&check.cases),
            check.verdict.name()
        ));
        if let Some(other) = &check.contradicted_by {
            lines.push(format!("             {} says otherwise", text(other)));
        }
    }
    lines
}

fn inputs(check: &VerifiedCheck) -> String {
    match check.inputs {
        InputsNow::Same => "with the same inputs".to_owned(),
        InputsNow::Gone => "and there is no such check any more".to_owned(),
        InputsNow::Changed if check.differs.is_empty() => "with other inputs".to_owned(),
        InputsNow::Changed => {
            let named: Vec<String> = check.differs.iter().take(NAMED).map(|name| text(name)).collect();
            let more = check.differs.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("with other inputs: {}{more}", named.join(", "))
        }
    }
}

pub(super) fn tag(look: Look, verdict: Verdict) -> String {
    if verdict.is_red() { look.red("RED ") } else { look.green("ok  ") }
}

/// What others wrote, in one line.
pub(super) fn text(text: &str) -> String {
    shown(text.as_bytes()).split_whitespace().collect::<Vec<_>>().join(" ")
}
