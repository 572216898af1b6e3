//! Stack traces of JavaScript, as node, its test runners, jest and vitest print them.

use std::sync::LazyLock;

use regex::Regex;

use super::Finder;
use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::clip;
use crate::readers::own_code::own_name;

/// The first line of an error: a class and its message, perhaps behind what a program printed before it.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s\[(])((?:[A-Za-z_$][\w$.]*)?(?:Error|Exception))((?: \[[\w$]+\])?)((?:: .*)?)$")
        .expect("a constant")
});
/// How many lines a message may have between its first and its stack.
const MESSAGE: usize = 100;

/// A line of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<'a> {
    pub file: &'a str,
    pub line: u64,
    pub column: Option<u64>,
    pub function: Option<&'a str>,
}

/// `at FUNCTION (FILE:LINE:COLUMN)`, or without the function; without the `at` in TAP.
pub fn place(text: &str) -> Option<Place<'_>> {
    let text = text.strip_suffix(" {").or_else(|| text.strip_suffix(',')).unwrap_or(text);
    let text = text.strip_prefix("async ").unwrap_or(text);
    let (function, inside) = match text.strip_suffix(')').and_then(|text| text.split_at_checked(opening(text)?)) {
        Some((function, inside)) => (Some(function), &inside[2..]),
        None => (None, text),
    };
    let (rest, last) = number_at_the_end(inside)?;
    let (file, line, column) = match number_at_the_end(rest) {
        Some((file, line)) => (file, line, Some(last)),
        None => (rest, last, None),
    };
    // `10:30:15` is a time.
    if !(file.contains(['.', '/', '\\']) || file.starts_with("node:") || file.contains('<')) {
        return None;
    }
    let function = function.map(|function| function.split(" [as ").next().unwrap_or(function));
    Some(Place { file, line, column, function: function.filter(|function| !function.is_empty()) })
}

/// Where the bracket before the file is: both functions and files may have brackets of their own.
fn opening(text: &str) -> Option<usize> {
    let starts = |rest: &str| {
        ["/", "\\\\", "file:", "node:", "<", "eval at ", "."].iter().any(|start| rest.starts_with(start))
            || matches!(rest.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
    };
    text.match_indices(" (").map(|(at, _)| at).find(|at| starts(&text[at + 2..])).or_else(|| text.find(" ("))
}

/// Splits `:N` off.
fn number_at_the_end(text: &str) -> Option<(&str, u64)> {
    let (rest, number) = text.rsplit_once(':')?;
    let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((rest, number.parse().ok().filter(|_| plain)?))
}

/// Finds stacks in lines, and the frame that each is about.
///
/// That is the innermost frame in the project's own code; of an error with causes or parts, the error's own before
/// those. An error that has none (one of syntax, or a text that was thrown) is where node shows the source. Where the
/// error was raised is told if that is in a library or in one of node's public modules: its `node:internal` is noise.
#[derive(Debug)]
pub struct Stacks<'a> {
    context: Context<'a>,
    state: State,
    /// What the message's first line may be, and how many lines before.
    error: Option<(String, usize)>,
    /// The place above the source that node shows.
    shown: Option<Frame>,
    own: Option<Frame>,
    raised: Option<Raised>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Below `FILE:LINE`, and so many lines further.
    Shown(usize),
    /// Below the carets: the error is next.
    Carets,
    /// The error was seen.
    Message,
    /// In the stack.
    Stack,
    /// In what the error has beside its stack, up to the line that closes it, indented by so much.
    Parts(usize),
}

impl Finder for Stacks<'_> {
    fn line(&mut self, text: &str) -> Option<Frame> {
        let body = text.trim_start();
        let indent = text.len() - body.len();
        let found = if indent > 0 || matches!(self.state, State::Stack | State::Message) {
            body.strip_prefix("at ").and_then(place)
        } else {
            None
        };
        if let Some(found) = found {
            let begins = !matches!(self.state, State::Stack | State::Parts(_));
            let before = if begins && self.own.is_some() { self.finish() } else { None };
            self.frame(&found);
            if body.ends_with(" {") && !matches!(self.state, State::Parts(_)) {
                self.state = State::Parts(indent.saturating_sub(4));
            } else if begins {
                self.state = State::Stack;
            }
            return before;
        }
        match self.state {
            State::Parts(base) => {
                if (body == "}" || body == "},") && indent <= base {
                    return self.finish();
                }
                if !body.is_empty() && indent < base {
                    return self.after(text);
                }
                // Of a part only if the whole has none.
                if self.own.is_none() {
                    self.message(text);
                }
                None
            }
            State::Stack if body.starts_with("at ") || body.starts_with("... ") => None,
            State::Stack => self.after(text),
            State::Shown(lines) => {
                if !body.is_empty() && body.bytes().all(|byte| byte == b'^') {
                    self.state = State::Carets;
                } else if lines == 2 {
                    self.reset();
                    self.idle(text);
                } else {
                    self.state = State::Shown(lines + 1);
                }
                None
            }
            State::Carets => {
                if !body.is_empty() {
                    let first = body.strip_suffix(" {").unwrap_or(body);
                    let first = first.strip_prefix('[').and_then(|first| first.strip_suffix(']')).unwrap_or(first);
                    self.error = Some((error_in(first).unwrap_or_else(|| clip(first)), 0));
                    self.state = if body.ends_with(" {") { State::Parts(indent) } else { State::Message };
                }
                None
            }
            State::Message => {
                let (_, lines) = self.error.as_mut()?;
                *lines += 1;
                if *lines > MESSAGE || body.starts_with("Node.js v") || body.starts_with("(Use `node --trace-uncaught")
                {
                    return self.finish();
                }
                None
            }
            State::Idle => {
                self.idle(text);
                None
            }
        }
    }

    fn finish(&mut self) -> Option<Frame> {
        let error = self.error.take().map(|(error, _)| error);
        let shown = self.shown.take().filter(|_| self.state != State::Idle && !matches!(self.state, State::Shown(_)));
        let frame = self.own.take().or(shown).map(|frame| Frame { error: frame.error.clone().or(error), ..frame });
        self.reset();
        frame
    }
}

impl<'a> Stacks<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, state: State::Idle, error: None, shown: None, own: None, raised: None }
    }

    fn reset(&mut self) {
        *self = Self::new(self.context);
    }

    /// The stack has ended above this line.
    fn after(&mut self, text: &str) -> Option<Frame> {
        let before = self.finish();
        self.idle(text);
        before
    }

    fn idle(&mut self, text: &str) {
        self.message(text);
        let Some((file, line)) = number_at_the_end(text) else { return };
        let named = file.starts_with(['/', '\\']) || file.starts_with("file:") || file.starts_with("node:");
        if named || file.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/") || file.starts_with("<anony") {
            self.shown = own_name(file, &self.context).map(|file| Frame::new(clip(&file), line));
            self.state = State::Shown(0);
        }
    }

    /// A line that may be the first of an error's message, or one after it.
    fn message(&mut self, text: &str) {
        if let Some(error) = error_in(text) {
            self.error = Some((error, 0));
        } else if let Some((_, lines)) = &mut self.error {
            *lines += 1;
            if *lines > MESSAGE {
                self.error = None;
            }
        }
    }

    fn frame(&mut self, place: &Place<'_>) {
        if self.own.is_some() {
            return;
        }
        let function = place.function.map(clip);
        // Before version 16 node's own modules have no scheme.
        let internal = place.file.starts_with("node:internal/") || place.file.starts_with("internal/");
        if internal || place.file.starts_with("eval at ") || place.file.starts_with('<') {
            return;
        }
        if let Some(file) = own_name(place.file, &self.context) {
            let error = self.error.as_ref().map(|(error, _)| error.clone());
            let raised = self.raised.take();
            self.own =
                Some(Frame { column: place.column, function, error, raised, ..Frame::new(clip(&file), place.line) });
        } else if self.raised.is_none() {
            self.raised = Some(Raised { file: clip(place.file), line: place.line, function });
        }
    }
}

/// The error that a line tells of, without what stands before it.
fn error_in(text: &str) -> Option<String> {
    if !(text.contains("Error") || text.contains("Exception")) {
        return None;
    }
    let text = text.strip_suffix(" {").unwrap_or(text).trim_end_matches([']', ',']);
    let found = ERROR.captures(text)?;
    // Node's test runner puts `[Error]` behind the class of an error from another realm.
    let code = if &found[2] == " [Error]" { "" } else { &found[2] };
    Some(clip(&format!("{}{code}{}", &found[1], &found[3])))
}
