//! What Linux and macOS share: removing a tree, finding a program, interrupts.

mod files;
mod interrupt;
mod programs;
mod remove;

pub use files::{
    HAS_CODE_PAGES, Place, copy_link, is_open_to_others, is_plain_folder, make_folder, new_file, of_code_page,
    open_regular, path_of, real_path, user,
};
pub use interrupt::{exit_at_once, expect_children, on_interrupt};
pub use programs::{find_program, is_executable, passed_over, run_through};
pub use remove::remove_tree;
