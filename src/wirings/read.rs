//! The whole way, from files to wirings.

use super::faults::{faults, mark_duplicates};
use super::files::Files;
use super::find::find;
use super::finish::finish;
use super::script::Looks;
use crate::model::{Unread, Wiring, WiringSource};
use crate::{platform, source};

/// What is wired in a project.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Wirings {
    /// In the order of their files, and of each file.
    pub wirings: Vec<Wiring>,
    /// Every file that was read, those that wire nothing included.
    pub files: Vec<String>,
    pub unread: Vec<Unread>,
    pub notes: Vec<String>,
}

/// Reads what is wired: by files of known forms, and by those that manifests name.
#[must_use]
pub fn read(files: &dyn Files, sources: &[WiringSource]) -> Wirings {
    let reading = find(files, sources);
    let is_top = files
        .root()
        .is_none_or(|root| source::top(root).is_none_or(|top| platform::real_path(&top).is_ok_and(|top| top == root)));
    let mut looks = Looks::new(files);
    let mut wirings = Vec::new();
    for draft in &reading.drafts {
        let (mut wiring, unquoted) = finish(draft, files, is_top);
        wiring.faults = faults(draft, &wiring, &unquoted, files, &mut looks);
        wirings.push(wiring);
    }
    mark_duplicates(&reading.drafts, &mut wirings);
    let mut unread = reading.unread;
    for (file, twice) in reading.twice {
        let message = format!(
            "the key `{}` is there twice: what is in line {} counts, what is in line {} does not",
            twice.key, twice.taken, twice.lost
        );
        let remedy = "remove one of them".to_owned();
        unread.push(Unread { file, line: Some(twice.lost), message, remedy });
    }
    Wirings { wirings, files: reading.files, unread, notes: reading.notes }
}
