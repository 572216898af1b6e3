//! Traps that can be read: a source is parsed, and rules look at its syntax. Nothing is run.
//!
//! ```text
//! what runs as a hook or a self-test, paths, or the whole tree -> targets -> [ bytes -> needs -> syntax -> source -> rules -> allows ] -> lints
//! ```
//!
//! - `needs` tells which rules can find something in a file at all, by its bytes, and `written` what a call says; most files
//!   need not be parsed.
//! - `language` tells a file's language, `syntax` is its tree, `names`, `literal` and `guards` say what is in it; `source`
//!   has all of that for the rules.
//! - `rules` has one file per kind of trap, with everything that is said of it; `detach` (with `options` and `flags`), `paths`, `separators` and `shell` is what several
//!   of them want to know.
//! - `targets` tells which files are looked at, `look` looks at one, `imports` tells what that takes in, `scan` looks at all
//!   of them at once.
//!
//! # Invariants
//!
//! - **By syntax**: no rule finds something by searching the text of a source. What its text can't have in it is not looked
//!   for, and that hides nothing that the syntax would show.
//! - **Once**: each file is read once, and parsed once or not at all, whatever the number of rules.
//! - **Whatever the source is, there is an answer**: no walk recurses; size, parts and time are limited, and that is told.
//! - **Unknown is said**: a file that can't be read or parsed is told, and so is syntax that was not understood.

mod allows;
mod detach;
mod flags;
mod guards;
mod imports;
mod language;
mod literal;
mod look;
mod names;
mod needs;
mod options;
mod paths;
mod rule;
mod rules;
mod scan;
mod separators;
mod shell;
mod source;
mod syntax;
mod targets;
#[cfg(test)]
mod tests;
mod values;
mod written;

pub use language::Language;
pub use rule::{Example, Rule, Seen};
pub use rules::{rule, rules};
pub use scan::{Scanned, scan};
pub use targets::{Targets, Wanted, targets};
