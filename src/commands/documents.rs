//! The documents that a run writes, and which of them takes standard output.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::HowArgs;
use crate::env;
use crate::error::{Error, Result};
use crate::model::Report;
use crate::platform;
use crate::report::{self, Document, Target};
use crate::run::Reports;
use crate::source;

/// Where the documents of a run go.
pub struct Documents {
    pub report: Option<Target>,
    pub junit: Option<Target>,
    pub receipt: Option<Target>,
    /// Whether something other than people's text is on standard output.
    pub take_stdout: bool,
}

impl Documents {
    /// Sees to it that all of them can be written, before anything runs.
    ///
    /// # Errors
    ///
    /// If one can't, git tracks one, or two would go to the same place.
    pub fn prepare(how: &HowArgs, receipt: Option<&Path>) -> Result<Self> {
        let prepare = |document, path: Option<&Path>| path.map(|path| Target::prepare(document, path)).transpose();
        let report = prepare(Document::Report, how.report.as_deref())?;
        let junit = prepare(Document::Junit, how.junit.as_deref())?;
        let receipt = prepare(Document::Receipt, receipt)?;
        let targets = [(&report, "--report"), (&junit, "--junit"), (&receipt, "--receipt")];
        let on_stdout = targets.iter().filter(|(target, _)| target.as_ref().is_some_and(Target::is_stdout));
        let mut names: Vec<String> = on_stdout.map(|(_, name)| format!("{name} -")).collect();
        names.extend(how.events.then(|| "--events".to_owned()));
        if names.len() > 1 {
            let text = format!("{} can't share standard output: name a file", names.join(" and "));
            return Err(Error::Usage(text));
        }
        let files = targets.iter().filter_map(|(target, name)| Some((target.as_ref()?.file()?, *name)));
        let mut taken: Vec<(Option<PathBuf>, &str)> = Vec::new();
        for (file, name) in files {
            let whole = whole(file);
            if whole.as_deref().is_some_and(source::is_tracked) {
                let file = file.display();
                return Err(Error::Usage(format!(
                    "{name} would overwrite {file}, which git tracks\nhelp: name another file, or take it out of git \
                     first: `git rm --cached {file}`"
                )));
            }
            if let Some((_, other)) = taken.iter().find(|(taken, _)| *taken == whole) {
                return Err(Error::Usage(format!("{other} and {name} both name {}", file.display())));
            }
            taken.push((whole, name));
        }
        Ok(Self { report, junit, receipt, take_stdout: !names.is_empty() })
    }

    /// The files that they go to.
    pub fn files(&self) -> Vec<PathBuf> {
        let targets = [&self.report, &self.junit, &self.receipt].into_iter().flatten();
        targets.filter_map(|target| whole(target.file()?)).collect()
    }

    /// Writes them, but for the receipt. Returns what went wrong.
    pub fn write(&self, report: &Report, checks: &Reports) -> Vec<Error> {
        let json = |out: &mut dyn Write| report::write_json(out, report, checks.iter());
        let xml = |out: &mut dyn Write| report::write_junit(out, report, checks.iter());
        let json = self.report.as_ref().map(|target| for_the_reader(target, json, report::defused_json));
        let xml = self.junit.as_ref().map(|target| for_the_reader(target, xml, report::defused_xml));
        [json, xml].into_iter().flatten().filter_map(Result::err).collect()
    }
}

/// Writes a document, in which GitHub's runner finds no command, if that reads it.
fn for_the_reader(
    target: &Target,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    defused: fn(&str) -> String,
) -> Result<()> {
    if !target.is_stdout() || !env::in_github_actions() {
        return target.write_with(write);
    }
    target.write_with(|out| {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        out.write_all(defused(&String::from_utf8_lossy(&bytes)).as_bytes())
    })
}

/// A file's path as it can be compared: that of its folder without links.
fn whole(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(platform::real_path(folder).ok()?.join(file.file_name()?))
}
