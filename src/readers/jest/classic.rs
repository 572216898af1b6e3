//! Jest, with its reporters `default` and `verbose`.

use std::sync::LazyLock;

use regex::Regex;

use super::run::{Numbers, Run, is_script};
use crate::model::{CaseOutcome, Frame, Stream};
use crate::readers::cases::clip;
use crate::readers::frames::{Finder, Stacks};
use crate::readers::own_code::own_name;
use crate::readers::{Arrival, Context, Line, Recognised, Span};

/// What jest puts between the names of suites and cases.
const SEPARATOR: &str = " › ";
const DEEPEST: usize = 100;

/// Where babel could not go on.
static SYNTAX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ +SyntaxError: (.+?): .* \((\d+):(\d+)\)$").expect("a constant"));
static DURATION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" \([\d.]+ m?s\)$").expect("a constant"));

pub struct Classic<'a> {
    context: Context<'a>,
    run: Run,
    stream: Option<Stream>,
    /// The file that was told of last.
    file: Option<String>,
    /// The suites around the next case, while cases are listed.
    suites: Option<Vec<String>>,
    /// Cases of this file were listed.
    listed: bool,
    block: Option<Block<'a>>,
    /// `Test Suites:` stands on the line before.
    suites_told: Option<Numbers>,
    /// All failures are told once more.
    again: bool,
    /// A case ended the whole process.
    dead: bool,
}

struct Block<'a> {
    case: Option<String>,
    stacks: Stacks<'a>,
    frame: Option<Frame>,
    error: Option<String>,
}

impl<'a> Classic<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            run: Run::default(),
            stream: None,
            file: None,
            suites: None,
            listed: false,
            block: None,
            suites_told: None,
            again: false,
            dead: false,
        }
    }

    pub fn line(&mut self, line: &Line<'_>) {
        if self.stream != Some(line.stream) {
            self.end_block();
            self.stream = Some(line.stream);
            self.suites = None;
        }
        if self.text(&line.text, line.at) {
            self.run.span = Some(Span::with(self.run.span, Span::of(line)));
        }
    }

    pub fn finish(mut self) -> Option<Recognised> {
        self.end_block();
        self.run.finish("jest", self.dead)
    }

    /// Whether the line is jest's own.
    fn text(&mut self, text: &str, at: Arrival) -> bool {
        let suites_told = self.suites_told.take();
        // In colour it has a blank before it and another one after it.
        let head = text.strip_prefix(' ').unwrap_or(text);
        if let Some(rest) = head.strip_prefix("PASS ").or_else(|| head.strip_prefix("FAIL ")) {
            let file = DURATION.replace(rest.trim(), "");
            if is_script(&file) && !file.starts_with(' ') {
                self.end_block();
                self.run.open = true;
                self.run.next_file();
                self.listed = false;
                // In a project with a name of its own that stands before the file.
                self.file = Some(clip(&file));
                self.suites = Some(Vec::new());
                return true;
            }
        }
        if let Some(numbers) = text.strip_prefix("Test Suites: ").and_then(|rest| Numbers::read(rest, ", ")) {
            self.end_block();
            self.suites_told = Some(numbers);
            return true;
        }
        if let Some(suites) = suites_told
            && let Some(numbers) = text.strip_prefix("Tests: ").and_then(|rest| Numbers::read(rest, ", "))
            && numbers.told() <= numbers.total
        {
            self.run.tally(numbers, suites.told() < suites.total);
            self.again = false;
            self.dead = false;
            return true;
        }
        if text.starts_with("No tests found, exiting with code ") {
            self.run.tally(Numbers::default(), false);
            return true;
        }
        if text == "Summary of all failing tests" {
            self.end_block();
            self.again = true;
            return true;
        }
        if let Some(title) = text.strip_prefix("  ● ") {
            self.suites = None;
            self.title(title, at);
            return true;
        }
        if let Some(block) = &mut self.block {
            if text.is_empty() || text.starts_with("  ") {
                block.line(text, self.context);
                return false;
            }
            self.end_block();
        }
        self.listing(text, at)
    }

    /// Lines of cases below a file, with their suites.
    fn listing(&mut self, text: &str, at: Arrival) -> bool {
        let Some(suites) = self.suites.as_mut().filter(|_| !self.again) else { return false };
        let body = text.trim_start_matches(' ');
        let depth = (text.len() - body.len()) / 2;
        if depth == 0 {
            if !body.is_empty() || self.listed {
                self.suites = None;
            }
            return false;
        }
        let mut signs = body.chars();
        let outcome = match signs.next() {
            Some('✓' | '√') => CaseOutcome::Passed,
            Some('✕' | '×') => CaseOutcome::Failed,
            Some('○' | '✎') => CaseOutcome::Skipped,
            _ => {
                suites.truncate(depth - 1);
                if suites.len() < DEEPEST {
                    suites.push(clip(body));
                }
                return false;
            }
        };
        let Some(name) = signs.as_str().strip_prefix(' ') else { return false };
        suites.truncate(depth - 1);
        let name = DURATION.replace(name, "");
        let name = match outcome {
            CaseOutcome::Skipped => {
                name.strip_prefix("skipped ").or_else(|| name.strip_prefix("todo ")).unwrap_or(&name)
            }
            _ => &name,
        };
        self.listed = true;
        let path: Vec<_> = suites.iter().map(String::as_str).chain([name]).collect();
        self.run.record(&clip(&path.join(SEPARATOR)), outcome, at);
        true
    }

    /// `● NAME`, above what is told of a failure.
    fn title(&mut self, title: &str, at: Arrival) {
        self.end_block();
        if self.again || title == "Console" || title.starts_with("Cannot log after tests are done") {
            return;
        }
        let (mut case, mut error) = (None, None);
        if let Some(said) = title.strip_prefix(" process.exit called with ") {
            self.dead = true;
            self.run.note(format!("a case ended jest by process.exit({})", clip(said.trim_matches('"'))));
            error = Some(clip(title.trim()));
        } else if title == "Test suite failed to run" {
            if let Some(file) = self.file.clone() {
                self.run.failed_beside(1);
                self.run.name(&file, CaseOutcome::Failed, at);
                case = Some(file);
            }
        } else if self.run.open {
            let name = clip(title);
            if !self.listed && !self.run.is_named(&name) {
                self.run.record(&name, CaseOutcome::Failed, at);
            }
            case = Some(name);
        } else {
            return;
        }
        self.block = Some(Block { case, stacks: Stacks::new(self.context), frame: None, error });
    }

    fn end_block(&mut self) {
        let Some(mut block) = self.block.take() else { return };
        if let Some(frame) = block.frame.take().or_else(|| block.stacks.finish()) {
            let error = frame.error.clone().filter(|error| error.starts_with("SyntaxError")).or(block.error);
            self.run.frame(Frame { case: block.case, error, ..frame });
        }
    }
}

impl Block<'_> {
    fn line(&mut self, text: &str, context: Context<'_>) {
        if self.frame.is_some() {
            return;
        }
        let body = text.trim();
        if self.error.is_none() && !body.is_empty() {
            self.error = Some(clip(body));
        }
        if let Some(found) = text.contains("SyntaxError: ").then(|| SYNTAX.captures(text)).flatten() {
            let (line, column) = (found[2].parse(), found[3].parse().ok());
            if let (Some(file), Ok(line)) = (own_name(&found[1], &context), line) {
                self.frame = Some(Frame { column, error: Some(clip(body)), ..Frame::new(clip(&file), line) });
                return;
            }
        }
        self.frame = self.stacks.line(text);
    }
}
