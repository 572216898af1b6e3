//! What a job has as input and outputs, and this end of it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::super::unix::capture::Capture;
use super::super::{Change, Job, StartError};
use super::terminal::Terminal;

/// Both ends of a job's streams.
pub struct Streams {
    pub stdout: Capture,
    pub stderr: Capture,
    /// What the job gets of them.
    outputs: [OwnedFd; 2],
    input: Option<File>,
    typed: Option<Terminal>,
}

impl Streams {
    /// Pipes; or terminals, where the job is to have such.
    ///
    /// # Errors
    ///
    /// What can't be made, or read.
    pub fn open(job: &Job) -> Result<Self, StartError> {
        let failed = |action: &str, file: &Path, error: &io::Error| StartError {
            action: action.to_owned(),
            file: file.to_string_lossy().into_owned(),
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        };
        // The number in `pipe:[…]`.
        let number = |pipe: BorrowedFd<'_>| Ok(rustix::fs::fstat(pipe)?.st_ino);
        let pipe = || Capture::new(job.spill.clone(), number).map_err(|e| failed("make a pipe for", &job.program, &e));
        let unchanged = |error: &io::Error| failed(StartError::CHANGE, &job.program, error);
        let terminal = || Terminal::open().map_err(|error| unchanged(&error.into()));
        let at_terminal = job.change == Some(Change::Terminal);
        let stream = || {
            if !at_terminal {
                return pipe();
            }
            let Terminal { outer, inner, number } = terminal()?;
            let capture = Capture::of_terminal(job.spill.clone(), outer, number).map_err(|error| unchanged(&error))?;
            Ok((capture, inner))
        };
        let (stdout, out) = stream()?;
        let (stderr, err) = stream()?;
        let input = job.stdin.as_ref().map(|file| File::open(file).map_err(|error| failed("read", file, &error)));
        let input = input.transpose()?;
        let typed = (at_terminal && input.is_none()).then(terminal).transpose()?;
        Ok(Self { stdout, stderr, outputs: [out, err], input, typed })
    }

    /// What the job gets, in the order of its descriptors; `null` is empty input.
    pub fn given<'s>(&'s self, null: &'s File) -> [BorrowedFd<'s>; 3] {
        let input = self.input.as_ref().unwrap_or(null).as_fd();
        let input = self.typed.as_ref().map_or(input, |typed| typed.inner.as_fd());
        [input, self.outputs[0].as_fd(), self.outputs[1].as_fd()]
    }

    /// What is kept while the job runs; the rest is the job's alone. The last is the outer end of the terminal that is its
    /// input, which would hang up without it.
    pub fn kept(self) -> (Capture, Capture, Option<OwnedFd>) {
        (self.stdout, self.stderr, self.typed.map(|typed| typed.outer))
    }
}
