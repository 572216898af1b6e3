//! What a failed check said last: often the reason is there.

use super::terminal::one_line;
use crate::model::CheckReport;

/// How many lines are shown of a failure that has no frame.
const LINES: usize = 8;
/// How many after an error that says little.
const WORDS: usize = 3;

/// The lines that are worth showing.
pub fn of(check: &CheckReport) -> Vec<String> {
    if check.frames.is_empty() { at_the_end(check) } else { after_the_error(check) }
}

/// The end of the output, for a failure that has no frame.
fn at_the_end(check: &CheckReport) -> Vec<String> {
    let output = [&check.stderr, &check.stdout].into_iter().find(|output| !output.tail.trim().is_empty());
    let Some(output) = output else { return Vec::new() };
    let lines: Vec<&str> = output.tail.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LINES);
    lines[first..].iter().map(|line| format!("|  {}", one_line(line))).collect()
}

/// What a script printed on standard error after an error that says little, such as a bare `AssertionError`: often the
/// reason is there. What follows the failure of a runner's case is the runner's own summary.
fn after_the_error(check: &CheckReport) -> Vec<String> {
    if check.cases.ran.is_some() {
        return Vec::new();
    }
    let says_little = |error: &&str| error.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    let Some(error) = check.frames.last().and_then(|frame| frame.error.as_deref()).filter(says_little) else {
        return Vec::new();
    };
    let lines: Vec<&str> = check.stderr.tail.lines().filter(|line| !line.trim().is_empty()).collect();
    let Some(at) = lines.iter().rposition(|line| line.trim() == error) else { return Vec::new() };
    // No frame of node's is a word of anybody.
    let of_trace = |line: &str| line.starts_with("    at ") || line.starts_with("Node.js v");
    let after: Vec<&str> = lines[at + 1..].iter().copied().filter(|line| !of_trace(line)).collect();
    after[after.len().saturating_sub(WORDS)..].iter().map(|line| format!("|  {}", one_line(line))).collect()
}
