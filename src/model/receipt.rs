//! The document that a receipt's envelope holds: an in-toto statement over the source and the checks of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Counts, HostFacts, Manifests, Place, Severity, Tool, Totals, Verdict};

/// The type of the statement (in-toto attestation framework, version 1).
pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of what it says, with its version.
pub const RECEIPT: &str = "https://github.com/hostproof/hostproof/receipt/v1";

/// What stands before a check's id in the name of its subject.
pub const CHECK_SUBJECT: &str = "check/";

/// The name of the subject that is the source.
pub const TREE_SUBJECT: &str = "tree";

/// An in-toto statement: of which source and which checks a run says something, and what it says.
///
/// Times are whole milliseconds or RFC 3339 text; there are no floating-point numbers. Readers ignore fields that they
/// do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// Always `https://in-toto.io/Statement/v1`.
    #[serde(rename = "_type")]
    pub kind: String,
    /// The source, and each check that was run on nothing but what is committed.
    pub subject: Vec<Subject>,
    /// Always `https://github.com/hostproof/hostproof/receipt/v1`.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    pub predicate: Receipt,
}

/// What something is said of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// `tree`, or `check/` and the id of a check.
    pub name: String,
    /// Of the source `gitTree`, the tree of the whole repository; of a check `sha256`, over its inputs.
    pub digest: BTreeMap<String, String>,
    /// Of the source `commit`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    pub tool: Tool,
    pub run: ReceiptRun,
    pub place: Place,
    pub host: HostFacts,
    pub manifests: Manifests,
    pub source: ReceiptSource,
    /// One for each subject that is a check.
    pub checks: Vec<ReceiptCheck>,
    /// The checks of the run that are no subjects.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Of all checks of the run, those that are left out included.
    pub totals: Totals,
}

/// The run itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptRun {
    /// Unique among runs.
    pub id: String,
    /// RFC 3339, in UTC.
    pub started: String,
    /// RFC 3339, in UTC: when the last check had its verdict.
    pub finished: String,
    /// Whether warnings counted as errors.
    #[serde(default)]
    pub strict: bool,
}

/// The source, before and after the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptSource {
    pub start: Checkout,
    pub end: Checkout,
    pub repository: RepositoryFacts,
}

/// What was checked out at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkout {
    /// The commit's whole name.
    pub commit: String,
    /// That of the whole repository.
    pub tree: String,
    /// Whether anything in the project was not as committed. No subject covers or uses that.
    pub dirty: bool,
}

/// Which repository it is, wherever it is cloned to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepositoryFacts {
    /// The commits without a parent; `null` where the clone is shallow.
    pub roots: Option<Vec<String>>,
    /// The address of `origin`, without user, password and query.
    pub origin: Option<String>,
    /// The folder of the project in the repository, with `/`; empty if it is the top.
    pub project: String,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptCheck {
    /// That of its subject, without `check/`.
    pub id: String,
    /// What distinguishes this variant; `null` for the check itself.
    #[serde(default)]
    pub variant: Option<String>,
    pub verdict: Verdict,
    /// The verdict in a few words, where it is red.
    #[serde(default)]
    pub reason: Option<String>,
    pub cases: Counts,
    pub findings: Vec<ReceiptFinding>,
    /// From start to the end of the first process.
    pub duration_ms: u64,
}

/// One fact against a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptFinding {
    /// As `hostproof explain` lists them; a later hostproof may have others.
    pub kind: String,
    pub severity: Severity,
    /// One sentence that stands alone.
    pub message: String,
    /// The reason why the manifest allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}

/// A check that the receipt says nothing of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Its id.
    pub id: String,
    /// Why: a sentence without its end.
    pub because: String,
}
