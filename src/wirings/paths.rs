//! Paths as texts with `/`, relative to the project.

use std::path::Path;

/// The folder that a file lies in; empty for the project itself.
pub fn folder(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path, whichever separator it has.
pub fn base(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// Whether a file's name ends in that, as it is written.
pub fn ends_in(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|own| own == ending)
}

/// A relative path in a folder, without `.` and `..`; `None` if it leads out of the project or is absolute.
#[must_use]
pub fn join(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_project() {
        for (folder, path, joined) in [
            ("", "a", Some("a")),
            ("a/b", "../c", Some("a/c")),
            ("a", "./b//c/.", Some("a/b/c")),
            ("a", "../..", None),
            ("", "/a", None),
            ("", "..", None),
            ("a", "..", Some("")),
        ] {
            assert_eq!(join(folder, path).as_deref(), joined, "{folder} {path}");
        }
        assert_eq!((folder("a/b"), folder("a"), base("a\\b"), base("a/b")), ("a", "", "b", "b"));
    }
}
