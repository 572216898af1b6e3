//! A project as a commit has it: its files, and what its manifests say there.
//!
//! Nothing of it is read from the disk, so that what a receipt is worth can be told of any commit, and for any system.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::manifest::{self, Loaded};
use crate::model::{HookRef, Platform, Wiring, WiringSource};
use crate::plan::{Plan, Wanted};
use crate::source::{self, TreeFile, Work};
use crate::wirings::{self, Files, Linked, Place, Tree, Wirings};

/// A project in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    project: PathBuf,
    pub commit: String,
    /// That of the whole repository.
    pub tree: String,
    files: BTreeMap<Vec<u8>, TreeFile>,
    /// What is wired in it, once somebody asked.
    wirings: OnceLock<Result<Wirings, String>>,
}

impl Revision {
    /// Opens what git knows by that name: a commit, a branch, a tag.
    ///
    /// # Errors
    ///
    /// If it knows none, or can't tell: a sentence.
    pub fn open(project: &Path, revision: &str) -> Result<Self, String> {
        let commit = source::commit(project, revision)?;
        let (tree, files) = (source::tree_of(project, &commit)?, source::tree(project, &commit)?);
        Ok(Self::new(project, commit, tree, files))
    }

    /// The commit that is checked out.
    #[must_use]
    pub fn of(project: &Path, work: &Work) -> Self {
        Self::new(project, work.commit.clone(), work.tree.clone(), work.files.clone())
    }

    fn new(project: &Path, commit: String, tree: String, files: Vec<TreeFile>) -> Self {
        let files = files.into_iter().map(|file| (file.name.clone(), file)).collect();
        Self { project: project.to_owned(), commit, tree, files, wirings: OnceLock::new() }
    }

    /// All files, in the order of their names.
    pub fn files(&self) -> impl Iterator<Item = &TreeFile> {
        self.files.values()
    }

    /// The file of that name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&TreeFile> {
        self.files.get(name.as_bytes())
    }

    /// What lies in a folder.
    pub fn below(&self, folder: &str) -> impl Iterator<Item = &TreeFile> {
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let from = self.files.range(folder.clone().into_bytes()..);
        from.map(|(_, file)| file).take_while(move |file| file.name.starts_with(folder.as_bytes()))
    }

    /// Where a name leads, symbolic links followed.
    ///
    /// # Errors
    ///
    /// If that is out of the project, or nowhere: a sentence.
    pub fn place(&self, name: &str) -> Result<Place, String> {
        Linked::place(self, name).map_err(|nowhere| nowhere.message)
    }

    /// The submodule that a name is, or is in.
    #[must_use]
    pub fn submodule_of(&self, name: &str) -> Option<&TreeFile> {
        Linked::submodule_of(self, name)
    }

    /// The file that wires a hook, and the files of the project that its commands run.
    ///
    /// # Errors
    ///
    /// If nothing is wired so, it can't be read, or git can't tell: a sentence.
    pub fn wired(&self, hook: &HookRef) -> Result<Vec<String>, String> {
        let file = hook.file.trim_start_matches("./");
        let read = |sources: &[WiringSource]| Ok(wirings::read(&Tree::open(&self.project, &self.commit)?, sources));
        let known = self.wirings.get_or_init(|| read(&[])).as_ref().map_err(Clone::clone)?;
        let named;
        let known = if known.files.iter().any(|known| known == file) {
            known
        } else {
            // Wherever it lies: what form it has is known by its name.
            named = read(&[WiringSource { file: file.to_owned(), commands: None }])?;
            &named
        };
        let own: Vec<&Wiring> = known.wirings.iter().filter(|wiring| hook.is_for(wiring)).collect();
        if own.is_empty() {
            let unread = known.unread.iter().find(|unread| unread.file == file);
            let why = unread.map(|unread| format!(": {}", unread.message)).unwrap_or_default();
            return Err(format!("nothing is wired for {} in the commit{why}", hook.words()));
        }
        let scripts = own.into_iter().flat_map(Wiring::scripts).filter(|script| script.exists);
        Ok([hook.file.clone()].into_iter().chain(scripts.map(|script| script.path.clone())).collect())
    }

    /// All checks that its manifests have for a system. `folder` is that of the manifests, by its name in the project.
    ///
    /// # Errors
    ///
    /// If there are no manifests in the commit, or they are wrong.
    pub fn plan(&self, folder: &str, platform: Platform) -> Result<Plan> {
        let loaded = self.load(folder, self.manifests(folder)?, platform)?;
        let loaded =
            loaded.ok_or_else(|| Error::Usage(format!("commit {} has no manifests in {folder}", self.commit)))?;
        Plan::of_manifests(loaded, &Wanted::default(), platform)
    }

    /// Its manifests, by their names in the project.
    ///
    /// # Errors
    ///
    /// If git can't give one, or one is too large.
    pub fn manifests(&self, folder: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let tree = Tree::open(&self.project, &self.commit).map_err(Error::Usage)?;
        let mut manifests = Vec::new();
        for name in tree.names() {
            let Some(("", file)) = name.strip_prefix(folder).and_then(|rest| rest.split_once('/')) else { continue };
            if file.contains('/') || !manifest::is_manifest_name(OsStr::new(file)) {
                continue;
            }
            let refused = |refused: crate::wirings::Refused| Error::Usage(format!("{name}: {}", refused.message));
            manifests.push((name.clone(), tree.bytes(name).map_err(refused)?));
        }
        Ok(manifests)
    }

    /// What manifests say for a system; `None` if there are none.
    ///
    /// # Errors
    ///
    /// If they are wrong.
    pub fn load(&self, folder: &str, manifests: Vec<(String, Vec<u8>)>, platform: Platform) -> Result<Option<Loaded>> {
        if manifests.is_empty() {
            return Ok(None);
        }
        manifest::load_bytes(manifests, platform, &self.project, &self.project.join(folder)).map(Some)
    }
}

impl Linked for Revision {
    fn file(&self, name: &str) -> Option<&TreeFile> {
        Self::file(self, name)
    }

    fn is_folder(&self, name: &str) -> bool {
        self.below(name).next().is_some()
    }

    fn target(&self, link: &TreeFile) -> Result<String, String> {
        let name = || String::from_utf8_lossy(&link.name);
        String::from_utf8(source::content(&self.project, &link.object)?)
            .map_err(|_| format!("{} leads to a name that is not UTF-8", name()))
    }
}
