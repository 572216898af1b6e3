//! What a process was started with, as `sysctl` tells it for `KERN_PROCARGS2` (XNU, `bsd/kern/kern_sysctl.c`): the number
//! of arguments, the program's path, zeros up to a whole word, the arguments, the environment.
//!
//! The environment of a program that System Integrity Protection restricts, which all of Apple's own are, is left out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The parts of such a text.
#[derive(Debug, PartialEq, Eq)]
pub struct ProcArgs<'a> {
    /// The path that was executed, as it was given: perhaps relative, perhaps by links.
    pub program: &'a Path,
    pub argv: Vec<&'a [u8]>,
    /// What follows, each part with a zero behind it: the environment, and what the kernel has for the loader.
    rest: &'a [u8],
}

impl<'a> ProcArgs<'a> {
    /// Takes them apart. `None` if it is no such text. A first argument that is empty can't be told from the zeros before
    /// it.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (count, bytes) = bytes.split_first_chunk()?;
        let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
        let (program, mut rest) = string(bytes)?;
        while let Some(after) = rest.strip_prefix(b"\0") {
            rest = after;
        }
        let mut argv = Vec::new();
        for _ in 0..count {
            let (argument, after) = string(rest)?;
            argv.push(argument);
            rest = after;
        }
        Some(Self { program: Path::new(OsStr::from_bytes(program)), argv, rest })
    }

    /// The value of a variable. `None` if it has none, or if the environment was left out.
    pub fn variable(&self, name: &str) -> Option<&'a [u8]> {
        let value = |part: &'a [u8]| part.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
        self.rest.split(|&byte| byte == 0).find_map(value)
    }
}

/// Up to the next zero, and what is behind that.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(count: i32, rest: &[u8]) -> Vec<u8> {
        [&count.to_ne_bytes()[..], rest].concat()
    }

    #[test]
    fn program_arguments_and_variables_are_told_apart() {
        let bytes = text(3, b"/bin/x\0\0\0\0x\0\0A=1\0A=1\0B=\0AB=2\0\0ptr=0x1\0");
        let parsed = ProcArgs::parse(&bytes).expect("a whole text");
        assert_eq!(parsed.program, Path::new("/bin/x"));
        assert_eq!(parsed.argv, [&b"x"[..], b"", b"A=1"]);
        let variable = |name| parsed.variable(name);
        assert_eq!((variable("A"), variable("B"), variable("AB")), (Some(&b"1"[..]), Some(&b""[..]), Some(&b"2"[..])));
        assert_eq!((variable("C"), variable("x")), (None, None));
    }

    #[test]
    fn without_an_environment_there_is_no_variable() {
        let bytes = text(2, b"/bin/sleep\0\0sleep\0A=1\0");
        let parsed = ProcArgs::parse(&bytes).expect("a whole text");
        assert_eq!((parsed.argv.len(), parsed.variable("A")), (2, None));
    }

    #[test]
    fn what_is_cut_off_is_no_text() {
        for bytes in [&b""[..], b"\x01\0", &text(1, b"/bin/x"), &text(2, b"/bin/x\0\0x\0"), &text(-1, b"/bin/x\0x\0")] {
            assert_eq!(ProcArgs::parse(bytes), None, "{bytes:?}");
        }
        assert_eq!(ProcArgs::parse(&text(0, b"/bin/x\0")).map(|parsed| parsed.argv.len()), Some(0));
    }
}
