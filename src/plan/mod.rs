//! From manifests to what this run will run, in order.
//!
//! A check of a manifest is there once, or in variants: by other rules, or with something else changed. `variant` says
//! what each is a variant of and what was changed for it; `expand` makes them, `select` finds those that were asked for.

mod expand;
mod planned;
mod select;
mod variant;

pub use planned::{Plan, Planned, project};
pub use variant::{Change, Variant, Wanted};
