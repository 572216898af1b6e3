//! What GitHub's runner reads in a step's output: commands of ours, and none in what others wrote.

use std::io;

use super::against;
use super::terminal::last_line;
use crate::model::{CheckReport, Finding, Gate, GateAnswer, Lints, Report, Severity};

/// How many annotations of a kind a step may have.
const MOST: usize = 10;
/// How long a message may be, as it is written.
const LONGEST: usize = 4096;
/// How long a title, which is a heading, should be.
const LONGEST_TITLE: usize = 200;

/// One annotation.
struct Annotation<'a> {
    severity: Severity,
    /// Its place among those of its check: the first of each check come before the second of any.
    rank: usize,
    place: Option<(String, u64, Option<u64>)>,
    title: String,
    message: &'a str,
    more: Option<String>,
}

/// The annotations of a run, one command per line: an error where each failure is, the first of every red check first;
/// warnings; and a notice with the number of those that did not fit. `checks` are the report's, which need not have them
/// itself; `file_of` tells where the repository has a file of the project.
///
/// # Errors
///
/// That of a check that can't be had.
pub fn annotations(
    report: &Report,
    checks: impl Iterator<Item = io::Result<CheckReport>>,
    file_of: &dyn Fn(&str) -> Option<String>,
) -> io::Result<Vec<String>> {
    let mut chosen = Chosen::default();
    for check in checks {
        let check = check?;
        for annotation in of_check(&check, file_of) {
            chosen.add(&annotation);
        }
    }
    let of_the_run = report.findings.iter().filter(|finding| finding.severity != Severity::Note);
    let of_the_run = of_the_run.enumerate().map(|(rank, finding)| of_finding("hostproof", finding, None, rank));
    of_the_run.for_each(|annotation| chosen.add(&annotation));
    Ok(chosen.commands(&last_line(&report.totals, report.run.stopped)))
}

/// The same of what was found in sources: errors and warnings that no comment allows.
#[must_use]
pub fn lint_annotations(lints: &Lints, file_of: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let open = lints.lints.iter().filter(|lint| lint.allowed.is_none() && lint.severity != Severity::Note);
    let all = open.map(|lint| Annotation {
        severity: lint.severity,
        rank: 0,
        place: file_of(&lint.file).map(|file| (file, lint.line, Some(lint.column))),
        title: lint.kind.slug().to_owned(),
        message: &lint.message,
        more: Some(format!("{}\nmend: {}", lint.why, lint.remedy)),
    });
    Chosen::of(all).commands(&super::lints::counts(&lints.totals))
}

/// The annotations of a gate's answer: an error for each receipt that is missing and for each obstacle; a warning for each
/// obstacle that the base accepts.
#[must_use]
pub fn gate_annotations(gate: &Gate, file_of: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let place = |place: Option<&String>| {
        let place = place?;
        let (file, line) = place.rsplit_once(':').unwrap_or((place.as_str(), "1"));
        let (file, line) = line.parse().map_or((place.as_str(), 1), |line| (file, line));
        Some((file_of(file)?, line, None))
    };
    let wanted = gate.wanted.iter().filter(|wanted| wanted.answer != GateAnswer::Good).map(|wanted| Annotation {
        severity: Severity::Error,
        rank: 0,
        place: place(wanted.origin.as_ref()),
        title: format!("gate: {} on {}", wanted.check, wanted.host.name()),
        message: &wanted.why,
        more: Some(format!("wanted since {}", wanted.because.join("; "))),
    });
    let obstacles = gate.obstacles.iter().map(|obstacle| {
        let more = match &obstacle.accepted {
            Some(because) => format!("accepted: {because}"),
            None => format!("mend: {}", obstacle.remedy),
        };
        Annotation {
            severity: if obstacle.accepted.is_some() { Severity::Warning } else { Severity::Error },
            rank: 1,
            place: place(obstacle.place.as_ref()),
            title: format!("gate: {}", obstacle.subject),
            message: &obstacle.message,
            more: Some(more),
        }
    });
    Chosen::of(wanted.chain(obstacles)).commands(if gate.ok { "The gate says yes." } else { "The gate says no." })
}

/// The annotations that are shown, as commands.
#[derive(Default)]
struct Chosen {
    errors: First,
    warnings: First,
}

/// The first of one kind, each with its rank, in the order of these.
#[derive(Default)]
struct First {
    commands: Vec<(usize, String)>,
    /// How many there are in all.
    all: usize,
}

impl Chosen {
    fn of<'a>(all: impl Iterator<Item = Annotation<'a>>) -> Self {
        let mut chosen = Self::default();
        all.for_each(|annotation| chosen.add(&annotation));
        chosen
    }

    fn add(&mut self, annotation: &Annotation<'_>) {
        let (first, word) = match annotation.severity {
            Severity::Error => (&mut self.errors, "error"),
            Severity::Warning => (&mut self.warnings, "warning"),
            Severity::Note => return,
        };
        first.all += 1;
        let at = first.commands.partition_point(|(rank, _)| *rank <= annotation.rank);
        if at < MOST {
            first.commands.insert(at, (annotation.rank, annotation.command(word)));
            first.commands.truncate(MOST);
        }
    }

    /// The commands, one per line; `last` is said where some are not shown.
    fn commands(self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut left_out = Vec::new();
        for (first, word) in [(self.errors, "error"), (self.warnings, "warning")] {
            if first.all > MOST {
                left_out.push(format!("{} of {} {word}s", first.all - MOST, first.all));
            }
            lines.extend(first.commands.into_iter().map(|(_, command)| command));
        }
        if !left_out.is_empty() {
            let text = format!(
                "{} have no annotation here, since GitHub shows no more than {MOST} of a kind; the log has them. {last}",
                left_out.join(" and ")
            );
            lines.push(format!("::notice title=hostproof::{}", data(&text)));
        }
        lines
    }
}

fn of_check<'a>(check: &'a CheckReport, file_of: &dyn Fn(&str) -> Option<String>) -> Vec<Annotation<'a>> {
    let origin = check.origin.as_deref().and_then(|origin| {
        let (file, line) = origin.rsplit_once(':')?;
        Some((file_of(file)?, line.parse().ok()?, None))
    });
    let mut found = Vec::new();
    if check.verdict.is_red() {
        for frame in &check.frames {
            let place = file_of(&frame.file).map(|file| (file, frame.line, frame.column));
            // One that lies in no repository is named in words.
            let elsewhere = place.is_none().then(|| format!("{}:{}", frame.file, frame.line));
            let what = frame.case.as_ref().or(frame.function.as_ref());
            found.push(Annotation {
                severity: Severity::Error,
                rank: found.len(),
                title: what.map_or_else(|| check.id.clone(), |what| format!("{}: {what}", check.id)),
                message: frame.error.as_deref().unwrap_or("failed here"),
                more: elsewhere,
                place,
            });
        }
    }
    for finding in against::findings(check) {
        // A status that is not 0 is nothing new where the place of the failure is known.
        if !check.frames.is_empty() && against::is_of_exit(check, finding) {
            continue;
        }
        found.push(of_finding(&check.id, finding, origin.clone(), found.len()));
    }
    if found.is_empty() && check.verdict.is_red() {
        found.push(Annotation {
            severity: Severity::Error,
            rank: 0,
            place: origin.clone(),
            title: check.id.clone(),
            message: check.reason.as_deref().unwrap_or_else(|| check.verdict.name()),
            more: None,
        });
    }
    let warnings = check.findings.iter().filter(|finding| finding.severity == Severity::Warning);
    found.extend(warnings.enumerate().map(|(rank, finding)| of_finding(&check.id, finding, origin.clone(), rank)));
    found
}

fn of_finding<'a>(
    id: &str,
    finding: &'a Finding,
    place: Option<(String, u64, Option<u64>)>,
    rank: usize,
) -> Annotation<'a> {
    Annotation {
        severity: finding.severity,
        rank,
        place,
        title: format!("{id}: {}", finding.kind.slug()),
        message: &finding.message,
        more: finding.remedy.as_ref().map(|remedy| format!("mend: {remedy}")),
    }
}

impl Annotation<'_> {
    fn command(&self, word: &str) -> String {
        let mut properties = Vec::new();
        if let Some((file, line, column)) = &self.place {
            properties.push(format!("file={}", property(file)));
            properties.push(format!("line={line}"));
            properties.extend(column.map(|column| format!("col={column}")));
        }
        let title: String = self.title.chars().take(LONGEST_TITLE).collect();
        properties.push(format!("title={}", property(&title)));
        let more = self.more.as_ref().map(|more| format!("\n{more}")).unwrap_or_default();
        format!("::{word} {}::{}", properties.join(","), data(&format!("{}{more}", self.message)))
    }
}

/// Text as the data of a command, cut where it would be too long.
fn data(text: &str) -> String {
    const CUT: &str = "… (cut)";
    let mut escaped = String::new();
    for c in text.chars() {
        let piece = match c {
            '%' => "%25".to_owned(),
            '\r' => "%0D".to_owned(),
            '\n' => "%0A".to_owned(),
            c => c.to_string(),
        };
        if escaped.len() + piece.len() + CUT.len() > LONGEST {
            return escaped + CUT;
        }
        escaped.push_str(&piece);
    }
    escaped
}

/// Text as a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Text of several lines in which the runner finds no command, whoever wrote it: it takes one at the start of a line,
/// blanks before it or not, and one of an older form anywhere.
#[must_use]
pub fn defused(text: &str) -> String {
    defused_with(text, ": :", "## [")
}

/// The same for XML, which stays what it was.
#[must_use]
pub fn defused_xml(xml: &str) -> String {
    defused_with(xml, "&#58;:", "#&#35;[")
}

fn defused_with(text: &str, colons: &str, hashes: &str) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        // What its comparison of texts may look over is looked over here.
        let start = line
            .trim_start_matches(|c: char| c.is_whitespace() || c.is_control() || !c.is_ascii() && !c.is_alphanumeric());
        let blanks = &line[..line.len() - start.len()];
        let line = start.strip_prefix("::").map_or_else(|| line.to_owned(), |rest| format!("{blanks}{colons}{rest}"));
        lines.push(line.replace("##[", hashes));
    }
    lines.join("\n")
}

/// The same for JSON, which stays what it was: within a text each character may be written by its number, and outside of
/// one no line begins like a command.
#[must_use]
pub fn defused_json(json: &str) -> String {
    json.replace("##[", "#\\u0023[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_no_command() {
        assert_eq!(defused("a\n  ::error::x\n\u{200b}::warning::y"), "a\n  : :error::x\n\u{200b}: :warning::y");
        assert_eq!(defused("::stop-commands::x"), ": :stop-commands::x");
        assert_eq!(defused("1 ##[add-mask]a"), "1 ## [add-mask]a");
        assert_eq!(defused("std::env and a :: b"), "std::env and a :: b");
        let json = serde_json::json!({"a##[x]": "\\##[error]"}).to_string();
        let defused = defused_json(&json);
        assert!(!defused.contains("##["), "{defused}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&defused).expect("JSON")["a##[x]"], "\\##[error]");
    }

    #[test]
    fn data_is_escaped_and_bounded() {
        assert_eq!(data("50 %\r\n"), "50 %25%0D%0A");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
        let long = data(&"%ü".repeat(4000));
        assert!(long.len() <= LONGEST && long.ends_with("… (cut)"), "{}", long.len());
    }
}
