//! Which paths a call is looked at for.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// A glob of paths: without `/` it is for the last name alone, wherever that is, else for the whole path. `*`, `?`, `[…]` and
/// `{…}` stay within one name; `**` stands for any folders.
#[derive(Debug, Clone)]
pub struct PathPattern {
    glob: GlobMatcher,
    whole: bool,
}

impl PathPattern {
    /// Reads a glob.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.ends_with('/') {
            return Err("its last part names no file".to_owned());
        }
        let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(false).build();
        let glob = glob.map_err(|error| error.kind().to_string())?.compile_matcher();
        Ok(Self { glob, whole: text.contains('/') })
    }

    /// Whether it is for that path.
    #[must_use]
    pub fn is_match(&self, path: &Path) -> bool {
        if self.whole {
            self.glob.is_match(path)
        } else {
            path.file_name().is_some_and(|name| self.glob.is_match(name))
        }
    }
}

/// A path as a glob that is for it alone.
#[must_use]
pub fn as_glob(path: &str) -> String {
    globset::escape(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_anywhere_and_a_path_where_it_leads() {
        for (glob, path, expected) in [
            ("*.pid", "/a/b/guard.pid", true),
            ("*.pid", "/a/guard.pid/x", false),
            ("guard", "/a/guard", true),
            ("/a/*.pid", "/a/guard.pid", true),
            ("/a/*.pid", "/a/b/guard.pid", false),
            ("/a/**/*.pid", "/a/b/c/guard.pid", true),
            ("/a/[*]/x", "/a/*/x", true),
        ] {
            assert_eq!(PathPattern::new(glob).expect("a glob").is_match(Path::new(path)), expected, "{glob} {path}");
        }
        for glob in ["", "a/", "a["] {
            assert!(PathPattern::new(glob).is_err(), "{glob}");
        }
    }
}
