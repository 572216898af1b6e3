//! What a user does with hostproof, one file per thing, with real processes.

mod layers;

// On every Unix.
#[cfg(unix)]
mod context;
#[cfg(unix)]
mod events;
#[cfg(unix)]
mod lint_code;
#[cfg(unix)]
mod manifests;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod recordings;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
mod sandbox;
#[cfg(unix)]
mod schema;
#[cfg(unix)]
mod shells;
#[cfg(unix)]
mod trees;

// Their checks ask /proc what a process that they have started does by now, or start one with setsid(1), which macOS has
// not.
#[cfg(target_os = "linux")]
mod blind;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod container;
#[cfg(target_os = "linux")]
mod copies;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod failed;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod forbid;
#[cfg(target_os = "linux")]
mod gate;
#[cfg(target_os = "linux")]
mod gate_ways_round;
#[cfg(target_os = "linux")]
mod github;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod hook_checks;
#[cfg(target_os = "linux")]
mod hooks;
#[cfg(target_os = "linux")]
mod junit;
#[cfg(target_os = "linux")]
mod keys;
#[cfg(target_os = "linux")]
mod leaks;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod merge;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod neighbours;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod planned;
#[cfg(target_os = "linux")]
mod plant;
#[cfg(target_os = "linux")]
mod publishes;
#[cfg(target_os = "linux")]
mod receipt_store;
#[cfg(target_os = "linux")]
mod receipts;
#[cfg(target_os = "linux")]
mod repeat;
#[cfg(target_os = "linux")]
mod residue;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod spool;
#[cfg(target_os = "linux")]
mod teeth;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod vary;
#[cfg(unix)]
mod watch;

// What it compares with was written down on Linux.
#[cfg(target_os = "linux")]
mod story;
// Only Linux sees who held what was removed while the check ran.
#[cfg(target_os = "linux")]
mod strangers;
#[cfg(unix)]
mod stress;
// Only Linux can refuse a call as Windows would.
#[cfg(target_os = "linux")]
mod windows;
#[cfg(target_os = "linux")]
mod windows_runtimes;
