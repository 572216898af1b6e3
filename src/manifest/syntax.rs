//! What the YAML parser's refusals mean, in words for whoever wrote the file.

use granit_parser::{ErrorKind, ScanError};

use super::limits::MAX_DEPTH;
use super::lines::floor;
use super::node::Span;
use super::problem::Problem;

/// The problem of a syntax error.
pub fn problem(error: &ScanError, text: &str) -> Problem {
    let at = offset(error, text);
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(character(text, at));
    }
    if let Some(tab) = tab_near(error.kind(), text, at) {
        return Problem::at(tab, "a tab is used as indentation")
            .label("a tab")
            .help("YAML is indented with spaces; replace the tab by spaces");
    }
    let problem = Problem::at(character(text, at), format!("not valid YAML: {}", error.info()));
    match error.kind() {
        ErrorKind::MappingValueNotAllowed => problem.help("put a text that has `: ` in it into quotes"),
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            problem.help("remove it; in double quotes, it can be written as an escape such as `\\x1b`")
        }
        ErrorKind::UnexpectedCharacter { .. } => problem.help("put a text that begins with this character into quotes"),
        ErrorKind::UnknownQuotedScalarEscape => {
            problem.help("in double quotes, write a backslash as `\\\\`; in single quotes, it is just a backslash")
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockSequenceEntry => {
            problem.help("what belongs together must be indented by the same number of spaces")
        }
        ErrorKind::BomInsideDocument => problem.help("remove this character: it is a mark for the beginning of a file"),
        _ => problem,
    }
}

/// The problem of lists and maps that are nested too deeply.
pub fn too_deep(span: Span) -> Problem {
    Problem::at(span, format!("lists and maps are nested more than {MAX_DEPTH} deep")).help("no manifest needs that")
}

fn offset(error: &ScanError, text: &str) -> usize {
    let marker = error.marker();
    let at = marker.byte_offset().or_else(|| text.char_indices().nth(marker.index()).map(|(at, _)| at));
    floor(text, at.unwrap_or(text.len()))
}

fn character(text: &str, at: usize) -> Span {
    at..text[at..].chars().next().map_or(at, |character| at + character.len_utf8())
}

/// The tab that the parser stumbled over. It may stumble only after it, so the line before is looked at, too.
fn tab_near(kind: &ErrorKind, text: &str, at: usize) -> Option<Span> {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let tab_in_indentation = |start: usize| {
        let blank = text[start..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'-')).count();
        text[start..start + blank].find('\t').map(|tab| start + tab..start + tab + 1)
    };
    let here = line_start(at);
    let before = here.checked_sub(1).map(line_start);
    tab_in_indentation(here).or_else(|| before.and_then(tab_in_indentation)).or_else(|| match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => text[at..].find('\t').map(|tab| at + tab..at + tab + 1),
        _ => None,
    })
}
