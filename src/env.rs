//! The only reader of this process's environment.
//!
//! Variables of our own: `HOSTPROOF_TMPDIR` (where sandboxes are made; keep it short), `HOSTPROOF_STATIC` (the program that
//! runs in containers).

#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

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

/// Whether GitHub's runner reads what is printed.
#[must_use]
pub fn in_github_actions() -> bool {
    text("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}
