//! From the bytes of a file to a run.

use std::path::Path;

use serde::Deserialize;

use crate::model::{Reading, Report, SCHEMA};
use crate::readers::{Context, JunitFile, junit};

/// A run as its file tells it.
#[derive(Debug, Clone)]
pub struct Side {
    /// What it is called; see [`super::label`].
    pub label: String,
    /// The file, as the user named it.
    pub file: String,
    pub document: Document,
}

/// What a file turned out to be.
#[derive(Debug, Clone)]
pub enum Document {
    Report(Box<Report>),
    /// Of JUnit's XML only cases are known.
    Junit(Box<Reading>),
}

impl Document {
    /// The report, if it is one.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Report(report) => Some(report),
            Self::Junit(_) => None,
        }
    }
}

/// What every document of hostproof begins with, and what a receipt has instead.
#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
    #[serde(rename = "payloadType")]
    payload: Option<String>,
}

/// Reads a file's bytes as what they are.
///
/// # Errors
///
/// What is wrong with them, and what to do, for the end of a sentence that begins with the file's name.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Side, String> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let document = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => Document::Report(Box::new(report(bytes)?)),
        Some(b'<') => Document::Junit(Box::new(junit_file(file, bytes)?)),
        None => return Err("it is empty".to_owned()),
        Some(_) => {
            return Err("it is neither a report of hostproof (JSON) nor a JUnit file (XML); \
                        hostproof run --report FILE writes the one, most test runners the other"
                .to_owned());
        }
    };
    Ok(Side { label: String::new(), file: file.to_owned(), document })
}

fn report(bytes: &[u8]) -> Result<Report, String> {
    let broken = |error: &serde_json::Error| {
        if error.is_eof() {
            format!("it ends in the middle ({error}); was it being written? A run writes its report when all is over")
        } else {
            format!("it is no report that can be read: {error}")
        }
    };
    let head: Head = serde_json::from_slice(bytes).map_err(|error| broken(&error))?;
    match head.schema.as_deref() {
        Some(SCHEMA) => {}
        Some(other) if other.starts_with("hostproof.report/") => {
            return Err(format!("it has the form {other}, and this hostproof reads {SCHEMA}; take a newer one"));
        }
        Some(other) => {
            return Err(format!(
                "it is a document of another kind, {other:?}; hostproof run --report FILE writes reports"
            ));
        }
        None if head.payload.is_some() => {
            return Err(
                "it is a receipt, which tells of no case; hostproof run --report FILE writes reports".to_owned()
            );
        }
        None => {
            let why = "it is JSON and says nothing of a schema, so it is no report of hostproof";
            return Err(format!("{why}; hostproof run --report FILE writes reports"));
        }
    }
    serde_json::from_slice(bytes).map_err(|error| broken(&error))
}

fn junit_file(file: &str, bytes: &[u8]) -> Result<Reading, String> {
    let nowhere = Path::new("");
    let reading = junit([JunitFile { name: file.to_owned(), bytes: Box::new(bytes) }], &Context::new(nowhere, nowhere));
    // A file of which a part could be read is one, and what it lacks is not known.
    if reading.cases.is_empty() && !reading.notes.is_empty() {
        let why = reading.notes.join("; ");
        let why = why.strip_prefix(&format!("{file}: ")).unwrap_or(&why);
        return Err(format!("it is no JUnit file that can be read: {why}"));
    }
    Ok(reading)
}
