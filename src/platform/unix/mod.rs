//! What Linux and macOS share: removing a tree, finding a program, interrupts; and a lane, with the supervisor at its
//! other end. What a supervisor knows of its job's processes is each system's own.

mod apart;
pub mod capture;
mod files;
mod interrupt;
pub mod lane;
mod lane_folder;
mod limits;
// For macOS; what is pure of it is tested everywhere.
#[cfg(any(target_os = "macos", test))]
pub mod lineage;
mod list;
mod plants;
#[cfg(any(target_os = "macos", test))]
pub mod procargs;
mod programs;
mod remove;
mod stubs;
pub mod supervisor;
mod volume;
pub mod waiting;
pub mod wire;

pub use apart::set_apart;
pub use files::{
    HAS_CODE_PAGES, Place, copy_link, is_open_to_others, is_own, is_plain_folder, link_folder, make_executable,
    make_folder, new_file, of_code_page, open_regular, path_of, real_path, user, user_and_group,
};
pub use interrupt::{exit_at_once, expect_children, interrupt, on_interrupt};
pub use limits::limits;
pub use list::list_tree;
pub use plants::{cannot_plant, forget_helper, identity, put, start_helper};
pub use programs::{find_program, is_executable, is_marked_executable, passed_over, run_through};
pub use remove::remove_tree;
pub use stubs::{become_program, make_open, make_stub, stub_of};
pub use volume::Volume;
