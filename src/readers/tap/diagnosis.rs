//! What stands in comments below (or, in the other stream, apart from) a failed test point: Perl's `Failed test 'name'`
//! with `at FILE line N.`, and bats' `(in test file FILE, line N)`.

use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::{clip, number};
use crate::readers::own_code::own_name;

/// Reads comments, and finds the failure that each is about.
#[derive(Debug, Default)]
pub struct Diagnosis {
    open: Option<Open>,
    /// bats' places, from the deepest on.
    raised: Option<Raised>,
    own: Option<Frame>,
    /// Places go on in the next line.
    goes_on: bool,
}

#[derive(Debug)]
struct Open {
    depth: usize,
    name: Option<String>,
    todo: bool,
    frame: Option<Frame>,
    lines: usize,
}

/// A failure that comments told of.
#[derive(Debug)]
pub struct Failure {
    pub depth: usize,
    /// Perl says it; bats' is that of the test point before.
    pub name: Option<String>,
    pub frame: Frame,
    pub bats: bool,
}

impl Diagnosis {
    /// Takes a comment (without `# `) at that depth; gives the failure that has ended or is complete.
    pub fn comment(&mut self, depth: usize, text: &str, context: &Context<'_>) -> Option<Failure> {
        let trimmed = text.trim_start();
        if let Some(rest) = trimmed.strip_prefix("Failed ") {
            let (todo, rest) = rest.strip_prefix("(TODO) ").map_or((false, rest), |rest| (true, rest));
            if let Some(rest) = rest.strip_prefix("test") {
                let before = self.end();
                let mut open = Open { depth, name: None, todo, frame: None, lines: 0 };
                if let Some(at) = rest.strip_prefix(" at ") {
                    open.frame = perl_place(at, context);
                } else {
                    let name = rest.trim().trim_start_matches('\'');
                    open.name = Some(clip(name.strip_suffix('\'').unwrap_or(name)));
                }
                self.open = Some(open);
                return before;
            }
        }
        if trimmed.starts_with("Looks like ") {
            return self.end();
        }
        if trimmed.starts_with('(') || self.goes_on {
            self.bats_places(trimmed, context);
            return None;
        }
        if let Some(frame) = self.own.take_if(|_| trimmed.starts_with('`')) {
            // `cmd' failed with status 127
            let frame = Frame { error: Some(clip(trimmed)), raised: self.raised.take(), ..frame };
            return Some(Failure { depth, name: None, frame, bats: true });
        }
        let open = self.open.as_mut().filter(|open| open.depth == depth)?;
        match &mut open.frame {
            None if open.lines == 0 => {
                // A name of several lines goes on before its place.
                if let Some(at) = trimmed.strip_prefix("at ") {
                    open.frame = perl_place(at, context);
                    open.lines += usize::from(open.frame.is_none());
                }
            }
            // `got: 1`, `expected: 2`.
            Some(frame) if open.lines < 2 && !trimmed.is_empty() => {
                open.lines += 1;
                let error = frame.error.take();
                frame.error = Some(clip(&error.map_or(trimmed.to_owned(), |error| format!("{error}, {trimmed}"))));
            }
            _ => {}
        }
        None
    }

    /// Ends what is being read: its failure, if it has a place in the project's own code and is none that is awaited.
    pub fn end(&mut self) -> Option<Failure> {
        self.goes_on = false;
        self.raised = None;
        if let Some(frame) = self.own.take() {
            return Some(Failure { depth: 0, name: None, frame, bats: true });
        }
        let open = self.open.take().filter(|open| !open.todo)?;
        Some(Failure { depth: open.depth, frame: open.frame?, name: open.name, bats: false })
    }

    /// `(from function … in file a.bash, line 2,` and `in test file t.bats, line 17)` below it.
    fn bats_places(&mut self, text: &str, context: &Context<'_>) {
        let text = text.trim_start_matches('(');
        let (text, last) = match text.strip_suffix(')') {
            Some(text) => (text, true),
            None => (text.trim_end_matches(','), false),
        };
        let read = bats_place(text);
        self.goes_on = read.is_some() && !last;
        let Some((function, file, line)) = read else { return };
        if self.own.is_some() {
            return;
        }
        let function = function.map(clip);
        match own_name(file, context) {
            Some(file) => self.own = Some(Frame { function, ..Frame::new(clip(&file), line) }),
            None if self.raised.is_none() => self.raised = Some(Raised { file: clip(file), line, function }),
            None => {}
        }
    }
}

fn bats_place(text: &str) -> Option<(Option<&str>, &str, u64)> {
    let (function, rest) = match text.strip_prefix("from function `") {
        Some(rest) => {
            let (function, rest) = rest.split_once("' ")?;
            (Some(function), rest)
        }
        None => (None, text),
    };
    let rest = rest.strip_prefix("in test file ").or_else(|| rest.strip_prefix("in file "))?;
    let (file, line) = rest.rsplit_once(", line ")?;
    Some((function, file, number(line)?))
}

/// Whether a comment is one that only bats writes.
pub fn is_bats(text: &str) -> bool {
    let places = text.strip_prefix('(').is_some_and(|text| bats_place(text.trim_end_matches([')', ','])).is_some());
    places || text.starts_with("bats warning: ")
}

/// `t/a.t line 5.`
fn perl_place(text: &str, context: &Context<'_>) -> Option<Frame> {
    let (file, line) = text.trim_end().trim_end_matches('.').rsplit_once(" line ")?;
    let line = number(line)?;
    Some(Frame::new(clip(&own_name(file, context)?), line))
}
