//! From manifests to what this run will run, in order.
//!
//! A check of a manifest is there once, or in variants: by other rules, or with something else changed. `variant` says
//! what each is a variant of and what was changed for it; `expand` makes them, `select` finds those that were asked for.
//! `teeth` makes of a plan the one that shows which checks can fail, `partition` one of several parts.

mod expand;
mod matrix;
mod partition;
mod planned;
mod select;
mod teeth;
mod variant;

pub use planned::{Plan, Planned, project};
pub use teeth::{Named, Tooth};
pub use variant::{Change, Variant, Wanted};
