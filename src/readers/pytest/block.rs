//! One failure as pytest shows it, in each of its `--tb` forms.

use std::sync::LazyLock;

use regex::Regex;

use super::tally::Kind;
use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::clip;
use crate::readers::frames::{Finder, Tracebacks, is_link, is_recursion};
use crate::readers::own_code::own_name;

/// `tests/test_x.py:13: AssertionError` (long), `tests/test_x.py:13: in test_y` (short), and the place alone.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^([^\s<].*?\.(?:py\w?|txt|rst|md)):(\d+)(?:: in (.+)|: (.*)|:)?$").expect("a constant")
});
static DEFINITION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:    |>   |  )(?:async )?def (\w+)\(").expect("a constant"));
static COMPILED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"^File "(.+)", line (\d+)"#).expect("a constant"));
static FIXTURE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^file (.+), line (\d+)$").expect("a constant"));

/// Finds the frame of one failure: the deepest in the project's own code of the last exception that has one.
pub struct Block<'a> {
    context: Context<'a>,
    pub kind: Kind,
    /// `TestClass.test_x`.
    pub title: String,
    /// The deepest own frame of the exception that is being read, and its error.
    own: Option<Frame>,
    error: Option<String>,
    /// The error is about compiling the file that the frame names.
    compiled: bool,
    /// The error of the chain's first exception.
    cause: Option<String>,
    /// The frame of an earlier exception of the chain.
    earlier: Option<Frame>,
    /// The function whose source is being shown.
    function: Option<String>,
    native: Tracebacks<'a>,
    native_frame: Option<Frame>,
}

impl<'a> Block<'a> {
    pub fn new(context: Context<'a>, kind: Kind, title: &str) -> Self {
        Self {
            context,
            kind,
            title: clip(title),
            own: None,
            error: None,
            compiled: false,
            cause: None,
            earlier: None,
            function: None,
            native: Tracebacks::new(context),
            native_frame: None,
        }
    }

    pub fn line(&mut self, text: &str) {
        if self.native_frame.is_none() {
            self.native_frame = self.native.line(text);
        }
        if let Some(said) = text.strip_prefix("E  ") {
            self.said(said.trim());
        } else if is_link(text) {
            self.end_exception();
        } else if text.starts_with("_ _ ") {
            self.function = None;
        } else if let Some(found) = FIXTURE.captures(text) {
            self.place(&found[1], &found[2], None);
        } else if let Some(found) = DEFINITION.captures(text) {
            if let Some(own) = self.own.as_mut().filter(|own| text.starts_with("  def") && own.function.is_none()) {
                own.function = Some(clip(&found[1]));
            } else {
                self.function.get_or_insert_with(|| clip(&found[1]));
            }
        } else if let Some(found) = PLACE.captures(text) {
            if found.get(3).is_none() && found.get(4).is_none() && !text.ends_with(':') {
                // The place of a fixture's user, which is known from its own line.
                return;
            }
            let function = found.get(3).map(|name| clip(name.as_str())).or_else(|| self.function.take());
            self.place(&found[1], &found[2], function);
            if let Some(error) = found.get(4).map(|error| error.as_str()).filter(|error| !error.is_empty()) {
                self.error.get_or_insert_with(|| clip(error));
            }
        }
    }

    /// What an `E` line says.
    fn said(&mut self, said: &str) {
        if let Some(found) = COMPILED.captures(said) {
            self.compiled = true;
            self.place(&found[1], &found[2], None);
        } else if !said.is_empty() {
            let is_error = said.split_once(": ").is_some_and(|(name, _)| name.ends_with("Error"));
            if self.error.is_none() && (!self.compiled || is_error) {
                self.error = Some(named(said));
            }
        }
    }

    fn place(&mut self, file: &str, line: &str, function: Option<String>) {
        let Ok(line) = line.parse() else { return };
        if let Some(name) = own_name(file, &self.context) {
            self.own = Some(Frame { function, ..Frame::new(clip(&name), line) });
        } else if let Some(own) = &mut self.own {
            own.raised = Some(Raised { file: clip(file), line, function });
        }
    }

    fn end_exception(&mut self) {
        let error = self.error.take();
        let cause = self.cause.clone().or_else(|| error.clone());
        let error = if is_recursion(error.as_deref()) { cause.clone() } else { error };
        self.cause = cause;
        if let Some(own) = self.own.take() {
            self.earlier = Some(Frame { error, ..own });
        }
        self.function = None;
        self.compiled = false;
    }

    pub fn finish(mut self) -> Option<Frame> {
        self.end_exception();
        self.earlier.or(self.native_frame).or_else(|| self.native.finish())
    }
}

/// The place and error of `--tb=line`, if the line is one; the frame only if it is in the project's own code.
pub fn line_form(text: &str, context: &Context<'_>) -> Option<(Option<Frame>, String)> {
    let found = PLACE.captures(text)?;
    let said = found.get(4)?.as_str();
    let frame = own_name(&found[1], context).zip(found[2].parse().ok());
    let frame = frame.map(|(file, line)| Frame { error: Some(named(said)), ..Frame::new(clip(&file), line) });
    Some((frame, clip(said)))
}

/// pytest leaves out the type of a rewritten assertion.
fn named(error: &str) -> String {
    clip(&if error.starts_with("assert ") { format!("AssertionError: {error}") } else { error.to_owned() })
}
