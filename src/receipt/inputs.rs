//! What a check's outcome rests on, as one digest: the check as it is resolved, its setup, and the files that it covers and
//! uses, as a commit has them. A hook's check uses the file that wires it, the scripts that it runs and its events.
//!
//! The digest is the SHA-256 of a text that anybody can make:
//!
//! ```text
//! hostproof inputs 1
//! {"check":{…},"setup":[…]}
//! 100644 OBJECT<tab>PATH<zero byte>…
//! ```
//!
//! - The second line is JSON without spaces, its keys sorted, with what differs from a check without any key but its
//!   command, so that a key that a later hostproof reads changes no digest of those that don't have it.
//! - The files are in the order of their names' bytes, as `git ls-tree -r -z` tells them without the type.
//!
//! # Invariants
//!
//! - **Everywhere the same**: it depends on the commit, the check and the system that it is resolved for, not on the system
//!   that it is computed on.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::digest::hex;
use super::revision::Revision;
use crate::covers::Covers;
use crate::model::{Check, CheckCommand, EventInput};
use crate::source::{TreeFile, TreeKind};
use crate::wirings::Place;

/// What is digested, before it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    check: String,
    /// By name; a line for each, without the name.
    files: BTreeMap<Vec<u8>, String>,
}

impl Inputs {
    /// Of a check in a commit, with the setup of its manifest.
    ///
    /// # Errors
    ///
    /// If it covers nothing that the commit has, or a fixture is not there: a sentence.
    pub fn of(check: &Check, setup: &[Vec<String>], revision: &Revision) -> Result<Self, String> {
        let reach = Reach::of(check, revision)?;
        let covered = revision.files().filter(|file| reach.covers(&file.path, file.kind == TreeKind::Submodule));
        let mut files: BTreeMap<Vec<u8>, String> = covered.map(line).collect();
        if files.is_empty() {
            return Err("its `covers` are for no file that is in the commit".to_owned());
        }
        for place in &reach.fixtures {
            let linked = place.links.iter().chain([&place.end]).filter_map(|name| revision.file(name));
            files.extend(linked.chain(revision.submodule_of(&place.end)).map(line));
            files.extend(revision.below(&place.end).map(line));
        }
        Ok(Self { check: canonical(check, setup), files })
    }

    /// `SHA-256` of them, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(b"hostproof inputs 1\n");
        hasher.update(&self.check);
        hasher.update(b"\n");
        for (name, line) in &self.files {
            hasher.update(line);
            hasher.update(b"\t");
            hasher.update(name);
            hasher.update(b"\0");
        }
        hex(&hasher.finalize())
    }

    /// What differs from others, in a few words.
    #[must_use]
    pub fn unlike(&self, other: &Self) -> Vec<String> {
        let names = self.files.keys().chain(other.files.keys().filter(|name| !self.files.contains_key(*name)));
        let changed = names.filter(|name| self.files.get(*name) != other.files.get(*name));
        let files = changed.map(|name| String::from_utf8_lossy(name).into_owned());
        let check = (self.check != other.check).then(|| "the check itself".to_owned());
        check.into_iter().chain(files).collect()
    }
}

fn line(file: &TreeFile) -> (Vec<u8>, String) {
    let mode = match file.kind {
        TreeKind::File => "100644",
        TreeKind::Executable => "100755",
        TreeKind::Link => "120000",
        TreeKind::Submodule => "160000",
    };
    (file.name.clone(), format!("{mode} {}", file.object))
}

/// Which paths a check's outcome rests on.
#[derive(Debug, Clone)]
pub struct Reach {
    /// `None` is everything.
    covers: Option<Covers>,
    fixtures: Vec<Place>,
}

impl Reach {
    /// Of a check in a commit.
    ///
    /// # Errors
    ///
    /// If a fixture is not there: a sentence.
    pub fn of(check: &Check, revision: &Revision) -> Result<Self, String> {
        let stdin = check.stdin.iter().map(|path| path.to_string_lossy().into_owned());
        let wired = match &check.command {
            CheckCommand::Hook(hook) => revision.wired(hook)?,
            CheckCommand::Argv(_) | CheckCommand::Shell { .. } => Vec::new(),
        };
        let events = check.events.iter().filter_map(|event| match &event.input {
            EventInput::File(file) => Some(file.clone()),
            EventInput::Sample(_) => None,
        });
        let fixtures = stdin
            .chain(check.files.values().cloned())
            .chain(wired)
            .chain(events)
            .map(|name| revision.place(&name).map_err(|why| format!("it uses {name}: {why}")));
        let covers = (!check.covers.is_empty()).then(|| Covers::of(&check.covers));
        Ok(Self { covers, fixtures: fixtures.collect::<Result<_, _>>()? })
    }

    /// Whether a file is covered. Of a submodule, or a folder that is a repository of its own, whether anything in it may be.
    #[must_use]
    pub fn covers(&self, path: &Path, is_folder: bool) -> bool {
        let Some(covers) = &self.covers else { return true };
        covers.has(path)
            || (is_folder && path.to_str().is_some_and(|path| covers.may_have_in(&path.replace('\\', "/"))))
    }

    /// Whether it is covered, is or may be in a fixture, or leads to one.
    #[must_use]
    pub fn has(&self, path: &Path, is_folder: bool) -> bool {
        let used = |place: &Place| {
            let end = Path::new(&place.end);
            path.starts_with(end) || end.starts_with(path) || place.links.iter().any(|link| Path::new(link) == path)
        };
        self.covers(path, is_folder) || self.fixtures.iter().any(used)
    }

    /// The paths that `covers` names without a glob.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.covers.iter().flat_map(Covers::paths)
    }
}

/// The check and its setup in the one form that they have in digests.
fn canonical(check: &Check, setup: &[Vec<String>]) -> String {
    let map = |check: &Check| match serde_json::to_value(check) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    // No check is like this one in its id or its command.
    let bare = map(&Check::new("", CheckCommand::Argv(Vec::new())));
    let mut own = map(check);
    own.retain(|key, value| bare.get(key) != Some(value));
    json!({"check": sorted(Value::Object(own)), "setup": setup}).to_string()
}

/// With the keys of every map in order, however they are kept.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let in_order: BTreeMap<String, Value> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(in_order.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::model::{CaseCount, Expect, Inherit, Need, Origin, Platform, ReaderChoice, ReaderName, TextRule};

    fn check() -> Check {
        Check::new("guard/lock", CheckCommand::Argv(vec!["python3".into(), "hooks/test.py".into()]))
    }

    #[test]
    fn the_canonical_form_has_what_a_check_says() {
        assert_eq!(
            canonical(&check(), &[]),
            r#"{"check":{"command":{"argv":["python3","hooks/test.py"]},"id":"guard/lock"},"setup":[]}"#
        );
        let full = Check {
            stdin: Some(PathBuf::from("fixtures/a.json")),
            timeout: Duration::from_millis(1500),
            env: [("MODE".into(), Some("strict".into())), ("A".into(), None)].into(),
            inherit: Inherit::All,
            reader: ReaderChoice::Named(ReaderName::Pytest),
            expect: Expect {
                cases: Some(CaseCount::AtLeast(3)),
                stdout: vec![TextRule::NotContains("x".into())],
                ..Expect::default()
            },
            needs: vec![Need { program: "gh".into(), at_least: Some(vec![2, 1]), optional: true }],
            platforms: vec![Platform::Macos],
            ..check()
        };
        assert_eq!(
            canonical(&full, &[vec!["make".into()]]),
            concat!(
                r#"{"check":{"command":{"argv":["python3","hooks/test.py"]},"env":{"A":null,"MODE":"strict"},"#,
                r#""expect":{"cases":{"at-least":3},"exit":0,"skipped":null,"stderr":[],"stdout":[{"not-contains":"x"}]},"#,
                r#""id":"guard/lock","inherit":"all","needs":[{"at_least":[2,1],"optional":true,"program":"gh"}],"#,
                r#""platforms":["macos"],"reader":{"named":"pytest"},"stdin":"fixtures/a.json","timeout":1500},"#,
                r#""setup":[["make"]]}"#
            )
        );
    }

    #[test]
    fn where_a_check_comes_from_makes_no_difference() {
        let moved = Check { origin: Some(Origin { file: "checks.d/b.yaml".into(), line: 7 }), ..check() };
        assert_eq!(canonical(&moved, &[]), canonical(&check(), &[]));
    }

    #[test]
    fn the_digest_is_that_of_the_text() {
        let files = [(b"a.py".to_vec(), "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391".to_owned())].into();
        let inputs = Inputs { check: canonical(&check(), &[]), files };
        // printf 'hostproof inputs 1\n%s\n100644 e69de29…\ta.py\0' … | sha256sum
        assert_eq!(inputs.digest(), "9dd19f721646cd4ddcc96d125b559b3bcfde9f0a1ec030c611282881e1409c1d");
        let other = Inputs { files: BTreeMap::new(), ..inputs.clone() };
        assert_ne!(inputs.digest(), other.digest());
        assert_eq!(inputs.unlike(&other), ["a.py"]);
        let other = Inputs { check: String::new(), ..inputs.clone() };
        assert_eq!(inputs.unlike(&other), ["the check itself"]);
    }
}
