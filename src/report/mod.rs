//! From a report to what people and programs read. Each form reads the report and nothing else.

mod actions;
mod against;
mod doctor;
mod findings;
mod hooks;
mod json;
mod junit;
mod last_words;
mod lints;
mod look;
mod receipt;
mod sarif;
mod summary;
mod target;
mod terminal;

pub use actions::{annotations, defused, defused_json, defused_xml, lint_annotations};
pub use doctor::{doctor, terminal};
pub use hooks::hooks;
pub use json::{
    doctor_schema, events_schema, hooks_schema, json, lints_schema, plain_json, schema, verification_schema,
};
pub use junit::junit;
pub use lints::{counts as lint_counts, hosts as trap_hosts, lints};
pub use look::Look;
pub use receipt::{receipt, verification};
pub use sarif::sarif;
pub use summary::summary;
pub use target::{Document, Target};
pub use terminal::{Again, SHOWN, check_line, details, header, last_line, list_line, of_the_run};
