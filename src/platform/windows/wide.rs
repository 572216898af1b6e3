//! Text as the system's functions take and give it: UTF-16.

use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt;

use windows_sys::Win32::Foundation::UNICODE_STRING;

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

/// A text that the kernel wrote into a buffer, and its description before it.
#[must_use]
pub fn told_in(buffer: &[u64], text: &UNICODE_STRING) -> Option<String> {
    let at = (text.Buffer as usize).checked_sub(buffer.as_ptr() as usize)?;
    let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_le_bytes()).collect();
    let units = bytes.get(at..at + usize::from(text.Length))?.chunks_exact(2);
    Some(String::from_utf16_lossy(&units.map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect::<Vec<_>>()))
}
