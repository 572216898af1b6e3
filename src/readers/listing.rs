//! From the output of a command that lists cases to their names, one form per runner.
//!
//! | form | what it reads |
//! | --- | --- |
//! | pytest | `--collect-only -q`: ids, then `3 tests collected`; `-qq`: `file: 3`; without `-q` the number alone |
//! | cargo-test | `cargo test -- --list`: `name: test`, each binary with its tally; doctests, too |
//! | nextest | `cargo nextest list`: `binary name`, or names below `binary:` |
//! | go-test | `go test -list .`: `TestX`, then `ok pkg`; benchmarks are no cases |
//! | bats | `bats --count`: a number |
//!
//! Where a listing's own tally disagrees with its lines, the tally counts and the names are not known. Names are kept up
//! to a limit, and none beyond it; the number goes on.

use std::io::{self, BufRead};
use std::sync::LazyLock;

use regex::Regex;

use super::Source;
use super::cases::{MOST_CASES, clip, number as number_of};
use super::pytest::is_python;
use crate::model::{ListingForm, Stream};

/// The most bytes of names that are kept.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The cases that were listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// How many.
    pub number: u64,
    /// All of them, in their order; empty if they are not known.
    pub names: Vec<String>,
    /// The form that they were read from.
    pub form: &'static str,
}

/// Reads a listing's standard output.
///
/// # Errors
///
/// Outside what reading the bytes says; inside a sentence that says why there are no cases in it.
pub fn listing<'a>(form: &ListingForm, bytes: Box<dyn BufRead + 'a>) -> io::Result<Result<Listed, String>> {
    let mut forms: Vec<Box<dyn Form>> = match form {
        ListingForm::Auto => vec![
            Box::<Pytest>::default(),
            Box::<CargoTest>::default(),
            Box::<GoTest>::default(),
            Box::<Nextest>::default(),
            Box::<Bats>::default(),
        ],
        ListingForm::Pytest => vec![Box::<Pytest>::default()],
        ListingForm::CargoTest => vec![Box::<CargoTest>::default()],
        ListingForm::Nextest => vec![Box::<Nextest>::default()],
        ListingForm::GoTest => vec![Box::<GoTest>::default()],
        ListingForm::Bats => vec![Box::<Bats>::default()],
        ListingForm::Lines(expression) => match Regex::new(expression) {
            Ok(expression) => vec![Box::new(Lines { expression, names: Names::default() })],
            Err(error) => return Ok(Err(error.to_string())),
        },
    };
    Source { stream: Stream::Stdout, bytes, marks: &[] }.for_each_line(&mut 0, |line| {
        for form in &mut forms {
            form.line(line.text.trim_end());
        }
    })?;
    let found = forms.into_iter().find_map(Form::finish);
    Ok(match found {
        Some(listed) if listed.number > 0 => Ok(listed),
        Some(listed) => Err(format!("it lists no cases (read as a listing of {})", listed.form)),
        None => Err(match form {
            ListingForm::Auto => {
                "its output is in no form that is known: `reader: {lines: RE}` says what names a case".to_owned()
            }
            ListingForm::Lines(_) => "no line of its output is matched by the expression".to_owned(),
            _ => {
                let name = ListingForm::NAMED.iter().find(|(_, named)| named == form).map_or("", |(name, _)| name);
                format!("nothing in its output is in the form of {name}")
            }
        }),
    })
}

trait Form {
    fn line(&mut self, text: &str);

    /// `None` if the output is not in this form.
    fn finish(self: Box<Self>) -> Option<Listed>;
}

/// Names up to a limit, and their number.
#[derive(Debug, Default)]
struct Names {
    number: u64,
    list: Vec<String>,
    bytes: usize,
    /// They are not all there.
    lost: bool,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.number += 1;
        if self.lost {
            return;
        }
        let name = clip(name);
        self.bytes += name.len();
        self.list.push(name);
        if self.list.len() > MOST_CASES || self.bytes > MOST_BYTES {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.lost = true;
        self.list = Vec::new();
    }

    fn number(&mut self, number: u64) {
        self.number += number;
        self.lose();
    }

    /// With the listing's own tally, if it has one.
    fn listed(mut self, form: &'static str, tally: Option<u64>) -> Listed {
        if tally.is_some_and(|tally| tally != self.number) {
            self.lose();
        }
        Listed { number: tally.unwrap_or(self.number), names: self.list, form }
    }
}

#[derive(Default)]
struct Pytest {
    names: Names,
    /// In `-qq` form.
    files: Names,
    tally: Option<u64>,
    /// What follows the ids tells of them again (warnings).
    after: bool,
}

static COLLECTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:=+ )?(?:(\d+)(?:/\d+)? tests? collected|no tests collected|no tests ran)\b.* in [\d.]+ ?s(?:econds)?(?: \([\d:]+\))?(?: =+)?$")
        .expect("a constant")
});

impl Form for Pytest {
    fn line(&mut self, text: &str) {
        if text.contains(" in ")
            && let Some(found) = COLLECTED.captures(text)
        {
            self.after = true;
            // Before pytest 6.2 nothing said how many, and `no tests ran` was true.
            let silent = text.contains("no tests ran");
            let number = found.get(1).and_then(|number| number_of(number.as_str()));
            self.tally = if silent { None } else { Some(number.unwrap_or(0)) };
        } else if text.starts_with("=====") && self.names.number > 0 {
            self.after = true;
        } else if self.after || text.starts_with([' ', '<']) {
        } else if text.split_once("::").is_some_and(|(file, name)| is_file(file) && !name.is_empty()) {
            self.names.push(text);
        } else if let Some((file, number)) = text.rsplit_once(": ")
            && is_python(file)
            && let Some(number) = number_of(number)
        {
            self.files.number(number);
        }
    }

    fn finish(self: Box<Self>) -> Option<Listed> {
        if self.tally.is_none() && self.names.number == 0 {
            return (self.files.number > 0).then(|| self.files.listed("pytest", None));
        }
        (self.tally.is_some() || self.after).then(|| self.names.listed("pytest", self.tally))
    }
}

/// Whether what stands before `::` may name a file; a module of Rust has no ending.
fn is_file(name: &str) -> bool {
    name.rsplit(['/', '\\']).next().is_some_and(|name| name.contains('.'))
}

static TALLY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\d+) tests?, (\d+) benchmarks?$").expect("a constant"));

#[derive(Default)]
struct CargoTest {
    names: Names,
    /// Since the last tally.
    here: u64,
    tally: Option<u64>,
    /// A tally and the lines before it disagree.
    wrong: bool,
}

impl Form for CargoTest {
    fn line(&mut self, text: &str) {
        // What is a benchmark runs once as a test, too.
        if let Some(name) = text.strip_suffix(": test").or_else(|| text.strip_suffix(": benchmark")) {
            if !name.is_empty() && !name.starts_with(' ') {
                self.names.push(name);
                self.here += 1;
            }
        } else if text.starts_with(|c: char| c.is_ascii_digit())
            && let Some(found) = TALLY.captures(text)
        {
            let number = |at| number_of(&found[at]).unwrap_or(0);
            let told = number(1) + number(2);
            self.wrong |= told != self.here;
            self.here = 0;
            self.tally = Some(self.tally.unwrap_or(0) + told);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Listed> {
        if self.wrong {
            self.names.lose();
        }
        // `--format terse` has no tallies; a cut listing lacks the last.
        let tally = self.tally.map(|tally| tally + self.here);
        (tally.is_some() || self.names.number > 0).then(|| self.names.listed("cargo-test", tally))
    }
}

static GO_PACKAGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:ok  \t\S+\t.*|\?   \t\S+\t\[no test files\])$").expect("a constant"));
static GO_NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:Test|Fuzz|Example)(?:[^\p{Ll}\s]\S*)?$").expect("a constant"));

#[derive(Default)]
struct GoTest {
    names: Names,
    packages: u64,
}

impl Form for GoTest {
    fn line(&mut self, text: &str) {
        if text.starts_with(['T', 'F', 'E']) && GO_NAME.is_match(text) {
            self.names.push(text);
        } else if text.starts_with(['o', '?']) && GO_PACKAGE.is_match(text) {
            self.packages += 1;
        }
    }

    fn finish(self: Box<Self>) -> Option<Listed> {
        (self.packages > 0).then(|| self.names.listed("go-test", None))
    }
}

/// A binary's id: a package, and perhaps `::` and what of it.
static BINARY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z0-9_-]+(?:::[A-Za-z0-9_/-]+)*$").expect("a constant"));

#[derive(Default)]
struct Nextest {
    names: Names,
    /// Names stand below it.
    binary: Option<String>,
    /// A line that the form does not have.
    other: bool,
}

impl Form for Nextest {
    fn line(&mut self, text: &str) {
        if text.is_empty() || self.other {
            return;
        }
        let binary = |text: &str| BINARY.is_match(text);
        match (text.strip_prefix("    "), &self.binary) {
            (Some(name), Some(binary)) if !name.starts_with(' ') => self.names.push(&format!("{binary} {name}")),
            (None, _) if text.strip_suffix(':').is_some_and(binary) => {
                self.binary = Some(clip(text.trim_end_matches(':')));
            }
            // Doctests have blanks in their names; nextest runs none.
            (None, None) if text.split_once(' ').is_some_and(|(id, name)| binary(id) && is_rust(name)) => {
                self.names.push(text);
            }
            _ => self.other = true,
        }
    }

    fn finish(self: Box<Self>) -> Option<Listed> {
        (!self.other && self.names.number > 0).then(|| self.names.listed("nextest", None))
    }
}

fn is_rust(name: &str) -> bool {
    !name.is_empty() && name.split("::").all(|part| !part.is_empty() && !part.contains(char::is_whitespace))
}

#[derive(Default)]
struct Bats {
    number: Option<u64>,
    other: bool,
}

impl Form for Bats {
    fn line(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let number = number_of(text.trim());
        self.other |= number.is_none() || self.number.is_some();
        self.number = number;
    }

    fn finish(self: Box<Self>) -> Option<Listed> {
        let number = self.number.filter(|_| !self.other)?;
        Some(Listed { number, names: Vec::new(), form: "bats" })
    }
}

struct Lines {
    expression: Regex,
    names: Names,
}

impl Form for Lines {
    fn line(&mut self, text: &str) {
        if let Some(found) = self.expression.captures(text) {
            let name = found.name("name").or_else(|| found.get(1)).or_else(|| found.get(0));
            self.names.push(name.map_or("", |name| name.as_str()));
        }
    }

    fn finish(self: Box<Self>) -> Option<Listed> {
        (self.names.number > 0).then(|| self.names.listed("lines", None))
    }
}

#[cfg(test)]
mod tests;
