//! What receipts say. Nothing of one is parsed before it is known that a signer whom the base allows vouches for it.

use std::collections::BTreeSet;
use std::time::SystemTime;

use jiff::Timestamp;

use super::papers::Paper;
use crate::model::{Counts, GateReceipt, Platform, Severity, Statement, Verdict};
use crate::receipt::statement::digest_of;
use crate::receipt::verify::{Trust, Yardstick};

/// What a receipt says of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Index in [`Evidence::receipts`].
    pub receipt: usize,
    pub check: String,
    pub host: Platform,
    /// The digest of the inputs that were run.
    pub sha256: String,
    /// Where it ran; `None` on a host.
    pub no_host: Option<String>,
    pub verdict: Verdict,
    pub cases: Counts,
    /// Whether it found an error.
    pub has_errors: bool,
    /// When the run was over.
    pub finished: Timestamp,
    /// The commit that was run.
    pub commit: String,
    /// Why it was revoked.
    pub revoked: Option<String>,
}

/// All that receipts say.
#[derive(Debug, Default)]
pub struct Evidence {
    pub receipts: Vec<GateReceipt>,
    pub claims: Vec<Claim>,
}

/// Reads receipts; the same one twice is one.
#[must_use]
pub fn evidence(yardstick: &Yardstick, papers: &[Paper], trust: &Trust, now: SystemTime) -> Evidence {
    let mut evidence = Evidence::default();
    let mut seen = BTreeSet::new();
    for Paper { name, bytes, revoked } in papers {
        let bytes = match bytes {
            Ok(bytes) if !seen.insert(bytes) => continue,
            Ok(bytes) => bytes,
            Err(why) => {
                evidence.receipts.push(GateReceipt { refused: Some(why.clone()), ..unknown(name) });
                continue;
            }
        };
        let (verified, received) = yardstick.receive(name, bytes, trust, now);
        let receipt = evidence.receipts.len();
        evidence.receipts.push(GateReceipt {
            signer: verified.signer,
            fingerprint: verified.fingerprint,
            os: verified.os,
            place: verified.place,
            finished: verified.finished,
            refused: verified.refused,
            ..unknown(name)
        });
        if let Some((statement, host)) = received {
            evidence.claims.extend(claims(receipt, &statement, host, revoked.as_deref()));
        }
    }
    evidence
}

fn unknown(name: &str) -> GateReceipt {
    GateReceipt {
        name: name.to_owned(),
        signer: None,
        fingerprint: None,
        os: None,
        place: None,
        finished: None,
        refused: None,
    }
}

fn claims(receipt: usize, statement: &Statement, host: Platform, revoked: Option<&str>) -> Vec<Claim> {
    let said = &statement.predicate;
    // An engine's mark says it, whatever is said of the place.
    let is_host = said.place.kind == "host" && said.host.container.is_none();
    let no_host = (!is_host).then(|| said.host.container.clone().unwrap_or_else(|| said.place.kind.clone()));
    // It was seen to be a time when the statement was read.
    let Ok(finished) = said.run.finished.parse::<Timestamp>() else { return Vec::new() };
    let claims = said.checks.iter().map(|check| Claim {
        receipt,
        check: check.id.clone(),
        host,
        sha256: digest_of(statement, &check.id).unwrap_or_default().to_owned(),
        no_host: no_host.clone(),
        verdict: check.verdict,
        cases: check.cases,
        has_errors: check.findings.iter().any(|finding| finding.severity == Severity::Error),
        finished,
        commit: said.source.start.commit.clone(),
        revoked: revoked.map(str::to_owned),
    });
    claims.collect()
}
