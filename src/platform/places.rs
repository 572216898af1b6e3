//! Folders that each system has in a place of its own.

use std::path::PathBuf;

use crate::env;

/// The longest base folder that leaves room for unix sockets in a check's temporary folder: a socket's path has at most
/// 107 bytes on Linux and 103 on macOS, and fixtures add some thirty of their own.
pub const LONGEST_BASE: usize = 32;

/// What the names of all lane folders begin with, in the base folder.
pub const LANE: &str = "hp-";

/// Where a user's programs keep what is worth keeping and no configuration: `XDG_STATE_HOME`, or what the system has
/// instead.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| env::raw(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        Some(env::home()?.join("Library/Application Support"))
    } else {
        absolute("XDG_STATE_HOME").or_else(|| Some(env::home()?.join(".local/state")))
    }
}

/// Where sandboxes are made: `HOSTPROOF_TMPDIR`, else the system's temporary folder if its path is short, else `/tmp`.
#[must_use]
pub fn sandbox_base() -> PathBuf {
    if let Some(base) = env::raw("HOSTPROOF_TMPDIR").filter(|base| !base.is_empty()) {
        return PathBuf::from(base);
    }
    let usual = env::temp();
    if cfg!(unix) && usual.as_os_str().len() > LONGEST_BASE { PathBuf::from("/tmp") } else { usual }
}
