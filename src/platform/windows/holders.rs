//! Who holds what: each process as its own memory tells, and its open files as the kernel's table of handles does.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::machine::{Listed, Machine};
use super::names;
use super::process::Seen;
use super::table::{self, Handle, Leads};
use crate::model::{Hold, How, Process, Stream};

/// What is looked for in processes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sought<'a> {
    /// Folders and files whose holders are of interest; absolute, without links.
    pub roots: &'a [PathBuf],
    /// Named pipes, by what stands behind `\\.\pipe\`.
    pub pipes: &'a [(String, Stream)],
    /// Whether files count that are mapped and not open.
    pub mappings: bool,
}

/// A process that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// With what it holds, and which of the pipes. Its start time is in milliseconds after the machine's; its parents are
    /// as far up as there are any.
    pub process: Process,
    /// The root whose mark it carries in its environment.
    pub marked: Option<PathBuf>,
}

/// What a look at processes showed.
#[derive(Debug, Default)]
pub struct Found {
    pub holders: Vec<Holder>,
    /// Those whose open files nobody may see.
    pub denied: Vec<u32>,
    /// What could not be looked at at all, and why.
    pub blind: Vec<String>,
}

/// These processes, whatever they hold, as far as they have not ended: what a job's list has.
#[must_use]
pub fn of_these(pids: &[u32], sought: Sought<'_>) -> Found {
    let pids: HashSet<u32> = pids.iter().copied().collect();
    find(sought, |listed| pids.contains(&listed.pid), |_| true)
}

/// The processes of the machine that hold something, have a pipe open, or carry a root's mark. Those that are left out by
/// their number are not looked at.
#[must_use]
pub fn of_all(left_out: &HashSet<u32>, sought: Sought<'_>) -> Found {
    find(sought, |listed| !left_out.contains(&listed.pid), Holder::concerns)
}

impl Holder {
    fn concerns(&self) -> bool {
        !self.process.holds.is_empty() || !self.process.pipes.is_empty() || self.marked.is_some()
    }
}

fn find(sought: Sought<'_>, of: impl Fn(&Listed) -> bool, keep: impl Fn(&Holder) -> bool) -> Found {
    let mut found = Found::default();
    let machine = match Machine::now() {
        Ok(machine) => machine,
        Err(error) => {
            found.blind.push(format!("the list of processes: {error}"));
            return found;
        }
    };
    let listed: HashMap<u32, &Listed> =
        machine.all().filter(|listed| of(listed)).map(|listed| (listed.pid, listed)).collect();
    if listed.is_empty() {
        return found;
    }
    let names: Vec<String> = sought.pipes.iter().map(|(name, _)| format!(r"\Device\NamedPipe\{name}")).collect();
    let mut leads: HashMap<u32, Vec<(Handle, Leads)>> = HashMap::new();
    match table::files() {
        Ok(mut handles) => {
            handles.retain(|handle| listed.contains_key(&handle.pid));
            let asked = table::ask(handles, sought.roots, &names);
            for (handle, lead) in asked.leads {
                leads.entry(handle.pid).or_default().push((handle, lead));
            }
            found.denied.extend(asked.denied);
            found.blind.extend(asked.blind);
        }
        Err(error) => found.blind.push(format!("open files: {error}")),
    }
    let roots = names::sought(sought.roots);
    let mut pids: Vec<u32> = listed.keys().copied().collect();
    pids.sort_unstable();
    for pid in pids {
        let Some(seen) = Seen::of(listed[&pid]) else { continue };
        let mut holds = seen.holds(&roots);
        let mut pipes = Vec::new();
        let mut unread = Vec::new();
        for (handle, lead) in leads.remove(&pid).unwrap_or_default() {
            match lead {
                Leads::File { path, directory, deleted } => {
                    let is_cwd = seen.parameters.as_ref().is_ok_and(|parameters| parameters.cwd_handle == handle.value);
                    let how = if is_cwd { How::Cwd } else { How::Descriptor };
                    let path = path.to_string_lossy().into_owned();
                    holds.push(Hold { how, path, directory: directory || is_cwd, deleted });
                }
                Leads::Pipe(pipe) => pipes.extend(sought.pipes.get(pipe).map(|(_, stream)| *stream)),
                Leads::Unknown => {
                    unread.push(format!("open file {:#x}: its name was not to be had in time", handle.value))
                }
            }
        }
        if found.denied.contains(&pid) {
            unread.push("open files: access is denied".to_owned());
        }
        if sought.mappings {
            holds.extend(seen.mapped(&roots));
        }
        told_once(&mut holds);
        pipes.sort();
        pipes.dedup();
        let marked = seen.marked(&roots);
        let mut process = seen.told(&machine);
        process.unread.extend(unread);
        let holder = Holder { process: Process { holds, pipes, ..process }, marked };
        if keep(&holder) {
            found.holders.push(holder);
        }
    }
    found
}

/// A current directory that two sources tell of is one hold.
fn told_once(holds: &mut Vec<Hold>) {
    holds.sort();
    holds.dedup_by(|one, other| one.how == other.how && one.path.eq_ignore_ascii_case(&other.path));
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::windows::io::{FromRawHandle, OwnedHandle};
    use std::path::Path;

    use windows_sys::Win32::Storage::FileSystem::PIPE_ACCESS_INBOUND;
    use windows_sys::Win32::System::Pipes::CreateNamedPipeW;

    use super::super::tests::Child;
    use super::super::wide::wide;
    use super::*;

    fn of(roots: &[PathBuf], pid: u32) -> Holder {
        let sought = Sought { roots, mappings: true, ..Sought::default() };
        let found = of_all(&HashSet::new(), sought);
        assert_eq!(found.blind, Vec::<String>::new());
        found.holders.into_iter().find(|holder| holder.process.pid == pid).expect("a holder")
    }

    fn told(holder: &Holder, root: &Path) -> Vec<(How, String, bool)> {
        let name = |hold: &Hold| Path::new(&hold.path).strip_prefix(root).expect("a place").display().to_string();
        holder.process.holds.iter().map(|hold| (hold.how, name(hold), hold.directory)).collect()
    }

    #[test]
    fn a_hold_of_every_kind_is_found_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("a real path");
        fs::create_dir(root.join("Sub")).expect("a folder");
        fs::write(root.join("file"), "text").expect("a file");
        let roots = [root.clone()];
        let holds = |word: &str, with: &str| {
            let child = Child::that(word, root.join(with), |command| {
                command.current_dir(folder.path().join(if word == "wait" { with } else { "../" }));
            });
            told(&of(&roots, child.pid), &root)
        };
        let hold = |how, name: &str, directory| vec![(how, name.to_owned(), directory)];
        assert_eq!(holds("wait", "Sub"), hold(How::Cwd, "Sub", true));
        assert_eq!(holds("open-folder", "Sub"), hold(How::Descriptor, "Sub", true));
        assert_eq!(holds("open", "file"), hold(How::Descriptor, "file", false));
        assert_eq!(holds("map", "file"), hold(How::Mapping, "file", false));
        let all = of_all(&HashSet::new(), Sought { roots: &roots, mappings: true, ..Sought::default() });
        assert_eq!(all.holders, [], "after they have ended");
    }

    #[test]
    fn a_file_that_is_named_itself_is_held_and_its_neighbour_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (held, free) = (folder.path().join("held"), folder.path().join("held2"));
        fs::write(&held, "").expect("a file");
        fs::write(&free, "").expect("a file");
        let child = Child::that("open", &held, |_| {});
        let holder = of(&[free, held.clone()], child.pid);
        assert_eq!(told(&holder, &held), [(How::Descriptor, String::new(), false)]);
    }

    #[test]
    fn a_process_carries_its_sandboxes_mark() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let child = Child::that("wait", "", |command| {
            command.env("HOSTPROOF_SANDBOX", root.to_string_lossy().to_uppercase());
        });
        let holder = of(std::slice::from_ref(&root), child.pid);
        assert_eq!((holder.marked.as_ref(), &holder.process.holds[..]), (Some(&root), &[][..]));
    }

    #[test]
    fn whoever_has_a_pipe_open_is_found_though_it_waits_for_input_from_another() {
        let name = format!("hostproof-test-{}", std::process::id());
        let path = format!(r"\\.\pipe\{name}");
        // SAFETY: the name ends with a zero, and the handle is new and nobody else's.
        let _ours = unsafe {
            let pipe =
                CreateNamedPipeW(wide(&path).as_ptr(), PIPE_ACCESS_INBOUND, 0, 1, 4096, 4096, 0, std::ptr::null());
            OwnedHandle::from_raw_handle(pipe)
        };
        let pipes = [(name, Stream::Stderr)];
        let sought = Sought { pipes: &pipes, ..Sought::default() };
        let mut child = Child::that("write", &path, |_| {});
        let other = Child::that("wait", "", |_| {});
        let of_both = of_these(&[child.pid, other.pid], sought);
        let pipes_of = |pid| {
            let holder = of_both.holders.iter().find(|holder| holder.process.pid == pid).expect("a process");
            holder.process.pipes.clone()
        };
        assert_eq!((pipes_of(child.pid), pipes_of(other.pid)), (vec![Stream::Stderr], Vec::new()));
        let left_out = HashSet::from([std::process::id()]);
        let pids = |found: &Found| found.holders.iter().map(|holder| holder.process.pid).collect::<Vec<_>>();
        assert_eq!(pids(&of_all(&left_out, sought)), [child.pid]);
        child.end();
        assert_eq!(pids(&of_all(&left_out, sought)), Vec::<u32>::new());
    }

    #[test]
    fn an_asker_that_was_ended_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("a file");
        let held = File::open(&file).expect("the file");
        let roots = [file];
        let holds = || of(&roots, std::process::id()).process.holds.len();
        assert_eq!(holds(), 1);
        let asker = table::asker().expect("an asker");
        super::super::tests::end(asker);
        assert_eq!(holds(), 1);
        drop(held);
    }
}
