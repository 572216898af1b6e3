//! Who removes the lanes' folders when the harness was killed: one process, started before the first check and outside of
//! every check's job. The job objects have ended the checks by then.
//!
//! Its standard input is a pipe whose writing end only the harness has. A line there names a folder: behind `+` one that
//! is to be removed when the pipe ends, behind `-` one that is gone, or that is to stay.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::lane_folder;
use super::quote::{self, Reader};
use super::spawn::{self, Start};

/// The word that makes this program a janitor.
pub const CLEAN: &str = "__clean";

/// How long the janitor tries: what still runs was ended already, and scanners of viruses let go of files after seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it waits between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// The pipe to the janitor, once it runs.
static JANITOR: Mutex<Option<File>> = Mutex::new(None);

/// Starts the janitor, unless it runs.
///
/// # Errors
///
/// What the system says.
pub fn start() -> io::Result<()> {
    let mut janitor = JANITOR.lock().unwrap_or_else(PoisonError::into_inner);
    if janitor.is_none() {
        *janitor = Some(spawn()?);
    }
    Ok(())
}

fn spawn() -> io::Result<File> {
    let (reading, writing) = io::pipe()?;
    let nowhere = || OpenOptions::new().write(true).open("NUL");
    let (input, out, err) = (OwnedHandle::from(reading), nowhere()?, nowhere()?);
    let program = std::env::current_exe()?;
    let words = [program.as_os_str(), OsStr::new(CLEAN)].map(|word| word.encode_wide().collect());
    let unquotable = |_| io::Error::other(format!("{} can't be quoted", program.display()));
    spawn::create(Start {
        program: &program,
        command_line: quote::command_line(&words, Reader::Program).map_err(unquotable)?,
        env: None,
        cwd: &spawn::system_folder(),
        streams: [input.as_handle(), out.as_handle(), err.as_handle()],
        jobs: &[],
    })?;
    Ok(File::from(OwnedHandle::from(writing)))
}

/// A folder is to be removed when this process is gone.
pub fn remember(folder: &Path) {
    tell('+', folder);
}

/// A folder is gone, or is to stay.
pub fn forget(folder: &Path) {
    tell('-', folder);
}

fn tell(sign: char, folder: &Path) {
    let mut janitor = JANITOR.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = janitor.as_mut() {
        // A janitor that somebody ended can't be told anything; a later run sweeps what is left.
        let _ = writeln!(pipe, "{sign}{}", folder.display());
    }
}

/// The life of a janitor.
///
/// # Errors
///
/// If something could not be removed.
pub fn clean() -> io::Result<()> {
    clean_after(io::stdin().lock())
}

fn clean_after(orders: impl BufRead) -> io::Result<()> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for line in orders.lines() {
        // Whatever is wrong with the pipe, nobody writes to it any more.
        let Ok(line) = line else { break };
        if let Some(folder) = line.strip_prefix('+') {
            folders.insert(PathBuf::from(folder));
        } else if let Some(folder) = line.strip_prefix('-') {
            folders.remove(Path::new(folder));
        }
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        folders.retain(|folder| !lane_folder::remove(folder));
        if folders.is_empty() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(io::Error::other("some folders could not be removed"));
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_left_at_the_end_is_removed_and_what_is_to_stay_stays() {
        let base = tempfile::tempdir().expect("a folder");
        let folders = ["left", "gone", "kept"].map(|name| base.path().join(name));
        let [left, gone, kept] = &folders;
        for folder in [left, kept] {
            fs::create_dir_all(folder.join("sub")).expect("a folder");
            fs::write(folder.join("sub/file"), "").expect("a file");
            fs::write(folder.join("lock"), "").expect("a lock");
        }
        let orders: String = folders.iter().map(|folder| format!("+{}\n", folder.display())).collect();
        let orders = format!("{orders}-{}\n-{}\n", kept.display(), gone.display());
        clean_after(orders.as_bytes()).expect("all is removed");
        assert_eq!((left.exists(), kept.join("sub/file").exists()), (false, true));
    }

    #[test]
    fn what_somebody_has_open_is_removed_when_it_is_let_go() {
        use std::os::windows::fs::OpenOptionsExt;
        let base = tempfile::tempdir().expect("a folder");
        let folder = base.path().join("left");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("file"), "").expect("a file");
        let open = OpenOptions::new().read(true).share_mode(0).open(folder.join("file")).expect("the file");
        let orders = format!("+{}\n", folder.display());
        let cleaning = std::thread::spawn(move || clean_after(orders.as_bytes()));
        std::thread::sleep(2 * PAUSE);
        assert!(folder.exists() && !cleaning.is_finished());
        drop(open);
        cleaning.join().expect("an end").expect("all is removed");
        assert!(!folder.exists());
    }
}
