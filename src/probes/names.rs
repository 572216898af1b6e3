//! Names that another system cannot have: pure decisions over a listing.
//!
//! The rules of Windows are those of Microsoft's "Naming Files, Paths, and Namespaces" and "Maximum Path Length
//! Limitation"; that `¹`, `²` and `³` count as digits, and `CONIN$` and `CONOUT$` as devices, is in the first, too. Newer
//! systems are laxer about devices, and are not asked.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use super::Blame;
use crate::model::{Check, Finding, Kind, Platform, Severity};

/// How many names are told of one by one.
const TOLD: usize = 20;
/// The longest name, in units of UTF-16.
const LONGEST_NAME: usize = 255;
/// The longest path (`MAX_PATH` without the NUL that ends it).
const LONGEST_PATH: usize = 259;
/// The longest path of a folder: a name of the old form, as `12345678.123`, must have room in it.
const LONGEST_FOLDER: usize = LONGEST_PATH - 12;
/// Where Windows has temporary folders.
const TEMP: &str = r"C:\Users\somebody\AppData\Local\Temp\";
/// Where projects are, as Visual Studio puts them.
const PROJECTS: &str = r"C:\Users\somebody\source\repos\";

/// What is listed: a path below some folder, and whether it is a folder itself.
pub type Entry<'a> = (&'a Path, bool);

/// A path that a system cannot have, in whole or together with another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Illegal {
    /// As it was listed.
    pub path: String,
    /// Where it cannot be.
    pub on: &'static [Platform],
    /// What is wrong, after the path.
    pub why: String,
    pub remedy: &'static str,
}

const WINDOWS: &[Platform] = &[Platform::Windows];
const MACOS: &[Platform] = &[Platform::Macos];
const BOTH: &[Platform] = &[Platform::Windows, Platform::Macos];

/// How long the path of a temporary folder on Windows is, in UTF-16 units with the `\` after it.
#[must_use]
pub fn temp_room() -> usize {
    TEMP.len()
}

/// How long the path of a project of that name is there.
#[must_use]
pub fn project_room(name: &str) -> usize {
    PROJECTS.len() + name.encode_utf16().count() + 1
}

/// What is illegal in a listing, in its order, but for paths that are too long, which come last. Folders that are not
/// listed themselves are looked at all the same. `room` is how long the path is that all are below.
#[must_use]
pub fn illegal<'a>(entries: impl IntoIterator<Item = Entry<'a>>, room: usize) -> Vec<Illegal> {
    let mut look = Look { room, ..Look::default() };
    for (path, is_folder) in entries {
        look.at(path, is_folder);
    }
    look.illegal.extend(too_long(look.long, room));
    look.illegal
}

#[derive(Default)]
struct Look<'a> {
    room: usize,
    hasher: RandomState,
    /// Folders that were looked at.
    folders: HashSet<&'a Path>,
    /// The first path of each folded name in each folder, by the hash of both.
    folded: HashMap<u64, &'a Path>,
    /// Paths that are too long, each with the most that Windows takes of its kind.
    long: Vec<(&'a Path, usize)>,
    illegal: Vec<Illegal>,
}

impl<'a> Look<'a> {
    fn at(&mut self, path: &'a Path, is_folder: bool) {
        if is_folder && !self.folders.insert(path) {
            return;
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
            && !self.folders.contains(folder)
        {
            self.at(folder, true);
        }
        let Some(name) = path.file_name() else { return };
        let Some(name) = name.to_str() else {
            return self.tell(path, BOTH, "is not Unicode (UTF-8)", "give it a name in UTF-8");
        };
        if let Some((why, remedy)) = fault(name) {
            self.tell(path, WINDOWS, &why, remedy);
        }
        self.twin(path, name);
        let length = path.to_str().map_or(0, units);
        let most = if is_folder { LONGEST_FOLDER } else { LONGEST_PATH };
        if self.room + length > most {
            self.long.push((path, most));
        }
    }

    fn tell(&mut self, path: &Path, on: &'static [Platform], why: &str, remedy: &'static str) {
        self.illegal.push(Illegal { path: path.display().to_string(), on, why: why.to_owned(), remedy });
    }

    /// Two names of one folder that are one name elsewhere.
    fn twin(&mut self, path: &'a Path, name: &str) {
        let folder = path.parent();
        let mut hashes = vec![self.hasher.hash_one((folder, Folded(name)))];
        if !name.is_ascii() {
            hashes.push(self.hasher.hash_one((folder, Folded(&decomposed(name)))));
        }
        let mut other = None;
        for hash in hashes {
            let first = *self.folded.entry(hash).or_insert(path);
            other = other.or((first != path && first.parent() == folder).then_some(first));
        }
        let Some(other) = other.and_then(|other| other.file_name()?.to_str()) else { return };
        if fold(other).eq(fold(name)) {
            let why = format!("and {other} are one name on Windows and macOS: they differ in case only");
            self.tell(path, BOTH, &why, "keep one, or give one of them another name");
        } else if fold(&decomposed(other)).eq(fold(&decomposed(name))) {
            let why = format!("and another {other} are one name on macOS: they differ in how accents are written");
            self.tell(path, MACOS, &why, "keep one, or give one of them another name");
        }
    }
}

/// A name without its case, for its hash.
struct Folded<'a>(&'a str);

impl std::hash::Hash for Folded<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for c in fold(self.0) {
            state.write_u32(u32::from(c));
        }
    }
}

/// A name as NTFS compares it: each unit of UTF-16 by itself, in upper case where that is one unit, too. What takes two
/// units, and what is several letters in upper case (`ß`), stays as it is.
fn fold(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|c| {
        let mut upper = c.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(one), None) if c.len_utf16() == 1 && one.len_utf16() == 1 => one,
            _ => c,
        }
    })
}

fn decomposed(name: &str) -> String {
    name.nfd().collect()
}

fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// What is wrong with a name by itself on Windows, and what to do about it.
fn fault(name: &str) -> Option<(String, &'static str)> {
    const ANOTHER: &str = "give it another name";
    if let Some(sign) =
        name.chars().find(|c| matches!(c, '<' | '>' | ':' | '"' | '\\' | '|' | '?' | '*' | '\0'..'\u{20}'))
    {
        let shown = sign.escape_default();
        return Some((format!("has `{shown}` in it, which no name on Windows has"), ANOTHER));
    }
    if is_device(name) {
        return Some(("is the name of a device on Windows".to_owned(), ANOTHER));
    }
    if let Some(last) = name.chars().next_back().filter(|last| matches!(last, '.' | ' ')) {
        let what = if last == '.' { "a dot" } else { "a blank" };
        return Some((format!("ends in {what}, which Windows drops"), "give it a name that ends in something else"));
    }
    let length = units(name);
    let long = || format!("is {length} characters long, and {LONGEST_NAME} is the most on Windows");
    (length > LONGEST_NAME).then(|| (long(), "give it a shorter name"))
}

/// Whether Windows takes a name for a device: with any extension, and with blanks before it.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let is = |device: &&str| stem.eq_ignore_ascii_case(device);
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].iter().any(is) {
        return true;
    }
    let port = stem.get(..3).filter(|port| ["COM", "LPT"].iter().any(|kind| port.eq_ignore_ascii_case(kind)));
    port.is_some_and(|_| {
        let mut number = stem[3..].chars();
        matches!((number.next(), number.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
    })
}

/// Paths that are too long, but for the folders of those that are.
fn too_long(mut long: Vec<(&Path, usize)>, room: usize) -> Vec<Illegal> {
    long.sort_unstable();
    let next: Vec<Option<&Path>> = long.iter().skip(1).map(|(path, _)| Some(*path)).chain([None]).collect();
    let deepest = long.iter().zip(next).filter(|((path, _), next)| next.is_none_or(|next| !next.starts_with(path)));
    deepest
        .map(|((path, most), _)| {
            let length = room + path.to_str().map_or(0, units);
            Illegal {
                path: path.display().to_string(),
                on: WINDOWS,
                why: format!("has a path of about {length} characters on Windows, where {most} is the most"),
                remedy: "use shorter names, or fewer folders in folders",
            }
        })
        .collect()
}

/// A finding for each that matters to a check: an error on a system that the check says it is for, a note on one that it
/// may run on.
#[must_use]
pub fn findings(illegal: &[Illegal], check: &Check, blame: &Blame<'_>) -> Vec<Finding> {
    let severity = |illegal: &Illegal| {
        if illegal.on.iter().any(|system| check.is_for(*system)) {
            return Some(Severity::Error);
        }
        illegal.on.iter().any(|system| check.may_run_on(*system)).then_some(Severity::Note)
    };
    let mut told: Vec<(Severity, &Illegal)> =
        illegal.iter().filter_map(|illegal| Some((severity(illegal)?, illegal))).collect();
    told.sort_by_key(|(severity, _)| *severity);
    let rest = told.split_off(told.len().min(TOLD));
    let mut findings: Vec<Finding> = told
        .into_iter()
        .map(|(severity, illegal)| {
            let message = format!("{} {}", illegal.path, illegal.why);
            let mut finding = Finding::new(Kind::IllegalName, severity, message);
            finding.path = Some(illegal.path.clone());
            finding.case = blame.case_of(&illegal.path);
            finding.remedy = Some(illegal.remedy.to_owned());
            finding
        })
        .collect();
    if let Some((severity, _)) = rest.first() {
        let message = format!("and {} more names that another system cannot have", rest.len());
        findings.push(Finding::new(Kind::IllegalName, *severity, message));
    }
    findings
}

/// What is illegal among the tracked files, as one note of the run. `None` if nothing is.
#[must_use]
pub fn of_the_run(illegal: &[Illegal]) -> Option<Finding> {
    const SHOWN: usize = 3;
    let shown: Vec<String> =
        illegal.iter().take(SHOWN).map(|illegal| format!("{} {}", illegal.path, illegal.why)).collect();
    let more = if illegal.len() > SHOWN { format!("; and {} more", illegal.len() - SHOWN) } else { String::new() };
    let message = format!("tracked by git, and not possible everywhere: {}{more}", shown.join("; "));
    let mut finding = Finding::new(Kind::IllegalName, Severity::Note, message);
    finding.path = Some(illegal.first()?.path.clone());
    finding.remedy = Some("hostproof explain illegal-name".to_owned());
    Some(finding)
}

/// What could not be listed.
#[must_use]
pub fn unlisted(why: &str, check: &Check) -> Finding {
    let severity = if check.is_for(Platform::Windows) { Severity::Warning } else { Severity::Note };
    Finding::new(Kind::ProbeBlind, severity, format!("could not look at all names in the sandbox: {why}"))
}

#[cfg(test)]
#[path = "names/tests.rs"]
mod tests;
