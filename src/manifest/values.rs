//! The grammars of single values: ids, durations, counts, needs and the like.

use std::time::Duration;

use schemars::{Schema, json_schema};

use super::text::{Fault, Grammar, pattern};
use crate::model::{CaseCount, Need};

/// The version of the manifest's form that is read here.
pub const VERSION: i64 = 1;

/// The version of the form; 1.
#[derive(Debug, Clone)]
pub struct Version;

impl Grammar for Version {
    const WHAT: &'static str = "the version of the manifest's form";
    const NAME: &'static str = "Version";

    fn text(text: &str) -> Result<Self, Fault> {
        Err(Fault::new(format!("expected {}, found the text \"{text}\"", Self::WHAT)).help("write `version: 1`"))
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        if integer == VERSION {
            return Ok(Self);
        }
        Err(Fault::new(format!("version {integer} of the manifest's form is not known"))
            .help("this hostproof reads `version: 1`"))
    }

    fn schema() -> Schema {
        json_schema!({"type": "integer", "const": VERSION})
    }
}

/// The id of a check.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CheckId(pub String);

impl Grammar for CheckId {
    const WHAT: &'static str = "an id";
    const NAME: &'static str = "CheckId";

    fn text(text: &str) -> Result<Self, Fault> {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let valid = text.bytes().next().is_some_and(letter)
            && text.bytes().all(|byte| letter(byte) || matches!(byte, b'.' | b'_' | b'/' | b'-'));
        if valid {
            return Ok(Self(text.to_owned()));
        }
        Err(Fault::new(format!("\"{text}\" is not an id"))
            .help("an id begins with a-z or 0-9 and goes on with those and `.`, `_`, `/`, `-`"))
    }

    fn schema() -> Schema {
        pattern("^[a-z0-9][a-z0-9._/-]*$")
    }
}

/// A text that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled(pub String);

impl Grammar for Filled {
    const WHAT: &'static str = "a text";
    const NAME: &'static str = "Filled";

    fn text(text: &str) -> Result<Self, Fault> {
        if text.trim().is_empty() { Err(Fault::new("this text must not be empty")) } else { Ok(Self(text.to_owned())) }
    }

    fn schema() -> Schema {
        pattern(r"\S")
    }
}

/// The name of a variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariableName(pub String);

impl Grammar for VariableName {
    const WHAT: &'static str = "the name of a variable";
    const NAME: &'static str = "VariableName";

    fn text(text: &str) -> Result<Self, Fault> {
        if text.is_empty() || text.contains(['=', '\0']) {
            return Err(Fault::new(format!("\"{text}\" cannot be the name of a variable"))
                .help("a name is not empty and has no `=`; the value belongs after a colon: `NAME: value`"));
        }
        Ok(Self(text.to_owned()))
    }

    fn schema() -> Schema {
        pattern("^[^=]+$")
    }
}

/// The name of a variable that a check takes over from its caller.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InheritedName(pub String);

impl Grammar for InheritedName {
    const WHAT: &'static str = VariableName::WHAT;
    const NAME: &'static str = "InheritedName";

    fn text(text: &str) -> Result<Self, Fault> {
        let VariableName(name) = VariableName::text(text)?;
        if name.starts_with("GIT_") {
            return Err(Fault::new(format!("`{name}` is never inherited"))
                .help("git's own variables would turn the check on the repository that a hook runs in")
                .help("if it is meant, set it under `env`"));
        }
        Ok(Self(name))
    }

    fn schema() -> Schema {
        VariableName::schema()
    }
}

/// The name of a variable that a check sets or removes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnName(pub String);

impl Grammar for OwnName {
    const WHAT: &'static str = VariableName::WHAT;
    const NAME: &'static str = "OwnName";

    fn text(text: &str) -> Result<Self, Fault> {
        let VariableName(name) = VariableName::text(text)?;
        if matches!(&*name, "HOSTPROOF_CHECK" | "HOSTPROOF_PROJECT" | "HOSTPROOF_SANDBOX") {
            return Err(Fault::new(format!("`{name}` is set by hostproof itself"))
                .help("processes are known by it; choose another name"));
        }
        Ok(Self(name))
    }

    fn schema() -> Schema {
        VariableName::schema()
    }
}

/// A regular expression that compiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(pub String);

impl Grammar for Expression {
    const WHAT: &'static str = "a regular expression";
    const NAME: &'static str = "Expression";

    fn text(text: &str) -> Result<Self, Fault> {
        match regex::Regex::new(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(error) => {
                // The last line has the reason; those before draw the expression, which the report does as well.
                let error = error.to_string();
                let reason = error.lines().last().unwrap_or_default();
                let reason = reason.strip_prefix("error: ").unwrap_or(reason);
                Err(Fault::new(format!("not a regular expression: {reason}"))
                    .help("the syntax is that of https://docs.rs/regex; a backslash before a sign takes it as it is"))
            }
        }
    }

    fn schema() -> Schema {
        json_schema!({"type": "string"})
    }
}

/// How long a check may run.
#[derive(Debug, Clone)]
pub struct Timeout(pub Duration);

/// How long the processes of a check may outlive it.
#[derive(Debug, Clone)]
pub struct Grace(pub Duration);

/// How long something may come about after a check's end.
#[derive(Debug, Clone)]
pub struct Within(pub Duration);

const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);
const MAX_GRACE: Duration = Duration::from_secs(600);

const DURATION: &str = "a duration";
const DURATION_PATTERN: &str = r"^(?=\d)(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$";

impl Grammar for Timeout {
    const WHAT: &'static str = DURATION;
    const NAME: &'static str = "Timeout";

    fn text(text: &str) -> Result<Self, Fault> {
        let timeout = duration(text)?;
        if timeout.is_zero() {
            return Err(Fault::new("a time limit of nothing ends every check before it begins")
                .help("write how long the check may take, as `10m`"));
        }
        if timeout > MAX_TIMEOUT {
            return Err(Fault::new("a time limit of more than a day").help("24h is the most"));
        }
        Ok(Self(timeout))
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        Err(no_unit(integer))
    }

    fn schema() -> Schema {
        pattern(DURATION_PATTERN)
    }
}

impl Grammar for Grace {
    const WHAT: &'static str = DURATION;
    const NAME: &'static str = "Grace";

    fn text(text: &str) -> Result<Self, Fault> {
        let grace = duration(text)?;
        if grace > MAX_GRACE {
            return Err(Fault::new("a grace of more than ten minutes").help("10m is the most"));
        }
        Ok(Self(grace))
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        Err(no_unit(integer))
    }

    fn schema() -> Schema {
        pattern(DURATION_PATTERN)
    }
}

impl Grammar for Within {
    const WHAT: &'static str = DURATION;
    const NAME: &'static str = "Within";

    fn text(text: &str) -> Result<Self, Fault> {
        let within = duration(text)?;
        if within > MAX_GRACE {
            return Err(Fault::new("more than ten minutes after the end").help("10m is the most"));
        }
        Ok(Self(within))
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        Err(no_unit(integer))
    }

    fn schema() -> Schema {
        pattern(DURATION_PATTERN)
    }
}

/// How old a receipt may be.
#[derive(Debug, Clone)]
pub struct Age(pub Duration);

const HOUR: u64 = 3600;
const MAX_AGE: Duration = Duration::from_secs(3660 * 24 * HOUR);

impl Grammar for Age {
    const WHAT: &'static str = "an age";
    const NAME: &'static str = "Age";

    fn text(text: &str) -> Result<Self, Fault> {
        let fault = || {
            Fault::new(format!("\"{text}\" is not an age"))
                .help("write whole numbers of days and hours, the days first: `14d`, `36h`, `1d12h`")
        };
        let (days, hours) = match text.split_once('d') {
            Some((days, "")) => (whole(days).filter(|_| !days.is_empty()), Some(0)),
            Some((days, rest)) => {
                let hours = rest.strip_suffix('h').filter(|hours| !hours.is_empty());
                (whole(days).filter(|_| !days.is_empty()), hours.and_then(whole))
            }
            None => (Some(0), text.strip_suffix('h').filter(|hours| !hours.is_empty()).and_then(whole)),
        };
        let seconds =
            days.zip(hours).and_then(|(days, hours)| days.checked_mul(24)?.checked_add(hours)?.checked_mul(HOUR));
        let age = Duration::from_secs(seconds.ok_or_else(fault)?);
        if age.is_zero() {
            return Err(Fault::new("an age of nothing lets no receipt pass").help("write how old one may be, as `14d`"));
        }
        if age > MAX_AGE {
            return Err(Fault::new("an age of more than ten years").help("3660d is the most"));
        }
        Ok(Self(age))
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        Err(Fault::new(format!("{integer} has no unit")).help(&format!("write {integer}d for days; there are d and h")))
    }

    fn schema() -> Schema {
        pattern(r"^(?=\d)(\d+d)?(\d+h)?$")
    }
}

fn no_unit(integer: i64) -> Fault {
    Fault::new(format!("{integer} has no unit"))
        .help(&format!("write {integer}s for seconds; there are ms, s, m and h"))
}

/// A duration in the form that manifests use, for the command line.
///
/// # Errors
///
/// A sentence that says how durations are written.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    duration(text).map_err(|fault| fault.sentence())
}

/// Numbers with units, the larger first, each once: `1h30m`, `10m`, `1s`, `250ms`.
fn duration(text: &str) -> Result<Duration, Fault> {
    let fault = || {
        Fault::new(format!("\"{text}\" is not a duration"))
            .help("write whole numbers with units, the larger first: `250ms`, `10s`, `1h30m`")
    };
    if let Ok(integer) = text.parse::<i64>() {
        return Err(no_unit(integer));
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    let mut last = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after.split_at(letters);
        let unit: u64 = match unit {
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1000,
            "ms" => 1,
            _ => return Err(fault()),
        };
        let number: u64 = number.parse().map_err(|_| fault())?;
        if unit >= last {
            return Err(fault());
        }
        let part = number.checked_mul(unit).map(Duration::from_millis);
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(fault)?;
        (last, rest) = (unit, after);
    }
    if last == u64::MAX { Err(fault()) } else { Ok(total) }
}

/// How many cases a check must run.
#[derive(Debug, Clone)]
pub struct Cases(pub CaseCount);

impl Grammar for Cases {
    const WHAT: &'static str = "a count of cases";
    const NAME: &'static str = "Cases";

    fn text(text: &str) -> Result<Self, Fault> {
        if text.parse::<u64>().is_ok() {
            return Err(Fault::new(format!("expected {}, found the text \"{text}\"", Self::WHAT))
                .help(&format!("write it without quotes: {text}")));
        }
        let least = text.strip_prefix(">=").and_then(|least| whole(least.trim_start()));
        least.map(|least| Self(CaseCount::AtLeast(least))).ok_or_else(|| {
            Fault::new(format!("\"{text}\" is not {}", Self::WHAT))
                .help("write 57 for exactly, or \">=57\" for at least")
        })
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        let exactly = u64::try_from(integer);
        exactly.map(|exactly| Self(CaseCount::Exactly(exactly))).map_err(|_| Fault::new("a count cannot be negative"))
    }

    fn schema() -> Schema {
        json_schema!({"oneOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^>=\s*\d+$"}]})
    }
}

/// A program that a check needs, with the least version of it: `python3>=3.11`.
#[derive(Debug, Clone)]
pub struct Program(pub Need);

impl Grammar for Program {
    const WHAT: &'static str = "a program";
    const NAME: &'static str = "Program";

    fn text(text: &str) -> Result<Self, Fault> {
        let (program, version) = match text.split_once(">=") {
            Some((program, version)) => (program.trim_end(), Some(version.trim_start())),
            None => (text, None),
        };
        let name =
            !program.is_empty() && !program.contains(|sign: char| sign.is_whitespace() || "<>=!~,".contains(sign));
        let at_least = version.map(|version| version.split('.').map(whole).collect::<Option<Vec<_>>>());
        if !name || at_least == Some(None) {
            return Err(Fault::new(format!("\"{text}\" is not a program that can be looked for"))
                .help("write its name, or its name and the least version: `python3`, `python3>=3.11`"));
        }
        Ok(Self(Need { program: program.to_owned(), at_least: at_least.flatten(), optional: false }))
    }

    fn schema() -> Schema {
        pattern(r"^[^\s<>=!~,]+(\s*>=\s*\d+(\.\d+)*)?$")
    }
}

fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, milliseconds) in
            [("10m", 600_000), ("1s", 1000), ("250ms", 250), ("1h30m", 5_400_000), ("1m0s5ms", 60_005), ("0s", 0)]
        {
            assert_eq!(duration(text).unwrap(), Duration::from_millis(milliseconds), "{text}");
        }
        for text in
            ["", "s", "1", "1 s", "1d", "1s1m", "1s1s", "-1s", "1.5s", "1S", "99999999999999999999s", "5ms1s", "1h "]
        {
            assert!(duration(text).is_err(), "{text:?}");
        }
        assert!(duration("18446744073709551615h").is_err());
        assert!(duration("5").unwrap_err().to_string().contains("write 5s"));
        assert!(Timeout::text("0s").is_err());
        assert!(Timeout::text("24h").is_ok());
        assert!(Timeout::text("24h1ms").is_err());
        assert!(Grace::text("0s").is_ok());
        assert!(Grace::text("10m1ms").is_err());
    }

    #[test]
    fn ages() {
        for (text, hours) in [("14d", 336), ("36h", 36), ("1d12h", 36), ("3660d", 87_840)] {
            assert_eq!(Age::text(text).unwrap().0, Duration::from_secs(hours * 3600), "{text}");
        }
        for text in
            ["", "d", "h", "0d", "14", "1h1d", "-1d", "+1d", "1.5d", "14 d", "d3h", "1dh", "14m", "3660d1h", "9e9d"]
        {
            assert!(Age::text(text).is_err(), "{text:?}");
        }
        assert!(Age::text("99999999999999999999d").is_err() && Age::text("18446744073709551615d").is_err());
        assert!(Age::integer(14).unwrap_err().to_string().contains("write 14d"));
    }

    #[test]
    fn needs() {
        let Program(need) = Program::text("python3 >= 3.11").unwrap();
        assert_eq!(need, Need { program: "python3".to_owned(), at_least: Some(vec![3, 11]), optional: false });
        assert_eq!(Program::text("gh").unwrap().0.at_least, None);
        for text in ["", ">=3", "python3>=", "python3>=3.x", "python3==3", "python3>3", "a b", "python3>=3..1", "x>=-1"]
        {
            assert!(Program::text(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(Cases::text(">=57").unwrap().0, CaseCount::AtLeast(57));
        assert_eq!(Cases::integer(0).unwrap().0, CaseCount::Exactly(0));
        assert!(Cases::integer(-1).is_err());
        for text in ["57", "", ">57", "<=57", ">=", ">=-1", ">=+1"] {
            assert!(Cases::text(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn ids() {
        for id in ["a", "0", "guard/spawn-lock", "a.b_c-d/e"] {
            assert!(CheckId::text(id).is_ok(), "{id}");
        }
        for id in ["", "A", "-a", "/a", "a b", "a[x]", "a@b", "ü", "a\n"] {
            assert!(CheckId::text(id).is_err(), "{id:?}");
        }
    }
}
