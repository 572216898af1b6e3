//! From a project without manifests to its first one.
//!
//! ```text
//! project -> listing -> find (python, node, cargo, shell) -> self-tests -> [ run each once ] -> draft -> write
//!                   `-> wirings -----------------------------------------------------------´
//! ```
//!
//! - `project` names the project and lists its files.
//! - `find` and the modules it calls decide from names and texts which files are self-tests; they touch no system.
//! - [`crate::wirings`] lists the commands that hosts call, `pair` says which self-test seems to test which of them.
//! - `pre_push` writes a hook of git's, where that is what is asked for.
//! - `draft` makes the manifest's text of what was seen, `write` has the loader read it before anybody else does.
//!
//! # Invariants
//!
//! - **Only regular files are opened**, and of each no more than a megabyte.
//! - **No wired hook is run**: they are named, that is all.
//! - **Nothing is taken**: what a self-test left behind is proposed in comments; a red check is written as it is.
//! - **Nothing is overwritten**, and what is written was read back by the loader.

mod cargo;
mod draft;
mod find;
mod ids;
mod node;
mod pair;
mod pre_push;
mod project;
mod python;
mod python_groups;
mod shell;
mod summary;
mod text;
mod write;
mod yaml;

pub use draft::{Draft, Seen, draft};
pub use find::{Found, SelfTest, find};
pub use pre_push::{PRE_PUSH, pre_push};
pub use project::{Project, open, wired};
pub use summary::{nothing_found, summary};
pub use write::{check, write};
