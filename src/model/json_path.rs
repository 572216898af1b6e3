//! A path to values in a document, as a manifest names commands by it.

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// `.name` or `['name']`
    Child(String),
    /// `[2]`, or `[-1]` from the end.
    Index(i64),
    /// `.*` or `[*]`
    Every,
    /// `..`: the values here and all below, for the step that follows.
    Below,
}

/// Steps from the root of a document; in the form of `JSONPath` (RFC 9535), without filters and slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    pub steps: Vec<PathStep>,
    /// As it is written.
    pub text: String,
}

/// A file that wires commands, as a manifest names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WiringSource {
    /// Relative to the project.
    pub file: String,
    /// Where its commands are; `None` for a file in a form that is known by its name.
    pub commands: Option<JsonPath>,
}
