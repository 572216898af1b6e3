//! What git has staged, by its index: read from the file, in which most changes are of no matter, since git keeps in it what
//! the files looked like.

use std::hash::{DefaultHasher, Hasher};

/// How long the name of an object is, and where an entry has it and its mode, behind what `lstat` said of the file.
const OBJECT: usize = 20;
const MODE_AT: usize = 24;
const OBJECT_AT: usize = 40;
/// The bit that says that more flags follow.
const EXTENDED: u16 = 0x4000;

/// A number for all that is staged: paths, with mode, object and flags of each. `None` if the file is none that is known here,
/// as that of a repository with longer names of objects.
#[must_use]
pub fn staged(index: &[u8]) -> Option<u64> {
    let header = index.strip_prefix(b"DIRC")?;
    let number = |at: usize| Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?));
    let (version, count) = (number(0)?, number(4)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    let mut rest = header.get(8..)?;
    for _ in 0..count {
        let entry = rest;
        hasher.write(entry.get(MODE_AT..MODE_AT + 4)?);
        hasher.write(entry.get(OBJECT_AT..OBJECT_AT + OBJECT)?);
        let mut at = OBJECT_AT + OBJECT;
        let flags = u16::from_be_bytes(*entry.get(at..)?.first_chunk()?);
        let length = if flags & EXTENDED != 0 && version > 2 { 4 } else { 2 };
        hasher.write(entry.get(at..at + length)?);
        at += length;
        // In version 4 how much of the path before it stays comes first, which is a part of the name as well as any other.
        let mut name = at;
        if version == 4 {
            while entry.get(name)? & 0x80 != 0 {
                name += 1;
            }
            name += 1;
        }
        let end = name + entry.get(name..)?.iter().position(|&byte| byte == 0)?;
        hasher.write(&entry[at..=end]);
        // Before, entries are filled up with zeros to a length that eight divides, with one at least.
        let next = if version == 4 { end + 1 } else { (end / 8 + 1) * 8 };
        rest = entry.get(next..)?;
    }
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::staged;

    fn git(folder: &Path, words: &[&str]) {
        let told = Command::new("git").arg("-C").arg(folder).args(words).output().expect("git");
        assert!(told.status.success(), "{words:?}: {}", String::from_utf8_lossy(&told.stderr));
    }

    #[test]
    fn what_is_staged_is_told_from_what_is_looked_at_again() {
        for version in ["2", "3", "4"] {
            let folder = tempfile::tempdir().expect("a folder");
            let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
            git(folder.path(), &["init", "-q"]);
            for name in ["a", "a-name", "a-name-of-some-length", "b"] {
                write(name, name);
            }
            git(folder.path(), &["add", "."]);
            // An entry with more flags, which version 2 has not.
            git(folder.path(), if version == "2" { &["status"] } else { &["update-index", "--skip-worktree", "b"] });
            git(folder.path(), &["update-index", "--index-version", version]);
            let now = || staged(&std::fs::read(folder.path().join(".git/index")).expect("an index")).expect("a number");
            let before = now();
            write("a", "a");
            git(folder.path(), &["update-index", "--refresh"]);
            assert_eq!(now(), before, "version {version}: the same");
            for change in [
                &["update-index", "--chmod=+x", "a-name"][..],
                &["rm", "-q", "-f", "--cached", "a-name"],
                &["update-index", "--assume-unchanged", "a-name-of-some-length"],
            ] {
                let before = now();
                git(folder.path(), change);
                assert_ne!(now(), before, "version {version}: {change:?}");
            }
        }
        assert_eq!(staged(b""), None);
        assert_eq!(staged(b"DIRC\0\0\0\x02\0\0\0\x01"), None, "it ends too early");
    }
}
