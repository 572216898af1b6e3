//! A look at all targets, by as many threads as there are processors.

use std::fs;
use std::io::ErrorKind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::language::{Language, shebang};
use super::look::{About, Looked, look};
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
    let next = AtomicUsize::new(0);
    let all: Mutex<Scanned> = Mutex::default();
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(targets.files.len().max(1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = Scanned::default();
                while let Some(target) = targets.files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    own.file(target);
                }
                // A thread that panicked has told nothing, and its panic ends the scope.
                all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(own);
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for command in &targets.commands {
        all.totals.commands += 1;
        let about =
            About { language: Language::Shell, file: &command.file, wired: Some(command.line), executable: None };
        all.take(look(command.text.as_bytes(), about));
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

impl Scanned {
    fn add(&mut self, other: Self) {
        self.lints.extend(other.lints);
        self.unread.extend(other.unread);
        self.unclear.extend(other.unclear);
        self.notes.extend(other.notes);
        self.totals.files += other.totals.files;
    }

    fn take(&mut self, looked: Looked) {
        self.lints.extend(looked.lints);
        self.unread.extend(looked.unread);
        self.unclear.extend(looked.unclear);
    }

    fn file(&mut self, target: &Target) {
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
            return;
        };
        // What has an ending of no language is not opened; what has none may say it in its first line.
        let ends = target.name.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'));
        let by_name = Language::of(&target.name, "");
        if by_name.is_none() && ends && !target.asked && !target.starts {
            return;
        }
        let bytes = match disk.bytes(&target.name) {
            Ok(bytes) => bytes,
            Err(refused) => {
                // Of a large file without an ending nothing says that it is a source.
                if by_name.is_some() || target.asked {
                    self.refused(target, refused);
                }
                return;
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
            return;
        };
        self.totals.files += 1;
        let executable = executable.filter(|_| target.starts);
        self.take(look(&bytes, About { language, file: &target.shown, wired: None, executable }));
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
