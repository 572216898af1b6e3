//! What of the machine a check uses that is there once for everybody on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a check used that other runs of it use, too, as far as that was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedUse {
    /// Sorted, each once.
    pub things: Vec<Shared>,
    /// Why there may be more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
}

impl SharedUse {
    /// Whether nothing is to be said of it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One thing that is there once for everybody.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Shared {
    pub kind: SharedKind,
    /// A path, an address with its port, or a name. What is below the check's own `TMPDIR` begins with `$TMPDIR/`.
    pub name: String,
    /// Whether a process of the check was seen with it; else it only changed while the check ran.
    pub seen: bool,
}

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SharedKind {
    /// A file or folder outside the sandbox that was made, written to, renamed or removed.
    Path,
    /// A TCP port that is listened on.
    Tcp,
    /// A UDP port.
    Udp,
    /// A file that was locked, or waited for.
    Lock,
    /// A unix socket: a path, or an abstract name behind `@`.
    Socket,
    /// Shared memory.
    Memory,
    /// Semaphores or a message queue of System V, with their key.
    Ipc,
}

impl Shared {
    /// In words, without who used it.
    #[must_use]
    pub fn words(&self) -> String {
        let name = &self.name;
        match self.kind {
            SharedKind::Path => name.clone(),
            SharedKind::Tcp => format!("TCP port {name}"),
            SharedKind::Udp => format!("UDP port {name}"),
            SharedKind::Lock => format!("a lock on {name}"),
            SharedKind::Socket if name.starts_with('@') => format!("the abstract socket {name}"),
            SharedKind::Socket => format!("the socket {name}"),
            SharedKind::Ipc => format!("the {name}"),
            SharedKind::Memory => format!("the shared memory {name}"),
        }
    }
}
