//! What Linux and macOS share: removing a tree, finding a program, interrupts.

mod files;
mod interrupt;
mod list;
mod programs;
mod remove;

pub use files::{
    Place, copy_link, is_open_to_others, is_plain_folder, make_folder, new_file, open_regular, path_of, user,
};
pub use interrupt::{exit_at_once, expect_children, on_interrupt};
pub use list::list_tree;
pub use programs::{find_program, is_executable};
pub use remove::remove_tree;
