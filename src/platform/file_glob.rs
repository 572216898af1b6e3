//! Globs of files, followed folder by folder: which folders can have a match in them is known before it is there.

use globset::{GlobBuilder, GlobMatcher};

/// A glob of files below a folder, with `/` between names. `*`, `?`, `[…]` and `{…}` stay within one name; `**` as a whole
/// name stands for any number of folders. Case matters, and a dot at the beginning of a name is nothing special.
#[derive(Debug, Clone)]
pub struct FileGlob {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Name(GlobMatcher),
    AnyFolders,
}

/// How far into a glob the way to a folder leads; it may lead there in several ways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress(Vec<usize>);

impl FileGlob {
    /// Reads a glob.
    ///
    /// # Errors
    ///
    /// Why it is none, or why no file can match it.
    pub fn new(text: &str) -> Result<Self, String> {
        let part = |name: &str| match name {
            "**" => Ok(Part::AnyFolders),
            name => {
                let glob = GlobBuilder::new(name).literal_separator(true).backslash_escape(false).build();
                glob.map(|glob| Part::Name(glob.compile_matcher())).map_err(|error| error.kind().to_string())
            }
        };
        let names: Vec<&str> = text.split('/').filter(|name| *name != ".").collect();
        if names.contains(&"") {
            return Err("a name between two `/` is empty".to_owned());
        }
        let parts = names.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        match parts.last() {
            Some(Part::Name(_)) => Ok(Self { parts }),
            _ => Err("its last part names no file".to_owned()),
        }
    }

    /// Where the way begins: in the folder that the glob is below.
    #[must_use]
    pub fn start(&self) -> Progress {
        self.with_skipped(vec![0])
    }

    /// How far it leads with one name more.
    #[must_use]
    pub fn enter(&self, progress: &Progress, name: &str) -> Progress {
        let mut next = Vec::new();
        for &at in &progress.0 {
            match self.parts.get(at) {
                Some(Part::AnyFolders) => next.push(at),
                Some(Part::Name(glob)) if glob.is_match(name) => next.push(at + 1),
                Some(Part::Name(_)) | None => {}
            }
        }
        self.with_skipped(next)
    }

    /// Whether what the way leads to is a match.
    #[must_use]
    pub fn is_match(&self, progress: &Progress) -> bool {
        progress.0.contains(&self.parts.len())
    }

    /// Whether a match may have this name, wherever it is.
    #[must_use]
    pub fn may_be_named(&self, name: &str) -> bool {
        matches!(self.parts.last(), Some(Part::Name(glob)) if glob.is_match(name))
    }

    /// Whether there may be a match below it.
    #[must_use]
    pub fn may_match_below(&self, progress: &Progress) -> bool {
        progress.0.iter().any(|at| *at < self.parts.len())
    }

    /// `**` may stand for no folder at all.
    fn with_skipped(&self, mut places: Vec<usize>) -> Progress {
        let mut index = 0;
        while let Some(&at) = places.get(index) {
            if matches!(self.parts.get(at), Some(Part::AnyFolders)) {
                places.push(at + 1);
            }
            index += 1;
        }
        places.sort_unstable();
        places.dedup();
        Progress(places)
    }
}

impl Progress {
    /// Both ways to one folder.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut places: Vec<usize> = self.0.iter().chain(&other.0).copied().collect();
        places.sort_unstable();
        places.dedup();
        Self(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a path matches, and whether something below it may.
    fn follow(glob: &str, path: &str) -> (bool, bool) {
        let glob = FileGlob::new(glob).expect("a glob");
        let end = path.split('/').fold(glob.start(), |progress, name| glob.enter(&progress, name));
        (glob.is_match(&end), glob.may_match_below(&end))
    }

    #[test]
    fn a_glob_is_followed_name_by_name() {
        for (glob, path, expected) in [
            (".claude/state/*.json", ".claude", (false, true)),
            (".claude/state/*.json", ".claude/state", (false, true)),
            (".claude/state/*.json", ".claude/state/a.json", (true, false)),
            (".claude/state/*.json", ".claude/state/a.json.tmp", (false, false)),
            (".claude/state/*.json", "src", (false, false)),
            ("./a", "a", (true, false)),
            ("*/state/*", "x/state/y", (true, false)),
            ("*/state/*", "x/y/state", (false, false)),
            ("**/a.json", "a.json", (true, true)),
            ("**/a.json", "x/y/a.json", (true, true)),
            ("x/**/y/*.pid", "x/a/b/y/1.pid", (true, true)),
            ("x/**/y/*.pid", "x/y/1.pid", (true, true)),
            ("x/**/y/*.pid", "z", (false, false)),
            ("{a,b}[0-9].js?n", "b7.json", (true, false)),
        ] {
            assert_eq!(follow(glob, path), expected, "{glob} on {path}");
        }
    }

    #[test]
    fn a_match_is_known_by_its_last_name() {
        let glob = FileGlob::new("**/state/*.json").expect("a glob");
        assert!(glob.may_be_named("a.json") && !glob.may_be_named("state") && !glob.may_be_named("a.json.lock"));
    }

    #[test]
    fn what_no_file_can_match_is_refused() {
        for glob in ["", "a/", "a//b", "**", "a/**", ".", "a[", "{a/b,c}"] {
            assert!(FileGlob::new(glob).is_err(), "{glob}");
        }
    }
}
