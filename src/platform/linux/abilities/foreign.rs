//! Programs of the processor's other numberings of system calls: whether the kernel runs them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::model::Ability;

/// A numbering, the machine that an ELF header names for it, and code that ends a program with status 0.
type Numbering = (&'static str, u16, &'static [u8]);

#[cfg(target_arch = "x86_64")]
const OTHERS: &[Numbering] = &[
    // mov eax, 1; xor ebx, ebx; int 0x80
    ("i386", 3, &[0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80]),
    // mov eax, 0x4000003c; xor edi, edi; syscall
    ("x32", 62, &[0xb8, 0x3c, 0, 0, 0x40, 0x31, 0xff, 0x0f, 0x05]),
];

#[cfg(target_arch = "aarch64")]
const OTHERS: &[Numbering] = &[
    // mov r7, #1; mov r0, #0; svc 0
    ("arm", 40, &[1, 0x70, 0xa0, 0xe3, 0, 0, 0xa0, 0xe3, 0, 0, 0, 0xef]),
];

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OTHERS: &[Numbering] = &[];

/// Where the program is in memory.
const ADDRESS: u32 = 0x0040_0000;
/// How long its headers are: the file's, and that of its one part.
const HEADERS: u16 = 52 + 32;

/// A whole 32-bit ELF file.
fn program(machine: u16, code: &[u8]) -> Vec<u8> {
    let length = u32::from(HEADERS) + u32::try_from(code.len()).unwrap_or(u32::MAX);
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let halves = |values: &[u16]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let words = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    // Executable, the machine; version 1, the entry, where the part's header is; no sections, no flags.
    file.extend(halves(&[2, machine]));
    file.extend(words(&[1, ADDRESS + u32::from(HEADERS), 52, 0, 0]));
    file.extend(halves(&[52, 32, 1, 0, 0, 0]));
    // To be loaded: all of the file, to be read and executed.
    file.extend(words(&[1, 0, ADDRESS, ADDRESS, length, length, 5, 0x1000]));
    file.extend(code);
    file
}

/// Tries each.
pub fn ability(base: &Path) -> Ability {
    let name = "other numberings";
    let Ok(folder) = tempfile::Builder::new().prefix("hp-try-").tempdir_in(base) else {
        return Ability::no(name, "not tried: the temporary folder takes no file");
    };
    let runs = |&(numbering, machine, code): &Numbering| {
        let file = folder.path().join(numbering);
        fs::write(&file, program(machine, code)).ok()?;
        fs::set_permissions(&file, Permissions::from_mode(0o700)).ok()?;
        let mut command = Command::new(&file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().ok().filter(std::process::ExitStatus::success)?;
        Some(numbering)
    };
    let run: Vec<&str> = OTHERS.iter().filter_map(runs).collect();
    if run.is_empty() {
        Ability::yes(name, "the kernel runs programs of one numbering of system calls alone")
    } else {
        Ability::yes(
            name,
            format!("programs of {} run here, too, and Windows' rules know their calls", run.join(" and ")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_as_long_as_its_headers_say() {
        let file = program(3, &[0x90; 9]);
        assert_eq!(file.len(), usize::from(HEADERS) + 9);
        assert_eq!(file[68..72], 93u32.to_le_bytes(), "the part's length in the file");
        assert_eq!(file[24..28], 0x0040_0054u32.to_le_bytes(), "the code begins behind the headers");
    }
}
