//! Problems as a person sees them: each with its place, marked, and what to do about it.

use std::fmt::Write as _;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};

use super::limits::MAX_PROBLEMS;
use super::lines::{Lines, floor};
use super::node::Span;
use super::problem::{Problem, Problems};
use crate::words::counted;

/// How wide the marked lines may become; the renderer leaves out what is too much, at both sides of the place.
const WIDTH: usize = 120;
/// How many characters before the place the renderer is given. It goes over all of a line again and again.
const MAX_BEFORE: usize = 400;
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
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(WIDTH);
    let lines: Vec<_> = files.iter().map(|file| Lines::new(file.text)).collect();
    let mut output = String::new();
    let (mut errors, mut wrong, mut more) = (0, 0, "");
    for (index, file) in files.iter().enumerate().filter(|(_, file)| !file.problems.is_empty()) {
        for problem in file.problems.sorted() {
            let _ = writeln!(output, "{}\n", render(&renderer, problem, index, files, &lines));
        }
        if file.problems.is_cut() {
            let _ = writeln!(output, "{} has more; its first {MAX_PROBLEMS} are shown\n", visible(file.name));
            more = "more than ";
        }
        errors += file.problems.len();
        wrong += 1;
    }
    let _ = write!(output, "{more}{} in {}", counted(errors, "error"), counted(wrong, "file"));
    output
}

fn render(renderer: &Renderer, problem: &Problem, file: usize, files: &[Diagnosed<'_>], lines: &[Lines<'_>]) -> String {
    let mut elements: Vec<Element<'_>> = Vec::new();
    let mut places = Vec::new();
    if let Some(span) = &problem.span {
        let mut marks = vec![Mark { file, span, label: problem.label.as_deref(), kind: AnnotationKind::Primary }];
        marks.extend(problem.also.iter().map(|also| Mark {
            file: also.file.unwrap_or(file),
            span: &also.span,
            label: Some(&also.label),
            kind: AnnotationKind::Context,
        }));
        for mark in marks {
            let name = visible(files[mark.file].name);
            let Marked { snippet, line, column, shown_column } = marked(&mark, &lines[mark.file]);
            if shown_column != column {
                places.push((format!("{name}:{line}:{shown_column}"), format!("{name}:{line}:{column}")));
            }
            elements.push(snippet.path(name).into());
        }
    } else {
        elements.push(Origin::path(visible(files[file].name)).into());
    }
    elements.extend(problem.help.iter().map(|help| Level::HELP.message(visible(&shortened(help))).into()));
    let group = Level::ERROR.primary_title(visible(&shortened(&problem.message))).elements(elements);
    let text = renderer.render(&[group]);
    // The renderer counts columns in what it was given.
    places.iter().fold(text, |text, (shown, place)| text.replacen(shown, place, 1))
}

struct Mark<'m> {
    file: usize,
    span: &'m Span,
    label: Option<&'m str>,
    kind: AnnotationKind,
}

struct Marked<'s> {
    snippet: Snippet<'s, Annotation<'s>>,
    line: usize,
    column: usize,
    /// The column in the snippet, if its line was cut.
    shown_column: usize,
}

/// The line on which a place begins, with as much of the place marked as is on it.
fn marked<'s>(mark: &Mark<'_>, lines: &Lines<'_>) -> Marked<'s> {
    let (line, column) = lines.position(mark.span.start);
    let (start, text) = lines.line(line);
    let from = floor(text, mark.span.start.saturating_sub(start));
    let to = floor(text, mark.span.end.saturating_sub(start)).max(from);
    let before = last(&text[..from], MAX_BEFORE);
    let shown_column = before.chars().count() + 1;
    let before = harmless_text(before);
    let marked = harmless_text(first(&text[from..to], WIDTH));
    let range = before.len()..before.len() + marked.len();
    let whole = first(&text[from..to], WIDTH).len() == to - from;
    // Nothing of what comes after that would be shown.
    let after = if whole { harmless_text(first(&text[to..], WIDTH)) } else { String::new() };
    let annotation = mark.kind.span(range).label(mark.label.map(visible));
    let snippet = Snippet::source(before + &marked + &after).line_start(line).annotation(annotation);
    // Of the columns, only what was cut off makes a difference: the renderer may see one less at the end of a line.
    let cut = column > shown_column;
    Marked { snippet, line, column, shown_column: if cut { shown_column } else { column } }
}

/// The first characters of a text.
fn first(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(at, _)| &text[..at])
}

/// The last characters of a text.
fn last(text: &str, count: usize) -> &str {
    text.char_indices().rev().nth(count.saturating_sub(1)).map_or(text, |(at, _)| &text[at..])
}

/// A text of a manifest, such that a terminal shows it and does nothing else.
fn visible(text: &str) -> String {
    normalize_untrusted_str(&harmless_text(text))
}

fn harmless_text(text: &str) -> String {
    text.chars().map(harmless).collect()
}

/// Control characters as their pictures; what turns, joins or hides text as a replacement character.
fn harmless(character: char) -> char {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => '\u{fffd}',
        other => other,
    }
}

fn shortened(text: &str) -> String {
    let shown = first(text, MAX_MESSAGE);
    if shown.len() < text.len() { format!("{shown}…") } else { text.to_owned() }
}
