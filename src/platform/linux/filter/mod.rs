//! Windows' rules on Linux: a seccomp filter over a job's tree that asks the supervisor about every removal and every
//! rename, and the supervisor's answers. By the same filter it sees what is executed, and makes calls fail that are to.
//!
//! - [`asked`]: what of a job is asked about.
//! - [`numbering`]: the numbers of calls, and what filters are made of.
//! - [`program`]: which calls are asked about, and the filter made of it.
//! - [`install`]: the job's first process puts it on itself between clone and exec, and hands the listener over.
//! - [`gains`]: programs that can't gain rights under it.
//! - [`lack`]: why it is not on, in words.
//! - [`listener`]: what the kernel says, and what is said back.
//! - [`reach`]: what a caller means by a path.
//! - [`sitters`]: who has a directory or a file.
//! - [`writes`]: what opens and names files is asked about, too, where somebody watches published ones.
//! - [`claims`]: what else is there once for everybody is asked about, too, where it is to be known what a job uses of it.
//! - [`forbidden`]: programs that may not be run.
//! - [`carriers`]: programs that run another one which is given them as a word.
//! - [`faults`]: calls that are made to fail, or to wait.
//! - [`enforce`]: the answers, and the record of refusals.
//!
//! It is a diagnosis, not a boundary: between the answer and the call a path can come to mean something else, and who wants
//! to get around it can. Whatever can't be asked or read is let through.

mod asked;
mod carriers;
mod claims;
mod enforce;
mod faults;
mod forbidden;
mod gains;
mod install;
mod lack;
mod listener;
mod numbering;
mod program;
mod reach;
mod sitters;
mod writes;

pub use asked::Asked;
pub use enforce::{Enforcement, process_of, read};
pub use gains::execute;
pub use install::{Filter, NotOn, install};
pub use lack::{gains_nothing, in_words, is_gvisor, takes_rights_away};
pub use listener::Listener;
pub use writes::About;
