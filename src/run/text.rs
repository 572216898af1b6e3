//! What `expect.stdout` and `expect.stderr` say of a stream, checked in bounded memory.

use std::io::{self, BufRead, Read};

use regex::bytes::{Regex, RegexBuilder};

use crate::model::TextRule;

/// What is looked at at once, and how far a match may reach over its edge.
const WINDOW: usize = 1024 * 1024;
const OVERLAP: usize = 64 * 1024;

/// Which of the rules the stream does not satisfy.
///
/// Rules look at the bytes as they were written. A match longer than 64 KiB may be missed in an output that is larger
/// than a megabyte. In expressions `^` and `$` are a line's ends.
///
/// # Errors
///
/// What reading says.
pub fn unsatisfied<'a>(rules: &'a [TextRule], mut stream: Box<dyn BufRead + '_>) -> io::Result<Vec<&'a TextRule>> {
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let patterns: Vec<Option<Regex>> = rules.iter().map(pattern).collect();
    let mut seen = vec![false; rules.len()];
    let mut window: Vec<u8> = Vec::new();
    loop {
        let read = stream.by_ref().take(WINDOW as u64).read_to_end(&mut window)?;
        for (seen, pattern) in seen.iter_mut().zip(&patterns) {
            *seen = *seen || pattern.as_ref().is_some_and(|pattern| pattern.is_match(&window));
        }
        if read == 0 {
            break;
        }
        let keep = window.len().min(OVERLAP);
        window.drain(..window.len() - keep);
    }
    let satisfied = |rule: &TextRule, seen: bool| seen != matches!(rule, TextRule::NotContains(_));
    Ok(rules.iter().zip(seen).filter(|(rule, seen)| !satisfied(rule, *seen)).map(|(rule, _)| rule).collect())
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
        unsatisfied(rules, Box::new(text)).expect("a slice can be read").len()
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
    fn a_match_across_the_edge_of_a_window_is_seen() {
        let mut text = vec![b'x'; WINDOW - 3];
        text.extend_from_slice(b"all green");
        text.extend(std::iter::repeat_n(b'y', WINDOW));
        assert_eq!(unmet(&[TextRule::Contains("all green".into())], &text), 0);
        assert_eq!(unmet(&[TextRule::NotContains("all green".into())], &text), 1);
    }
}
