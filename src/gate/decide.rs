//! The answer, from what is known. Nothing here looks anywhere.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::evidence::{Claim, Evidence};
use super::wants::{Cases, Want};
use crate::model::{
    CaseCount, ChangedWiring, Counts, GATE_SCHEMA, Gate, GateAnswer, GatePolicy, GateSide, NextSteps, Obstacle,
    Platform, Policy, Tool, Verdict, Wanted,
};
use crate::words::{age, quoted};

/// How much of a commit's name is shown.
const SHORT: usize = 12;

/// What is known of a change, before any receipt.
#[derive(Debug)]
pub struct Facts {
    pub base: GateSide,
    pub head: GateSide,
    pub since: String,
    pub policy: Policy,
    pub wirings: Vec<ChangedWiring>,
    pub wants: Vec<Want>,
    pub obstacles: Vec<Obstacle>,
    pub notes: Vec<String>,
}

/// Decides. `differs` tells how the inputs of a claim differ from those that are wanted.
#[must_use]
pub fn decide(
    facts: Facts,
    evidence: Evidence,
    now: Timestamp,
    tool: Tool,
    differs: &dyn Fn(&Claim, &Want) -> Vec<String>,
) -> Gate {
    let Facts { base, head, since, policy, wirings, wants, obstacles, notes } = facts;
    let judged: Vec<(&Want, Judged<'_>)> =
        wants.iter().map(|want| (want, judge(want, &evidence.claims, now, policy.max_age))).collect();
    let wanted: Vec<Wanted> = judged
        .iter()
        .map(|(want, judged)| {
            let mut why = judged.why.clone();
            if let (GateAnswer::Stale, Some(claim)) = (judged.answer, judged.claim) {
                let names = differs(claim, want);
                why += &if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
            }
            Wanted {
                check: want.check.clone(),
                host: want.host,
                because: want.because.clone(),
                sha256: want.inputs.as_ref().ok().map(crate::receipt::inputs::Inputs::digest),
                answer: judged.answer,
                why,
                receipt: judged.claim.map(|claim| evidence.receipts[claim.receipt].name.clone()),
                origin: want.origin.as_ref().map(|origin| format!("{}:{}", origin.file, origin.line)),
            }
        })
        .collect();
    let ok = wanted.iter().all(|wanted| wanted.answer == GateAnswer::Good)
        && obstacles.iter().all(|obstacle| obstacle.accepted.is_some());
    Gate {
        schema: GATE_SCHEMA.to_owned(),
        tool,
        ok,
        next: next(&wanted, &head),
        base,
        head,
        since,
        policy: GatePolicy {
            require: policy.require.iter().copied().collect(),
            max_age_s: policy.max_age.as_secs(),
            signers: policy.signers,
        },
        wirings,
        wanted,
        obstacles,
        receipts: evidence.receipts,
        notes,
    }
}

/// What a wanted receipt came to.
struct Judged<'c> {
    answer: GateAnswer,
    why: String,
    claim: Option<&'c Claim>,
}

/// The newest claim from a host decides, whatever older ones say; of two at one time, the worse.
fn judge<'c>(want: &Want, claims: &'c [Claim], now: Timestamp, max_age: Duration) -> Judged<'c> {
    let host = want.host.name();
    let judged = |answer, why: String, claim| Judged { answer, why, claim };
    let inputs = match &want.inputs {
        Ok(inputs) => inputs.digest(),
        Err(why) => return judged(GateAnswer::Untold, format!("what it rests on can't be told: {why}"), None),
    };
    if want.base_moved {
        let why = "the base has changed what it rests on, too: rebase, so that what is merged is what was run";
        return judged(GateAnswer::BaseMoved, why.to_owned(), None);
    }
    let of_it = || claims.iter().filter(|claim| claim.check == want.check && claim.host == want.host);
    let same = || of_it().filter(|claim| claim.sha256 == inputs);
    let Some(claim) =
        same().filter(|claim| claim.no_host.is_none()).max_by_key(|claim| (claim.finished, is_bad(claim)))
    else {
        let newest = |claims: &mut dyn Iterator<Item = &'c Claim>| claims.max_by_key(|claim| claim.finished);
        if let Some(claim) = newest(&mut same()) {
            let place = claim.no_host.as_deref().unwrap_or_default();
            let why = format!("it ran in a container ({place}) on {host}, and a host is asked for");
            return judged(GateAnswer::NoHost, why, Some(claim));
        }
        let other = newest(&mut of_it().filter(|claim| claim.no_host.is_none()));
        return match other {
            Some(claim) => judged(GateAnswer::Stale, format!("the newest from {host} is of other inputs"), Some(claim)),
            None => judged(GateAnswer::Missing, format!("there is no receipt of it from {host}"), None),
        };
    };
    let old = now.duration_since(claim.finished);
    let old = Duration::try_from(old).unwrap_or_default();
    let (answer, why) = if let Some(why) = &claim.revoked {
        (GateAnswer::Revoked, format!("the newest was revoked: {why}"))
    } else if claim.verdict != Verdict::Passed || claim.has_errors {
        (GateAnswer::Red, format!("the newest is red ({})", claim.verdict.name()))
    } else if let Some(why) = short(claim, &want.cases) {
        (GateAnswer::ShortCount, why)
    } else if old > max_age {
        // Whole hours, so that it says the same for a while.
        let whole = Duration::from_secs(old.as_secs() / 3600 * 3600);
        (GateAnswer::TooOld, format!("the newest is {} old, and {} is allowed", age(whole), age(max_age)))
    } else {
        (GateAnswer::Good, "green".to_owned())
    };
    judged(answer, why, Some(claim))
}

fn is_bad(claim: &Claim) -> bool {
    claim.revoked.is_some() || claim.verdict != Verdict::Passed || claim.has_errors
}

/// Why the cases of a green claim are not the whole of them.
fn short(claim: &Claim, expected: &Cases) -> Option<String> {
    let Counts { planned, ran, passed, failed, skipped, unknown } = claim.cases;
    if failed.is_some_and(|failed| failed > 0) {
        return Some("it is green, and has failed cases".to_owned());
    }
    if unknown.is_some_and(|unknown| unknown > 0) || planned.zip(ran).is_some_and(|(planned, ran)| ran < planned) {
        return Some("not all of its cases ran".to_owned());
    }
    if let (Some(most), Some(skipped)) = (expected.most_skipped, skipped)
        && skipped > most
    {
        return Some(format!("{skipped} of its cases were skipped, and {most} may be"));
    }
    let (least, most) = match &expected.count {
        Some(CaseCount::Exactly(number)) => (*number, *number),
        Some(CaseCount::AtLeast(number)) => (*number, u64::MAX),
        // Those that were listed are those that were planned.
        Some(CaseCount::Listed(_)) => (planned.unwrap_or(1).max(1), u64::MAX),
        None if expected.are_read || ran.is_some() => (1, u64::MAX),
        None => return None,
    };
    let Some(ran) = ran else { return Some("how many of its cases ran is not known".to_owned()) };
    if !(least..=most).contains(&ran) {
        return Some(format!("{ran} of its cases ran, and {least} are expected"));
    }
    // What ran has passed or was skipped. Not every reader tells which; where none may be skipped, it has to be known.
    match (passed, skipped.unwrap_or(0)) {
        (None, _) if expected.most_skipped == Some(0) => Some("how many of its cases passed is not known".to_owned()),
        (Some(0), _) if ran > 0 => Some("none of its cases passed".to_owned()),
        (Some(passed), skipped) if passed.saturating_add(skipped) != ran => {
            Some(format!("{ran} of its cases ran, and {passed} passed"))
        }
        _ => None,
    }
}

/// What gets the receipts that are missing.
fn next(wanted: &[Wanted], head: &GateSide) -> Vec<NextSteps> {
    let mut missing: BTreeMap<Platform, Vec<String>> = BTreeMap::new();
    for wanted in wanted
        .iter()
        .filter(|wanted| !matches!(wanted.answer, GateAnswer::Good | GateAnswer::Untold | GateAnswer::BaseMoved))
    {
        missing.entry(wanted.host).or_default().push(quoted(&wanted.check));
    }
    let steps = |(host, ids): (Platform, Vec<String>)| {
        let file = format!("receipt-{}.json", host.name());
        let commands = vec![
            format!("git fetch && git switch --detach {}", head.commit.get(..SHORT).unwrap_or(&head.commit)),
            format!("hostproof run {} --receipt {file}", ids.join(" ")),
            format!("hostproof receipt publish {file}"),
        ];
        NextSteps { host, commands }
    };
    missing.into_iter().map(steps).collect()
}
