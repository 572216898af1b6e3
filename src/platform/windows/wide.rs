//! Text as the system's functions take and give it: UTF-16.

use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt;

/// With the zero that ends it.
#[must_use]
pub fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// Up to the first zero. What is no Unicode is shown by a sign.
#[must_use]
pub fn text(units: &[u16]) -> String {
    let end = units.iter().position(|&unit| unit == 0).unwrap_or(units.len());
    String::from_utf16_lossy(&units[..end])
}
