//! A check's own folder.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::surroundings::name_ending;
use super::together::OneTmpdir;
use crate::model::Fact;
use crate::platform::{self, Place};

/// `work/` (where files are put, and the cwd if the check asks for it), `tmp/` and `home/`, side by side: `HOME` is not
/// below `TMPDIR`.
#[derive(Clone)]
pub struct Sandbox {
    root: PathBuf,
    /// Where the folder is found again if the check has moved it.
    place: Option<Place>,
    /// By what path the check sees it, if that is not its own: a symbolic link in it that leads to itself.
    link: Option<PathBuf>,
    /// The `TMPDIR` that it has with others, in place of its own.
    tmpdir: Option<Arc<OneTmpdir>>,
}

impl Sandbox {
    /// Makes one in a lane's folder. Its name can't be foreseen: another check could be in the way.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(lane: &Path) -> io::Result<Self> {
        let root = loop {
            let root = lane.join(name());
            match platform::make_folder(&root) {
                Ok(()) => break root,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let sandbox = Self { place: Place::of(&root), root, link: None, tmpdir: None };
        for folder in sandbox.folders() {
            platform::make_folder(&folder)?;
        }
        Ok(sandbox)
    }

    /// This one, which is still empty, with the path that a fact is about.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn under(mut self, fact: Option<Fact>) -> io::Result<Self> {
        if let Some(ending) = fact.and_then(name_ending) {
            let mut name = self.root.as_os_str().to_owned();
            name.push(ending);
            std::fs::rename(&self.root, &name)?;
            self.root = name.into();
        }
        if fact == Some(Fact::SymlinkedPath) {
            let link = self.root.join("link");
            platform::link_folder(Path::new("."), &link)?;
            self.link = Some(link);
        }
        Ok(self)
    }

    /// This one, with a `TMPDIR` that others have, too.
    #[must_use]
    pub fn sharing(self, tmpdir: Option<Arc<OneTmpdir>>) -> Self {
        Self { tmpdir, ..self }
    }

    /// The `TMPDIR` that it has with others.
    #[must_use]
    pub fn tmpdir(&self) -> Option<&OneTmpdir> {
        self.tmpdir.as_deref()
    }

    /// The same, for whoever is the last to leave it.
    #[must_use]
    pub fn last_of_tmpdir(self) -> Option<OneTmpdir> {
        self.tmpdir.and_then(Arc::into_inner)
    }

    /// A path in the sandbox as the check sees it; any other as it is.
    #[must_use]
    pub fn seen(&self, path: &Path) -> PathBuf {
        match (&self.link, path.strip_prefix(&self.root)) {
            (Some(link), Ok(below)) => link.join(below),
            _ => path.to_owned(),
        }
    }

    fn folders(&self) -> [PathBuf; 3] {
        [self.work(), self.root.join("tmp"), self.home()]
    }

    /// Where the sandbox is now, if that is not where it was made.
    #[must_use]
    pub fn moved_to(&self) -> Option<PathBuf> {
        self.place.as_ref()?.now().filter(|now| *now != self.root)
    }

    /// The folder that has all of it, and the output that is too large for memory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where `files` go.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// `TMPDIR`.
    #[must_use]
    pub fn tmp(&self) -> PathBuf {
        self.tmpdir.as_ref().map_or_else(|| self.root.join("tmp"), |shared| shared.path())
    }

    /// `HOME`.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }
}

/// A name that can't be foreseen.
fn name() -> String {
    format!("{:08x}", RandomState::new().build_hasher().finish() & 0xffff_ffff)
}

/// The sandboxes of a lane that their checks never touched and nobody holds. The next check gets one of them under a new
/// name: on some file systems, making and removing a folder costs as much as starting a process.
#[derive(Default)]
pub struct Spare(Mutex<Vec<Sandbox>>);

impl Spare {
    /// A sandbox in that lane's folder: an untouched one under a new name, or a new one.
    ///
    /// # Errors
    ///
    /// What the system says to making a new one.
    pub fn take(&self, lane: &Path) -> io::Result<Sandbox> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(spare) = spare {
            let root = lane.join(name());
            if std::fs::rename(&spare.root, &root).is_ok() {
                return Ok(Sandbox { root, ..spare });
            }
        }
        Sandbox::create(lane)
    }

    /// Takes back a sandbox that was not touched. `false` if it is not as it was made after all.
    pub fn give_back(&self, sandbox: &Sandbox) -> bool {
        let folders = sandbox.folders();
        if !folders.iter().chain([&sandbox.root]).all(|folder| platform::is_plain_folder(folder)) {
            return false;
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sandbox.clone());
        true
    }
}
