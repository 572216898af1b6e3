//! Which folder a package's files are in, where the output or the command tells.

use std::collections::HashMap;

use crate::readers::Context;
use crate::readers::own_code::own_name;

/// Flags of `go test` whose value may be a word of its own.
const VALUED: [&str; 22] = [
    "run",
    "skip",
    "bench",
    "benchtime",
    "timeout",
    "count",
    "cpu",
    "parallel",
    "p",
    "tags",
    "exec",
    "o",
    "coverprofile",
    "covermode",
    "coverpkg",
    "fuzz",
    "fuzztime",
    "list",
    "shuffle",
    "vet",
    "ldflags",
    "gcflags",
];

pub struct Folders {
    /// The folders that the command names; `None` if it names some with a pattern.
    named: Option<Vec<String>>,
    /// How many packages were seen, and the folders that stacks told.
    packages: HashMap<String, Option<String>>,
}

impl Folders {
    pub fn new(context: Context<'_>) -> Self {
        Self { named: named(context.argv), packages: HashMap::new() }
    }

    /// A package was seen, and perhaps the folder of one of its files.
    pub fn package(&mut self, name: &str, folder: Option<&str>) {
        if self.packages.len() < super::PACKAGES {
            let known = self.packages.entry(name.to_owned()).or_default();
            *known = known.take().or_else(|| folder.map(str::to_owned));
        }
    }

    /// The file of that package by the name that a frame shows, or the name as it is.
    pub fn file(&self, package: &str, file: &str, context: &Context<'_>) -> String {
        if let Some(folder) = self.told(package) {
            return if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") };
        }
        let folder = match &self.named {
            Some(named) if self.packages.len() == 1 && named.len() == 1 => Some(named[0].as_str()),
            Some(named) => {
                let mut fitting = named.iter().filter(|folder| fits(package, folder));
                fitting.next().filter(|_| fitting.next().is_none()).map(String::as_str)
            }
            _ => None,
        };
        let whole = folder.map(|folder| if folder == "." { file.to_owned() } else { format!("{folder}/{file}") });
        whole.and_then(|file| own_name(&file, context)).unwrap_or_else(|| file.to_owned())
    }

    /// The folder relative to the project: told of this package, or of another one of the same module.
    fn told(&self, package: &str) -> Option<String> {
        if let Some(folder) = self.packages.get(package).and_then(Option::as_deref) {
            return Some(folder.to_owned());
        }
        let (other, folder) =
            self.packages.iter().filter_map(|(name, folder)| Some((name, folder.as_deref()?))).min()?;
        // `example.com/box/broken` is `broken`: so `example.com/box` is the project.
        let module = other.strip_suffix(folder)?.strip_suffix('/').filter(|_| !folder.is_empty())?;
        let rest = package.strip_prefix(module)?;
        if rest.is_empty() { Some(String::new()) } else { rest.strip_prefix('/').map(str::to_owned) }
    }
}

/// Whether a package's path ends as the folder's does.
fn fits(package: &str, folder: &str) -> bool {
    let folder = folder.strip_prefix("./").unwrap_or(folder).trim_end_matches('/');
    !folder.starts_with('.') && package.strip_suffix(folder).is_some_and(|before| before.ends_with('/'))
}

fn named(argv: &[String]) -> Option<Vec<String>> {
    let at = argv.windows(2).position(|pair| (pair[0] == "go" || pair[0].ends_with("/go")) && pair[1] == "test")?;
    let mut words = argv[at + 2..].iter();
    let mut folders = Vec::new();
    while let Some(word) = words.next() {
        if let Some(flag) = word.strip_prefix('-') {
            let flag = flag.trim_start_matches('-');
            match flag {
                "args" => break,
                "C" => return None,
                _ if VALUED.contains(&flag) => {
                    words.next();
                }
                _ if flag.starts_with("C=") => return None,
                _ => {}
            }
        } else if word.contains("...") {
            return None;
        } else if word == "." || word.starts_with("./") || word.starts_with("../") || word.starts_with('/') {
            folders.push(word.trim_end_matches('/').to_owned());
        } else {
            // An import path, or a list of files.
            return None;
        }
    }
    if folders.is_empty() {
        folders.push(".".to_owned());
    }
    Some(folders)
}
