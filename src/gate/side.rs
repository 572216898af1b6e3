//! One commit of a comparison, with what it says: its files, its manifests for each system, and its policy.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::error::{Error, Result};
use crate::model::{Platform, Policy, WiringSource};
use crate::plan::{Plan, Planned, Wanted};
use crate::receipt::inputs::Inputs;
use crate::receipt::revision::Revision;
use crate::source::{self, TreeFile, TreeKind};
use crate::wirings::{Tree, parts};

/// The systems that a receipt can be from.
pub const SYSTEMS: [Platform; 3] = [Platform::Linux, Platform::Windows, Platform::Macos];

/// No file of allowed signers is larger.
const MAX_SIGNERS: u64 = 4 << 20;

/// A project in a commit.
#[derive(Debug)]
pub struct Side {
    pub revision: Revision,
    /// Its files, for the readers of wirings.
    pub files: Tree,
    pub policy: Option<Policy>,
    /// Files that wire commands, as its manifests name them.
    pub sources: Vec<WiringSource>,
    /// By system; empty where it has no manifests.
    plans: BTreeMap<Platform, Plan>,
    /// Where in them each check is, by its id.
    places: BTreeMap<Platform, HashMap<String, usize>>,
}

impl Side {
    /// Opens a commit, given by its whole name. `folder` is that of the manifests, by its name in the project; `name` is what
    /// errors call the commit.
    ///
    /// # Errors
    ///
    /// If git can't tell of it, or its manifests are wrong.
    pub fn open(project: &Path, folder: &str, commit: &str, name: &str) -> Result<Self> {
        let revision = Revision::open(project, commit).map_err(Error::Usage)?;
        let files = Tree::open(project, commit).map_err(Error::Usage)?;
        let (mut plans, mut places, mut policy, mut sources) = (BTreeMap::new(), BTreeMap::new(), None, Vec::new());
        let manifests = revision.manifests(folder)?;
        for system in SYSTEMS {
            let loaded = revision.load(folder, manifests.clone(), system).map_err(|error| match error {
                Error::Manifest(text) => Error::Manifest(format!("the manifests of {name} are wrong\n{text}")),
                other => other,
            })?;
            let Some(loaded) = loaded else { break };
            policy.clone_from(&loaded.policy);
            sources.clone_from(&loaded.wirings);
            let plan = Plan::of_manifests(loaded, &Wanted::default(), system)?;
            let ids = plan.checks.iter().enumerate().map(|(at, planned)| (planned.id().to_owned(), at));
            places.insert(system, ids.collect());
            plans.insert(system, plan);
        }
        Ok(Self { revision, files, policy, sources, plans, places })
    }

    /// The checks that run on a system.
    pub fn checks(&self, system: Platform) -> impl Iterator<Item = &Planned> {
        let all = self.plans.get(&system).map_or(&[][..], |plan| &plan.checks);
        all.iter().filter(move |planned| planned.check().may_run_on(system))
    }

    /// One of them.
    #[must_use]
    pub fn check(&self, system: Platform, id: &str) -> Option<&Planned> {
        self.planned(system, id).filter(|planned| planned.check().may_run_on(system))
    }

    /// What a check rests on there; `None` if there is no such check.
    #[must_use]
    pub fn inputs(&self, system: Platform, id: &str) -> Option<Result<Inputs, String>> {
        let planned = self.planned(system, id)?;
        Some(Inputs::of(&planned.check(), self.plans.get(&system)?.setup(planned), &self.revision))
    }

    fn planned(&self, system: Platform, id: &str) -> Option<&Planned> {
        self.plans.get(&system)?.checks.get(*self.places.get(&system)?.get(id)?)
    }

    /// The objects that a name stands for, symbolic links followed: what differs where it is another thing. Of a name that
    /// leads nowhere, those on the way to it, if any, and those that systems find which know no case.
    #[must_use]
    pub fn objects(&self, name: &str) -> Vec<(Vec<u8>, String, TreeKind)> {
        let Ok(place) = self.revision.place(name) else {
            let same =
                |file: &&TreeFile| file.path.to_str().is_some_and(|path| path.to_lowercase() == name.to_lowercase());
            let way = parts(name).filter_map(|part| self.revision.file(part));
            return way
                .chain(self.revision.files().filter(same))
                .map(|file| (file.name.clone(), file.object.clone(), file.kind))
                .collect();
        };
        let named = place.links.iter().chain([&place.end]).filter_map(|name| self.revision.file(name));
        let all = named.chain(self.revision.submodule_of(&place.end)).chain(self.revision.below(&place.end));
        all.map(|file| (file.name.clone(), file.object.clone(), file.kind)).collect()
    }

    /// The text of a file of allowed signers.
    ///
    /// # Errors
    ///
    /// If there is none, or it is no plain file: a sentence.
    pub fn signers(&self, project: &Path, name: &str) -> Result<Vec<u8>, String> {
        let plain = name.trim_start_matches("./");
        let file =
            self.revision.file(plain).ok_or_else(|| format!("{name} is not in commit {}", self.revision.commit))?;
        let is_plain = matches!(file.kind, TreeKind::File | TreeKind::Executable);
        if !is_plain || file.size.is_none_or(|size| size > MAX_SIGNERS) {
            return Err(format!("{name} is no plain file of at most {} MiB", MAX_SIGNERS >> 20));
        }
        source::content(project, &file.object)
    }
}
