//! hostproof runs hook self-tests on the machine that will run the hooks, and tells what they left behind.
//!
//! # What flows where
//!
//! ```text
//! checks.d/*.yaml -> manifest -> plan -> [ sandbox -> supervise -> read -> probe -> judge ] -> report -> terminal, JSON, JUnit, annotations, summary
//! a plan, an image -> container [ the same run, inside ] -> report
//! a project without manifests -> init -> checks.d/*.yaml
//! settings of hosts and of git -> wirings -> init, report -> terminal, JSON
//! report, source, a key -> receipt -> a file, a ref; a file, a ref, a commit -> receipt -> what it is worth
//! report, report -> compare -> terminal, JSON, Markdown
//! two commits, receipts -> gate -> whether the one may be merged into the other
//! sources of what runs as a hook or a self-test -> lints -> report -> terminal, JSON, SARIF, annotations
//! report, report -> merge -> report
//! ```
//!
//! [`source`] adds git's facts to a report; [`memory`] knows from run to run which checks were red; [`words`] is how all parts say durations, commands and what others wrote.
//!
//! Data flows one way; no part looks upstream.
//!
//! # Invariants
//!
//! - **One end**: a check is over when its first process ends, never when its pipes close.
//! - **Unknown is not clean**: a count that was not seen is `None`; a probe that could not look says so.
//! - **Pure verdict**: [`run::judge`] reads what was seen and touches nothing.
//! - **Nothing left**: whatever ends hostproof, every process of its checks and every sandbox is gone within a second.
//! - **One reader of the environment** ([`mod@env`]), one place that prints ([`report`] and `commands`), one exit (`main`).
//! - **Unsafe and system-dependent code** live in [`platform`] alone.
//! - **Imports go one way**: `main -> commands -> init, container, compare, merge, gate -> run, receipt, lints -> plan, wirings,
//!   readers, probes -> source, manifest, platform -> covers, model, words`.

pub mod cli;
pub mod commands;
pub mod compare;
pub mod container;
pub mod covers;
pub mod env;
pub mod error;
pub mod gate;
pub mod init;
pub mod lints;
pub mod manifest;
pub mod memory;
pub mod merge;
pub mod model;
pub mod plan;
pub mod platform;
pub mod probes;
pub mod readers;
pub mod receipt;
pub mod report;
pub mod run;
pub mod source;
pub mod wirings;
pub mod words;
