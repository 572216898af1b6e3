//! Which folder is the project, and which files are its manifests.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform;

/// The folder of the manifests, in the project.
pub const FOLDER: &str = "checks.d";

/// The project and its manifests.
#[derive(Debug)]
pub struct Found {
    pub project: PathBuf,
    pub directory: PathBuf,
    /// In the order of their names; at least one.
    pub files: Vec<Candidate>,
}

/// Something in the folder that is named like a manifest, whatever it is.
#[derive(Debug)]
pub struct Candidate {
    /// Relative to the project, with `/`.
    pub name: String,
    pub path: PathBuf,
}

/// Looks for the project from `start` upwards, or takes the parent of `directory`.
pub fn find(start: &Path, directory: Option<&Path>) -> Result<Found> {
    let directory = match directory {
        Some(named) => named_directory(&start.join(named), named)?,
        None => nearest(&absolute(start)?)?,
    };
    let project = directory.parent().ok_or_else(|| {
        Error::Usage(format!(
            "{} is the root of the file system; manifests lie in a folder of a project",
            directory.display()
        ))
    })?;
    let files = candidates(&directory)?;
    Ok(Found { project: project.to_owned(), directory, files })
}

fn named_directory(path: &Path, named: &Path) -> Result<PathBuf> {
    let metadata =
        path.metadata().map_err(|source| Error::file("cannot read the folder of the manifests", named, source))?;
    if !metadata.is_dir() {
        return Err(Error::Usage(format!(
            "{} is not a folder\nhelp: name the folder that holds the manifests, not one of its files",
            named.display()
        )));
    }
    absolute(path)
}

/// Without `.` and `..`, so that parents can be taken; links are kept where that is possible, since people know those
/// names.
fn absolute(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|source| Error::file("cannot find", path, source))?;
    if absolute.components().any(|component| component == Component::ParentDir) {
        return platform::real_path(path).map_err(|source| Error::file("cannot find", path, source));
    }
    // Collecting the components drops a trailing separator.
    Ok(absolute.components().collect())
}

fn nearest(start: &Path) -> Result<PathBuf> {
    for folder in start.ancestors() {
        let directory = folder.join(FOLDER);
        match directory.metadata() {
            Ok(metadata) if metadata.is_dir() => return Ok(directory),
            Ok(_) => {
                return Err(Error::Usage(format!(
                    "{} is not a folder\nhelp: manifests are the *.yaml files of a folder of that name",
                    directory.display()
                )));
            }
            // Also a link that leads nowhere: whoever made it meant it to be found.
            Err(source) if source.kind() == std::io::ErrorKind::NotFound && directory.symlink_metadata().is_err() => {}
            Err(source) => return Err(Error::file("cannot read", &directory, source)),
        }
    }
    Err(Error::Usage(format!(
        "no folder {FOLDER} in {} or above it\nhelp: make one beside what it checks, with a manifest in it, or name another with --manifests DIR",
        start.display()
    )))
}

fn candidates(directory: &Path) -> Result<Vec<Candidate>> {
    let unreadable = |source| Error::file("cannot read", directory, source);
    let mut names = Vec::new();
    for entry in directory.read_dir().map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        if is_manifest_name(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(Error::Usage(format!(
            "no manifests in {}\nhelp: manifests are its files *.yaml and *.yml, not those of folders in it",
            directory.display()
        )));
    }
    names.sort();
    let folder = directory.file_name().unwrap_or_default().to_string_lossy();
    let candidate =
        |name: &OsStr| Candidate { name: format!("{folder}/{}", name.to_string_lossy()), path: directory.join(name) };
    Ok(names.iter().map(|name| candidate(name)).collect())
}

/// Whether a file of that name, in the folder, is a manifest.
#[must_use]
pub fn is_manifest_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.starts_with(b".") && (name.ends_with(b".yaml") || name.ends_with(b".yml"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir_all(project.path().join("checks.d/nested")).unwrap();
        fs::create_dir_all(project.path().join("a/b")).unwrap();
        project
    }

    #[test]
    fn walks_upwards_and_sorts() {
        let project = project();
        for name in ["b.yml", "a.yaml", ".hidden.yaml", "nested/c.yaml", "readme.md", "z.yaml~"] {
            fs::write(project.path().join("checks.d").join(name), "").unwrap();
        }
        let found = find(&project.path().join("a/b"), None).unwrap();
        assert_eq!(found.project, project.path());
        let names: Vec<_> = found.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["checks.d/a.yaml", "checks.d/b.yml"]);
    }

    #[test]
    fn takes_the_parent_of_the_named_folder() {
        let project = project();
        fs::write(project.path().join("a/b/x.yaml"), "").unwrap();
        let start = project.path().join("a/b");
        for (start, named) in [(project.path(), "a/b"), (project.path(), "a/b/"), (&start, "."), (&start, "../../a/b")]
        {
            let found = find(start, Some(Path::new(named))).unwrap();
            assert_eq!(
                found.project.canonicalize().unwrap(),
                project.path().join("a").canonicalize().unwrap(),
                "{named}"
            );
            assert_eq!(found.files[0].name, "b/x.yaml");
        }
    }

    #[test]
    fn says_what_is_missing() {
        let empty = tempfile::tempdir().unwrap();
        let message = |result: Result<Found>| result.unwrap_err().to_string();
        assert!(message(find(empty.path(), None)).starts_with("no folder checks.d in "));
        assert!(message(find(empty.path(), Some(Path::new("gone")))).contains("gone: "));
        assert!(message(find(project().path(), None)).starts_with("no manifests in "));
        fs::write(empty.path().join("checks.d"), "").unwrap();
        assert!(message(find(empty.path(), None)).contains("is not a folder"));
        assert!(message(find(empty.path(), Some(Path::new("checks.d")))).contains("is not a folder"));
    }
}
