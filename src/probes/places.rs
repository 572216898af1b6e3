//! Which folder a path lies in, and how to name it.

use std::path::{Path, PathBuf};

/// The folders of one check.
#[derive(Debug, Clone)]
pub struct Places {
    pub sandbox: PathBuf,
    pub project: PathBuf,
    pub cwd: PathBuf,
}

impl Places {
    /// Relative to the sandbox or the project where it lies in one, else as it is.
    #[must_use]
    pub fn name(&self, path: &str) -> String {
        let path = Path::new(path);
        let relative = path.strip_prefix(&self.sandbox).or_else(|_| path.strip_prefix(&self.project)).unwrap_or(path);
        let name = relative.display().to_string();
        if name.is_empty() { ".".to_owned() } else { name }
    }

    /// The paths that [`Self::name`] may have made a name of.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        [&self.sandbox, &self.project].into_iter().map(move |folder| folder.join(name))
    }

    /// Whether the path lies in the sandbox.
    #[must_use]
    pub fn in_sandbox(&self, path: &str) -> bool {
        Path::new(path).starts_with(&self.sandbox)
    }
}
