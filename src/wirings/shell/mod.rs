//! Commands taken apart, without running anything: what can't be told without running it is said to be so.
//!
//! `words` splits as a shell does, `simple` finds the commands in a script, `windows` does both for other shells in the
//! simple cases.

mod simple;
#[cfg(test)]
mod tests;
mod windows;
mod words;

pub use simple::{Next, Simple, commands};
pub use windows::{Flavour, commands as windows_commands};
pub use words::{Piece, Word};
