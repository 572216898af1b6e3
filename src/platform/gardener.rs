//! Who plants, holds locks as long as a check lasts, and takes all of it away: a process of this program's, outside of the
//! check's tree.
//!
//! Its standard input is a pipe whose writing end only the harness has: a line there says what is to be planted, and its end,
//! whatever brings it about, that all is to be taken away. A lock ends with the process that has it.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout};

use serde::{Deserialize, Serialize};

use super::Unremovable;
use super::files::{forget_helper, start_helper};
use super::planting::{self, Seed};

/// The word that makes this program a gardener.
const PLANT: &str = "__plant";

#[derive(Serialize, Deserialize)]
struct Order {
    seeds: Vec<Seed>,
    record: PathBuf,
}

/// What is planted for a check. Its end is theirs.
#[derive(Debug)]
pub struct Garden {
    /// `None` once it was cleared.
    gardener: Option<Gardener>,
    record: PathBuf,
}

#[derive(Debug)]
struct Gardener {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Garden {
    /// Plants all of it; what others have is never replaced. `lane` is the folder of the sandbox's lane, in which it is
    /// written down for whoever comes next, under a name that no other check's garden has.
    ///
    /// # Errors
    ///
    /// A sentence that says what is in the way; nothing is planted then.
    pub fn plant(seeds: Vec<Seed>, lane: &Path, name: &str) -> Result<Self, String> {
        let record = lane.join(format!("{}{name}", planting::RECORD));
        let failed = |error: io::Error| format!("the process that plants can't be started: {error}");
        let mut child = start_helper(PLANT).map_err(failed)?;
        let said = BufReader::new(child.stdout.take().ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?);
        let mut garden = Self { gardener: Some(Gardener { child, said }), record };
        match garden.order(seeds) {
            Ok(Ok(())) => Ok(garden),
            Ok(Err(why)) => Err(why),
            Err(error) => Err(format!("the process that plants did not answer: {error}")),
        }
    }

    fn order(&mut self, seeds: Vec<Seed>) -> io::Result<Result<(), String>> {
        let Some(Gardener { child, said }) = &mut self.gardener else { return Ok(Ok(())) };
        let mut line = serde_json::to_string(&Order { seeds, record: self.record.clone() })?;
        line.push('\n');
        child.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write_all(line.as_bytes())?;
        let mut answer = String::new();
        said.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// Takes all of it away. What the check has removed or replaced itself is gone already. Returns what resists.
    pub fn clear(mut self) -> Vec<Unremovable> {
        self.end()
    }

    fn end(&mut self) -> Vec<Unremovable> {
        let Some(Gardener { mut child, mut said }) = self.gardener.take() else { return Vec::new() };
        drop(child.stdin.take());
        let _ = said.read_to_end(&mut Vec::new());
        let _ = child.wait();
        forget_helper(child.id());
        // A check may have ended it before it was through.
        planting::clear(&self.record)
    }
}

impl Drop for Garden {
    fn drop(&mut self) {
        self.end();
    }
}

/// Does what the word asks for; `None` if it is another one.
pub fn serve(word: &OsStr) -> Option<io::Result<()>> {
    (word == PLANT).then(|| tend(&mut io::stdin().lock(), &mut io::stdout()))
}

/// The life of a gardener.
fn tend(orders: &mut impl BufRead, said: &mut impl Write) -> io::Result<()> {
    let mut line = String::new();
    orders.read_line(&mut line)?;
    let Order { seeds, record } = serde_json::from_str(&line)?;
    let planted = planting::plant(&seeds, &record);
    let answer = serde_json::to_string(&planted.as_ref().map(|_| ()))?;
    // Nobody may be there any more: then the input has ended, too.
    let _ = said.write_all(format!("{answer}\n").as_bytes()).and_then(|()| said.flush());
    io::copy(orders, &mut io::sink())?;
    planting::clear(&record);
    drop(planted);
    Ok(())
}
