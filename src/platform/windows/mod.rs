//! Windows.

mod facts;
mod files;
mod interrupt;
mod lane;
mod list;
mod look;
mod programs;
mod remove;
mod serve;

pub use facts::host_facts;
pub use files::{
    Place, copy_link, is_open_to_others, is_plain_folder, make_folder, new_file, open_regular, path_of, user,
};
pub use interrupt::{exit_at_once, expect_children, on_interrupt};
pub use lane::{LaneHandle, prepare, start_lane};
pub use list::list_tree;
pub use look::{Watcher, end_stranger, since_start, wait_for_an_end};
pub use programs::{find_program, is_executable};
pub use remove::remove_tree;
pub use serve::serve;
