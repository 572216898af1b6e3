//! From a report to what people and programs read. Each form reads the report and nothing else.

mod json;
mod look;
mod terminal;

pub use json::{Target, schema};
pub use look::Look;
pub use terminal::{Again, check_line, details, header, last_line, list_line, of_the_run};
