//! Receipts: what a run of checks came to on a host, bound to the source that it ran on, and signed if somebody vouches
//! for it.
//!
//! - [`envelope`]: the bytes as they are kept and sent, a DSSE envelope.
//! - [`ssh`]: who signed them, by the program that git signs commits with.
//!
//! A receipt comes from anywhere: it is hostile until its signature holds, and nothing in it is parsed before that.

pub mod envelope;
pub mod ssh;
