//! What a user does with hostproof on Windows, one file per thing, with real processes.
//!
//! They run on Windows itself, and under Wine, which `.ci/windows` has in its place. What Wine does otherwise is skipped
//! there by name; on Windows nothing is.
#![cfg(windows)]

mod arguments;
mod context;
mod run;
mod story;
mod zoo;
