//! The languages that are read.

use tree_sitter::Language as Grammar;

/// A language, by the grammar that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    Python,
    Shell,
    JavaScript,
    TypeScript,
    /// TypeScript with elements of JSX.
    Tsx,
    Rust,
    Go,
}

impl Language {
    /// How many there are.
    pub const COUNT: usize = Self::Go as usize + 1;
    /// The forms of JavaScript.
    pub const SCRIPTS: &[Self] = &[Self::JavaScript, Self::TypeScript, Self::Tsx];
    pub const ALL: &[Self] =
        &[Self::Python, Self::Shell, Self::JavaScript, Self::TypeScript, Self::Tsx, Self::Rust, Self::Go];

    /// Of a file, by its name, else by the program that its first line names.
    #[must_use]
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
        match ending {
            Some("py" | "pyw" | "pyi") => Some(Self::Python),
            Some("sh" | "bash" | "bats") => Some(Self::Shell),
            Some("js" | "mjs" | "cjs" | "jsx") => Some(Self::JavaScript),
            Some("ts" | "mts" | "cts") => Some(Self::TypeScript),
            Some("tsx") => Some(Self::Tsx),
            Some("rs") => Some(Self::Rust),
            Some("go") => Some(Self::Go),
            _ => Self::of_program(shebang(text)?),
        }
    }

    /// That a program reads: `python3.11`, `bash`, `node`.
    #[must_use]
    pub fn of_program(name: &str) -> Option<Self> {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match plain {
            "python" | "pypy" | "py" => Some(Self::Python),
            "sh" | "bash" | "dash" | "ash" | "ksh" => Some(Self::Shell),
            "node" | "nodejs" | "bun" => Some(Self::JavaScript),
            "deno" | "tsx" | "ts-node" => Some(Self::TypeScript),
            _ => None,
        }
    }

    /// Its grammar.
    #[must_use]
    pub fn grammar(self) -> Grammar {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Shell => tree_sitter_bash::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
        }
    }

    /// Whether it is a form of JavaScript.
    #[must_use]
    pub fn is_script(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript | Self::Tsx)
    }

    /// As people call it, and as a code block names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Shell => "sh",
            Self::JavaScript => "js",
            Self::TypeScript => "ts",
            Self::Tsx => "tsx",
            Self::Rust => "rust",
            Self::Go => "go",
        }
    }
}

/// The program that a first line names, through `env`.
#[must_use]
pub fn shebang(text: &str) -> Option<&str> {
    let line = text.trim_start_matches('\u{feff}').strip_prefix("#!")?.lines().next()?;
    let base = |word: &'_ str| word.rsplit('/').next().map(str::len).map(|length| word.len() - length);
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let first = &first[base(first)?..];
    if first != "env" {
        return Some(first);
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).and_then(|word| Some(&word[base(word)?..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_name_and_by_first_line() {
        for (path, text, language) in [
            ("hooks/a.py", "", Some(Language::Python)),
            (".husky/pre-commit", "#!/bin/sh\n", Some(Language::Shell)),
            ("hooks/run", "#!/usr/bin/env -S python3 -u\n", Some(Language::Python)),
            ("hooks/run", "\u{feff}#!/usr/bin/env node\n", Some(Language::JavaScript)),
            ("a/b.tsx", "", Some(Language::Tsx)),
            ("README.md", "", None),
            (".py", "", None),
            ("x", "#!/usr/bin/perl", None),
        ] {
            assert_eq!(Language::of(path, text), language, "{path} {text}");
        }
    }
}
