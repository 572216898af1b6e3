//! What differs between the machines, the sessions and the sources of runs.
//!
//! Every fact has a prior: from 0 to 20, how often it is the reason why a check is green here and red there, before
//! anybody has read the failure. Those of 0 differ between any two machines, and count only if the failure speaks of them.

use std::collections::BTreeMap;

use super::Side;
use crate::model::Report;

pub const RULES: &str = "rules";
pub const OS: &str = "system";
pub const UID: &str = "uid";
pub const ELEVATED: &str = "administrator";
pub const SOURCE: &str = "source";
pub const MANIFESTS: &str = "manifests";
pub const LOCALE: &str = "locale";
pub const CODE_PAGES: &str = "code pages";
pub const TIME_ZONE: &str = "time zone";
pub const ZONEINFO: &str = "table of time zones";
pub const UMASK: &str = "umask";
pub const TEMP: &str = "temporary folder";
pub const TEMP_LENGTH: &str = "length of the temporary folder's path";
pub const TEMP_FILESYSTEM: &str = "temporary file system";
pub const TEMP_CASE: &str = "case of names";
pub const TEMP_SIZE: &str = "size of the temporary file system";
pub const TEMP_FREE: &str = "room in the temporary file system";
pub const TEMP_EXECUTABLE: &str = "programs in the temporary folder";
pub const SHM: &str = "/dev/shm";
pub const INIT: &str = "process 1";
pub const HOME: &str = "HOME";
pub const HOME_SETTINGS: &str = "settings in HOME";
pub const PATH: &str = "PATH";
pub const SH: &str = "sh";
pub const STRESS: &str = "stress";
pub const TERMINAL: &str = "terminal";
pub const NETWORK: &str = "network";
pub const CONTAINER: &str = "container";
pub const KERNEL: &str = "kernel";
pub const OS_VERSION: &str = "system version";
pub const LIBC: &str = "C library";
pub const ARCH: &str = "architecture";
pub const CAPABILITIES: &str = "capabilities";
pub const NO_NEW_PRIVS: &str = "no_new_privs";
pub const SECCOMP: &str = "seccomp";
pub const PROCESSORS: &str = "processors";
pub const TOOL: &str = "hostproof";
pub const LIMIT: &str = "limit ";
pub const PROGRAM: &str = "program ";
pub const PROBE: &str = "probe ";

/// A fact that at least two runs know and have otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub name: String,
    /// In the order of the sides; `None` where a run does not tell.
    pub values: Vec<Option<String>>,
    /// From 0 to 20.
    pub prior: u64,
}

impl Fact {
    /// A fact, if it differs.
    pub fn of(name: impl Into<String>, prior: u64, values: Vec<Option<String>>) -> Option<Self> {
        let mut known = values.iter().flatten();
        let first = known.next()?;
        known.any(|value| value != first).then(|| Self { name: name.into(), values, prior })
    }
}

type Value = fn(&Report) -> Option<String>;
type List = fn(&Report) -> BTreeMap<String, Option<String>>;

/// The facts that every report has, with their priors.
const TABLE: [(&str, u64, Value); 36] = [
    (OS, 19, |report| text(&report.host.os)),
    (UID, 18, |report| report.host.uid.map(|uid| if uid == 0 { "0 (root)".to_owned() } else { uid.to_string() })),
    (ELEVATED, 12, |report| report.host.elevated.map(yes)),
    (SOURCE, 16, source),
    (MANIFESTS, 14, |report| report.manifests.digest.as_deref().map(short)),
    (LOCALE, 13, |report| is_known(report).then(|| report.host.locale.clone().unwrap_or_else(|| "none".to_owned()))),
    (CODE_PAGES, 8, |report| report.host.code_pages.map(|pages| format!("{} and {}", pages.ansi, pages.oem))),
    (TIME_ZONE, 12, |report| report.host.time_zone.clone()),
    (ZONEINFO, 8, |report| report.host.zoneinfo.map(there)),
    (UMASK, 12, |report| report.host.umask.clone()),
    (TEMP, 0, |report| text(&report.host.temp)),
    (TEMP_LENGTH, 3, |report| text(&report.host.temp).map(|temp| format!("{} bytes", temp.len()))),
    (TEMP_FILESYSTEM, 10, |report| report.host.temp_filesystem.clone()),
    (TEMP_CASE, 14, |report| {
        report.host.temp_case_sensitive.map(|tells| if tells { "a is not A" } else { "a is A" }.to_owned())
    }),
    (TEMP_SIZE, 2, |report| report.host.temp_bytes.map(size)),
    (TEMP_FREE, 0, |report| report.host.temp_free_bytes.map(size)),
    (TEMP_EXECUTABLE, 8, |report| {
        report.host.temp_executable.map(|may| if may { "may run" } else { "may not run (noexec)" }.to_owned())
    }),
    (SHM, 4, |report| report.host.shm_bytes.map(|bytes| if bytes == 0 { "none".to_owned() } else { size(bytes) })),
    (INIT, 9, |report| report.host.init.clone()),
    (HOME, 3, |report| report.host.home.clone()),
    (HOME_SETTINGS, 4, |report| report.host.home_settings.as_deref().map(list)),
    (PATH, 4, |report| report.host.path.clone()),
    (SH, 7, |report| report.host.sh.clone()),
    (STRESS, 16, |report| {
        is_known(report).then(|| if report.host.stress.is_some() { "stress" } else { "none" }.to_owned())
    }),
    (TERMINAL, 2, |report| report.host.terminal.map(yes)),
    (NETWORK, 8, |report| report.host.network.map(|any| if any { "more than loopback" } else { "none" }.to_owned())),
    (CONTAINER, 6, |report| is_known(report).then(|| container(report))),
    (KERNEL, 4, |report| report.host.kernel.clone()),
    (OS_VERSION, 5, |report| report.host.os_version.clone()),
    (LIBC, 7, |report| report.host.libc.clone()),
    (ARCH, 7, |report| text(&report.host.arch)),
    (CAPABILITIES, 5, |report| report.host.capabilities.clone()),
    (NO_NEW_PRIVS, 4, |report| report.host.no_new_privs.map(yes)),
    (SECCOMP, 4, |report| report.host.seccomp.clone()),
    (PROCESSORS, 3, |report| report.host.processors.map(|count| count.to_string())),
    (TOOL, 2, |report| text(&report.tool.version)),
];

/// Facts of which there are several in a report: what stands before their names, and the prior.
const LISTS: [(&str, u64, List); 3] = [
    (PROGRAM, 15, |report| {
        let version =
            |version: &Option<String>| Some(version.clone().unwrap_or_else(|| "missing, or no version".into()));
        report.host.programs.iter().map(|(name, known)| (name.clone(), version(known))).collect()
    }),
    (LIMIT, 3, |report| report.host.limits.iter().map(|(name, limit)| (name.clone(), Some(limit.clone()))).collect()),
    (PROBE, 1, |report| {
        // How far is told before why.
        let far = |state: &String| state.split(':').next().map(str::to_owned);
        report.host.probes.iter().map(|(name, state)| (name.clone(), far(state))).collect()
    }),
];

/// Everything that differs.
pub fn facts(sides: &[Side]) -> Vec<Fact> {
    let reports: Vec<Option<&Report>> = sides.iter().map(|side| side.document.report()).collect();
    let value = |of: Value| reports.iter().map(|report| report.and_then(of)).collect();
    let mut facts: Vec<Fact> =
        TABLE.iter().filter_map(|(name, prior, of)| Fact::of(*name, *prior, value(*of))).collect();
    for (start, prior, of) in LISTS {
        let lists: Vec<Option<BTreeMap<String, Option<String>>>> =
            reports.iter().map(|report| report.map(of)).collect();
        let mut names: Vec<&String> = lists.iter().flatten().flat_map(BTreeMap::keys).collect();
        names.sort();
        names.dedup();
        for name in names {
            let values = lists.iter().map(|list| list.as_ref()?.get(name)?.clone()).collect();
            facts.extend(Fact::of(format!("{start}{name}"), prior, values));
        }
    }
    facts
}

/// Whether a report tells of its machine at all.
fn is_known(report: &Report) -> bool {
    !report.host.os.is_empty()
}

fn text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn yes(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn there(there: bool) -> String {
    if there { "there" } else { "missing" }.to_owned()
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(" ") }
}

fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

fn container(report: &Report) -> String {
    report
        .host
        .container
        .clone()
        .unwrap_or_else(|| if report.place.kind == "host" { "none" } else { "some" }.to_owned())
}

/// The tree that was run. One with changes of its own is like no other.
fn source(report: &Report) -> Option<String> {
    let state = report.source.start.as_ref()?;
    let tree = state.tree.as_deref().map_or_else(|| "no commit".to_owned(), short);
    Some(if state.dirty { format!("{tree}, with changes") } else { tree })
}

fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}
