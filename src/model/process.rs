//! Processes and what they hold, as a probe saw them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// A signal of this number ended it (Unix only).
    Signal(i32),
}

/// One of the check's captured streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    /// `stdout` or `stderr`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// A moment at which output arrived: every byte before `offset` was there by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// In bytes from the stream's start.
    pub offset: u64,
    /// In microseconds after the check's start.
    pub at_us: u64,
}

/// By what means a process keeps a path from being removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It is the process's current directory.
    Cwd,
    /// It is the process's root directory.
    Root,
    /// It is open.
    Descriptor,
    /// It is the program that the process runs.
    Executable,
    /// It is mapped into memory.
    Mapping,
    /// A unix socket is bound to it.
    Socket,
    /// Something is mounted on it, in the process's own view.
    Mount,
    /// It is the current directory of one of the process's threads.
    ThreadCwd,
}

impl How {
    /// As part of a sentence: `PATH is … pid 1`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Cwd => "the current directory of",
            Self::Root => "the root directory of",
            Self::Descriptor => "held open by",
            Self::Executable => "the running program of",
            Self::Mapping => "mapped into memory by",
            Self::Socket => "a socket of",
            Self::Mount => "a mount point of",
            Self::ThreadCwd => "the current directory of a thread of",
        }
    }
}

/// One hold on a path of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Hold {
    pub how: How,
    /// Absolute.
    pub path: String,
    /// Whether it is a directory.
    pub directory: bool,
    /// Whether the path was already removed. Linux lets that happen; Windows refuses the removal.
    pub deleted: bool,
}

/// Enough to find a process again, or to recognise it in a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessRef {
    /// The system's number of it.
    pub pid: u32,
    /// Empty for a process that has none any more (a zombie) or whose arguments could not be read.
    pub argv: Vec<String>,
}

/// What was read of one process of a check's tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// The system's number of it; after its end another process may get the same.
    pub pid: u32,
    /// Its arguments; its name in brackets where they could not be read.
    pub argv: Vec<String>,
    /// From the nearest upwards, as far as the check's tree goes. Empty for an orphan.
    #[serde(default)]
    pub parents: Vec<ProcessRef>,
    /// When it started, in milliseconds after the check's start; negative if it ran before. The system's own clock tick
    /// (10 ms on Linux) bounds how exact this is.
    #[serde(default)]
    pub started_ms: Option<i64>,
    /// Whether it leads, or belongs to, another session than the check's first process.
    #[serde(default)]
    pub own_session: bool,
    /// The system's word for its state: `running`, `sleeping`, `stopped`, `zombie`, …
    #[serde(default)]
    pub state: Option<String>,
    /// What it waits on, where the system tells: a kernel function, or a word for what is read.
    #[serde(default)]
    pub waiting_on: Option<String>,
    /// What it holds of the sandbox.
    #[serde(default)]
    pub holds: Vec<Hold>,
    /// Which of the check's streams it has open for writing.
    #[serde(default)]
    pub pipes: Vec<Stream>,
    /// The case it was started under, where a sub-runner left the name in its environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case_hint: Option<String>,
    /// What of the above could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl Process {
    /// One of which nothing else is known.
    #[must_use]
    pub fn new(pid: u32, argv: Vec<String>) -> Self {
        Self {
            pid,
            argv,
            parents: Vec::new(),
            started_ms: None,
            own_session: false,
            state: None,
            waiting_on: None,
            holds: Vec::new(),
            pipes: Vec::new(),
            case_hint: None,
            unread: Vec::new(),
        }
    }

    /// The short form for a finding.
    #[must_use]
    pub fn to_ref(&self) -> ProcessRef {
        ProcessRef { pid: self.pid, argv: self.argv.clone() }
    }

    /// The arguments as one line, whole.
    #[must_use]
    pub fn command_line(&self) -> String {
        self.argv.join(" ")
    }

    /// Its pid and what it runs, short enough for a sentence.
    #[must_use]
    pub fn short(&self) -> String {
        format!("pid {} ({})", self.pid, short_command(&self.argv))
    }
}

impl ProcessRef {
    /// Its pid and what it runs, short enough for a sentence.
    #[must_use]
    pub fn short(&self) -> String {
        format!("pid {} ({})", self.pid, short_command(&self.argv))
    }
}

/// A command that a person recognises: the program without its folder, and of each argument, and of all together, no
/// more than a line has room for.
fn short_command(argv: &[String]) -> String {
    const WORD: usize = 60;
    const WHOLE: usize = 120;
    let mut words = argv.iter().enumerate().map(|(index, word)| {
        let word = if index == 0 { word.rsplit(['/', '\\']).next().unwrap_or(word) } else { word };
        cut(word.split_whitespace().collect::<Vec<_>>().join(" "), WORD)
    });
    let mut command = words.next().unwrap_or_default();
    for word in words {
        if command.chars().count() + 1 + word.chars().count() > WHOLE {
            command.push_str(" …");
            break;
        }
        command.push(' ');
        command.push_str(&word);
    }
    command
}

/// The beginning of a long text; of a long path, of whichever system, its last names (three, if there is room), since
/// those are what it is known by.
fn cut(text: String, most: usize) -> String {
    if text.chars().count() <= most {
        return text;
    }
    let names = text
        .rmatch_indices(['/', '\\'])
        .take(3)
        .map(|(at, _)| &text[at..])
        .take_while(|names| names.chars().count() < most)
        .last()
        .filter(|_| !text.contains(' '));
    match names {
        Some(names) => format!("…{names}"),
        None => text.chars().take(most).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_in_a_sentence_is_short_and_has_one_line() {
        let short = |argv: &[&str]| {
            let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
            ProcessRef { pid: 7, argv }.short()
        };
        assert_eq!(short(&["/usr/bin/python3", "hooks/x.py"]), "pid 7 (python3 hooks/x.py)");
        assert_eq!(short(&["sh", "-c", "\nsleep 1\n  echo a\n"]), "pid 7 (sh -c sleep 1 echo a)");
        let path = format!("/{}/project/hooks/x.py", "deep/".repeat(30));
        assert_eq!(short(&["python3", &path]), "pid 7 (python3 …/project/hooks/x.py)");
        let windows = r"C:\users\somebody\Temp\itp9bRBDU\fixtures\sweep\unmended\hooks\sweep_detached.py";
        assert_eq!(short(&["python.exe", windows]), r"pid 7 (python.exe …\unmended\hooks\sweep_detached.py)");
        let one_name = format!("/x/{}/{}/x.py", "a".repeat(40), "b".repeat(40));
        assert_eq!(short(&["p", &one_name]), format!("pid 7 (p …/{}/x.py)", "b".repeat(40)));
        let long = short(&["p", &"x".repeat(1000), &"y".repeat(1000), &"z".repeat(1000)]);
        assert!(long.chars().count() < 150 && long.ends_with("… …)"), "{long}");
    }
}
