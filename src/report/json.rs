//! The report and the events as JSON.

use serde_json::Value;

use crate::model::{Event, Examination, Hooks, Report};

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

/// The report as a file.
#[must_use]
pub fn json(report: &Report) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(report).unwrap_or_default();
    json.push(b'\n');
    json
}
