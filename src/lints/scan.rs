//! A look at all targets, by as many threads as there are processors.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::imports::Candidates;
use super::language::{Language, shebang};
use super::look::{Looked, look};
use super::source::About;
use super::targets::{Target, Targets};
use crate::model::{Lint, LintTotals, Severity, Unread};
use crate::wirings::{Disk, Entry, Files, Refused};

/// What a look at all of them came to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Scanned {
    pub lints: Vec<Lint>,
    pub unread: Vec<Unread>,
    pub unclear: Vec<Unread>,
    pub notes: Vec<String>,
    pub totals: LintTotals,
}

/// Looks at everything.
#[must_use]
pub fn scan(targets: &Targets) -> Scanned {
    let work = Work::of(targets);
    let all: Mutex<Scanned> = Mutex::default();
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(targets.files.len().max(1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = Scanned::default();
                while let Some(mut taken) = work.next() {
                    taken.parts = own.file(&taken.target, targets.parts.is_some());
                }
                // A thread that panicked has told nothing, and its panic ends the scope.
                all.lock().unwrap_or_else(PoisonError::into_inner).add(own);
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    for command in &targets.commands {
        all.totals.commands += 1;
        let about = About { wired: Some(command.line), ..About::of(Language::Shell, &command.file) };
        // What it calls was found before.
        let _ = all.take(look(command.text.as_bytes(), about));
    }
    all.lints.sort_by(|a, b| (&a.file, a.line, a.column, a.kind).cmp(&(&b.file, b.line, b.column, b.kind)));
    all.unread.sort_by(|a, b| a.file.cmp(&b.file));
    all.unclear.sort_by(|a, b| a.file.cmp(&b.file));
    all.unread.extend(targets.unread.iter().cloned());
    all.notes.extend(targets.notes.iter().cloned());
    all.notes.sort();
    all.count();
    all
}

/// What is yet to be looked at, among threads.
struct Work<'t> {
    targets: &'t Targets,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: Vec<Target>,
    /// The names of all that waits, or did.
    seen: BTreeSet<String>,
    /// How many are being looked at: more may come of them.
    taken: usize,
}

/// A file that is being looked at. Dropped, it tells what it takes in.
struct Taken<'w> {
    work: &'w Work<'w>,
    target: Target,
    parts: Vec<Candidates>,
}

impl<'t> Work<'t> {
    fn of(targets: &'t Targets) -> Self {
        let mut waiting = targets.files.clone();
        waiting.reverse();
        let seen = waiting.iter().map(|target| target.shown.clone()).collect();
        Self { targets, state: Mutex::new(State { waiting, seen, taken: 0 }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one; waits while others may bring some. `None` when all are looked at.
    fn next(&self) -> Option<Taken<'_>> {
        let mut state = self.state();
        loop {
            if let Some(target) = state.waiting.pop() {
                state.taken += 1;
                return Some(Taken { work: self, target, parts: Vec::new() });
            }
            if state.taken == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let Work { targets, changed, .. } = self.work;
        let mut state = self.work.state();
        let known = |name: &&String| targets.parts.as_ref().is_some_and(|known| known.contains(*name));
        for name in self.parts.iter().filter_map(|candidates| candidates.iter().find(known)) {
            if state.seen.insert(name.clone()) {
                state.waiting.push(Target::of_project(&targets.root, name));
            }
        }
        state.taken -= 1;
        changed.notify_all();
    }
}

impl Scanned {
    fn add(&mut self, other: Self) {
        self.lints.extend(other.lints);
        self.unread.extend(other.unread);
        self.unclear.extend(other.unclear);
        self.notes.extend(other.notes);
        self.totals.files += other.totals.files;
    }

    /// Takes in what came of a look, and gives back what the source takes in.
    fn take(&mut self, looked: Looked) -> Vec<Candidates> {
        self.lints.extend(looked.lints);
        self.unread.extend(looked.unread);
        self.unclear.extend(looked.unclear);
        looked.imports
    }

    /// Looks at a file. Tells what it takes in, if that is looked at, too.
    fn file(&mut self, target: &Target, follows: bool) -> Vec<Candidates> {
        let disk = Disk::of(&target.root, &[]);
        let Entry::File { executable } = disk.entry(&target.name) else {
            // What lies in a folder that can't be read is listed, and nothing says what it is.
            let is_closed = || {
                let kind = fs::metadata(target.root.join(&target.name)).map_err(|error| error.kind());
                kind.is_err_and(|kind| kind == ErrorKind::PermissionDenied)
            };
            if (target.asked || is_closed())
                && let Err(refused) = disk.bytes(&target.name)
            {
                self.refused(target, refused);
            }
            return Vec::new();
        };
        // What has an ending of no language is not opened; what has none may say it in its first line.
        let ends = target.name.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'));
        let by_name = Language::of(&target.name, "");
        if by_name.is_none() && ends && !target.asked && !target.starts {
            return Vec::new();
        }
        let bytes = match disk.bytes(&target.name) {
            Ok(bytes) => bytes,
            Err(refused) => {
                // Of a large file without an ending nothing says that it is a source.
                if by_name.is_some() || target.asked {
                    self.refused(target, refused);
                }
                return Vec::new();
            }
        };
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        let Some(language) = by_name.or_else(|| Language::of(&target.name, &head)).or_else(|| husky(target)) else {
            if target.asked {
                let message = "it is in a language that is not read here".to_owned();
                let remedy = "name sources in Python, shell, JavaScript, TypeScript, Rust or Go".to_owned();
                self.unread.push(Unread { file: target.shown.clone(), line: None, message, remedy });
            } else if target.starts && shebang(&head).is_some() {
                self.notes.push(format!("{} is in a language that is not read here", target.shown));
            }
            return Vec::new();
        };
        self.totals.files += 1;
        let executable = executable.filter(|_| target.starts);
        self.take(look(&bytes, About { executable, follows, ..About::of(language, &target.shown) }))
    }

    fn refused(&mut self, target: &Target, refused: Refused) {
        let Refused { line, message, remedy } = refused;
        self.unread.push(Unread { file: target.shown.clone(), line, message, remedy });
    }

    fn count(&mut self) {
        let count = |severity| {
            let of = |lint: &&Lint| lint.severity == severity && lint.allowed.is_none();
            self.lints.iter().filter(of).count() as u64
        };
        let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
        let allowed = self.lints.iter().filter(|lint| lint.allowed.is_some()).count() as u64;
        self.totals = LintTotals { errors, warnings, notes, allowed, unread: self.unread.len() as u64, ..self.totals };
    }
}

/// Husky gives its files to `sh`, whatever their first line says.
fn husky(target: &Target) -> Option<Language> {
    let (folder, name) = target.shown.rsplit_once('/')?;
    (folder.rsplit('/').next() == Some(".husky") && !name.contains('.')).then_some(Language::Shell)
}
