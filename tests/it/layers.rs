//! Hygiene: what the sources promise about themselves.

use std::fs;
use std::path::{Path, PathBuf};

use hostproof::model::Kind;
use regex::Regex;

/// Who may import whom: a part, and all that it may use. What is not here may use nothing.
const LAYERS: &[(&str, &[&str])] = &[
    ("main", &["cli", "commands", "platform", "probes"]),
    ("lib", &[]),
    ("model", &[]),
    ("words", &[]),
    ("covers", &[]),
    ("env", &[]),
    ("error", &[]),
    ("cli", &["manifest", "model"]),
    ("source", &["env", "model", "platform"]),
    ("readers", &["model", "words"]),
    ("platform", &["env", "error", "model"]),
    ("probes", &["model", "platform", "words"]),
    ("manifest", &["env", "error", "model", "platform", "words"]),
    ("merge", &["model"]),
    ("memory", &["env", "error", "platform"]),
    ("stress", &["error", "model", "platform"]),
    ("wirings", &["covers", "manifest", "model", "platform", "source", "words"]),
    ("lints", &["covers", "model", "wirings"]),
    ("plan", &["error", "manifest", "model", "platform"]),
    ("init", &["env", "error", "manifest", "model", "plan", "platform", "run", "source", "wirings", "words"]),
    ("receipt", &["covers", "error", "manifest", "model", "plan", "platform", "source", "wirings", "words"]),
    ("compare", &["model", "readers", "words"]),
    ("run", &["env", "error", "model", "plan", "platform", "probes", "readers", "source", "wirings", "words"]),
    ("container", &["env", "error", "model", "plan", "platform", "run", "source", "words"]),
    ("gate", &["covers", "error", "model", "plan", "receipt", "source", "wirings", "words"]),
    ("report", &["env", "error", "lints", "model", "platform", "words"]),
    (
        "commands",
        &[
            "cli",
            "compare",
            "container",
            "covers",
            "env",
            "error",
            "gate",
            "init",
            "lints",
            "manifest",
            "memory",
            "merge",
            "model",
            "plan",
            "platform",
            "receipt",
            "report",
            "run",
            "source",
            "stress",
            "wirings",
            "words",
        ],
    ),
];

/// The longest file, without its tests.
const LONGEST: usize = 450;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder with that ending, in order: their names in the repository.
fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut open = vec![PathBuf::from(folder)];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if root().join(&path).is_dir() {
            let entries = fs::read_dir(root().join(&path)).expect("a folder").flatten();
            open.extend(entries.map(|entry| path.join(entry.file_name())));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no files in {folder}");
    found
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A source file: its name in the repository, the part that it belongs to, and its text without comments and tests.
struct Source {
    name: String,
    part: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let sources: Vec<Source> = files("src", "rs")
        .into_iter()
        .filter(|name| !is_tests(name))
        .map(|name| {
            let part = name
                .trim_start_matches("src/")
                .split('/')
                .next()
                .unwrap_or_default()
                .trim_end_matches(".rs")
                .to_owned();
            let text = read(&name);
            let code = without_tests(&text).lines().filter(|line| !line.trim_start().starts_with("//"));
            Source { text: code.collect::<Vec<_>>().join("\n"), part, name }
        })
        .collect();
    assert!(sources.len() > 50, "most sources were not seen");
    sources
}

fn is_tests(name: &str) -> bool {
    name.contains("/tests/") || name.ends_with("/tests.rs")
}

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

/// Every `crate::part` in a text, those in a list of imports included.
fn imports(text: &str) -> Vec<String> {
    let word = Regex::new(r"(?:crate|hostproof)::(?:([a-z_]+(?:#[a-z]+)?)|\{([^;]*)\})").expect("a pattern");
    let first = Regex::new(r"(?:^|,|\{)\s*([a-z_]+)").expect("a pattern");
    let mut found = Vec::new();
    for import in word.captures_iter(text) {
        if let Some(part) = import.get(1) {
            found.push(part.as_str().to_owned());
        }
        if let Some(list) = import.get(2) {
            found.extend(top_level(list.as_str()).iter().filter_map(|one| Some(first.captures(one)?[1].to_owned())));
        }
    }
    found
}

/// Splits a list at the commas that are in no braces.
fn top_level(list: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            _ => {}
        }
        parts.last_mut().expect("never empty").push(c);
    }
    parts.into_iter().map(|part| part.trim_start_matches(',').to_owned()).collect()
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some((_, allowed)) = LAYERS.iter().find(|(part, _)| *part == source.part) else {
            wrong.push(format!("{}: {} has no place in the layers", source.name, source.part));
            continue;
        };
        for used in imports(&source.text) {
            let is_part = LAYERS.iter().any(|(part, _)| *part == used);
            if is_part && used != source.part && !allowed.contains(&&*used) {
                wrong.push(format!("{} uses {used}", source.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_part_is_above_itself() {
    // Parts that use nothing but what is below, again and again until none is left.
    let mut left: Vec<_> = LAYERS.to_vec();
    loop {
        let names: Vec<&str> = left.iter().map(|(part, _)| *part).collect();
        let before = left.len();
        left.retain(|(_, used)| used.iter().any(|used| names.contains(used)));
        if left.is_empty() {
            return;
        }
        assert!(left.len() < before, "these use each other: {left:?}");
    }
}

#[test]
fn imports_are_seen() {
    let text = "use crate::model::{A, B};\nuse crate::{env, error::{C, run}, report};\nlet x = crate::words::y();";
    assert_eq!(imports(text), ["model", "env", "error", "report", "words"]);
}

#[test]
fn models_are_plain_data() {
    let is_own = |used: &str| root().join(format!("src/model/{used}.rs")).exists();
    let outside = Regex::new(r"(?m)^\s*(?:pub )?use ([a-z_]+)::").expect("a pattern");
    for source in sources().iter().filter(|source| source.part == "model") {
        for import in outside.captures_iter(&source.text) {
            let used = &import[1];
            assert!(
                ["std", "serde", "schemars", "super", "crate", "self"].contains(&used) || is_own(used),
                "{}: {used}",
                source.name
            );
        }
    }
}

/// The sources in which a pattern occurs, other than those whose names begin like that.
fn with(pattern: &str, except: &[&str]) -> Vec<String> {
    let pattern = Regex::new(pattern).expect("a pattern");
    let found = sources().into_iter().filter(|source| !except.iter().any(|name| source.name.starts_with(name)));
    found.filter(|source| pattern.is_match(&source.text)).map(|source| source.name).collect()
}

#[test]
fn one_file_reads_the_environment() {
    assert_eq!(with(r"\benv::(var|vars|var_os|vars_os|home_dir|temp_dir)\b", &["src/env.rs"]), [""; 0]);
}

#[test]
fn one_part_talks_to_the_system() {
    // What lints look for stands in their own texts.
    let except = &["src/platform/", "src/lints/rules/"];
    assert_eq!(with(r"\bunsafe\s*(\{|fn|extern|impl)", except), [""; 0]);
    assert_eq!(with(r"\b(libc|rustix|signal_hook)::", except), [""; 0]);
    assert_eq!(with(r"\bcfg(_attr)?!?\([^)]*\b(unix|windows|target_(os|family|env))\b", except), [""; 0]);
    assert_eq!(with(r"\bstd::os::", except), [""; 0]);
}

#[test]
fn one_place_prints_and_one_exits() {
    assert_eq!(with(r"\b(e?println|e?print|dbg)!", &[]), [""; 0]);
    assert_eq!(
        with(r"process::exit\(", &["src/platform/unix/interrupt.rs", "src/platform/windows/interrupt.rs"]),
        [""; 0]
    );
}

#[test]
fn nothing_is_left_for_later() {
    let later = Regex::new(r"(?://+!?|#)\s*(?:TODO|FIXME|XXX|HACK)\b").expect("a pattern");
    for (folder, ending) in [("src", "rs"), ("tests", "rs"), ("fixtures", "py"), ("docs", "md")] {
        for name in files(folder, ending) {
            // A directive of TAP, which readers know, has the word behind an outcome.
            let text = read(&name);
            let found: Vec<&str> = text
                .lines()
                .filter(|line| later.is_match(line) && !line.contains("ok ") && !line.contains("`# "))
                .collect();
            assert!(found.is_empty(), "{name}: {found:?}");
        }
    }
}

#[test]
fn every_file_is_short_and_says_what_it_is() {
    let mut wrong = Vec::new();
    for name in files("src", "rs") {
        let text = read(&name);
        let lines = without_tests(&text).lines().count();
        if lines > LONGEST && !is_tests(&name) {
            wrong.push(format!("{name} has {lines} lines"));
        }
        if !text.starts_with("//! ") {
            wrong.push(format!("{name} does not say what it is"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_kind_of_finding_is_explained() {
    let pages = files("docs/findings", "md");
    for kind in Kind::ALL {
        let page = root().join(format!("docs/findings/{}.md", kind.slug()));
        let text = fs::read_to_string(&page).unwrap_or_default();
        assert!(text.starts_with(&format!("# {}\n", kind.slug())), "{}", page.display());
        for heading in ["## Why a host cares", "## How to mend it", "## Example"] {
            assert!(text.contains(heading), "{} has no {heading}", page.display());
        }
        // The terminal's width.
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{}", page.display());
    }
    assert_eq!(pages.len(), Kind::ALL.len(), "a page of no kind: {pages:?}");
}

#[test]
fn the_changelog_knows_the_version() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).expect("the changelog");
    let version = format!("## [{}]", env!("CARGO_PKG_VERSION"));
    assert!(changelog.contains("## [Unreleased]") || changelog.contains(&version));
}
