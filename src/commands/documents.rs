//! The documents that a run writes, and which of them takes standard output.

use std::path::{Path, PathBuf};

use crate::cli::HowArgs;
use crate::env;
use crate::error::{Error, Result};
use crate::model::Report;
use crate::platform;
use crate::report::{self, Document, Target};

/// Where the documents of a run go.
pub struct Documents {
    pub report: Option<Target>,
    pub junit: Option<Target>,
    /// Whether something other than people's text is on standard output.
    pub take_stdout: bool,
}

impl Documents {
    /// Sees to it that all of them can be written, before anything runs.
    ///
    /// # Errors
    ///
    /// If one can't, or two would go to the same place.
    pub fn prepare(how: &HowArgs) -> Result<Self> {
        let prepare =
            |document, path: &Option<PathBuf>| path.as_deref().map(|path| Target::prepare(document, path)).transpose();
        let report = prepare(Document::Report, &how.report)?;
        let junit = prepare(Document::Junit, &how.junit)?;
        let on_stdout = |target: &Option<Target>| target.as_ref().is_some_and(Target::is_stdout);
        let taken = [(on_stdout(&report), "--report -"), (on_stdout(&junit), "--junit -"), (how.events, "--events")];
        let names: Vec<&str> = taken.iter().filter(|(taken, _)| *taken).map(|(_, name)| *name).collect();
        if names.len() > 1 {
            let text = format!("{} can't share standard output: name a file", names.join(" and "));
            return Err(Error::Usage(text));
        }
        if let (Some(one), Some(other)) =
            (report.as_ref().and_then(Target::file), junit.as_ref().and_then(Target::file))
            && whole(one) == whole(other)
        {
            return Err(Error::Usage(format!("--report and --junit both name {}", one.display())));
        }
        Ok(Self { report, junit, take_stdout: !names.is_empty() })
    }

    /// Writes them. Returns what went wrong.
    pub fn write(&self, report: &Report) -> Vec<Error> {
        let mut errors = Vec::new();
        if let Some(target) = &self.report {
            let json = report::json(report);
            errors.extend(target.write(&for_the_reader(target, json, report::defused_json)).err());
        }
        if let Some(target) = &self.junit {
            let xml = report::junit(report);
            errors.extend(target.write(&for_the_reader(target, xml, report::defused_xml)).err());
        }
        errors
    }
}

/// A document in which GitHub's runner finds no command, if that reads it.
fn for_the_reader(target: &Target, bytes: Vec<u8>, defused: fn(&str) -> String) -> Vec<u8> {
    if !target.is_stdout() || !env::in_github_actions() {
        return bytes;
    }
    defused(&String::from_utf8_lossy(&bytes)).into_bytes()
}

/// A file's path as it can be compared: that of its folder without links.
fn whole(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(platform::real_path(folder).ok()?.join(file.file_name()?))
}
