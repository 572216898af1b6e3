//! Windows.

mod abilities;
mod alias;
mod apart;
mod asker;
mod capture;
mod clock;
mod command_line;
mod encoding;
mod ending;
mod facts;
mod files;
mod holders;
mod interrupt;
mod janitor;
mod job;
mod known;
mod lane;
mod lane_folder;
mod list;
mod look;
mod machine;
mod mapped;
mod names;
mod owner;
mod paths;
mod pipes;
mod plants;
mod port;
mod precedence;
mod private;
mod process;
mod programs;
mod quote;
mod remove;
mod restart;
mod running;
mod security;
mod serve;
mod shells;
mod spawn;
mod stubs;
mod table;
mod users;
mod wide;
#[cfg(test)]
mod wine;

pub use abilities::abilities;
pub use apart::set_apart;
#[cfg(test)]
mod tests;

pub use super::changes::{cannot_change, give_to_nobody};
pub use super::reads::Reads;
pub use clock::since_start;
pub use encoding::{HAS_CODE_PAGES, of_code_page};
pub use facts::host_facts;
pub use files::{
    Place, copy_link, is_open_to_others, is_own, is_plain_folder, link_folder, make_executable, make_folder, new_file,
    open_regular, path_of,
};
pub use interrupt::{exit_at_once, expect_children, interrupt, on_interrupt};
pub use lane::{LaneHandle, prepare, start_lane};
pub use list::list_tree;
pub use look::{Watcher, end_stranger, wait_for_an_end};
pub use owner::{machine, own_parents, started};
pub use paths::real_path;
pub use plants::{cannot_plant, forget_helper, identity, put, start_helper};
pub use precedence::{go_first, stay_on};
pub use programs::{find_program, is_executable, is_marked_executable, passed_over, run_through};
pub use remove::remove_tree;
pub use serve::serve;
pub use stubs::{become_program, make_open, make_stub, stub_of};
pub use users::{user, user_and_group};
