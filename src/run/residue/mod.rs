//! What a check leaves outside its sandbox: what was there is looked at before and after.
//!
//! [`Project`] watches the project's tree and git's references for all checks of a run at once, since that is large and
//! common to them; [`Before`] watches what one check names, for that check alone. What a change means is said in
//! [`crate::probes::residue`].

mod exempt;
mod git;
mod index;
mod project;
mod snapshot;
mod suspects;
mod watched;

pub use project::Project;
pub use suspects::TICK;
pub use watched::{Before, folder_of};
