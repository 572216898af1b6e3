//! `hostproof explain`

use super::show::Show;
use crate::cli::ExplainArgs;
use crate::error::{Error, ExitCode, Result};
use crate::model::Kind;

/// Prints the page of a kind, or a list of all kinds.
///
/// # Errors
///
/// If there is no such kind.
pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let Some(slug) = &args.kind else {
        for kind in Kind::ALL {
            Show::Stdout.line(&format!("{:18}  {}", kind.slug(), summary(page(kind))));
        }
        return Ok(ExitCode::Ok);
    };
    let Some(kind) = Kind::from_slug(slug) else {
        // Whoever stops in the middle of a word means what begins like that.
        let far = |kind: &Kind| (!kind.slug().starts_with(&**slug), strsim::damerau_levenshtein(kind.slug(), slug));
        let nearest = Kind::ALL.into_iter().min_by_key(far);
        let nearest = nearest.map(|kind| format!("; did you mean {}?", kind.slug())).unwrap_or_default();
        return Err(Error::Usage(format!("there is no kind of finding called {slug}{nearest}")));
    };
    Show::Stdout.line(Show::Stdout.look().text(page(kind)).trim_end());
    Ok(ExitCode::Ok)
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
        Kind::Unmet => include_str!("../../docs/findings/unmet.md"),
        Kind::Timeout => include_str!("../../docs/findings/timeout.md"),
        Kind::Survivor => include_str!("../../docs/findings/survivor.md"),
        Kind::TornPublish => include_str!("../../docs/findings/torn-publish.md"),
        Kind::IllegalName => include_str!("../../docs/findings/illegal-name.md"),
        Kind::ProbeBlind => include_str!("../../docs/findings/probe-blind.md"),
    }
}
