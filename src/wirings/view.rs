//! A project's files as somebody else sees them: a project in one of its folders, or a system on which names have no case.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::files::{Entry, Files, Refused};
use super::hosts::{self, CLINE};
use super::listing::is_skipped;
use super::paths::{base, ends_in, folder};
use super::{hook_folders, lefthook, pre_commit};

/// The file of a session receiver.
pub const BOUNDARY: &str = "session-boundary.json";

/// No more projects are read in the folders of one.
pub const MOST_PROJECTS: usize = 500;

/// Files under other names than those that they have.
pub trait View: Files {
    /// The name that a file really has.
    fn real(&self, name: &str) -> String;
}

/// A project in a folder of another.
pub struct Nested<'a> {
    files: &'a dyn Files,
    folder: &'a str,
    names: Vec<String>,
}

impl<'a> Nested<'a> {
    pub fn new(files: &'a dyn Files, folder: &'a str) -> Self {
        let inside = |name: &String| name.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
        Self { files, folder, names: files.names().iter().filter_map(inside).collect() }
    }
}

impl View for Nested<'_> {
    fn real(&self, name: &str) -> String {
        if name.is_empty() { self.folder.to_owned() } else { format!("{}/{name}", self.folder) }
    }
}

/// What the systems see where names have no case, of files that are wirings there alone.
pub struct OtherCase<'a> {
    files: &'a dyn Files,
    names: Vec<String>,
    /// The real names by those that hosts look for.
    wirings: BTreeMap<String, String>,
    /// The real names of all files, by those without case.
    all: BTreeMap<String, &'a str>,
}

impl<'a> OtherCase<'a> {
    /// `None` if there is no such file.
    pub fn new(files: &'a dyn Files) -> Option<Self> {
        let other = |name: &String| respelled(name).map(|spelled| (spelled, name.clone()));
        let wirings: BTreeMap<String, String> = files.names().iter().filter_map(other).collect();
        if wirings.is_empty() {
            return None;
        }
        let all = files.names().iter().map(|name| (name.to_lowercase(), name.as_str())).collect();
        Some(Self { files, names: wirings.keys().cloned().collect(), wirings, all })
    }
}

impl View for OtherCase<'_> {
    fn real(&self, name: &str) -> String {
        let exact = || (self.files.entry(name) != Entry::Missing).then(|| name.to_owned());
        let other = || self.all.get(&name.to_lowercase()).map(|&name| name.to_owned());
        self.wirings.get(name).cloned().or_else(exact).or_else(other).unwrap_or_else(|| name.to_owned())
    }
}

macro_rules! files_by_real_names {
    ($view:ident) => {
        impl Files for $view<'_> {
            fn names(&self) -> &[String] {
                &self.names
            }

            fn entry(&self, name: &str) -> Entry {
                self.files.entry(&self.real(name))
            }

            fn bytes(&self, name: &str) -> Result<Vec<u8>, Refused> {
                self.files.bytes(&self.real(name))
            }

            fn root(&self) -> Option<&Path> {
                None
            }

            fn is_repository(&self) -> bool {
                self.files.is_repository()
            }

            fn hook_folders(&self) -> Vec<String> {
                Vec::new()
            }
        }
    };
}

files_by_real_names!(Nested);
files_by_real_names!(OtherCase);

/// The folders below in which a host finds settings if it is started there.
pub fn projects<'a>(files: &dyn Files, names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    // Git's hooks start at the top of a repository, wherever they lie.
    let with_git = !files.is_repository();
    let names = names.filter(|name| !name.split('/').any(is_skipped));
    names.filter_map(|name| project_of(name, with_git)).filter(|folder| !folder.is_empty()).collect()
}

/// The folder of the project that a settings file is for, by its name; `None` of any other file. With `git` that of git's
/// hooks, too.
pub fn project_of(name: &str, git: bool) -> Option<&str> {
    let up = |levels: usize| (0..levels).fold(name, |name, _| folder(name));
    let at = |place: &str| {
        let rest = name.strip_suffix(place)?;
        (rest.is_empty() || rest.ends_with('/')).then(|| rest.trim_end_matches('/'))
    };
    let fixed = hosts::PLACES.iter().filter(|place| !hosts::lies_anywhere(place)).find_map(|place| at(place.file));
    let one = || match folder(name) {
        within if is_at(within, ".clinerules/hooks") && CLINE.contains(&base(name).trim_end_matches(".ps1")) => {
            Some(up(3))
        }
        within if is_at(within, ".github/hooks") && ends_in(name, "json") => Some(up(3)),
        within if git && hook_folders::is_hook(name) && base(within) == ".husky" => Some(up(2)),
        within if git && hook_folders::is_hook(name) && hook_folders::is_called_so(within) => Some(up(2)),
        _ => None,
    };
    let listed = || pre_commit::PRE_COMMIT.into_iter().chain([BOUNDARY]).find_map(at);
    // Of two that it may be, the one whose place has more of its name.
    let of_lefthook = || lefthook::names().filter_map(|file| at(&file)).min_by_key(|folder| folder.len());
    let of_lefthook = || base(name).contains("lefthook").then(of_lefthook).flatten();
    fixed.or_else(one).or_else(listed).or_else(of_lefthook)
}

fn is_at(folder: &str, place: &str) -> bool {
    folder.strip_suffix(place).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// The name under which a host looks for a file that has another case, and finds it where names have none. `None` of one
/// that is called so, and of one that no host looks for.
pub fn respelled(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    // All are in small letters but the events that Cline's files are named after.
    let cline = CLINE.iter().find(|event| base(&lower).trim_end_matches(".ps1").eq_ignore_ascii_case(event));
    let spelled = match cline.filter(|_| is_at(folder(&lower), ".clinerules/hooks")) {
        Some(event) => format!("{}/{event}{}", folder(&lower), if ends_in(&lower, "ps1") { ".ps1" } else { "" }),
        None => lower,
    };
    let begins = project_of(&spelled, true).map(str::len).or_else(|| plugin_of(&spelled))?;
    // The folders above are those that there are.
    let spelled = format!("{}{}", name.get(..begins)?, &spelled[begins..]);
    (spelled != name).then_some(spelled)
}

/// How long the name of the folder is that the settings of a plugin, or an agent's front matter, are for.
fn plugin_of(spelled: &str) -> Option<usize> {
    let place = hosts::by_name(spelled).map(|place| spelled.len() - place.file.len());
    let matter = || spelled.find(".claude/").filter(|_| super::find::has_front_matter(spelled));
    place.or_else(matter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_settings_file_is_for_the_folder_that_its_host_is_started_in() {
        for (name, folder) in [
            (".claude/settings.json", ""),
            ("a/b/.claude/settings.json", "a/b"),
            ("a/.github/hooks/x.json", "a"),
            ("a/.clinerules/hooks/PreToolUse", "a"),
            ("a/.config/lefthook.yml", "a"),
            ("a/.pre-commit-config.yaml", "a"),
            ("a/session-boundary.json", "a"),
            ("a/.husky/pre-commit", "a"),
            ("a/.githooks/pre-push", "a"),
        ] {
            assert_eq!(project_of(name, true), Some(folder), "{name}");
        }
        for name in ["a/x.claude/settings.json", "a/settings.json", "hooks/pre-push", "a/.husky/_/pre-commit"] {
            assert_eq!(project_of(name, true), None, "{name}");
        }
        assert_eq!(project_of("a/.husky/pre-commit", false), None);
    }

    #[test]
    fn what_no_system_tells_apart_is_what_the_host_looks_for() {
        for (name, spelled) in [
            (".Claude/Settings.json", ".claude/settings.json"),
            ("Sub/.CLAUDE/settings.json", "Sub/.claude/settings.json"),
            (".clinerules/Hooks/pretooluse", ".clinerules/hooks/PreToolUse"),
            ("P/Hooks/hooks.json", "P/hooks/hooks.json"),
            (".claude/Agents/x.md", ".claude/agents/x.md"),
            ("Lefthook.yml", "lefthook.yml"),
            (".Husky/Pre-Commit", ".husky/pre-commit"),
        ] {
            assert_eq!(respelled(name).as_deref(), Some(spelled), "{name}");
        }
        for name in [".claude/settings.json", ".clinerules/hooks/PreToolUse", "README.md", "Sub/.claude/settings.json"]
        {
            assert_eq!(respelled(name), None, "{name}");
        }
    }
}
