//! Choosing a reader, and feeding it.

use std::io;
use std::path::Path;

use super::cases::Frames;
use super::{
    Reader, Recognised, Source, Strength, ok_lines::OkLines, pytest::Pytest, python_traceback::Tracebacks,
    unittest::Unittest,
};
use crate::model::{Exit, ReaderChoice, Reading};

/// What a reader may know beside the output.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// What was run.
    pub argv: &'a [String],
    /// Frames in this folder are the project's own; their files are named relative to it.
    pub project: &'a Path,
    /// Where the check ran: what relative names in its output are relative to.
    pub cwd: &'a Path,
    /// `None` if the check had to be ended.
    pub exit: Option<Exit>,
}

impl Context<'_> {
    /// Whether the command looks as if it ran that reader's sub-runner.
    fn speaks_of(&self, reader: &str) -> bool {
        let words: &[&str] =
            if reader == Pytest::NAME { &["pytest", "py.test"] } else { &["unittest", "python", ".py"] };
        self.argv.iter().any(|word| words.iter().any(|wanted| word.contains(wanted)))
    }
}

/// Reads a check's captured output, in one pass and in bounded memory.
///
/// With [`ReaderChoice::Auto`] every reader is fed. The one that recognised the output most surely wins: its own tally
/// before lines of single cases before forms that other programs print, too; those count only if the command speaks of
/// the sub-runner. Among equals the more particular form
/// wins: pytest, unittest, ok-lines.
///
/// If the reading has no frames and the check did not end with status 0, the frames are those of the Python tracebacks
/// in the output, so that a script that dies before its sub-runner can report still shows where.
///
/// # Errors
///
/// What reading the captured bytes says.
pub fn read(choice: ReaderChoice, mut sources: Vec<Source<'_>>, context: &Context<'_>) -> io::Result<Reading> {
    sources.sort_by_key(|source| source.stream);
    let (name, mut readers): (_, Vec<Box<dyn Reader + '_>>) = match choice {
        ReaderChoice::Auto => (
            None,
            vec![Box::new(Pytest::new(*context)), Box::new(Unittest::new(*context)), Box::new(OkLines::new(*context))],
        ),
        ReaderChoice::None => (None, Vec::new()),
        ReaderChoice::Pytest => (Some(Pytest::NAME), vec![Box::new(Pytest::new(*context))]),
        ReaderChoice::Unittest => (Some(Unittest::NAME), vec![Box::new(Unittest::new(*context))]),
        ReaderChoice::OkLines => (Some(OkLines::NAME), vec![Box::new(OkLines::new(*context))]),
    };
    let mut tracebacks = Tracebacks::new(*context);
    let mut frames = Frames::default();
    for source in sources {
        source.for_each_line(|line| {
            for reader in &mut readers {
                reader.line(line);
            }
            frames.extend(tracebacks.line(&line.text));
        })?;
        // A traceback does not go on in the other stream.
        frames.extend(tracebacks.finish());
    }

    let mut best: Option<Recognised> = None;
    for recognised in readers.into_iter().filter_map(Reader::finish) {
        // A line of dots, say, which many programs print.
        let loose = recognised.strength == Strength::Loose && choice == ReaderChoice::Auto;
        if loose && !recognised.reading.reader.is_some_and(|reader| context.speaks_of(reader)) {
            continue;
        }
        if best.as_ref().is_none_or(|best| recognised.strength > best.strength) {
            best = Some(recognised);
        }
    }
    let mut reading = match best {
        Some(best) => best.reading,
        None => unrecognised(name),
    };
    if reading.frames.is_empty() && context.exit != Some(Exit::Code(0)) {
        reading.frames = frames.finish(&mut reading.notes);
    }
    Ok(reading)
}

/// Nothing is known: every count stays unknown.
fn unrecognised(name: Option<&'static str>) -> Reading {
    let notes = name.map(|name| format!("nothing in the output is in the form of {name}")).into_iter().collect();
    Reading { reader: name, notes, ..Reading::default() }
}
