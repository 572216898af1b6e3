//! Things that are put at a path for a while: made where nothing is, known again by their identity, and taken away by it.
//!
//! What is planted is written to a record as soon as it is there, so that whoever finds the record can take it away: whoever
//! planted it, whoever waited for that, the lane's end, or a later run's sweep.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{identity, put};
use super::{Unremovable, remove_tree};
use crate::model::Plant;

/// What the names of records begin with; they lie in a lane's folder.
pub const RECORD: &str = "planted-";

/// What is to be planted, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed {
    /// Absolute.
    pub path: PathBuf,
    /// A symbolic link has its target.
    pub plant: Plant,
}

/// Something that was planted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Planted {
    path: PathBuf,
    /// What tells it from another thing at the same path.
    identity: (u64, u64),
    /// Folders that were made for it, the outermost first.
    parents: Vec<PathBuf>,
}

/// Plants all of it, or nothing. What is returned keeps the locks.
///
/// # Errors
///
/// A sentence that says what is in the way.
pub fn plant(seeds: &[Seed], record: &Path) -> Result<Vec<File>, String> {
    let mut held = Vec::new();
    for seed in seeds {
        match plant_one(seed, record) {
            Ok(file) => held.extend(file),
            Err(error) => {
                // What resists now is tried again by whoever finds the record.
                let _ = clear(record);
                return Err(in_the_way(seed, &error));
            }
        }
    }
    Ok(held)
}

fn in_the_way(seed: &Seed, error: &io::Error) -> String {
    let path = seed.path.display();
    if error.kind() == ErrorKind::AlreadyExists {
        return format!("{path} is there already, and what others have is never replaced");
    }
    format!("{} can't be planted at {path}: {error}", seed.plant.words())
}

fn plant_one(seed: &Seed, record: &Path) -> io::Result<Option<File>> {
    // Nobody has to find what can't be written down.
    let mut record = OpenOptions::new().create(true).append(true).open(record)?;
    let mut parents = Vec::new();
    let made = make_parents(&seed.path, &mut parents).and_then(|()| put(&seed.path, &seed.plant));
    let planted = made.and_then(|held| Ok((held, identity(&seed.path)?)));
    match planted {
        Ok((held, identity)) => {
            let planted = Planted { path: seed.path.clone(), identity, parents };
            let line = serde_json::to_string(&planted).map_err(io::Error::from);
            let written = line.and_then(|line| record.write_all(format!("{line}\n").as_bytes()));
            if let Err(error) = written {
                take_away(&planted);
                return Err(error);
            }
            Ok(held)
        }
        Err(error) => {
            remove_parents(&parents);
            Err(error)
        }
    }
}

/// Makes the folders on the way that are not there.
fn make_parents(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    Ok(())
}

/// Takes away all that a record tells of, and the record itself. Returns what resists.
pub fn clear(record: &Path) -> Vec<Unremovable> {
    let text = match fs::read_to_string(record) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![Unremovable { path: record.to_owned(), reason: error.to_string() }],
    };
    // A last line that was cut off is of something that was taken away at once.
    let planted = text.lines().filter_map(|line| serde_json::from_str::<Planted>(line).ok());
    let left: Vec<Unremovable> = planted.filter_map(|planted| take_away(&planted)).collect();
    if left.is_empty() {
        let _ = fs::remove_file(record);
    }
    left
}

/// Takes away what every record in a lane's folder tells of.
pub fn clear_all(lane: &Path) {
    for entry in fs::read_dir(lane).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(RECORD) {
            // What resists stays where it is: nobody is left to be told.
            let _ = clear(&entry.path());
        }
    }
}

/// Takes away what was planted, if it is still that. A folder goes with what was put into it since. Returns it if it resists.
fn take_away(planted: &Planted) -> Option<Unremovable> {
    let Planted { path, identity: its, parents } = planted;
    let is_folder = || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let removed = match identity(path) {
        Ok(identity) if identity != *its => Ok(()),
        Ok(_) if is_folder() => {
            let left = remove_tree(path).left;
            left.into_iter().next().map_or(Ok(()), |left| Err(io::Error::other(left.reason)))
        }
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    remove_parents(parents);
    match removed {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Some(Unremovable { path: path.clone(), reason: error.to_string() })
        }
        _ => None,
    }
}

/// Removes folders that were made for something, unless somebody has put something else into them.
fn remove_parents(parents: &[PathBuf]) {
    for folder in parents.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(path: PathBuf, plant: Plant) -> Seed {
        Seed { path, plant }
    }

    #[test]
    fn what_was_planted_is_taken_away_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let record = at("planted-x");
        let seeds = [
            seed(at("a/b/file"), Plant::File("content".to_owned())),
            seed(at("folder"), Plant::Directory),
            seed(at("replaced"), Plant::DeadPid),
        ];
        plant(&seeds, &record).expect("nothing is in the way");
        assert_eq!(fs::read_to_string(at("a/b/file")).expect("a file"), "content");
        assert_eq!(fs::read_to_string(at("replaced")).expect("a file"), "2147483647\n");
        fs::write(at("folder/inside"), "").expect("a file");
        fs::write(at("new"), "mine").expect("a file");
        fs::rename(at("new"), at("replaced")).expect("another file");
        assert_eq!(clear(&record), []);
        assert!(!at("a").exists() && !at("folder").exists() && !record.exists());
        assert_eq!(fs::read_to_string(at("replaced")).expect("somebody else's"), "mine");
    }

    #[test]
    fn what_is_there_stays_and_nothing_is_planted_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("mine"), "content").expect("a file");
        let seeds = [seed(at("deep/first"), Plant::Directory), seed(at("mine"), Plant::File(String::new()))];
        let why = plant(&seeds, &at("planted-x")).expect_err("it is there");
        assert!(why.ends_with("mine is there already, and what others have is never replaced"), "{why}");
        assert_eq!(fs::read_to_string(at("mine")).expect("a file"), "content");
        assert!(!at("deep").exists() && !at("planted-x").exists());
    }
}
