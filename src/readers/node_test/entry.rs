//! A line that tells of one test or suite, whatever the reporter.

use std::path::Path;

use crate::model::CaseOutcome;
use crate::readers::cases::clip;
use crate::readers::own_code::own_name;
use crate::readers::{Arrival, Context};

/// The names from the outermost suite to the case.
pub const SEPARATOR: &str = " > ";

/// What a reporter tells of one test or suite.
#[derive(Debug, Clone)]
pub struct Entry {
    /// With the names of what it is in.
    pub name: String,
    pub outcome: CaseOutcome,
    pub reason: Option<String>,
    pub at: Arrival,
    pub kind: Kind,
    /// Something in it failed.
    pub failed_within: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A test, or an empty suite.
    Leaf,
    /// A test or a suite, with something in it.
    Parent,
    /// A test that has subtests.
    Test,
    Suite,
    /// A file that was run, and that told of nothing in it.
    File,
}

/// The name by which to show a file, if that is what an outermost entry is named after.
pub fn file(name: &str, context: &Context<'_>) -> Option<String> {
    let path = Path::new(name);
    let extension = path.extension()?.to_str()?;
    let script = ["js", "cjs", "mjs", "ts", "cts", "mts", "jsx", "tsx"].contains(&extension);
    let windows = name.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
    // Newer versions name it relative to where they run.
    let relative = || {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        !name.contains(char::is_whitespace)
            && (name.contains(['/', '\\']) || stem.starts_with("test") || stem.ends_with("test"))
    };
    if !script || !(name.starts_with('/') || windows || relative()) {
        return None;
    }
    Some(clip(&own_name(name, context).unwrap_or_else(|| name.to_owned())))
}
