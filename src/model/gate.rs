//! The document that `gate --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Platform, Tool};

/// The name and version of its form.
pub const GATE_SCHEMA: &str = "hostproof.gate/1";

/// Whether a change may be merged, and why.
///
/// Readers ignore fields that they do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// Always `hostproof.gate/1`.
    pub schema: String,
    pub tool: Tool,
    /// The answer: each receipt that is wanted is there, and nothing else stands against it.
    pub ok: bool,
    /// What the change is to be merged into; the policy is read from there.
    pub base: GateSide,
    /// The change.
    pub head: GateSide,
    /// The commit where the two part: what differs from it is the change.
    pub since: String,
    pub policy: GatePolicy,
    /// The commands that the change wires, or whose scripts it changes.
    pub wirings: Vec<ChangedWiring>,
    /// The receipts that the change wants.
    pub wanted: Vec<Wanted>,
    /// What stands against it besides receipts, that which the base accepts included.
    pub obstacles: Vec<Obstacle>,
    /// Every receipt that was looked at.
    pub receipts: Vec<GateReceipt>,
    /// What else a person should know.
    pub notes: Vec<String>,
    /// What to do where receipts are missing, for each system.
    pub next: Vec<NextSteps>,
}

/// One of the two commits that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateSide {
    /// As it was named.
    pub name: String,
    /// Its whole name.
    pub commit: String,
}

/// What the base says that the gate goes by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatePolicy {
    /// The systems from whose hosts receipts are wanted.
    pub require: Vec<Platform>,
    /// How old a receipt may be, in seconds.
    pub max_age_s: u64,
    /// The file of allowed signers, as the base has it.
    pub signers: String,
}

/// A command that a change wires, or of which it changes a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedWiring {
    /// `file:line` of what wires it.
    pub place: String,
    /// Who calls it, and when: `Claude Code PreToolUse(Bash)`.
    pub occasion: String,
    /// The command.
    pub command: String,
    /// What of it changed.
    pub because: String,
    /// The checks that cover it, on any of the systems.
    pub covered_by: Vec<String>,
}

/// A receipt that a change wants, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wanted {
    /// The id of the check.
    pub check: String,
    /// The system from whose host it is wanted.
    pub host: Platform,
    /// Why it is wanted: what the change has to do with the check.
    pub because: Vec<String>,
    /// The digest of the check's inputs there; `null` if they can't be told.
    pub sha256: Option<String>,
    pub answer: GateAnswer,
    /// The same for people: a sentence without its end.
    pub why: String,
    /// The receipt that decided it, as `receipts` names it.
    pub receipt: Option<String>,
    /// `file:line` of the check.
    pub origin: Option<String>,
}

/// What a wanted receipt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateAnswer {
    /// It is there, and it is green.
    Good,
    /// There is none.
    Missing,
    /// There is none but of other inputs.
    Stale,
    /// There is none but from a container, or from another place that is no host.
    NoHost,
    /// The newest is red.
    Red,
    /// The newest was revoked.
    Revoked,
    /// The newest is older than the policy allows.
    TooOld,
    /// The newest has fewer cases than there have to be.
    ShortCount,
    /// The base has changed the check's inputs, too: what a merge makes of both ran nowhere.
    BaseMoved,
    /// What the check rests on can't be told.
    Untold,
}

/// Something that stands against a change besides receipts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Obstacle {
    pub kind: ObstacleKind,
    /// A check's id, the place of a wiring, or the key of the policy.
    pub subject: String,
    /// What is wrong: a sentence without its end.
    pub message: String,
    /// `file:line`, or a file.
    pub place: Option<String>,
    /// What to do about it.
    pub remedy: String,
    /// Why the base lets it pass; `null` where it does not.
    pub accepted: Option<String>,
}

/// What kind of obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleKind {
    /// No check covers a command that the change wires.
    Uncovered,
    /// A file that wires commands, and that the change touches, can't be read.
    Unread,
    /// A check would let pass what it did not, or a hook is called for less.
    Weaker,
    /// The policy, or who may sign, would let pass what it did not.
    Policy,
}

/// A receipt that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReceipt {
    /// The file, or the name of the object.
    pub name: String,
    /// Who signed it, as the allowed signers name them; `null` if nobody of them did. All below is unknown then.
    pub signer: Option<String>,
    /// The key that it is signed with.
    pub fingerprint: Option<String>,
    /// The system that it ran on.
    pub os: Option<String>,
    /// Where it ran: `host` or `container`.
    pub place: Option<String>,
    /// When that was over: RFC 3339, in UTC.
    pub finished: Option<String>,
    /// Why it counts for nothing; `null` if it counts.
    pub refused: Option<String>,
}

/// What to do on one system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextSteps {
    /// The system.
    pub host: Platform,
    /// Commands, in order.
    pub commands: Vec<String>,
}
