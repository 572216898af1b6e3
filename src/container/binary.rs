//! The program that runs inside: hostproof itself, for Linux and the image's processor, without any library.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::env;
use crate::error::{Error, Result};
use crate::platform;

/// What a file is, as far as it matters whether an image can run it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Program {
    /// For Linux and that processor, with all that it needs.
    Static(&'static str),
    /// It wants a loader that few images have at that place.
    Dynamic,
    /// Not in the form of Linux, or for a processor that is not known.
    Other,
}

/// Processors by their number in a program, by the names of engines and of Rust.
const PROCESSORS: [(u16, &str, &str); 5] = [
    (0x3e, "amd64", "x86_64"),
    (0xb7, "arm64", "aarch64"),
    (0xf3, "riscv64", "riscv64gc"),
    (0x15, "ppc64le", "powerpc64le"),
    (0x102, "loong64", "loongarch64"),
];

/// Finds it: the file that is named, by `--binary` or `HOSTPROOF_STATIC`; else this very program, or the one for the image
/// beside it, named as in a release (`hostproof-x86_64-unknown-linux-musl`).
///
/// # Errors
///
/// If the named one won't do, or there is none: with how to get one.
pub fn find(named: Option<&Path>, image: &str, architecture: &str) -> Result<PathBuf> {
    let variable = env::raw("HOSTPROOF_STATIC").filter(|file| !file.is_empty()).map(PathBuf::from);
    let named = named.map(|file| (file.to_owned(), "--binary"));
    if let Some((file, by)) = named.or_else(|| variable.map(|file| (file, "HOSTPROOF_STATIC"))) {
        let why = match program(&file) {
            Ok(Program::Static(its)) if its == architecture => return absolute(&file),
            Ok(Program::Static(its)) => format!("is for {its}, and image {image} for {architecture}"),
            Ok(Program::Dynamic) => "needs libraries that an image may not have: it must be static".to_owned(),
            Ok(Program::Other) => "is no program for Linux".to_owned(),
            Err(error) => format!("can't be read: {error}"),
        };
        let file = file.display();
        return Err(Error::Usage(format!("{by} names {file}, which {why}\nhelp: {}", remedy(architecture))));
    }
    let own =
        std::env::current_exe().map_err(|error| Error::Unmeasured(format!("cannot find hostproof itself: {error}")))?;
    let own = fs::canonicalize(&own).unwrap_or(own);
    let beside = rust_name(architecture).map(|name| own.with_file_name(format!("hostproof-{name}-unknown-linux-musl")));
    let found = [Some(own), beside].into_iter().flatten().find(|file| {
        program(file).is_ok_and(|program| program == Program::Static(known(architecture).unwrap_or_default()))
    });
    found.ok_or_else(|| {
        Error::Usage(format!(
            "this hostproof can't run in image {image}, which wants a static program for linux/{architecture}\nhelp: {}",
            remedy(architecture)
        ))
    })
}

fn known(architecture: &str) -> Option<&'static str> {
    PROCESSORS.iter().map(|(_, name, _)| *name).find(|name| *name == architecture)
}

fn rust_name(architecture: &str) -> Option<&'static str> {
    PROCESSORS.iter().find(|(_, name, _)| *name == architecture).map(|(.., rust)| *rust)
}

fn remedy(architecture: &str) -> String {
    let target = rust_name(architecture).unwrap_or(architecture);
    format!(
        "take hostproof-…-{target}-unknown-linux-musl from the release, or build it with `cargo build --release --target \
         {target}-unknown-linux-musl`, and name it: --binary FILE, or HOSTPROOF_STATIC=FILE"
    )
}

fn absolute(file: &Path) -> Result<PathBuf> {
    fs::canonicalize(file).map_err(|error| Error::file("cannot open", file, error))
}

fn program(file: &Path) -> io::Result<Program> {
    use std::io::Read;
    // The headers come first, in all that linkers make.
    let mut head = Vec::new();
    platform::open_regular(&fs::canonicalize(file)?)?.take(64 * 1024).read_to_end(&mut head)?;
    Ok(elf(&head).unwrap_or(Program::Other))
}

/// Reads the headers of a program (ELF, 64 bits, the low byte first); `None` if they are none, or not whole.
fn elf(head: &[u8]) -> Option<Program> {
    const INTERPRETER: u32 = 3;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let two = |at: usize| Some(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?));
    let four = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let eight = |at: usize| Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?));
    let number = two(0x12)?;
    let (_, processor, _) = PROCESSORS.iter().find(|(known, ..)| *known == number)?;
    let (table, size, count) = (usize::try_from(eight(0x20)?).ok()?, usize::from(two(0x36)?), usize::from(two(0x38)?));
    for index in 0..count {
        if four(table.checked_add(size * index)?)? == INTERPRETER {
            return Some(Program::Dynamic);
        }
    }
    Some(Program::Static(processor))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headers of a program with one segment of that kind.
    fn head(processor: u8, segment: u8) -> Vec<u8> {
        let mut head = vec![0u8; 0x40 + 0x38];
        head[..6].copy_from_slice(b"\x7fELF\x02\x01");
        head[0x12] = processor;
        head[0x20] = 0x40;
        head[0x36] = 0x38;
        head[0x38] = 1;
        head[0x40] = segment;
        head
    }

    #[test]
    fn a_program_with_a_loader_is_dynamic_and_its_processor_is_read() {
        assert_eq!(elf(&head(0x3e, 1)), Some(Program::Static("amd64")));
        assert_eq!(elf(&head(0xb7, 1)), Some(Program::Static("arm64")));
        assert_eq!(elf(&head(0x3e, 3)), Some(Program::Dynamic));
        assert_eq!(elf(&head(0x2a, 1)), None, "a processor that nobody knows");
        assert_eq!(elf(b"#!/bin/sh\n"), None);
        assert_eq!(elf(&head(0x3e, 1)[..0x40]), None, "half of it");
        assert_eq!(elf(b""), None);
    }

    #[test]
    fn what_will_not_do_is_named_with_what_would() {
        let script = tempfile::NamedTempFile::new().expect("a file");
        fs::write(script.path(), "#!/bin/sh\n").expect("a script");
        let error = find(Some(script.path()), "x:1", "arm64").expect_err("no program").to_string();
        assert!(error.contains("is no program for Linux") && error.contains("aarch64-unknown-linux-musl"), "{error}");
        fs::write(script.path(), head(0x3e, 3)).expect("a program");
        let error = find(Some(script.path()), "x:1", "amd64").expect_err("dynamic").to_string();
        assert!(error.contains("must be static"), "{error}");
        fs::write(script.path(), head(0x3e, 1)).expect("a program");
        let error = find(Some(script.path()), "x:1", "arm64").expect_err("another processor").to_string();
        assert!(error.contains("is for amd64, and image x:1 for arm64"), "{error}");
        assert!(find(Some(script.path()), "x:1", "amd64").is_ok());
    }
}
