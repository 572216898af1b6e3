//! What Perl's `prove` (`Test::Harness`) writes around the TAP of each file, or in place of it.

use crate::readers::cases::number;

/// A line of prove's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prove<'a> {
    /// `t/a.t .. `, with the file's verdict if that stands on the same line.
    File(&'a str, Option<Verdict<'a>>),
    /// A verdict of the file that came last, on a line of its own.
    Verdict(Verdict<'a>),
    /// `t/a.t (Wstat: 0 Tests: 4 Failed: 1)`, of what was counted in a file that is not all right.
    Summary { failed: u64 },
    /// `Parse errors: Bad plan.  You planned 5 tests but ran 1.`
    BadPlan { missing: u64 },
    /// `Parse errors: No plan found in TAP output`
    NoPlan,
    /// `Files=2, Tests=10, …`
    Tally { tests: u64 },
    /// `Result: FAIL`
    Result,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<'a> {
    Ok,
    Skipped(&'a str),
    /// `Failed 3/8 subtests`, `All 2 subtests passed`.
    Subtests,
    /// `Dubious, test returned 3`.
    Ended(&'a str),
}

/// Reads a line; `None` if it is none of prove's.
pub fn prove(text: &str) -> Option<Prove<'_>> {
    let text = text.trim_end();
    match text.as_bytes().first()? {
        b'D' => text.strip_prefix("Dubious, test returned ").map(|rest| {
            let end = rest.find(' ').unwrap_or(rest.len());
            Prove::Verdict(Verdict::Ended(&rest[..end]))
        }),
        b'A' => {
            let count = text.strip_prefix("All ")?.strip_suffix(" subtests passed")?;
            number(count).map(|_| Prove::Verdict(Verdict::Subtests))
        }
        b'F' if text.starts_with("Failed ") => {
            let (failed, of) = text.strip_prefix("Failed ")?.strip_suffix(" subtests")?.split_once('/')?;
            number(failed).and(number(of)).map(|_| Prove::Verdict(Verdict::Subtests))
        }
        b'F' if text.starts_with("Files=") => {
            let rest = text.split_once(", Tests=")?.1;
            let end = rest.bytes().take_while(u8::is_ascii_digit).count();
            Some(Prove::Tally { tests: number(&rest[..end])? })
        }
        b'N' => (text == "No subtests run").then_some(Prove::Verdict(Verdict::Subtests)),
        b'R' if matches!(text, "Result: PASS" | "Result: FAIL" | "Result: NOTESTS") => Some(Prove::Result),
        b' ' => {
            let text = text.trim_start();
            let text = text.strip_prefix("Parse errors: ").unwrap_or(text);
            if text == "No plan found in TAP output" {
                return Some(Prove::NoPlan);
            }
            let rest = text.strip_prefix("Bad plan.  You planned ")?;
            let (planned, ran) = rest.strip_suffix('.')?.split_once(" tests but ran ")?;
            Some(Prove::BadPlan { missing: number(planned)?.saturating_sub(number(ran)?) })
        }
        _ => file(text).or_else(|| summary(text)),
    }
}

fn summary(text: &str) -> Option<Prove<'_>> {
    let rest = text.strip_suffix(')')?;
    let (_, rest) = rest.rsplit_once("(Wstat: ")?;
    let (_, failed) = rest.rsplit_once(" Failed: ")?;
    rest.contains(" Tests: ").then_some(())?;
    Some(Prove::Summary { failed: number(failed)? })
}

/// `t/a.t ..... ok`, perhaps with the time of day before it and how long it took behind.
fn file(text: &str) -> Option<Prove<'_>> {
    let text = match text.strip_prefix('[').and_then(|text| text.split_once("] ")) {
        Some((time, text)) if time.len() == 8 => text,
        _ => text,
    };
    let at = text.find(" ..")?;
    let (name, rest) = (&text[..at], text[at..].trim_start().trim_start_matches('.').trim_start());
    let path = name.contains(['/', '\\']) || name.strip_suffix(".t").is_some();
    if name.is_empty() || name.contains(' ') || !path {
        return None;
    }
    if rest.is_empty() {
        return Some(Prove::File(name, None));
    }
    if let Some(why) = rest.strip_prefix("skipped: ") {
        return Some(Prove::File(name, Some(Verdict::Skipped(why))));
    }
    let taken = rest.strip_prefix("ok")?;
    (taken.is_empty() || taken.starts_with("  ")).then_some(Prove::File(name, Some(Verdict::Ok)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_prove() {
        for (text, expected) in [
            ("t/a.t .. ok", Prove::File("t/a.t", Some(Verdict::Ok))),
            ("t/a.t ..... ", Prove::File("t/a.t", None)),
            ("[12:00:00] t/a.t .. ok       52 ms ( 0.00 usr)", Prove::File("t/a.t", Some(Verdict::Ok))),
            ("t/a.t .. skipped: no db", Prove::File("t/a.t", Some(Verdict::Skipped("no db")))),
            ("Dubious, test returned 3 (wstat 768, 0x300)", Prove::Verdict(Verdict::Ended("3"))),
            ("Failed 3/8 subtests ", Prove::Verdict(Verdict::Subtests)),
            ("All 2 subtests passed ", Prove::Verdict(Verdict::Subtests)),
            ("t/a.t   (Wstat: 768 (exited 3) Tests: 8 Failed: 3)", Prove::Summary { failed: 3 }),
            ("  Parse errors: Bad plan.  You planned 5 tests but ran 1.", Prove::BadPlan { missing: 4 }),
            ("Files=2, Tests=10,  0 wallclock secs", Prove::Tally { tests: 10 }),
            ("Result: FAIL", Prove::Result),
        ] {
            assert_eq!(prove(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "lint ... ok",
            "see a/b and so on .. ok",
            "Failed to open",
            "All is well",
            "Result: good",
            "a/b .. okay",
        ] {
            assert_eq!(prove(text), None, "{text}");
        }
    }
}
