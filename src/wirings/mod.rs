//! The commands that hosts call, as their files name them. None of them is ever run here.
//!
//! ```text
//! files (disk, or a commit's tree) -> find -> settings, git, managers, select -> drafts -> finish -> faults -> wirings -> cover
//! ```
//!
//! - `files` opens what is asked for, from the disk or from a commit: whoever compares two commits reads both alike.
//! - `json`, `toml` and `yaml` make one `tree` of a text, in which each value has its line.
//! - `hosts` is the table of what hosts do with their settings; `settings` reads both shapes of them by it. `git` and
//!   `hook_folders` read hooks that are files, `lefthook` and `pre_commit` those of managers, `select` what a manifest names.
//! - `view` shows a folder as a project of its own, and names as systems see them that know no case.
//! - `shell` takes a command apart, `named` tells which files of the project it runs, by `programs`.
//! - `faults` says what is wrong on sight, with what `script` sees in a file; `cover` says which check covers what.
//!
//! # Invariants
//!
//! - **Nothing is run**, and of git only its list of files, its configuration and its objects are asked for.
//! - **Only regular files of the project are opened**, and no more than a megabyte of each.
//! - **What can't be read hides nothing else**, and is told with file, line and what to do.
//! - **Unknown is said**: which files a command runs is told, or why it can't be.

mod commit;
mod cover;
mod draft;
mod faults;
mod files;
mod find;
mod finish;
mod git;
mod hook_folders;
mod hosts;
mod json;
mod lefthook;
mod limits;
mod links;
mod listing;
mod matchers;
mod named;
mod paths;
mod pre_commit;
mod programs;
mod read;
mod reading;
mod script;
mod select;
mod settings;
mod shell;
mod toml;
mod tree;
mod view;
mod yaml;

pub use commit::Tree;
pub use cover::{cover, mark_short_limits, reads, used};
pub use files::{Disk, Entry, Files, Refused};
pub use hosts::{Form, Matchers, form};
pub use links::{Linked, Nowhere, Place, parts};
pub use listing::{Listing, list};
pub use matchers::matches;
pub use paths::join;
pub use read::{Wirings, read};
pub use settings::plugin;
pub use view::{project_of, respelled};
