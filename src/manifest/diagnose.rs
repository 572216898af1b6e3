//! Problems as a person sees them: each with its place, marked, and what to do about it.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str};

use super::limits::MAX_PROBLEMS;
use super::lines::{Lines, floor};
use super::node::Span;
use super::problem::{Problem, Problems};

/// How many characters of a line are shown, at most.
const MAX_WIDTH: usize = 100;
/// How many of them are before the place, at most, when the line is cut.
const BEFORE: usize = 40;
/// How long a message may be: it may quote a text of any length.
const MAX_MESSAGE: usize = 400;

/// A file and its problems.
#[derive(Debug, Clone, Copy)]
pub struct Diagnosed<'f> {
    pub name: &'f str,
    pub text: &'f str,
    pub problems: &'f Problems,
}

/// All problems of all files, and how many they are. Ends without a line break.
pub fn diagnose(files: &[Diagnosed<'_>], colour: bool) -> String {
    // The lines are cut before, so the renderer has nothing to cut.
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(4 * MAX_WIDTH);
    let lines: Vec<_> = files.iter().map(|file| Lines::new(file.text)).collect();
    let mut output = String::new();
    let (mut errors, mut wrong, mut more) = (0, 0, "");
    for (index, file) in files.iter().enumerate().filter(|(_, file)| !file.problems.is_empty()) {
        for problem in file.problems.sorted() {
            let group = group(problem, index, files, &lines);
            let _ = writeln!(output, "{}\n", renderer.render(&[group]));
        }
        if file.problems.is_cut() {
            let _ = writeln!(output, "{} has more; its first {MAX_PROBLEMS} are shown\n", visible(file.name));
            more = "more than ";
        }
        errors += file.problems.len();
        wrong += 1;
    }
    let plural = |count| if count == 1 { "" } else { "s" };
    let _ = write!(output, "{more}{errors} error{} in {wrong} file{}", plural(errors), plural(wrong));
    output
}

fn group<'g>(problem: &Problem, file: usize, files: &[Diagnosed<'g>], lines: &[Lines<'g>]) -> Group<'g> {
    let mut elements: Vec<Element<'_>> = Vec::new();
    match &problem.span {
        None => elements.push(Origin::path(visible(files[file].name)).into()),
        Some(span) => {
            let mut marks = vec![Mark { file, span, label: problem.label.as_deref(), kind: AnnotationKind::Primary }];
            marks.extend(problem.also.iter().map(|also| Mark {
                file: also.file.unwrap_or(file),
                span: &also.span,
                label: Some(&also.label),
                kind: AnnotationKind::Context,
            }));
            for mark in marks {
                let (line, column) = lines[mark.file].position(mark.span.start);
                elements.push(Origin::path(visible(files[mark.file].name)).line(line).char_column(column).into());
                elements.push(snippet(&mark, line, &lines[mark.file]).into());
            }
        }
    }
    elements.extend(problem.help.iter().map(|help| Level::HELP.message(visible(&shortened(help))).into()));
    Level::ERROR.primary_title(visible(&shortened(&problem.message))).elements(elements)
}

struct Mark<'m> {
    file: usize,
    span: &'m Span,
    label: Option<&'m str>,
    kind: AnnotationKind,
}

/// The line on which a place begins, cut around it, with as much of the place marked as is on it.
fn snippet<'s>(mark: &Mark<'_>, line: usize, lines: &Lines<'_>) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
    let (start, text) = lines.line(line);
    let from = floor(text, mark.span.start.saturating_sub(start).min(text.len()));
    let to = floor(text, mark.span.end.saturating_sub(start).clamp(from, text.len()));
    let (shown, marked) = cut(text, from..to);
    let annotation = mark.kind.span(marked).label(mark.label.map(visible));
    Snippet::source(shown).line_start(line).annotation(annotation)
}

/// A line that is not too long, without control characters, and where the range is in it.
fn cut(line: &str, range: Range<usize>) -> (String, Range<usize>) {
    let column = line[..range.start].chars().count();
    let first = if line.chars().count() <= MAX_WIDTH { 0 } else { column.saturating_sub(BEFORE) };
    let mut shown = String::new();
    if first > 0 {
        shown.push('…');
    }
    let mut marked = None;
    let mut end = 0;
    let mut rest = false;
    for (count, (at, character)) in line.char_indices().skip(first).enumerate() {
        if count == MAX_WIDTH {
            rest = true;
            break;
        }
        if at >= range.start && marked.is_none() {
            marked = Some(shown.len());
        }
        shown.push(harmless(character));
        if at < range.end {
            end = shown.len();
        }
    }
    let from = marked.unwrap_or(shown.len());
    if rest {
        shown.push('…');
    }
    (shown, from..end.max(from))
}

/// A text of a manifest, such that a terminal shows it and does nothing else.
fn visible(text: &str) -> String {
    normalize_untrusted_str(&text.chars().map(harmless).collect::<String>())
}

/// Control characters as their pictures; what turns, joins or hides text as a replacement character.
fn harmless(character: char) -> char {
    match character {
        '\t' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            '\u{fffd}'
        }
        other => other,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
