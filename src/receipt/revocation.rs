//! Revocations: that a receipt counts for nothing any more, said by somebody who may sign receipts.
//!
//! A revocation is an envelope like that of a receipt, signed in the same namespace, with a statement of another type. It
//! names the receipt by the digest of its payload ([`Envelope::digest`]), so that it holds for it however its envelope is
//! encoded and whoever else signs it.
//!
//! # Invariants
//!
//! - **It only takes away**: whoever is allowed to sign receipts may revoke any, not only their own; nobody can take a
//!   revocation back, and one from the future counts. A run makes another receipt.
//! - **A stranger's is nothing**: what no allowed signer vouches for is told, and changes nothing. Nothing of it is parsed.

use std::collections::{BTreeMap, BTreeSet};

use super::digest::is_hex;
use super::envelope::Envelope;
use super::ssh::{Signer, Unvouched};
use super::statement::of_type;
use super::store::Document;
use super::verify::Trust;
use crate::error::{Error, Result};
use crate::model::{
    Disregarded, RECEIPT_SUBJECT, REVOCATION, Revocation, RevocationStatement, RevokedBy, STATEMENT, Subject, Tool,
    VerifiedReceipt,
};

/// What the payload of a revocation has in it, with or without JSON's escapes.
const MARKS: [&[u8]; 2] = [b"/revocation/v", b"\\/revocation\\/v"];

/// No more are looked at: each costs processes to see who signed it.
const MOST: usize = 1000;

/// Of those that name no key of an allowed signer no more are looked at.
const STRANGERS: usize = 20;

/// The JSON Schema of the statement, generated from its types.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(RevocationStatement);
    let title = "hostproof revocation, version 1: the statement in its envelope";
    schema.insert("title".to_owned(), serde_json::Value::from(title));
    schema.to_value()
}

/// The statement that a receipt with that digest is revoked.
#[must_use]
pub fn statement(receipt: &str, tool: Tool, revoked: String, because: Option<String>) -> RevocationStatement {
    let digest = [("sha256".to_owned(), receipt.to_owned())].into();
    RevocationStatement {
        kind: STATEMENT.to_owned(),
        subject: vec![Subject { name: RECEIPT_SUBJECT.to_owned(), digest, annotations: [].into() }],
        predicate_type: REVOCATION.to_owned(),
        predicate: Revocation { tool, revoked, because },
    }
}

/// Reads one: the digest of the receipt, and what is said of it.
///
/// # Errors
///
/// If it is none that this hostproof knows: a sentence.
pub fn parse(payload: &[u8]) -> Result<(String, Revocation), String> {
    let statement: RevocationStatement = of_type(payload, REVOCATION, "revocation")?;
    let [subject] = &statement.subject[..] else {
        return Err(format!("it is of {} receipts, not of one", statement.subject.len()));
    };
    let digest = subject.digest.get("sha256").filter(|digest| is_hex(digest, &[64]));
    let Some(digest) = digest.filter(|_| subject.name == RECEIPT_SUBJECT) else {
        return Err(format!("its subject {} is no receipt", subject.name));
    };
    if statement.predicate.revoked.parse::<jiff::Timestamp>().is_err() {
        return Err("its time is none".to_owned());
    }
    Ok((digest.clone(), statement.predicate))
}

/// Whether an envelope may hold a revocation.
#[must_use]
pub fn may_be_one(envelope: &Envelope) -> bool {
    MARKS.iter().any(|mark| envelope.mentions(mark))
}

/// Which receipts are revoked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revocations {
    by_receipt: BTreeMap<String, RevokedBy>,
    /// Where those are from that count.
    sources: BTreeSet<String>,
    disregarded: Vec<Disregarded>,
}

impl Revocations {
    /// Those among documents that an allowed signer vouches for.
    ///
    /// # Errors
    ///
    /// If it can't be found out who signed one, or there are more than a thousand: then it is not known what is revoked.
    pub fn of<'d>(documents: impl IntoIterator<Item = &'d Document>, trust: &Trust) -> Result<Self> {
        let one = |document: &'d Document| Some((document, document.envelope().ok().filter(may_be_one)?));
        let all: Vec<(&Document, Envelope)> = documents.into_iter().filter_map(one).collect();
        let vouched = all.iter().filter(|(_, envelope)| trust.may_vouch(envelope));
        let digests: BTreeSet<&str> = vouched.map(|(document, _)| &*document.digest).collect();
        if digests.len() > MOST {
            return Err(unknown(&all[0].0.from, &format!("there are more than {MOST} revocations")));
        }
        let mut revocations = Self::default();
        // A file may have what a ref has, too.
        let mut seen = BTreeMap::<&str, bool>::new();
        let mut strangers = 0;
        for (document, envelope) in &all {
            if let Some(counts) = seen.get(&*document.digest) {
                if *counts {
                    revocations.sources.insert(document.from.clone());
                }
                continue;
            }
            let is_stranger = !digests.contains(&*document.digest);
            strangers += usize::from(is_stranger);
            let answer = if is_stranger && strangers > STRANGERS {
                Err("it names no key of an allowed signer".to_owned())
            } else {
                match trust.signer(envelope) {
                    Err(Unvouched::Unknown(why)) => return Err(unknown(&document.from, &why)),
                    answer => answer.map_err(|why| why.to_string()),
                }
            };
            let counts = match answer {
                Ok(signer) => revocations.add(&document.from, envelope, signer),
                Err(why) => {
                    revocations.disregard(&document.from, why);
                    false
                }
            };
            seen.insert(&document.digest, counts);
        }
        Ok(revocations)
    }

    /// By whom and when a receipt was revoked; of several the earliest. `digest` is that of its payload.
    #[must_use]
    pub fn of_receipt(&self, digest: &str) -> Option<&RevokedBy> {
        self.by_receipt.get(digest)
    }

    /// What may be a revocation and counts for nothing.
    #[must_use]
    pub fn disregarded(&self) -> &[Disregarded] {
        &self.disregarded
    }

    /// Whether what is there is a revocation that counts.
    #[must_use]
    pub fn is_from(&self, from: &str) -> bool {
        self.sources.contains(from)
    }

    /// Takes from revoked receipts what they say.
    pub fn mark(&self, receipts: &mut [VerifiedReceipt]) {
        for receipt in receipts {
            let revoked = receipt.digest.as_ref().and_then(|digest| self.of_receipt(digest));
            if let Some(revoked) = revoked.filter(|_| receipt.refused.is_none()) {
                receipt.refused = Some(told(revoked));
                receipt.revoked_by = Some(revoked.clone());
                receipt.checks.clear();
                receipt.ok = false;
            }
        }
    }

    fn add(&mut self, from: &str, envelope: &Envelope, signer: Signer) -> bool {
        let (receipt, Revocation { revoked, because, .. }) = match parse(envelope.payload()) {
            Ok(read) => read,
            Err(why) => {
                self.disregard(from, format!("it is signed by {}, and {why}", signer.principal));
                return false;
            }
        };
        let Signer { principal, fingerprint } = signer;
        let by = RevokedBy { signer: principal, fingerprint, revoked, because, file: from.to_owned() };
        self.sources.insert(from.to_owned());
        let time = |by: &RevokedBy| by.revoked.parse::<jiff::Timestamp>().ok();
        let known = self.by_receipt.entry(receipt).or_insert_with(|| by.clone());
        if time(&by) < time(known) {
            *known = by;
        }
        true
    }

    fn disregard(&mut self, file: &str, why: String) {
        self.disregarded.push(Disregarded { file: file.to_owned(), why });
    }
}

/// Why a revoked receipt counts for nothing.
#[must_use]
pub fn told(revoked: &RevokedBy) -> String {
    let because = revoked.because.as_ref().map(|because| format!(": {because}")).unwrap_or_default();
    format!("it is revoked by {} ({}), {}{because}", revoked.signer, revoked.fingerprint, revoked.revoked)
}

fn unknown(from: &str, why: &str) -> Error {
    Error::Unmeasured(format!("it can't be known which receipts are revoked: {from}: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::receipt::envelope::Signature;
    use crate::receipt::ssh::Keygen;

    const RECEIPT: &str = "0123456789012345678901234567890123456789012345678901234567890123";

    fn payload(revoked: &str) -> Value {
        let tool = Tool { name: "hostproof".to_owned(), version: "0.1.0".to_owned() };
        serde_json::to_value(statement(RECEIPT, tool, revoked.to_owned(), None)).expect("JSON")
    }

    fn envelope(payload: &Value) -> Envelope {
        Envelope::unsigned(payload.to_string().into_bytes())
    }

    fn signer(name: &str) -> Signer {
        Signer { principal: name.to_owned(), fingerprint: "SHA256:x".to_owned() }
    }

    #[test]
    fn what_is_no_revocation_is_refused() {
        let refused = |change: &dyn Fn(&mut Value), why: &str| {
            let mut payload = payload("2026-01-01T00:00:00Z");
            change(&mut payload);
            let said = parse(payload.to_string().as_bytes()).expect_err("a refusal");
            assert!(said.contains(why), "{said:?} does not say {why:?}");
        };
        refused(&|it| it["_type"] = "x".into(), "it holds a x, not a https://in-toto.io/Statement/v1");
        refused(&|it| it["predicateType"] = "x".into(), "a newer hostproof may know it");
        refused(&|it| it["subject"] = json!([]), "it is of 0 receipts, not of one");
        refused(&|it| it["subject"] = json!([it["subject"][0], it["subject"][0]]), "it is of 2 receipts");
        refused(&|it| it["subject"][0]["name"] = "tree".into(), "its subject tree is no receipt");
        refused(&|it| it["subject"][0]["digest"] = json!({"sha1": RECEIPT}), "its subject receipt is no receipt");
        refused(&|it| it["subject"][0]["digest"]["sha256"] = RECEIPT[1..].into(), "its subject receipt is no receipt");
        refused(&|it| it["predicate"]["revoked"] = "soon".into(), "its time is none");
        refused(&|it| it["predicate"] = Value::Null, "it holds no revocation");
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn of_several_the_earliest_counts_and_the_future_does_too() {
        let mut revocations = Revocations::default();
        for (who, when) in
            [("b", "2999-01-01T00:00:00Z"), ("a", "2026-01-01T01:00:00+02:00"), ("c", "2026-01-01T00:00:00Z")]
        {
            assert!(revocations.add(who, &envelope(&payload(when)), signer(who)));
            assert!(revocations.of_receipt(RECEIPT).is_some());
        }
        assert_eq!(revocations.of_receipt(RECEIPT).map(|by| by.signer.as_str()), Some("a"));
        assert_eq!(revocations.of_receipt(&RECEIPT.replace('0', "1")), None);
    }

    #[test]
    fn escaped_slashes_hide_no_revocation() {
        let text = payload("2026-01-01T00:00:00Z").to_string();
        for text in [text.clone(), text.replace('/', "\\/")] {
            let envelope = Envelope::unsigned(text.into_bytes());
            assert!(may_be_one(&envelope) && parse(envelope.payload()).is_ok());
        }
        assert!(!may_be_one(&Envelope::unsigned(b"{}".to_vec())));
    }

    #[test]
    fn what_is_revoked_is_unknown_if_nobody_can_tell_who_signed_or_there_are_too_many() {
        let trust = Trust::new(Keygen::new("no-such-program-here"), Vec::new());
        let document = |envelope: Envelope| Document::new("x".to_owned(), envelope.to_json());
        let mut signed = envelope(&payload("2026-01-01T00:00:00Z"));
        signed.add(Signature { keyid: String::new(), sig: b"x".to_vec() });
        let error = Revocations::of(&[document(signed)], &trust).expect_err("an error");
        assert!(error.to_string().contains("it can't be known which receipts are revoked: x: "), "{error}");
        let numbered = |index: usize, sig: Option<&[u8]>| {
            let mut payload = payload("2026-01-01T00:00:00Z");
            payload["predicate"]["because"] = index.to_string().into();
            let mut envelope = envelope(&payload);
            if let Some(sig) = sig {
                envelope.add(Signature { keyid: String::new(), sig: sig.to_vec() });
            }
            document(envelope)
        };
        // Those that nobody can vouch for cost nothing.
        let unsigned: Vec<Document> = (0..=MOST).chain([0]).map(|index| numbered(index, None)).collect();
        let revocations = Revocations::of(&unsigned, &trust).expect("all of them");
        assert_eq!(revocations.disregarded().len(), MOST + 1, "one twice is one");
        let trust = Trust::new(Keygen::new("no-such-program-here"), b"me ssh-x YWJjZGVm".to_vec());
        let sig = &b"SSHSIG\0\0\0\x01\0\0\0\x06abcdef"[..];
        let documents: Vec<Document> = (0..=MOST).map(|index| numbered(index, Some(sig))).collect();
        let error = Revocations::of(&documents, &trust).expect_err("an error");
        assert!(error.to_string().contains("more than 1000 revocations"), "{error}");
        let error = Revocations::of(&documents[1..], &trust).expect_err("an error");
        assert!(error.to_string().contains("no-such-program-here"), "{error}");
    }
}
