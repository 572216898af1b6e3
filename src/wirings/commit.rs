//! The files of a commit, as the readers of wirings have them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{Entry, Files, Refused};
use super::hook_folders::told;
use super::limits::MAX_BYTES;
use super::links::Linked;
use crate::source::{self, TreeFile, TreeKind, objects};

/// How many names a project may have by way of symbolic links to folders.
const MOST_NAMES: usize = 100_000;

/// How many such links may follow each other on the way to a file that is found by its place.
const DEEPEST: usize = 3;

/// The files of a commit, or of any other tree. What is no part of a commit is not there: settings that git ignores,
/// and git's own hooks.
#[derive(Debug)]
pub struct Tree {
    project: PathBuf,
    /// As git knows it.
    object: String,
    names: Vec<String>,
    files: BTreeMap<String, TreeFile>,
    /// Where links lead, by the objects that say it.
    targets: BTreeMap<String, String>,
}

impl Tree {
    /// The tree that git knows by that name. A name of git's has `/` alone: one with a backslash is a file of its own.
    ///
    /// # Errors
    ///
    /// A sentence, if there is none, or links make too many names of it.
    pub fn open(project: &Path, revision: &str) -> Result<Self, String> {
        let named = |file: TreeFile| Some((String::from_utf8(file.name.clone()).ok()?, file));
        let files: BTreeMap<String, TreeFile> =
            source::tree(project, revision)?.into_iter().filter_map(named).collect();
        let links: Vec<String> =
            files.values().filter(|file| file.kind == TreeKind::Link).map(|file| file.object.clone()).collect();
        let mut targets = BTreeMap::new();
        objects::blobs(project, &links, MAX_BYTES, |index, content| {
            let target = content.and_then(|content| String::from_utf8(content).ok());
            targets.extend(target.map(|target| (links[index].clone(), target)));
        })?;
        let (object, project) = (source::tree_of(project, revision)?, project.to_owned());
        let mut tree = Self { project, object, names: Vec::new(), files, targets };
        tree.names = tree.all_names()?;
        Ok(tree)
    }

    /// The names of all files, those by way of a link to their folder included.
    fn all_names(&self) -> Result<Vec<String>, String> {
        let mut names: Vec<String> = self.files.keys().cloned().collect();
        let is_link = |name: &String| self.files.get(name).is_some_and(|file| file.kind == TreeKind::Link);
        let mut links: Vec<(String, String)> =
            names.iter().filter(|&name| is_link(name)).map(|name| (name.clone(), name.clone())).collect();
        for _ in 0..DEEPEST {
            let mut further = Vec::new();
            for (name, link) in links {
                let Ok(place) = Linked::place(self, &link) else { continue };
                for file in self.below(&place.end) {
                    let rest = file[place.end.len()..].trim_start_matches('/');
                    let alias = format!("{name}/{rest}");
                    if is_link(file) {
                        further.push((alias.clone(), file.clone()));
                    }
                    names.push(alias);
                }
                if names.len() > self.files.len() + MOST_NAMES {
                    return Err(format!("symbolic links to folders make more than {MOST_NAMES} names of its files"));
                }
            }
            links = further;
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The names of what lies in a folder.
    fn below(&self, folder: &str) -> impl Iterator<Item = &String> {
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let from = self.files.range(folder.clone()..).map(|(name, _)| name);
        from.take_while(move |name| name.starts_with(&folder))
    }
}

impl Linked for Tree {
    fn file(&self, name: &str) -> Option<&TreeFile> {
        self.files.get(name)
    }

    fn is_folder(&self, name: &str) -> bool {
        self.below(name).next().is_some()
    }

    fn target(&self, link: &TreeFile) -> Result<String, String> {
        let target = self.targets.get(&link.object).cloned();
        target.ok_or_else(|| format!("where {} leads can't be read", String::from_utf8_lossy(&link.name)))
    }
}

impl Files for Tree {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn entry(&self, name: &str) -> Entry {
        let place = match Linked::place(self, name) {
            Ok(place) => place,
            Err(nowhere) if nowhere.is_missing => return Entry::Missing,
            Err(_) => return Entry::Other,
        };
        match self.files.get(&place.end).map(|file| file.kind) {
            Some(TreeKind::File) => Entry::File { executable: Some(false) },
            Some(TreeKind::Executable) => Entry::File { executable: Some(true) },
            Some(TreeKind::Link) => Entry::Other,
            // What a submodule has is in no commit of this repository.
            None if self.submodule_of(&place.end).is_some() => Entry::Other,
            Some(TreeKind::Submodule) | None => Entry::Folder,
        }
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, Refused> {
        let here = "put the file itself there: what is checked must come with the project";
        let place = Linked::place(self, name).map_err(|nowhere| {
            let away = "it is a symbolic link out of the commit, or to nothing in it";
            Refused::new(if nowhere.is_missing { "it is not in the commit" } else { away }, here)
        })?;
        let Some(file) = self.files.get(&place.end) else {
            return Err(match self.submodule_of(&place.end) {
                Some(_) => Refused::new("it lies in a submodule, whose files are in no commit of this one", here),
                None => Refused::new("it is a folder, not a file", "rename or remove it"),
            });
        };
        match file.size {
            None => Err(Refused::new("it is a folder, not a file", "rename or remove it")),
            Some(size) if size > MAX_BYTES => Err(Refused::too_large()),
            Some(_) => source::content(&self.project, &file.object)
                .map_err(|said| Refused::new(format!("git does not give it: {said}"), "fetch the whole commit")),
        }
    }

    fn root(&self) -> Option<&Path> {
        None
    }

    fn is_repository(&self) -> bool {
        true
    }

    fn hook_folders(&self) -> Vec<String> {
        told(&self.project, Some(&self.object))
    }
}
