//! The frame at which the project's own code tripped over something that was held.

use std::collections::HashSet;

use super::Places;
use crate::model::{Finding, Frame, Kind, Severity};

/// What an error says that comes of a path being held, in the words of the systems and of the languages' libraries.
const HELD: &[&str] = &[
    "WinError 32]",
    "WinError 5]",
    "WinError 145]",
    "WinError 33]",
    "os error 32)",
    "os error 5)",
    "os error 145)",
    "os error 16)",
    "os error 26)",
    "os error 39)",
    "os error 66)",
    "os error 13)",
    "os error 1)",
    "[Errno 16]",
    "[Errno 26]",
    "[Errno 39]",
    "[Errno 66]",
    "[Errno 13]",
    "[Errno 1]",
    "EBUSY",
    "ENOTEMPTY",
    "EPERM",
    "EACCES",
    "ETXTBSY",
    "resource busy",
    "text file busy",
    "directory not empty",
    "directory is not empty",
    "permission denied",
    "operation not permitted",
    "access is denied",
    "being used by another process",
    // What some versions of Python's TemporaryDirectory make of a refusal.
    "RecursionError",
];

/// Gives each finding of something held, and of a call that was refused over it, the frame of the failure whose error is
/// about the same path, or about one below or above it. What was refused is sure to have failed, so if only one error is
/// of that kind, whatever it names, it is the one.
pub fn tripped(findings: &mut [Finding], frames: &[Frame], places: &Places) {
    let of_held = frames.iter().filter_map(|frame| {
        let error = frame.error.as_deref().filter(|error| is_of_held(error))?;
        Some((frame, paths(error)))
    });
    let errors: Vec<(&Frame, Vec<Named>)> = of_held.collect();
    if errors.is_empty() {
        return;
    }
    for finding in findings.iter_mut() {
        let refused = finding.kind == Kind::RefusedByWindows;
        if !(refused && finding.severity == Severity::Error
            || matches!(finding.kind, Kind::HeldDirectory | Kind::HeldFile))
        {
            continue;
        }
        let held: Vec<Vec<String>> = match finding.process.as_ref().and_then(|process| process.holds.first()) {
            Some(hold) => vec![parts(&hold.path)],
            None => {
                finding.path.iter().flat_map(|name| places.named(name)).map(|p| parts(&p.to_string_lossy())).collect()
            }
        };
        let is_about = |(_, named): &&(&Frame, Vec<Named>)| {
            named.iter().any(|named| held.iter().any(|held| named.is_about(held, places)))
        };
        let only = || if refused && errors.len() == 1 { errors.first() } else { None };
        let Some((frame, _)) = errors.iter().find(is_about).or_else(only) else { continue };
        finding.frame = Some((*frame).clone());
        if refused && frame.case.is_some() || finding.case.is_none() {
            finding.case.clone_from(&frame.case);
        }
    }
}

fn is_of_held(error: &str) -> bool {
    let lower = error.to_lowercase();
    HELD.iter()
        .any(|words| if words.contains(char::is_uppercase) { error.contains(words) } else { lower.contains(words) })
}

/// A path that an error names.
#[derive(Debug)]
struct Named {
    parts: Vec<String>,
    absolute: bool,
    windows: bool,
}

impl Named {
    fn new(text: &str) -> Option<Self> {
        // Python and node show a backslash as two.
        let text = text.replace("\\\\", "\\");
        let text = text.strip_prefix(r"\\?\").unwrap_or(&text);
        let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
        let windows = drive || text.contains('\\');
        let parts = parts(text);
        let named = Self { absolute: drive || text.starts_with(['/', '\\']), windows, parts };
        (!named.parts.is_empty()).then_some(named)
    }

    /// Whether it is the held path, below or above it; above only within the sandbox or the project.
    fn is_about(&self, held: &[String], places: &Places) -> bool {
        let same = |a: &String, b: &String| if self.windows { a.eq_ignore_ascii_case(b) } else { a == b };
        let begins = |long: &[String], short: &[String]| {
            long.len() >= short.len() && long.iter().zip(short).all(|(a, b)| same(a, b))
        };
        let folders = [&places.sandbox, &places.project].map(|folder| parts(&folder.to_string_lossy()));
        let related = |path: &[String]| {
            let inside = folders.iter().any(|folder| path.len() > folder.len() && begins(path, folder));
            begins(path, held) || (inside && begins(held, path))
        };
        if self.absolute && related(&self.parts) {
            return true;
        }
        // The short form of a name (`RUNNER~1`) is another text for the same folder.
        let short = self.parts.iter().rposition(|part| part.contains('~')).filter(|_| self.windows);
        let tail = match short {
            Some(short) => &self.parts[short + 1..],
            None if self.absolute => return false,
            None => &self.parts[..],
        };
        let below_cwd: Vec<String> =
            parts(&places.cwd.to_string_lossy()).into_iter().chain(tail.iter().cloned()).collect();
        if !self.absolute && related(&below_cwd) {
            return true;
        }
        // Relative to a folder that nobody knows: the end of the held path, at least two names of it or a rare one.
        let rare = tail.len() > 1 || tail.first().is_some_and(|name| name.len() >= 8);
        rare && held.len() >= tail.len() && begins(&held[held.len() - tail.len()..], tail)
    }
}

fn parts(path: &str) -> Vec<String> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
}

/// The paths in an error's message: what is quoted, and words with a separator in them.
fn paths(error: &str) -> Vec<Named> {
    const MOST: usize = 16;
    let mut found: Vec<&str> = Vec::new();
    for quote in ['\'', '"', '`'] {
        // Every piece between two quotes, since an apostrophe in a message shifts which are the outer ones.
        let pieces: Vec<&str> = error.split(quote).collect();
        found.extend(pieces.iter().skip(1).take(pieces.len().saturating_sub(2)).filter(|piece| is_path(piece)));
    }
    let trim = |word: &&str| !word.is_empty();
    let words =
        error.split_whitespace().map(|word| word.trim_matches(|c: char| "'\"`,;:()[]".contains(c))).filter(trim);
    found.extend(words.filter(|word| word.contains(['/', '\\'])));
    let mut known = HashSet::new();
    found.into_iter().filter(|text| known.insert(*text)).take(MOST).filter_map(Named::new).collect()
}

/// Whether a quoted text may be a path: one line, and more than a blank.
fn is_path(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with([' ', ',', ':', ')']) && !text.contains('\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Hold, How, Process, Severity};

    fn places() -> Places {
        Places { sandbox: "/t/hp-x/1".into(), project: "/p".into(), cwd: "/p".into() }
    }

    fn held(path: &str) -> Finding {
        let hold = Hold { how: How::Cwd, path: path.to_owned(), directory: true, deleted: false };
        let process = Process {
            pid: 1,
            argv: vec!["x".to_owned()],
            parents: Vec::new(),
            started_ms: None,
            own_session: false,
            state: None,
            waiting_on: None,
            holds: vec![hold],
            pipes: Vec::new(),
            case_hint: None,
            unread: Vec::new(),
        };
        let path = places().name(path);
        Finding { process: Some(process), path: Some(path), ..Finding::new(Kind::HeldDirectory, Severity::Error, "x") }
    }

    fn trips(path: &str, error: &str) -> bool {
        let mut findings = [held(path)];
        let frame = Frame {
            error: Some(error.to_owned()),
            case: Some("test_x".to_owned()),
            ..Frame::new("hooks/test_sweep.py", 212)
        };
        tripped(&mut findings, std::slice::from_ref(&frame), &places());
        let [finding] = findings;
        assert_eq!(finding.case.is_some(), finding.frame.is_some());
        finding.frame.is_some()
    }

    #[test]
    fn errors_about_the_held_path_or_one_below_or_above_it() {
        let path = "/t/hp-x/1/tmp/tmpab12";
        for error in [
            "OSError: [Errno 16] Device or resource busy: '/t/hp-x/1/tmp/tmpab12'",
            "OSError: [Errno 39] Directory not empty: '/t/hp-x/1/tmp/tmpab12'",
            "PermissionError: [Errno 1] Operation not permitted: '/t/hp-x/1/tmp/tmpab12/a'",
            "PermissionError: [Errno 13] Permission denied: '/t/hp-x/1/tmp'",
            "Error: EBUSY: resource busy or locked, rmdir '/t/hp-x/1/tmp/tmpab12'",
            "Error: can't go on: EPERM, unlink '/t/hp-x/1/tmp/tmpab12'",
            "unlinkat /t/hp-x/1/tmp/tmpab12: directory not empty",
            "called `Result::unwrap()` on an `Err` value: Os { code: 16, kind: ResourceBusy, message: \"Device or resource busy\" } at \"/t/hp-x/1/tmp/tmpab12\"",
            "OSError: [Errno 16] Device or resource busy: 'tmp/tmpab12'",
            "rmdir: failed to remove 'tmp/tmpab12/': Device or resource busy",
        ] {
            assert!(trips(path, error), "{error}");
        }
    }

    #[test]
    fn errors_of_windows() {
        let path = r"C:\Users\Ann Bo\AppData\Local\Temp\hp-x\tmp\tmpab12xy";
        let text = path.replace('\\', r"\\");
        let used = "The process cannot access the file because it is being used by another process";
        for error in [
            format!("PermissionError: [WinError 32] {used}: '{text}'"),
            format!("PermissionError: [WinError 5] Access is denied: '{}'", text.to_uppercase()),
            format!("OSError: [WinError 145] The directory is not empty: '{text}\\\\sub'"),
            format!(
                "PermissionError: [WinError 32] {used}: '{}'",
                r"C:\\Users\\ANNBO~1\\AppData\\Local\\Temp\\hp-x\\tmp\\tmpab12xy"
            ),
            format!("Error: EBUSY: resource busy or locked, rmdir '{path}'"),
            format!("remove {}: {used}.", path.replace("Ann Bo", "Ann")).replace("Users\\Ann\\", "Users\\ANNBO~1\\"),
            format!("PermissionError: [WinError 32] {used}: '{}' -> 'x'", path.replace('\\', "/")),
        ] {
            assert!(trips(path, &error), "{error}");
        }
    }

    #[test]
    fn other_errors_and_other_paths_have_no_frame() {
        let path = "/t/hp-x/1/tmp/tmpab12";
        for error in [
            "FileNotFoundError: [Errno 2] No such file or directory: '/t/hp-x/1/tmp/tmpab12'",
            "OSError: [Errno 16] Device or resource busy: '/t/hp-x/1/tmp/tmpab1'",
            "OSError: [Errno 16] Device or resource busy: '/t/hp-x/1'",
            "OSError: [Errno 16] Device or resource busy: '/'",
            "OSError: [Errno 16] Device or resource busy",
            "OSError: [Errno 16] Device or resource busy: 'tmp'",
            "AssertionError: EBUSY",
            "PermissionError: [WinError 32] used: 'C:\\\\Users\\\\ANNBO~1\\\\tmpother'",
        ] {
            assert!(!trips(path, error), "{error}");
        }
    }
}
