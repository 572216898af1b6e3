//! Where a name leads in a commit, symbolic links followed wherever on the way they are.

use super::paths::{folder, join};
use crate::source::{TreeFile, TreeKind};

/// How many symbolic links lead to a file, at most.
const MOST_LINKS: usize = 16;

/// Where a name leads in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The symbolic links on the way.
    pub links: Vec<String>,
    /// What is there: a file, a submodule, or a folder, which is the project itself if it is empty.
    pub end: String,
}

/// Why a name leads nowhere in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nowhere {
    /// A sentence.
    pub message: String,
    /// Whether there is just nothing of that name. Else a link is to blame, and what is behind it can't be known.
    pub is_missing: bool,
}

/// The files of a commit.
pub trait Linked {
    /// The file of that name.
    fn file(&self, name: &str) -> Option<&TreeFile>;

    /// Whether it is a folder with something in it.
    fn is_folder(&self, name: &str) -> bool;

    /// Where a symbolic link leads, as it says.
    ///
    /// # Errors
    ///
    /// If that can't be read: a sentence.
    fn target(&self, link: &TreeFile) -> Result<String, String>;

    /// The submodule that a name is, or is in.
    fn submodule_of(&self, name: &str) -> Option<&TreeFile> {
        parts(name).filter_map(|part| self.file(part)).find(|file| file.kind == TreeKind::Submodule)
    }

    /// Follows a name to its end.
    ///
    /// # Errors
    ///
    /// If that is out of the project, or nowhere.
    fn place(&self, name: &str) -> Result<Place, Nowhere> {
        let by_link = |message: String| Nowhere { message, is_missing: false };
        let is_there =
            |name: &str| self.file(name).is_some() || self.submodule_of(name).is_some() || self.is_folder(name);
        let (mut links, mut behind) = (Vec::new(), String::new());
        let mut end = join("", name).ok_or_else(|| by_link(format!("{name} leads out of the project")))?;
        while let Some((link, rest)) = first_link(self, &end) {
            if links.len() == MOST_LINKS {
                return Err(by_link(format!("{name} leads through more than {MOST_LINKS} symbolic links")));
            }
            let target = self.target(link).map_err(by_link)?;
            let at = String::from_utf8_lossy(&link.name).into_owned();
            let out = || by_link(format!("{name} leads out of the project, to {target}"));
            behind = join(folder(&at), &target).ok_or_else(out)?;
            end = join(&behind, rest).ok_or_else(out)?;
            links.push(at);
        }
        if is_there(&end) {
            return Ok(Place { links, end });
        }
        let is_missing = links.is_empty() || is_there(&behind);
        Err(Nowhere { message: format!("{name} is in no commit"), is_missing })
    }
}

/// The first symbolic link on the way to a name, with what of it comes behind.
fn first_link<'f, 'n>(files: &'f (impl Linked + ?Sized), name: &'n str) -> Option<(&'f TreeFile, &'n str)> {
    parts(name).find_map(|part| {
        let file = files.file(part).filter(|file| file.kind == TreeKind::Link)?;
        Some((file, name[part.len()..].trim_start_matches('/')))
    })
}

/// The folders that a name lies in, from the outermost on, and the name itself.
pub fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at]).chain([name])
}
