//! Ids of checks, from paths.

use std::collections::HashSet;

/// The longest id that is made of a path.
const LONGEST: usize = 100;

/// Ids that were given, each once.
#[derive(Debug, Default)]
pub struct Ids(HashSet<String>);

impl Ids {
    /// The id of a file: its path without the ending, with the ending if that is taken, else with a number.
    pub fn of_file(&mut self, path: &str) -> String {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let whole = |name: &str| if folder.is_empty() { id(name) } else { id(&format!("{folder}/{name}")) };
        let short = whole(stem);
        if self.0.insert(short.clone()) {
            return short;
        }
        self.of_text(&whole(name))
    }

    /// An id like that text.
    pub fn of_text(&mut self, text: &str) -> String {
        let base = id(text);
        let mut unique = base.clone();
        let mut number = 2;
        while !self.0.insert(unique.clone()) {
            unique = format!("{base}-{number}");
            number += 1;
        }
        unique
    }
}

/// Lowercase letters, digits and `.`, `_`, `-` stay, anything else becomes `-`; no part begins with a sign.
fn id(text: &str) -> String {
    let part = |part: &str| {
        let mut id = String::new();
        for character in part.chars().map(|character| character.to_ascii_lowercase()) {
            let fits = character.is_ascii_lowercase() || character.is_ascii_digit() || "._-".contains(character);
            match character {
                character if fits => id.push(character),
                _ if id.ends_with('-') => {}
                _ => id.push('-'),
            }
        }
        id.trim_start_matches(['.', '_', '-']).trim_end_matches(['.', '-']).to_owned()
    };
    let mut id = text.split('/').map(part).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    id.truncate(LONGEST);
    if id.is_empty() { "test".to_owned() } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_path_in_the_letters_that_ids_have() {
        for (path, id) in [
            ("hooks/test_sweep.py", "hooks/test_sweep"),
            (".claude/hooks/test_a.py", "claude/hooks/test_a"),
            ("Hooks/Test It's \"x\"\n.sh", "hooks/test-it-s-x"),
            ("-x/test_a.py", "x/test_a"),
            ("hooks/test_ü.py", "hooks/test_"),
            ("ü/é.sh", "test"),
            ("hooks/a.test.mjs", "hooks/a.test"),
        ] {
            assert_eq!(Ids::default().of_file(path), id, "{path:?}");
        }
    }

    #[test]
    fn ids_are_unique() {
        let mut ids = Ids::default();
        let made =
            ["h/test_a.py", "h/test_a.sh", "H/test_a.sh", "h/test ü.sh", "h/test é.sh"].map(|path| ids.of_file(path));
        assert_eq!(made, ["h/test_a", "h/test_a.sh", "h/test_a.sh-2", "h/test", "h/test-.sh"]);
    }
}
