//! Hooks that are called for less than they were. A check of a hook stays green where its matcher is narrowed: what it tests
//! is what the hook says when it is called.

use std::collections::BTreeMap;

use crate::model::{Host, Wiring, WiringFaultKind};
use crate::wirings::{Matchers, form, matches};

/// What a command is called for no longer.
#[derive(Debug, PartialEq, Eq)]
pub enum Less<'w> {
    /// It is called for nothing any more.
    Gone(&'w Wiring),
    /// It is called, and for less, by what its matchers say; the wiring that it is now.
    Narrower(&'w Wiring, String),
    /// Its matchers are others, and whether that is less can't be told.
    Untold(&'w Wiring, String),
}

/// Compares what wires a command before with what does so after.
pub fn narrower<'w>(before: &'w [Wiring], after: &'w [Wiring]) -> Vec<Less<'w>> {
    let mut now: BTreeMap<_, Vec<&Wiring>> = BTreeMap::new();
    for wiring in after.iter().filter(|wiring| is_called(wiring)) {
        now.entry(of(wiring)).or_default().push(wiring);
    }
    let mut found = Vec::new();
    for wiring in before.iter().filter(|wiring| is_called(wiring)) {
        let less = match now.get(&of(wiring)) {
            None => Some(Less::Gone(wiring)),
            Some(now) => less(wiring, now),
        };
        found.extend(less.filter(|less| !found.contains(less)));
    }
    found
}

/// What makes it the same hook, wherever it is wired.
fn of(wiring: &Wiring) -> (Host, Option<&str>, Vec<&str>) {
    let commands = wiring.commands.iter().map(|command| command.command.as_str());
    (wiring.host, wiring.event.as_deref(), commands.collect())
}

/// Whether its file has no switch that turns it off.
fn is_called(wiring: &Wiring) -> bool {
    !wiring.faults.iter().any(|fault| fault.kind == WiringFaultKind::Disabled)
}

/// Its matcher, unless it is for everything.
fn matcher(wiring: &Wiring) -> Option<&str> {
    wiring.matcher.as_deref().filter(|matcher| !matcher.is_empty() && *matcher != "*")
}

fn less<'w>(before: &Wiring, after: &[&'w Wiring]) -> Option<Less<'w>> {
    let flow = before.flow;
    // Those that are called on no other condition.
    let is_one = |wiring: &&Wiring| wiring.condition.is_none() || wiring.condition == before.condition;
    let same: Vec<&Wiring> = after.iter().copied().filter(is_one).collect();
    let Some(last) = same.last() else {
        let (last, was) = (after.last()?, before.condition.as_deref());
        let now = last.condition.as_deref().unwrap_or_default();
        return Some(match was {
            None => Less::Narrower(last, format!("it is called on a condition now ({now})")),
            Some(was) => {
                let message = format!("it was called on the condition {was}, and is on {now}");
                if form(before.host).is_some() { Less::Narrower(last, message) } else { Less::Untold(last, message) }
            }
        });
    };
    if !flow.goes_on && same.iter().all(|wiring| wiring.flow.goes_on) {
        return Some(Less::Narrower(
            last,
            "its host does not wait for it any more, so that it refuses nothing".to_owned(),
        ));
    }
    if !flow.once && same.iter().all(|wiring| wiring.flow.once) {
        return Some(Less::Narrower(last, "it is called the first time alone".to_owned()));
    }
    of_matchers(before, &same)
}

fn of_matchers<'w>(before: &Wiring, after: &[&'w Wiring]) -> Option<Less<'w>> {
    let (last, now) = (after.last()?, after.iter().map(|wiring| matcher(wiring)).collect::<Option<Vec<&str>>>()?);
    let shown = format!("`{}`", now.join("` and `"));
    let Some(was) = matcher(before) else {
        return Some(Less::Narrower(last, format!("it was called for everything, and is for {shown}")));
    };
    if now.contains(&was) {
        return None;
    }
    let is_of_names = was.chars().all(|c| c.is_ascii_alphanumeric() || "_-,| ".contains(c));
    let kind = form(before.host).map_or(Matchers::Unknown, |form| form.matchers);
    if kind == Matchers::Unknown {
        return Some(Less::Untold(last, format!("it was called for `{was}`, and is for {shown}")));
    }
    if !is_of_names {
        return Some(Less::Narrower(
            last,
            format!("it was called for `{was}`, and is for {shown}, as far as can be told"),
        ));
    }
    let names = was.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
    let is_missed =
        |name: &&str| !now.iter().any(|matcher| matches(before.host, matcher, name).is_ok_and(|matches| matches));
    let missed: Vec<&str> = names.filter(is_missed).collect();
    (!missed.is_empty())
        .then(|| Less::Narrower(last, format!("it is not called for {} any more", missed.join(" and "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Flow, On, Shell, WiredCommand};

    fn wiring(host: Host, matcher: &str) -> Wiring {
        let command = WiredCommand {
            command: "sh guard.sh".to_owned(),
            argv: None,
            shell: Shell::Bash,
            on: On::Anywhere,
            cwd: None,
            scripts: Vec::new(),
            untold: None,
        };
        Wiring {
            host,
            file: "settings.json".to_owned(),
            line: Some(1),
            personal: false,
            event: Some("PreToolUse".to_owned()),
            matcher: Some(matcher.to_owned()),
            condition: None,
            name: None,
            commands: vec![command],
            limit: None,
            flow: Flow::default(),
            env: BTreeMap::new(),
            covered_by: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// What is said of one matcher that becomes some others: nothing, that it can't be told, or the words.
    fn said(host: Host, before: &str, after: &[&str]) -> String {
        let after: Vec<Wiring> = after.iter().map(|matcher| wiring(host, matcher)).collect();
        let found = format!("{:?}", narrower(&[wiring(host, before)], &after));
        let words = |kind: &str| found.split_once(kind).and(found.rsplit('"').nth(1)).map(str::to_owned);
        match &found[..] {
            "[]" => String::new(),
            _ if found.contains("Gone") => "gone".to_owned(),
            _ => words("Narrower").unwrap_or_else(|| "untold".to_owned()),
        }
    }

    #[test]
    fn a_matcher_for_fewer_tools_is_narrower() {
        let claude = |before: &str, after: &[&str]| said(Host::ClaudeCode, before, after);
        for (before, after) in [
            ("Bash", &["Bash"][..]),
            ("Bash", &["Bash|Edit"]),
            ("Bash|Edit", &["Edit, Bash"]),
            ("Bash|Edit", &["Edit", "Bash"]),
            ("Bash", &["*"]),
            ("Bash", &[""]),
            ("Bash|Edit", &["^(Bash|Edit|Write)$"]),
            ("^B.*", &["^B.*", "Edit"]),
        ] {
            assert_eq!(claude(before, after), "", "{before} to {after:?}");
        }
        assert_eq!(claude("Bash|Edit", &["Bash"]), "it is not called for Edit any more");
        assert_eq!(claude("Bash|Edit", &["^Edit$"]), "it is not called for Bash any more");
        assert_eq!(claude("", &["Bash"]), "it was called for everything, and is for `Bash`");
        assert_eq!(claude("*", &["Bash", "Edit"]), "it was called for everything, and is for `Bash` and `Edit`");
        assert_eq!(claude("B.*", &["Bash"]), "it was called for `B.*`, and is for `Bash`, as far as can be told");
        assert_eq!(claude("Bash", &[]), "gone");
        // In Gemini's expressions a name is one that is found anywhere.
        assert_eq!(said(Host::Gemini, "run_shell_command", &["run_shell"]), "");
        assert_eq!(said(Host::Lefthook, "*.js", &["*.ts"]), "untold");
    }

    #[test]
    fn a_condition_and_a_host_that_goes_on_are_narrower() {
        let before = wiring(Host::ClaudeCode, "Bash");
        let with = |change: fn(&mut Wiring)| {
            let mut after = before.clone();
            change(&mut after);
            let found = format!("{:?}", narrower(std::slice::from_ref(&before), std::slice::from_ref(&after)));
            let back = narrower(std::slice::from_ref(&after), std::slice::from_ref(&before)).is_empty();
            (found.rsplit('"').nth(1).unwrap_or_default().to_owned(), back)
        };
        let condition = with(|it| it.condition = Some("if: Bash(git push *)".to_owned()));
        assert_eq!(condition, ("it is called on a condition now (if: Bash(git push *))".to_owned(), true));
        assert!(with(|it| it.flow.goes_on = true).0.starts_with("its host does not wait"));
        assert_eq!(with(|it| it.flow.once = true), ("it is called the first time alone".to_owned(), true));
        let [mut one, mut other] = [before.clone(), before.clone()];
        (one.condition, other.condition) = (Some("if: a".to_owned()), Some("if: b".to_owned()));
        assert!(matches!(&narrower(&[one.clone()], &[other.clone()])[..], [Less::Narrower(..)]));
        (one.host, other.host) = (Host::Lefthook, Host::Lefthook);
        assert!(matches!(&narrower(&[one], &[other])[..], [Less::Untold(..)]));
    }

    #[test]
    fn what_is_switched_off_is_gone() {
        use crate::model::WiringFault;
        let mut after = wiring(Host::ClaudeCode, "Bash");
        let (message, remedy) = (String::new(), String::new());
        after.faults.push(WiringFault { kind: WiringFaultKind::Disabled, message, place: None, remedy });
        let before = wiring(Host::ClaudeCode, "Bash");
        assert_eq!(narrower(std::slice::from_ref(&before), &[after]), [Less::Gone(&before)]);
    }
}
