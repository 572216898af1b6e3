//! The report as Markdown, for the page of a CI's run.

use std::io;

use super::cases::{failed, never_ran};
use super::terminal::{counts, frame_place, last_line, seconds};
use crate::model::{CheckReport, Finding, Report, Severity, Verdict};

/// How much of a text is shown.
const LONGEST: usize = 1000;
/// How many places and findings of a check are shown.
const MOST: usize = 10;
/// The longest that may have to be said of what did not fit.
const CUT: usize = 200;

/// The report in at most so many bytes: a table of the checks, what stands against the red ones, and the counts. Where not
/// all fits, the rows and the details that do, and how many do not. `checks` gives those of the report, which need not have
/// them itself. `None` if there is no room for anything.
///
/// # Errors
///
/// That of a check that can't be had.
pub fn summary<I: Iterator<Item = io::Result<CheckReport>>>(
    report: &Report,
    checks: impl Fn() -> I,
    room: usize,
) -> io::Result<Option<String>> {
    let title = format!("### hostproof on {}\n", text(&format!("{} {}", report.host.os, report.host.arch)));
    let stopped = report.run.stopped.map(|stop| format!("Stopped before the end: {}.\n\n", text(stop.words())));
    let counts =
        format!("\n{}**{}**\n", stopped.unwrap_or_default(), text(&last_line(&report.totals, report.run.stopped)));
    let Some(mut left) = room.checked_sub(title.len() + counts.len() + TABLE.len() + CUT) else { return Ok(None) };
    let mut document = title;
    let mut missing = Vec::new();
    let mut part = |head: &str, pieces: &mut dyn Iterator<Item = io::Result<String>>, what: &str| {
        let (mut all, mut shown) = (0, 0);
        for piece in pieces {
            let piece = piece?;
            if all == 0 {
                document.push_str(head);
            }
            // After one that does not fit there is none: what is missing is the end.
            if shown == all && piece.len() <= left {
                left -= piece.len();
                shown += 1;
                document.push_str(&piece);
            }
            all += 1;
        }
        if shown < all {
            missing.push(format!("{} of {all} {what}", all - shown));
        }
        io::Result::Ok(())
    };
    let those =
        |red: bool| checks().filter(move |check| check.as_ref().map_or(true, |check| check.verdict.is_red() == red));
    let not_run = report.run.not_run.iter().map(|id| format!("| not run | {} | | | |\n", code(id)));
    // The red ones first: they are what somebody looks for.
    let rows = those(true).chain(those(false)).map(|check| check.map(|check| row(&check)));
    part(TABLE, &mut rows.chain(not_run.map(Ok)), "rows")?;
    let red = those(true).map(|check| check.map(|check| details(&check)));
    part("", &mut red.chain(of_the_run(&report.findings).map(Ok)), "details")?;
    if !missing.is_empty() {
        document.push_str(&format!("\nNo room for {}: the log and the report have them.\n", missing.join(" and ")));
    }
    Ok(Some(document + &counts))
}

const TABLE: &str = "\n| | check | cases | time | |\n| --- | --- | ---: | ---: | --- |\n";

fn row(check: &CheckReport) -> String {
    let verdict = match check.verdict {
        Verdict::Passed | Verdict::Skipped => check.verdict.name().to_owned(),
        red => format!("**{}**", red.name()),
    };
    let reason = check.reason.as_deref().map(text).unwrap_or_default();
    let cases = counts(check).replace('-', "");
    let time = if check.started.is_some() { seconds(check) } else { String::new() };
    format!("| {verdict} | {} | {cases} | {time} | {reason} |\n", code(&check.id))
}

fn details(check: &CheckReport) -> String {
    let mut lines = Vec::new();
    for frame in check.frames.iter().take(MOST) {
        let error = frame.error.as_deref().map(|error| format!(": {}", code(error))).unwrap_or_default();
        lines.push(format!("- {}{error}", code(&frame_place(frame, &frame.file))));
    }
    more(&mut lines, check.frames.len(), "places");
    let errors: Vec<&Finding> = check.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    lines.extend(errors.iter().take(MOST).map(|finding| of_finding(finding)));
    more(&mut lines, errors.len(), "findings");
    if lines.is_empty() {
        lines.extend(check.reason.as_deref().map(|reason| format!("- {}", text(reason))));
    }
    let cases = [failed(check, false), never_ran(check, false)].into_iter().flatten();
    lines.extend(cases.map(|cases| format!("- {}", text(&cases))));
    let origin = check.origin.as_deref().map(|origin| format!(" ({})", code(origin))).unwrap_or_default();
    format!("\n#### {}{origin}\n\n{}\n", code(&check.id), lines.join("\n"))
}

fn more(lines: &mut Vec<String>, all: usize, what: &str) {
    if all > MOST {
        lines.push(format!("- and {} more {what}", all - MOST));
    }
}

fn of_finding(finding: &Finding) -> String {
    let remedy = finding.remedy.as_deref().map(|remedy| format!("<br>mend: {}", text(remedy))).unwrap_or_default();
    format!("- **{}** {}{remedy}", finding.kind.slug(), text(&finding.message))
}

/// What concerns the run as a whole.
fn of_the_run(findings: &[Finding]) -> Option<String> {
    let lines: Vec<String> = findings.iter().map(of_finding).collect();
    (!lines.is_empty()).then(|| format!("\n#### The run\n\n{}\n", lines.join("\n")))
}

/// Text that is shown as it is: nothing in it is a sign of Markdown or HTML, and it has one line.
pub(super) fn text(text: &str) -> String {
    let mut escaped = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == LONGEST {
            escaped.push('…');
            break;
        }
        match c {
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => escaped.push(' '),
            '-' if index == 0 => escaped.push_str("&#45;"),
            ' ' | '.' | ',' | '/' | '-' | '=' | '?' | ';' | '%' | '(' | ')' => escaped.push(c),
            c if c.is_ascii_punctuation() => escaped.push_str(&format!("&#{};", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The same in the letters of code, where no name of a person and no number of an issue is looked for.
pub(super) fn code(code: &str) -> String {
    format!("<code>{}</code>", text(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_sign() {
        assert_eq!(
            text("a|b`c`<b>*_~[x](y)#1 @me &amp; \\ $x$\nb"),
            "a&#124;b&#96;c&#96;&#60;b&#62;&#42;&#95;&#126;&#91;x&#93;(y)&#35;1 &#64;me &#38;amp; &#92; &#36;x&#36; b"
        );
        assert_eq!(code("hooks/test-a.py:12"), "<code>hooks/test-a.py&#58;12</code>");
    }
}
