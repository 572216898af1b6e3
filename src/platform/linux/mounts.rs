//! What is mounted where, in a process's own view, and which names that gives to the folders of interest.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A line of mountinfo.
struct Mount {
    /// The file system's device, as it is written there.
    device: Vec<u8>,
    /// What of the file system is mounted, as a path in it.
    root: PathBuf,
    point: PathBuf,
}

/// The mounts of a process's namespace, those below others behind them.
fn of(process: &str) -> Vec<Mount> {
    let text = fs::read(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    text.split(|&byte| byte == b'\n').filter_map(mount).collect()
}

fn mount(line: &[u8]) -> Option<Mount> {
    // What a folder that was removed since is called there.
    const REMOVED: &[u8] = b"//deleted";
    let mut fields = line.split(|&byte| byte == b' ').skip(2);
    let (device, root, point) = (fields.next()?, fields.next()?, fields.next()?);
    let root = root.strip_suffix(REMOVED).unwrap_or(root);
    Some(Mount { device: device.to_vec(), root: unescaped(root).into(), point: unescaped(point).into() })
}

/// The mount points of a process's namespace that lie in one of the folders.
pub fn in_roots(pid: u32, roots: &[PathBuf]) -> Vec<PathBuf> {
    points(&of(&pid.to_string()), roots)
}

fn points(mounts: &[Mount], roots: &[PathBuf]) -> Vec<PathBuf> {
    let points = mounts.iter().map(|mount| &mount.point);
    points.filter(|point| roots.iter().any(|root| point.starts_with(root))).cloned().collect()
}

/// Another name of a folder, or of one in it: what is bound elsewhere goes by the name of where it is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    pub seen: PathBuf,
    pub real: PathBuf,
}

/// How the folders look in one mount namespace.
#[derive(Debug, Default)]
pub struct View {
    pub aliases: Vec<Alias>,
    /// What is mounted in the folders. Empty for this process's own namespace, where it shows when a folder is removed.
    pub mounted: Vec<PathBuf>,
}

/// How some folders look in each mount namespace. Every namespace is read once.
#[derive(Default)]
pub struct Views {
    own: OnceCell<Own>,
    known: RefCell<HashMap<OsString, Rc<View>>>,
}

struct Own {
    namespace: OsString,
    /// Device, path in the file system, and path here of every folder.
    folders: Vec<(Vec<u8>, PathBuf, PathBuf)>,
}

impl Views {
    /// The view of a process, or of a thread. One whose namespace can't be told is taken to be in this process's own.
    pub fn of(&self, pid: u32, roots: &[PathBuf]) -> Rc<View> {
        let own = self.own.get_or_init(|| Own::new(roots));
        let namespace = namespace(&pid.to_string()).unwrap_or_else(|| own.namespace.clone());
        self.in_namespace(&namespace, pid, roots)
    }

    /// The view of a process whose namespace is known already.
    pub fn in_namespace(&self, namespace: &OsStr, pid: u32, roots: &[PathBuf]) -> Rc<View> {
        if let Some(known) = self.known.borrow().get(namespace) {
            return Rc::clone(known);
        }
        let own = self.own.get_or_init(|| Own::new(roots));
        let view = if namespace == own.namespace {
            View { aliases: own.aliases(&of("self"), Path::new("/")), mounted: Vec::new() }
        } else {
            let mounts = of(&pid.to_string());
            // They are told as the process sees them; a link of its own that is read here is not.
            let top = fs::read_link(format!("/proc/{pid}/root")).unwrap_or_else(|_| "/".into());
            View { aliases: own.aliases(&mounts, &top), mounted: points(&mounts, roots) }
        };
        let view = Rc::new(view);
        self.known.borrow_mut().insert(namespace.to_owned(), Rc::clone(&view));
        view
    }
}

impl Own {
    fn new(roots: &[PathBuf]) -> Self {
        let mounts = of("self");
        let folders = roots.iter().filter_map(|root| {
            // The longest name wins, and of several mounts in one place the last.
            let within = mounts.iter().filter(|mount| root.starts_with(&mount.point));
            let mount = within.max_by_key(|mount| mount.point.as_os_str().len())?;
            let below = root.strip_prefix(&mount.point).ok()?;
            Some((mount.device.clone(), joined(&mount.root, below), root.clone()))
        });
        Self { namespace: namespace("self").unwrap_or_default(), folders: folders.collect() }
    }

    fn aliases(&self, mounts: &[Mount], top: &Path) -> Vec<Alias> {
        let mut aliases = Vec::new();
        for mount in mounts {
            for (_, folder, real) in self.folders.iter().filter(|(device, ..)| *device == mount.device) {
                let point = || joined(top, mount.point.strip_prefix("/").unwrap_or(&mount.point));
                let alias = if let Ok(below) = folder.strip_prefix(&mount.root) {
                    Alias { seen: joined(&point(), below), real: real.clone() }
                } else if let Ok(below) = mount.root.strip_prefix(folder) {
                    Alias { seen: point(), real: joined(real, below) }
                } else {
                    continue;
                };
                if alias.seen != alias.real && !aliases.contains(&alias) {
                    aliases.push(alias);
                }
            }
        }
        aliases
    }
}

/// Without the separator at the end that `join` leaves where there is nothing to join.
fn joined(path: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}

fn namespace(process: &str) -> Option<OsString> {
    fs::read_link(format!("/proc/{process}/ns/mnt")).ok().map(PathBuf::into_os_string)
}

/// A path of mountinfo: blank, tab, line feed and backslash are written as three octal digits.
fn unescaped(text: &[u8]) -> OsString {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = (byte == b'\\').then(|| after.get(..3)).flatten();
        let value = octal.and_then(|digits| u8::from_str_radix(OsStr::from_bytes(digits).to_str()?, 8).ok());
        if let Some(value) = value {
            path.push(value);
            rest = &after[3..];
        } else {
            path.push(byte);
            rest = after;
        }
    }
    OsString::from_vec(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_paths_are_read_back() {
        assert_eq!(unescaped(br"/a\040b\134c"), "/a b\\c");
        assert_eq!(unescaped(br"/plain\0"), "/plain\\0");
    }

    fn aliases(lines: &str, top: &str) -> Vec<(String, String)> {
        let folders = vec![(b"8:1".to_vec(), "/tmp/hp/1".into(), "/tmp/hp/1".into())];
        let own = Own { namespace: OsString::new(), folders };
        let mounts: Vec<Mount> = lines.lines().filter_map(|line| mount(line.as_bytes())).collect();
        let text = |path: &Path| path.display().to_string();
        own.aliases(&mounts, Path::new(top)).iter().map(|alias| (text(&alias.seen), text(&alias.real))).collect()
    }

    #[test]
    fn a_folder_is_known_by_where_it_or_one_above_or_below_it_is_bound() {
        let pair = |seen: &str, real: &str| vec![(seen.to_owned(), real.to_owned())];
        assert_eq!(aliases("1 0 8:1 / / rw - ext4 x rw", "/"), []);
        assert_eq!(aliases("2 1 8:1 /tmp/hp/1/work /mnt rw - ext4", "/"), pair("/mnt", "/tmp/hp/1/work"));
        assert_eq!(aliases("2 1 8:1 /tmp/hp/1/work//deleted /mnt rw", "/"), pair("/mnt", "/tmp/hp/1/work"));
        assert_eq!(aliases("2 1 8:1 /tmp /mnt rw - ext4 x rw", "/"), pair("/mnt/hp/1", "/tmp/hp/1"));
        assert_eq!(aliases("2 1 8:1 /tmp/hp/1 /mnt rw - ext4", "/jail"), pair("/jail/mnt", "/tmp/hp/1"));
        assert_eq!(aliases("2 1 8:2 /tmp/hp/1 /mnt rw - ext4", "/"), []);
        assert_eq!(aliases("2 1 8:1 /tmp/hp/10 /mnt rw - ext4", "/"), []);
    }
}
