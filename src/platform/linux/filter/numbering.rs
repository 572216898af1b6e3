//! The kernel's numberings of its calls, and what filters are made of: a part that asks about some calls in each of them.

use libc::sock_filter;

/// The numbers of a system's calls; `None` for one that it has not.
pub struct Numbering {
    /// What the kernel calls it in a notification.
    pub arch: u32,
    /// Bits that tell two numberings of one name apart, and are no part of the number.
    ignored: u32,
    pub open: Option<u32>,
    pub creat: Option<u32>,
    pub openat: u32,
    /// All that write to a descriptor, their first argument; `sendfile` among them.
    pub write: &'static [u32],
    /// Those that copy to a descriptor, their third argument: `copy_file_range` and `splice`.
    pub copy: [u32; 2],
    pub link: Option<u32>,
    pub linkat: u32,
    pub symlink: Option<u32>,
    pub symlinkat: u32,
    pub rename: Option<u32>,
    pub renameat: u32,
    pub renameat2: u32,
    pub mkdir: Option<u32>,
    pub mkdirat: u32,
    pub mknod: Option<u32>,
    pub mknodat: u32,
    pub rmdir: Option<u32>,
    pub unlink: Option<u32>,
    pub unlinkat: u32,
    pub bind: u32,
    pub flock: u32,
    pub shmget: u32,
    pub semget: u32,
    pub msgget: u32,
    pub kill: u32,
    /// `rt_sigqueueinfo`, which `sigqueue` calls.
    pub queue: u32,
    /// What changes a file of a path without opening it: its length, mode, owner, times or extended attributes.
    pub change: &'static [u32],
    /// The same from a folder.
    pub change_at: &'static [u32],
}

/// The same everywhere.
pub const OPENAT2: u32 = 437;
pub const PIDFD_SEND_SIGNAL: u32 = 424;
/// What goes through its rings is seen by no filter, so programs are told that there is none; they all can do without.
pub const IO_URING_SETUP: u32 = 425;

/// A 64-bit kernel runs 32-bit programs, too, so all that a processor could run is there. Their arguments are in the same
/// places.
pub const NUMBERINGS: [Numbering; 4] = [
    // x86_64, and its x32, whose numbers have a bit more; the last three of those that write are x32's.
    Numbering {
        arch: 0xC000_003E,
        ignored: 0x4000_0000,
        open: Some(2),
        creat: Some(85),
        openat: 257,
        write: &[1, 18, 20, 40, 296, 328, 516, 535, 547],
        copy: [326, 275],
        link: Some(86),
        linkat: 265,
        symlink: Some(88),
        symlinkat: 266,
        rename: Some(82),
        renameat: 264,
        renameat2: 316,
        mkdir: Some(83),
        mkdirat: 258,
        mknod: Some(133),
        mknodat: 259,
        rmdir: Some(84),
        unlink: Some(87),
        unlinkat: 263,
        bind: 49,
        flock: 73,
        shmget: 29,
        semget: 64,
        msgget: 68,
        kill: 62,
        queue: 129,
        change: &[76, 90, 92, 94, 132, 188, 189, 197, 198, 235],
        change_at: &[260, 261, 268, 280, 452],
    },
    // i386, also by `int 0x80` in a 64-bit program.
    Numbering {
        arch: 0x4000_0003,
        ignored: 0,
        open: Some(5),
        creat: Some(8),
        openat: 295,
        write: &[4, 146, 181, 187, 239, 334, 379],
        copy: [377, 313],
        link: Some(9),
        linkat: 303,
        symlink: Some(83),
        symlinkat: 304,
        rename: Some(38),
        renameat: 302,
        renameat2: 353,
        mkdir: Some(39),
        mkdirat: 296,
        mknod: Some(14),
        mknodat: 297,
        rmdir: Some(40),
        unlink: Some(10),
        unlinkat: 301,
        bind: 361,
        flock: 143,
        shmget: 395,
        semget: 393,
        msgget: 399,
        kill: 37,
        queue: 178,
        change: &[15, 16, 30, 92, 182, 193, 198, 212, 226, 227, 235, 236, 271],
        change_at: &[298, 299, 306, 320, 412, 452],
    },
    // aarch64.
    Numbering {
        arch: 0xC000_00B7,
        ignored: 0,
        open: None,
        creat: None,
        openat: 56,
        write: &[64, 66, 68, 70, 71, 287],
        copy: [285, 76],
        link: None,
        linkat: 37,
        symlink: None,
        symlinkat: 36,
        rename: None,
        renameat: 38,
        renameat2: 276,
        mkdir: None,
        mkdirat: 34,
        mknod: None,
        mknodat: 33,
        rmdir: None,
        unlink: None,
        unlinkat: 35,
        bind: 200,
        flock: 32,
        shmget: 194,
        semget: 190,
        msgget: 186,
        kill: 129,
        queue: 138,
        change: &[5, 6, 14, 15, 45],
        change_at: &[53, 54, 88, 452],
    },
    // arm.
    Numbering {
        arch: 0x4000_0028,
        ignored: 0,
        open: Some(5),
        creat: Some(8),
        openat: 322,
        write: &[4, 146, 181, 187, 239, 362, 393],
        copy: [391, 340],
        link: Some(9),
        linkat: 330,
        symlink: Some(83),
        symlinkat: 331,
        rename: Some(38),
        renameat: 329,
        renameat2: 382,
        mkdir: Some(39),
        mkdirat: 323,
        mknod: Some(14),
        mknodat: 324,
        rmdir: Some(40),
        unlink: Some(10),
        unlinkat: 328,
        bind: 282,
        flock: 143,
        shmget: 307,
        semget: 299,
        msgget: 303,
        kill: 37,
        queue: 178,
        change: &[15, 16, 92, 182, 193, 198, 212, 226, 227, 235, 236, 269],
        change_at: &[325, 326, 333, 348, 412, 452],
    },
];

/// The numbering of a notification, and the number in it.
pub fn numbering(arch: u32, number: i32) -> Option<(&'static Numbering, u32)> {
    let numbering = NUMBERINGS.iter().find(|numbering| numbering.arch == arch)?;
    Some((numbering, number.cast_unsigned() & !numbering.ignored))
}

/// Where the kernel's `struct seccomp_data` has the number, the numbering, and the low halves of arguments, on machines that
/// have the low half first, as all above do.
pub const NUMBER: u32 = 0;
pub const ARCH: u32 = 4;
pub const SECOND: u32 = 16 + 8;
pub const THIRD: u32 = 16 + 2 * 8;
pub const SIXTH: u32 = 16 + 5 * 8;

/// `BPF_LD | BPF_W | BPF_ABS`: take a word of the call's data.
pub const LOAD: u16 = 0x20;
/// `BPF_ALU | BPF_AND | BPF_K`.
const AND: u16 = 0x54;
/// `BPF_JMP | BPF_JEQ | BPF_K`.
pub const IS: u16 = 0x15;
/// `BPF_JMP | BPF_JSET | BPF_K`.
pub const HAS: u16 = 0x45;
/// `BPF_RET | BPF_K`.
pub const RETURN: u16 = 0x06;

pub const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
pub const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
pub const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();

/// A step that goes on with the next.
pub fn plain(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Goes on if so, and otherwise skips that many steps.
pub fn unless(code: u16, k: u32, skip: u8) -> sock_filter {
    sock_filter { code, jt: 0, jf: skip, k }
}

impl Numbering {
    /// The steps that take the number.
    pub fn load(&self) -> Vec<sock_filter> {
        let mut steps = vec![plain(LOAD, NUMBER)];
        if self.ignored != 0 {
            steps.push(plain(AND, !self.ignored));
        }
        steps
    }
}

/// A part of a filter: in each numbering it asks about these calls, then there are the steps of `more`, which begin with the
/// number taken, and what is left goes on behind it.
pub fn section(
    asked: impl Fn(&Numbering) -> Vec<u32>,
    more: impl Fn(&Numbering) -> Vec<sock_filter>,
) -> Vec<sock_filter> {
    let mut section = Vec::new();
    for numbering in &NUMBERINGS {
        let mut block = numbering.load();
        for number in asked(numbering) {
            block.extend([unless(IS, number, 1), plain(RETURN, ASK)]);
        }
        block.extend([unless(IS, IO_URING_SETUP, 1), plain(RETURN, NO_SUCH_CALL)]);
        block.append(&mut more(numbering));
        let length = u8::try_from(block.len()).expect("a block is short");
        section.extend([plain(LOAD, ARCH), unless(IS, numbering.arch, length)]);
        section.append(&mut block);
    }
    section
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

/// Names of numberings, for tests.
#[cfg(test)]
pub const X86_64: u32 = 0xC000_003E;
#[cfg(test)]
pub const I386: u32 = 0x4000_0003;
#[cfg(test)]
pub const AARCH64: u32 = 0xC000_00B7;
