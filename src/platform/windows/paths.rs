//! How paths are compared: Windows has many spellings for one file.
//!
//! What is here asks the system for nothing but real paths, and is tested wherever the tests run.

use std::fs;
use std::path::{Path, PathBuf};

/// Prefixes of one and the same path, and what each stands for. `\??\` is the kernel's own.
const PREFIXES: &[(&str, &str)] =
    &[(r"\\?\UNC\", r"\\"), (r"\??\UNC\", r"\\"), (r"\\?\", ""), (r"\??\", ""), (r"\\.\", "")];

/// The longest folder's path that all programs can work with; only with its prefix may one be longer.
const LONGEST: usize = 247;

/// A path as people write it: with backslashes alone, without a prefix for the system and without a separator at its end.
#[must_use]
pub fn plain(path: &str) -> String {
    let path = path.replace('/', r"\");
    let known = PREFIXES.iter().find_map(|(prefix, meant)| {
        Some((path.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix))?, meant))
    });
    let path = match known {
        Some((prefix, meant)) => format!("{meant}{}", &path[prefix.len()..]),
        None => path,
    };
    path.trim_end_matches('\\').to_owned()
}

/// What two names of one file have in common. A folder that was told to mind the case is not known as such: of two names
/// that differ in nothing else, either is taken for the other.
fn folded(path: &str) -> String {
    let upper = |c: char| {
        let mut upper = c.to_uppercase();
        // Each unit has its own upper case on the disk: `ß` stays as it is.
        upper.next().filter(|_| upper.next().is_none()).unwrap_or(c)
    };
    path.chars().map(upper).collect()
}

/// A path with links, junctions, replaced drives and short names resolved, as people write it: most programs can't work
/// in a folder whose name has the prefix that the system gives it.
///
/// # Errors
///
/// What the system says.
pub fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    let shown = real.to_str().filter(|text| text.len() < LONGEST).map(plain);
    Ok(match shown {
        Some(text) if text.ends_with(':') => PathBuf::from(text + r"\"),
        // Some names mean something else without the prefix.
        Some(text) if fs::canonicalize(&text).is_ok_and(|again| again == real) => PathBuf::from(text),
        _ => real,
    })
}

/// Folders whose holders are of interest, by every name that they are known to have.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// The folder as it was given, and what it is compared by.
    known: Vec<(PathBuf, Vec<String>)>,
}

impl Roots {
    /// Of these folders, each also by its real path.
    #[must_use]
    pub fn new(folders: &[PathBuf]) -> Self {
        let keys = |folder: &PathBuf| {
            let given = folded(&plain(&folder.to_string_lossy()));
            let real = fs::canonicalize(folder).ok().map(|real| folded(&plain(&real.to_string_lossy())));
            let mut keys = vec![given];
            keys.extend(real.filter(|real| *real != keys[0]));
            (folder.clone(), keys)
        };
        Self { known: folders.iter().map(keys).collect() }
    }

    /// With one more name of each folder.
    #[must_use]
    pub fn also(mut self, name: impl Fn(&Path) -> Option<String>) -> Self {
        for (folder, keys) in &mut self.known {
            keys.extend(name(folder).map(|name| folded(&plain(&name))));
        }
        self
    }

    /// Whether nothing is sought.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The path if it is one of the folders or lies in one: as the folder was given, and from there on as it is written.
    #[must_use]
    pub fn place(&self, path: &str) -> Option<PathBuf> {
        let plain = plain(path);
        let sought = folded(&plain);
        self.known.iter().find_map(|(folder, keys)| {
            let key = keys.iter().find(|key| is_within(&sought, key))?;
            // Folding keeps the number of characters.
            let rest: String = plain.chars().skip(key.chars().count()).collect();
            let rest = rest.trim_start_matches('\\');
            Some(if rest.is_empty() {
                folder.clone()
            } else if rest.starts_with(':') {
                // A stream of the folder itself.
                PathBuf::from(format!("{}{rest}", folder.display()))
            } else {
                folder.join(rest)
            })
        })
    }

    /// The folder, as it was given, that has this path.
    #[must_use]
    pub fn named(&self, path: &str) -> Option<PathBuf> {
        let sought = folded(&plain(path));
        self.known.iter().find(|(_, keys)| keys.contains(&sought)).map(|(folder, _)| folder.clone())
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(['\\', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(folder: &str) -> Roots {
        Roots::new(&[PathBuf::from(folder)])
    }

    #[test]
    fn every_spelling_of_a_path_is_found_in_its_folder() {
        let roots = roots(r"C:\Users\Émile\AppData\Temp\hp-1");
        for path in [
            r"C:\Users\Émile\AppData\Temp\hp-1",
            r"c:\users\émile\appdata\temp\HP-1\",
            r"C:/Users/Émile/AppData/Temp/hp-1",
            r"\\?\C:\Users\Émile\AppData\Temp\hp-1",
            r"\??\C:\Users\Émile\AppData\Temp\hp-1",
            r"\\.\C:\Users\Émile\AppData\Temp\hp-1",
        ] {
            assert_eq!(roots.place(path), Some(PathBuf::from(r"C:\Users\Émile\AppData\Temp\hp-1")), "{path}");
            assert!(roots.named(path).is_some(), "{path}");
        }
        let below = roots.place(r"\\?\c:\USERS\éMILE\AppData\Temp\hp-1\Work\a.txt").expect("a place");
        assert!(below.to_string_lossy().ends_with(r"Work\a.txt"), "{below:?}");
        let stream = roots.place(r"C:\Users\Émile\AppData\Temp\hp-1:s:$DATA").expect("a place");
        assert!(stream.to_string_lossy().ends_with(r"hp-1:s:$DATA"), "{stream:?}");
    }

    #[test]
    fn a_neighbour_is_in_no_folder() {
        let roots = roots(r"C:\Temp\hp-1");
        for path in [r"C:\Temp\hp-12", r"C:\Temp", r"D:\Temp\hp-1", r"\Device\NamedPipe\C:\Temp\hp-1", "", r"hp-1"] {
            assert_eq!(roots.place(path), None, "{path}");
        }
        assert_eq!(roots.named(r"C:\Temp\hp-1\work"), None);
    }

    #[test]
    fn a_share_is_one_with_and_without_its_prefix() {
        let roots = roots(r"\\server\share\hp-1");
        assert!(roots.place(r"\\?\UNC\Server\Share\hp-1\x").is_some());
        assert!(roots.place(r"\\server\share2\hp-1\x").is_none());
    }

    #[test]
    fn a_folder_has_the_names_that_it_is_given() {
        let device = |_: &Path| Some(r"\Device\HarddiskVolume3\Temp\hp-1".to_owned());
        let roots = roots(r"C:\Temp\hp-1").also(device);
        let place = roots.place(r"\device\harddiskvolume3\temp\HP-1\a").expect("a place");
        assert!(place.starts_with(r"C:\Temp\hp-1") && place.ends_with("a"), "{place:?}");
        assert_eq!(roots.place(r"\Device\HarddiskVolume4\Temp\hp-1"), None);
        assert!(!roots.is_empty() && Roots::default().is_empty());
    }

    #[test]
    fn a_real_path_is_one_that_people_write() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = real_path(folder.path()).expect("a real path");
        assert!(!real.to_string_lossy().starts_with(r"\\?\"), "{real:?}");
        assert_eq!(fs::canonicalize(&real).expect("the same"), fs::canonicalize(folder.path()).expect("the same"));
        assert!(real_path(&folder.path().join("none")).is_err());
    }
}
