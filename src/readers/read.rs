//! Feeding the readers.

use std::io;
use std::path::{Path, PathBuf};

use super::cargo_test::CargoTest;
use super::cases::Frames;
use super::choose::choose;
use super::frames::Finders;
use super::go_test::GoTest;
use super::jest::Jest;
use super::lines_of_own::OwnLines;
use super::nextest::Nextest;
use super::node_test::NodeTest;
use super::{Reader, Source, bats::Bats, ok_lines::OkLines, pytest::Pytest, tap::Tap, unittest::Unittest};
use crate::model::{Exit, ReaderChoice, ReaderName, Reading};

/// What a reader may know beside the output.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// What was run.
    pub argv: &'a [String],
    /// Frames in this folder are the project's own; their files are named relative to it.
    pub project: &'a Path,
    /// Where the check ran: what relative names in its output are relative to.
    pub cwd: &'a Path,
    /// Copies of the project's files: where each is, and what it is a copy of, relative to the project.
    pub copies: &'a [(PathBuf, String)],
    /// The names of the cases that were to run, in their order; empty if they are not known.
    pub planned: &'a [String],
    /// `None` if the check had to be ended.
    pub exit: Option<Exit>,
}

impl<'a> Context<'a> {
    /// Of a command that nothing more is known of.
    #[must_use]
    pub fn new(project: &'a Path, cwd: &'a Path) -> Self {
        Self { argv: &[], project, cwd, copies: &[], planned: &[], exit: None }
    }

    /// Whether the command looks as if it ran that reader's sub-runner.
    pub(super) fn speaks_of(&self, reader: ReaderName) -> bool {
        let words: &[&str] = match reader {
            ReaderName::Pytest => &["pytest", "py.test"],
            ReaderName::Unittest => &["unittest", "python", ".py"],
            ReaderName::Jest => &["jest", "vitest", "npm"],
            ReaderName::NodeTest => &["node", "npm"],
            ReaderName::Nextest => &["nextest"],
            ReaderName::CargoTest => &["cargo", "rustc", "target/"],
            ReaderName::GoTest => &["go"],
            ReaderName::Bats => &["bats"],
            ReaderName::Tap => &["prove", "perl", "tap"],
            ReaderName::OkLines => &["test", "check", "spec"],
        };
        self.argv.iter().any(|word| words.iter().any(|wanted| word.contains(wanted)))
    }
}

fn reader(name: ReaderName, context: Context<'_>) -> Box<dyn Reader + '_> {
    match name {
        ReaderName::Pytest => Box::new(Pytest::new(context)),
        ReaderName::Nextest => Box::new(Nextest::new(context)),
        ReaderName::CargoTest => Box::new(CargoTest::new(context)),
        ReaderName::GoTest => Box::new(GoTest::new(context)),
        ReaderName::Unittest => Box::new(Unittest::new(context)),
        ReaderName::Jest => Box::new(Jest::new(context)),
        ReaderName::NodeTest => Box::new(NodeTest::new(context)),
        ReaderName::Bats => Box::new(Bats::new(context)),
        ReaderName::Tap => Box::new(Tap::new(context)),
        ReaderName::OkLines => Box::new(OkLines::new(context)),
    }
}

/// Reads a check's captured output, in one pass and in bounded memory.
///
/// With [`ReaderChoice::Auto`] every reader is fed, and `choose.rs` says which of them is believed.
///
/// If the reading has no frames and the check did not end with status 0, the frames are those that can be found in any
/// program's output (`frames`), so that a script that dies before its sub-runner can report still shows where.
///
/// # Errors
///
/// What reading the captured bytes says.
pub fn read(choice: &ReaderChoice, mut sources: Vec<Source<'_>>, context: &Context<'_>) -> io::Result<Reading> {
    sources.sort_by_key(|source| source.stream);
    let names = match choice {
        ReaderChoice::Auto => ReaderName::ALL.to_vec(),
        ReaderChoice::Named(name) => vec![*name],
        ReaderChoice::None | ReaderChoice::Junit(_) | ReaderChoice::Lines(_) => Vec::new(),
    };
    let mut own_lines = match choice {
        ReaderChoice::Lines(rules) => Some(OwnLines::new(rules)),
        _ => None,
    };
    let mut readers: Vec<_> = names.iter().map(|name| reader(*name, *context)).collect();
    let failed = context.exit != Some(Exit::Code(0));
    let mut finders = failed.then(|| Finders::new(*context));
    let mut frames = Frames::default();
    let mut number = 0;
    for source in sources {
        source.for_each_line(&mut number, |line| {
            for reader in &mut readers {
                reader.line(line);
            }
            if let Some(lines) = &mut own_lines {
                lines.line(line);
            }
            if let Some(finders) = &mut finders {
                finders.line(&line.text, &mut frames);
            }
        })?;
        // A traceback does not go on in the other stream.
        if let Some(finders) = &mut finders {
            finders.finish(&mut frames);
        }
    }

    let mut recognised: Vec<_> = readers.into_iter().filter_map(Reader::finish).collect();
    let reading = match choice {
        ReaderChoice::Named(_) => recognised.pop().map(|found| found.reading),
        ReaderChoice::Lines(_) => own_lines.and_then(OwnLines::finish),
        _ => choose(recognised, context),
    };
    let mut reading = reading.unwrap_or_else(|| unrecognised(choice));
    if reading.frames.is_empty() && failed {
        reading.frames = frames.finish(&mut reading.notes);
    }
    Ok(reading)
}

/// Nothing is known: every count stays unknown.
fn unrecognised(choice: &ReaderChoice) -> Reading {
    let name = match choice {
        ReaderChoice::Named(name) => Some(name.name()),
        ReaderChoice::Lines(_) => Some("lines"),
        _ => None,
    };
    let notes = name.map(|name| format!("nothing in the output is in the form of {name}")).into_iter().collect();
    Reading { reader: name.map(str::to_owned), notes, ..Reading::default() }
}
