//! What is mounted where, in a process's own view.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The mount points of a process's namespace that lie in one of the folders.
pub fn in_roots(pid: u32, roots: &[PathBuf]) -> Vec<PathBuf> {
    let Ok(text) = fs::read(format!("/proc/{pid}/mountinfo")) else { return Vec::new() };
    text.split(|&byte| byte == b'\n')
        .filter_map(|line| line.split(|&byte| byte == b' ').nth(4))
        .map(|point| PathBuf::from(unescaped(point)))
        .filter(|point| roots.iter().any(|root| point.starts_with(root)))
        .collect()
}

/// Whether a process sees other mounts than this one does.
pub fn is_elsewhere(pid: u32) -> bool {
    match (fs::read_link("/proc/self/ns/mnt"), fs::read_link(format!("/proc/{pid}/ns/mnt"))) {
        (Ok(mine), Ok(its)) => mine != its,
        _ => false,
    }
}

/// A path of mountinfo: blank, tab, line feed and backslash are written as three octal digits.
fn unescaped(text: &[u8]) -> OsString {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = (byte == b'\\').then(|| after.get(..3)).flatten();
        let value = octal.and_then(|digits| u8::from_str_radix(OsStr::from_bytes(digits).to_str()?, 8).ok());
        if let Some(value) = value {
            path.push(value);
            rest = &after[3..];
        } else {
            path.push(byte);
            rest = after;
        }
    }
    OsString::from_vec(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_paths_are_read_back() {
        assert_eq!(unescaped(br"/a\040b\134c"), "/a b\\c");
        assert_eq!(unescaped(br"/plain\0"), "/plain\\0");
    }
}
