//! What a source must have for a rule to find anything in it, told by its bytes: most files have nothing of what a rule is
//! about, and to parse them would tell nothing.
//!
//! A need says too much rather than too little: where it is met, the rule looks at the syntax, and decides; where it is not,
//! the rule would find nothing. That is tested for every rule, with its examples, with others made of them, and with
//! real sources. It holds for code as people write it: a word that is spelt with escapes (`"\x2ftmp"`), or put together of
//! texts that stand side by side (`"/t" "mp"`), is not seen, whether the file is parsed for another rule or not.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::imports;
use super::language::Language;
use super::rule::Rule;
use super::rules::rules;
use super::source::About;
use super::written::{Written, calls};

/// One way in which a source can have what a rule is about. A rule has several; one that is met is enough.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// The languages for which it is said. In one for which a rule says nothing it finds nothing.
    pub languages: &'static [Language],
    /// What must be so of the file, whatever is in it.
    pub when: fn(&About<'_>) -> bool,
    /// What must be in it: every one of these.
    pub all: &'static [Sign],
}

impl Need {
    /// Of any file in these languages that has all of this in it.
    #[must_use]
    pub const fn of(languages: &'static [Language], all: &'static [Sign]) -> Self {
        Self { languages, when: |_| true, all }
    }

    /// Only of files of which this is so.
    #[must_use]
    pub const fn when(self, when: fn(&About<'_>) -> bool) -> Self {
        Self { when, ..self }
    }
}

/// Something in the bytes of a source.
#[derive(Debug, Clone, Copy)]
pub enum Sign {
    /// A regular expression matches somewhere. It is one of bytes: `\b` and `\w` know ASCII, `[^x]` matches half a letter.
    /// Between two words of a language there may be spaces, line ends, a backslash before one, and a comment: `\s*[(#\\]`
    /// is what an opening parenthesis may begin with.
    Text(&'static str),
    /// The same, with an expression that is made of what a rule has lists of.
    Made(fn() -> String),
    /// A call, in Python, of a function or a method of one of these names, or with one of them behind its last dot, with
    /// such arguments. Who imports it by another name has it, too.
    Calls(&'static [&'static str], fn(&Written<'_>) -> bool),
}

impl Sign {
    /// The expression that matches wherever it may be.
    fn pattern(self) -> String {
        match self {
            Self::Text(pattern) => pattern.to_owned(),
            Self::Made(pattern) => pattern(),
            Self::Calls(names, _) => {
                let last: Vec<&str> = names.iter().map(|name| name.rsplit('.').next().unwrap_or(name)).collect();
                format!(r"\b(?:{})(?:\s*[(#\\]|\s+as\b)", last.join("|"))
            }
        }
    }
}

/// What applies to a source.
#[derive(Debug, Default)]
pub struct Applying {
    /// The rules that may find something.
    pub rules: Vec<&'static Rule>,
    /// Whether it may take in other files.
    pub takes_in: bool,
}

/// Tells what applies to a source: the words of all rules are searched for at once.
#[must_use]
pub fn applying(about: &About<'_>, text: &[u8]) -> Applying {
    let table = Table::of(about.language);
    let found = table.set.matches(text);
    let met = |ways: &[Way]| {
        ways.iter().any(|way| {
            (way.when)(about)
                && way.all.iter().all(|check| found.matched(check.at))
                && way.all.iter().filter_map(|check| check.call.as_ref()).all(|called| called.is_in(text))
        })
    };
    let rules = table.rules.iter().filter(|(_, ways)| met(ways)).map(|(rule, _)| *rule).collect();
    Applying { rules, takes_in: about.follows && met(&table.imports) }
}

/// The needs of all rules in one language.
struct Table {
    set: RegexSet,
    rules: Vec<(&'static Rule, Vec<Way>)>,
    imports: Vec<Way>,
}

struct Way {
    when: fn(&About<'_>) -> bool,
    all: Vec<Check>,
}

struct Check {
    /// The place of its expression in the set.
    at: usize,
    call: Option<Called>,
}

struct Called {
    name: Regex,
    is: fn(&Written<'_>) -> bool,
}

impl Called {
    fn is_in(&self, text: &[u8]) -> bool {
        calls(text, &self.name).any(|call| call.is_none_or(|call| (self.is)(&call)))
    }
}

impl Table {
    fn of(language: Language) -> &'static Self {
        static TABLES: [OnceLock<Table>; Language::COUNT] = [const { OnceLock::new() }; Language::COUNT];
        TABLES[language as usize].get_or_init(|| Self::new(language))
    }

    fn new(language: Language) -> Self {
        let mut patterns: Vec<String> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut check = |sign: &Sign| {
            let pattern = sign.pattern();
            let call = match sign {
                Sign::Text(_) | Sign::Made(_) => None,
                Sign::Calls(_, is) => {
                    let name = RegexBuilder::new(&pattern).unicode(false).build();
                    Some(Called { name: name.expect("a rule's expression is one: a test builds them all"), is: *is })
                }
            };
            let at = *places.entry(pattern).or_insert_with_key(|pattern| {
                patterns.push(pattern.clone());
                patterns.len() - 1
            });
            Check { at, call }
        };
        let mut ways = |needs: &[Need]| -> Vec<Way> {
            let these = needs.iter().filter(|need| need.languages.contains(&language));
            these.map(|need| Way { when: need.when, all: need.all.iter().map(&mut check).collect() }).collect()
        };
        let rules = rules().map(|rule| (rule, ways(rule.needs))).collect();
        let imports = ways(imports::NEEDS);
        let set = RegexSetBuilder::new(&patterns).unicode(false).dfa_size_limit(MOST_STATES).build();
        Self { set: set.expect("a rule's expression is one: a test builds them all"), rules, imports }
    }
}

/// Bytes for what the expressions know of a text so far, per thread. With the usual 2 MB they would forget it over and over.
const MOST_STATES: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use proptest::prelude::*;

    use super::super::look::{Lines, found};
    use super::super::syntax::Syntax;
    use super::*;
    use crate::model::{Lint, LintKind};

    /// What all rules find in a source, and what those find that apply to it.
    fn both(about: About<'_>, text: &str) -> Option<(Vec<Lint>, Vec<Lint>)> {
        Some(both_of(about, &Syntax::parse(about.language, text).ok()?))
    }

    fn both_of(about: About<'_>, syntax: &Syntax<'_>) -> (Vec<Lint>, Vec<Lint>) {
        let text = syntax.text();
        let places = Lines::of(text);
        let all: Vec<_> = rules().collect();
        let applying = applying(&about, text.as_bytes()).rules;
        let of = |rules: &[&'static Rule]| found(syntax, &places, about, rules);
        (of(&all), if applying.is_empty() { Vec::new() } else { of(&applying) })
    }

    /// Examples are of a hook that something starts, and a command of a host's is none.
    fn about(language: Language, kind: LintKind) -> About<'static> {
        let wired = (kind == LintKind::UnquotedVariable).then_some(1);
        About { wired, executable: Some(false), ..About::of(language, "hooks/x") }
    }

    #[test]
    fn a_rule_finds_nothing_that_its_needs_rule_out() {
        for rule in rules() {
            for (language, text) in rule.bad.iter().chain(rule.good) {
                let (all, applying) = both(about(*language, rule.kind), text).expect("it is parsed");
                assert_eq!(all, applying, "{text}");
            }
        }
    }

    #[test]
    fn what_has_another_name_is_looked_for_by_its_own() {
        for text in [
            "import os as o\n\ndef f():\n    return o.getuid()\n",
            "from os import (\n    getuid,\n)\n",
            "from os import path, getuid\n",
            "import a, \\\n    fcntl\n",
            "from os import kill as k\n\ndef f(p):\n    k(p, 0)\n",
            "import io as i\n\ndef f(p):\n    return i.open(p)\n",
            "from io import open as o\n\ndef f(p):\n    return o(p)\n",
            "from os import rename as r\n\ndef f(tmp, p):\n    r(tmp, p)\n",
            "from os import system as s\n\ns(\"sleep 9 &\")\n",
            "from subprocess import run as r\n\nr(\"sleep 9 &\", shell=True, text=True, capture_output=True)\n",
            "from sys import stdout as o\n\no.write(\"→\")\n",
            "with open (  # a comment\n    p) as f:\n    pass\n",
            "with open(p,  # a comment, \"rb\"\n    ) as f:\n    pass\n",
            "def f(path):\n    return (path.endswith  # a comment\n        (\"a/b.json\"))\n",
            "def f(p):\n    return (\"a/b.json\"  # a comment\n        == p)\n",
        ] {
            let (all, applying) = both(About::of(Language::Python, "hooks/x"), text).expect("it is parsed");
            assert!(!all.is_empty(), "{text}");
            assert_eq!(all, applying, "{text}");
        }
    }

    #[test]
    fn a_variable_with_a_folder_of_the_user_is_the_sign_of_a_path() {
        let text = "const x = process.env.APPDATA + '/Claude/x.json';\n";
        let (all, applying) = both(About::of(Language::JavaScript, "hooks/x"), text).expect("it is parsed");
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all, applying);
    }

    #[test]
    fn the_needs_of_a_rule_rule_out_some_sources() {
        // Those of which the file is looked at, and not what is in it, are told by `when`.
        for rule in rules() {
            for language in Language::ALL {
                let nothing = applying(&About::of(*language, "hooks/x"), b"x\n").rules;
                assert!(nothing.is_empty(), "{:?} in {language:?}", rule.kind);
            }
        }
    }

    /// The texts, words, spaces and marks of a source. A text is not taken apart: nobody writes `"/t" "mp"`.
    fn tokens(text: &str) -> Vec<&str> {
        static TOKEN: OnceLock<Regex> = OnceLock::new();
        let expression = r#"(?s)"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|\w+|[ \n\t]+|."#;
        let token = TOKEN.get_or_init(|| Regex::new(expression).expect("an expression"));
        let bytes = text.as_bytes();
        token.find_iter(bytes).filter_map(|token| str::from_utf8(token.as_bytes()).ok()).collect()
    }

    fn examples(language: Language) -> Vec<&'static str> {
        let all = rules().flat_map(|rule| rule.bad.iter().chain(rule.good));
        all.filter(|(of, _)| *of == language).map(|(_, text)| *text).collect()
    }

    /// The files below a folder that are sources.
    fn sources(folder: &Path) -> Vec<(PathBuf, Language)> {
        let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
                let name = entry.file_name().to_string_lossy().into_owned();
                if kind.is_dir() && !matches!(&*name, "target" | "site-packages" | ".git") {
                    folders.push(path);
                } else if let Some(language) = Language::of(&name, "").filter(|_| kind.is_file()) {
                    found.push((path, language));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn the_same_holds_of_real_sources() {
        const PART: usize = 12;
        let library = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
        let library = Command::new("python3").args(["-c", library]).output();
        let library = library.ok().and_then(|output| String::from_utf8(output.stdout).ok());
        let mut files = sources(Path::new(env!("CARGO_MANIFEST_DIR")));
        files.extend(sources(Path::new(library.as_deref().unwrap_or_default().trim())).into_iter().step_by(PART));
        for (path, language) in files {
            let Some(text) = std::fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
                continue;
            };
            // A name of its own would say that it is a self-test.
            let Some((all, applying)) = both(About::of(language, "x"), &text) else { continue };
            assert_eq!(all, applying, "{}", path.display());
        }
    }

    #[test]
    fn an_import_may_have_its_name_on_another_line() {
        for text in ["import\n fcntl", "import os, # x\n fcntl", "from # x\n os import\\\n fork"] {
            let (all, applying) = both(About::of(Language::Python, "x"), text).expect("it is Python to the parser");
            assert_eq!(all, applying, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { max_global_rejects: 10_000, ..ProptestConfig::with_cases(400) })]

        #[test]
        fn the_same_holds_of_what_is_made_of_examples(
            language in prop::sample::select(Language::ALL),
            seeds in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
            changes in prop::collection::vec((0..6_usize, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..5),
        ) {
            let examples = examples(language);
            prop_assume!(!examples.is_empty());
            let mut text: Vec<&str> = seeds.iter().flat_map(|seed| tokens(examples[seed.index(examples.len())])).collect();
            let pool: Vec<&str> = examples.iter().flat_map(|text| tokens(text)).collect();
            let comment = if matches!(language, Language::Python | Language::Shell) { " # x\n" } else { " /* x */ " };
            for (change, place, other) in changes {
                let at = place.index(text.len());
                match change {
                    0 if text.len() > 1 => drop(text.remove(at)),
                    1 => text[at] = pool[other.index(pool.len())],
                    2 => text.insert(at, pool[other.index(pool.len())]),
                    3 => text.insert(at, [" ", "\n", "\\\n", comment][other.index(4)]),
                    4 => text.insert(at, ["(", ")", "\"", "'", " as x"][other.index(5)]),
                    _ => {
                        let other = other.index(text.len());
                        text.swap(at, other);
                    }
                }
            }
            let text = text.concat();
            let Ok(syntax) = Syntax::parse(language, &text) else { return Ok(()) };
            // Beside what is not understood a rule may see what no one wrote.
            prop_assume!(syntax.first_error().is_none());
            for kind in [LintKind::TmpLiteral, LintKind::UnquotedVariable] {
                let (all, applying) = both_of(about(language, kind), &syntax);
                prop_assert_eq!(all, applying, "{}", text);
            }
        }
    }
}
