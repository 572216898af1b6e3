//! The gate's answer for people: yes or no first, then receipt by receipt, then what to do. Names in it others wrote.

use super::look::Look;
use crate::model::{Gate, GateAnswer, Obstacle, Wanted};
use crate::words::{age, quoted, shown};

/// How much of a commit's name is shown.
const SHORT: usize = 12;
/// How many receipts that count for nothing are named.
const NAMED: usize = 10;

/// The lines.
#[must_use]
pub fn gate(look: Look, gate: &Gate) -> Vec<String> {
    let answer = answer(gate);
    let mut lines = vec![if gate.ok { look.green(&answer) } else { look.red(&answer) }];
    let hosts: Vec<&str> = gate.policy.require.iter().map(|platform| platform.name()).collect();
    lines.push(format!(
        "{} ({}) into {} ({}); by its policy from hosts on {}, at most {} old, signed by one of {}",
        text(&gate.head.name),
        short(&gate.head.commit),
        text(&gate.base.name),
        short(&gate.base.commit),
        hosts.join(" and "),
        age(std::time::Duration::from_secs(gate.policy.max_age_s)),
        text(&gate.policy.signers),
    ));
    let width = gate.wanted.iter().map(|wanted| text(&wanted.check).chars().count()).max().unwrap_or(0);
    if !gate.wanted.is_empty() {
        lines.push(String::new());
    }
    for wanted in &gate.wanted {
        lines.extend(line(look, gate, wanted, width));
    }
    for obstacle in &gate.obstacles {
        lines.push(String::new());
        lines.extend(against(look, obstacle));
    }
    lines.extend(refused(gate));
    if !gate.notes.is_empty() {
        lines.push(String::new());
        lines.extend(gate.notes.iter().map(|note| format!("note: {}", text(note))));
    }
    for next in &gate.next {
        lines.push(String::new());
        lines.push(format!("next   on a host with {}:", next.host.name()));
        lines.extend(next.commands.iter().map(|command| format!("         {}", text(command))));
    }
    if !gate.next.is_empty() {
        lines.push(format!(
            "       then here:\n         hostproof receipt fetch && hostproof gate --base {}",
            text(&quoted(&gate.base.name))
        ));
    }
    lines.iter().map(|line| look.text(line)).collect()
}

/// `no: 2 of 3 receipts are missing, and 1 thing stands against it`
fn answer(gate: &Gate) -> String {
    let all = gate.wanted.len();
    let good = gate.wanted.iter().filter(|wanted| wanted.answer == GateAnswer::Good).count();
    let against = gate.obstacles.iter().filter(|obstacle| obstacle.accepted.is_none()).count();
    let receipts = match (all, all - good) {
        (0, _) => "no receipt is wanted".to_owned(),
        (1, 0) => "the receipt that is wanted is there".to_owned(),
        (_, 0) => format!("all {all} receipts that are wanted are there"),
        (1, _) => "the receipt that is wanted is missing".to_owned(),
        (_, missing) => format!("{missing} of {all} receipts {} missing", if missing == 1 { "is" } else { "are" }),
    };
    let against = match against {
        0 => String::new(),
        1 => ", and 1 thing stands against it".to_owned(),
        number => format!(", and {number} things stand against it"),
    };
    format!("{}: {receipts}{against}", if gate.ok { "yes" } else { "no" })
}

fn line(look: Look, gate: &Gate, wanted: &Wanted, width: usize) -> Vec<String> {
    let good = wanted.answer == GateAnswer::Good;
    let label = if good { look.green("ok  ") } else { look.red("RED ") };
    let receipt = wanted.receipt.as_ref().and_then(|name| gate.receipts.iter().find(|receipt| receipt.name == *name));
    let by = receipt.map(|receipt| {
        let signer = receipt.signer.as_deref().unwrap_or_default();
        let finished = receipt.finished.as_deref().unwrap_or_default();
        format!("   {finished}, signed by {}, {}", text(signer), text(&receipt.name))
    });
    let (check, host) = (text(&wanted.check), wanted.host.name());
    let mut lines =
        vec![format!(" {label}  {check:<width$}  {host:<7}  {}{}", text(&wanted.why), by.unwrap_or_default())];
    if !good {
        lines.push(format!("         wanted since {}", text(&wanted.because.join("; "))));
    }
    lines
}

fn against(look: Look, obstacle: &Obstacle) -> Vec<String> {
    let label = if obstacle.accepted.is_some() { look.yellow("warn") } else { look.red("RED ") };
    // A wiring is called by its place.
    let place = obstacle.place.as_ref().filter(|place| !obstacle.subject.contains(*place));
    let place = place.map(|place| format!("   {}", text(place))).unwrap_or_default();
    let then = match &obstacle.accepted {
        Some(because) => format!("         accepted by the base: {}", text(because)),
        None => format!("         mend   {}", text(&obstacle.remedy)),
    };
    vec![format!(" {label}  {}: {}{place}", text(&obstacle.subject), text(&obstacle.message)), then]
}

/// The receipts that count for nothing at all, where that may be why one is missing.
fn refused(gate: &Gate) -> Vec<String> {
    let all: Vec<String> = gate
        .receipts
        .iter()
        .filter_map(|receipt| Some(format!("out    {}: {}", text(&receipt.name), text(receipt.refused.as_ref()?))))
        .collect();
    if all.is_empty() {
        return Vec::new();
    }
    let more = all.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("out    and {more} more"));
    [String::new()].into_iter().chain(all.into_iter().take(NAMED)).chain(more).collect()
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// What others wrote, in one line.
fn text(text: &str) -> String {
    shown(text.as_bytes()).split_whitespace().collect::<Vec<_>>().join(" ")
}
