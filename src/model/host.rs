//! Facts about the machine that explain why a check is red here and green there.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ability;

/// The machine and the session that a run happened in. A fact that could not be read is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// `linux`, `windows`, `macos`.
    pub os: String,
    /// The system's own name and version (os-release's `PRETTY_NAME` on Linux).
    pub os_version: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The C library, where the system has several.
    pub libc: Option<String>,
    /// `x86_64`, `aarch64`, …
    pub arch: String,
    /// The effective user id (Unix).
    pub uid: Option<u32>,
    /// The name of process 1 (Linux): what adopts orphans, or, in a container, what does not.
    pub init: Option<String>,
    /// `LC_ALL`, else `LC_CTYPE`, else `LANG`.
    pub locale: Option<String>,
    /// `TZ`, else the zone that /etc/localtime names.
    pub time_zone: Option<String>,
    /// Octal, as `0022`.
    pub umask: Option<String>,
    /// Soft limits by name (`nofile`, `nproc`, …), `unlimited` where there is none.
    pub limits: BTreeMap<String, String>,
    /// Where sandboxes are made.
    pub temp: String,
    /// The type of the file system there.
    pub temp_filesystem: Option<String>,
    /// Whether it tells `a` from `A`.
    pub temp_case_sensitive: Option<bool>,
    /// The container engine that this process runs in, where one left a mark.
    pub container: Option<String>,
    /// Logical processors that this process may use.
    pub processors: Option<u64>,
    /// Version of each program that a check's `needs` names.
    pub programs: BTreeMap<String, Option<String>>,
    /// What the probes can see here: each by its name to `ok`, or how far not and why, as `hostproof doctor` tells it.
    pub probes: BTreeMap<String, String>,
}

impl HostFacts {
    /// With what the probes can see.
    #[must_use]
    pub fn seen_by(self, abilities: &[Ability]) -> Self {
        let probes = abilities.iter().map(|ability| (ability.name.to_string(), ability.state())).collect();
        Self { probes, ..self }
    }
}
