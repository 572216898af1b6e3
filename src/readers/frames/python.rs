//! Python tracebacks, as the interpreter, unittest and pytest's `--tb=native` print them.

use std::sync::LazyLock;

use regex::Regex;

use super::Finder;
use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::clip;
use crate::readers::own_code::own_name;

static FRAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^  File "(.+)", line (\d+)(?:, in (.+))?$"#).expect("a constant"));
/// The line that ends a traceback: a type with a message, or a type alone.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\p{L}_][\w.<>]*: ?.*$|^(?:[\p{L}_][\w<>]*\.)+\w+$|^\p{Lu}\w*$").expect("a constant")
});

/// Finds tracebacks in lines, and the frame that each is about.
///
/// That is the deepest frame in the project's own code of the last exception of a chain, or of an earlier one if the
/// last has none; where the last says that a recursion went too deep, with the error of the first. Of an exception group the group's own before those of its parts. A traceback without a frame of the
/// project's own has none: none is invented.
#[derive(Debug)]
pub struct Tracebacks<'a> {
    context: Context<'a>,
    state: State,
    /// The deepest own frame of the exception that is being read.
    own: Option<Frame>,
    /// The frame of the chain so far.
    chain: Option<Frame>,
    /// The error of the chain's first exception.
    cause: Option<String>,
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

impl Finder for Tracebacks<'_> {
    fn line(&mut self, text: &str) -> Option<Frame> {
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

    fn finish(&mut self) -> Option<Frame> {
        if self.state == State::Frames {
            self.close(None);
        }
        let dropped = std::mem::take(&mut self.dropped);
        let frame = self.chain.take();
        *self = Self::new(self.context);
        frame.filter(|_| !dropped)
    }
}

impl<'a> Tracebacks<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            state: State::Idle,
            own: None,
            chain: None,
            cause: None,
            chained: false,
            dropped: false,
            group: Group::None,
        }
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
        let Ok(line) = found[2].parse() else { return true };
        let function = found.get(3).map(|name| clip(name.as_str()));
        if let Some(file) = own_name(&found[1], &self.context) {
            self.own = Some(Frame { function, ..Frame::new(clip(&file), line) });
        } else if let Some(own) = self.own.as_mut().filter(|_| !found[1].starts_with("<frozen ")) {
            own.raised = Some(Raised { file: clip(&found[1]), line, function });
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
        let error = error.map(clip);
        let ends_recursion = is_recursion(error.as_deref()) && self.chain_goes_back();
        if let Some(mut own) = self.own.take() {
            own.error = if ends_recursion { self.cause.clone() } else { error.clone() };
            if self.group != Group::Part || self.chain.is_none() {
                self.chain = Some(own);
            }
        }
        if self.cause.is_none() {
            self.cause = error;
        }
    }

    /// Whether the chain began with another error than too deep a recursion.
    fn chain_goes_back(&self) -> bool {
        self.group == Group::None && self.cause.is_some() && !is_recursion(self.cause.as_deref())
    }
}

/// Whether an exception says that a recursion went too deep. What is called again and again for an error, as a clean-up
/// that is refused, ends so, and the first error of the chain is the cause.
pub fn is_recursion(error: Option<&str>) -> bool {
    error.is_some_and(|error| error.starts_with("RecursionError"))
}

/// Whether a line links two tracebacks of one chain.
pub fn is_link(text: &str) -> bool {
    text == "During handling of the above exception, another exception occurred:"
        || text == "The above exception was the direct cause of the following exception:"
}

fn is_syntax_error(text: &str) -> bool {
    ["SyntaxError:", "IndentationError:", "TabError:"].iter().any(|name| text.starts_with(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// File, line, function and error of each frame found.
    fn found(text: &str) -> Vec<(String, u64, Option<String>, Option<String>)> {
        let context = Context::new(Path::new("/p"), Path::new("/p"));
        let mut tracebacks = Tracebacks::new(context);
        let mut frames: Vec<_> = text.lines().filter_map(|line| tracebacks.line(line)).collect();
        frames.extend(tracebacks.finish());
        frames.into_iter().map(|frame| (frame.file, frame.line, frame.function, frame.error)).collect()
    }

    fn one(text: &str) -> (String, u64, String, String) {
        let mut found = found(text);
        assert_eq!(found.len(), 1, "{found:?}");
        let (file, line, function, error) = found.remove(0);
        (file, line, function.unwrap_or_default(), error.unwrap_or_default())
    }

    fn frame(file: &str, line: u64, function: &str, error: &str) -> (String, u64, String, String) {
        (file.to_owned(), line, function.to_owned(), error.to_owned())
    }

    const HEADER: &str = "Traceback (most recent call last):\n";

    #[test]
    fn frames_without_source_and_markers_do_not_shift_the_reading() {
        let text = format!(
            "{HEADER}  File \"/p/run.py\", line 11, in h\n    exec('f()')\n  File \"<string>\", line 1, in <module>\n  \
             File \"/p/run.py\", line 7, in g\n    data['a']['b']['c'] = 1\n    ~~~~~~~~~~~~~~^^^^^\nTypeError: no items\n"
        );
        assert_eq!(one(&text), frame("run.py", 7, "g", "TypeError: no items"));
    }

    #[test]
    fn the_frame_is_the_deepest_own_one_between_library_frames() {
        let lib = "/opt/e/lib/python3.11/site-packages/mock.py";
        let text = format!(
            "{HEADER}  File \"{lib}\", line 3, in wrapper\n    fn()\n  File \"/p/t.py\", line 17, in test_y\n    check(3)\n  \
             File \"{lib}\", line 12, in _deep\n    raise TypeError(1)\nTypeError: 1\n"
        );
        assert_eq!(one(&text), frame("t.py", 17, "test_y", "TypeError: 1"));
    }

    #[test]
    fn a_traceback_without_own_code_has_no_frame() {
        let text = format!("{HEADER}  File \"<string>\", line 1, in <module>\nNameError: name 'x' is not defined\n");
        assert_eq!(found(&text), []);
        let text = format!("{HEADER}  File \"<frozen runpy>\", line 198, in _run\nImportError\n");
        assert_eq!(found(&text), []);
    }

    #[test]
    fn of_a_chain_the_last_exception_counts_unless_it_has_no_own_frame() {
        let first = format!("{HEADER}  File \"/p/t.py\", line 1, in a\nKeyError: 'x'\n\n");
        let link = "During handling of the above exception, another exception occurred:\n\n";
        let own = format!("{HEADER}  File \"/p/t.py\", line 2, in b\nmod.Error: two\nlines\n");
        let foreign = format!("{HEADER}  File \"/usr/lib/python3.11/x.py\", line 3, in c\nmod.Error: two\n");
        assert_eq!(one(&format!("{first}{link}{own}")), frame("t.py", 2, "b", "mod.Error: two"));
        assert_eq!(one(&format!("{first}{link}{foreign}")), frame("t.py", 1, "a", "KeyError: 'x'"));
        assert_eq!(found(&format!("{first}noise\n{own}")).len(), 2);
    }

    #[test]
    fn errors_may_be_bare_dotted_or_local_and_noise_is_none() {
        for error in
            ["KeyboardInterrupt", "socket.timeout: timed out", "mod.<locals>.Odd: x", "json.JSONDecodeError", "E: "]
        {
            let text = format!("{HEADER}  File \"/p/t.py\", line 2, in b\n    x\nworker 3 says hello\n{error}\n");
            assert_eq!(one(&text), frame("t.py", 2, "b", error));
        }
    }

    #[test]
    fn repeated_lines_and_long_recursions_end_in_the_error() {
        let text = format!(
            "{HEADER}  File \"/p/t.py\", line 2, in f\n    f()\n  [Previous line repeated 974 more times]\n\
             RecursionError: maximum recursion depth exceeded\n"
        );
        assert_eq!(one(&text), frame("t.py", 2, "f", "RecursionError: maximum recursion depth exceeded"));
    }

    #[test]
    fn a_recursion_that_a_chain_ends_in_has_the_cause_of_the_chain() {
        let lib = "/usr/lib/python3.11/tempfile.py";
        let cause = r"PermissionError: [WinError 32] used by another process: 'C:\\t\\tmpab12'";
        let link = "\nDuring handling of the above exception, another exception occurred:\n\n";
        let one_more = format!("{HEADER}  File \"{lib}\", line 878, in onerror\n    _os.unlink(path)\n{cause}\n{link}");
        let deep = format!("  File \"{lib}\", line 881, in onerror\n    cls._rmtree(path)\n").repeat(1_000);
        let own = "  File \"/p/t.py\", line 12, in test_sweep\n    with place:\n";
        let last = format!("{HEADER}{own}{deep}RecursionError: maximum recursion depth exceeded\n");
        assert_eq!(one(&format!("{}{last}", one_more.repeat(600))), frame("t.py", 12, "test_sweep", cause));
        assert_eq!(one(&last).3, "RecursionError: maximum recursion depth exceeded");
        // The next failure has a cause of its own.
        let both = format!("{one_more}{last}noise\n{last}");
        assert_eq!(found(&both)[1].3.as_deref(), Some("RecursionError: maximum recursion depth exceeded"));
    }

    #[test]
    fn a_syntax_error_needs_no_header() {
        let text = "  File \"/p/t.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n";
        assert_eq!(one(text), frame("t.py", 3, "", "SyntaxError: '(' was never closed"));
        assert_eq!(found("  File \"/p/t.py\", line 3\nINFO: done\n"), []);
    }

    #[test]
    fn a_group_comes_before_its_parts() {
        let group = |file: &str| {
            format!(
                "  + Exception Group Traceback (most recent call last):\n  |   File \"{file}\", line 8, in run\n  |     raise g\n  \
                 | ExceptionGroup: two (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    \
                 | Traceback (most recent call last):\n    |   File \"/p/t.py\", line 3, in f\n    |     raise ValueError(1)\n    \
                 | ValueError: 1\n    +---------------- 2 ----------------\n    | TypeError: t\n    \
                 +------------------------------------\n"
            )
        };
        assert_eq!(one(&group("/p/t.py")), frame("t.py", 8, "run", "ExceptionGroup: two (2 sub-exceptions)"));
        assert_eq!(one(&group("/usr/lib/python3.11/asyncio/x.py")), frame("t.py", 3, "f", "ValueError: 1"));
    }

    #[test]
    fn what_python_drops_is_no_failure() {
        let traceback = format!("{HEADER}  File \"/p/t.py\", line 2, in __del__\nOSError: late\n");
        assert_eq!(found(&format!("Exception ignored in: <function X.__del__ at 0x7>\n{traceback}")), []);
        assert_eq!(found(&format!("Exception ignored in: <x>\n{traceback}\n{traceback}")).len(), 1);
        assert_eq!(found(&format!("{traceback}Exception ignored in: <x>\n{traceback}")).len(), 1);
    }

    #[test]
    fn one_that_is_cut_off_has_a_frame_and_no_error() {
        let cut = found(&format!("{HEADER}  File \"/p/t.py\", line 2, in b\n    x"));
        assert_eq!(cut, [("t.py".to_owned(), 2, Some("b".to_owned()), None)]);
    }
}
