//! What a change makes weaker. A check is weaker than it was if a run could pass it that would have been red before, by what
//! the manifest says alone: how good its test is, nobody but its readers can tell.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use crate::covers::Covers;
use crate::model::{Allow, CaseCount, Check, Need, Platform, Policy, PolicyPart, ReaderChoice, SkipRule, Skips};
use crate::words::{age, counted, duration};

/// Keys that let nothing pass.
const NEUTRAL: &[&str] = &["id", "variant", "fact", "title", "lock", "tags"];

/// Keys that say with what it is run: whether it tests as much with something else is for people to see.
const SURROUNDINGS: &[&str] = &["cwd", "files", "home", "env", "inherit", "stdin"];

/// Keys with a list in which each entry asks for something more.
const ASKING: &[&str] =
    &["publishes", "events", "eventually", "watch", "unchanged", "forbid", "plant", "faults", "breaks"];

/// Keys that [`check`] compares one by one.
const COMPARED: &[&str] = &[
    "command",
    "timeout",
    "grace",
    "reader",
    "expect",
    "allow",
    "platforms",
    "hosts",
    "covers",
    "rules",
    "windows",
    "copies",
    "repeat",
    "retries",
    "needs",
];

/// What of a check is weaker than it was: phrases. `files` are those of the changed project, `require` the systems that the
/// policy asks for where a check says nothing of it.
#[must_use]
pub fn check(before: &Check, after: &Check, files: &[&Path], require: &BTreeSet<Platform>) -> Vec<String> {
    let mut found = Vec::new();
    let count = counts(before.expect.cases.as_ref(), after.expect.cases.as_ref());
    found.extend(count.clone().err());
    let counted = count.is_ok() && after.expect.cases.is_some();
    if before.command != after.command && !counted {
        found.push(
            "it runs another command, and has no count of cases (`expect: {cases: …}`) that both must reach".to_owned(),
        );
    }
    found.extend(reader(&before.reader, &after.reader, counted));
    if before.expect.exit != after.expect.exit {
        found.push(format!("it expects exit status {}, and expected {}", after.expect.exit, before.expect.exit));
    }
    found.extend(skips(before.expect.skipped.as_ref(), after.expect.skipped.as_ref()));
    for (name, old, new) in [
        ("stdout", &before.expect.stdout, &after.expect.stdout),
        ("stderr", &before.expect.stderr, &after.expect.stderr),
    ] {
        let lost = lost(old, new);
        if lost > 0 {
            found.push(format!("{lost} of what it expects of {name} is gone"));
        }
    }
    for allow in after.allow.iter().filter(|allow| !before.allow.iter().any(|old| admits(old, allow))) {
        let of = allow.matches.as_ref().map(|matches| format!(" that match {matches}")).unwrap_or_default();
        found.push(format!("it allows findings of {}{of}", allow.kind.slug()));
    }
    for (name, old, new) in [("timeout", before.timeout, after.timeout), ("grace", before.grace, after.grace)] {
        if new > old {
            found.push(format!("its {name} is {}, and was {}", duration(new), duration(old)));
        }
    }
    if after.copies < before.copies {
        found.push(format!("its copies are {}, and were {}", after.copies, before.copies));
    }
    if after.repeat < before.repeat {
        found.push(format!("it runs {} times, and ran {}", after.repeat, before.repeat));
    }
    if after.retries.is_some() && after.retries != before.retries {
        found.push("it is tried again where it is red (`retries`), or in another way than before".to_owned());
    }
    found.extend(fewer("it runs on", &everywhere(&before.platforms), &everywhere(&after.platforms)));
    found.extend(fewer("receipts of it are wanted from", &asked(before, require), &asked(after, require)));
    found.extend(uncovered(&before.covers, &after.covers, files));
    let (old, new) = (&before.windows, &after.windows);
    if old.files && !new.files || old.strict && !new.strict || old.shares_delete != new.shares_delete {
        found.push("it keeps Windows' rules less strictly, or otherwise".to_owned());
    }
    found.extend(before.needs.iter().filter_map(|need| needed(need, &after.needs)));
    found.extend(after.needs.iter().filter_map(|need| waived(need, &before.needs)));
    found.extend(by_key(&map(before), &map(after)));
    found
}

/// What of a check is otherwise than it was, and is for people to see: the keys.
#[must_use]
pub fn surroundings(before: &Check, after: &Check) -> Vec<&'static str> {
    let (before, after) = (map(before), map(after));
    SURROUNDINGS.iter().copied().filter(|key| before.get(*key) != after.get(*key)).collect()
}

/// Why a program need not be there any more that had to be, or not in a version as late.
fn needed(before: &Need, after: &[Need]) -> Option<String> {
    let name = &before.program;
    let mut same = after.iter().filter(|need| need.program == *name && !need.optional).peekable();
    if before.optional {
        return None;
    }
    if same.peek().is_none() {
        return Some(format!("{name} need not be there any more"));
    }
    let is_as_late = |need: &Need| need.at_least.as_ref() >= before.at_least.as_ref();
    (!same.any(is_as_late)).then(|| format!("{name} may be an earlier version, or any"))
}

/// Why it may be skipped where it was not: a program is missing that it has to have only now, and not by all means.
fn waived(after: &Need, before: &[Need]) -> Option<String> {
    let is_as_wide = |need: &Need| {
        need.program == after.program && need.optional && need.at_least.as_ref() >= after.at_least.as_ref()
    };
    (after.optional && !before.iter().any(is_as_wide))
        .then(|| format!("it is skipped where {} is missing or too old", after.program))
}

/// How many entries of a list are not in another one as many times.
fn lost<T: PartialEq>(before: &[T], after: &[T]) -> usize {
    let mut left: Vec<&T> = after.iter().collect();
    let mut is_lost =
        |entry: &T| left.iter().position(|known| *known == entry).map(|at| left.swap_remove(at)).is_none();
    before.iter().filter(|entry| is_lost(entry)).count()
}

/// The systems from whose hosts receipts of a check are wanted.
#[must_use]
pub fn asked(check: &Check, require: &BTreeSet<Platform>) -> BTreeSet<Platform> {
    if check.hosts.is_empty() { require.clone() } else { check.hosts.iter().copied().collect() }
}

fn everywhere(platforms: &[Platform]) -> BTreeSet<Platform> {
    let all = [Platform::Linux, Platform::Windows, Platform::Macos];
    if platforms.is_empty() { all.into() } else { platforms.iter().copied().collect() }
}

fn fewer(what: &str, before: &BTreeSet<Platform>, after: &BTreeSet<Platform>) -> Option<String> {
    let lost: Vec<&str> = before.difference(after).map(|platform| platform.name()).collect();
    (!lost.is_empty()).then(|| format!("{what} {} no longer", lost.join(" and ")))
}

/// Whether as many cases have to run as before; why not.
fn counts(before: Option<&CaseCount>, after: Option<&CaseCount>) -> Result<(), String> {
    let least = |count: &CaseCount| match count {
        CaseCount::Exactly(number) | CaseCount::AtLeast(number) => Some(*number),
        CaseCount::Listed(_) => None,
    };
    match (before, after) {
        (None, _) => Ok(()),
        (Some(_), None) => Err("it expects no number of cases any more".to_owned()),
        (Some(old), Some(new)) => {
            match (least(old), least(new)) {
                (Some(old), Some(new)) if new < old => Err(format!("it expects {new} cases, and expected {old}")),
                (Some(_), Some(_)) => Ok(()),
                (None, None) if old == new => Ok(()),
                _ => Err("its number of cases comes from elsewhere, so that it can't be told whether it is smaller"
                    .to_owned()),
            }
        }
    }
}

fn reader(before: &ReaderChoice, after: &ReaderChoice, counted: bool) -> Option<String> {
    if before == after {
        return None;
    }
    match after {
        ReaderChoice::None => Some("nothing reads its cases any more (`reader: none`)".to_owned()),
        ReaderChoice::Lines(_) => Some("its cases are counted by other expressions".to_owned()),
        // Where there were none before, any are more.
        _ if counted || *before == ReaderChoice::None => None,
        _ => Some("another reader reads its cases, and it has no count of them that both must reach".to_owned()),
    }
}

fn skips(before: Option<&Skips>, after: Option<&Skips>) -> Option<String> {
    match (before, after) {
        (None, _) | (_, Some(Skips::AtMost(0))) => None,
        (Some(_), None) => Some("any number of its cases may be skipped".to_owned()),
        (Some(Skips::AtMost(old)), Some(Skips::AtMost(new))) => {
            (new > old).then(|| format!("{new} of its cases may be skipped, and {old} were allowed"))
        }
        (Some(Skips::ByReason(old)), Some(Skips::ByReason(new))) => {
            let more = more_skipped(old, new)?;
            Some(format!("more of its cases may be skipped: those for the reason {}", more.matches))
        }
        (Some(_), Some(_)) => {
            Some("which of its cases may be skipped is said in another way, so that it can't be compared".to_owned())
        }
    }
}

/// A rule that allows more than those before did. Each of those stands for one, however often a reason is said.
fn more_skipped<'r>(before: &[SkipRule], after: &'r [SkipRule]) -> Option<&'r SkipRule> {
    let most = |rule: &&SkipRule| rule.most.unwrap_or(u64::MAX);
    let mut left: Vec<&SkipRule> = before.iter().collect();
    let mut rules: Vec<&SkipRule> = after.iter().collect();
    // The widest first, each for the narrowest that is as wide.
    rules.sort_by_key(|rule| std::cmp::Reverse(most(rule)));
    left.sort_by_key(most);
    rules.into_iter().find(|rule| {
        let stands_for = |known: &&SkipRule| known.matches == rule.matches && most(known) >= most(rule);
        left.iter().position(stands_for).map(|at| left.remove(at)).is_none()
    })
}

/// Whether what one entry allows another one allowed before, for whichever reason.
fn admits(old: &Allow, new: &Allow) -> bool {
    let bare = |allow: &Allow| Allow { because: String::new(), ..allow.clone() };
    let of_all = Allow { matches: None, ..bare(new) };
    bare(old) == bare(new) || bare(old) == of_all
}

fn uncovered(before: &[String], after: &[String], files: &[&Path]) -> Option<String> {
    if after.is_empty() || before == after {
        return None;
    }
    let (old, new) = (Covers::of(before), Covers::of(after));
    let mut lost = files.iter().filter(|file| (before.is_empty() || old.has(file)) && !new.has(file));
    let first = lost.next()?;
    let more = lost.count();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("it covers {}{more} no longer", first.display()))
}

fn map(check: &Check) -> Map<String, Value> {
    match serde_json::to_value(check) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// What the keys say that are not compared above. Of one that nothing is known of, any difference may be one for the worse.
fn by_key(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<String> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let others = keys
        .into_iter()
        .filter(|key| ![NEUTRAL, SURROUNDINGS, COMPARED].iter().any(|keys| keys.contains(&key.as_str())));
    let lost = |key: &String| {
        let (old, new) = (before.get(key), after.get(key));
        if old == new {
            return None;
        }
        let entries = |value: Option<&Value>| match value {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(list)) => Some(list.clone()),
            // A map from names to what is asked for.
            Some(Value::Object(map)) => {
                Some(map.iter().map(|(name, value)| serde_json::json!([name, value])).collect())
            }
            Some(_) => None,
        };
        match (entries(old), entries(new)) {
            (Some(old), Some(new)) if ASKING.contains(&key.as_str()) => {
                let lost = lost(&old, &new);
                (lost > 0).then(|| format!("{lost} of what it has under `{key}` is gone"))
            }
            _ => Some(format!("`{key}` is another, and whether that is weaker can't be told")),
        }
    };
    others.filter_map(lost).collect()
}

/// What of a policy is weaker than it was. `signers` are the texts of both files of allowed signers; the second is `None`
/// if the changed project has none.
#[must_use]
pub fn policy(before: &Policy, after: Option<&Policy>, signers: (&str, Option<&str>)) -> Vec<(PolicyPart, String)> {
    let Some(after) = after else {
        return vec![(PolicyPart::Require, "the policy is gone: no gate could say anything".to_owned())];
    };
    let mut found = Vec::new();
    let lost = fewer("it requires receipts from", &before.require, &after.require);
    found.extend(lost.map(|lost| (PolicyPart::Require, lost)));
    if after.max_age > before.max_age {
        let text = format!("receipts may be {} old, and might be {}", age(after.max_age), age(before.max_age));
        found.push((PolicyPart::MaxAge, text));
    }
    let gone = before.wirings.iter().filter(|wiring| !after.wirings.contains(wiring));
    found.extend(gone.map(|wiring| {
        (PolicyPart::Wirings, format!("what {} wires is looked at no longer, or in another way", wiring.file))
    }));
    let lines = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    match signers.1 {
        None => found.push((PolicyPart::Signers, format!("{} is gone, or no file", after.signers))),
        Some(now) => {
            let new = lines(now).difference(&lines(signers.0)).count();
            if new > 0 {
                let text = format!("{} has {} more, or other ones", after.signers, counted(new, "line"));
                found.push((PolicyPart::Signers, text));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
