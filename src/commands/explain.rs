//! `hostproof explain`

use super::show::Show;
use crate::cli::ExplainArgs;
use crate::error::{Error, ExitCode, Result};
use crate::lints::{self, Rule};
use crate::model::{Kind, WiringFaultKind};
use crate::report;

/// Prints the page of a kind, or a list of all kinds.
///
/// # Errors
///
/// If there is no such kind.
pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let Some(slug) = &args.kind else {
        for (slug, page) in findings() {
            Show::Stdout.line(&format!("{slug:18}  {}", summary(page)));
        }
        Show::Stdout.line("\nof wired hooks:");
        for (slug, page) in faults() {
            Show::Stdout.line(&format!("{slug:18}  {}", summary(page)));
        }
        Show::Stdout.line("\nof sources, by lint --code:");
        for rule in lint_rules() {
            Show::Stdout.line(&Show::Stdout.look().text(&format!("{:18}  {}", rule.kind.slug(), rule.finds)));
        }
        return Ok(ExitCode::Ok);
    };
    let written = findings().chain(faults()).map(|(slug, page)| (slug, page.to_owned()));
    let mut pages = written.chain(lint_rules().map(|rule| (rule.kind.slug(), lint_page(rule))));
    let Some((_, page)) = pages.find(|(known, _)| known == slug) else {
        // Whoever stops in the middle of a word means what begins like that.
        let far = |known: &&str| (!known.starts_with(&**slug), strsim::damerau_levenshtein(known, slug));
        let known = findings().chain(faults()).map(|(slug, _)| slug).chain(lint_rules().map(|rule| rule.kind.slug()));
        let nearest = known.min_by_key(far).map(|known| format!("; did you mean {known}?")).unwrap_or_default();
        return Err(Error::Usage(format!("there is no kind of finding called {slug}{nearest}")));
    };
    Show::Stdout.line(Show::Stdout.look().text(&page).trim_end());
    Ok(ExitCode::Ok)
}

fn findings() -> impl Iterator<Item = (&'static str, &'static str)> {
    Kind::ALL.into_iter().map(|kind| (kind.slug(), page(kind)))
}

fn faults() -> impl Iterator<Item = (&'static str, &'static str)> {
    WiringFaultKind::ALL.into_iter().map(|kind| (kind.slug(), fault_page(kind)))
}

/// The rules that read sources, without those whose kind has a page as a fault of a wired command.
fn lint_rules() -> impl Iterator<Item = &'static Rule> {
    lints::rules().filter(|rule| WiringFaultKind::from_slug(rule.kind.slug()).is_none())
}

/// What is to be said of a rule that reads sources.
fn lint_page(rule: &Rule) -> String {
    let hosts = report::trap_hosts(rule.hosts);
    let mut page = format!(
        "# {}\n\n{}\n\n## Why a host cares\n\nOn {hosts}. {}\n\n## How to mend it\n\n{}\n\n    hostproof: allow {} because …\n\n\
         in a comment, on the line or on the one before, allows it where it is meant.\n",
        rule.kind.slug(),
        rule.finds,
        rule.why,
        sentence(rule.mend),
        rule.kind.slug(),
    );
    for (title, examples) in [("Example", rule.bad), ("Not found", rule.good)] {
        for (number, (language, text)) in examples.iter().enumerate() {
            let title = if number == 0 { format!("\n## {title}\n") } else { String::new() };
            let indented: Vec<String> = text.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
            page.push_str(&format!("{title}\n{}:\n\n{}\n", language.name(), indented.join("\n")));
        }
    }
    page
}

/// A text as a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// The first sentence of a page.
fn summary(page: &str) -> String {
    let lines = page.lines().skip_while(|line| line.is_empty() || line.starts_with('#'));
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    paragraph.find(". ").map_or(paragraph.clone(), |end| paragraph[..=end].to_owned())
}

fn page(kind: Kind) -> &'static str {
    match kind {
        Kind::LeakedProcess => include_str!("../../docs/findings/leaked-process.md"),
        Kind::LateExit => include_str!("../../docs/findings/late-exit.md"),
        Kind::HeldDirectory => include_str!("../../docs/findings/held-directory.md"),
        Kind::HeldFile => include_str!("../../docs/findings/held-file.md"),
        Kind::RefusedByWindows => include_str!("../../docs/findings/refused-by-windows.md"),
        Kind::HeldPipe => include_str!("../../docs/findings/held-pipe.md"),
        Kind::Residue => include_str!("../../docs/findings/residue.md"),
        Kind::ShortCount => include_str!("../../docs/findings/short-count.md"),
        Kind::LongCount => include_str!("../../docs/findings/long-count.md"),
        Kind::SkippedCases => include_str!("../../docs/findings/skipped-cases.md"),
        Kind::NoProof => include_str!("../../docs/findings/no-proof.md"),
        Kind::Toothless => include_str!("../../docs/findings/toothless.md"),
        Kind::Unmet => include_str!("../../docs/findings/unmet.md"),
        Kind::Timeout => include_str!("../../docs/findings/timeout.md"),
        Kind::Survivor => include_str!("../../docs/findings/survivor.md"),
        Kind::ForbiddenCommand => include_str!("../../docs/findings/forbidden-command.md"),
        Kind::IdleFault => include_str!("../../docs/findings/idle-fault.md"),
        Kind::TornPublish => include_str!("../../docs/findings/torn-publish.md"),
        Kind::IllegalName => include_str!("../../docs/findings/illegal-name.md"),
        Kind::DependsOn => include_str!("../../docs/findings/depends-on.md"),
        Kind::Collision => include_str!("../../docs/findings/collision.md"),
        Kind::Flaky => include_str!("../../docs/findings/flaky.md"),
        Kind::ProbeBlind => include_str!("../../docs/findings/probe-blind.md"),
    }
}

fn fault_page(kind: WiringFaultKind) -> &'static str {
    match kind {
        WiringFaultKind::ScriptMissing => include_str!("../../docs/wirings/script-missing.md"),
        WiringFaultKind::NotExecutable => include_str!("../../docs/wirings/not-executable.md"),
        WiringFaultKind::CarriageReturns => include_str!("../../docs/wirings/carriage-returns.md"),
        WiringFaultKind::ByteOrderMark => include_str!("../../docs/wirings/byte-order-mark.md"),
        WiringFaultKind::NeedsShell => include_str!("../../docs/wirings/needs-shell.md"),
        WiringFaultKind::BadMatcher => include_str!("../../docs/wirings/bad-matcher.md"),
        WiringFaultKind::UnknownEvent => include_str!("../../docs/wirings/unknown-event.md"),
        WiringFaultKind::Disabled => include_str!("../../docs/wirings/disabled.md"),
        WiringFaultKind::UnquotedVariable => include_str!("../../docs/wirings/unquoted-variable.md"),
        WiringFaultKind::ExitStatus => include_str!("../../docs/wirings/exit-status.md"),
        WiringFaultKind::OddLimit => include_str!("../../docs/wirings/odd-limit.md"),
        WiringFaultKind::ShortLimit => include_str!("../../docs/wirings/short-limit.md"),
        WiringFaultKind::Duplicate => include_str!("../../docs/wirings/duplicate.md"),
    }
}
