//! What receipts say. Nothing of one is parsed before it is known that a signer whom the base allows vouches for it.

use std::collections::BTreeSet;
use std::time::SystemTime;

use jiff::Timestamp;

use super::wants::Want;
use crate::model::{CHECK_SUBJECT, Counts, GateReceipt, Platform, Severity, Statement, Verdict};
use crate::receipt::envelope::Envelope;
use crate::receipt::revocation::{Revocations, told};
use crate::receipt::statement::digest_of;
use crate::receipt::store::Document;
use crate::receipt::verify::{Trust, Yardstick};

/// How many receipts of other inputs are looked at, of each check and host.
const OTHERS: usize = 10;

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

/// How receipts are read.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The head of the change.
    pub yardstick: &'a Yardstick,
    /// That of its base.
    pub trust: &'a Trust,
    pub revocations: &'a Revocations,
    pub now: SystemTime,
}

/// Receipts, by where they are from.
#[derive(Debug, Clone, Copy)]
pub struct Documents<'a> {
    /// Those that were named: all of them are looked at.
    pub given: &'a [Document],
    /// Those of the store, of which there may be many: those are looked at that may say something of what is wanted. To see
    /// who signed one costs processes.
    pub kept: &'a [Document],
}

/// Reads receipts; the same one twice is one.
#[must_use]
pub fn evidence(reader: Reader<'_>, documents: Documents<'_>, wants: &[Want]) -> Evidence {
    let mut evidence = Evidence::default();
    let mut seen = BTreeSet::new();
    for document in documents.given {
        add(&mut evidence, &mut seen, reader, document);
    }
    let kept: Vec<(&Document, Option<Envelope>)> =
        documents.kept.iter().map(|document| (document, document.envelope().ok())).collect();
    let digests: Vec<String> = wants.iter().filter_map(|want| Some(want.inputs.as_ref().ok()?.digest())).collect();
    for (document, envelope) in &kept {
        // What is none is told; it says nothing of anything.
        let concerns = envelope.as_ref().is_none_or(|it| digests.iter().any(|digest| it.mentions(digest.as_bytes())));
        if concerns {
            add(&mut evidence, &mut seen, reader, document);
        }
    }
    // Of what is missing, some of the same check with other inputs tell what changed.
    for want in wants {
        let is_told = evidence.claims.iter().any(|claim| claim.check == want.check && claim.host == want.host);
        let subject = format!("{CHECK_SUBJECT}{}\"", want.check);
        let others = kept.iter().filter(|(_, envelope)| {
            !is_told && envelope.as_ref().is_some_and(|envelope| envelope.mentions(subject.as_bytes()))
        });
        for (document, _) in others.take(OTHERS) {
            add(&mut evidence, &mut seen, reader, document);
        }
    }
    evidence
}

fn add<'d>(evidence: &mut Evidence, seen: &mut BTreeSet<&'d [u8]>, reader: Reader<'_>, document: &'d Document) {
    let Reader { yardstick, trust, revocations, now } = reader;
    let name = &document.from;
    if revocations.is_from(name) {
        return;
    }
    let bytes = match &document.bytes {
        Ok(bytes) if !seen.insert(bytes) => return,
        Ok(bytes) => bytes,
        Err(why) => {
            evidence.receipts.push(GateReceipt { refused: Some(why.clone()), ..unknown(name) });
            return;
        }
    };
    let (verified, received) = yardstick.receive(name, bytes, trust, now);
    let revoked = verified.digest.as_ref().and_then(|digest| revocations.of_receipt(digest)).map(told);
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
