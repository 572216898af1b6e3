//! What Rust's programs and compiler print: panics with and without a backtrace, errors that carry one, and errors of
//! compilation.

use std::sync::LazyLock;

use regex::Regex;

use super::Finder;
use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::clip;
use crate::readers::own_code::own_name;

/// `src/lib.rs:9:9`; a file's name may have colons and blanks.
static PLACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(.+?):(\d+):(\d+)$").expect("a constant"));
/// `  12: x::tests::y`, with an address in between where the backtrace is a full one.
static SYMBOL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ {0,5}\d+: +(?:0x[0-9a-f]+ - )?(\S.*)$").expect("a constant"));
/// The hash that symbols of the old mangling end in.
static HASH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"::h[0-9a-f]{16}$").expect("a constant"));

/// How many lines a message may have before its backtrace.
const MESSAGE: usize = 200;

/// Finds panics and errors in lines, and the frame that each is about: the panic's own place, or, if that is foreign
/// code, the innermost own place of its backtrace. Without a backtrace such a panic has no frame.
#[derive(Debug)]
pub struct Panics<'a> {
    context: Context<'a>,
    state: State,
    /// The thread that panics, and the one that did when the last frame was given.
    thread: Option<String>,
    told: Option<String>,
    place: Option<Place>,
    error: Option<String>,
    /// The innermost own frame of the backtrace.
    own: Option<Frame>,
    symbol: Option<String>,
    /// Whether the own frame is named relative to the folder in which the program ran.
    relative: bool,
    told_relative: bool,
    /// What that folder is, relative to the one that panics' places are relative to: a package in its workspace.
    package: Option<String>,
    /// The last `Error: …`: a backtrace of its own may follow.
    said: Option<String>,
}

/// Where a panic says that it is.
#[derive(Debug, Clone)]
struct Place {
    file: String,
    line: u64,
    column: u64,
    function: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Below a panic's first line, so many lines down.
    Message(usize),
    /// In the message of an old panic, whose place stands at its end.
    Quoted(usize),
    Trace,
    /// Below `error[…]: …`, so many lines down.
    Compiler(usize),
}

impl Finder for Panics<'_> {
    fn line(&mut self, text: &str) -> Option<Frame> {
        if let Some(header) = Header::of(text) {
            let before = self.finish();
            self.begin(header);
            return before;
        }
        match self.state {
            State::Idle | State::Compiler(_) => return self.outside(text),
            State::Quoted(lines) => {
                if let Some((_, place)) =
                    text.rsplit_once("', ").and_then(|(said, place)| Some((said, place_of(place)?)))
                {
                    self.place = Some(place);
                    self.state = State::Message(0);
                } else if lines < MESSAGE {
                    self.state = State::Quoted(lines + 1);
                } else {
                    return self.finish();
                }
            }
            State::Message(lines) => {
                if text == "stack backtrace:" {
                    self.state = State::Trace;
                } else if text.starts_with("note: run with `RUST_BACKTRACE=")
                    || lines > MESSAGE
                    || (text.is_empty() && self.error.is_some() && self.is_own())
                {
                    return self.finish();
                } else {
                    if self.error.is_none() {
                        self.error = Some(clip(text));
                    }
                    self.state = State::Message(lines + 1);
                }
            }
            State::Trace => {
                if !self.trace(text) {
                    let found = self.finish();
                    return found.or_else(|| self.outside(text));
                }
            }
        }
        None
    }

    fn finish(&mut self) -> Option<Frame> {
        let place = self.place.take();
        let own = self.own.take();
        let error = self.error.take();
        self.told = self.thread.take();
        self.told_relative = false;
        self.state = State::Idle;
        self.symbol = None;
        let Some(place) = place else {
            // The backtrace of an error.
            return own.map(|own| Frame { error, ..own });
        };
        if let Some(file) = own_name(&place.file, &self.context) {
            if let Some(own) = own.as_ref().filter(|own| self.relative && own.line == place.line) {
                let package = place.file.strip_suffix(&own.file).and_then(|package| package.strip_suffix('/'));
                self.package = package.map(clip).or(self.package.take());
            }
            // The backtrace names the function, if it is at the very place.
            let function = own.filter(|own| own.line == place.line).and_then(|own| own.function);
            return Some(Frame { column: Some(place.column), function, error, ..Frame::new(clip(&file), place.line) });
        }
        let mut own = own?;
        self.told_relative = self.relative;
        own.error = error;
        own.raised = Some(Raised { file: clip(&place.file), line: place.line, function: place.function });
        Some(own)
    }
}

impl<'a> Panics<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            state: State::Idle,
            thread: None,
            told: None,
            place: None,
            error: None,
            own: None,
            symbol: None,
            relative: false,
            told_relative: false,
            package: None,
            said: None,
        }
    }

    /// The name of an own file.
    pub fn own(file: &str, context: &Context<'_>) -> Option<String> {
        own_name(file, context).map(|file| clip(&file))
    }

    /// The thread whose panic the frame that was given last is about.
    pub fn thread(&self) -> Option<&str> {
        self.told.as_deref()
    }

    /// Whether the file of the frame that was given last is relative to the folder in which the program ran.
    pub fn is_relative(&self) -> bool {
        self.told_relative
    }

    /// That folder, where a panic told both its place and its backtrace.
    pub fn take_package(&mut self) -> Option<String> {
        self.package.take()
    }

    fn begin(&mut self, header: Header<'_>) {
        self.thread = Some(clip(header.thread));
        self.said = None;
        match header.rest {
            Rest::Place(place) => {
                self.place = Some(place);
                self.state = State::Message(0);
            }
            Rest::Quoted { message, place } => {
                self.error = Some(clip(message));
                self.state = if place.is_some() { State::Message(0) } else { State::Quoted(0) };
                self.place = place;
            }
        }
    }

    fn is_own(&self) -> bool {
        self.place.as_ref().is_some_and(|place| own_name(&place.file, &self.context).is_some())
    }

    /// A line that belongs to no panic.
    fn outside(&mut self, text: &str) -> Option<Frame> {
        if let State::Compiler(lines) = self.state {
            if let Some(place) = text.trim_start().strip_prefix("--> ").and_then(place_of) {
                let error = self.error.take();
                self.state = State::Idle;
                let file = own_name(&place.file, &self.context)?;
                return Some(Frame { column: Some(place.column), error, ..Frame::new(clip(&file), place.line) });
            }
            // The place stands right below the message, which may have several lines.
            self.state = if lines < 5 && !text.is_empty() { State::Compiler(lines + 1) } else { State::Idle };
        }
        if let Some(place) = text.strip_prefix("note: test did not panic as expected at ").and_then(place_of) {
            let error = Some("test did not panic as expected".to_owned());
            let file = Self::own(&place.file, &self.context)?;
            return Some(Frame { column: Some(place.column), error, ..Frame::new(file, place.line) });
        }
        if text.starts_with("error: ") || text.starts_with("error[") {
            self.error = Some(clip(text));
            self.state = State::Compiler(0);
        } else if let Some(said) = text.strip_prefix("Error: ") {
            self.said = Some(clip(said));
        } else if matches!(text, "Stack backtrace:" | "stack backtrace:") && self.said.is_some() {
            self.error = self.said.take();
            self.state = State::Trace;
        }
        None
    }

    /// Takes a line of a backtrace; `false` if it is none.
    fn trace(&mut self, text: &str) -> bool {
        let inner = text.trim_start();
        if let Some(place) = inner.strip_prefix("at ").filter(|_| text.len() - inner.len() >= 8) {
            let Some(place) = place_of(place) else { return true };
            let symbol = self.symbol.take();
            if let Some(at) = self.place.as_mut().filter(|at| at.file == place.file && at.line == place.line) {
                at.function = at.function.take().or_else(|| symbol.clone());
            }
            if self.own.is_none()
                && let Some(file) = own_name(&place.file, &self.context)
            {
                self.relative = place.file.starts_with("./");
                self.own =
                    Some(Frame { column: Some(place.column), function: symbol, ..Frame::new(clip(&file), place.line) });
            }
            return true;
        }
        if let Some(found) = SYMBOL.captures(text) {
            self.symbol = Some(clip(&HASH.replace(&found[1], "")));
            return true;
        }
        // Full backtraces may have several symbols for one frame.
        if text.starts_with("      ") {
            self.symbol = Some(clip(&HASH.replace(inner.rsplit_once(" - ").map_or(inner, |(_, name)| name), "")));
            return true;
        }
        false
    }
}

/// The first line of a panic.
struct Header<'t> {
    thread: &'t str,
    rest: Rest<'t>,
}

enum Rest<'t> {
    Place(Place),
    /// How it was before Rust 1.73: the message in quotes, and then the place, if it stands in the same line.
    Quoted {
        message: &'t str,
        place: Option<Place>,
    },
}

impl<'t> Header<'t> {
    fn of(text: &'t str) -> Option<Self> {
        // What was printed before it may have had no end of line.
        let from = text.find("thread '")?;
        let (before, rest) = text[from + 8..].split_once(" panicked at ")?;
        let quoted = before.trim_end_matches(|c: char| c == ')' || c.is_ascii_digit());
        let thread = match quoted.strip_suffix(" (") {
            Some(thread) => thread,
            None => before,
        }
        .strip_suffix('\'')?;
        if let Some(quoted) = rest.strip_prefix('\'') {
            let whole = quoted.rsplit_once("', ").and_then(|(message, place)| Some((message, place_of(place)?)));
            let rest = match whole {
                Some((message, place)) => Rest::Quoted { message, place: Some(place) },
                None => Rest::Quoted { message: quoted, place: None },
            };
            return Some(Self { thread, rest });
        }
        let place = place_of(rest.strip_suffix(':').unwrap_or(rest))?;
        Some(Self { thread, rest: Rest::Place(place) })
    }
}

fn place_of(text: &str) -> Option<Place> {
    let found = PLACE.captures(text.trim_end())?;
    let (line, column) = (found[2].parse().ok()?, found[3].parse().ok()?);
    Some(Place { file: found[1].to_owned(), line, column, function: None })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn found(text: &str) -> Vec<Frame> {
        let mut panics = Panics::new(Context::new(Path::new("/p"), Path::new("/p")));
        let mut frames: Vec<_> = text.lines().filter_map(|line| panics.line(line)).collect();
        frames.extend(panics.finish());
        frames
    }

    fn places(text: &str) -> Vec<(String, u64)> {
        found(text).into_iter().map(|frame| (frame.file, frame.line)).collect()
    }

    const FOREIGN: &str = "thread 'main' (7) panicked at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/x.rs:35:9:\nno\n";

    #[test]
    fn a_panic_has_its_place_with_and_without_a_number_and_in_the_old_form() {
        for head in [
            "thread 'a::b' (30757) panicked at src/lib.rs:9:9:\nno",
            "thread 'a::b' panicked at src/lib.rs:9:9:\nno",
            "thread 'a::b' panicked at 'no', src/lib.rs:9:9",
            "thread 'it's (1)' panicked at src/lib.rs:9:9:\nno",
            "no end of linethread 'a' panicked at src/lib.rs:9:9:\nno",
        ] {
            let frames = found(head);
            assert_eq!((frames.len(), frames[0].line, frames[0].column), (1, 9, Some(9)), "{head}");
            assert_eq!((frames[0].file.as_str(), frames[0].error.as_deref()), ("src/lib.rs", Some("no")), "{head}");
        }
        assert_eq!(places("thread 'a' panicked at nowhere:\n"), []);
    }

    #[test]
    fn a_panic_in_foreign_code_needs_a_backtrace() {
        assert_eq!(places(FOREIGN), []);
        let trace = "stack backtrace:\n   0: rust_begin_unwind\n             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs:689:5\n   \
                     1: core::x::f\n             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/x.rs:35:9\n   \
                     2: dep::g::h0123456789abcdef\n             at /home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/dep-1.0.0/src/lib.rs:3:1\n   \
                     3: own::h::h0123456789abcdef\n             at ./src/a b.rs:12:5\n   4: own::main\n             at ./src/main.rs:2:5\n";
        let frames = found(&format!("{FOREIGN}{trace}"));
        assert_eq!((frames.len(), frames[0].file.as_str(), frames[0].line), (1, "src/a b.rs", 12));
        assert_eq!(frames[0].function.as_deref(), Some("own::h"));
        let raised = frames[0].raised.as_ref().expect("it was raised in core");
        assert_eq!((raised.line, raised.function.as_deref()), (35, Some("core::x::f")));
    }

    #[test]
    fn an_error_with_a_backtrace_has_a_place_and_one_without_has_none() {
        let error = "Error: cannot open\n\nCaused by:\n    no such file\n\n";
        assert_eq!(places(error), []);
        let trace = "Stack backtrace:\n   0: anyhow::error\n             at /home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/anyhow-1.0.0/src/lib.rs:3:1\n   \
                     1: own::main\n             at ./src/main.rs:5:9\n";
        let frames = found(&format!("{error}{trace}"));
        assert_eq!((frames.len(), frames[0].line, frames[0].error.as_deref()), (1, 5, Some("cannot open")));
    }

    #[test]
    fn errors_of_compilation_have_places_and_warnings_have_none() {
        let text = "warning: unused variable\n --> src/lib.rs:1:1\n\nerror[E0308]: mismatched types\n  --> src/lib.rs:10:22\n   |\n\
                    error: expected one of `;`, found `}`\n --> /p/src/b.rs:4:1\n\nerror: aborting due to 1 previous error\n\n\
                    error: in a dependency\n --> /home/me/.cargo/git/checkouts/d-1/src/lib.rs:4:1\n";
        assert_eq!(places(text), [("src/lib.rs".to_owned(), 10), ("src/b.rs".to_owned(), 4)]);
    }
}
