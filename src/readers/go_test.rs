//! `go test`, as text with and without `-v`, and as the events of `-json`.
//!
//! # What is counted
//!
//! - Everything that Go gives an outcome is a case: tests, subtests and the tests that hold them, examples, seeds of a
//!   fuzz test, and with `-v` benchmarks. The same name in two packages is two cases.
//! - Without `-v` what passed is not named, and nothing is counted: `ok` and a package's name show that it is all right,
//!   not how much ran. Only failures are known then.
//! - A package that fails though none of its cases did (it could not be built, it was ended, its `TestMain` failed) is
//!   itself a failed case, named like the package.
//! - A package that died leaves the case that ran unknown, and nothing tells how many were to follow: `unknown` is
//!   unknown. `planned` is never known.
//! - What a passing package seems to say of failures is something that a case printed.
//!
//! # Frames
//!
//! Of a failed case the last place that it logged (what `t.Fatal` says stands last), or the panic's innermost own frame.
//! Go prints such a place as a bare file name. The folder is known if the command names it, or if a stack does; else
//! the name stays as it is.

mod event;
mod folders;
mod package;

use std::collections::HashMap;

use self::event::{Event, event};
use self::folders::Folders;
use self::package::{End, Package, Said};
use super::cases::{Frames, MOST_CASES, Outcomes, note};
use super::frames::{Finder, Goroutines};
use super::{Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{Case, Counts, Frame, ReaderName, Reading, Stream};

/// How many packages are told apart.
const PACKAGES: usize = 10_000;

pub struct GoTest<'a> {
    context: Context<'a>,
    stream: Option<Stream>,
    span: Option<Span>,
    strength: Option<Strength>,
    notes: Vec<String>,
    /// The package whose text is being read; its name stands at its end.
    text: Package<'a>,
    /// Those whose events are being read, by their names.
    packages: HashMap<String, Package<'a>>,
    /// Errors of compilation, on the other stream.
    compiler: Goroutines<'a>,
    folders: Folders,
    frames: Vec<(String, Frame)>,
    errors: Vec<Frame>,
    cases: Vec<Case>,
    cut: bool,
    sums: Outcomes,
    /// A package whose passed cases are not named.
    nameless: bool,
    /// What was to run beyond that is unknown.
    died: bool,
    ended: u64,
}

impl Reader for GoTest<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.stream != Some(line.stream) {
            if self.stream.is_some() {
                self.end_text(None, None);
            }
            self.stream = Some(line.stream);
        }
        let own = match event(&line.text) {
            Some(event) => {
                self.event(&event, line);
                true
            }
            None => self.text(line),
        };
        if own && self.span.is_none_or(|span| span.stream == line.stream || self.ended == 0) {
            self.span = Some(Span::with(self.span, Span::of(line)));
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        self.end_text(None, None);
        let mut rest: Vec<_> = self.packages.drain().collect();
        rest.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, package) in rest {
            self.close(package, Some(&name), None);
        }
        let error = self.compiler.finish();
        self.errors.extend(error);
        let strength = self.strength?;
        let known = |count: u64| (!self.nameless).then_some(count);
        let counts = Counts {
            planned: None,
            ran: known(self.sums.ran()),
            passed: known(self.sums.passed),
            failed: Some(self.sums.failed),
            skipped: known(self.sums.skipped),
            unknown: known(self.sums.unknown).filter(|_| !self.died && !self.stops_early()),
        };
        if self.nameless {
            note(&mut self.notes, "without -v go does not name what passed: how many cases ran is unknown");
        }
        if self.cut {
            note(&mut self.notes, format!("more than {MOST_CASES} cases: the list is cut, the numbers are not"));
        }
        for error in &self.errors {
            let folder = error.file.rsplit_once('/').map(|(folder, _)| folder);
            if let (Some(package), Some(folder)) = (error.case.as_deref(), folder)
                && package.ends_with(&format!("/{folder}"))
            {
                self.folders.package(package, Some(folder));
            }
        }
        let mut frames = Frames::default();
        for (package, mut frame) in self.frames {
            if !frame.file.contains(['/', '\\']) {
                frame.file = self.folders.file(&package, &frame.file, &self.context);
            }
            frames.extend(Some(frame));
        }
        for error in self.errors {
            frames.extend(Some(error));
        }
        let frames = frames.finish(&mut self.notes);
        let reader = ReaderName::GoTest;
        let name = Some(reader.name().to_owned());
        let reading = Reading { reader: name, counts, cases: self.cases, frames, notes: self.notes };
        Some(Recognised { reader, strength, span: self.span, reading })
    }
}

impl<'a> GoTest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            stream: None,
            span: None,
            strength: None,
            notes: Vec::new(),
            text: Package::new(context),
            packages: HashMap::new(),
            compiler: Goroutines::new(context),
            folders: Folders::new(context),
            frames: Vec::new(),
            errors: Vec::new(),
            cases: Vec::new(),
            cut: false,
            sums: Outcomes::default(),
            nameless: false,
            died: false,
            ended: 0,
        }
    }

    /// With `-failfast` what never began has no name.
    fn stops_early(&self) -> bool {
        self.sums.failed > 0
            && self.context.argv.iter().any(|word| word.trim_start_matches('-').starts_with("failfast"))
    }

    /// A line of text; whether it is one of Go's own.
    fn text(&mut self, line: &Line<'_>) -> bool {
        let text = line.text.as_ref();
        if let Some((end, name)) = end_of_package(text) {
            if end == End::Ok && !self.text.may_be_ok() {
                return false;
            }
            self.strength = Some(Strength::Tally);
            self.ended += 1;
            self.end_text(Some(end), Some(name));
            return true;
        }
        let said = self.text.line(text, line.at);
        if said != Said::Nothing {
            self.strength = self.strength.max(Some(Strength::Lines));
        } else if !self.text.is_in_panic() {
            let error = self.compiler.line(text);
            self.errors.extend(error.filter(|_| self.errors.len() < super::cases::MOST_FRAMES));
        }
        said != Said::Nothing
    }

    fn event(&mut self, event: &Event<'_>, line: &Line<'_>) {
        let Some(name) = event.package.as_deref() else {
            // What the compiler says, as an event of its own.
            if event.action == "build-output" {
                let error = self.compiler.line(event.output.as_deref().unwrap_or_default().trim_end());
                self.errors.extend(error.filter(|_| self.errors.len() < super::cases::MOST_FRAMES));
            }
            return;
        };
        self.strength = self.strength.max(Some(Strength::Lines));
        if event.test.is_none() && matches!(event.action.as_ref(), "pass" | "fail" | "skip") {
            let end = match event.action.as_ref() {
                "pass" => End::Ok,
                "skip" => End::Empty,
                _ => End::Fail,
            };
            self.strength = Some(Strength::Tally);
            self.ended += 1;
            let mut package = self.packages.remove(name).unwrap_or_else(|| Package::new(self.context));
            package.is_named();
            return self.close(package, Some(name), Some(end));
        }
        if !self.packages.contains_key(name) {
            if self.packages.len() == PACKAGES {
                self.died = true;
                return;
            }
            self.packages.insert(name.to_owned(), Package::new(self.context));
        }
        if let Some(package) = self.packages.get_mut(name) {
            package.event(event, line.at);
        }
    }

    fn end_text(&mut self, end: Option<End>, name: Option<&str>) {
        let package = std::mem::replace(&mut self.text, Package::new(self.context));
        if end.is_some() || package.seen() {
            self.close(package, name, end);
        }
    }

    /// A package is over, or the output is.
    fn close(&mut self, package: Package<'a>, name: Option<&str>, end: Option<End>) {
        let closed = package.close(name, end, &mut self.notes);
        if let Some(name) = name {
            self.folders.package(name, closed.folder.as_deref());
        }
        self.sums.passed += closed.outcomes.passed;
        self.sums.failed += closed.outcomes.failed;
        self.sums.skipped += closed.outcomes.skipped;
        self.sums.unknown += closed.outcomes.unknown;
        self.nameless |= closed.nameless;
        self.died |= closed.died;
        let room = MOST_CASES - self.cases.len();
        self.cut |= closed.cases.len() > room;
        self.cases.extend(closed.cases.into_iter().take(room));
        let name = name.unwrap_or_default();
        let room = super::cases::MOST_FRAMES.saturating_sub(self.frames.len());
        self.frames.extend(closed.frames.into_iter().take(room + 1).map(|frame| (name.to_owned(), frame)));
    }
}

/// `ok` or `FAIL` with a package and a time, `FAIL` with `[build failed]`, `?` with `[no test files]`, in columns.
fn end_of_package(text: &str) -> Option<(End, &str)> {
    let (word, rest) = text.split_once('\t')?;
    let end = match word {
        "ok  " => End::Ok,
        "FAIL" => End::Fail,
        "?   " | "---" => End::Empty,
        "" => End::Covered,
        _ => return None,
    };
    if end == End::Covered {
        // Of a package without tests, with `-cover`.
        let (name, rest) = rest.split_once("\t\t")?;
        return rest.starts_with("coverage: ").then_some((End::Empty, name));
    }
    let name = rest.split(['\t', ' ']).next()?;
    if name.is_empty() {
        return None;
    }
    let rest = rest[name.len()..].trim_start();
    let end = match end {
        End::Fail if rest.starts_with("[build failed]") || rest.starts_with("[setup failed]") => End::NotBuilt,
        End::Ok if rest.contains("[no tests to run]") => End::NoTests,
        End::Ok | End::Fail => {
            let time = rest.split(['\t', ' ']).next().unwrap_or_default();
            let timed = time == "(cached)" || time.strip_suffix('s').is_some_and(|time| time.parse::<f64>().is_ok());
            return timed.then_some((end, name));
        }
        end => end,
    };
    Some((end, name))
}
