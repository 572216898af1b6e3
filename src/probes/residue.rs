//! What is not as it was before the check, outside its sandbox.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Places;
use crate::model::{Finding, Kind, Process, Severity};

/// How many entries of a new folder are named, and how many findings there are at most.
const NAMED: usize = 3;
const MOST: usize = 100;

/// What happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    New,
    Changed,
    Gone,
    /// It was made, and removed again.
    Passing,
}

/// In what kind of place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// The manifest names it.
    Watched,
    Project,
    /// At the top of the real home directory.
    Home,
}

/// One entry that is not as it was.
#[derive(Debug, Clone)]
pub struct Change {
    /// Absolute.
    pub path: PathBuf,
    pub what: What,
    pub folder: bool,
    /// A new file without content.
    pub empty: bool,
    pub place: Where,
    /// When it came about, as the file system has it.
    pub at: Option<SystemTime>,
    /// Who did it, with whether it was seen at it; `None` where the system does not tell.
    pub writer: Option<(Process, bool)>,
}

/// A reference of git's that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The folder of the project that is the repository; nothing for the one that the project is in.
    pub of: PathBuf,
    /// `HEAD`, or the whole name of a reference.
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub at: Option<SystemTime>,
}

/// What git makes of the changed paths.
#[derive(Debug, Clone, Default)]
pub struct OfGit {
    /// Those that it ignores.
    pub ignored: HashSet<PathBuf>,
    /// Those whose content and mode are as it has them.
    pub alike: HashSet<PathBuf>,
}

/// A finding for each change; what is in a new folder, or was in one that is gone, is told with it. Without git nothing says
/// what matters of the project.
#[must_use]
pub fn residue(changes: &[Change], git: Option<&OfGit>, places: &Places, suspects: Option<&str>) -> Vec<Finding> {
    let mut sorted: Vec<&Change> = changes.iter().collect();
    // What is in a folder comes right behind it.
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let with = |top: &Change, change: &Change| {
        top.folder && top.what == change.what && top.what != What::Changed && change.path.starts_with(&top.path)
    };
    let mut groups: Vec<Vec<&Change>> = Vec::new();
    for change in sorted {
        match groups.last_mut() {
            Some(group) if with(group[0], change) => group.push(change),
            _ => groups.push(vec![change]),
        }
    }
    let mut findings: Vec<Finding> =
        groups.iter().map(|group| finding(group[0], group, git, places, suspects)).collect();
    if findings.len() > MOST {
        let more = findings.len() - MOST;
        let worst = findings[MOST..].iter().map(|finding| finding.severity).min().unwrap_or(Severity::Note);
        findings.truncate(MOST);
        findings.push(Finding::new(Kind::Residue, worst, format!("{more} more paths are not as they were before")));
    }
    findings
}

fn finding(top: &Change, group: &[&Change], git: Option<&OfGit>, places: &Places, suspects: Option<&str>) -> Finding {
    // Whether a folder matters is told by what is in it.
    let below: Vec<&Change> = group.iter().copied().filter(|change| !change.folder).collect();
    let is_repository = group.iter().any(|change| change.path.ends_with(".git"));
    let weighed = below.iter().map(|change| weight(change, git)).min_by_key(|(severity, _)| *severity);
    let (severity, why) = match weighed {
        Some(weighed) => weighed,
        None if top.what == What::New && top.place != Where::Watched && !is_repository => {
            (Severity::Note, Some("an empty folder"))
        }
        None => weight(top, git),
    };
    let name = places.name(&top.path.to_string_lossy());
    let home = top.path.file_name().unwrap_or_default().to_string_lossy();
    let (name, place) = match top.place {
        Where::Project => (name, " in the project"),
        Where::Home => (format!("~/{home}"), " in the home directory"),
        Where::Watched => (name, ""),
    };
    let done = match top.what {
        What::New => "is new",
        What::Changed => "was changed",
        What::Gone => "was removed",
        What::Passing => "was made, and removed again",
    };
    let writer = group.iter().find_map(|change| change.writer.as_ref());
    let by = match writer {
        Some((process, true)) => format!(", written by {}", process.short()),
        Some((process, false)) => format!(", written by {}, as far as could be seen", process.short()),
        None if top.place == Where::Watched => ", by a process that could not be named".to_owned(),
        None => String::new(),
    };
    let with = if top.folder && !below.is_empty() {
        let names: Vec<_> =
            below.iter().take(NAMED).filter_map(|change| change.path.strip_prefix(&top.path).ok()).collect();
        let names: Vec<_> = names.iter().map(|name| name.display().to_string()).collect();
        let more = below.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(", with {}{more}", names.join(", "))
    } else if top.folder && is_repository {
        ", a repository of git's".to_owned()
    } else {
        String::new()
    };
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let who = suspects.map(unknown).unwrap_or_default();
    let mut finding = Finding::new(Kind::Residue, severity, format!("{name} {done}{place}{with}{why}{by}{who}"));
    finding.path = Some(top.path.display().to_string()).filter(|_| top.place != Where::Project).or(Some(name));
    finding.process = writer.map(|(process, _)| process.clone());
    finding.remedy = Some(remedy(top).to_owned());
    finding
}

/// How much a change weighs, and why no more than that.
fn weight(change: &Change, git: Option<&OfGit>) -> (Severity, Option<&'static str>) {
    match (change.place, change.what) {
        (_, What::Passing) => (Severity::Note, None),
        (Where::Watched, _) => (Severity::Error, None),
        // Whoever else is at work has this home, too.
        (Where::Home, What::Changed) => (Severity::Note, Some("by whom is not known")),
        (Where::Home, _) => (Severity::Warning, Some("by whom is not known")),
        (Where::Project, _) => match git {
            Some(git) if git.ignored.contains(&change.path) => (Severity::Note, Some("git ignores it")),
            Some(git) if git.alike.contains(&change.path) => (Severity::Note, Some("its content is what git has")),
            _ if change.empty => (Severity::Note, Some("empty")),
            Some(_) => (Severity::Error, None),
            None => (Severity::Warning, Some("the project is in no repository that says what matters")),
        },
    }
}

fn remedy(change: &Change) -> &'static str {
    match change.what {
        What::Passing => {
            "a fixed name outside TMPDIR is everybody's: take one that the system gives (mktemp, tempfile)"
        }
        What::Gone => "let the test work on a copy (`cwd: copy`)",
        _ if change.place == Where::Project => "let the test write below TMPDIR, or work on a copy (`cwd: copy`)",
        _ => {
            "let the test write below TMPDIR or HOME, which hostproof points into the sandbox, and remove what it made"
        }
    }
}

/// A finding for each reference that was moved; a note in a repository that the one around it ignores.
#[must_use]
pub fn moved(moved: &[Moved], is_ignored: impl Fn(&Moved) -> bool, suspects: Option<&str>) -> Vec<Finding> {
    let who = suspects.map(unknown).unwrap_or_default();
    let finding = |moved: &Moved| {
        let what = match moved.name.as_str() {
            "HEAD" => "git's HEAD".to_owned(),
            "refs/stash" => "git's stash".to_owned(),
            name => format!("git's {name}"),
        };
        let folder = moved.of.display().to_string().replace('\\', "/");
        let what = if folder.is_empty() { what } else { format!("{what} in {folder}") };
        // What else it has of its own is compared by what is in it, and that is not for people to read.
        let is_ref = moved.name == "HEAD" || moved.name.starts_with("refs");
        let done = match (&moved.before, &moved.after) {
            (None, Some(place)) if !is_ref => format!("is new{}", meaning(&moved.name, place)),
            (Some(_), None) if !is_ref => "was removed".to_owned(),
            _ if moved.name == "index" => "was changed: something else is staged than before".to_owned(),
            _ if !is_ref => "was changed".to_owned(),
            (None, Some(after)) => format!("is new: {}", short(after)),
            (Some(before), None) => format!("was removed: it was {}", short(before)),
            (before, after) => {
                let [before, after] = [before, after].map(|value| short(value.as_deref().unwrap_or_default()));
                format!("was moved: {before} before, {after} now")
            }
        };
        // What else there is, tools keep up to date behind everybody's back.
        let own = !is_ref
            || ["HEAD", "refs/stash", "refs"].contains(&moved.name.as_str())
            || ["refs/heads/", "refs/tags/"].iter().any(|start| moved.name.starts_with(start));
        let (severity, why) = match own {
            true if is_ignored(moved) => (Severity::Note, " (git ignores it)"),
            true => (Severity::Error, ""),
            false => (Severity::Note, ""),
        };
        let mut finding = Finding::new(Kind::Residue, severity, format!("{what} {done}{why}{who}"));
        finding.path =
            Some(if folder.is_empty() { moved.name.clone() } else { format!("{folder}/.git/{}", moved.name) });
        finding.remedy = Some("let the test work in a repository of its own, or in a copy (`cwd: copy`)".to_owned());
        finding
    };
    moved.iter().map(finding).collect()
}

/// Whether something of git's own of that name is a lock.
#[must_use]
pub fn is_lock(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "lock")
}

/// What it means that git has something new of its own of that name, with what is in it.
fn meaning(name: &str, value: &str) -> String {
    let doing = match name {
        "MERGE_HEAD" => "a merge",
        "CHERRY_PICK_HEAD" => "a cherry-pick",
        "REVERT_HEAD" => "a revert",
        "rebase-merge" | "rebase-apply" => "a rebase",
        "BISECT_LOG" => "a bisection",
        name if is_lock(name) => return ": until it is removed, git writes nothing there".to_owned(),
        name if name.starts_with("worktrees/") => return format!(": a linked worktree at {value}"),
        _ => return String::new(),
    };
    format!(": {doing} is under way")
}

/// How it is told that one of these checks did it.
#[must_use]
pub fn unknown(suspects: &str) -> String {
    format!(", while {suspects} ran: by which of them is not known")
}

/// The name of an object as people read it; anything else as it is.
fn short(value: &str) -> &str {
    let is_object = value.len() >= 40 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_object { &value[..10] } else { value.strip_prefix("ref: ").unwrap_or(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, what: What, place: Where) -> Change {
        Change { path: path.into(), what, folder: false, empty: false, place, at: None, writer: None }
    }

    fn told(changes: &[Change], git: Option<&OfGit>) -> Vec<(Severity, String)> {
        let places = Places { sandbox: "/s".into(), project: "/p".into(), cwd: "/p".into() };
        let findings = residue(changes, git, &places, None);
        findings.into_iter().map(|finding| (finding.severity, finding.message)).collect()
    }

    #[test]
    fn what_git_ignores_and_what_is_empty_are_notes_unless_watched() {
        let new = change("/p/a", What::New, Where::Project);
        let error = vec![(Severity::Error, "a is new in the project".to_owned())];
        let nothing = OfGit::default();
        assert_eq!(told(std::slice::from_ref(&new), Some(&nothing)), error);
        let it = || HashSet::from([PathBuf::from("/p/a")]);
        let ignored = OfGit { ignored: it(), ..OfGit::default() };
        let alike = OfGit { alike: it(), ..OfGit::default() };
        let severity = |change: &Change, git: Option<&OfGit>| told(std::slice::from_ref(change), git)[0].0;
        assert_eq!(severity(&new, Some(&ignored)), Severity::Note);
        assert_eq!(severity(&change("/p/a", What::Changed, Where::Project), Some(&alike)), Severity::Note);
        assert_eq!(severity(&Change { empty: true, ..new.clone() }, Some(&nothing)), Severity::Note);
        assert_eq!(severity(&Change { place: Where::Watched, ..new.clone() }, Some(&ignored)), Severity::Error);
        assert_eq!(severity(&new, None), Severity::Warning);
    }

    #[test]
    fn what_is_in_a_new_folder_is_told_with_it() {
        let folder = Change { folder: true, ..change("/p/out", What::New, Where::Project) };
        let file = |name: &str| change(&format!("/p/out/{name}"), What::New, Where::Project);
        let all = [folder.clone(), file("a"), file("b"), file("c"), file("d")];
        let found = told(&all, Some(&OfGit::default()));
        assert_eq!(found, [(Severity::Error, "out is new in the project, with a, b, c and 1 more".to_owned())]);
        assert_eq!(told(&[folder], Some(&OfGit::default()))[0].0, Severity::Note, "an empty folder");
    }

    #[test]
    fn references_are_told_by_what_they_are() {
        let one = |name: &str, before: Option<&str>, after: Option<&str>| {
            let own = |value: Option<&str>| value.map(str::to_owned);
            let (name, before, after) = (name.to_owned(), own(before), own(after));
            moved(&[Moved { of: PathBuf::new(), name, before, after, at: None }], |_| false, None).remove(0)
        };
        let head = one("HEAD", Some("ref: refs/heads/main"), Some(&"a".repeat(40)));
        assert_eq!(head.message, "git's HEAD was moved: refs/heads/main before, aaaaaaaaaa now");
        assert_eq!(one("refs/stash", None, Some("x")).message, "git's stash is new: x");
        assert_eq!(one("config", Some("1"), Some("2")).message, "git's config was changed");
        assert_eq!(one("hooks/pre-commit", None, Some("2")).message, "git's hooks/pre-commit is new");
        assert_eq!(one("index", Some("1"), Some("2")).severity, Severity::Error);
        assert_eq!(one("refs/remotes/origin/main", Some("x"), Some("y")).severity, Severity::Note);
        assert_eq!(one("MERGE_HEAD", None, Some("")).message, "git's MERGE_HEAD is new: a merge is under way");
        assert_eq!(
            one("worktrees/a", None, Some("/x/a")).message,
            "git's worktrees/a is new: a linked worktree at /x/a"
        );
        let (before, after) = (Some("x".to_owned()), Some("y".to_owned()));
        let below = Moved { of: "vendor/x".into(), name: "HEAD".to_owned(), before, after, at: None };
        for (is_ignored, severity, why) in [(false, Severity::Error, ""), (true, Severity::Note, " (git ignores it)")] {
            let found = moved(std::slice::from_ref(&below), |_| is_ignored, None).remove(0);
            let message = format!("git's HEAD in vendor/x was moved: x before, y now{why}");
            assert_eq!(
                (found.severity, found.message, found.path.as_deref()),
                (severity, message, Some("vendor/x/.git/HEAD"))
            );
        }
    }
}
