//! Which files a check covers: the globs of its `covers`, as a manifest has them.
//!
//! Names are relative to the project, with `/`. `*` stays in a folder, `**` does not, and a folder with `/` at its end is
//! all that is in it.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// The globs of a check.
#[derive(Debug, Clone)]
pub struct Covers {
    globs: Vec<Cover>,
}

#[derive(Debug, Clone)]
struct Cover {
    /// As it is written.
    written: String,
    /// What every path begins with that it is for; the whole of it if it is a path itself.
    fixed: String,
    matcher: GlobMatcher,
}

impl Covers {
    /// Of globs that were seen to be some.
    #[must_use]
    pub fn of(globs: &[String]) -> Self {
        let cover = |written: &String| {
            let plain = written.trim_start_matches("./");
            let text = plain.strip_suffix('/').map_or_else(|| plain.to_owned(), |folder| format!("{folder}/**"));
            let matcher = GlobBuilder::new(&text).literal_separator(true).build().ok()?.compile_matcher();
            let fixed = text.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default().to_owned();
            Some(Cover { written: written.clone(), fixed, matcher })
        };
        Self { globs: globs.iter().filter_map(cover).collect() }
    }

    /// The first glob that is for one of these paths.
    pub fn glob_for(&self, paths: &[impl AsRef<Path>]) -> Option<&str> {
        let is_for = |cover: &&Cover| paths.iter().any(|path| cover.matcher.is_match(path));
        self.globs.iter().find(is_for).map(|cover| cover.written.as_str())
    }

    /// Whether a file is covered.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.globs.iter().any(|cover| cover.matcher.is_match(path))
    }

    /// Whether something in a folder may be covered.
    #[must_use]
    pub fn may_have_in(&self, folder: &str) -> bool {
        let folder = format!("{folder}/");
        self.globs.iter().any(|cover| cover.fixed.starts_with(&folder) || folder.starts_with(&cover.fixed))
    }

    /// The paths among the globs: those without anything that stands for something else.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.globs.iter().filter(|cover| cover.matcher.glob().glob() == cover.fixed).map(|cover| cover.fixed.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_for_paths() {
        let covers = Covers::of(&["./hooks/".into(), "*.toml".into(), "a/b.json".into()]);
        for (path, glob) in [
            ("hooks/x/y.py", Some("./hooks/")),
            ("Cargo.toml", Some("*.toml")),
            ("a/b.json", Some("a/b.json")),
            ("a/Cargo.toml", None),
            ("hooks", None),
        ] {
            assert_eq!(covers.glob_for(&[path]), glob, "{path}");
            assert_eq!(covers.has(Path::new(path)), glob.is_some(), "{path}");
        }
        assert_eq!(covers.paths().collect::<Vec<_>>(), ["a/b.json"]);
    }

    #[test]
    fn a_folder_may_have_something_that_is_covered() {
        let covers = Covers::of(&["vendor/lib/x.py".into(), "hooks/**".into()]);
        for (folder, may) in
            [("vendor", true), ("vendor/lib", true), ("hooks/deep", true), ("ven", false), ("src", false)]
        {
            assert_eq!(covers.may_have_in(folder), may, "{folder}");
        }
        assert!(Covers::of(&["**/x.py".into()]).may_have_in("anything"));
    }
}
