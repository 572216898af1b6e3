//! Facts about the machine that explain why a check is red here and green there.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ability;

/// Numbers of Windows' code pages, as 1252 or 65001 (UTF-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodePages {
    /// Of programs with windows, and of most files.
    pub ansi: u32,
    /// Of consoles, unless they were told another.
    pub oem: u32,
}

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
    /// The effective capabilities as the kernel writes them, in hexadecimal (Linux): what a root without all of its rights,
    /// as in a container, may still do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
    /// Whether no program that it starts gains rights, setuid ones included (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_new_privs: Option<bool>,
    /// What filters its system calls: `none`, `strict`, `filter` (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seccomp: Option<String>,
    /// The name of process 1 (Linux): what adopts orphans, or, in a container, what does not.
    pub init: Option<String>,
    /// Whether it has an administrator's rights (Windows).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elevated: Option<bool>,
    /// `LC_ALL`, else `LC_CTYPE`, else `LANG`; on Windows the user's own.
    pub locale: Option<String>,
    /// What programs without Unicode read text by: their windows' code page, and their consoles' (Windows).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_pages: Option<CodePages>,
    /// `TZ`, else the zone that /etc/localtime names; on Windows the system's name of it.
    pub time_zone: Option<String>,
    /// Whether the system has a table of time zones, so that names such as `Europe/Berlin` mean something (Unix).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoneinfo: Option<bool>,
    /// Octal, as `0022`.
    pub umask: Option<String>,
    /// Soft limits by name (`nofile`, `nproc`, …), `unlimited` where there is none. On Linux also those of its control
    /// group, of memory in bytes and of processes (`cgroup.memory`, `cgroup.pids`), where it has some.
    pub limits: BTreeMap<String, String>,
    /// Where sandboxes are made.
    pub temp: String,
    /// The type of the file system there.
    pub temp_filesystem: Option<String>,
    /// Whether it tells `a` from `A`.
    pub temp_case_sensitive: Option<bool>,
    /// How large the file system there is, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp_bytes: Option<u64>,
    /// How much of it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp_free_bytes: Option<u64>,
    /// Whether programs may be started from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp_executable: Option<bool>,
    /// How large `/dev/shm` is, in bytes; 0 if there is none (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shm_bytes: Option<u64>,
    /// The caller's home, which checks with `home: real` see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The names of the settings in it (files and folders that begin with a dot, those in `.config` included), in order;
    /// of many, the first. `null` if it can't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_settings: Option<Vec<String>>,
    /// `PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What `sh` is: the file, with all links resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sh: Option<String>,
    /// Whether hostproof itself had a terminal. Checks have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<bool>,
    /// Whether there is a network beyond the machine itself: an interface that is not the loopback (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// The container engine that this process runs in, where one left a mark.
    pub container: Option<String>,
    /// Logical processors that this process may use.
    pub processors: Option<u64>,
    /// Version of each program that a check's `needs` names.
    pub programs: BTreeMap<String, Option<String>>,
    /// What the probes can see here: each by its name to `ok`, or how far not and why, as `hostproof doctor` tells it.
    pub probes: BTreeMap<String, String>,
    /// What the run itself loaded the machine with, if it was asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stress: Option<Stress>,
}

/// What a run under stress loads the machine with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stress {
    /// How many processors never rest.
    pub busy_processors: u64,
    /// With which right every processor is taken from whatever runs on it, for some milliseconds at random times.
    pub bursts: Precedence,
    /// The folder in whose file system something is written and forced to the disk all the time; `null` if that can't be.
    pub written: Option<String>,
    /// What is not as it should be, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

/// Before which others a thread runs, from all to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precedence {
    /// Before every ordinary one, whenever it wants to.
    RealTime,
    /// Before most.
    Raised,
    /// As any other one.
    Ordinary,
}

impl HostFacts {
    /// With what the probes can see.
    #[must_use]
    pub fn seen_by(self, abilities: &[Ability]) -> Self {
        let probes = abilities.iter().map(|ability| (ability.name.to_string(), ability.state())).collect();
        Self { probes, ..self }
    }
}
