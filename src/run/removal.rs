//! The end of a sandbox.

use std::path::Path;

use super::sandbox::Sandbox;
use crate::model::{Finding, Kind, Severity};
use crate::platform;

/// Removes the sandbox, wherever it is by now; what resists is a finding, and so is that it was moved.
pub fn removal(sandbox: &Sandbox) -> Vec<Finding> {
    let moved = sandbox.moved_to();
    let root = moved.as_deref().unwrap_or(sandbox.root());
    let residue = |path: &Path, message, remedy: &str| {
        let mut finding = Finding::new(Kind::Residue, Severity::Error, message);
        finding.path = Some(path.display().to_string());
        finding.remedy = Some(remedy.to_owned());
        finding
    };
    let mut findings = Vec::new();
    if let Some(now) = &moved {
        let message = format!("the sandbox was moved to {}, and removed there", now.display());
        findings.push(residue(now, message, "leave the folder where it is, and move what is in it"));
    }
    let removal = platform::remove_tree(root);
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    findings.extend(removal.left.into_iter().map(|left| {
        let message = format!("{} could not be removed from the sandbox: {}", name(&left.path), left.reason);
        residue(&left.path, message, "let the test undo what it did to it")
    }));
    if let Some((path, waited)) = removal.waited {
        let message = format!(
            "{} was open when the sandbox was to be removed, and gone {} ms later: a virus scanner looks at new files",
            name(&path),
            waited.as_millis()
        );
        let mut finding = Finding::new(Kind::Residue, Severity::Note, message);
        finding.path = Some(path.display().to_string());
        findings.push(finding);
    }
    findings
}
