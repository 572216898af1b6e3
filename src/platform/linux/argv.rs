//! The arguments of processes.

use std::fs;
use std::time::Duration;

use super::procfs;

/// The longest argument list that is kept of a process, in bytes.
const LONGEST_ARGV: usize = 4096;

/// How often, and at what interval, a process is looked at that may be in the middle of `execve`.
const EXECVE_LOOKS: usize = 50;
const EXECVE_PAUSE: Duration = Duration::from_millis(1);

/// The arguments of a process that may be gone.
pub fn argv_of(pid: u32) -> Vec<String> {
    procfs::stat(pid).map(|stat| argv(pid, &stat.name)).unwrap_or_default()
}

/// Its arguments; its name in brackets, as `ps` prints it, if it has none.
///
/// In the middle of `execve` a process has its new name and memory, and no arguments yet: that is waited out.
pub fn argv(pid: u32, name: &str) -> Vec<String> {
    let Ok(mut bytes) = fs::read(format!("/proc/{pid}/cmdline")) else { return vec![format!("[{name}]")] };
    for _ in 0..EXECVE_LOOKS {
        if !bytes.is_empty() || !has_memory(pid) {
            break;
        }
        std::thread::sleep(EXECVE_PAUSE);
        bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    }
    bytes.truncate(LONGEST_ARGV);
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    // Nothing but zeros is what a program leaves that has wiped them.
    if bytes.iter().all(|&byte| byte == 0) {
        return vec![format!("[{name}]")];
    }
    bytes.split(|&byte| byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

/// Whether it has an address space: kernel threads and the dead have none.
fn has_memory(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/statm")).is_ok_and(|sizes| !sizes.starts_with(b"0 "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_just_begun_a_program_has_its_arguments() {
        for _ in 0..50 {
            let mut sleeper = std::process::Command::new("sleep").arg("30").spawn().expect("sleep");
            let argv = argv_of(sleeper.id());
            sleeper.kill().expect("a child");
            sleeper.wait().expect("its end");
            assert_eq!(argv, ["sleep", "30"]);
        }
    }
}
