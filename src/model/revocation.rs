//! The document that takes a receipt back: an in-toto statement over that receipt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Subject, Tool};

/// The type of what it says, with its version.
pub const REVOCATION: &str = "https://github.com/hostproof/hostproof/revocation/v1";

/// The name of the subject that is a receipt.
pub const RECEIPT_SUBJECT: &str = "receipt";

/// An in-toto statement: that a receipt counts for nothing.
///
/// It is in an envelope like that of a receipt, and signed in the same namespace. Readers ignore fields that they do not
/// know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevocationStatement {
    /// Always `https://in-toto.io/Statement/v1`.
    #[serde(rename = "_type")]
    pub kind: String,
    /// One, called `receipt`: its `sha256` is over the payload of the receipt's envelope.
    pub subject: Vec<Subject>,
    /// Always `https://github.com/hostproof/hostproof/revocation/v1`.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    pub predicate: Revocation,
}

/// When and why a receipt was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revocation {
    pub tool: Tool,
    /// RFC 3339, in UTC. It counts whenever that was.
    pub revoked: String,
    /// In the words of whoever did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}
