//! SHA-256 in hexadecimal, as receipts have it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// How long it is.
pub const LENGTH: usize = 64;

/// Of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Whether a text is of such digits, and as long as one of these.
#[must_use]
pub fn is_hex(text: &str, lengths: &[usize]) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    lengths.contains(&text.len()) && text.bytes().all(is_digit)
}
