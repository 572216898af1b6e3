//! What Linux and macOS share: removing a tree, finding a program, interrupts.

mod files;
mod interrupt;
mod programs;
mod remove;

pub use files::{
    Place, copy_link, is_open_to_others, is_plain_folder, make_folder, new_file, open_regular, path_of, real_path, user,
};
pub use interrupt::{exit_at_once, expect_children, on_interrupt};
pub use programs::{find_program, is_executable};
pub use remove::remove_tree;
