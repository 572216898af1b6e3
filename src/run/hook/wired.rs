//! What is wired in a run's project, read once: who reads it opens scripts, which must not be taken for a call's reading.

use std::path::{Path, PathBuf};

use super::proof::watched;
use crate::model::{Check, CheckCommand, Cwd, HookRef, WiringSource};
use crate::plan::Plan;
use crate::wirings::{self, Disk, Wirings};

/// What is wired, and what of it the checks of a plan call.
#[derive(Debug)]
pub struct Wired {
    project: PathBuf,
    disk: Disk,
    pub wirings: Wirings,
    /// The scripts that are called: by their names in the project, and as files.
    scripts: Vec<(String, Vec<PathBuf>)>,
}

impl Wired {
    /// Of a plan's own project, which has what its checks name wherever that lies.
    pub fn of(plan: &Plan) -> Self {
        let hooks: Vec<&HookRef> = plan.checks.iter().filter_map(|planned| hook(planned.base())).collect();
        if hooks.is_empty() {
            return Self {
                project: plan.project.clone(),
                disk: Disk::of(&plan.project, &[]),
                wirings: Wirings::default(),
                scripts: Vec::new(),
            };
        }
        let (disk, wirings) = read(&plan.project, &hooks);
        let called = wirings.wirings.iter().filter(|wiring| hooks.iter().any(|hook| hook.is_for(wiring)));
        let commands = called.flat_map(|wiring| &wiring.commands);
        let files = commands.flat_map(|command| &command.scripts).map(|script| script.path.clone());
        let of_script = |path: String| {
            let of = |command| watched(command, &plan.project);
            let commands = wirings.wirings.iter().flat_map(|wiring| &wiring.commands);
            let names = commands.filter(|command| command.scripts.iter().any(|script| script.path == path));
            (path.clone(), names.flat_map(of).collect())
        };
        let scripts = files.map(of_script).collect();
        Self { project: plan.project.clone(), disk, scripts, wirings }
    }

    /// Those of them that a check which calls none may read while it runs: a copy is made of all, and one that does not say
    /// what it covers may have to do with any.
    pub fn readable(&self, check: &Check) -> Vec<PathBuf> {
        if check.cwd == Cwd::Copy || check.covers.is_empty() {
            return self.all();
        }
        let names: Vec<&str> = self.scripts.iter().map(|(name, _)| name.as_str()).collect();
        let read = wirings::reads(check, &names, &self.disk);
        self.files(|name| read.contains(&name))
    }

    /// What a check's hook is among: what is wired in the project that it has.
    pub fn in_project(&self, project: &Path, hook: &HookRef) -> Option<Wirings> {
        (self.project != project).then(|| read(project, &[hook]).1)
    }

    /// All scripts, as files.
    pub fn all(&self) -> Vec<PathBuf> {
        self.files(|_| true)
    }

    fn files(&self, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        self.scripts.iter().filter(|(name, _)| is_one(name)).flat_map(|(_, files)| files.clone()).collect()
    }
}

fn hook(check: &Check) -> Option<&HookRef> {
    match &check.command {
        CheckCommand::Hook(hook) => Some(hook),
        CheckCommand::Argv(_) | CheckCommand::Shell { .. } => None,
    }
}

/// Reads what is wired in a project, and in the files that hooks name: what form these have is known by their names.
fn read(project: &Path, hooks: &[&HookRef]) -> (Disk, Wirings) {
    let (disk, _) = Disk::open(project);
    let mut named: Vec<WiringSource> = Vec::new();
    for hook in hooks {
        let source = WiringSource { file: hook.file.trim_start_matches("./").to_owned(), commands: None };
        if !named.contains(&source) && project.join(&source.file).is_file() {
            named.push(source);
        }
    }
    let wirings = wirings::read(&disk, &named);
    (disk, wirings)
}
