//! One line of `go test -json`.

use std::borrow::Cow;

use serde::Deserialize;

/// What test2json says; fields that are not needed are passed over.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Event<'t> {
    #[serde(borrow)]
    pub action: Cow<'t, str>,
    #[serde(borrow, default)]
    pub package: Option<Cow<'t, str>>,
    #[serde(borrow, default)]
    pub test: Option<Cow<'t, str>>,
    #[serde(borrow, default)]
    pub output: Option<Cow<'t, str>>,
}

/// The event in a line, if it is one.
pub fn event(text: &str) -> Option<Event<'_>> {
    if !text.starts_with("{\"") || !text.ends_with('}') || !text.contains("\"Action\":") {
        return None;
    }
    serde_json::from_str(text).ok()
}
