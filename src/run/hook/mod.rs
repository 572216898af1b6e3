//! A wired hook, called as its host calls it, once for each event of its check.
//!
//! ```text
//! find -> for each event: input -> chosen -> call -> lanes -> proof, protocol -> case -> told
//! ```
//!
//! - `wired` reads what is wired, once for a run; `find` finds what the check names there; `chosen` which of that the host calls for an event, by its
//!   matchers.
//! - `input` is what the hook reads: a file, or what `agent_sample` and `git_sample` know that its host sends.
//! - `call` is how a host starts it: shell, environment, folder, arguments; `lefthook` fills in its templates.
//! - `proof` says whether the hook's own script ran, and `protocol` what the host makes of its answer: both pure.
//! - `events` takes the check through all of it; `case` is one event with its calls, `told` all of them.
//!
//! # Invariants
//!
//! - **No answer without a proof**: exit status 2 is also what Python says of a script that is not there. Where nothing
//!   shows that the script ran, the case is unknown.
//! - **The host's time**: it waits for the end of stdout, not for the exit, and that counts against its limit.
//! - **At once**: the hooks of one event run side by side, and each has a whole supervisor to itself; those that name one
//!   file run one after the other, since it is not told who reads it. `alone` sees to that, across checks too.

mod agent_sample;
mod alone;
mod call;
mod case;
mod chosen;
mod events;
mod find;
mod git_sample;
mod input;
mod lefthook;
mod proof;
mod protocol;
mod told;
mod wired;

pub use alone::{Reader, Reading};
