//! What receipts say. Nothing of one is parsed before it is known that a signer whom the base allows vouches for it.

use std::collections::BTreeSet;
use std::time::SystemTime;

use jiff::Timestamp;

use super::wants::Want;
use crate::error::{Error, Result};
use crate::model::{CHECK_SUBJECT, Counts, GateReceipt, Platform, Severity, Statement, Verdict};
use crate::receipt::envelope::Envelope;
use crate::receipt::revocation::{Revocations, told};
use crate::receipt::statement::digest_of;
use crate::receipt::store::Document;
use crate::receipt::verify::{Trust, Yardstick};

/// How many receipts of other inputs are looked at, of each check and host.
const OTHERS: usize = 10;

/// No more signatures are looked at that name a key of an allowed signer and are over what may speak of what is wanted:
/// each costs processes.
pub const MOST: usize = 1000;

/// Of those that name no such key no more receipts are looked at, to say whose they are.
const STRANGERS: usize = 20;

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
    /// What was not looked at.
    pub notes: Vec<String>,
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
    /// Those that were named.
    pub given: &'a [Document],
    /// Those of the store, of which there may be many: those are looked at that may say something of what is wanted. To see
    /// who signed one costs processes.
    pub kept: &'a [Document],
}

/// Reads receipts; the same one twice is one.
///
/// # Errors
///
/// If more than a thousand signatures would have to be looked at: then it is not known which receipt is the newest.
pub fn evidence(reader: Reader<'_>, documents: Documents<'_>, wants: &[Want]) -> Result<Evidence> {
    let mut evidence = Evidence::default();
    let mut seen = BTreeSet::new();
    let (given, kept) = (opened(documents.given, reader), opened(documents.kept, reader));
    let digests: Vec<String> = wants.iter().filter_map(|want| Some(want.inputs.as_ref().ok()?.digest())).collect();
    let concerns = |envelope: &Envelope| digests.iter().any(|digest| envelope.mentions(digest.as_bytes()));
    // What is none is told; it says nothing of anything.
    let concerning = kept.iter().filter(|(envelope, _)| envelope.as_ref().is_none_or(concerns));
    let (mut signatures, mut strangers) = (BTreeSet::new(), Vec::new());
    let mut looked = Vec::new();
    for (envelope, document) in given.iter().chain(concerning) {
        match envelope {
            Some(envelope) if !reader.trust.may_vouch(envelope) => strangers.push(*document),
            Some(envelope) => {
                let digest = envelope.digest();
                signatures.extend(envelope.signatures().iter().map(|it| (digest.clone(), it.sig.as_slice())));
                looked.push(*document);
            }
            None => looked.push(*document),
        }
    }
    if signatures.len() > MOST {
        return Err(Error::Unmeasured(format!(
            "more than {MOST} signatures are over receipts that may speak of what is wanted, so that it is not known which of \
             them is the newest\nhelp: look at who publishes them (hostproof receipt list), and take away what is no receipt"
        )));
    }
    let more = strangers.len().saturating_sub(STRANGERS);
    if more > 0 {
        let words = if more == 1 { "receipt names" } else { "receipts name" };
        evidence.notes.push(format!("{more} more {words} no key of an allowed signer, and count for nothing"));
    }
    for document in looked.into_iter().chain(strangers.into_iter().take(STRANGERS)) {
        add(&mut evidence, &mut seen, reader, document);
    }
    // Of what is missing, some of the same check with other inputs tell what changed.
    for want in wants {
        let is_told = evidence.claims.iter().any(|claim| claim.check == want.check && claim.host == want.host);
        let subject = format!("{CHECK_SUBJECT}{}\"", want.check);
        let is_one = |envelope: &Envelope| envelope.mentions(subject.as_bytes()) && reader.trust.may_vouch(envelope);
        let others = kept.iter().filter(|(envelope, _)| !is_told && envelope.as_ref().is_some_and(is_one));
        for (_, document) in others.take(OTHERS) {
            add(&mut evidence, &mut seen, reader, document);
        }
    }
    Ok(evidence)
}

/// Documents with the envelopes that they are, without revocations.
fn opened<'d>(documents: &'d [Document], reader: Reader<'_>) -> Vec<(Option<Envelope>, &'d Document)> {
    let receipts = documents.iter().filter(|document| !reader.revocations.is_from(&document.from));
    receipts.map(|document| (document.envelope().ok(), document)).collect()
}

fn add<'d>(evidence: &mut Evidence, seen: &mut BTreeSet<&'d [u8]>, reader: Reader<'_>, document: &'d Document) {
    let Reader { yardstick, trust, revocations, now } = reader;
    let name = &document.from;
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
