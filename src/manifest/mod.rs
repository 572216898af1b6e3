//! From `checks.d` to the checks of a run, or to every error of every file at once.
//!
//! ```text
//! find -> read -> parse -> decode -> resolve -> lower -> Loaded
//!           \       \         \         \
//!            `-------`---------`---------`-> problems -> diagnose -> Error::Manifest
//! ```
//!
//! - `find` names the project and the files; `read` makes text of a file, whatever lies at its path.
//! - `parse` makes a tree of `node`s in which each has its place. What YAML has beyond plain data (anchors, aliases,
//!   tags, merge keys, several documents) is refused there, and so is every size that no person writes.
//! - `decode` reads the types of `spec` out of the tree, the grammars of single values being in `values`, `paths`,
//!   `forms`, `hook_spec` and `counts`.
//! - `resolve` puts the layers of a check (defaults, overrides) over each other with `merge`, and says what is missing;
//!   `lower` makes a [`Check`](crate::model::Check) of what is left.
//! - `schema` tells editors the same as the types do.
//!
//! # Invariants
//!
//! - **All at once**: a problem never hides another, except where it took away what the other is about.
//! - **No echo**: an entry that was refused is never reported as missing.
//! - **Bounded**: time and stack are bounded by the limits of `limits`, whatever the bytes are.

mod break_spec;
mod counts;
mod decode;
mod decode_error;
mod diagnose;
mod fault_spec;
mod find;
mod forbid_spec;
mod forms;
mod hook_spec;
mod json_path;
mod limits;
mod lines;
mod load;
mod lower;
mod matrix_spec;
mod merge;
mod node;
mod parse;
mod paths;
mod plant_spec;
mod problem;
mod read;
mod reader_spec;
mod repeat_spec;
mod resolve;
mod rules_spec;
mod scalar;
mod schema;
mod spanned;
mod spec;
mod syntax;
mod text;
mod values;
mod vary_spec;

#[cfg(test)]
mod tests;

pub use find::{FOLDER, is_manifest_name};
pub use load::{Loaded, LoadedCheck, ManifestFile, Options, load, load_bytes, places};
pub use paths::parse_publish_glob;
pub use read::other_encoding;
pub use repeat_spec::MOST_COPIES;
pub use schema::schema;
pub use values::parse_duration;
