//! Facts about the session that hostproof was started in, alike on every system.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::path::Path;

use super::files::{find_program, real_path};
use crate::env;
use crate::model::HostFacts;

/// How many names of settings are kept.
const MOST_SETTINGS: usize = 200;

/// The home, the path, the shell and the terminal; everything else is unknown.
pub fn facts() -> HostFacts {
    let home = env::home();
    let path = env::raw("PATH");
    let sh = find_program(OsStr::new("sh"), path.as_deref(), Path::new("/"));
    HostFacts {
        home_settings: home.as_deref().and_then(settings),
        home: home.map(|home| home.display().to_string()),
        path: path.map(|path| path.to_string_lossy().into_owned()),
        sh: sh.map(|sh| real_path(&sh).unwrap_or(sh).display().to_string()),
        terminal: Some(stdin().is_terminal() || stdout().is_terminal() || stderr().is_terminal()),
        ..HostFacts::default()
    }
}

/// The names that begin with a dot, and those in `.config`.
fn settings(home: &Path) -> Option<Vec<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(home).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            names.insert(name);
        }
    }
    for entry in fs::read_dir(home.join(".config")).into_iter().flatten().flatten() {
        names.insert(format!(".config/{}", entry.file_name().to_string_lossy()));
    }
    Some(names.into_iter().take(MOST_SETTINGS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_what_begins_with_a_dot() {
        let home = tempfile::tempdir().expect("a tempdir");
        fs::create_dir_all(home.path().join(".config/tool")).expect("a folder");
        for name in [".toolrc", "letter.txt", ".config/tool/settings"] {
            fs::write(home.path().join(name), "").expect("a file");
        }
        let names = settings(home.path()).expect("a readable home");
        assert_eq!(names, [".config", ".config/tool", ".toolrc"]);
        assert_eq!(settings(&home.path().join("none")), None);
    }
}
