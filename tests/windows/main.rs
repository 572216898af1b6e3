//! What a user does with hostproof on Windows, with real processes.
#![cfg(windows)]
