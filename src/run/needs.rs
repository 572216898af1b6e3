//! The programs that checks need: whether they are there, and which version.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::program::Lookup;
use crate::model::{Check, CheckCommand, Need};
use crate::platform::{Job, Lane};
use crate::words::shown;

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Missing,
    /// With its version, if it told one.
    Here(Option<String>),
}

/// Why a check can't run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// A program that it needs is missing.
    Broken(String),
    /// A program that it could do without is missing.
    Skipped(String),
}

/// Looks for every program that a check needs. Each is asked for its version once, under the lane's supervision.
pub fn look<'a>(
    checks: impl Iterator<Item = &'a Check>,
    project: &Path,
    lane: &mut dyn Lane,
) -> BTreeMap<String, Found> {
    let mut found = BTreeMap::new();
    for need in checks.flat_map(|check| &check.needs) {
        if !found.contains_key(&need.program) {
            found.insert(need.program.clone(), look_for(&need.program, project, lane));
        }
    }
    found
}

fn look_for(program: &str, project: &Path, lane: &mut dyn Lane) -> Found {
    let path = crate::env::raw("PATH");
    let lookup = Lookup { path: path.as_deref(), cwd: project, project, sandbox: lane.folder(), known: None };
    let Ok(found) = lookup.find(&CheckCommand::Argv(vec![program.to_owned()])) else { return Found::Missing };
    // Most say `--version`; Go and a few others want the word alone.
    for option in ["--version", "version"] {
        let mut argv: Vec<OsString> = found.argv.iter().map(OsString::from).collect();
        argv.push(option.into());
        let job = Job {
            program: found.file.clone(),
            argv,
            env: crate::env::all().collect(),
            cwd: lane.folder().to_owned(),
            stdin: None,
            timeout: PATIENCE,
            grace: Duration::ZERO,
            roots: Vec::new(),
            spill: lane.folder().to_owned(),
        };
        let Ok(outcome) = lane.run(&job) else { return Found::Here(None) };
        if outcome.exit == Some(crate::model::Exit::Code(0)) {
            let said = [&outcome.stdout, &outcome.stderr].map(|captured| shown(&captured.memory));
            if let Some(version) = said.iter().find_map(|text| version(text)) {
                return Found::Here(Some(version));
            }
        }
    }
    Found::Here(None)
}

/// The first thing in a text that looks like a version: numbers with dots between them.
fn version(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.split('.').all(|part| !part.is_empty());
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .find(is_version)
        .map(str::to_owned)
}

/// Whether a check can run with what was found.
#[must_use]
pub fn unfit(check: &Check, found: &BTreeMap<String, Found>) -> Option<Unfit> {
    // What breaks it counts before what merely skips it.
    let (optional, needed): (Vec<&Need>, Vec<&Need>) = check.needs.iter().partition(|need| need.optional);
    let lack = |need: &&Need| lacking(need, found.get(&need.program));
    needed.iter().find_map(lack).map(Unfit::Broken).or_else(|| optional.iter().find_map(lack).map(Unfit::Skipped))
}

fn lacking(need: &Need, found: Option<&Found>) -> Option<String> {
    let program = &need.program;
    let version = match found {
        Some(Found::Here(version)) => version,
        Some(Found::Missing) | None => return Some(format!("needs {program}, which is not installed or not on PATH")),
    };
    let least = need.at_least.as_ref()?;
    let wanted = least.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let Some(version) = version else {
        return Some(format!("needs {program} {wanted} or newer, and {program} does not tell its version"));
    };
    let numbers: Vec<u64> = version.split('.').map(|part| part.parse().unwrap_or(u64::MAX)).collect();
    (numbers < *least).then(|| format!("needs {program} {wanted} or newer, found {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (text, wanted) in [
            ("Python 3.11.7\n", Some("3.11.7")),
            ("git version 2.47.3 (Apple Git-1)\n", Some("2.47.3")),
            ("v20.20.2\n", Some("20.20.2")),
            ("go version go1.22.1 linux/amd64\n", Some("1.22.1")),
            ("jq-1.6\n", Some("1.6")),
            ("no number here.\n", None),
            ("version 5\n", None),
        ] {
            assert_eq!(version(text).as_deref(), wanted, "{text:?}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let need = |at_least: &[u64]| Need { program: "p".into(), at_least: Some(at_least.to_vec()), optional: false };
        let here = Found::Here(Some("3.11.7".into()));
        assert_eq!(lacking(&need(&[3, 9]), Some(&here)), None);
        assert_eq!(lacking(&need(&[3, 11, 7]), Some(&here)), None);
        assert!(lacking(&need(&[3, 12]), Some(&here)).is_some());
        assert!(lacking(&need(&[3]), Some(&Found::Here(None))).is_some());
        assert!(lacking(&need(&[3]), Some(&Found::Missing)).is_some());
    }
}
