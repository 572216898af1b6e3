//! Which check covers a wired command.
//!
//! One does that says so: by `covers`, whose globs name a file that the command runs or the file that wires it; or by
//! what it uses, which is a file or folder under `files` and a word of its own command. A check without `covers` is
//! wanted by every change, and covers what it uses, no more: else a single check would seem to cover everything.

use std::collections::BTreeMap;
use std::path::Path;

use super::files::Files;
use super::named::{Around, in_argv, in_shell};
use super::paths::join;
use crate::covers::Covers;
use crate::model::{Check, CheckCommand, Cover, Cwd, Script, Wiring, WiringFault, WiringFaultKind};
use crate::words::duration;

/// Says of each wiring which checks cover it.
pub fn cover(wirings: &mut [Wiring], checks: &[&Check], files: &dyn Files) {
    let paths = |check: &&Check| used(check, files).into_iter().map(|script| script.path).collect();
    let uses: Vec<Vec<String>> = checks.iter().map(paths).collect();
    for wiring in wirings {
        for (check, used) in checks.iter().zip(&uses) {
            if let Some(by) = covered(wiring, check, used) {
                wiring.covered_by.push(Cover { check: check.id.clone(), by });
            }
        }
    }
}

fn covered(wiring: &Wiring, check: &Check, used: &[String]) -> Option<String> {
    if let CheckCommand::Hook(hook) = &check.command
        && hook.is_for(wiring)
    {
        return Some(format!("hook: {}", hook.file));
    }
    let named: Vec<&str> = wiring.scripts().map(|script| script.path.as_str()).chain([wiring.file.as_str()]).collect();
    if let Some(glob) = Covers::of(&check.covers).glob_for(&named) {
        return Some(format!("covers: {glob}"));
    }
    for source in check.files.values() {
        let folder = join("", source)?;
        let has = |name: &&str| folder.is_empty() || *name == folder || name.starts_with(&format!("{folder}/"));
        if wiring.scripts().any(|script| has(&script.path.as_str())) {
            return Some(format!("files: {source}"));
        }
    }
    let script = wiring.scripts().find(|script| used.contains(&script.path))?;
    Some(format!("run: {}", script.path))
}

/// The files of the project that a check's own command names.
#[must_use]
pub fn used(check: &Check, files: &dyn Files) -> Vec<Script> {
    let in_project = check.cwd != Cwd::Sandbox;
    let folders = vec![("HOSTPROOF_PROJECT", String::new()), ("CLAUDE_PROJECT_DIR", String::new())];
    let cwd = in_project.then(String::new);
    let around = Around { files, folders, cwd, file: None, is_top: true };
    match &check.command {
        CheckCommand::Hook(_) => Vec::new(),
        CheckCommand::Shell { script, .. } => in_shell(script, &around).scripts,
        CheckCommand::Argv(argv) => {
            let argv: Vec<String> = argv.iter().map(|word| word.replace("$project", "${HOSTPROOF_PROJECT}")).collect();
            in_argv(&argv, &around).scripts
        }
    }
}

/// Those of some files that a check says it has to do with: that it covers, puts into its sandbox, or names in its command.
#[must_use]
pub fn reads<'p>(check: &Check, paths: &[&'p str], files: &dyn Files) -> Vec<&'p str> {
    let used: Vec<String> = used(check, files).into_iter().map(|script| script.path).collect();
    let covers = Covers::of(&check.covers);
    let has = |path: &&str| {
        let is_source = |source: &String| {
            join("", source).is_some_and(|source| source.is_empty() || Path::new(path).starts_with(source))
        };
        covers.has(Path::new(path)) || used.iter().any(|used| used == path) || check.files.values().any(is_source)
    };
    paths.iter().copied().filter(has).collect()
}

/// Says which limits are shorter than what a check that covers the command takes, by how long each took last.
pub fn mark_short_limits(wirings: &mut [Wiring], took_ms: &BTreeMap<String, u64>) {
    for wiring in wirings {
        let Some(limit) = &wiring.limit else { continue };
        let longest =
            wiring.covered_by.iter().filter_map(|cover| Some((took_ms.get(&cover.check)?, &cover.check))).max();
        if let Some((took, check)) = longest.filter(|(took, _)| **took > limit.ms) {
            let say = |ms: u64| duration(std::time::Duration::from_millis(ms));
            let message = format!("its limit is {}, and check {check} took {}", say(limit.ms), say(*took));
            let remedy = "look how much of that is the hook's own time; give it more, or make it faster".to_owned();
            wiring.faults.push(WiringFault { kind: WiringFaultKind::ShortLimit, message, place: None, remedy });
        }
    }
}
