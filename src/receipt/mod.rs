//! Receipts: what a run of checks came to on a host, bound to the source that it ran on, and signed if somebody vouches
//! for it.
//!
//! ```text
//! plan, report, moments before and after -> statement -> envelope -> ssh -> a file
//! a file, the store -> envelope -> ssh: who signed it -> statement -> verify, against a revision
//! ```
//!
//! - [`revision`]: a project as a commit has it; [`inputs`]: what a check's outcome rests on there, as a digest.
//! - [`moment`]: what was checked out, and which checks rest on nothing else.
//! - [`statement`]: what is said of them.
//! - [`envelope`]: the bytes as they are kept and sent, a DSSE envelope.
//! - [`ssh`]: who signed them, by the program that git signs commits with; [`key`]: with which key.
//! - [`store`]: where they are kept, and how they come from and to others; [`revocation`]: how one is taken back.
//! - [`verify`]: what a receipt is worth for a commit; [`repository`]: whether it is of this repository at all.
//!
//! A receipt comes from anywhere: it is hostile until its signature holds, and nothing in it is parsed before that.

pub mod digest;
pub mod envelope;
pub mod inputs;
pub mod key;
pub mod moment;
pub mod repository;
pub mod revision;
pub mod revocation;
pub mod ssh;
pub mod statement;
pub mod store;
pub mod verify;
