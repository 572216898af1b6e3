//! Python tracebacks, as the interpreter, unittest and pytest's `--tb=native` print them.

use std::sync::LazyLock;

use regex::Regex;

use super::Context;
use super::cases::clip;
use super::own_code::own_name;
use crate::model::Frame;

static FRAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^  File "(.+)", line (\d+)(?:, in (.+))?$"#).expect("a constant"));
/// The line that ends a traceback: a type with a message, or a type alone.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\p{L}_][\w.<>]*: ?.*$|^(?:[\p{L}_][\w<>]*\.)+\w+$|^\p{Lu}\w*$").expect("a constant")
});

/// Finds tracebacks in lines, and the frame that each is about.
///
/// That is the deepest frame in the project's own code of the last exception of a chain, or of an earlier one if the
/// last has none; of an exception group the group's own before those of its parts. A traceback without a frame of the
/// project's own has none: none is invented.
#[derive(Debug)]
pub struct Tracebacks<'a> {
    context: Context<'a>,
    state: State,
    /// The deepest own frame of the exception that is being read.
    own: Option<Frame>,
    /// The frame of the chain so far.
    chain: Option<Frame>,
    /// The next traceback belongs to the same chain.
    chained: bool,
    /// Python tells of an exception that it dropped: no failure.
    dropped: bool,
    group: Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Below a header, before the error.
    Frames,
    /// A syntax error without a header: only such an error ends it.
    Syntax,
    /// Below the error, where its message may go on.
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    None,
    /// In the group's own traceback.
    Whole,
    /// In that of one of its parts.
    Part,
}

impl<'a> Tracebacks<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, state: State::Idle, own: None, chain: None, chained: false, dropped: false, group: Group::None }
    }

    /// Takes a line; gives the frame of the traceback before, once it is clear that it has ended.
    pub fn line(&mut self, text: &str) -> Option<Frame> {
        if text.trim_start() == "+ Exception Group Traceback (most recent call last):" {
            let before = if self.group == Group::Part { None } else { self.begin() };
            // A group within a group is a part of it.
            if self.group == Group::None {
                self.group = Group::Whole;
            }
            return before;
        }
        let text = match self.group {
            Group::None => text,
            _ => match text.trim_start() {
                line if line.starts_with("+-") => {
                    self.group = Group::Part;
                    self.state = State::Error;
                    return None;
                }
                line if line.starts_with('|') => line[1..].strip_prefix(' ').unwrap_or(&line[1..]),
                _ => {
                    self.group = Group::None;
                    text
                }
            },
        };
        if text == "Traceback (most recent call last):" {
            return self.begin();
        }
        match self.state {
            State::Idle => {
                // Its traceback stands on the very next line.
                self.dropped = text.starts_with("Exception ignored ");
                if FRAME.captures(text).is_some_and(|found| found.get(3).is_none()) {
                    self.state = State::Syntax;
                    self.frame(text);
                }
            }
            State::Frames | State::Syntax => self.frame_or_error(text),
            State::Error => {
                if is_link(text) {
                    self.chained = true;
                } else if text.starts_with("Exception ignored ") {
                    let before = self.finish();
                    self.dropped = true;
                    return before;
                }
            }
        }
        None
    }

    /// Ends what is being read: its frame, if it has one of the project's own.
    pub fn finish(&mut self) -> Option<Frame> {
        if self.state == State::Frames {
            self.close(None);
        }
        let dropped = std::mem::take(&mut self.dropped);
        let frame = self.chain.take();
        *self = Self::new(self.context);
        frame.filter(|_| !dropped)
    }

    fn begin(&mut self) -> Option<Frame> {
        let goes_on = self.chained || self.group == Group::Part;
        if self.state == State::Frames {
            // Cut off by another traceback, as when two threads fail at once.
            self.close(None);
        }
        // The remark stands before the traceback that it is about.
        let dropped = self.state == State::Idle && self.dropped;
        let before = if goes_on || dropped { None } else { self.finish() };
        self.state = State::Frames;
        self.chained = false;
        self.own = None;
        before
    }

    fn frame(&mut self, text: &str) -> bool {
        let Some(found) = FRAME.captures(text) else { return false };
        if let (Some(file), Ok(line)) = (own_name(&found[1], &self.context), found[2].parse()) {
            let function = found.get(3).map(|name| clip(name.as_str()));
            self.own = Some(Frame { file: clip(&file), line, column: None, function, error: None, case: None });
        }
        true
    }

    fn frame_or_error(&mut self, text: &str) {
        if text.starts_with("  ") {
            // A frame, its source, or the markers below it. Frames from compiled text have no source line, so lines
            // are never read in pairs.
            self.frame(text);
        } else if ERROR.is_match(text) {
            if self.state == State::Frames || is_syntax_error(text) {
                self.close(Some(text));
            } else {
                *self = Self::new(self.context);
            }
        }
    }

    /// The exception ends; `error` is its line.
    fn close(&mut self, error: Option<&str>) {
        self.state = State::Error;
        if let Some(mut own) = self.own.take() {
            own.error = error.map(clip);
            if self.group != Group::Part || self.chain.is_none() {
                self.chain = Some(own);
            }
        }
    }
}

/// Whether a line links two tracebacks of one chain.
pub fn is_link(text: &str) -> bool {
    text == "During handling of the above exception, another exception occurred:"
        || text == "The above exception was the direct cause of the following exception:"
}

fn is_syntax_error(text: &str) -> bool {
    ["SyntaxError:", "IndentationError:", "TabError:"].iter().any(|name| text.starts_with(name))
}
