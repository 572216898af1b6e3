//! The error of decoding: a message, its remedy, and the value to blame.

use std::fmt::{self, Display};

use serde::de;

use super::node::{NodeId, Span};
use super::problem::Problem;

/// What separates a message from its remedy in an error that a `Deserialize` of ours makes, since serde hands on
/// nothing but text.
pub const HELP: &str = "\nhelp: ";

/// Keys that the manifest will have. Each is refused until the part that makes it work exists.
const LATER: [&str; 1] = ["link"];

/// Why a value cannot be what its key takes.
#[derive(Debug, Default)]
pub struct DecodeError {
    message: String,
    help: Vec<String>,
    /// Which value to take out so that the rest can be read, and what to mark.
    place: Option<(NodeId, Span)>,
    /// For a key that is not known: those that are. The message is its name, until it is seen where the key stands.
    known_keys: Option<&'static [&'static str]>,
    is_unknown_key: bool,
    /// The key that was meant by one that is not known.
    pub meant: Option<&'static str>,
    /// Whether it says no more than that a list or map is empty.
    pub is_emptiness: bool,
}

impl DecodeError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Sets the place unless something further in has.
    pub fn at(mut self, id: NodeId, span: &Span) -> Self {
        self.place.get_or_insert_with(|| (id, span.clone()));
        self
    }

    /// The same for a key, of which those in `without` are not known where it stands.
    pub fn at_key(mut self, id: NodeId, span: &Span, without: &[&str]) -> Self {
        if let Some(known) = self.known_keys.take() {
            let known: Vec<_> = known.iter().copied().filter(|known| !without.contains(known)).collect();
            self = Self { place: self.place, ..unknown_key(&self.message, &known) };
        }
        self.at(id, span)
    }

    pub fn has_help(&self) -> bool {
        !self.help.is_empty()
    }

    pub fn place(&self) -> Option<(NodeId, Span)> {
        self.place.clone()
    }

    pub fn into_problem(self, span: Span) -> Problem {
        Problem {
            span: Some(span),
            message: self.message,
            label: self.is_unknown_key.then(|| "not known here".to_owned()),
            also: Vec::new(),
            help: self.help,
        }
    }
}

fn unknown_key(name: &str, known: &[&'static str]) -> DecodeError {
    let of_a_check = known.contains(&"timeout");
    if LATER.contains(&name) && (of_a_check || known.contains(&"checks") || known.contains(&"wirings")) {
        return DecodeError::new(format!("the key `{name}` is not known in this version of hostproof"))
            .help("remove it, or use a version that has it; keys are never accepted and ignored");
    }
    let error = DecodeError { is_unknown_key: true, ..DecodeError::new(format!("unknown key `{name}`")) };
    let error = if of_a_check && ["exit", "cases", "skipped", "stdout", "stderr"].contains(&name) {
        error.help(format!("it belongs into `expect`: `expect: {{{name}: …}}`"))
    } else {
        did_you_mean(error, name, known)
    };
    error.help(format!("known here: {}", known.join(", ")))
}

fn did_you_mean(error: DecodeError, name: &str, known: &[&'static str]) -> DecodeError {
    match nearest(name, known) {
        Some(nearest) => DecodeError { meant: Some(nearest), ..error }.help(format!("did you mean `{nearest}`?")),
        None => error,
    }
}

/// The known name that is most like it, if one is.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = name.to_lowercase().replace('-', "_");
    let likeness = |known: &str| strsim::jaro_winkler(&name, &known.replace('-', "_"));
    known
        .iter()
        .map(|known| (*known, likeness(known)))
        .filter(|(_, likeness)| *likeness >= 0.75)
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(known, _)| known)
}

/// What was found, in the words of a manifest rather than of Rust.
fn found(unexpected: &de::Unexpected<'_>) -> String {
    match unexpected {
        de::Unexpected::Bool(value) => format!("`{value}`"),
        de::Unexpected::Signed(value) => format!("the integer {value}"),
        de::Unexpected::Unsigned(value) => format!("the integer {value}"),
        de::Unexpected::Float(value) => format!("the number {value}"),
        de::Unexpected::Str(value) => format!("the text \"{value}\""),
        de::Unexpected::Unit | de::Unexpected::Option => "nothing".to_owned(),
        de::Unexpected::Seq => "a list".to_owned(),
        de::Unexpected::Map => "a map".to_owned(),
        other => other.to_string(),
    }
}

fn expected(expected: &dyn de::Expected) -> String {
    match expected.to_string().as_str() {
        "a sequence" => "a list".to_owned(),
        "a string" => "a text".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "i32" | "i64" => "an integer".to_owned(),
        "u32" | "u64" => "an integer that is not negative".to_owned(),
        other => other.to_owned(),
    }
}

impl de::Error for DecodeError {
    fn custom<T: Display>(text: T) -> Self {
        let text = text.to_string();
        let mut parts = text.split(HELP);
        let error = Self::new(parts.next().unwrap_or_default());
        parts.fold(error, Self::help)
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, exp: &dyn de::Expected) -> Self {
        Self::new(format!("expected {}, found {}", expected(exp), found(&unexpected)))
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, exp: &dyn de::Expected) -> Self {
        Self::invalid_type(unexpected, exp)
    }

    fn invalid_length(length: usize, exp: &dyn de::Expected) -> Self {
        let error = Self::new(format!("{} must not be empty", expected(exp)));
        Self { is_emptiness: length == 0, ..error }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self { known_keys: Some(known), ..Self::new(field) }
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let error = Self::new(format!("`{variant}` is not known here"));
        did_you_mean(error, variant, known).help(format!("known here: {}", known.join(", ")))
    }
}

impl Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_name() {
        let known = ["timeout", "title", "tags", "not_contains", "stdin"];
        for (name, expected) in [
            ("tiemout", Some("timeout")),
            ("time_out", Some("timeout")),
            ("Timeout", Some("timeout")),
            ("not-contains", Some("not_contains")),
            ("tag", Some("tags")),
            ("sdtin", Some("stdin")),
            ("banana", None),
        ] {
            assert_eq!(nearest(name, &known), expected, "{name}");
        }
    }
}
