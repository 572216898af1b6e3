//! `reader: {lines: …}`: lines as the manifest's own expressions tell them apart.
//!
//! # What is counted
//!
//! - Each line is one case at most: failed before skipped before passed, where several expressions match.
//! - The case's name is the group `name`, else the first group, else all that matched; `reason` is why it was skipped.
//! - `planned` is the number in the group `planned`, else in the first group, else what matched; several add up. Cases
//!   that were planned and never told of are unknown.

use regex::{Captures, Regex};

use super::cases::{CaseList, Outcomes, number};
use super::{Line, Span};
use crate::model::{CaseOutcome, LineRules, Reading};

pub struct OwnLines {
    rules: [(Option<Regex>, CaseOutcome); 3],
    planned: Option<Regex>,
    announced: Option<u64>,
    cases: CaseList,
    outcomes: Outcomes,
    span: Option<Span>,
}

impl OwnLines {
    /// For these rules. An expression that does not compile matches nothing; the manifest was seen to have none.
    pub fn new(rules: &LineRules) -> Self {
        let regex = |text: &Option<String>| text.as_deref().and_then(|text| Regex::new(text).ok());
        Self {
            rules: [
                (regex(&rules.fail), CaseOutcome::Failed),
                (regex(&rules.skip), CaseOutcome::Skipped),
                (regex(&rules.pass), CaseOutcome::Passed),
            ],
            planned: regex(&rules.planned),
            announced: None,
            cases: CaseList::default(),
            outcomes: Outcomes::default(),
            span: None,
        }
    }

    pub fn line(&mut self, line: &Line<'_>) {
        let text: &str = &line.text;
        if let Some(found) = self.planned.as_ref().and_then(|regex| regex.captures(text))
            && let Some(planned) = number(part(&found, "planned").trim())
        {
            self.announced = Some(self.announced.unwrap_or(0) + planned);
            self.span = Some(Span::with(self.span, Span::of(line)));
        }
        let found = self.rules.iter().find_map(|(regex, outcome)| Some((regex.as_ref()?.captures(text)?, *outcome)));
        let Some((found, outcome)) = found else { return };
        let reason = found.name("reason").map(|reason| reason.as_str()).filter(|_| outcome == CaseOutcome::Skipped);
        let name = part(&found, "name");
        self.span = Some(Span::with(self.span, Span::of(line)));
        // Two cases may have one name.
        self.cases.record(name, outcome, reason, line.at);
        let one = self.cases.end_suite();
        self.outcomes.passed += one.passed;
        self.outcomes.failed += one.failed;
        self.outcomes.skipped += one.skipped;
    }

    /// What the lines said; `None` if no expression ever matched.
    pub fn finish(self) -> Option<Reading> {
        self.span?;
        let ran = self.outcomes.ran();
        let mut notes = Vec::new();
        let planned = self.announced.map(|planned| planned.max(ran));
        if self.announced.is_some_and(|announced| announced < ran) {
            notes.push(format!("{} cases were planned, and {ran} ran", self.announced.unwrap_or(0)));
        }
        let unknown = planned.map(|planned| planned - ran);
        let counts = self.outcomes.counts(planned, unknown);
        let cases = self.cases.finish(&mut notes);
        Some(Reading { reader: Some("lines".to_owned()), counts, cases, notes, ..Reading::default() })
    }
}

/// The group of that name, else the first one, else the whole match.
fn part<'t>(found: &Captures<'t>, name: &str) -> &'t str {
    let part = found.name(name).or_else(|| found.get(1)).or_else(|| found.get(0));
    part.map_or("", |part| part.as_str())
}

#[cfg(test)]
mod tests {
    use crate::model::{LineRules, ReaderChoice, Reading, Stream};
    use crate::readers::tests::{context, read_as};

    fn read(rules: [&str; 4], output: &str) -> Reading {
        let [pass, fail, skip, planned] = rules.map(|rule| (!rule.is_empty()).then(|| rule.to_owned()));
        let rules = LineRules { pass, fail, skip, planned };
        read_as(&ReaderChoice::Lines(rules), Stream::Stdout, output.as_bytes(), &context(1))
    }

    #[test]
    fn lines_are_told_apart_by_own_expressions() {
        let rules =
            [r"^\+ (.+)$", r"^- (?P<name>.+?)(?: !.*)?$", r"^~ (?P<name>\S+) \((?P<reason>.*)\)$", r"^(\d+) to go$"];
        let reading = read(rules, "5 to go\n+ one\n+ one\n- two !!\n~ three (no net)\nnoise\n");
        let counts = reading.counts;
        assert_eq!((counts.planned, counts.ran, counts.unknown), (Some(5), Some(4), Some(1)));
        assert_eq!((counts.passed, counts.failed, counts.skipped), (Some(2), Some(1), Some(1)));
        let seen: Vec<_> = reading.cases.iter().map(|case| (case.name.as_str(), case.reason.as_deref())).collect();
        assert_eq!(seen, [("one", None), ("one", None), ("two", None), ("three", Some("no net"))]);
        assert_eq!(reading.reader.as_deref(), Some("lines"));
    }

    #[test]
    fn a_failure_counts_before_a_pass_and_a_plan_that_is_short_is_noted() {
        let reading = read(["ok", "not ok", "", r"\d+ planned"], "1 planned\nnot ok\nok\n");
        assert_eq!((reading.counts.passed, reading.counts.failed), (Some(1), Some(1)));
        // `1 planned` is no number.
        assert_eq!(reading.counts.planned, None);
        let reading = read(["ok", "", "", r"(\d+) planned"], "1 planned\nok\nok\n");
        assert_eq!((reading.counts.planned, reading.counts.unknown, reading.notes.len()), (Some(2), Some(0), 1));
    }

    #[test]
    fn nothing_that_matches_is_nothing_known() {
        let reading = read(["^never$", "", "", ""], "ok\n");
        assert_eq!((reading.counts.ran, reading.notes.len()), (None, 1));
    }
}
