//! Which system calls are asked about, and the filter that says so to the kernel.

use libc::sock_filter;

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
    /// It renames; with `exchange` each of the two gets the other's name.
    Rename { from: Place, to: Place, exchange: bool },
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

/// The numbers of a system's calls.
struct Numbering {
    /// What the kernel calls it in a notification.
    arch: u32,
    /// Bits that tell two numberings of one name apart, and are no part of the number.
    ignored: u32,
    rmdir: Option<u32>,
    unlink: Option<u32>,
    unlinkat: u32,
    rename: Option<u32>,
    renameat: u32,
    renameat2: u32,
}

/// A 64-bit kernel runs 32-bit programs, too, so all that a processor could run is there. Their arguments are in the same
/// places.
const NUMBERINGS: [Numbering; 4] = [
    // x86_64, and its x32, whose numbers have a bit more.
    Numbering {
        arch: 0xC000_003E,
        ignored: 0x4000_0000,
        rmdir: Some(84),
        unlink: Some(87),
        unlinkat: 263,
        rename: Some(82),
        renameat: 264,
        renameat2: 316,
    },
    // i386, also by `int 0x80` in a 64-bit program.
    Numbering {
        arch: 0x4000_0003,
        ignored: 0,
        rmdir: Some(40),
        unlink: Some(10),
        unlinkat: 301,
        rename: Some(38),
        renameat: 302,
        renameat2: 353,
    },
    // aarch64.
    Numbering {
        arch: 0xC000_00B7,
        ignored: 0,
        rmdir: None,
        unlink: None,
        unlinkat: 35,
        rename: None,
        renameat: 38,
        renameat2: 276,
    },
    // arm.
    Numbering {
        arch: 0x4000_0028,
        ignored: 0,
        rmdir: Some(40),
        unlink: Some(10),
        unlinkat: 328,
        rename: Some(38),
        renameat: 329,
        renameat2: 382,
    },
];

/// The same everywhere. What goes through its rings is seen by no filter, so programs are told that there is none; they
/// all can do without.
pub const IO_URING_SETUP: u32 = 425;

/// The call that a notification is about.
pub fn call(arch: u32, number: i32, args: &[u64; 6]) -> Option<Call> {
    let numbering = NUMBERINGS.iter().find(|numbering| numbering.arch == arch)?;
    let number = number.cast_unsigned() & !numbering.ignored;
    let place = |folder: usize, path: usize| Place::at(args, folder, path);
    let here = |path: usize| Place { folder: libc::AT_FDCWD, path: args[path] };
    let (name, kind) = match Some(number) {
        n if n == numbering.rmdir => ("rmdir", Kind::Rmdir(here(0))),
        n if n == numbering.unlink => ("unlink", Kind::Unlink(here(0))),
        n if n == numbering.rename => ("rename", Kind::Rename { from: here(0), to: here(1), exchange: false }),
        Some(n) if n == numbering.unlinkat && args[2] & REMOVE_DIR != 0 => ("unlinkat", Kind::Rmdir(place(0, 1))),
        Some(n) if n == numbering.unlinkat => ("unlinkat", Kind::Unlink(place(0, 1))),
        Some(n) if n == numbering.renameat => {
            ("renameat", Kind::Rename { from: place(0, 1), to: place(2, 3), exchange: false })
        }
        Some(n) if n == numbering.renameat2 => {
            let exchange = args[4] & u64::from(libc::RENAME_EXCHANGE) != 0;
            ("renameat2", Kind::Rename { from: place(0, 1), to: place(2, 3), exchange })
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

/// Where the kernel's `struct seccomp_data` has the number, the numbering, and the low half of the third argument, on
/// machines that have the low half first, as all above do.
pub const NUMBER: u32 = 0;
pub const ARCH: u32 = 4;
pub const THIRD: u32 = 16 + 2 * 8;

/// `BPF_LD | BPF_W | BPF_ABS`: take a word of the call's data.
pub const LOAD: u16 = 0x20;
/// `BPF_ALU | BPF_AND | BPF_K`.
pub const AND: u16 = 0x54;
/// `BPF_JMP | BPF_JEQ | BPF_K`.
pub const IS: u16 = 0x15;
/// `BPF_JMP | BPF_JSET | BPF_K`.
pub const HAS: u16 = 0x45;
/// `BPF_RET | BPF_K`.
pub const RETURN: u16 = 0x06;

pub const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
pub const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
pub const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();

/// The filter. Without `files`, what removes no directory is not asked about, `unlinkat` neither.
pub fn program(files: bool) -> Vec<sock_filter> {
    let plain = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    // Goes on if so, and otherwise skips that many.
    let unless = |code, k, skip| sock_filter { code, jt: 0, jf: skip, k };
    let mut program = Vec::new();
    for numbering in &NUMBERINGS {
        let mut block = vec![plain(LOAD, NUMBER)];
        if numbering.ignored != 0 {
            block.push(plain(AND, !numbering.ignored));
        }
        let directories = [numbering.rmdir, numbering.rename, Some(numbering.renameat), Some(numbering.renameat2)];
        let also = if files { [numbering.unlink, Some(numbering.unlinkat)] } else { [None, None] };
        for number in directories.into_iter().chain(also).flatten() {
            block.extend([unless(IS, number, 1), plain(RETURN, ASK)]);
        }
        block.extend([unless(IS, IO_URING_SETUP, 1), plain(RETURN, NO_SUCH_CALL)]);
        block.extend([unless(IS, numbering.unlinkat, 3), plain(LOAD, THIRD)]);
        block.extend([unless(HAS, libc::AT_REMOVEDIR.cast_unsigned(), 1), plain(RETURN, ASK)]);
        block.push(plain(RETURN, ALLOW));
        let length = u8::try_from(block.len()).expect("a block is short");
        program.extend([plain(LOAD, ARCH), unless(IS, numbering.arch, length)]);
        program.append(&mut block);
    }
    program.push(plain(RETURN, ALLOW));
    program
}

/// What the kernel would make of a call with that in these places.
#[cfg(test)]
pub fn interpret(program: &[sock_filter], call: &[(u32, u32)]) -> u32 {
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let step = program[at];
        at += 1;
        match step.code {
            LOAD => accumulator = call.iter().find(|(k, _)| *k == step.k).expect("a place").1,
            AND => accumulator &= step.k,
            IS => at += usize::from(if accumulator == step.k { step.jt } else { step.jf }),
            HAS => at += usize::from(if accumulator & step.k != 0 { step.jt } else { step.jf }),
            RETURN => return step.k,
            code => panic!("{code:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86_64: u32 = 0xC000_003E;
    const I386: u32 = 0x4000_0003;
    const AARCH64: u32 = 0xC000_00B7;

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
        let rename = |name, exchange| Call {
            name,
            kind: Kind::Rename { from: there(3, 0x1000), to: there(5, 0x2000), exchange },
        };
        assert_eq!(call(X86_64, 316, &args), Some(rename("renameat2", true)));
        assert_eq!(call(AARCH64, 38, &args), Some(rename("renameat", false)));
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
