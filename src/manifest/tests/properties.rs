//! Whatever the bytes are, they are answered.

use proptest::prelude::*;

use super::project::Project;
use crate::error::Error;
use crate::model::Platform;

/// Pieces of manifests and of what breaks them, in any order.
const PIECES: [&str; 40] = [
    "version: 1\n",
    "checks:\n",
    "  - id: a\n",
    "    run: [x]\n",
    "    ",
    "\t",
    "\n",
    "- ",
    "? ",
    ": ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&a ",
    "*a",
    "!!str ",
    "<<: ",
    "\"",
    "'",
    "|\n",
    ">-\n",
    "#",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "\u{feff}",
    "\\x",
    "é",
    "\u{1f980}",
    "\r\n",
    "\r",
    "\u{85}",
    "expect: {stdout: [{matches: '('}]}",
    "env: {A: 1}",
    "defaults: {",
    "timeout: 5",
    "needs: [{",
    "linux: {",
];

fn is_answered(content: &[u8]) -> Result<(), TestCaseError> {
    match Project::with(content).load_on(Platform::Linux) {
        Ok(loaded) => prop_assert!(!loaded.checks.is_empty()),
        Err(Error::Manifest(text)) => {
            prop_assert!(text.starts_with("error: "), "{text}");
            prop_assert!(text.contains("checks.d/a.yaml"), "{text}");
            let control = |character: char| character.is_control() && character != '\n';
            prop_assert!(!text.contains(control), "{text:?}");
        }
        Err(error) => prop_assert!(false, "{error}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_bytes_are_answered(content in proptest::collection::vec(any::<u8>(), 0..300)) {
        is_answered(&content)?;
    }

    #[test]
    fn any_text_is_answered(content in "(?s)(version: 1\n)?.{0,80}") {
        is_answered(content.as_bytes())?;
    }

    #[test]
    fn any_pieces_are_answered(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40)) {
        is_answered(pieces.concat().as_bytes())?;
    }
}
