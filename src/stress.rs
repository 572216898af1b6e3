//! Load on the machine while checks run: processors that never rest, a disk that is written to, and every processor taken
//! away at random times. What holds only because nothing else happens then fails.
//!
//! The load is a process of its own, whose end is tied to the harness's: it reads its standard input, which ends with the
//! harness, whatever ends that. It touches none of the checks' processes.

use std::ffi::OsStr;
use std::fs::File;
use std::hint;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::model::{Precedence, Stress};
use crate::platform;

/// The word in the place of a subcommand that asks for it; the folder to write to follows.
const LOAD: &str = "__load";

/// How long a processor is taken away at a time, and how long it is left alone, at most, in microseconds. Together about a
/// quarter of the time: longer than a scheduler's own turns, and short enough for what waits a tenth of a second.
const TAKEN: u64 = 20_000;
const LEFT: u64 = 60_000;

/// What is written before it is forced to the disk, and how much of it there is at most.
const BLOCK: usize = 1 << 20;
const BLOCKS: usize = 64;

/// Load, until it is dropped.
#[derive(Debug)]
pub struct Load {
    process: Child,
    stress: Stress,
}

impl Load {
    /// Begins it, with the disk where checks have their sandboxes. All of it is at work when this returns.
    ///
    /// # Errors
    ///
    /// If there can be none.
    pub fn start() -> Result<Self> {
        let failed = |error: io::Error| Error::Unmeasured(format!("there can be no stress: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(&program);
        command.arg(LOAD).arg(platform::sandbox_base());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A folder that is nobody's to remove.
        command.current_dir(program.parent().unwrap_or(Path::new("/")));
        let mut process = command.spawn().map_err(failed)?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe);
        let told = output.map_err(io::Error::from).and_then(|output| BufReader::new(output).read_line(&mut line));
        let stress = told.and_then(|_| serde_json::from_str(&line).map_err(io::Error::from));
        let unknown = Stress { busy_processors: 0, bursts: Precedence::Ordinary, written: None, lacks: Vec::new() };
        let mut load = Self { process, stress: unknown };
        load.stress = stress.map_err(failed)?;
        Ok(load)
    }

    /// What it does.
    #[must_use]
    pub fn stress(&self) -> &Stress {
        &self.stress
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // It has nothing to tidy: its file has no name. What can't be ended ends with its standard input.
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Does what a word in the place of a subcommand asks for; `None` if it is another one.
#[must_use]
pub fn serve(word: &OsStr) -> Option<io::Result<()>> {
    (word == LOAD).then(|| {
        let folder = std::env::args_os().nth(2).map(PathBuf::from).unwrap_or_default();
        load(&folder)
    })
}

/// The life of the process: it ends with its standard input.
fn load(folder: &Path) -> io::Result<()> {
    let processors = thread::available_parallelism()?.get();
    let mut lacks = Vec::new();
    let mut bursts = Precedence::RealTime;
    for nth in 0..processors {
        let loose = begin(move || platform::stay_on(nth).err(), busy)?;
        let ready = move || {
            // One that can't be kept on its processor goes where it likes: that is told of the busy one.
            let _ = platform::stay_on(nth);
            platform::go_first()
        };
        let (precedence, refused) = begin(ready, strike)?;
        bursts = bursts.max(precedence);
        if nth == 0 {
            lacks.extend(loose.map(|error| format!("the system chooses which processor is busy: {error}")));
            lacks.extend(refused.map(|error| format!("no processor is taken from everything else: {error}")));
        }
    }
    let file = tempfile::tempfile_in(folder).and_then(|mut file| write_block(&mut file).map(|()| file));
    let written = match file {
        Ok(file) => {
            thread::Builder::new().spawn(move || scrape(file))?;
            Some(folder.display().to_string())
        }
        Err(error) => {
            lacks.push(format!("nothing can be written to {}: {error}", folder.display()));
            None
        }
    };
    let stress = Stress { busy_processors: processors as u64, bursts, written, lacks };
    let mut output = io::stdout();
    writeln!(output, "{}", serde_json::to_string(&stress)?)?;
    output.flush()?;
    let mut rest = [0; 64];
    while io::stdin().read(&mut rest)? > 0 {}
    Ok(())
}

/// Starts a thread, and tells what it says of itself before it goes on for ever.
fn begin<T: Send + 'static>(ready: impl FnOnce() -> T + Send + 'static, go_on: fn()) -> io::Result<T> {
    let (tell, told) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let _ = tell.send(ready());
        go_on();
    })?;
    told.recv().map_err(|_| io::ErrorKind::BrokenPipe.into())
}

fn busy() {
    loop {
        hint::spin_loop();
    }
}

/// Takes the processor for a while, and leaves it alone for another.
fn strike() {
    loop {
        let end = Instant::now() + Duration::from_micros(fastrand::u64(1_000..TAKEN));
        while Instant::now() < end {
            hint::spin_loop();
        }
        thread::sleep(Duration::from_micros(fastrand::u64(0..LEFT)));
    }
}

/// Writes, forces it to the disk, and does so again.
fn scrape(mut file: File) {
    loop {
        // A disk that is full is full of others' files: room may come.
        if (0..BLOCKS).try_for_each(|_| write_block(&mut file)).is_err() {
            thread::sleep(Duration::from_millis(50));
        }
        let _ = file.set_len(0).and_then(|()| file.rewind());
    }
}

fn write_block(file: &mut File) -> io::Result<()> {
    file.write_all(&vec![fastrand::u8(..); BLOCK])?;
    file.sync_data()
}
