//! `hostproof schema`

use super::show::Show;
use crate::cli::{Document, SchemaArgs};
use crate::error::ExitCode;
use crate::{manifest, receipt, report};

/// Prints the schema of a document.
pub fn run(args: &SchemaArgs) -> ExitCode {
    let schema = match args.document {
        Document::Manifest => manifest::schema(),
        Document::Report => report::schema(),
        Document::Events => report::events_schema(),
        Document::Doctor => report::doctor_schema(),
        Document::Hooks => report::hooks_schema(),
        Document::Gate => report::gate_schema(),
        Document::Lints => report::lints_schema(),
        Document::Receipt => receipt::statement::schema(),
        Document::Verification => report::verification_schema(),
        Document::Revocation => receipt::revocation::schema(),
        Document::Comparison => report::comparison_schema(),
    };
    // Whoever stops reading has seen enough.
    let _ = Show::json(&serde_json::to_string_pretty(&schema).unwrap_or_default());
    ExitCode::Ok
}
