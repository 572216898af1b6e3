//! Vitest, with its reporters `default`, `verbose` and `dot`.

use std::sync::LazyLock;

use regex::Regex;

use super::run::{Numbers, Run, is_script};
use crate::model::{CaseOutcome, Frame, Raised};
use crate::readers::cases::{clip, number};
use crate::readers::frames::place;
use crate::readers::own_code::own_name;
use crate::readers::{Arrival, Context, Line, Recognised, Span};

/// What vitest puts between the names of files, suites and cases.
const SEPARATOR: &str = " > ";

/// What stands behind a file: `(3 tests | 1 failed) 5ms`.
static FILE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(.+?) \((\d+) tests?((?: \| \d+ \w+)*)\)(?: \d+ ?ms)?$").expect("a constant"));
static DURATION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r" \d+(?:\.\d+)? ?m?s(?: \(retry x\d+\))?$").expect("a constant"));
static SUITES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^⎯+ Failed Suites (\d+) ⎯+$").expect("a constant"));

pub struct Vitest<'a> {
    context: Context<'a>,
    run: Run,
    /// The file above, and whether its cases are counted already.
    file: Option<(String, bool)>,
    /// `Test Files` stands on the line before.
    files: Option<Numbers>,
    block: Option<Block>,
}

#[derive(Default)]
struct Block {
    case: Option<String>,
    /// The file that the case is in.
    file: String,
    error: Option<String>,
    own: Option<Frame>,
    raised: Option<Raised>,
    /// What follows is the error's cause.
    over: bool,
}

impl<'a> Vitest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, run: Run::default(), file: None, files: None, block: None }
    }

    pub fn line(&mut self, line: &Line<'_>) {
        if self.text(&line.text, line.at) {
            self.run.span = Some(Span::with(self.run.span, Span::of(line)));
        }
    }

    pub fn finish(mut self) -> Option<Recognised> {
        self.end_block();
        self.run.finish("vitest", false)
    }

    /// Whether the line is vitest's own, but for its failures, which are on the other stream.
    fn text(&mut self, text: &str, at: Arrival) -> bool {
        let files = self.files.take();
        let body = text.trim_start();
        if text.starts_with(" RUN  v") {
            self.end_block();
            self.run.open = true;
            return true;
        }
        if let Some(told) = text.strip_prefix(" Test Files  ").and_then(total) {
            self.end_block();
            self.files = Some(told);
            return true;
        }
        if let Some(told) = body.strip_prefix("Tests  ").filter(|_| text.starts_with("  "))
            && let Some(files) = files
        {
            let numbers = if told == "no tests" { Some(Numbers::default()) } else { total(told) };
            if let Some(numbers) = numbers.filter(|numbers| numbers.told() <= numbers.total) {
                self.run.tally(numbers, files.told() < files.total);
                return true;
            }
            return false;
        }
        if text.starts_with("No test files found, exiting with code ") {
            self.run.tally(Numbers::default(), false);
            return true;
        }
        if !self.run.open && self.run.tallies == 0 {
            return false;
        }
        if let Some(errors) = body.strip_prefix("Errors  ").filter(|_| text.starts_with("  ")) {
            self.run.note(format!("errors outside of any case: {}", clip(errors)));
            return true;
        }
        if text.starts_with('⎯') {
            self.end_block();
            if let Some(found) = SUITES.captures(text) {
                self.run.failed_beside(number(&found[1]).unwrap_or(0));
            } else if text.contains(" Unhandled ") && !text.contains(" Unhandled Errors ")
                || text.contains(" Uncaught ")
            {
                self.block = Some(Block::default());
            }
            return false;
        }
        if let Some(name) = text.strip_prefix(" FAIL  ") {
            self.fail(name, at);
            return false;
        }
        if let Some(block) = &mut self.block {
            block.line(text, body, self.context);
            return false;
        }
        self.listing(text, at)
    }

    fn fail(&mut self, name: &str, at: Arrival) {
        // Of several cases with one error each has a line of its own.
        let waits = self.block.as_ref().is_some_and(|block| block.error.is_none());
        if !waits {
            self.end_block();
        }
        let name = match name.split_once(" [ ") {
            Some((file, rest)) if rest.ends_with(" ]") => file,
            _ => name,
        };
        let name = clip(name);
        if !self.run.is_named(&name) {
            self.run.name(&name, CaseOutcome::Failed, at);
        }
        let file = name.split(SEPARATOR).next().unwrap_or_default().to_owned();
        self.block = Some(Block { case: Some(name), file, ..Block::default() });
    }

    /// Lines of files and cases.
    fn listing(&mut self, text: &str, at: Arrival) -> bool {
        let body = text.trim_start_matches(' ');
        let indent = text.len() - body.len();
        let mut signs = body.chars();
        let sign = signs.next().unwrap_or(' ');
        let outcome = match sign {
            '✓' => CaseOutcome::Passed,
            '×' => CaseOutcome::Failed,
            '↓' => CaseOutcome::Skipped,
            '·' | '❯' => CaseOutcome::Unknown,
            _ => return false,
        };
        let Some(name) = signs.as_str().strip_prefix(' ').filter(|_| indent == 1 || indent == 3) else { return false };
        if indent == 1 {
            if let Some(found) = FILE.captures(name).filter(|found| is_script(&found[1])) {
                let all = number(&found[2]).unwrap_or(0);
                let of = |word: &str| {
                    let parts = found[3].split(" | ").filter_map(|part| part.split_once(' '));
                    parts.filter(|(_, it)| *it == word).find_map(|(count, _)| number(count)).unwrap_or(0)
                };
                let counted = sign == '✓' || sign == '↓';
                if counted {
                    self.run.count(all.saturating_sub(of("failed") + of("skipped")), of("failed"), of("skipped"));
                }
                self.file = Some((clip(&found[1]), counted));
                return true;
            }
            let name = DURATION.replace(name, "");
            if sign == '❯' || !name.split(SEPARATOR).next().is_some_and(is_script) {
                return false;
            }
            self.run.record(&clip(&name), outcome, at);
            return true;
        }
        let Some((file, counted)) = self.file.clone() else { return false };
        let name = clip(&format!("{file}{SEPARATOR}{}", DURATION.replace(name, "")));
        if counted {
            self.run.name(&name, outcome, at);
        } else {
            self.run.record(&name, outcome, at);
        }
        true
    }

    fn end_block(&mut self) {
        if let Some(mut block) = self.block.take()
            && let Some(own) = block.own.take()
        {
            self.run.frame(Frame { error: block.error, case: block.case, ..own });
        }
    }
}

impl Block {
    fn line(&mut self, text: &str, body: &str, context: Context<'_>) {
        if self.error.is_none() {
            if !body.is_empty() {
                self.error = Some(clip(body));
            }
            return;
        }
        self.over |= text.starts_with("Caused by: ");
        if self.own.is_some() || (self.over && self.raised.is_some()) {
            return;
        }
        let Some(said) = text.strip_prefix(" ❯ ").or_else(|| text.strip_prefix("  File: ")) else { return };
        let Some(found) = place(said) else { return };
        // Function and file have but a blank between them; both may have more. The case's own file is known.
        let before = found.file.strip_suffix(&self.file).filter(|_| !self.file.is_empty());
        let (function, file) = match before.filter(|before| before.is_empty() || before.ends_with(' ')) {
            Some(before) => (before, &found.file[before.len()..]),
            None => match found.file.split_once(' ') {
                Some((function, file)) if !function.contains('/') && !is_script(function) => (function, file),
                _ => ("", found.file),
            },
        };
        let function = Some(function.trim_end()).filter(|function| !function.is_empty()).map(clip);
        if file.starts_with("node:internal/") {
            return;
        }
        if let Some(name) = own_name(file, &context) {
            let raised = self.raised.take();
            self.own = Some(Frame { column: found.column, function, raised, ..Frame::new(clip(&name), found.line) });
        } else if self.raised.is_none() {
            self.raised = Some(Raised { file: clip(file), line: found.line, function });
        }
    }
}

/// `1 failed | 2 passed (3)`.
fn total(text: &str) -> Option<Numbers> {
    let (parts, total) = text.trim().strip_suffix(')')?.rsplit_once(" (")?;
    Some(Numbers { total: number(total)?, ..Numbers::read(parts, " | ")? })
}
