//! Other processes, as the tests look at them: by other means than hostproof does where there are any.

use std::time::Duration;

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    pub fn ends(pid: u32, limit: Duration) -> bool {
        let pid = Pid::from_raw(pid.cast_signed()).expect("a pid");
        let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
        let limit = rustix::event::Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: 0 };
        let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&limit)).is_ok_and(|ready| ready > 0)
    }

    pub fn command_line(pid: u32) -> String {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
    }

    pub fn with_in_environment(text: &str) -> Vec<(u32, String)> {
        let has = |pid: u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.windows(text.len()).any(|window| window == text.as_bytes())
        };
        let all = fs::read_dir("/proc").expect("/proc").flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| has(*pid)).map(|pid| (pid, command_line(pid))).collect()
    }
}

/// By what `ps` prints: of Apple's own programs it has no environment either.
#[cfg(target_os = "macos")]
mod system {
    use std::process::Command;
    use std::time::{Duration, Instant};

    fn ps(arguments: &[&str]) -> String {
        let output = Command::new("ps").args(arguments).output().expect("ps");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub fn ends(pid: u32, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            let state = ps(&["-o", "stat=", "-p", &pid.to_string()]);
            if state.is_empty() || state.starts_with('Z') {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn command_line(pid: u32) -> String {
        ps(&["-ww", "-o", "command=", "-p", &pid.to_string()])
    }

    pub fn with_in_environment(text: &str) -> Vec<(u32, String)> {
        let with_environment = ps(&["-axEww", "-o", "pid=,command="]);
        let lines = with_environment.lines().filter(|line| line.contains(text));
        let pids = lines.filter_map(|line| line.split_whitespace().next()?.parse().ok());
        pids.map(|pid| (pid, command_line(pid))).filter(|(_, line)| !line.is_empty()).collect()
    }
}

/// Waits for a process's end. `true` if there is none of that id.
pub fn ends(pid: u32, limit: Duration) -> bool {
    system::ends(pid, limit)
}

/// A process's arguments as one line.
pub fn command_line(pid: u32) -> String {
    system::command_line(pid)
}

/// The processes that have this text in their environment, where that can be read.
pub fn with_in_environment(text: &str) -> Vec<(u32, String)> {
    system::with_in_environment(text)
}
