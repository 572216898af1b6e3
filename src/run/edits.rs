//! Edits that are made in a copy of the project.

use std::fs;
use std::path::{Path, PathBuf};

use super::copy::{self, Outside};
use crate::model::Edit;
use crate::words::shown;

/// A larger file is not edited: nobody wrote it by hand.
const LARGEST: u64 = 16 << 20;
/// A longer line is not compared with what is looked for.
const LONGEST: usize = 400;
/// So many places are named, when a text stands at too many.
const NAMED: usize = 5;

/// Makes edits in a copy of the project, one after the other. Gives the files, without symbolic links on the way.
///
/// # Errors
///
/// A sentence that names the file, and where an edit no longer applies the line that is nearest to its text.
pub fn make(edits: &[Edit], copy: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for edit in edits {
        let told = |why: String| format!("breaks: {}: {why}", edit.file);
        let file = copy::inside(copy, Path::new(&edit.file)).map_err(|out| match out {
            Outside::Elsewhere(place) => told(format!("it leads out of the copy, to {}", place.display())),
            Outside::Unseen(error) if error.kind() == std::io::ErrorKind::NotFound => {
                told("it is not in a copy of the project: it is gone, or git ignores it".to_owned())
            }
            Outside::Unseen(error) => told(error.to_string()),
        })?;
        let cannot = |error: std::io::Error| told(error.to_string());
        let metadata = fs::metadata(&file).map_err(cannot)?;
        if !metadata.is_file() {
            return Err(told("it is not a regular file".to_owned()));
        }
        if metadata.len() > LARGEST {
            return Err(told("it is too large to be edited".to_owned()));
        }
        let text = String::from_utf8(fs::read(&file).map_err(cannot)?);
        let text = text.map_err(|_| told("it is not UTF-8".to_owned()))?;
        fs::write(&file, edited(&text, edit).map_err(told)?).map_err(cannot)?;
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// A text with an edit. Line ends are those of the text: manifests are checked out with others on Windows.
fn edited(text: &str, edit: &Edit) -> Result<String, String> {
    let ended = |words: &str| if text.contains("\r\n") { words.replace('\n', "\r\n") } else { words.to_owned() };
    let is_as_written = text.contains(&edit.replace);
    let (replace, with) = if is_as_written {
        (edit.replace.clone(), edit.with.clone())
    } else {
        (ended(&edit.replace), ended(&edit.with))
    };
    let lines: Vec<usize> = text.match_indices(&replace).map(|(at, _)| line_of(text, at)).collect();
    match &lines[..] {
        [] => Err(format!("{} is not there{}", quoted(&edit.replace), nearest(text, &edit.replace))),
        [_, _, ..] if !edit.all => Err(format!(
            "{} is there {} times, in lines {}; write more of it, or `all: true`",
            quoted(&edit.replace),
            lines.len(),
            in_words(&lines)
        )),
        _ => Ok(text.replace(&replace, &with)),
    }
}

/// The 1-based line of a place in a text.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn in_words(lines: &[usize]) -> String {
    let mut named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    if lines.len() > NAMED {
        named.push("…".to_owned());
    }
    named.join(", ")
}

/// The line that is most like the first one of what is looked for.
fn nearest(text: &str, wanted: &str) -> String {
    let Some(first) = wanted.lines().map(str::trim).find(|line| !line.is_empty()) else { return String::new() };
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let alike = lines
        .filter(|(_, line)| !line.is_empty() && line.len() <= LONGEST)
        .map(|(number, line)| (likeness(line, first), number, line))
        .max_by(|(one, first, _), (other, second, _)| one.total_cmp(other).then(second.cmp(first)));
    match alike {
        Some((likeness, number, line)) if likeness > 0.0 => format!("; nearest is line {number}: {}", quoted(line)),
        _ => String::new(),
    }
}

/// From 0 to 1. What stands in a line that has more is compared with the like of it.
fn likeness(line: &str, wanted: &str) -> f64 {
    let parts = line.char_indices().filter(|&(at, _)| at == 0 || line.as_bytes()[at - 1] == b' ');
    let length = wanted.chars().count();
    let part = |at: usize| line[at..].chars().take(length).collect::<String>();
    parts.map(|(at, _)| strsim::normalized_damerau_levenshtein(&part(at), wanted)).fold(0.0, f64::max)
}

/// A text as it stands in a message: in one line, and short.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    let text = shown(text.trim().as_bytes()).replace('\t', " ");
    let line: String = text.lines().next().unwrap_or_default().chars().take(LONGEST).collect();
    let more = if line.len() < text.len() { "…" } else { "" };
    format!("`{line}{more}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "import x\n\ndef start(root):\n    return run(args,\n        cwd=root,\n        env=env)\n# root\n";

    fn of(replace: &str, with: &str, all: bool) -> Result<String, String> {
        edited(TEXT, &Edit { file: "f".into(), replace: replace.into(), with: with.into(), all })
    }

    #[test]
    fn a_text_that_stands_there_once_is_replaced() {
        assert_eq!(of("cwd=root,", "", false).expect("an edit"), TEXT.replace("cwd=root,", ""));
        let lines = of("cwd=root,\n        env", "env", false).expect("an edit");
        assert!(lines.contains("run(args,\n        env=env)"), "{lines}");
        assert_eq!(of("root", "base", true).expect("an edit").matches("base").count(), 3);
    }

    #[test]
    fn one_that_does_not_or_does_so_more_than_once_is_told_with_its_lines() {
        assert_eq!(
            of("cwd=base,", "", false).expect_err("it is gone"),
            "`cwd=base,` is not there; nearest is line 5: `cwd=root,`"
        );
        assert_eq!(
            of("root", "", false).expect_err("three of them"),
            "`root` is there 3 times, in lines 3, 5, 7; write more of it, or `all: true`"
        );
    }

    #[test]
    fn line_ends_are_those_of_the_file() {
        let edit = Edit { file: "f".into(), replace: "a\nb".into(), with: "c\nd".into(), all: false };
        assert_eq!(edited("x\r\na\r\nb\r\n", &edit).expect("an edit"), "x\r\nc\r\nd\r\n");
        assert_eq!(edited("x\na\nb\n", &edit).expect("an edit"), "x\nc\nd\n");
    }
}
