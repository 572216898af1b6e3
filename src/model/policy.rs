//! What a project's gate goes by, as its manifests say.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Origin, Platform, WiringSource};

/// The policy of a gate. It counts as the base of a change has it, never as the change does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The systems from whose hosts receipts are wanted, where a check does not say otherwise. Never empty.
    pub require: BTreeSet<Platform>,
    /// The file of allowed signers, relative to the project.
    pub signers: String,
    /// How old a receipt may be.
    pub max_age: Duration,
    pub accept: Vec<Accept>,
    /// Files that wire commands, beyond those that are known by their names.
    pub wirings: Vec<WiringSource>,
    /// Where it is written.
    pub origin: Origin,
}

impl Policy {
    /// How old a receipt may be where the policy says nothing of it.
    pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(14 * 24 * 3600);
}

/// Something that would be refused, and may pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept {
    pub what: Accepted,
    /// Why, for people.
    pub because: String,
}

/// What may pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// That a check of this id is made weaker, or removed.
    Check(String),
    /// That what this file wires, or what runs this file, has no check. Relative to the project.
    Wiring(String),
    /// That this part of the policy is made weaker.
    Policy(PolicyPart),
}

/// A part of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyPart {
    Require,
    /// The path of the file of allowed signers, or what is in it.
    Signers,
    MaxAge,
    Wirings,
}

impl PolicyPart {
    /// Its key in the manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Require => "require",
            Self::Signers => "signers",
            Self::MaxAge => "max_age",
            Self::Wirings => "wirings",
        }
    }
}
