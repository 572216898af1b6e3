//! From a report to what people and programs read. Each form reads the report and nothing else.

mod actions;
mod against;
mod baseline;
mod comparison;
mod comparison_page;
mod doctor;
mod findings;
mod hooks;
mod json;
mod junit;
mod last_words;
mod look;
mod receipt;
mod summary;
mod target;
mod terminal;

pub use actions::{annotations, defused, defused_json, defused_xml};
pub use baseline::baseline;
pub use comparison::comparison;
pub use comparison_page::comparison_page;
pub use doctor::{doctor, terminal};
pub use hooks::hooks;
pub use json::{
    comparison_schema, doctor_schema, events_schema, hooks_schema, json, plain_json, schema, verification_schema,
};
pub use junit::junit;
pub use look::Look;
pub use receipt::{receipt, verification};
pub use summary::summary;
pub use target::{Document, Target};
pub use terminal::{Again, SHOWN, check_line, details, header, last_line, list_line, of_the_run};
