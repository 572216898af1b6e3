//! What a check says that it writes, and what is planted for it: that is no residue.

use std::path::{Path, PathBuf};

use crate::model::{Check, ReaderChoice};
use crate::platform::FileGlob;
use crate::probes::{Change, Places};
use crate::run::eventually::folder_of;
use crate::run::substitute::located;

/// What a check may change.
#[derive(Default)]
pub struct Exempt {
    /// Each below a folder.
    globs: Vec<(PathBuf, FileGlob)>,
    /// Absolute; what stands for something in a glob stands for itself here.
    planted: Vec<PathBuf>,
}

impl Exempt {
    /// What that check publishes, the files that its reader reads, what it has watched by name, which is told by itself, and what
    /// is planted, which is taken away by who planted it.
    #[must_use]
    pub fn of(check: &Check, places: &Places) -> Self {
        let mut exempt = Self::default();
        exempt.take(check, places);
        exempt
    }

    /// The same of one check more.
    pub fn take(&mut self, check: &Check, places: &Places) {
        let report = match &check.reader {
            ReaderChoice::Junit(path) => Some(path.clone()),
            _ => None,
        };
        let written = check.publishes.iter().cloned().chain(report).map(|glob| folder_of(&glob, places));
        let watched = check.watch.iter().map(|glob| super::watched::folder_of(glob, places));
        self.planted.extend(check.plant.iter().map(|planting| located(&planting.path, places)));
        let ready = |(folder, glob): (PathBuf, String)| Some((folder, FileGlob::new(&glob).ok()?));
        self.globs.extend(written.chain(watched).filter_map(ready));
    }

    /// Takes out what is exempt, and folders that were made or removed for nothing else.
    pub fn leave_out(&self, changes: &mut Vec<Change>) {
        if self.globs.is_empty() && self.planted.is_empty() {
            return;
        }
        let mut left_out = Vec::new();
        changes.retain(|change| {
            let stays = !self.has(&change.path);
            if !stays {
                left_out.push(change.path.clone());
            }
            stays
        });
        let leads_there = |folder: &Path| left_out.iter().any(|path| path.starts_with(folder));
        changes.retain(|change| !(change.folder && leads_there(&change.path)));
    }

    fn has(&self, path: &Path) -> bool {
        let is_planted = self.planted.iter().any(|planted| path.starts_with(planted));
        is_planted
            || self.globs.iter().any(|(folder, glob)| {
                let Ok(below) = path.strip_prefix(folder) else { return false };
                let mut progress = glob.start();
                // What is in a folder that matches goes with it.
                below.components().any(|part| {
                    progress = glob.enter(&progress, &part.as_os_str().to_string_lossy());
                    glob.is_match(&progress)
                })
            })
    }
}
