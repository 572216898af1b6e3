//! What GitHub's runner is told, where it runs us.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::show::Show;
use crate::model::{Gate, Lints, Report};
use crate::run::Reports;
use crate::{env, platform, report};

/// How large a step's summary may be, all that is in it together.
const SUMMARY: u64 = 1 << 20;

/// Annotates the failures, and adds to the summary of the step; `checks` are those of the report. None of that changes a
/// verdict: what can't be done is told.
pub fn tell(report: &Report, checks: &Reports, project: &Path, show: Show) {
    if !env::in_github_actions() {
        return;
    }
    annotate(project, show, |file_of| {
        report::annotations(report, checks.iter(), file_of).unwrap_or_else(|error| {
            Show::error(&format!("the failures can't be annotated: {error}"));
            Vec::new()
        })
    });
    if let Some(path) = env::raw("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from)
        && let Err(error) = summarise(report, checks, &path)
    {
        Show::error(&format!("the step summary can't be written to {}: {error}", path.display()));
    }
}

/// Annotates what was found in sources.
pub fn tell_lints(lints: &Lints, project: &Path, show: Show) {
    if env::in_github_actions() {
        annotate(project, show, |file_of| report::lint_annotations(lints, file_of));
    }
}

/// Annotates what the gate says no to.
pub fn tell_gate(gate: &Gate, project: &Path, show: Show) {
    if env::in_github_actions() {
        annotate(project, show, |file_of| report::gate_annotations(gate, file_of));
    }
}

/// Says annotations, for which files are named as the repository that the runner has checked out names them.
fn annotate(project: &Path, show: Show, annotations: impl FnOnce(&dyn Fn(&str) -> Option<String>) -> Vec<String>) {
    let workspace = env::text("GITHUB_WORKSPACE").and_then(|folder| platform::real_path(Path::new(&folder)).ok());
    let file_of = |file: &str| in_repository(workspace.as_deref().unwrap_or(project), project, file);
    let annotations = annotations(&file_of);
    if !annotations.is_empty() {
        show.line("");
    }
    for annotation in annotations {
        show.command(&annotation);
    }
}

fn summarise(report: &Report, checks: &Reports, path: &Path) -> io::Result<()> {
    let there = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        Ok(_) => return Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let room = usize::try_from(SUMMARY.saturating_sub(there)).unwrap_or(0);
    let summary = report::summary(report, || checks.iter(), room.saturating_sub(1))?;
    let summary = summary.ok_or_else(|| io::Error::other("it is full: GitHub takes 1 MiB"))?;
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
    // What is there may have no end of line.
    file.write_all(format!("\n{summary}").as_bytes())
}

/// Where the repository has a file of the project; `None` if it lies elsewhere.
fn in_repository(workspace: &Path, project: &Path, file: &str) -> Option<String> {
    let mut whole = PathBuf::new();
    for component in project.join(file).components() {
        match component {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            component => whole.push(component),
        }
    }
    let names: Vec<String> =
        whole.strip_prefix(workspace).ok()?.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    Some(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_the_repository_has_them() {
        let named = |file| in_repository(Path::new("/r"), Path::new("/r/sub/p"), file);
        assert_eq!(named("hooks/a.py").as_deref(), Some("sub/p/hooks/a.py"));
        assert_eq!(named("../b.py").as_deref(), Some("sub/b.py"));
        assert_eq!(named("/usr/lib/x.py"), None);
        assert_eq!(named("../../../x.py"), None);
    }
}
