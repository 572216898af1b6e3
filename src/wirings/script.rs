//! What a script's bytes say about how it will run.

use std::collections::HashMap;

use super::files::Files;
use super::paths::base;
use super::programs::interpreter;

/// A script, as far as it was looked into.
#[derive(Debug, Default, Clone)]
pub struct Look {
    pub has_mark: bool,
    /// The first line that ends with a carriage return.
    pub carriage: Option<u64>,
    /// What its first line names.
    pub shebang: Option<String>,
    /// The first line that ends it with status 1, if none ends it with 2 and nothing in it answers in JSON.
    pub ends_with_one: Option<u64>,
}

impl Look {
    /// Whether a POSIX shell runs it, if `by` is what the command gives it to.
    pub fn is_for_a_shell(&self, by: Option<&str>) -> bool {
        let name = by.or(self.shebang.as_deref());
        name.is_none_or(|name| interpreter(name).is_some_and(|known| known.shell))
    }
}

/// Scripts that were looked into, each once.
pub struct Looks<'a> {
    files: &'a dyn Files,
    known: HashMap<String, Look>,
}

impl<'a> Looks<'a> {
    pub fn new(files: &'a dyn Files) -> Self {
        Self { files, known: HashMap::new() }
    }

    /// Looks into a script. Of what can't be read nothing is known.
    pub fn look(&mut self, name: &str) -> &Look {
        let files = self.files;
        self.known
            .entry(name.to_owned())
            .or_insert_with(|| files.bytes(name).map(|bytes| look(&bytes)).unwrap_or_default())
    }
}

fn look(bytes: &[u8]) -> Look {
    let (has_mark, rest) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (true, rest),
        None => (false, bytes),
    };
    // What has NUL bytes is a program, not a script.
    if rest.contains(&0) {
        return Look::default();
    }
    let text = String::from_utf8_lossy(rest);
    let at = |found: Option<usize>| found.map(|at| text[..at].matches('\n').count() as u64 + 1);
    let shebang = text.lines().next().and_then(|line| line.strip_prefix("#!")).and_then(named);
    Look { has_mark, carriage: at(text.find("\r\n")), shebang, ends_with_one: ends_with_one(&text) }
}

/// The program that a first line names, through `env`.
fn named(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let program = base(words.next()?);
    if program != "env" {
        return Some(program.to_owned());
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(|word| base(word).to_owned())
}

fn ends_with_one(text: &str) -> Option<u64> {
    let ends = |line: &str, status: char| {
        ["exit ", "exit(", "sys.exit(", "process.exit(", "exitCode = "].iter().any(|way| {
            line.match_indices(way).any(|(at, _)| {
                let rest = &line[at + way.len()..];
                let before = line[..at].chars().next_back();
                rest.starts_with(status)
                    && !rest[1..].starts_with(|c: char| c.is_ascii_digit())
                    && !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
            })
        })
    };
    let code = || text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with(['#', '/']));
    // Whoever answers in JSON refuses by that; a status in a variable may be any.
    let answers = ["permissionDecision", "\"decision\"", "'decision'", "\"permission\"", "\"continue\""];
    let other = code().any(|(_, line)| {
        ends(line, '2') || ends(line, '$') || ends(line, '"') || answers.iter().any(|answer| line.contains(answer))
    });
    if other {
        return None;
    }
    code().find(|(_, line)| ends(line, '1')).map(|(at, _)| at as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bytes_say() {
        let seen = look(b"\xef\xbb\xbf#!/usr/bin/env -S bash -e\r\nexit 0\n");
        assert!(seen.has_mark);
        assert_eq!((seen.carriage, seen.shebang.as_deref()), (Some(1), Some("bash")));
        assert!(look(b"#!/bin/dash\n").is_for_a_shell(None));
        assert!(look(b"x=1\n").is_for_a_shell(None));
        assert!(!look(b"#!/usr/bin/python3.11\n").is_for_a_shell(None));
        assert!(!look(b"\r\n").is_for_a_shell(Some("python3")));
        assert!(look(b"\0\r\n").carriage.is_none());
    }

    #[test]
    fn statuses() {
        for (text, line) in [
            ("echo no >&2\nexit 1\n", Some(2)),
            ("import sys\n\nsys.exit(1)\n", Some(3)),
            ("process.exit(1);", Some(1)),
            ("[ -f x ] || exit 1\nexit 2\n", None),
            ("exit 1 # else\nexit $status\n", None),
            ("# exit 1\nexit 0\n", None),
            ("exit 10\n", None),
            ("print('{\"decision\": 1}')\nsys.exit(1)\n", None),
            ("no_exit 1\n", None),
            ("", None),
        ] {
            assert_eq!(ends_with_one(text), line, "{text:?}");
        }
    }
}
