//! The document that `receipt verify --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Checkout, Counts, Tool, Verdict};

/// The name and version of its form.
pub const VERIFICATION_SCHEMA: &str = "hostproof.verification/1";

/// What receipts are worth for what is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Always `hostproof.verification/1`.
    pub schema: String,
    pub tool: Tool,
    /// What they are compared with: the commit that is checked out. What is not committed makes no difference.
    pub head: Checkout,
    /// Whether each is signed by an allowed signer, and each of its checks is green and has the same inputs.
    pub ok: bool,
    /// In the order in which they were named.
    pub receipts: Vec<VerifiedReceipt>,
    /// What is kept beside them and was not taken into account: revocations that no allowed signer vouches for, and what
    /// can't be read.
    pub disregarded: Vec<Disregarded>,
}

/// Something that counts for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disregarded {
    /// Where it is: a file, or a ref and a path.
    pub file: String,
    /// A sentence without its end.
    pub why: String,
}

/// What one of them is worth.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedReceipt {
    /// As it was named.
    pub file: String,
    /// What it is named by in revocations: the SHA-256 of its payload; `null` if it is no envelope.
    pub digest: Option<String>,
    /// Whether it is all that it has to be.
    pub ok: bool,
    /// Who signed it, as the allowed signers name them; `null` if nobody of them did. All below is unknown then.
    pub signer: Option<String>,
    /// The key that it is signed with.
    pub fingerprint: Option<String>,
    /// Why it counts for nothing.
    pub refused: Option<String>,
    /// Who took it back.
    pub revoked_by: Option<RevokedBy>,
    /// The run that it is of.
    pub run: Option<String>,
    /// When that was over: RFC 3339, in UTC.
    pub finished: Option<String>,
    /// The system that it ran on: `linux`, `windows`, `macos`.
    pub os: Option<String>,
    /// Where it ran: `host` or `container`.
    pub place: Option<String>,
    /// Whether the whole tree is that which is checked out.
    pub same_tree: Option<bool>,
    /// What it says of each check, and whether that still holds.
    pub checks: Vec<VerifiedCheck>,
}

/// A revocation by an allowed signer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevokedBy {
    /// As the allowed signers name them.
    pub signer: String,
    /// The key that it is signed with.
    pub fingerprint: String,
    /// When that was, as they say: RFC 3339.
    pub revoked: String,
    /// In their words.
    pub because: Option<String>,
    /// Where it is: a file, or a ref and a path.
    pub file: String,
}

/// What a receipt says of a check, and whether that is said of what is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedCheck {
    /// Its id.
    pub id: String,
    /// What came of it.
    pub verdict: Verdict,
    /// Its cases.
    pub cases: Counts,
    /// How many errors were found against it.
    pub errors: u64,
    /// The digest of its inputs.
    pub sha256: String,
    pub inputs: InputsNow,
    /// What differs, or why that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
    /// Another of the receipts that says otherwise of the same check with the same inputs on the same system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicted_by: Option<String>,
}

/// What became of the inputs of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InputsNow {
    /// They are the same.
    Same,
    /// They are others.
    Changed,
    /// There is no such check any more.
    Gone,
}
