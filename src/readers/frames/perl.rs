//! Where a Perl program died: `cannot work at lib/Broken.pm line 7.`

use super::Finder;
use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::{clip, number};
use crate::readers::own_code::own_name;

/// Finds the last message that names a place in a Perl file, with the calls below it (`confess`).
///
/// A warning has the same form as a death, and a program ends with a death; so the last one counts, and there is one
/// frame in a stream.
#[derive(Debug)]
pub struct Deaths<'a> {
    context: Context<'a>,
    last: Option<Frame>,
    /// A message whose place is foreign; its calls may lead to the project's own code.
    foreign: Option<(Raised, String)>,
}

impl Finder for Deaths<'_> {
    fn line(&mut self, text: &str) -> Option<Frame> {
        let comment = text.trim_start().starts_with('#');
        let Some((message, file, line)) = Some(text).filter(|_| !comment).and_then(place) else {
            self.foreign = None;
            return None;
        };
        // `	main::work("a") called at t/a.t line 7`
        let called = text.starts_with('\t').then(|| message.strip_suffix(" called")).flatten();
        let own = own_name(file, &self.context);
        match (called, own) {
            (None, Some(own)) => {
                self.foreign = None;
                // The end of a syntax error's message says no more than what was told before.
                if !message.starts_with("Execution of ") && !message.starts_with("BEGIN failed") {
                    self.last = Some(Frame { error: Some(clip(message)), ..Frame::new(clip(&own), line) });
                }
            }
            (None, None) => {
                self.foreign = Some((Raised { file: clip(file), line, function: None }, clip(message)));
            }
            (Some(_), Some(own)) => {
                if let Some((raised, error)) = self.foreign.take() {
                    self.last =
                        Some(Frame { error: Some(error), raised: Some(raised), ..Frame::new(clip(&own), line) });
                }
            }
            (Some(_), None) => {}
        }
        None
    }

    fn finish(&mut self) -> Option<Frame> {
        self.foreign = None;
        self.last.take()
    }
}

impl<'a> Deaths<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, last: None, foreign: None }
    }
}

/// `MESSAGE at FILE line N.`, perhaps with where in its input the program was, or near what.
fn place(text: &str) -> Option<(&str, &str, u64)> {
    // The cheap test before the search.
    if !text.as_bytes().last().is_some_and(|&last| matches!(last, b'.' | b'"' | b'0'..=b'9')) {
        return None;
    }
    let (before, after) = text.rsplit_once(" line ")?;
    let (before, after) = match before.rsplit_once(", <") {
        // `at a.t line 3, <STDIN> line 5.`
        Some((first, handle)) if handle.ends_with('>') => first.rsplit_once(" line ")?,
        _ => (before, after),
    };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let line = number(&after[..digits])?;
    let rest = &after[digits..];
    if !(matches!(rest, "" | ".") || rest.starts_with(", near \"")) {
        return None;
    }
    let (message, file) = before.rsplit_once(" at ")?;
    let perl = [".t", ".pl", ".pm", ".PL", ".psgi", ".cgi", ".pod"].iter().any(|end| file.ends_with(end));
    (perl && !message.is_empty()).then_some((message, file, line))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn found(text: &str) -> Option<(String, u64, String, Option<u64>)> {
        let context = Context::new(Path::new("/p"), Path::new("/p"));
        let mut deaths = Deaths::new(context);
        text.lines().for_each(|line| assert_eq!(deaths.line(line), None));
        let frame = deaths.finish()?;
        Some((frame.file, frame.line, frame.error.unwrap_or_default(), frame.raised.map(|raised| raised.line)))
    }

    #[test]
    fn the_last_death_counts() {
        let at = |file: &str, line, error: &str| Some((file.to_owned(), line, error.to_owned(), None));
        for (text, expected) in [
            ("cannot work at lib/B.pm line 7.", at("lib/B.pm", 7, "cannot work")),
            ("odd at /p/t/a b.t line 7, <STDIN> line 3.", at("t/a b.t", 7, "odd")),
            (
                "syntax error at a.pl line 3, near \"}\"\nExecution of a.pl aborted due to compilation errors.",
                at("a.pl", 3, "syntax error"),
            ),
            ("careful at a.pl line 3.\ndead at a.pl line 9.", at("a.pl", 9, "dead")),
            ("dead at a.pl line 9.\nlines of prose", at("a.pl", 9, "dead")),
            ("look at the first line 3.", None),
            ("#   at t/a.t line 5.", None),
            ("dead at /usr/share/perl/5.36/X.pm line 3.", None),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn calls_lead_from_a_library_to_own_code() {
        let text = "dead at /usr/share/perl5/X.pm line 3.\n\tX::f(1) called at /usr/share/perl5/Y.pm line 5\n\tY::g(2) called at /p/t/a.t line 7\n\tmain::h() called at /p/t/a.t line 9\n";
        assert_eq!(found(text), Some(("t/a.t".to_owned(), 7, "dead".to_owned(), Some(3))));
    }
}
