//! What a person sees: the answer first, then who did it, what to do, and how to see it again.

use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::cases::{failed, never_ran};
use super::{Look, against, findings, last_words};
use crate::model::{
    Check, CheckReport, Counts, Cwd, Exit, Finding, Frame, How, Kind, Place, Process, Raised, Severity, Stop, Totals,
    Verdict,
};
use crate::words::{command_line, counted, duration, quoted, shown};

/// How many remedies are shown.
const REMEDIES: usize = 3;
/// How many places of failures are shown.
pub const SHOWN: usize = 3;
/// The longest line, in characters.
const LONGEST: usize = 400;
/// The longest reason in the line of a check whose details have the whole of it.
const LONGEST_REASON: usize = 120;

/// The first line of a run.
#[must_use]
pub fn header(look: Look, place: &Place, checks: usize, lanes: usize) -> String {
    let title = look.bold(&format!("hostproof {}", env!("CARGO_PKG_VERSION")));
    format!("{title}  {}  {}, {}", look.text(&place_words(place)), counted(checks, "check"), counted(lanes, "lane"))
}

/// Where it runs, in a few words.
pub(super) fn place_words(place: &Place) -> String {
    match (&place.image, &place.engine) {
        (Some(image), Some(engine)) => {
            let version = place.engine_version.as_deref().unwrap_or_default();
            one_line(&format!("container {image} ({engine} {version})"))
        }
        _ => format!("host {} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

/// One check in one line. `width` is that of the longest id.
#[must_use]
pub fn check_line(look: Look, check: &CheckReport, width: usize) -> String {
    let tag = match check.verdict {
        Verdict::Passed => look.green("ok  "),
        Verdict::Skipped => look.yellow("skip"),
        _ => look.red("RED "),
    };
    let seconds = if check.started.is_some() { seconds(check) } else { "-".to_owned() };
    let remark = check.reason.clone().unwrap_or_else(|| {
        let told = [runs(check), hook_times(check), remark(check)].into_iter().flatten();
        told.collect::<Vec<_>>().join("; ")
    });
    let remark = if check.verdict.is_red() { cut(&remark, LONGEST_REASON) } else { one_line(&remark) };
    let id = format!("{:width$}", look.text(&check.id));
    let line = format!(" {tag}  {id}  {:>9}  {seconds:>7}  {}", counts(check), look.text(&remark));
    line.trim_end().to_owned()
}

/// How long it took.
pub(super) fn seconds(check: &CheckReport) -> String {
    format!("{}.{} s", check.duration_ms / 1000, check.duration_ms % 1000 / 100)
}

/// Cases that ran, of those that were planned.
pub(super) fn counts(check: &CheckReport) -> String {
    of_planned(&check.cases.counts())
}

/// The same.
pub(super) fn of_planned(cases: &Counts) -> String {
    match (cases.ran, cases.planned) {
        (Some(ran), Some(planned)) => format!("{ran}/{planned}"),
        (Some(ran), None) => format!("{ran}"),
        (None, Some(planned)) => format!("?/{planned}"),
        (None, None) => "-".to_owned(),
    }
}

/// What is worth a word about a check that is not red.
fn remark(check: &CheckReport) -> Option<String> {
    let notes = || check.findings.iter().filter(|finding| finding.severity != Severity::Error);
    // That nothing proves a test ran is the least of what is to be told of a tried command.
    let first = notes().find(|finding| finding.kind != Kind::NoProof).or_else(|| notes().next())?;
    let more = match check.findings.len() {
        1 => String::new(),
        n => format!(" (and {} more: --verbose)", n - 1),
    };
    let text = match (&first.allowed, first.kind) {
        (Some(_), Kind::LeakedProcess) if first.ended_ms.is_some() => {
            let name = first.process.as_ref().and_then(program_name).unwrap_or_else(|| "a process".to_owned());
            format!("{name} ended {} ms after it, as declared", first.ended_ms.unwrap_or_default())
        }
        (Some(because), kind) => format!("{} allowed: {because}", kind.slug()),
        (None, Kind::LateExit) => {
            let name = first.process.as_ref().and_then(program_name).unwrap_or_else(|| "a process".to_owned());
            let after = check.processes.iter().find(|p| Some(p.process.pid) == first.process.as_ref().map(|p| p.pid));
            let ms = after.and_then(|process| process.ended_ms).unwrap_or_default();
            format!("{name} ended {ms} ms after it")
        }
        (None, Kind::RefusedByWindows) if first.deleted == Some(true) => {
            let refuses = if first.how == Some(How::Descriptor) { "may refuse" } else { "refuses" };
            format!("something was removed while it was held: Windows {refuses} that")
        }
        (None, _) => first.message.clone(),
    };
    Some(text + &more)
}

/// How often it ran, and what that says of other runs.
fn runs(check: &CheckReport) -> Option<String> {
    let runs = check.runs.as_ref()?;
    if runs.red > 0 {
        return None;
    }
    Some(format!("{} runs, none red: at most {} % of all are", runs.count, runs.most_percent))
}

/// How long a hook's host waited for it, the first time and later.
fn hook_times(check: &CheckReport) -> Option<String> {
    let hook = check.hook.as_ref()?;
    let ms = |ms: u64| duration(Duration::from_millis(ms));
    let warm = hook.warm_ms.map(|warm| format!(", then {}", ms(warm))).unwrap_or_default();
    let limit = hook.limit_ms.map(|limit| format!(" of {}", ms(limit))).unwrap_or_default();
    Some(format!("{}{warm}{limit}", ms(hook.cold_ms?)))
}

fn program_name(process: &Process) -> Option<String> {
    let program = process.argv.first()?;
    Some(program.rsplit(['/', '\\']).next().unwrap_or(program).to_owned())
}

/// What a check's report does not say, and a person needs to run it again.
#[derive(Debug, Clone, Copy)]
pub struct Again<'a> {
    /// The check as it was planned.
    pub check: Option<&'a Check>,
    /// What chooses it alone on the command line.
    pub name: &'a str,
    pub project: &'a Path,
    /// What runs the check again by its id; `None` if it has none.
    pub subcommand: Option<&'static str>,
    /// The folder of manifests, if one was named.
    pub manifests: Option<&'a Path>,
    /// The image of the container that it ran in.
    pub image: Option<&'a str>,
    /// Whether it ran under stress.
    pub stress: bool,
    /// Where the user is.
    pub here: &'a Path,
    /// The source lines of the check's frames, in their order, where they could be read.
    pub excerpts: &'a [Option<String>],
}

/// All that is to be said of a check after its line: for a red one always, for another one if `verbose`.
#[must_use]
pub fn details(look: Look, check: &CheckReport, verbose: bool, rerun: &Again<'_>) -> Option<String> {
    if !check.verdict.is_red() && (!verbose || check.findings.is_empty()) {
        return None;
    }
    let mut text = String::new();
    let tag = if check.verdict.is_red() { look.red("RED") } else { look.green("ok") };
    let place = |frame: &Frame| {
        let place = look.text(&one_line(&frame_place(frame, &file_from(rerun, &frame.file))));
        look.link(&place, &rerun.project.join(&frame.file))
    };
    let (tripped, frames) = in_order(check);
    let first = frames.first().map(|(_, frame)| format!("    {}", place(frame))).unwrap_or_default();
    let _ = writeln!(text, "{tag} {}{first}", look.bold(&look.text(&check.id)));
    // A frame that tripped over something held stands with its holder.
    let trips = |finding: &Finding| tripped.is_some() && finding.frame.as_ref() == tripped;
    let pid = |finding: &Finding| finding.process.as_ref().map(|process| process.pid);
    let holders: Vec<_> = check.findings.iter().filter(|finding| trips(finding)).filter_map(pid).collect();
    let (held, others): (Vec<&Finding>, Vec<&Finding>) = check
        .findings
        .iter()
        .filter(|finding| verbose || finding.severity == Severity::Error || finding.frame.is_some())
        .filter(|finding| verbose || !is_told_by_frames(check, finding))
        .partition(|finding| trips(finding) || pid(finding).is_some_and(|pid| holders.contains(&pid)));
    for (shown, (index, frame)) in frames.iter().take(SHOWN).enumerate() {
        let deeper = if shown > 0 { "    " } else { "" };
        if shown > 0 {
            let _ = writeln!(text, "    {}", place(frame));
        }
        let mut below: Vec<String> = frame.error.iter().map(|error| look.text(&one_line(error))).collect();
        if let Some(Some(excerpt)) = rerun.excerpts.get(*index) {
            below.push(look.dim(&look.text(&format!("{:>5} | {}", frame.line, one_line(excerpt)))));
        }
        below.extend(frame.raised.iter().map(|raised| look.text(&one_line(&raised_at(raised)))));
        if shown == 0 {
            below.extend(findings::lines(&held, verbose).iter().map(|line| look.text(line)));
        }
        for line in below {
            let _ = writeln!(text, "    {deeper}{line}");
        }
    }
    let mut line = |line: &str| {
        let _ = writeln!(text, "    {}", look.text(&shown(line.as_bytes())));
    };

    if matches!(check.verdict, Verdict::Broken)
        && check.findings.is_empty()
        && let Some(reason) = &check.reason
    {
        line(reason);
    }
    if frames.len() > SHOWN {
        line(&format!("… and {} more places", frames.len() - SHOWN));
    }
    for part in findings::lines(&others, verbose) {
        line(&part);
    }
    for cases in [failed(check, verbose), never_ran(check, verbose)].into_iter().flatten() {
        line(&cases);
    }
    if check.verdict == Verdict::Failed {
        for said in last_words::of(check) {
            line(&said);
        }
    }
    for note in &check.notes {
        line(&format!("note   {note}"));
    }
    for mend in remedies(check, verbose) {
        line(&mend);
    }
    if let Some(kept) = &check.kept {
        line(&format!("kept   {kept}"));
    }
    if check.verdict.is_red() {
        for again in again(check, rerun) {
            line(&again);
        }
    }
    Some(text)
}

/// A file of the project by the name that it has where the user is, if that is a place in the project or above it.
fn file_from(again: &Again<'_>, file: &str) -> String {
    let whole = again.project.join(file);
    if let Ok(below) = whole.strip_prefix(again.here) {
        return below.display().to_string();
    }
    let Ok(depth) = again.here.strip_prefix(again.project) else { return whole.display().to_string() };
    if Path::new(file).has_root() {
        return file.to_owned();
    }
    // Up to the nearest folder that both are in, and down again.
    let names = Path::new(file).components().zip(depth.components()).take_while(|(a, b)| a == b).count();
    let up = depth.components().skip(names).map(|_| Component::ParentDir);
    up.chain(Path::new(file).components().skip(names)).collect::<PathBuf>().display().to_string()
}

/// Where it is, for a file of that name.
pub(super) fn frame_place(frame: &Frame, file: &str) -> String {
    let column = frame.column.map(|column| format!(":{column}")).unwrap_or_default();
    let function = frame.function.as_ref().or(frame.case.as_ref());
    let function = function.map(|function| format!(" in {function}")).unwrap_or_default();
    format!("{file}:{}{column}{function}", frame.line)
}

/// The frame that tripped over something held, if one did, and all frames with their places in the report, that one first.
fn in_order(check: &CheckReport) -> (Option<&Frame>, Vec<(usize, &Frame)>) {
    let tripped = check.findings.iter().find_map(|finding| finding.frame.as_ref());
    let mut frames: Vec<(usize, &Frame)> = check.frames.iter().enumerate().collect();
    frames.sort_by_key(|(_, frame)| Some(*frame) != tripped);
    (tripped, frames)
}

/// Where an error was raised, deeper than the project's own code.
fn raised_at(raised: &Raised) -> String {
    let function = raised.function.as_ref().map(|function| format!(" in {function}")).unwrap_or_default();
    format!("raised at {}:{}{function}", raised.file, raised.line)
}

/// Whether a finding only says with its status, the one that runners have for it, that some case failed, and the failures
/// are shown.
fn is_told_by_frames(check: &CheckReport, finding: &Finding) -> bool {
    let cases_failed = check.cases.failed.is_some_and(|failed| failed > 0);
    cases_failed
        && !check.frames.is_empty()
        && matches!(check.exit, Some(Exit::Code(1 | 100 | 101)))
        && against::is_of_exit(check, finding)
}

fn remedies(check: &CheckReport, verbose: bool) -> Vec<String> {
    let mut seen: Vec<Kind> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let told = |finding: &&Finding| verbose || !is_told_by_frames(check, finding);
    for finding in check.findings.iter().filter(|finding| finding.severity == Severity::Error).filter(told) {
        if seen.contains(&finding.kind) {
            continue;
        }
        seen.push(finding.kind);
        let explain = format!("hostproof explain {}", finding.kind.slug());
        if let Some(remedy) = &finding.remedy {
            // Two kinds may have one cause.
            let mend = format!("mend   {remedy}     ");
            if !lines.iter().any(|line| line.starts_with(&mend)) {
                lines.push(mend + &explain);
            }
        } else if seen.len() == 1 {
            lines.push(format!("more   {explain}"));
        }
    }
    lines.truncate(REMEDIES);
    lines
}

fn again(check: &CheckReport, rerun: &Again<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(subcommand) = rerun.subcommand {
        let folder = rerun.manifests.map(|folder| format!(" --manifests {}", quoted(&folder.display().to_string())));
        let folder = folder.unwrap_or_default();
        let place = rerun.image.map_or_else(|| "--keep failed".to_owned(), |image| format!("--in {}", quoted(image)));
        let stress = if rerun.stress { " --stress" } else { "" };
        lines.push(format!("again  hostproof {subcommand} {}{folder}{stress} {place}", quoted(rerun.name)));
    }
    if rerun.image.is_some() {
        // Its paths are those of a container that is gone.
        return lines;
    }
    if let Some(cwd) = &check.cwd
        && check.hook.is_none()
        && !check.argv.is_empty()
        && !wants_its_sandbox(check, cwd, rerun)
    {
        // A sandbox that was removed has an empty folder as its stand-in.
        let cwd = if cwd.starts_with("$sandbox") { "\"$(mktemp -d)\"".to_owned() } else { quoted(cwd) };
        let env = rerun.check.map(|check| env_prefix(check, rerun.project)).unwrap_or_default();
        let stdin = rerun.check.and_then(|check| check.stdin.as_ref());
        let stdin = stdin.map(|file| format!(" < {}", quoted(&rerun.project.join(file).display().to_string())));
        let command = format!("{env}{}{}", command_line(&check.argv), stdin.unwrap_or_default());
        // A command that is cut off would be another one.
        if command.len() <= LONGEST {
            lines.push(format!("hand   cd {cwd} && {command}"));
        }
    }
    lines
}

/// Whether the check ran on what was put into its sandbox, and that is gone: by hand it would do something else.
fn wants_its_sandbox(check: &CheckReport, cwd: &str, rerun: &Again<'_>) -> bool {
    let was_filled = rerun.check.is_some_and(|check| !check.files.is_empty() || check.cwd == Cwd::Copy);
    was_filled && !check.kept.as_ref().is_some_and(|kept| Path::new(cwd).starts_with(kept))
}

/// The variables that the manifest sets and removes. One that names the sandbox is left out: there is none by hand.
fn env_prefix(check: &Check, project: &Path) -> String {
    let project = project.display().to_string();
    let (mut removed, mut set) = (String::new(), String::new());
    for (name, value) in &check.env {
        match value {
            None => removed.push_str(&format!("-u {} ", quoted(name))),
            Some(value) if value.contains("$sandbox") => {}
            Some(value) => {
                set.push_str(&format!("{} ", quoted(&format!("{name}={}", value.replace("$project", &project)))));
            }
        }
    }
    if removed.is_empty() && set.is_empty() { String::new() } else { format!("env {removed}{set}") }
}

/// What is to be said of the run as a whole.
#[must_use]
pub fn of_the_run(look: Look, findings: &[Finding]) -> Option<String> {
    let lines: Vec<String> = findings
        .iter()
        .flat_map(|finding| {
            let mend = finding.remedy.iter().map(|remedy| format!("    {remedy}"));
            findings::lines(&[finding], true).into_iter().chain(mend)
        })
        .map(|line| look.text(&line))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The last line of a run: always the counts.
#[must_use]
pub fn last_line(totals: &Totals, stopped: Option<Stop>) -> String {
    let (cases, checks) = (&totals.cases, &totals.checks);
    let mut parts = Vec::new();
    if cases.planned > 0 {
        parts.push(format!("{}/{} cases", cases.ran, cases.planned));
    }
    parts.push(format!("{}/{} checks", checks.passed, checks.planned));
    let mut more = |n: u64, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    more(cases.failed, "failed");
    more(cases.planned.saturating_sub(cases.ran).max(cases.unknown), "never ran");
    more(checks.leaked, "leaked");
    more(checks.flaky, "flaky");
    more(checks.timed_out, "timed out");
    more(checks.broken, "broken");
    more(checks.skipped, if checks.skipped == 1 { "check skipped" } else { "checks skipped" });
    let early = stopped.filter(|stop| *stop != Stop::Interrupted);
    let why = early.map_or("not reached".to_owned(), |stop| format!("not reached ({})", stop.words()));
    more(checks.not_run, &why);
    parts.join(", ")
}

/// One check in a listing.
#[must_use]
pub fn list_line(look: Look, check: &Check, width: usize, skip: Option<&str>) -> String {
    let title = one_line(check.title.as_deref().unwrap_or_default());
    let skip = skip.map(|skip| format!("  ({skip})")).unwrap_or_default();
    let tags = if check.tags.is_empty() { String::new() } else { format!("  [{}]", check.tags.join(", ")) };
    format!("{:width$}  {}{}{skip}", look.text(&check.id), look.text(&title), look.text(&one_line(&tags)))
        .trim_end()
        .to_owned()
}

/// Text from elsewhere in one line of bearable length, without anything that steers a terminal.
pub(super) fn one_line(text: &str) -> String {
    cut(text, LONGEST)
}

fn cut(text: &str, longest: usize) -> String {
    let text = shown(text.as_bytes()).replace(['\n', '\t'], " ");
    if text.chars().count() <= longest {
        return text;
    }
    text.chars().take(longest).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_name_that_it_has_where_the_user_is() {
        let from = |project: &str, here: &str, file: &str| {
            let again = Again {
                check: None,
                name: "a",
                project: Path::new(project),
                subcommand: Some("run"),
                manifests: None,
                image: None,
                stress: false,
                here: Path::new(here),
                excerpts: &[],
            };
            file_from(&again, file).replace('\\', "/")
        };
        assert_eq!(from("/p", "/p", "hooks/a.py"), "hooks/a.py");
        assert_eq!(from("/p", "/p/hooks", "hooks/a.py"), "a.py");
        assert_eq!(from("/p", "/p/hooks/deep", "hooks/a.py"), "../a.py");
        assert_eq!(from("/p", "/p/docs/x", "hooks/a.py"), "../../hooks/a.py");
        assert_eq!(from("/r/p", "/r", "hooks/a.py"), "p/hooks/a.py");
        assert_eq!(from("/p", "/elsewhere", "hooks/a.py"), "/p/hooks/a.py");
        assert_eq!(from("/p", "/p/docs", "/usr/lib/x.py"), "/usr/lib/x.py");
    }
}
