//! What a user does with hostproof, one file per thing, with real processes.

mod layers;

#[cfg(target_os = "linux")]
mod context;
#[cfg(target_os = "linux")]
mod events;
#[cfg(target_os = "linux")]
mod failed;
#[cfg(target_os = "linux")]
mod github;
#[cfg(target_os = "linux")]
mod junit;
#[cfg(target_os = "linux")]
mod keys;
#[cfg(target_os = "linux")]
mod leaks;
#[cfg(target_os = "linux")]
mod manifests;
#[cfg(target_os = "linux")]
mod neighbours;
#[cfg(target_os = "linux")]
mod output;
mod planned;
#[cfg(target_os = "linux")]
mod recordings;
mod reports;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod schema;
#[cfg(target_os = "linux")]
mod shells;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod story;
mod strangers;
#[cfg(target_os = "linux")]
mod terminal;
mod windows;
mod windows_runtimes;
