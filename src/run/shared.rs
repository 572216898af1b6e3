//! Where a check that runs beside copies of itself is watched for what is there once for all of them, and what that is
//! called.

use std::path::{Path, PathBuf};

use super::copy;
use super::sandbox::Sandbox;
use crate::model::{Check, Cwd, Finding, Kind, Severity, Shared, SharedKind, SharedUse};
use crate::platform;
use crate::probes::Places;

/// Folders in which programs leave what has a fixed name.
pub const COMMON: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// The names in such a folder, and in the folders that are in it.
const NAMES: [&str; 2] = ["*", "*/*"];
/// How many of the files are told of that were used outside.
const TOLD: usize = 20;

/// The places to watch, each a folder and a glob below it.
#[must_use]
pub fn places(check: &Check, sandbox: &Sandbox, places: &Places) -> Vec<(PathBuf, String)> {
    let common = COMMON.map(PathBuf::from);
    let folders = [sandbox.tmp()].into_iter().chain(common);
    let mut watched: Vec<(PathBuf, String)> =
        folders.flat_map(|folder| NAMES.map(|names| (folder.clone(), names.to_owned()))).collect();
    if check.cwd != Cwd::Copy {
        watched.push((places.project.clone(), "**/*".to_owned()));
    }
    watched
}

/// What was seen, by the names that all copies have for it; without what is hostproof's own.
#[must_use]
pub fn named(seen: &SharedUse, check: &Check, sandbox: &Sandbox, places: &Places) -> SharedUse {
    let tmp = sandbox.tmp();
    let name = |shared: &Shared| {
        let is_path = Path::new(&shared.name).is_absolute();
        if matches!(shared.kind, SharedKind::Tcp | SharedKind::Udp) || !is_path {
            return Some(shared.name.clone());
        }
        let path = Path::new(&shared.name);
        if let Ok(below) = path.strip_prefix(&tmp) {
            return Some(format!("$TMPDIR/{}", below.display()));
        }
        let is_own = path.ancestors().any(|folder| copy::is_lane(folder, sandbox));
        (!is_own).then(|| places.name(&shared.name))
    };
    let mut things: Vec<Shared> =
        seen.things.iter().filter_map(|shared| Some(Shared { name: name(shared)?, ..shared.clone() })).collect();
    things.sort();
    let unseen = match seen.unseen.clone() {
        None if check.copies > 1 && !platform::SEES_SHARED => Some("this system is not asked for it".to_owned()),
        unseen => unseen,
    };
    SharedUse { things, unseen }
}

/// A note for each file outside the sandbox and the project that a process of the check was seen to use, of a check that is
/// watched for it: whatever `TMPDIR` and `HOME` are, others meet it there.
#[must_use]
pub fn escaped(used: &SharedUse, check: &Check) -> Vec<Finding> {
    let files = used.things.iter().filter(|shared| shared.kind == SharedKind::Path && shared.seen);
    let outside = files.filter(|shared| Path::new(&shared.name).is_absolute());
    let told = |shared: &Shared| {
        let there = Path::new(&shared.name).symlink_metadata().is_ok();
        let done = if there { "was made or written to" } else { "was used, and is not there any more" };
        let message = format!("{} {done}: a process of the check did that outside its sandbox", shared.name);
        let mut finding = Finding::new(Kind::Residue, Severity::Note, message);
        finding.path = Some(shared.name.clone());
        finding.remedy =
            Some("a fixed name outside TMPDIR is everybody's: take one that the system gives (mktemp)".to_owned());
        finding
    };
    if check.copies > 1 { outside.take(TOLD).map(told).collect() } else { Vec::new() }
}
