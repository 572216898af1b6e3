//! Windows.

mod asker;
mod command_line;
mod facts;
mod files;
mod holders;
mod interrupt;
mod lane;
mod look;
mod machine;
mod mapped;
mod names;
mod paths;
mod process;
mod programs;
mod remove;
mod restart;
mod serve;
mod table;
mod users;
mod wide;

#[cfg(test)]
mod tests;

pub use facts::host_facts;
pub use files::{
    Place, copy_link, is_open_to_others, is_plain_folder, make_folder, new_file, open_regular, path_of, user,
};
pub use interrupt::{exit_at_once, expect_children, on_interrupt};
pub use lane::{LaneHandle, prepare, start_lane};
pub use look::{Watcher, end_stranger, since_start, wait_for_an_end};
pub use programs::{find_program, is_executable};
pub use remove::remove_tree;
pub use serve::serve;
