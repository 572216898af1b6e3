//! How much a manifest may be. All of it is far beyond what a person writes, and small enough to be answered at once.

/// The most bytes of a file.
pub const MAX_BYTES: u64 = 1 << 20;

/// How deep lists and maps may be nested. It also bounds every recursion over the tree, its destructor's included.
pub const MAX_DEPTH: usize = 16;

/// The most values in one file, keys not counted.
pub const MAX_NODES: usize = 20_000;

/// The most problems that are told of one file.
pub const MAX_PROBLEMS: usize = 100;
