//! `hostproof who`

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::show::Show;
use crate::cli::WhoArgs;
use crate::error::{Error, ExitCode, Result};
use crate::model::ProcessRef;
use crate::platform::{self, Look, Stranger, Unread, Watcher};
use crate::words::timestamp;

/// How often files are looked at again that are held by processes which live on: closing one announces nothing.
const AGAIN: Duration = Duration::from_millis(100);

/// Tells who holds the paths.
///
/// # Errors
///
/// If a path is not there.
pub fn run(args: &WhoArgs) -> Result<ExitCode> {
    let mut paths = Vec::new();
    for path in &args.paths {
        paths.push(platform::real_path(path).map_err(|error| Error::file("cannot look at", path, error))?);
    }
    let watcher = Watcher::of_folders(!args.no_mappings);
    let mut look = watcher.look(&paths);
    let mut said_waiting = false;
    while args.wait && is_held(&look) {
        if !said_waiting {
            Show::Stderr.line(&format!("waiting for {}", names(&look)));
            said_waiting = true;
        }
        let pids: Vec<u32> = look.strangers.iter().map(|stranger| stranger.process.pid).collect();
        platform::wait_for_an_end(&pids, AGAIN);
        look = watcher.look(&paths);
    }
    let unread = relevant(&look, &paths);
    if args.json {
        // Whoever stops reading has the exit code.
        let _ = Show::json(&serde_json::to_string_pretty(&document(&paths, &look, &unread)).unwrap_or_default());
    } else {
        tell(&paths, &look, &unread);
    }
    Ok(if is_held(&look) {
        ExitCode::Red
    } else if look.blind.is_empty() && unread.is_empty() {
        ExitCode::Ok
    } else {
        ExitCode::Incomplete
    })
}

fn is_held(look: &Look) -> bool {
    !look.strangers.is_empty() || !look.mounts.is_empty()
}

fn names(look: &Look) -> String {
    let strangers = look.strangers.iter().map(|stranger| stranger.process.short());
    let mounts = look.mounts.iter().map(|point| format!("what is mounted on {}", point.display()));
    strangers.chain(mounts).collect::<Vec<_>>().join(", ")
}

/// The unreadable processes that could hold one of the paths: those of this user, those with more rights, and those of
/// others where they can get to.
fn relevant(look: &Look, paths: &[PathBuf]) -> Vec<Unread> {
    let open = paths.iter().any(|path| platform::is_open_to_others(path));
    let me = platform::user();
    let could = |unread: &&Unread| {
        if unread.privileged {
            // Root may lack a right that the first process has, as in some virtual machines. If that counted, root would
            // never get an answer.
            !(me == Some(0) && unread.pid == 1)
        } else {
            me == Some(unread.uid) || open
        }
    };
    look.unread.iter().filter(could).cloned().collect()
}

fn tell(paths: &[PathBuf], look: &Look, unread: &[Unread]) {
    let text = Show::Stdout.look();
    let show = |line: &str| Show::Stdout.line(&text.text(line));
    for stranger in &look.strangers {
        let process = &stranger.process;
        for hold in &process.holds {
            let gone = if hold.deleted { ", though it was removed" } else { "" };
            show(&format!("{} is {} {}{gone}", hold.path, hold.how.phrase(), process.short()));
        }
        let mut more = Vec::new();
        if let Some(since) = since(stranger) {
            more.push(format!("since {since}"));
        }
        if !process.parents.is_empty() {
            let line: Vec<String> = process.parents.iter().map(ProcessRef::short).collect();
            more.push(format!("started by {}", line.join(", by ")));
        }
        if !more.is_empty() {
            show(&format!("    {}", more.join("; ")));
        }
    }
    for point in &look.mounts {
        show(&format!("{} is a mount point", point.display()));
    }
    if !is_held(look) {
        let among = if unread.is_empty() { "" } else { " that could be looked into" };
        for path in paths {
            show(&format!("nobody{among} holds {}", path.display()));
        }
    }
    for blind in &look.blind {
        Show::Stderr.line(&format!("could not look: {blind}"));
    }
    if let Some(first) = unread.first() {
        let who = ProcessRef { pid: first.pid, argv: first.argv.clone() }.short();
        let what = match unread.len() {
            1 => who,
            many => format!("{many} processes, such as {who}"),
        };
        Show::Stderr.line(&format!("could not look into {what}; root can"));
    }
}

/// When the process started, which is the latest that its hold can have begun.
fn since(stranger: &Stranger) -> Option<String> {
    let started = u64::try_from(stranger.process.started_ms?).ok()?;
    let ago = platform::since_start()?.checked_sub(Duration::from_millis(started))?;
    Some(timestamp(SystemTime::now().checked_sub(ago)?))
}

fn document(paths: &[PathBuf], look: &Look, unread: &[Unread]) -> Value {
    let holders: Vec<Value> = look
        .strangers
        .iter()
        .map(|stranger| {
            let process = &stranger.process;
            json!({
                "pid": process.pid,
                "argv": process.argv,
                "started": since(stranger),
                "parents": process.parents,
                "holds": process.holds,
            })
        })
        .collect();
    let unread: Vec<Value> =
        unread.iter().map(|process| json!({"pid": process.pid, "uid": process.uid, "argv": process.argv})).collect();
    json!({
        "schema": "hostproof.who/1",
        "paths": paths,
        "holders": holders,
        "mounts": look.mounts,
        "could_not_look": {"processes": unread, "probes": look.blind},
    })
}
