//! `hostproof explain`

use super::show::Show;
use crate::cli::ExplainArgs;
use crate::error::{Error, ExitCode, Result};
use crate::model::{Kind, WiringFaultKind};

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
        return Ok(ExitCode::Ok);
    };
    let pages = || findings().chain(faults());
    let Some((_, page)) = pages().find(|(known, _)| known == slug) else {
        // Whoever stops in the middle of a word means what begins like that.
        let far = |(known, _): &(&str, &str)| (!known.starts_with(&**slug), strsim::damerau_levenshtein(known, slug));
        let nearest = pages().min_by_key(far);
        let nearest = nearest.map(|(known, _)| format!("; did you mean {known}?")).unwrap_or_default();
        return Err(Error::Usage(format!("there is no kind of finding called {slug}{nearest}")));
    };
    Show::Stdout.line(Show::Stdout.look().text(page).trim_end());
    Ok(ExitCode::Ok)
}

fn findings() -> impl Iterator<Item = (&'static str, &'static str)> {
    Kind::ALL.into_iter().map(|kind| (kind.slug(), page(kind)))
}

fn faults() -> impl Iterator<Item = (&'static str, &'static str)> {
    WiringFaultKind::ALL.into_iter().map(|kind| (kind.slug(), fault_page(kind)))
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
        Kind::TornPublish => include_str!("../../docs/findings/torn-publish.md"),
        Kind::IllegalName => include_str!("../../docs/findings/illegal-name.md"),
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
