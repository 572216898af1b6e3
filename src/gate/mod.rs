//! Whether a change may be merged: each check that it concerns has to have a receipt from each host that the base's policy
//! asks for, and no check may be made weaker on the way.
//!
//! ```text
//! base, head -> side (their trees, manifests, wirings) -> changed, wanted, weaker, policy -> facts
//! documents, revocations -> evidence: who signed them, what they say -> claims
//! facts, claims, the time -> decide -> Gate
//! ```
//!
//! - [`change`]: the two commits and the one where they part, with what each says.
//! - `wirings`: which wired commands the change concerns, and what covers them.
//! - `narrower`: which of them are called for less than they were.
//! - `wants`: which receipts it wants, from where, and why.
//! - `gained`: what of the base has to do with the change, and the change does not know.
//! - `variants`: which of a check's settings, facts and rules it takes away.
//! - [`weaker`]: what of a check, or of the policy, would let pass what it did not.
//! - [`evidence`]: what receipts say; those of files, and those of the store.
//! - [`decide`]: the answer; `ask` goes the whole way.
//! - [`pushed`]: what git tells a pre-push hook.
//!
//! # Invariants
//!
//! - **The base decides**: policy and allowed signers are read from it, never from the change.
//! - **Pure answer**: [`decide`] touches nothing.
//! - **Nothing is run** of what the change has, nor is any of its files checked out.
//! - **Unknown is no yes**: what can't be read, told or compared stands against the change.

mod ask;
pub mod change;
pub mod decide;
pub mod evidence;
mod gained;
mod narrower;
pub mod pushed;
pub mod side;
mod variants;
mod wants;
pub mod weaker;
mod wirings;

pub use ask::{Asking, ask};
