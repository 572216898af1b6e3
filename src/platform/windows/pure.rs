//! What of Windows' side knows only text, for its tests on other systems.

#![expect(dead_code, reason = "each is used where the rest is")]

mod command_line;
mod paths;
mod quote;
