//! The only reader of this process's environment.
//!
//! Variables of our own: `HOSTPROOF_TMPDIR` (where sandboxes are made; keep it short).

#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The longest base folder that leaves room for unix sockets in a check's temporary folder: a socket's path has at most
/// 107 bytes on Linux and 103 on macOS, and fixtures add some thirty of their own.
pub const LONGEST_BASE: usize = 32;

/// A variable as text. `None` if it is not set, is empty, or is not Unicode.
#[must_use]
pub fn text(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// A variable as it is.
#[must_use]
pub fn raw(name: &str) -> Option<OsString> {
    env::var_os(name)
}

/// All variables.
pub fn all() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os()
}

/// The locale that programs see for text: `LC_ALL`, else `LC_CTYPE`, else `LANG`.
#[must_use]
pub fn locale() -> Option<String> {
    text("LC_ALL").or_else(|| text("LC_CTYPE")).or_else(|| text("LANG"))
}

/// The user's home.
#[must_use]
pub fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

/// The system's temporary folder.
#[must_use]
pub fn temp() -> PathBuf {
    env::temp_dir()
}

/// Where a user's programs keep what is worth keeping and no configuration: `XDG_STATE_HOME`, or what the system has
/// instead.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| raw(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        Some(home()?.join("Library/Application Support"))
    } else {
        absolute("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))
    }
}

/// Whether GitHub's runner reads what is printed.
#[must_use]
pub fn in_github_actions() -> bool {
    text("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// Where sandboxes are made: `HOSTPROOF_TMPDIR`, else the system's temporary folder if its path is short, else `/tmp`.
#[must_use]
pub fn sandbox_base() -> PathBuf {
    if let Some(base) = raw("HOSTPROOF_TMPDIR").filter(|base| !base.is_empty()) {
        return PathBuf::from(base);
    }
    let usual = temp();
    if cfg!(unix) && usual.as_os_str().len() > LONGEST_BASE { PathBuf::from("/tmp") } else { usual }
}
