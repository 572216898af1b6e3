//! What one check is to leave alone beyond the project: the places that it watches, the top of the real home directory, and
//! what commands print.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::snapshot::Snapshot;
use crate::model::{Check, CheckCommand, Exit, Expect, Fact, Finding, Home, Kind, ReaderChoice, Severity};
use crate::platform::{FileGlob, Outcome, Touched};
use crate::probes::{self, Change, Places, What, Where};
use crate::run::life::Life;
use crate::run::sandbox::Sandbox;
use crate::run::slot::Slot;
use crate::run::{output, records};
use crate::words::{command_line, quoted, signal};
use crate::{env, platform};

/// How much of what a command prints is compared, in bytes.
const MOST: u64 = 1 << 20;

/// How things are before a check.
#[derive(Default)]
pub struct Before {
    watched: Vec<(PathBuf, FileGlob, Snapshot)>,
    home: Option<(PathBuf, Snapshot)>,
    said: Vec<Said>,
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    exit: Option<Exit>,
    stdout: Vec<u8>,
}

/// A place as a folder, and as a glob below it that begins with the first name that is none.
#[must_use]
pub fn folder_of(place: &str, places: &Places) -> (PathBuf, String) {
    let below = [("$project/", &places.project), ("$sandbox/", &places.sandbox)];
    let (mut folder, rest) =
        match below.into_iter().find_map(|(word, folder)| Some((folder, place.strip_prefix(word)?))) {
            Some((folder, rest)) => (folder.clone(), rest),
            None if Path::new(place).is_absolute() => {
                let root = place.len() - place.find('/').map_or(place, |at| &place[at + 1..]).len();
                (PathBuf::from(&place[..root]), &place[root..])
            }
            None => (places.project.clone(), place),
        };
    let names: Vec<&str> = rest.split('/').collect();
    let plain = names[..names.len() - 1].iter().take_while(|name| !name.contains(['*', '?', '[', '{'])).count();
    folder.extend(&names[..plain]);
    (folder, names[plain..].join("/"))
}

impl Before {
    /// How things are now.
    ///
    /// # Errors
    ///
    /// A sentence that says which command could not be asked, and why.
    pub fn now(
        life: &Life<'_>,
        check: &Check,
        sandbox: &Sandbox,
        places: &Places,
        slot: &mut Slot<'_>,
    ) -> Result<Self, String> {
        let mut watched = Vec::new();
        for place in &check.watch {
            let (folder, glob) = folder_of(place, places);
            let glob = FileGlob::new(&glob).map_err(|why| format!("watch: {place} is no glob: {why}"))?;
            let snapshot = Snapshot::of_glob(&folder, &glob);
            watched.push((folder, glob, snapshot));
        }
        let is_real = check.home == Home::Real || check.fact == Some(Fact::RealHome);
        let home = env::home().filter(|_| is_real);
        let home = home.map(|home| (home.clone(), Snapshot::of_top(&home)));
        let said = check.unchanged.iter().map(|argv| ask(life, check, argv, sandbox, places, slot));
        Ok(Self { watched, home, said: said.collect::<Result<_, _>>()? })
    }

    /// What is different after the check, whose first findings are those of which it is known that the check did it.
    pub fn findings(
        &self,
        life: &Life<'_>,
        check: &Check,
        (sandbox, places): (&Sandbox, &Places),
        slot: &mut Slot<'_>,
        touched: &[Touched],
    ) -> Found {
        let mut changes = Vec::new();
        let mut found = Found::default();
        for ((folder, glob, before), place) in self.watched.iter().zip(&check.watch) {
            let now = Snapshot::of_glob(folder, glob);
            found.sure.extend(before.blind.as_ref().or(now.blind.as_ref()).map(|why| {
                let message = format!("could not see whether {place} is as it was: {why}");
                Finding::new(Kind::ProbeBlind, Severity::Warning, message)
            }));
            changes.extend(before.changes(&now, Where::Watched));
        }
        name_writers(&mut changes, touched);
        name_makers(&mut changes);
        let removed = if life.options.remove_residue { remove(&changes) } else { Vec::new() };
        let (sure, unsure): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.writer.is_some());
        let told = |changes: &[Change]| probes::residue(changes, None, places, None);
        found.sure.extend(told(&sure));
        found.sure.extend(removed.iter().map(|path| {
            let message = format!("{} was removed, as --remove-residue asks", places.name(&path.to_string_lossy()));
            Finding::new(Kind::Residue, Severity::Note, message)
        }));
        found.unsure.extend(told(&unsure));
        if let Some((home, before)) = &self.home {
            found.unsure.extend(told(&before.changes(&Snapshot::of_top(home), Where::Home)));
        }
        for (argv, before) in check.unchanged.iter().zip(&self.said) {
            match ask(life, check, argv, sandbox, places, slot) {
                Ok(now) => found.unsure.extend(differs(argv, before, &now)),
                Err(why) => found.sure.push(Finding::new(Kind::ProbeBlind, Severity::Error, why)),
            }
        }
        found
    }
}

/// What is different.
#[derive(Default)]
pub struct Found {
    /// What is known to be the check's doing.
    pub sure: Vec<Finding>,
    /// What may be that of whatever else ran.
    pub unsure: Vec<Finding>,
}

/// Says who wrote what, and adds what came and went.
fn name_writers(changes: &mut Vec<Change>, touched: &[Touched]) {
    for touched in touched {
        let path = Path::new(&touched.path);
        let writer = touched.writer.clone().map(|writer| (writer, touched.sure));
        if let Some(change) = changes.iter_mut().find(|change| change.path == path) {
            change.writer = writer;
        } else if touched.made && touched.gone && fs::symlink_metadata(path).is_err() {
            changes.push(Change {
                path: path.to_owned(),
                what: What::Passing,
                folder: false,
                empty: false,
                place: Where::Watched,
                at: None,
                writer,
            });
        }
    }
}

/// Removes new files of the user's own whose writer was seen, and the new folders that are empty then. Returns what is gone.
fn remove(changes: &[Change]) -> Vec<PathBuf> {
    // What is in a folder comes behind it.
    let new =
        changes.iter().rev().filter(|change| change.what == What::New && platform::is_own(&change.path) == Some(true));
    let sure = new.filter(|change| change.writer.as_ref().is_some_and(|(_, sure)| *sure));
    let gone = sure.filter(|change| {
        let removed = if change.folder { fs::remove_dir(&change.path) } else { fs::remove_file(&change.path) };
        // What stays was told, and is told again by the next run.
        removed.is_ok()
    });
    gone.map(|change| change.path.clone()).collect()
}

/// Who made a folder is not told, but who wrote in it.
fn name_makers(changes: &mut [Change]) {
    for at in 0..changes.len() {
        let (before, below) = changes.split_at_mut(at + 1);
        let folder = &mut before[at];
        if folder.folder && folder.writer.is_none() {
            let mut below = below.iter().take_while(|change| change.path.starts_with(&folder.path));
            folder.writer = below.find_map(|change| change.writer.clone());
        }
    }
}

/// What a command says, run as the check is.
fn ask(
    life: &Life<'_>,
    check: &Check,
    argv: &[String],
    sandbox: &Sandbox,
    places: &Places,
    slot: &mut Slot<'_>,
) -> Result<Said, String> {
    let failed = |why: String| format!("unchanged: {}: {why}", command_line(argv));
    let asking = Check {
        command: CheckCommand::Argv(argv.to_vec()),
        expect: Expect::default(),
        reader: ReaderChoice::None,
        stdin: None,
        // Whoever looks is not to be changed.
        fact: None,
        publishes: Vec::new(),
        watch: Vec::new(),
        copies: 1,
        ..check.clone()
    };
    let ready = life.prepare_in(&asking, sandbox, places.clone()).map_err(failed)?;
    let outcome: Outcome = slot.run(&ready.job).map_err(|error| failed(error.to_string()))?;
    if let Some(error) = &outcome.not_started {
        return Err(failed(records::start_error(error)));
    }
    if outcome.exit.is_none() {
        return Err(failed("it had to be ended".to_owned()));
    }
    let mut stdout = Vec::new();
    let read = output::open(&outcome.stdout).and_then(|stream| stream.take(MOST).read_to_end(&mut stdout));
    read.map_err(|error| failed(error.to_string()))?;
    Ok(Said { exit: outcome.exit, stdout })
}

fn differs(argv: &[String], before: &Said, now: &Said) -> Option<Finding> {
    if before == now {
        return None;
    }
    let mut message = format!("{} does not say what it said before:", command_line(argv));
    let lines = |said: &Said| String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(before), lines(now));
    let line = |lines: &[String], others: &[String]| {
        let own = lines.iter().find(|line| !others.contains(line)).or(lines.first());
        own.map_or_else(|| "nothing".to_owned(), |line| quoted(line))
    };
    let _ = if before.stdout == now.stdout {
        let exit = |said: &Said| match said.exit {
            Some(Exit::Code(code)) => format!("exit status {code}"),
            Some(Exit::Signal(number)) => signal(number),
            None => "no end".to_owned(),
        };
        write!(message, " {} before, {} now", exit(before), exit(now))
    } else {
        write!(message, " {} before, {} now", line(&old, &new), line(&new, &old))
    };
    let mut finding = Finding::new(Kind::Residue, Severity::Error, message);
    finding.remedy = Some("let the test undo what it did, or do it in its sandbox".to_owned());
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_and_a_glob() {
        let places = Places { sandbox: "/s".into(), project: "/p".into(), cwd: "/p/x".into() };
        let told = |place: &str| {
            let (folder, glob) = folder_of(place, &places);
            (folder.to_string_lossy().into_owned(), glob)
        };
        for (place, folder, glob) in [
            ("/tmp/sweep_*", "/tmp", "sweep_*"),
            ("/x", "/", "x"),
            (".claude/state", "/p/.claude", "state"),
            ("$sandbox/home/*/y", "/s/home", "*/y"),
            ("$project/a", "/p", "a"),
            ("**/a", "/p", "**/a"),
        ] {
            if cfg!(unix) {
                assert_eq!(told(place), (folder.to_owned(), glob.to_owned()), "{place}");
            }
        }
    }

    #[test]
    fn what_a_command_says_is_compared_whole_and_told_by_a_line() {
        let said = |code, text: &str| Said { exit: Some(Exit::Code(code)), stdout: text.into() };
        let argv = ["pgrep".to_owned(), "-fc".to_owned(), "guard".to_owned()];
        assert!(differs(&argv, &said(0, "1\n"), &said(0, "1\n")).is_none());
        let found = differs(&argv, &said(1, "0\n"), &said(0, "2\n")).expect("a finding");
        assert!(found.message.starts_with("pgrep -fc guard does not say what it said before:"), "{}", found.message);
        assert!(found.message.contains('0') && found.message.ends_with("now"), "{}", found.message);
        assert!(differs(&argv, &said(1, ""), &said(0, "")).is_some());
    }
}
