//! The whole way, from a folder to checks.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::decode::decode;
use super::diagnose::{Diagnosed, diagnose};
use super::find::{Found, find};
use super::lines::Lines;
use super::lower::{lower, lower_gate};
use super::matrix_spec::MatrixSpec;
use super::node::{Document, Span, Value};
use super::parse::parse;
use super::problem::{Also, Problem, Problems};
use super::read::{Contents, Unreadable, contents, read};
use super::resolve::{Resolved, resolve};
use super::spec::ManifestSpec;
use super::values::VERSION;
use crate::error::{Error, Result};
use crate::model::{Check, Fact, Origin, Platform, Policy, Rules, WiringSource};

/// What to load, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Where to look for the project from, upwards.
    pub start: &'a Path,
    /// The folder of the manifests, if it is not to be looked for; relative to `start`.
    pub directory: Option<&'a Path>,
    /// The platform whose overrides count.
    pub platform: Platform,
    /// Whether errors are styled for a terminal.
    pub colour: bool,
}

/// The manifests of a project, without a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub project: PathBuf,
    /// The folder of the manifests.
    pub directory: PathBuf,
    /// In the order of their names.
    pub files: Vec<ManifestFile>,
    /// In the order of the files, and of each file.
    pub checks: Vec<LoadedCheck>,
    /// Files that wire commands, as `gate` names them.
    pub wirings: Vec<WiringSource>,
    /// What the gate goes by, if one of the files says so.
    pub policy: Option<Policy>,
    /// `sha256:` and the digest over name and content of every file.
    pub digest: String,
}

/// One manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile {
    /// Relative to the project.
    pub name: String,
    /// Commands that run once before the checks of this file.
    pub setup: Vec<Vec<String>>,
}

/// One check, and the manifest that it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedCheck {
    pub check: Check,
    /// By whose rules it is to be judged, once by each; never empty.
    pub rules: Vec<Rules>,
    /// The facts under which it runs once more each.
    pub vary: Vec<Fact>,
    /// Variables, each with the values that it runs with, in every combination; `None` where it is not set.
    pub matrix: Vec<(String, Vec<Option<String>>)>,
    /// Index in [`Loaded::files`].
    pub file: usize,
}

/// Loads every manifest of the project.
///
/// # Errors
///
/// [`Error::Manifest`] with every problem of every file; [`Error::Usage`] or [`Error::File`] if there are no manifests.
pub fn load(options: &Options<'_>) -> Result<Loaded> {
    let Found { project, directory, files } = find(options.start, options.directory)?;
    let loading = files.into_iter().map(|file| {
        let contents = read(&file, &directory);
        one(file.name, contents, options.platform)
    });
    all(loading.collect(), project, directory, options.colour)
}

/// Loads manifests of which the bytes are at hand, as a commit has them: each with its name, relative to the project. They
/// are in the order of their names.
///
/// # Errors
///
/// [`Error::Manifest`] with every problem of every file.
pub fn load_bytes(
    files: Vec<(String, Vec<u8>)>,
    platform: Platform,
    project: &Path,
    directory: &Path,
) -> Result<Loaded> {
    let loading = files.into_iter().map(|(name, bytes)| one(name, contents(bytes), platform));
    all(loading.collect(), project.to_owned(), directory.to_owned(), false)
}

/// The project and the folder of its manifests, whatever they say.
///
/// # Errors
///
/// [`Error::Usage`] or [`Error::File`] if there are no manifests.
pub fn places(start: &Path, directory: Option<&Path>) -> Result<(PathBuf, PathBuf)> {
    find(start, directory).map(|found| (found.project, found.directory))
}

fn all(mut loading: Vec<Loading>, project: PathBuf, directory: PathBuf, colour: bool) -> Result<Loaded> {
    unique_ids(&mut loading);
    one_gate(&mut loading);
    if loading.iter().any(|file| !file.problems.is_empty()) {
        let diagnosed: Vec<_> = loading
            .iter()
            .map(|file| Diagnosed { name: &file.name, text: &file.text, problems: &file.problems })
            .collect();
        return Err(Error::Manifest(diagnose(&diagnosed, colour)));
    }
    let digest = digest(&loading);
    let mut loaded =
        Loaded { project, directory, files: Vec::new(), checks: Vec::new(), wirings: Vec::new(), policy: None, digest };
    for (index, file) in loading.into_iter().enumerate() {
        let lines = Lines::new(&file.text);
        loaded.wirings.extend(file.wirings);
        if let Some(gate) = file.gate {
            let line = lines.position(gate.start).0;
            loaded.policy =
                file.policy.map(|policy| Policy { origin: Origin { file: file.name.clone(), line }, ..policy });
        }
        for resolved in file.checks {
            let origin = Origin { file: file.name.clone(), line: lines.position(resolved.span.start).0 };
            let rules = resolved.spec.rules.as_ref().map_or_else(|| vec![Rules::default()], |rules| rules.all.clone());
            let vary = resolved.spec.vary.as_ref().map(|vary| vary.0.clone()).unwrap_or_default();
            let matrix = resolved.spec.matrix.clone().map(MatrixSpec::lower).unwrap_or_default();
            if let Some(check) = lower(resolved, origin) {
                loaded.checks.push(LoadedCheck { check, rules, vary, matrix, file: index });
            }
        }
        loaded.files.push(ManifestFile { name: file.name, setup: file.setup });
    }
    Ok(loaded)
}

/// A manifest, as far as it got.
struct Loading {
    name: String,
    bytes: Vec<u8>,
    text: String,
    setup: Vec<Vec<String>>,
    checks: Vec<Resolved>,
    /// Where its `gate` is.
    gate: Option<Span>,
    wirings: Vec<WiringSource>,
    policy: Option<Policy>,
    problems: Problems,
}

fn one(name: String, contents: Result<Contents, Unreadable>, platform: Platform) -> Loading {
    let mut loading = Loading {
        name,
        bytes: Vec::new(),
        text: String::new(),
        setup: Vec::new(),
        checks: Vec::new(),
        gate: None,
        wirings: Vec::new(),
        policy: None,
        problems: Problems::default(),
    };
    match contents {
        Ok(Contents { bytes, text }) => {
            if let Some((spec, document)) = spec(&text, &mut loading.problems) {
                loading.checks = resolve(&spec, &document, platform, &mut loading.problems);
                if let Some(gate) = spec.gate {
                    loading.gate = Some(document.span(gate.id));
                    (loading.wirings, loading.policy) = lower_gate(gate.value);
                }
                loading.setup = spec.setup.unwrap_or_default().into_iter().map(|argv| argv.0).collect();
            }
            (loading.bytes, loading.text) = (bytes, text);
        }
        Err(Unreadable { text, problem }) => {
            loading.problems.push(*problem);
            loading.text = text;
        }
    }
    loading
}

fn spec(text: &str, problems: &mut Problems) -> Option<(ManifestSpec, Document)> {
    let mut document = parse(text, problems)?;
    if let Some((version, span)) = other_version(&document) {
        // Whatever else it has, it was not written to be read here.
        problems.push(
            Problem::at(span, format!("version {version} of the manifest's form is not known"))
                .help(format!("this hostproof reads `version: {VERSION}`; a newer one may read this")),
        );
        return None;
    }
    let spec = decode(&mut document, problems)?;
    Some((spec, document))
}

fn other_version(document: &Document) -> Option<(i64, Span)> {
    let Value::Map(entries) = &document.root.value else { return None };
    let version = &entries.iter().find(|entry| entry.key == "version")?.value;
    match version.value {
        Value::Int(number, _) if number != VERSION => Some((number, version.span.clone())),
        _ => None,
    }
}

fn unique_ids(loading: &mut [Loading]) {
    let mut seen: HashMap<String, (usize, Span)> = HashMap::new();
    for (index, file) in loading.iter_mut().enumerate() {
        for check in &file.checks {
            let Some((first, span)) = seen.get(&check.id) else {
                seen.insert(check.id.clone(), (index, check.id_span.clone()));
                continue;
            };
            let mut problem = Problem::at(check.id_span.clone(), format!("the id `{}` is taken", check.id))
                .label("again")
                .help("give each check an id of its own, over all files");
            problem.also.push(Also { file: Some(*first), span: span.clone(), label: "first".to_owned() });
            file.problems.push(problem);
        }
    }
}

/// What the gate goes by is said in one place.
fn one_gate(loading: &mut [Loading]) {
    let mut first: Option<(usize, Span)> = None;
    for (index, file) in loading.iter_mut().enumerate() {
        let Some(span) = file.gate.clone() else { continue };
        let Some((known, place)) = &first else {
            first = Some((index, span));
            continue;
        };
        let mut problem = Problem::at(span, "a second `gate`")
            .label("again")
            .help("keep one of all files: what the gate goes by is said in one place");
        problem.also.push(Also { file: Some(*known), span: place.clone(), label: "first".to_owned() });
        file.problems.push(problem);
    }
}

/// Over names and contents with their lengths, so that nothing can move from one into the other.
fn digest(files: &[Loading]) -> String {
    let mut hasher = Sha256::new();
    for file in files {
        for part in [file.name.as_bytes(), &file.bytes] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().iter().fold("sha256:".to_owned(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
