//! The texts that pytest builds its lines of: ids, titles, rules.

use std::path::Path;

use crate::readers::cases::number as number_of;

/// Whether a file is Python's, by its name.
pub fn is_python(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "py")
}

/// What stands between runs of a character: `=== title ===`.
pub fn between(text: &str, around: char) -> Option<&str> {
    if !text.starts_with(around) || !text.ends_with(around) {
        return None;
    }
    let inner = text.trim_start_matches(around).strip_prefix(' ')?;
    inner.trim_end_matches(around).strip_suffix(' ')
}

/// The title that pytest gives a failure of the case with that id.
pub fn title_of(id: &str) -> String {
    let Some((_, rest)) = id.split_once("::") else { return id.to_owned() };
    let (name, parameters) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
    format!("{}{parameters}", name.replace("::", "."))
}

/// The id that a text begins with; `from` is where the names in it begin. Parameters in brackets may hold blanks.
pub fn id_at(text: &str, from: usize) -> &str {
    let names = &text[from..];
    let blank = names.find(' ').unwrap_or(names.len());
    let end = match names.find('[').filter(|&bracket| bracket < blank) {
        None => blank,
        Some(bracket) => {
            let closing = names[bracket..].match_indices(']').map(|(at, _)| bracket + at + 1);
            let mut ends = closing.filter(|&end| names[end..].is_empty() || names[end..].starts_with(' '));
            ends.next().unwrap_or(names.len())
        }
    };
    &text[..from + end]
}

/// Whether the text begins with a message that may be cut by `...`.
pub fn starts_with_cut(text: &str, message: &str) -> bool {
    text.starts_with(message.strip_suffix("...").unwrap_or(message))
}

pub fn complete(progress: &str) -> bool {
    let inner = progress.trim_matches(['[', ']']).trim();
    inner == "100%" || inner.split_once('/').is_some_and(|(done, all)| done.trim() == all)
}

/// How many cases `collected 6 items / 1 error / 2 deselected / 1 skipped / 4 selected` announces: the selected ones,
/// and one for each file that could not be collected or was skipped as a whole.
pub fn planned(items: &str, parts: &str) -> Option<u64> {
    let mut planned: u64 = number_of(items)?;
    let mut files = 0;
    for part in parts.split(" / ").filter(|part| !part.is_empty()) {
        let (number, word) = part.split_once(' ')?;
        let number = number_of(number)?;
        match word {
            "deselected" => planned = planned.saturating_sub(number),
            "selected" => planned = number,
            "error" | "errors" | "skipped" => files += number,
            _ => {}
        }
    }
    Some(planned + files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_end_where_their_parameters_do() {
        for (text, id) in [
            ("a.py::test_x - why", "a.py::test_x"),
            ("a.py::C::test_x", "a.py::C::test_x"),
            ("a.py::test_x[a b] - why", "a.py::test_x[a b]"),
            ("a.py::test_x[c::d - e] - why", "a.py::test_x[c::d - e]"),
            ("a.py::test_x[a[0]]", "a.py::test_x[a[0]]"),
            ("a.py::test_x - [1] is not [2]", "a.py::test_x"),
            ("a.py::test_x[never closed", "a.py::test_x[never closed"),
        ] {
            assert_eq!(id_at(text, "a.py::".len()), id, "{text}");
        }
    }

    #[test]
    fn titles_have_dots_outside_of_parameters() {
        assert_eq!(title_of("a.py::C::test_x[c::d]"), "C.test_x[c::d]");
        assert_eq!(title_of("a.py"), "a.py");
    }

    #[test]
    fn announcements() {
        for (items, parts, expected) in [
            ("6", "", Some(6)),
            ("6", " / 2 deselected / 4 selected", Some(4)),
            ("6", " / 2 deselected", Some(4)),
            ("6", " / 1 error / 1 skipped", Some(8)),
            ("6", " / 2 errors / 6 deselected / 0 selected", Some(2)),
        ] {
            assert_eq!(planned(items, parts), expected, "{items}{parts}");
        }
    }

    #[test]
    fn rules_have_titles() {
        assert_eq!(between("=== a b ===", '='), Some("a b"));
        assert_eq!((between("======", '='), between("=== a", '='), between("a", '=')), (None, None, None));
    }
}
