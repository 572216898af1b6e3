//! The whole way, from files to wirings.

use super::draft::Draft;
use super::faults::{faults, mark_duplicates};
use super::files::Files;
use super::find::{find, find_in_folder};
use super::finish::finish;
use super::reading::Reading;
use super::script::Looks;
use super::view::{MOST_PROJECTS, Nested, OtherCase, View, projects};
use crate::model::{Platform, Unread, Wiring, WiringSource};
use crate::{platform, source};

/// What is wired in a project.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Wirings {
    /// In the order of their files, and of each file; those of projects in its folders last.
    pub wirings: Vec<Wiring>,
    /// Every file that was read, those that wire nothing included.
    pub files: Vec<String>,
    pub unread: Vec<Unread>,
    pub notes: Vec<String>,
}

/// Reads what is wired: by files of known forms, in the project and in projects in its folders, and by those that manifests
/// name.
#[must_use]
pub fn read(files: &dyn Files, sources: &[WiringSource]) -> Wirings {
    let mut all = with_folders(files, sources, files);
    // A disk on which names have no case has answered already.
    let is_told = files.root().is_some() && platform::current() != Platform::Linux;
    if let Some(other) = OtherCase::new(files).filter(|_| !is_told) {
        let more = with_folders(&other, &[], files).moved(&|name| other.real(name), &|_| None);
        let word = if more.files.len() == 1 { "file is" } else { "files are" };
        all.notes.push(format!(
            "{word} a wiring where names have no case, on Windows and macOS, and none on Linux: {}",
            more.files.join(", ")
        ));
        all.add(more);
    }
    // Faults are of the files as they are called.
    let mut looks = Looks::new(files);
    for (draft, wiring, unquoted) in &mut all.found {
        wiring.faults = faults(draft, wiring, unquoted, files, &mut looks);
    }
    let (drafts, mut wirings): (Vec<Draft>, Vec<Wiring>) =
        all.found.into_iter().map(|(draft, wiring, _)| (draft, wiring)).unzip();
    mark_duplicates(&drafts, &mut wirings);
    Wirings { wirings, files: all.files, unread: all.unread, notes: all.notes }
}

/// What was read, before its faults are looked for.
#[derive(Default)]
struct Read {
    /// With the paths in each that a shell would split.
    found: Vec<(Draft, Wiring, Vec<String>)>,
    files: Vec<String>,
    unread: Vec<Unread>,
    notes: Vec<String>,
}

impl Read {
    fn of(reading: Reading<'_>, is_top: bool) -> Self {
        let files = reading.source;
        let finished = reading.drafts.into_iter().map(|draft| {
            let (wiring, unquoted) = finish(&draft, files, is_top);
            (draft, wiring, unquoted)
        });
        let found = finished.collect();
        let mut unread = reading.unread;
        for (file, twice) in reading.twice {
            let message = format!(
                "the key `{}` is there twice: what is in line {} counts, what is in line {} does not",
                twice.key, twice.taken, twice.lost
            );
            let remedy = "remove one of them".to_owned();
            unread.push(Unread { file, line: Some(twice.lost), message, remedy });
        }
        Self { found, files: reading.files, unread, notes: reading.notes }
    }

    /// The same under other names. `start` is the folder that something starts in which starts in the project itself.
    fn moved(mut self, real: &dyn Fn(&str) -> String, start: &dyn Fn(&Wiring) -> Option<String>) -> Self {
        for (draft, wiring, _) in &mut self.found {
            wiring.file = real(&wiring.file);
            draft.file.clone_from(&wiring.file);
            let start = start(wiring);
            for command in &mut wiring.commands {
                command.cwd = command.cwd.as_deref().map(real).or_else(|| start.clone());
                command.scripts.iter_mut().for_each(|script| script.path = real(&script.path));
            }
        }
        self.files.iter_mut().for_each(|file| *file = real(file));
        self.unread.iter_mut().for_each(|unread| unread.file = real(&unread.file));
        self
    }

    fn add(&mut self, other: Self) {
        let Self { found, files, unread, notes } = other;
        self.found.extend(found);
        self.files.extend(files);
        self.unread.extend(unread);
        self.notes.extend(notes);
    }
}

/// Reads a project and those in its folders, in each of which hosts may be started. `disk` has what is not by name.
fn with_folders(files: &dyn Files, sources: &[WiringSource], disk: &dyn Files) -> Read {
    let named = sources.iter().filter(|source| source.commands.is_none()).map(|source| source.file.as_str());
    let folders = projects(files, files.names().iter().map(String::as_str).chain(named));
    let is_top = disk
        .root()
        .is_none_or(|root| source::top(root).is_none_or(|top| platform::real_path(&top).is_ok_and(|top| top == root)));
    let mut all = Read::of(find(files, sources), is_top);
    let more = folders.len().saturating_sub(MOST_PROJECTS);
    if more > 0 {
        all.unread.push(Unread {
            file: folders.iter().nth(MOST_PROJECTS).copied().unwrap_or_default().to_owned(),
            line: None,
            message: format!(
                "it is one of more than {MOST_PROJECTS} folders with settings of hosts; {more} are not read"
            ),
            remedy: "ask in the folders themselves".to_owned(),
        });
    }
    for folder in folders.into_iter().take(MOST_PROJECTS) {
        let nested = Nested::new(files, folder);
        let mut read = Read::of(find_in_folder(&nested), false);
        read.notes.iter_mut().for_each(|note| *note = format!("{folder}: {note}"));
        all.add(read.moved(&|name| nested.real(name), &|_| Some(folder.to_owned())));
    }
    all
}
