//! How much is read of what others wrote. All of it is far beyond what a person writes.

/// The most bytes of a settings file or a script.
pub const MAX_BYTES: u64 = 1 << 20;

/// How deep lists and maps may be nested. It also bounds every recursion over the tree, its destructor's included.
pub const MAX_DEPTH: usize = 64;

/// The most values in one file.
pub const MAX_VALUES: usize = 50_000;

/// The most commands that are told of one file.
pub const MAX_WIRINGS: usize = 2_000;

/// The longest command that is taken apart, in bytes.
pub const MAX_COMMAND: usize = 64 << 10;

/// How deep commands in commands are followed: `bash -c "sh -c '…'"`.
pub const MAX_NESTING: usize = 4;
