//! `forbid`: programs that nothing of a check may run.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::sandbox::Sandbox;
use crate::model::{Check, FORBIDDEN_COMMANDS, ForbiddenCall, Process, ProcessRef};
use crate::platform::{self, Forbids, Outcome, StubCall};

/// Where the stubs of a sandbox are.
fn stubs(sandbox: &Path) -> PathBuf {
    sandbox.join("forbidden")
}

/// What the jobs of a check are told of the programs that they may not run: a stub of each is made, which stands first in
/// their `PATH`. `None` if they may run everything.
///
/// # Errors
///
/// A sentence that says what is in the way.
pub fn forbids(
    check: &Check,
    sandbox: &Sandbox,
    project: &Path,
    env: &mut [(std::ffi::OsString, std::ffi::OsString)],
) -> Result<Option<Forbids>, String> {
    if check.forbid.is_empty() {
        return Ok(None);
    }
    let folder = stubs(sandbox.root());
    platform::make_stubs(&folder, &check.forbid).map_err(|error| format!("forbid: no stubs can be made: {error}"))?;
    let seen = sandbox.seen(&folder);
    if let Some((_, path)) = env.iter_mut().find(|(name, _)| name == "PATH") {
        let folders = std::iter::once(seen.clone()).chain(std::env::split_paths(path));
        *path = std::env::join_paths(folders.collect::<Vec<_>>()).map_err(|error| format!("forbid: PATH: {error}"))?;
    }
    let own = vec![sandbox.root().to_owned(), project.to_owned()];
    Ok(Some(Forbids { programs: check.forbid.clone(), stubs: folder, own }))
}

/// Adds what the stubs wrote down to what was seen otherwise, of a check that started then.
pub fn take(check: &Check, sandbox: &Path, outcome: &mut Outcome, started: SystemTime) {
    if check.forbid.is_empty() {
        return;
    }
    let calls = platform::take_calls(&stubs(sandbox)).unwrap_or_else(|error| {
        outcome.blind.push(format!("{FORBIDDEN_COMMANDS}: what the stubs wrote down can't be read: {error}"));
        Vec::new()
    });
    for call in calls {
        let is_seen = |seen: &ForbiddenCall| seen.program == call.program && seen.process.pid == call.pid;
        if !outcome.forbidden.iter().any(is_seen) {
            outcome.forbidden.push(told(call, started));
        }
    }
}

fn told(call: StubCall, started: SystemTime) -> ForbiddenCall {
    let StubCall { program, pid, argv, parents, at_ms, ran } = call;
    let started = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let at_ms = at_ms.saturating_sub(u64::try_from(started).unwrap_or(u64::MAX));
    // Beyond the supervisor it is nobody of the check.
    let is_supervisor = |parent: &ProcessRef| parent.argv.get(1).is_some_and(|word| word.starts_with("__"));
    let parents = parents.into_iter().take_while(|parent| !is_supervisor(parent)).collect();
    let process = Process { parents, ..Process::new(pid, argv) };
    ForbiddenCall { program, process, at_ms, ran }
}
