//! Python's self-tests that lie apart from hooks: one check for each runner and its root.

use std::collections::{BTreeMap, BTreeSet};

use super::find::{Files, Found, ancestors, argument, base, folder, join};
use super::python::Runner;

/// The folders that are configured as a root of pytest.
pub fn configured<'a>(files: &Files<'a>) -> BTreeSet<&'a str> {
    let says = |name: &str, section: &str| {
        (files.text)(name).is_some_and(|text| text.lines().any(|line| line.trim_start().starts_with(section)))
    };
    let is_root = |name: &&&str| match base(name) {
        "pytest.ini" | ".pytest.ini" => true,
        "pyproject.toml" => says(name, "[tool.pytest"),
        "tox.ini" => says(name, "[pytest]"),
        "setup.cfg" => says(name, "[tool:pytest]"),
        _ => false,
    };
    files.names.iter().filter(is_root).map(|name| folder(name)).collect()
}

/// One check per root. `alone` are files that have checks of their own already.
pub fn pytest(
    files: &Files<'_>,
    tests: &[(&str, Runner)],
    configured: &BTreeSet<&str>,
    alone: &[&str],
    found: &mut Found,
) {
    let mut roots: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, _) in tests.iter().filter(|(_, runner)| *runner == Runner::Pytest) {
        let root = ancestors(folder(name)).find(|above| configured.contains(above)).unwrap_or("");
        roots.entry(root).or_default().push(name);
    }
    for (root, names) in roots {
        let mut run: Vec<String> = ["python3", "-m", "pytest"].map(str::to_owned).to_vec();
        let targets = if root.is_empty() && says_where(files) { BTreeSet::from([""]) } else { targets(&names) };
        run.extend(targets.iter().filter(|target| !target.is_empty()).map(|target| argument(target)));
        let collected = |name: &&&str| targets.iter().any(|target| is_below(name, target));
        run.extend(ignored(files, alone, &collected).into_iter().map(|path| format!("--ignore={path}")));
        let id = match targets.first() {
            Some(only) if targets.len() == 1 && !only.is_empty() => (*only).to_owned(),
            _ => join(root, "pytest"),
        };
        found.group(&id, run, names.iter().map(|&name| name.to_owned()).collect());
    }
}

/// Whether the project's own configuration of pytest says what is to be collected.
fn says_where(files: &Files<'_>) -> bool {
    let says = |text: String| text.lines().any(|line| line.trim_start().starts_with("testpaths"));
    ["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"]
        .into_iter()
        .filter(|name| files.names.contains(name))
        .any(|name| (files.text)(name).is_some_and(says))
}

/// The folders of the files without those that lie in another of them; files at the top are named one by one, since
/// their folder would be everything.
fn targets<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    let folders: BTreeSet<&str> = names.iter().map(|name| folder(name)).filter(|folder| !folder.is_empty()).collect();
    let outer = |of: &&str| !ancestors(folder(of)).any(|above| folders.contains(above));
    let top = names.iter().filter(|name| folder(name).is_empty()).copied();
    folders.iter().copied().filter(outer).chain(top).collect()
}

/// What is left to checks of their own: a folder if all its files are, else the files.
fn ignored<'a>(files: &Files<'a>, alone: &[&'a str], collected: &dyn Fn(&&&str) -> bool) -> BTreeSet<&'a str> {
    let mut ignored = BTreeSet::new();
    for name in alone.iter().filter(collected) {
        let place = folder(name);
        let named: Vec<_> =
            files.names.iter().filter(|other| is_below(other, place) && super::python::is_named(other)).collect();
        let whole = !place.is_empty() && named.iter().all(|other| alone.contains(other));
        ignored.insert(if whole { place } else { name });
    }
    ignored
}

fn is_below(name: &str, folder: &str) -> bool {
    folder.is_empty() || name == folder || name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// One check per folder from which unittest can discover: the topmost package, or a folder that is none.
pub fn unittest(files: &Files<'_>, tests: &[(&str, Runner)], found: &mut Found) {
    let is_package = |of: &str| files.names.contains(join(of, "__init__.py").as_str());
    let mut starts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, _) in tests.iter().filter(|(_, runner)| *runner == Runner::Unittest) {
        let place = folder(name);
        let packages = ancestors(place).take_while(|above| !above.is_empty() && is_package(above));
        starts.entry(packages.last().unwrap_or(place)).or_default().push(name);
    }
    for (start, names) in starts {
        // Discovery takes one pattern; both forms of names in one folder are two checks.
        let (usual, other): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| base(name).starts_with("test"));
        for (names, pattern) in [(usual, None), (other, Some("*_test.py"))] {
            if names.is_empty() {
                continue;
            }
            let folder_name = if start.is_empty() { "." } else { start };
            let mut run: Vec<String> = ["python3", "-m", "unittest", "discover", "-s"].map(str::to_owned).to_vec();
            run.push(argument(folder_name));
            if is_package(start) {
                let top = folder(start);
                run.extend(["-t".to_owned(), if top.is_empty() { ".".to_owned() } else { argument(top) }]);
            }
            run.extend(pattern.into_iter().flat_map(|pattern| ["-p".to_owned(), pattern.to_owned()]));
            let id = if start.is_empty() { "unittest" } else { start };
            found.group(id, run, names.iter().map(|&name| name.to_owned()).collect());
        }
    }
}
