//! The envelope of a receipt: DSSE, protocol and envelope version 1.0.2 (secure-systems-lab/dsse).
//!
//! A signature is over [`Envelope::pae`], which binds the type of the payload to its bytes. To read an envelope is not to
//! read its payload: that stays bytes, until somebody has seen who signed it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::digest::sha256;
use crate::words::beginning;

/// The type of the one payload that there is: an in-toto statement.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// No envelope is larger, in bytes: a payload of thousands of checks stays far below it.
pub const MAX_BYTES: usize = 16 << 20;

/// No envelope has more signatures: each costs a process to verify.
const MAX_SIGNATURES: usize = 8;

/// A payload and who vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    payload: Vec<u8>,
    signatures: Vec<Signature>,
}

/// One signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// A hint of which key it was made with. It is not signed itself, so that nothing may rest on it.
    pub keyid: String,
    /// An SSH signature, without its armour.
    pub sig: Vec<u8>,
}

impl Signature {
    /// The public key that it says it was made with, as SSH has it; `None` if it is none that is known. Whether it was, only
    /// a program says that checks it.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        let rest = self.sig.strip_prefix(b"SSHSIG\0\0\0\x01")?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?).filter(|key| !key.is_empty())
    }
}

/// Why bytes are no envelope: a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAnEnvelope(String);

/// The envelope as JSON. Unknown fields are ignored, as DSSE wants it.
#[derive(Serialize, Deserialize)]
struct Wire {
    #[serde(rename = "payloadType")]
    payload_type: String,
    payload: String,
    signatures: Vec<WireSignature>,
}

#[derive(Serialize, Deserialize)]
struct WireSignature {
    #[serde(default)]
    keyid: String,
    sig: String,
}

impl Envelope {
    /// An envelope that nobody has signed.
    #[must_use]
    pub fn unsigned(payload: Vec<u8>) -> Self {
        Self { payload, signatures: Vec::new() }
    }

    /// Reads one.
    ///
    /// # Errors
    ///
    /// If it is none, is larger than [`MAX_BYTES`], or its payload is of another type.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAnEnvelope> {
        let refuse = |why: String| Err(NotAnEnvelope(why));
        if bytes.len() > MAX_BYTES {
            return refuse(format!("it is larger than {} MiB", MAX_BYTES >> 20));
        }
        let wire: Wire = match serde_json::from_slice(bytes) {
            Ok(wire) => wire,
            Err(error) => return refuse(format!("it is no DSSE envelope: {}", beginning(&error.to_string(), 200))),
        };
        if wire.payload_type != PAYLOAD_TYPE {
            let shown = beginning(&wire.payload_type, 80);
            return refuse(format!("its payload is of type {shown:?}, not {PAYLOAD_TYPE:?}"));
        }
        if wire.signatures.len() > MAX_SIGNATURES {
            return refuse(format!("it has {} signatures; at most {MAX_SIGNATURES} are read", wire.signatures.len()));
        }
        let bytes_of = |text: &str, what: &str| {
            STANDARD.decode(text).map_err(|error| NotAnEnvelope(format!("its {what} is not base64: {error}")))
        };
        let signatures = wire
            .signatures
            .into_iter()
            .map(|signature| Ok(Signature { sig: bytes_of(&signature.sig, "signature")?, keyid: signature.keyid }));
        Ok(Self { payload: bytes_of(&wire.payload, "payload")?, signatures: signatures.collect::<Result<_, _>>()? })
    }

    /// The envelope as JSON, with a line end.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let signatures = self
            .signatures
            .iter()
            .map(|signature| WireSignature { keyid: signature.keyid.clone(), sig: STANDARD.encode(&signature.sig) });
        let wire = Wire {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: STANDARD.encode(&self.payload),
            signatures: signatures.collect(),
        };
        let mut json = serde_json::to_vec_pretty(&wire).unwrap_or_default();
        json.push(b'\n');
        json
    }

    /// What is signed: DSSE's pre-authentication encoding of type and payload.
    #[must_use]
    pub fn pae(&self) -> Vec<u8> {
        pae(PAYLOAD_TYPE, &self.payload)
    }

    /// The payload, whoever vouches for it.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The digest that names what it holds, however it is encoded and whoever signs it: the SHA-256 of the payload.
    #[must_use]
    pub fn digest(&self) -> String {
        sha256(&self.payload)
    }

    /// Whether the payload has these bytes somewhere: what a payload can't be without is found so before anything of it is
    /// parsed, and before it costs anything to see who signed it.
    #[must_use]
    pub fn mentions(&self, bytes: &[u8]) -> bool {
        memmem::find(&self.payload, bytes).is_some()
    }

    #[must_use]
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// Adds a signature over [`Envelope::pae`].
    pub fn add(&mut self, signature: Signature) {
        self.signatures.push(signature);
    }
}

fn pae(kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut encoded = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    encoded.extend_from_slice(payload);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_that_of_the_specification() {
        assert_eq!(
            pae("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut envelope = Envelope::unsigned(b"{\"a\":\"\xc3\xa9\"}".to_vec());
        assert_eq!(Envelope::parse(&envelope.to_json()), Ok(envelope.clone()));
        envelope.add(Signature { keyid: "SHA256:x".to_owned(), sig: vec![0, 255, 7] });
        assert_eq!(Envelope::parse(&envelope.to_json()), Ok(envelope));
    }

    #[test]
    fn what_is_no_envelope_says_why() {
        let deep = "[".repeat(100_000);
        let many = format!(
            r#"{{"payloadType":"{PAYLOAD_TYPE}","payload":"","signatures":[{}]}}"#,
            [r#"{"sig":""}"#; MAX_SIGNATURES + 1].join(",")
        );
        let large = vec![b' '; MAX_BYTES + 1];
        let rows: [(&[u8], &str); 8] = [
            (b"", "no DSSE envelope"),
            (b"{\"payloadType\":", "no DSSE envelope"),
            (deep.as_bytes(), "no DSSE envelope"),
            (br#"{"payloadType":"text/plain","payload":"","signatures":[]}"#, "type \"text/plain\""),
            (
                br#"{"payloadType":"application/vnd.in-toto+json","payload":"?","signatures":[]}"#,
                "payload is not base64",
            ),
            (
                br#"{"payloadType":"application/vnd.in-toto+json","payload":"","signatures":[{"sig":"%"}]}"#,
                "signature is not base64",
            ),
            (many.as_bytes(), "signatures"),
            (&large, "larger than"),
        ];
        for (bytes, why) in rows {
            let error = Envelope::parse(bytes).expect_err(why).to_string();
            assert!(error.contains(why), "{error} does not say {why}");
        }
    }
}
