//! What Go's programs and compiler print: panics and fatal errors with the stacks of goroutines, and errors of
//! compilation.

use std::sync::LazyLock;

use regex::Regex;

use super::Finder;
use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::clip;
use crate::readers::own_code::{GO, own_name};

/// `/p/x.go:12 +0x1d` behind a tab, below the name of the function.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\t(\S.*\.\w+):(\d+)(?: \+0x[0-9a-f]+)?(?: fp=\S+ sp=\S+ pc=\S+)?$").expect("a constant")
});
static ERROR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:vet: )?(\S.*?\.\w+):(\d+):(?:(\d+):)? (\S.*)$").expect("a constant"));
/// Finds panics, fatal errors and errors of compilation in lines, and the frame of each: the innermost own function of
/// the goroutine that panicked. Where no single goroutine is to blame (a deadlock, a time limit), it is the first own
/// function of any.
#[derive(Debug)]
pub struct Goroutines<'a> {
    context: Context<'a>,
    state: State,
    error: Option<String>,
    own: Option<Frame>,
    raised: Option<Raised>,
    function: Option<String>,
    /// Below `created by`: where the goroutine began, not where it is.
    created: bool,
    /// Any goroutine will do.
    any: bool,
    /// The function of a test on the stack, and that of the frame that was given last.
    test: Option<String>,
    told: Option<String>,
    /// The package that could not be compiled.
    package: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Below a panic's message, before a goroutine.
    Message,
    Stack,
    /// Below a goroutine that had what was looked for, or nothing of it.
    Between,
    /// Below `# package`.
    Compiler,
}

impl Finder for Goroutines<'_> {
    fn line(&mut self, text: &str) -> Option<Frame> {
        if let Some(error) = ["panic: ", "fatal error: "].iter().find_map(|start| text.strip_prefix(start)) {
            let fatal = text.starts_with("fatal");
            if self.state == State::Message && fatal {
                return None;
            }
            let before = self.finish();
            self.state = State::Message;
            self.any = error.starts_with("all goroutines are asleep") || error.starts_with("test timed out");
            let error = error.strip_suffix(" [recovered]").unwrap_or(error);
            self.error = Some(clip(&format!("{}{error}", if fatal { "fatal error: " } else { "panic: " })));
            return before;
        }
        match self.state {
            State::Idle => {
                if let Some(package) = text.strip_prefix("# ") {
                    self.package = Some(clip(package.split(" [").next().unwrap_or(package)));
                    self.state = State::Compiler;
                }
            }
            State::Compiler => {
                if let Some(found) = ERROR.captures(text) {
                    self.told = None;
                    let file = own_name(&found[1], &self.context)?;
                    let line = found[2].parse().ok()?;
                    let column = found.get(3).and_then(|column| column.as_str().parse().ok());
                    let error = Some(clip(&found[4]));
                    return Some(Frame { column, error, case: self.package.clone(), ..Frame::new(clip(&file), line) });
                }
                if let Some(package) = text.strip_prefix("# ") {
                    self.package = Some(clip(package.split(" [").next().unwrap_or(package)));
                } else if !text.starts_with('\t') {
                    self.state = State::Idle;
                }
            }
            State::Message | State::Between => {
                if text.starts_with("goroutine ") && text.ends_with("]:") {
                    if self.state == State::Between && !self.any {
                        return self.finish();
                    }
                    self.state = State::Stack;
                    self.function = None;
                    self.created = false;
                } else if text.starts_with("FAIL\t") || text.starts_with("exit status ") {
                    return self.finish();
                }
            }
            State::Stack => self.stack(text),
        }
        None
    }

    fn finish(&mut self) -> Option<Frame> {
        self.told = self.test.take();
        self.state = State::Idle;
        self.any = false;
        self.function = None;
        let (error, raised) = (self.error.take(), self.raised.take());
        self.own.take().map(|own| Frame { error, raised, ..own })
    }
}

impl<'a> Goroutines<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            state: State::Idle,
            error: None,
            own: None,
            raised: None,
            function: None,
            created: false,
            any: false,
            test: None,
            told: None,
            package: None,
        }
    }

    /// The test in whose stack the frame that was given last is.
    pub fn test(&self) -> Option<&str> {
        self.told.as_deref()
    }

    /// Whether a panic or its stack is being read.
    pub fn is_in_panic(&self) -> bool {
        !matches!(self.state, State::Idle | State::Compiler)
    }

    fn stack(&mut self, text: &str) {
        if text.is_empty() {
            self.state = State::Between;
            if self.own.is_none() {
                self.test = None;
                self.raised = None;
            }
            return;
        }
        let Some(found) = PLACE.captures(text) else {
            self.created = text.starts_with("created by ");
            let called = text.strip_prefix("created by ").unwrap_or(text);
            let called = called.split(" in goroutine ").next().unwrap_or(called);
            // The arguments stand in the last brackets.
            let function = match called.rsplit_once('(') {
                Some((function, _)) if text.ends_with(')') => function,
                _ => called,
            };
            if (self.own.is_none() || self.test.is_none())
                && let Some(test) = test_in(function)
                && !function.starts_with("testing.")
            {
                self.test = Some(clip(test));
            }
            if function == "panic" {
                // What stands above is what was deferred, and no more than the way out.
                self.raised = None;
                self.own = None;
            }
            self.function = Some(clip(function));
            return;
        };
        let function = self.function.take();
        if self.created || self.own.is_some() {
            return;
        }
        let Ok(line) = found[2].parse() else { return };
        let standard = function.as_deref().is_some_and(is_standard) && !found[1].starts_with(['.', '_']);
        match own_name(&found[1], &self.context).filter(|_| !standard && !found[1].starts_with('_')) {
            Some(file) => self.own = Some(Frame { function, ..Frame::new(clip(&file), line) }),
            None if function.as_deref() == Some("panic") => {}
            None if self.raised.is_none() && !self.any && !is_machinery(function.as_deref()) => {
                self.raised = Some(Raised { file: clip(&found[1]), line, function });
            }
            None => {}
        }
    }
}

/// What the runtime does when it panics is not where the error was raised.
fn is_machinery(function: Option<&str>) -> bool {
    function.is_some_and(|function| {
        function.starts_with("runtime.") || function.starts_with("testing.") || function.starts_with("panic")
    })
}

fn is_standard(function: &str) -> bool {
    if function == "panic" {
        return true;
    }
    let first = function.split(['/', '.']).next().unwrap_or_default();
    GO.contains(&first)
}

/// `TestX` in `example.com/m/sub.TestX.func1`.
fn test_in(function: &str) -> Option<&str> {
    let rest = function.rsplit('/').next()?.split_once('.')?.1;
    let name = rest.split('.').next()?;
    ["Test", "Fuzz", "Example", "Benchmark"].iter().any(|start| name.starts_with(start)).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn found(text: &str) -> Vec<Frame> {
        let mut goroutines = Goroutines::new(Context::new(Path::new("/p"), Path::new("/p")));
        let mut frames: Vec<_> = text.lines().filter_map(|line| goroutines.line(line)).collect();
        frames.extend(goroutines.finish());
        frames
    }

    #[test]
    fn the_goroutine_that_panicked_counts_and_no_other() {
        let text = "panic: no\n\ngoroutine 1 [running]:\nos.Exit(0x0)\n\t/usr/local/go/src/os/proc.go:68 +0x55\n\
                    example.com/m/x.(*T).f(...)\n\t/p/x/a b.go:16\nmain.main()\n\t/p/main.go:3 +0x1\n\n\
                    goroutine 2 [select]:\nmain.other()\n\t/p/other.go:1 +0x1\n";
        let frames = found(text);
        assert_eq!((frames.len(), frames[0].file.as_str(), frames[0].line), (1, "x/a b.go", 16));
        assert_eq!(frames[0].function.as_deref(), Some("example.com/m/x.(*T).f"));
        assert_eq!(frames[0].raised.as_ref().map(|raised| raised.line), Some(68));
        let foreign = "panic: no\n\ngoroutine 1 [running]:\nnet.f()\n\t/usr/lib/go-1.19/src/net/x.go:6 +0x5\n\n\
                       goroutine 2 [select]:\nmain.other()\n\t/p/other.go:1 +0x1\n";
        assert_eq!(found(foreign), []);
    }

    #[test]
    fn of_a_deadlock_the_first_own_goroutine_counts() {
        let text = "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [semacquire]:\nsync.runtime_Semacquire()\n\
                    \t/usr/lib/go-1.19/src/runtime/sema.go:6 +0x5\n\ngoroutine 2 [select]:\nmain.other()\n\t/p/other.go:1 +0x1\n\
                    created by main.main in goroutine 1\n\t/p/main.go:9 +0x1\nexit status 2\n";
        let frames = found(text);
        assert_eq!((frames.len(), frames[0].file.as_str(), frames[0].line), (1, "other.go", 1));
    }

    #[test]
    fn what_was_deferred_is_the_way_out() {
        let text = "panic: one [recovered]\n\tpanic: one\n\ngoroutine 7 [running]:\nmain.deferred()\n\t/p/main.go:30 +0x1\n\
                    panic({0x1, 0x2})\n\t/usr/lib/go-1.19/src/runtime/panic.go:884 +0x212\nmain.f(0x1?)\n\t/p/main.go:12 +0x1\n\
                    created by main.main\n\t/p/main.go:3 +0x1\n";
        let frames = found(text);
        assert_eq!((frames.len(), frames[0].line, frames[0].error.as_deref()), (1, 12, Some("panic: one")));
    }

    #[test]
    fn errors_of_compilation_stand_below_their_package() {
        let text = "# example.com/m/x [example.com/m/x.test]\nx/x_test.go:6:6: declared and not used: a\n./y.go:1:1: no\n\
                    /home/me/go/pkg/mod/d@v1/z.go:1:1: no\nFAIL\nx.go:1:1: prose\n";
        let places: Vec<_> = found(text).into_iter().map(|frame| (frame.file, frame.line, frame.column)).collect();
        assert_eq!(places, [("x/x_test.go".to_owned(), 6, Some(6)), ("y.go".to_owned(), 1, Some(1))]);
    }
}
