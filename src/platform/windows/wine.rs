//! Wine, which stands in for Windows where the tests run without one, and does not do everything as it does.

use std::io::Write;

use super::facts;

/// Whether this is Wine.
pub fn is_wine() -> bool {
    facts::wine().is_some()
}

/// Says that a test can't be made here. On Windows itself that is a failure.
#[track_caller]
pub fn skip_under_wine(what: &str, why: &str) {
    assert!(is_wine(), "{what} must not be skipped on Windows");
    writeln!(std::io::stderr(), "skipped under Wine: {what}: {why}").expect("standard error");
}
