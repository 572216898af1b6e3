//! From a report to what people and programs read. Each form reads the report and nothing else.

mod actions;
mod against;
mod baseline;
mod cases;
mod comparison;
mod comparison_page;
mod doctor;
mod findings;
mod gate;
mod hooks;
mod json;
mod junit;
mod kept;
mod last_words;
mod lints;
mod look;
mod receipt;
mod sarif;
mod stress;
mod summary;
mod target;
mod terminal;

pub use actions::{annotations, defused, defused_json, defused_xml, gate_annotations, lint_annotations};
pub use baseline::baseline;
pub use comparison::comparison;
pub use comparison_page::comparison_page;
pub use doctor::{doctor, terminal};
pub use gate::gate;
pub use hooks::hooks;
pub use json::{
    comparison_schema, doctor_schema, events_schema, gate_schema, hooks_schema, json, lints_schema, plain_json, schema,
    verification_schema, write_json,
};
pub use junit::write_junit;
pub use kept::{Kept, Said, kept};
pub use lints::{counts as lint_counts, hosts as trap_hosts, lints};
pub use look::Look;
pub use receipt::{said, verification};
pub use sarif::sarif;
pub use stress::stress;
pub use summary::summary;
pub use target::{Document, Target};
pub use terminal::{Again, SHOWN, check_line, details, header, last_line, list_line, of_the_run};
