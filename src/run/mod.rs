//! The life of checks: each in a sandbox of its own, supervised, read, probed, judged, cleaned up.
//!
//! `schedule` hands checks to lanes; `life` takes one check through its life; [`judge`](judge::judge) is pure.

mod beside;
mod carried;
mod combinations;
mod copy;
mod edits;
mod encoding;
mod environment;
mod eventually;
mod faults;
mod forbid;
mod groups;
mod hook;
mod judge;
mod junit;
mod life;
mod listing;
mod names;
mod needs;
mod output;
mod planned;
mod planting;
mod program;
mod records;
mod removal;
mod reports;
mod residue;
mod rounds;
mod samples;
mod sandbox;
mod schedule;
mod settings;
mod settle;
mod setup;
mod shared;
mod skips;
mod slot;
mod substitute;
mod surroundings;
mod teeth;
mod text;
mod together;
mod tools;
mod unseen;
mod unstarted;
mod ways;
mod workers;

pub use combinations::Combinations;
pub use copy::{common_git_folder, listed as copy_listed, own_git_folder};
pub use judge::{Facts, Judgement, judge};
pub use reports::Reports;
pub use tools::{ENGINES, tools};
pub use workers::{Keep, Observer, Options, Ran, Until, run};
