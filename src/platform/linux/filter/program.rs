//! Which system calls are asked about, and the filter that says so to the kernel.

use libc::sock_filter;

use super::numbering::{ALLOW, ASK, HAS, IS, LOAD, Numbering, RETURN, THIRD, numbering, plain, section, unless};

/// A call that is asked about: what it is named, and which of its arguments say what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub name: &'static str,
    pub kind: Kind,
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It removes a directory.
    Rmdir(Place),
    /// It removes anything else.
    Unlink(Place),
    /// It renames.
    Rename { from: Place, to: Place, onto: Onto },
}

/// What becomes of what a rename finds at its new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onto {
    /// Its place is taken.
    Replaced,
    /// It gets the other's name.
    Exchanged,
    /// Nothing may be there, or the rename fails by itself.
    Nothing,
}

/// Where a call says that something is: a path in the caller's memory, relative to a descriptor of its.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub folder: i32,
    pub path: u64,
}

impl Place {
    /// Of a path and the descriptor before it, by their places among the arguments.
    pub fn at(args: &[u64; 6], folder: usize, path: usize) -> Self {
        // Descriptors are ints, whatever else is in the register.
        Self { folder: low_half(args[folder]), path: args[path] }
    }
}

/// The call that a notification is about.
pub fn call(arch: u32, number: i32, args: &[u64; 6]) -> Option<Call> {
    let (numbering, number) = numbering(arch, number)?;
    let place = |folder: usize, path: usize| Place::at(args, folder, path);
    let here = |path: usize| Place { folder: libc::AT_FDCWD, path: args[path] };
    let (name, kind) = match Some(number) {
        n if n == numbering.rmdir => ("rmdir", Kind::Rmdir(here(0))),
        n if n == numbering.unlink => ("unlink", Kind::Unlink(here(0))),
        n if n == numbering.rename => ("rename", Kind::Rename { from: here(0), to: here(1), onto: Onto::Replaced }),
        Some(n) if n == numbering.unlinkat && args[2] & REMOVE_DIR != 0 => ("unlinkat", Kind::Rmdir(place(0, 1))),
        Some(n) if n == numbering.unlinkat => ("unlinkat", Kind::Unlink(place(0, 1))),
        Some(n) if n == numbering.renameat => {
            ("renameat", Kind::Rename { from: place(0, 1), to: place(2, 3), onto: Onto::Replaced })
        }
        Some(n) if n == numbering.renameat2 => {
            let has = |flag| args[4] & u64::from(flag) != 0;
            let onto = match () {
                () if has(libc::RENAME_EXCHANGE) => Onto::Exchanged,
                () if has(libc::RENAME_NOREPLACE) => Onto::Nothing,
                () => Onto::Replaced,
            };
            ("renameat2", Kind::Rename { from: place(0, 1), to: place(2, 3), onto })
        }
        _ => return None,
    };
    Some(Call { name, kind })
}

/// The half of a register that an int is in.
fn low_half(register: u64) -> i32 {
    let [a, b, c, d, ..] = register.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

const REMOVE_DIR: u64 = libc::AT_REMOVEDIR as u64;

/// The filter. Without `files`, what removes no directory is not asked about, `unlinkat` neither.
pub fn program(files: bool) -> Vec<sock_filter> {
    let asked = |numbering: &Numbering| {
        let directories =
            [numbering.rmdir, numbering.rename, Some(numbering.renameat), Some(numbering.renameat2)].into_iter();
        let also = if files { [numbering.unlink, Some(numbering.unlinkat)] } else { [None, None] };
        directories.chain(also).flatten().collect()
    };
    let more = |numbering: &Numbering| {
        vec![
            unless(IS, numbering.unlinkat, 3),
            plain(LOAD, THIRD),
            unless(HAS, libc::AT_REMOVEDIR.cast_unsigned(), 1),
            plain(RETURN, ASK),
            plain(RETURN, ALLOW),
        ]
    };
    let mut program = section(asked, more);
    program.push(plain(RETURN, ALLOW));
    program
}

#[cfg(test)]
mod tests {
    use super::super::numbering::{AARCH64, ARCH, I386, IO_URING_SETUP, NO_SUCH_CALL, NUMBER, X86_64, interpret};
    use super::*;

    /// What the kernel would make of a call.
    fn run(files: bool, arch: u32, number: u32, third: u32) -> u32 {
        interpret(&program(files), &[(NUMBER, number), (ARCH, arch), (THIRD, third)])
    }

    #[test]
    fn removals_of_directories_and_renames_are_asked_about() {
        let remove_dir = libc::AT_REMOVEDIR.cast_unsigned();
        let rows = [
            (X86_64, 84, 0, ASK),
            (X86_64, 82, 0, ASK),
            (X86_64, 264, 0, ASK),
            (X86_64, 316, 0, ASK),
            (X86_64, 263, remove_dir, ASK),
            (X86_64, 0, 0, ALLOW),
            (X86_64, IO_URING_SETUP, 0, NO_SUCH_CALL),
            (X86_64, 0x4000_0054, 0, ASK),
            (I386, 40, 0, ASK),
            (I386, 38, 0, ASK),
            (I386, 301, remove_dir, ASK),
            (I386, 84, 0, ALLOW),
            (AARCH64, 35, remove_dir, ASK),
            (AARCH64, 276, 0, ASK),
            (AARCH64, 84, 0, ALLOW),
            (0x1234, 84, 0, ALLOW),
        ];
        for (arch, number, third, answer) in rows {
            for files in [true, false] {
                assert_eq!(run(files, arch, number, third), answer, "{arch:#x} {number}");
            }
        }
        for (arch, number) in
            [(X86_64, 87), (X86_64, 263), (X86_64, 0x4000_0057), (I386, 10), (I386, 301), (AARCH64, 35)]
        {
            assert_eq!(run(true, arch, number, 0), ASK, "{arch:#x} {number}");
            assert_eq!(run(false, arch, number, 0), ALLOW, "{arch:#x} {number}");
        }
    }

    #[test]
    fn what_is_asked_about_is_understood() {
        let args = [3, 0x1000, 5, 0x2000, 2, 0];
        let there = |folder, path| Place { folder, path };
        let rename =
            |name, onto| Call { name, kind: Kind::Rename { from: there(3, 0x1000), to: there(5, 0x2000), onto } };
        assert_eq!(call(X86_64, 316, &args), Some(rename("renameat2", Onto::Exchanged)));
        let no_replace = [3, 0x1000, 5, 0x2000, 1, 0];
        assert_eq!(call(X86_64, 316, &no_replace), Some(rename("renameat2", Onto::Nothing)));
        assert_eq!(call(AARCH64, 38, &args), Some(rename("renameat", Onto::Replaced)));
        let here = Place { folder: libc::AT_FDCWD, path: 3 };
        assert_eq!(call(I386, 40, &args), Some(Call { name: "rmdir", kind: Kind::Rmdir(here) }));
        assert_eq!(call(X86_64, 0x4000_0054, &args).map(|call| call.name), Some("rmdir"));
        let minus_100 = [u64::from(libc::AT_FDCWD.cast_unsigned()), 7, REMOVE_DIR, 0, 0, 0];
        assert_eq!(
            call(X86_64, 263, &minus_100),
            Some(Call { name: "unlinkat", kind: Kind::Rmdir(there(libc::AT_FDCWD, 7)) })
        );
        let file = Kind::Unlink(there(3, 0x1000));
        let args = [3, 0x1000, 0, 0, 0, 0];
        assert_eq!(call(X86_64, 263, &args), Some(Call { name: "unlinkat", kind: file }));
        let here = Place { folder: libc::AT_FDCWD, path: 3 };
        assert_eq!(call(I386, 10, &args), Some(Call { name: "unlink", kind: Kind::Unlink(here) }));
    }
}
