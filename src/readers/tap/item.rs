//! One line of TAP by itself.

use crate::readers::cases::number;

/// What a line, without its indentation, is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<'a> {
    Version,
    /// `1..5`, and why nothing runs (`1..0 # SKIP why`).
    Plan(u64, Option<&'a str>),
    Point(Point),
    BailOut(&'a str),
    Pragma,
    /// What stands behind the `#` and one space.
    Comment(&'a str),
}

/// A test point: `not ok 3 - name # TODO why`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub ok: bool,
    pub number: Option<u64>,
    /// A number or a dash stands before the name, so that the line is no prose.
    pub marked: bool,
    pub name: String,
    pub directive: Option<Directive>,
    /// Its subtest follows in braces.
    pub opens: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directive {
    Todo,
    Skip(String),
}

/// Reads a line without its indentation; `None` if it is not TAP.
pub fn item(text: &str) -> Option<Item<'_>> {
    match text.as_bytes().first()? {
        b'#' => Some(Item::Comment(text[1..].strip_prefix(' ').unwrap_or(&text[1..]))),
        b'o' | b'n' => point(text).map(Item::Point),
        b'1' => plan(text),
        b'T' => {
            let version = text.strip_prefix("TAP version ")?.trim_end();
            (!version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())).then_some(Item::Version)
        }
        b'B' => text.strip_prefix("Bail out!").map(|why| Item::BailOut(why.trim())),
        b'p' => text.strip_prefix("pragma ").filter(|rest| rest.starts_with(['+', '-'])).map(|_| Item::Pragma),
        _ => None,
    }
}

fn plan(text: &str) -> Option<Item<'_>> {
    let rest = text.strip_prefix("1..")?;
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    let count = number(&rest[..end])?;
    let rest = rest[end..].trim();
    if rest.is_empty() {
        return Some(Item::Plan(count, None));
    }
    let comment = rest.strip_prefix('#')?.trim_start();
    let reason = word(comment, "skip").map(|why| why.trim_start_matches([':', ' ']));
    Some(Item::Plan(count, reason))
}

fn point(text: &str) -> Option<Point> {
    let (ok, rest) = match text.strip_prefix("not ") {
        Some(rest) => (false, rest),
        None => (true, text),
    };
    let rest = rest.strip_prefix("ok")?;
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start_matches(' ');
    // A tab is how Go separates a package's columns.
    if rest.starts_with('\t') {
        return None;
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = digits > 0 && rest[digits..].chars().next().is_none_or(|next| next == ' ');
    let (told, rest) = if numbered { (number(&rest[..digits]), rest[digits..].trim_start()) } else { (None, rest) };
    let dash = rest.strip_prefix("- ").or_else(|| (rest == "-").then_some(""));
    let marked = numbered || dash.is_some();
    let (rest, directive) = directive(dash.unwrap_or(rest));
    let (rest, opens) = match rest.trim_end().strip_suffix('{') {
        Some(before) if before.is_empty() || before.ends_with(' ') => (before, true),
        _ => (rest, false),
    };
    Some(Point { ok, number: told, marked, name: unescaped(rest.trim()), directive, opens })
}

/// The description without its directive, and the directive. A `#` is its begin only if it stands alone and is not
/// escaped; the last one counts, as a name may well have others. What no directive follows is a part of the name, but
/// for the time that some producers append.
fn directive(text: &str) -> (&str, Option<Directive>) {
    for (at, _) in text.match_indices('#') {
        let before = &text[..at];
        if !before.is_empty() && !before.ends_with([' ', '\t']) {
            continue;
        }
        let comment = text[at + 1..].trim_start();
        if let Some(rest) = word(comment, "skip") {
            return (before, Some(Directive::Skip(unescaped(rest.trim_start_matches([':', '-', ' ']).trim_end()))));
        }
        if let Some(rest) = word(comment, "todo") {
            // Perl's `# TODO & SKIP`: it did not run.
            let skipped = rest.trim_start().strip_prefix("& SKIP");
            return (before, Some(skipped.map_or(Directive::Todo, |why| Directive::Skip(unescaped(why.trim())))));
        }
        if word(comment, "time").is_some_and(|rest| rest.starts_with('=')) {
            return (before, None);
        }
    }
    (text, None)
}

/// What follows a word that begins the text, whatever its case and the letters after it (`skipped`).
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let begin = text.get(..word.len())?;
    let rest = &text[word.len()..];
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    // `# todos of the day` is none; `# skipped`, `# skipping` are.
    let whole = letters == 0 || word == "skip";
    (begin.eq_ignore_ascii_case(word) && whole).then(|| &rest[letters..])
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some(&next @ ('#' | '\\')) if letter == '\\' => {
                plain.push(next);
                letters.next();
            }
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Point {
        match item(text) {
            Some(Item::Point(point)) => point,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn points() {
        for (text, number, marked, name) in [
            ("ok", None, false, ""),
            ("ok 1", Some(1), true, ""),
            ("ok 1 - a", Some(1), true, "a"),
            ("ok 2 a - b", Some(2), true, "a - b"),
            ("ok - a", None, true, "a"),
            ("ok a b", None, false, "a b"),
            ("ok 3rd of all", None, false, "3rd of all"),
            (r"ok 4 - a \# SKIP b \\ c", Some(4), true, r"a # SKIP b \ c"),
            ("ok 5 - C# is nice", Some(5), true, "C# is nice"),
            ("ok 6 - a # todos of the day", Some(6), true, "a # todos of the day"),
            ("ok 7 - a # time=3.5ms", Some(7), true, "a"),
            ("ok 99999999999 - a", None, true, "a"),
        ] {
            let point = read(text);
            assert_eq!((point.number, point.marked, point.name.as_str()), (number, marked, name), "{text}");
            assert_eq!((point.ok, point.directive.clone(), point.opens), (true, None, false), "{text}");
        }
        assert!(!read("not ok 1").ok);
        assert!(read("ok 1 - a {").opens);
    }

    #[test]
    fn directives() {
        for (text, name, directive) in [
            ("ok 1 # SKIP", "", Directive::Skip(String::new())),
            ("ok 1 # skip no net", "", Directive::Skip("no net".to_owned())),
            ("ok 1 - a # Skipped: no net", "a", Directive::Skip("no net".to_owned())),
            ("not ok 1 a #TODO later", "a", Directive::Todo),
            ("not ok 1 # TODO & SKIP why", "", Directive::Skip("why".to_owned())),
            ("ok 1 - a # b # TODO", "a # b", Directive::Todo),
        ] {
            let point = read(text);
            assert_eq!((point.name.as_str(), point.directive.as_ref()), (name, Some(&directive)), "{text}");
        }
    }

    #[test]
    fn other_lines() {
        assert_eq!(item("1..5"), Some(Item::Plan(5, None)));
        assert_eq!(item("1..0 # SKIP no db"), Some(Item::Plan(0, Some("no db"))));
        assert_eq!(item("1..0 # Skipped: no db"), Some(Item::Plan(0, Some("no db"))));
        assert_eq!(item("1..3 # by hand"), Some(Item::Plan(3, None)));
        assert_eq!(item("TAP version 14"), Some(Item::Version));
        assert_eq!(item("Bail out!  no disk"), Some(Item::BailOut("no disk")));
        assert_eq!(item("pragma +strict"), Some(Item::Pragma));
        assert_eq!(item("# a"), Some(Item::Comment("a")));
        for text in [
            "",
            "1..",
            "1..a",
            "1..3 and on",
            "okay",
            "ok\tpkg",
            "ok  \tpkg\t0.003s",
            "nothing",
            "TAP version x",
            "1..99999999999",
        ] {
            assert_eq!(item(text), None, "{text}");
        }
    }
}
