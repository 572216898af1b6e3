//! What is in a folder, by name.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::Listed;

/// Lists a folder and all that is in it, at most so many entries, without following symbolic links or going into what is
/// mounted there. Paths are relative to the folder; those of a folder come with it.
#[must_use]
pub fn list_tree(top: &Path, most: usize) -> Listed {
    let mut listed = Listed::default();
    let Ok(device) = fs::symlink_metadata(top).map(|top| top.dev()) else { return listed };
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let place = top.join(&folder);
        let is_ours = fs::symlink_metadata(&place).is_ok_and(|file| file.is_dir() && file.dev() == device);
        if !is_ours {
            continue;
        }
        let entries = match fs::read_dir(&place) {
            Ok(entries) => entries,
            Err(error) => {
                listed.blind.get_or_insert_with(|| format!("{}: {error}", folder.display()));
                continue;
            }
        };
        for entry in entries.flatten() {
            if listed.entries.len() >= most {
                listed.blind = Some(format!("there are more than {most}"));
                return listed;
            }
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                open.push(path.clone());
            }
            listed.entries.push((path, is_folder));
        }
    }
    listed
}
