//! Edits that must turn a check red: the proof that it can fail.

use serde::Serialize;

/// Edits of the project that, made together in a copy of it, must turn the check red.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Break {
    /// In this order; never empty.
    pub edits: Vec<Edit>,
    /// What it must be red for: the kind of an error, the name of a case that fails, or a text that the check writes.
    pub expect: String,
}

/// A text of a file that is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// Relative to the project.
    pub file: String,
    /// What stands there; not empty.
    pub replace: String,
    /// What is put in its place; may be empty.
    pub with: String,
    /// Whether it may stand there more than once; then each is replaced.
    pub all: bool,
}

impl Break {
    /// The files that it edits, each once, in the order of the edits.
    #[must_use]
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for edit in &self.edits {
            if !files.contains(&edit.file.as_str()) {
                files.push(&edit.file);
            }
        }
        files
    }
}
