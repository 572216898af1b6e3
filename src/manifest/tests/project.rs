//! A project with manifests, for a test.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::manifest::{Loaded, Options, load};
use crate::model::{Check, Platform};

/// A project in a folder of its own.
pub struct Project(tempfile::TempDir);

impl Project {
    pub fn empty() -> Self {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir(project.path().join("checks.d")).unwrap();
        Self(project)
    }

    /// One manifest, `checks.d/a.yaml`.
    pub fn with(content: impl AsRef<[u8]>) -> Self {
        Self::empty().file("a.yaml", content)
    }

    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("checks.d").join(name)
    }

    pub fn load_on(&self, platform: Platform) -> Result<Loaded, Error> {
        load(&Options { start: self.0.path(), directory: None, platform, colour: false })
    }

    pub fn loaded(&self) -> Loaded {
        self.load_on(Platform::Linux).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The text of the errors. It must come at once, whatever the manifests are.
    pub fn errors(&self) -> String {
        let start = Instant::now();
        let errors = match self.load_on(Platform::Linux) {
            Err(Error::Manifest(text)) => text,
            other => panic!("expected errors of manifests, got {other:?}"),
        };
        // Far below a second, but other tests may have the machine.
        assert!(start.elapsed() < Duration::from_secs(10), "answered after {:?}", start.elapsed());
        errors
    }
}

/// The one check of a manifest, on a platform.
pub fn check_on(platform: Platform, content: &str) -> Check {
    let loaded = Project::with(content).load_on(platform).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.checks.len(), 1);
    loaded.checks[0].check.clone()
}

/// The errors of a manifest with one check, whose other keys these are.
pub fn errors_of_check(keys: &str) -> String {
    let indented: Vec<_> = keys.lines().map(|line| format!("    {line}")).collect();
    Project::with(format!("version: 1\nchecks:\n  - id: a\n    run: [x]\n{}\n", indented.join("\n"))).errors()
}
