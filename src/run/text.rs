//! What `expect.stdout` and `expect.stderr` say of a stream, checked in bounded memory.

use std::io::{self, BufRead, Read};

use regex::bytes::{Regex, RegexBuilder};

use crate::model::{Stream, TextRule};

/// What is looked at at once, and how far a match may reach over its edge.
const WINDOW: usize = 1024 * 1024;
const OVERLAP: usize = 64 * 1024;
/// What stands before a later window's first byte, so that an expression sees what it follows: a character's length.
const BEFORE: usize = 4;

/// A rule that a stream does not satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsatisfied<'a> {
    pub stream: Stream,
    pub rule: &'a TextRule,
    /// Whether what the rule is about was seen. If not, and the stream is not whole, it may yet have been there.
    pub seen: bool,
}

/// Which of the rules the stream does not satisfy. One of which bytes are missing satisfies none by what it lacks.
///
/// Rules look at the bytes as they were written. A match longer than 64 KiB may be missed in an output that is larger
/// than a megabyte. In expressions `^` and `$` are a line's ends.
///
/// # Errors
///
/// What reading says.
pub fn unsatisfied<'a>(
    rules: &'a [TextRule],
    stream: Stream,
    mut bytes: Box<dyn BufRead + '_>,
    whole: bool,
) -> io::Result<Vec<Unsatisfied<'a>>> {
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let patterns: Vec<Option<Regex>> = rules.iter().map(pattern).collect();
    let mut seen = vec![false; rules.len()];
    let mut window: Vec<u8> = Vec::new();
    let mut start = 0;
    loop {
        let read = bytes.by_ref().take(WINDOW as u64).read_to_end(&mut window)?;
        let is_last = read < WINDOW;
        for (seen, pattern) in seen.iter_mut().zip(&patterns) {
            // A window's edge is no end of a line or text: what reaches it is judged with what follows.
            let end = pattern.as_ref().filter(|_| !*seen).and_then(|pattern| pattern.shortest_match_at(&window, start));
            *seen = *seen || end.is_some_and(|end| (is_last && whole) || end < window.len());
        }
        if is_last {
            break;
        }
        window.drain(..window.len() - OVERLAP - BEFORE);
        start = BEFORE;
    }
    let satisfied = |rule: &TextRule, seen: bool| match rule {
        TextRule::NotContains(_) => whole && !seen,
        TextRule::Contains(_) | TextRule::Matches(_) => seen,
    };
    let left = rules.iter().zip(seen).filter(|(rule, seen)| !satisfied(rule, *seen));
    Ok(left.map(|(rule, seen)| Unsatisfied { stream, rule, seen }).collect())
}

/// The rule as an expression; `None` for one that does not compile, which is then never satisfied.
fn pattern(rule: &TextRule) -> Option<Regex> {
    let (text, multi_line) = match rule {
        TextRule::Contains(text) | TextRule::NotContains(text) => (regex::escape(text), false),
        TextRule::Matches(expression) => (expression.clone(), true),
    };
    RegexBuilder::new(&text).multi_line(multi_line).crlf(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unmet(rules: &[TextRule], text: &[u8]) -> usize {
        unsatisfied(rules, Stream::Stdout, Box::new(text), true).expect("a slice can be read").len()
    }

    #[test]
    fn each_rule_is_checked_for_itself() {
        let rules = [
            TextRule::Contains("all green".into()),
            TextRule::NotContains("Traceback".into()),
            TextRule::Matches(r"^\(\d+ checks\)$".into()),
        ];
        assert_eq!(unmet(&rules, b"all green\r\n(57 checks)\r\n"), 0);
        assert_eq!(unmet(&rules, b"Traceback\n"), 3);
        assert_eq!(unmet(&rules, b""), 2);
    }

    #[test]
    fn what_is_not_whole_lacks_nothing_for_sure() {
        let rules = [
            TextRule::Contains("early".into()),
            TextRule::NotContains("early".into()),
            TextRule::NotContains("Traceback".into()),
            TextRule::Matches("cut$".into()),
        ];
        let left = unsatisfied(&rules, Stream::Stderr, Box::new(&b"early, cut"[..]), false).expect("a slice");
        let left: Vec<(&TextRule, bool)> = left.iter().map(|one| (one.rule, one.seen)).collect();
        assert_eq!(left, [(&rules[1], true), (&rules[2], false), (&rules[3], false)]);
    }

    #[test]
    fn the_edge_of_a_window_is_no_end_of_a_line() {
        let rules = |expression: &str| [TextRule::Matches(expression.into())];
        // The first window ends, and a later one begins, in the middle of the line.
        for before in (WINDOW - OVERLAP - 20)..(WINDOW - OVERLAP + 20) {
            let mut text = vec![b'x'; before];
            text.extend_from_slice(b"all green");
            text.resize(2 * WINDOW, b'y');
            assert_eq!(unmet(&rules("^all green"), &text), 1, "{before}");
        }
        for before in [WINDOW - 9, 2 * WINDOW - 9] {
            let mut text = vec![b'x'; before];
            text[before - 1] = b'\n';
            text.extend_from_slice(b"all green NOT\n");
            text.resize(3 * WINDOW, b'y');
            for expression in ["^all green$", r"^all green\z", r"all green\b$"] {
                assert_eq!(unmet(&rules(expression), &text), 1, "{expression} after {before}");
            }
            assert_eq!(unmet(&rules("^all green NOT$"), &text), 0);
        }
    }

    #[test]
    fn the_true_ends_count_in_every_window() {
        for length in [5, WINDOW - 9, WINDOW, WINDOW + 1, 2 * WINDOW] {
            let mut text = b"begin".to_vec();
            text.resize(length.max(5), b'x');
            text.extend_from_slice(b"\r\nall green");
            let rules = [r"\Abegin", r"^all green$", r"^all green\z", "x?$", "b.*"];
            assert_eq!(unmet(&rules.map(|rule| TextRule::Matches(rule.into())), &text), 0, "{length}");
        }
    }

    #[test]
    fn a_match_across_the_edge_of_a_window_is_seen() {
        let mut text = vec![b'x'; WINDOW - 3];
        text.extend_from_slice(b"all green");
        text.extend(std::iter::repeat_n(b'y', WINDOW));
        assert_eq!(unmet(&[TextRule::Contains("all green".into())], &text), 0);
        assert_eq!(unmet(&[TextRule::NotContains("all green".into())], &text), 1);
    }
}
