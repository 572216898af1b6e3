//! Whether an edit turned a check red, and for what it should.
//!
//! [`Life::stage`] makes the copy and the edits, and watches the edited files; [`judged`] is pure.

use std::path::{Component, Path, PathBuf};

use super::copy::{self, Made};
use super::edits;
use super::judge::Judgement;
use super::life::Life;
use super::output;
use super::sandbox::Sandbox;
use super::text;
use crate::model::{
    Break, Case, CaseOutcome, Check, Counts, Cwd, Finding, Frame, Kind, Reading, Severity, Stream, TextRule, Verdict,
};
use crate::plan::{Planned, Tooth};
use crate::platform::{Outcome, Reads};
use crate::probes::Places;

/// The edited files of a check that is about to start, watched.
pub struct Bite {
    /// In the copy, and wherever the check got them from there.
    copies: Vec<PathBuf>,
    /// Those of the project itself.
    originals: Vec<PathBuf>,
    /// Whether one of them wires the check's hook: whoever calls the hook has read it.
    wires: bool,
    /// How many copies of the project were done before they were watched.
    done: u64,
    reads: Result<Reads, String>,
}

/// Whether an edit can have had a part in what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// An edited file was read.
    Edited,
    /// None was; those of the project were, or not.
    Not { original: bool },
    /// The system does not say, and why.
    Unknown(String),
}

/// What was seen of a check of `teeth`, beyond what is seen of every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// `None` without an edit.
    pub read: Option<Read>,
    /// The texts among those that are expected which its output has.
    pub said: Vec<String>,
}

impl Life<'_> {
    /// Fills the sandbox of a check: for one of `teeth` with a copy of the project, which is edited.
    ///
    /// # Errors
    ///
    /// A sentence that says what is in the way.
    pub fn stage(&self, planned: &Planned, sandbox: &Sandbox) -> Result<(Places, Option<Bite>), String> {
        let check = &planned.check();
        let Some(tooth) = &planned.tooth else { return Ok((self.places(check, sandbox)?, None)) };
        // A check that starts in the empty `work/` has the copy beside that.
        let beside = sandbox.root().join("project");
        let (to, cwd) = if check.cwd == Cwd::Sandbox { (beside, Some(sandbox.work())) } else { (sandbox.work(), None) };
        let project = self.copied.count(|| copy::project(&self.plan.project, &to, sandbox))?;
        let edited = match &**tooth {
            Tooth::Whole { .. } => None,
            Tooth::Edited { made, .. } => Some((made, edits::make(&made.edits, &project)?)),
        };
        copy::files(&check.files, &project, sandbox)?;
        let bite = edited.map(|(made, files)| self.watch(made, files, check, sandbox));
        let cwd = cwd.unwrap_or_else(|| project.clone());
        Ok((Places { sandbox: sandbox.root().to_owned(), project, cwd }, bite))
    }

    fn watch(&self, made: &Break, mut copies: Vec<PathBuf>, check: &Check, sandbox: &Sandbox) -> Bite {
        for file in made.files() {
            for (there, here) in &check.files {
                let below = plain(file).strip_prefix(plain(here)).map(Path::to_owned).ok();
                let there = sandbox.work().join(there);
                // To join what is empty adds a separator.
                copies.extend(below.map(|below| there.join(below).components().collect()));
            }
        }
        let originals: Vec<PathBuf> = made.files().into_iter().map(|file| self.plan.project.join(file)).collect();
        let watched: Vec<PathBuf> = copies.iter().chain(&originals).cloned().collect();
        Bite { done: self.copied.done(), reads: Reads::watch(&watched), copies, originals, wires: false }
    }
}

impl Bite {
    /// Forgets what was read so far: to find a hook in its wiring file is to look into all that it may run.
    #[must_use]
    pub fn afresh(self, wiring: &Path) -> Self {
        let watched: Vec<PathBuf> = self.copies.iter().chain(&self.originals).cloned().collect();
        let wires = self.copies.iter().any(|file| file == wiring);
        Self { reads: Reads::watch(&watched), wires, ..self }
    }

    /// What was read since, while these copies of the project were made, too.
    #[must_use]
    pub fn read(self, made: &Made) -> Read {
        if self.wires {
            return Read::Edited;
        }
        let seen = match self.reads {
            Ok(reads) => reads.seen(),
            Err(why) => return Read::Unknown(why),
        };
        let opened = |file: &PathBuf| seen.iter().find(|(seen, _)| seen == file).map_or(0, |(_, times)| *times);
        if self.copies.iter().any(|file| opened(file) > 0) {
            return Read::Edited;
        }
        // Who makes a copy for another check reads them, too.
        let copied = made.since(self.done);
        Read::Not { original: self.originals.iter().any(|file| opened(file) > copied) }
    }
}

/// A path as its names alone: without the dots that stand for where one is.
fn plain(path: impl AsRef<Path>) -> PathBuf {
    path.as_ref().components().filter(|part| *part != Component::CurDir).collect()
}

/// The texts, among what is expected, that the output has.
#[must_use]
pub fn said(tooth: &Tooth, outcome: &Outcome) -> Vec<String> {
    let is_text = |expect: &&String| Kind::from_slug(expect).is_none();
    let rules: Vec<TextRule> = tooth.expects().iter().filter(is_text).cloned().map(TextRule::Contains).collect();
    let lacks = |stream| {
        let captured = outcome.captured(stream);
        output::open(captured).and_then(|bytes| text::unsatisfied(&rules, stream, bytes, captured.lost.is_none()))
    };
    // What can't be read was not seen.
    let lacking = [Stream::Stdout, Stream::Stderr].map(|stream| lacks(stream).ok());
    let is_said = |rule: &&TextRule| {
        lacking.iter().flatten().any(|lacking| !lacking.iter().any(|unsatisfied| unsatisfied.rule == *rule))
    };
    let texts = rules.iter().filter(is_said).map(|rule| match rule {
        TextRule::Contains(text) | TextRule::NotContains(text) | TextRule::Matches(text) => text.clone(),
    });
    texts.collect()
}

/// Says of a judgement what it means for a check's teeth. What was expected of an edit is a note then, and its counts are
/// none of the project's.
#[must_use]
pub fn judged(tooth: &Tooth, judgement: Judgement, reading: &Reading, evidence: &Evidence) -> Judgement {
    match tooth {
        Tooth::Whole { expects } => whole(expects, judgement, reading, evidence),
        Tooth::Edited { number, made, .. } => {
            let judgement = edited(*number, made, judgement, reading, evidence);
            Judgement { counts: Counts::default(), ..judgement }
        }
    }
}

fn whole(expects: &[String], judgement: Judgement, reading: &Reading, evidence: &Evidence) -> Judgement {
    if is_in_the_project(&judgement) {
        return on_the_original(judgement);
    }
    let shown =
        |expect: &&String| evidence.said.contains(expect) && !reading.cases.iter().any(|case| is_called(case, expect));
    match expects.iter().find(shown).filter(|_| judgement.verdict == Verdict::Passed) {
        None => judgement,
        Some(text) => broken(judgement, format!("its output has {text:?} as it is, so that shows nothing of an edit")),
    }
}

/// Whether nothing is wrong with a check but what it left in the project: in a copy it has no business there. Packages that are
/// installed in editable form, and so are compiled where they are, show so.
fn is_in_the_project(judgement: &Judgement) -> bool {
    let is_there = |finding: &Finding| {
        finding.kind == Kind::Residue && finding.path.as_ref().is_some_and(|path| Path::new(path).is_relative())
    };
    let mut errors = judgement.findings.iter().filter(|finding| finding.severity == Severity::Error);
    judgement.verdict == Verdict::Leaked && errors.all(is_there)
}

/// One whose edits would change nothing that it looks at.
fn on_the_original(mut judgement: Judgement) -> Judgement {
    let first = judgement.findings.iter_mut().find(|finding| finding.severity == Severity::Error);
    let why = first.map(|finding| {
        finding.message =
            format!("it works on the project itself, and not on the copy that is edited: {}", finding.message);
        finding.remedy = Some(
            "let it find what it tests from where it is itself; a package that is installed in editable form, or a path \
             that was written down once, leads to the original"
                .to_owned(),
        );
        finding.message.clone()
    });
    broken(judgement, why.unwrap_or_default())
}

fn edited(number: usize, made: &Break, judgement: Judgement, reading: &Reading, evidence: &Evidence) -> Judgement {
    let files = made.files().join(" and ");
    match judgement.verdict {
        // Nothing was measured, or every case left out.
        Verdict::Broken | Verdict::Skipped => return judgement,
        _ => {}
    }
    if let Some(Read::Not { original }) = evidence.read {
        let instead = if original { ", and its original in the project was" } else { "" };
        let why = format!(
            "{files} was edited in the copy, and nothing read it there{instead}: what the check runs comes from elsewhere"
        );
        return broken(judgement, why);
    }
    let green = judgement.verdict == Verdict::Passed;
    if !green && is_met(&made.expect, &judgement.findings, reading, evidence) {
        let because = format!("breaks, number {number}: {} is expected", made.expect);
        let mut findings = judgement.findings;
        for finding in findings.iter_mut().filter(|finding| finding.severity == Severity::Error) {
            finding.severity = Severity::Note;
            finding.allowed = Some(because.clone());
        }
        let reason = Some(format!("red as expected: {}", made.expect));
        return Judgement { verdict: Verdict::Passed, reason, findings, ..judgement };
    }
    let unknown = match &evidence.read {
        Some(Read::Unknown(why)) => format!("; whether anything read it isn't known: {why}"),
        _ => String::new(),
    };
    let expect = &made.expect;
    let message = if green {
        format!(
            "green with {files} edited (breaks, number {number}): {expect}, which is expected, was not seen{unknown}"
        )
    } else {
        let other = judgement.reason.as_deref().unwrap_or(judgement.verdict.name());
        format!("red with {files} edited (breaks, number {number}), and not for {expect}, but: {other}{unknown}")
    };
    let mut finding = Finding::new(Kind::Toothless, Severity::Error, message);
    finding.path = made.edits.first().map(|edit| edit.file.clone());
    finding.remedy = Some(if green {
        "add the case that notices it, or remove the code that nothing needs".to_owned()
    } else {
        "see that the edit does what is meant, and that expect names what it leads to".to_owned()
    });
    let reason = Some(if green {
        "green with an edit that must turn it red".to_owned()
    } else {
        format!("red for something else than {expect}")
    });
    let findings = std::iter::once(finding).chain(judgement.findings).collect();
    Judgement { verdict: Verdict::Failed, reason, findings, ..judgement }
}

/// One that shows nothing.
fn broken(judgement: Judgement, why: String) -> Judgement {
    Judgement { verdict: Verdict::Broken, reason: Some(why), ..judgement }
}

/// Whether what is expected was seen: a kind, a case, or a text, in this order.
fn is_met(expect: &str, findings: &[Finding], reading: &Reading, evidence: &Evidence) -> bool {
    let mut errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    if let Some(kind) = Kind::from_slug(expect) {
        return errors.any(|finding| finding.kind == kind);
    }
    let mut called = reading.cases.iter().filter(|case| is_called(case, expect)).peekable();
    if called.peek().is_some() {
        return called.any(|case| case.outcome == CaseOutcome::Failed);
    }
    let told = |frame: &Frame| frame.error.as_deref().is_some_and(|error| error.contains(expect));
    evidence.said.iter().any(|text| text == expect)
        || errors.any(|finding| finding.message.contains(expect))
        || reading.frames.iter().any(told)
}

/// Whether a case is called so: its name, or a whole word in it.
fn is_called(case: &Case, name: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    case.name.match_indices(name).any(|(at, found)| {
        ends(case.name[..at].chars().next_back()) && ends(case.name[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Edit;

    fn made(expect: &str) -> Tooth {
        let edit = Edit { file: "hooks/launch.py".into(), replace: "x".into(), with: String::new(), all: false };
        Tooth::Edited { of: 0, number: 2, made: Break { edits: vec![edit], expect: expect.into() } }
    }

    fn judgement(kind: Option<Kind>) -> Judgement {
        let findings: Vec<Finding> =
            kind.into_iter().map(|kind| Finding::new(kind, Severity::Error, "exit status 1")).collect();
        let verdict = if findings.is_empty() { Verdict::Passed } else { Verdict::Failed };
        let reason = findings.first().map(|finding| finding.message.clone());
        Judgement { verdict, reason, counts: Counts::default(), findings }
    }

    fn seen(read: Read, said: &[&str]) -> Evidence {
        Evidence { read: Some(read), said: said.iter().map(|&text| text.to_owned()).collect() }
    }

    fn cases(cases: &[(&str, CaseOutcome)]) -> Reading {
        Reading {
            cases: cases.iter().map(|(name, outcome)| Case::new(*name, *outcome)).collect(),
            ..Reading::default()
        }
    }

    fn bites(expect: &str, kind: Option<Kind>, reading: &Reading, evidence: &Evidence) -> Verdict {
        judged(&made(expect), judgement(kind), reading, evidence).verdict
    }

    #[test]
    fn red_for_what_is_expected_is_right_and_nothing_else_is() {
        let (none, read) = (Reading::default(), seen(Read::Edited, &[]));
        assert_eq!(bites("unmet", Some(Kind::Unmet), &none, &read), Verdict::Passed);
        assert_eq!(bites("held-directory", Some(Kind::Unmet), &none, &read), Verdict::Failed);
        assert_eq!(bites("unmet", None, &none, &read), Verdict::Failed);
        assert_eq!(bites("exit status", Some(Kind::Unmet), &none, &read), Verdict::Passed);
        assert_eq!(
            bites("two claimed", Some(Kind::Unmet), &none, &seen(Read::Edited, &["two claimed"])),
            Verdict::Passed
        );
        assert_eq!(bites("two claimed", None, &none, &seen(Read::Edited, &["two claimed"])), Verdict::Failed);
    }

    #[test]
    fn a_case_that_is_named_must_have_failed_whatever_is_printed() {
        let said = seen(Read::Edited, &["test_lock"]);
        let of = |outcome| cases(&[("test_guard.py::test_lock[1]", outcome), ("test_lock_free", CaseOutcome::Failed)]);
        assert_eq!(bites("test_lock", Some(Kind::Unmet), &of(CaseOutcome::Failed), &said), Verdict::Passed);
        assert_eq!(bites("test_lock", Some(Kind::Unmet), &of(CaseOutcome::Passed), &said), Verdict::Failed);
    }

    #[test]
    fn an_edit_that_nobody_read_shows_nothing_whatever_came_of_it() {
        for kind in [None, Some(Kind::Unmet)] {
            let judged =
                judged(&made("unmet"), judgement(kind), &Reading::default(), &seen(Read::Not { original: true }, &[]));
            assert_eq!(judged.verdict, Verdict::Broken);
            assert!(judged.reason.is_some_and(|why| why.contains("its original in the project was")));
        }
        let unknown = seen(Read::Unknown("no inotify".into()), &[]);
        let green = judged(&made("unmet"), judgement(None), &Reading::default(), &unknown);
        assert!(green.findings[0].message.ends_with("whether anything read it isn't known: no inotify"));
        assert_eq!(bites("unmet", Some(Kind::Unmet), &Reading::default(), &unknown), Verdict::Passed);
    }

    #[test]
    fn what_the_check_says_without_an_edit_shows_nothing() {
        let tooth = Tooth::Whole { expects: vec!["unmet".into(), "careful".into(), "test_a".into()] };
        let of = |said: &[&str], reading: &Reading| {
            let evidence = Evidence { read: None, said: said.iter().map(|&text| text.to_owned()).collect() };
            judged(&tooth, judgement(None), reading, &evidence).verdict
        };
        assert_eq!(of(&[], &Reading::default()), Verdict::Passed);
        assert_eq!(of(&["careful"], &Reading::default()), Verdict::Broken);
        assert_eq!(of(&["test_a"], &cases(&[("test_a", CaseOutcome::Passed)])), Verdict::Passed);
    }
}
