//! Which files of the project a command runs, by its text alone.
//!
//! `reader` goes through the commands in their order, `values` tells what a word is, as far as that is known, and `runs`
//! what a program does with its words.

mod reader;
mod runs;
#[cfg(test)]
mod tests;
mod values;

pub use reader::{Around, Told, in_argv, in_shell, in_windows_shell};
