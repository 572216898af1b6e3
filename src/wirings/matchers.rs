//! What hosts' matchers are for.

use regex::Regex;

use super::hosts::{Matchers, form};
use crate::model::Host;

/// Whether a host's matcher is for a value.
///
/// # Errors
///
/// If it can't be understood here: a sentence.
pub fn matches(host: Host, matcher: &str, value: &str) -> Result<bool, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ',' | '|' | ' ');
    match form(host).map_or(Matchers::Unknown, |form| form.matchers) {
        Matchers::Unknown => Ok(true),
        Matchers::ListOrExpression if matcher.chars().all(is_plain) => {
            Ok(matcher.split(['|', ',']).any(|name| name.trim() == value))
        }
        Matchers::ListOrExpression | Matchers::Expression => match Regex::new(matcher) {
            Ok(expression) => Ok(expression.is_match(value)),
            Err(_) => Err(format!("its matcher {matcher:?} is no regular expression that can be understood here")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_are_taken_as_their_hosts_take_them() {
        use Host::{ClaudeCode, Copilot, Cursor};
        for (host, matcher, value, called) in [
            (ClaudeCode, "Bash", "Bash", true),
            (ClaudeCode, "Bash", "BashOutput", false),
            (ClaudeCode, "Edit|Write", "Write", true),
            (ClaudeCode, "Edit, Write", "Write", true),
            (ClaudeCode, "mcp__.*", "mcp__x__y", true),
            (ClaudeCode, "^Note", "NotebookEdit", true),
            (Cursor, "curl|wget", "echo; wget x", true),
            (Cursor, "^npm ", "yarn", false),
            (Copilot, "anything", "else", true),
        ] {
            assert_eq!(matches(host, matcher, value), Ok(called), "{matcher} {value}");
        }
        assert!(matches(ClaudeCode, "(?=x)", "x").is_err());
    }
}
