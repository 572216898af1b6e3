//! The report and the events as JSON.

use serde_json::Value;

use crate::model::{Comparison, Event, Examination, Gate, Hooks, Lints, Report, Verification};

/// The JSON Schema of the report, generated from its types.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Report);
    schema.insert("title".to_owned(), Value::from("hostproof report, version 1"));
    schema.to_value()
}

/// The JSON Schema of one line of `--events`, generated from its types.
#[must_use]
pub fn events_schema() -> Value {
    let mut schema = schemars::schema_for!(Event<'_>);
    schema.insert("title".to_owned(), Value::from("hostproof events, version 1: one line"));
    schema.to_value()
}

/// The JSON Schema of what `doctor --json` prints, generated from its types.
#[must_use]
pub fn doctor_schema() -> Value {
    let mut schema = schemars::schema_for!(Examination);
    schema.insert("title".to_owned(), Value::from("hostproof doctor, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `hooks --json` prints, generated from its types.
#[must_use]
pub fn hooks_schema() -> Value {
    let mut schema = schemars::schema_for!(Hooks);
    schema.insert("title".to_owned(), Value::from("hostproof hooks, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `lint --code --json` prints, generated from its types.
#[must_use]
pub fn lints_schema() -> Value {
    let mut schema = schemars::schema_for!(Lints);
    schema.insert("title".to_owned(), Value::from("hostproof lint --code, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `receipt verify --json` prints, generated from its types.
#[must_use]
pub fn verification_schema() -> Value {
    let mut schema = schemars::schema_for!(Verification);
    schema.insert("title".to_owned(), Value::from("hostproof receipt verify, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `compare --json` prints, generated from its types.
#[must_use]
pub fn comparison_schema() -> Value {
    let mut schema = schemars::schema_for!(Comparison);
    schema.insert("title".to_owned(), Value::from("hostproof compare, version 1"));
    schema.to_value()
}

/// The JSON Schema of what `gate --json` prints, generated from its types.
#[must_use]
pub fn gate_schema() -> Value {
    let mut schema = schemars::schema_for!(Gate);
    schema.insert("title".to_owned(), Value::from("hostproof gate, version 1"));
    schema.to_value()
}

/// JSON of what others wrote, in which nothing steers a terminal: what JSON itself leaves as it is, is escaped.
#[must_use]
pub fn plain_json(json: &str) -> String {
    let plain = |c: char| match c {
        '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    json.chars().map(plain).collect()
}

/// The report as a file.
#[must_use]
pub fn json(report: &Report) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(report).unwrap_or_default();
    json.push(b'\n');
    json
}
