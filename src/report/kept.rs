//! The receipts and revocations that are kept, for people: a line each. All of it others wrote.

use std::collections::BTreeSet;

use super::look::Look;
use super::receipt::text;
use crate::model::{Disregarded, Revocation, Statement};
use crate::words::{counted, first_of};

/// How many checks are named before the rest is counted.
const NAMED: usize = 3;
/// How much of a digest is shown: enough to name it.
const DIGITS: usize = 12;

/// Something that is kept, as it says of itself.
#[derive(Debug, Clone)]
pub struct Kept {
    /// What names it: the SHA-256 of its payload.
    pub digest: String,
    pub said: Said,
    /// The keys that it says it is signed with.
    pub keys: Vec<String>,
}

/// What it says.
#[derive(Debug, Clone)]
pub enum Said {
    Receipt(Box<Statement>),
    /// Of the receipt with that digest.
    Revocation(String, Revocation),
}

/// A list, the newest first, and what could not be read.
#[must_use]
pub fn kept(look: Look, mut kept: Vec<Kept>, unread: &[Disregarded]) -> Vec<String> {
    kept.sort_by(|one, other| (time(&other.said), &other.digest).cmp(&(time(&one.said), &one.digest)));
    let revoked: BTreeSet<String> = kept
        .iter()
        .filter_map(|kept| match &kept.said {
            Said::Revocation(receipt, _) => Some(receipt.clone()),
            Said::Receipt(_) => None,
        })
        .collect();
    let revocations = kept.iter().filter(|kept| matches!(kept.said, Said::Revocation(..))).count();
    let answer =
        format!("kept here: {}, {}", counted(kept.len() - revocations, "receipt"), counted(revocations, "revocation"));
    let mut lines = vec![look.bold(&answer)];
    lines.extend(kept.iter().map(|kept| line(look, kept, revoked.contains(&kept.digest))));
    if !kept.is_empty() {
        lines.push("as they say of themselves; hostproof receipt verify tells what that is worth".to_owned());
    }
    let unread = unread.iter().map(|unread| format!("passed over: {}: {}", text(&unread.file), text(&unread.why)));
    lines.extend(unread);
    lines.iter().map(|line| look.text(line)).collect()
}

fn time(said: &Said) -> &str {
    match said {
        Said::Receipt(statement) => &statement.predicate.run.finished,
        Said::Revocation(_, revocation) => &revocation.revoked,
    }
}

fn line(look: Look, kept: &Kept, is_revoked: bool) -> String {
    let signed = match &kept.keys[..] {
        [] => "unsigned".to_owned(),
        keys => format!("signed with {}", text(&keys.join(", "))),
    };
    let (digest, time) = (&kept.digest[..DIGITS], text(time(&kept.said)));
    match &kept.said {
        Said::Revocation(receipt, revocation) => {
            let because = revocation.because.as_ref().map(|because| format!(": {}", text(because))).unwrap_or_default();
            let tag = look.yellow("back");
            format!(" {tag}  {digest}  {time}  takes {} back{because}, {signed}", &receipt[..DIGITS])
        }
        Said::Receipt(statement) => {
            let receipt = &statement.predicate;
            let red = receipt.checks.iter().filter(|check| check.verdict.is_red()).count();
            let tag = if red == 0 { look.green("ok  ") } else { look.red("RED ") };
            let place = format!("{} {}", text(&receipt.place.kind), text(&receipt.host.os));
            let named: Vec<String> = receipt.checks.iter().map(|check| text(&check.id)).collect();
            let named = first_of(&named, NAMED);
            let red = if red == 0 { String::new() } else { format!(", {red} red") };
            let revoked = if is_revoked { ", and a revocation names it" } else { "" };
            format!(" {tag}  {digest}  {time}  {place}  {named}{red}, {signed}{revoked}")
        }
    }
}
