//! What is wired, for people: the answer first, then file by file.

use super::look::Look;
use crate::model::{Hooks, Limit, Wiring, WiringFault};
use crate::words::{duration, shown};

/// The longest command that is shown in a line.
const LONGEST: usize = 60;

/// The lines.
#[must_use]
pub fn hooks(look: Look, hooks: &Hooks, verbose: bool) -> Vec<String> {
    let mut lines = vec![look.bold(&answer(hooks))];
    let mut last: Option<(&str, &str)> = None;
    let width = |of: &dyn Fn(&Wiring) -> String| {
        hooks.wirings.iter().map(|wiring| of(wiring).chars().count()).max().unwrap_or(0)
    };
    let (places, occasions) = (width(&line_number), width(&|wiring| text(&wiring.occasion())).min(40));
    for wiring in &hooks.wirings {
        let heading = (wiring.file.as_str(), wiring.host.name());
        if wiring.line.is_none()
            && last.is_some_and(|(_, host)| host == heading.1)
            && folder(wiring) == last.map(|(file, _)| file)
        {
            // Files that are hooks themselves are told by their folder.
        } else if last != Some(heading) {
            let file = if wiring.line.is_none() { folder(wiring).unwrap_or(&wiring.file) } else { &wiring.file };
            last = Some((file, heading.1));
            lines.push(String::new());
            let personal = if wiring.personal { ", only of this user or clone" } else { "" };
            lines.push(format!("{}    {}{personal}", look.bold(&text(file)), heading.1));
        }
        lines.push(line(look, wiring, places, occasions));
        if verbose {
            lines.extend(details(wiring));
        }
        for fault in &wiring.faults {
            lines.extend(told(look, fault));
        }
    }
    if !hooks.unread.is_empty() {
        lines.push(String::new());
        lines.push(look.bold("not read, or not wholly"));
        for unread in &hooks.unread {
            let line = unread.line.map(|line| format!(":{line}")).unwrap_or_default();
            lines.push(format!(" {}   {}{line}    {}", look.red("RED"), text(&unread.file), text(&unread.message)));
            lines.push(format!("         mend   {}", text(&unread.remedy)));
        }
    }
    if !hooks.notes.is_empty() || (verbose && !hooks.files.is_empty()) {
        lines.push(String::new());
    }
    lines.extend(hooks.notes.iter().map(|note| format!("note: {}", text(note))));
    if verbose && !hooks.files.is_empty() {
        lines.push(format!("read: {}", text(&hooks.files.join(", "))));
    }
    lines.extend(next(hooks));
    lines.iter().map(|line| look.text(line)).collect()
}

/// `9 commands wired, 7 covered, 2 uncovered, 1 broken`
fn answer(hooks: &Hooks) -> String {
    let totals = &hooks.totals;
    if totals.wired == 0 && totals.unread == 0 {
        return "nothing is wired here".to_owned();
    }
    let commands = if totals.wired == 1 { "command" } else { "commands" };
    let personal = if totals.personal > 0 { format!(" ({} personal)", totals.personal) } else { String::new() };
    let mut answer = format!(
        "{} {commands} wired{personal}, {} covered, {} uncovered, {} broken",
        totals.wired, totals.covered, totals.uncovered, totals.broken
    );
    if totals.unread > 0 {
        answer.push_str(&format!(", {} not read", totals.unread));
    }
    answer
}

fn line(look: Look, wiring: &Wiring, places: usize, occasions: usize) -> String {
    let label = if wiring.is_broken() {
        look.red("RED ")
    } else if wiring.covered_by.is_empty() && !wiring.personal {
        look.yellow("open")
    } else if wiring.faults.is_empty() {
        look.green("ok  ")
    } else {
        look.yellow("warn")
    };
    let limit = wiring.limit.as_ref().map(|limit| format!("   {}", limited(limit))).unwrap_or_default();
    let covers = match &wiring.covered_by[..] {
        [] if wiring.personal => String::new(),
        [] => "   uncovered".to_owned(),
        [first] => format!("   by {}", first.check),
        [first, rest @ ..] => format!("   by {} and {} more", first.check, rest.len()),
    };
    let (place, occasion) = (line_number(wiring), text(&wiring.occasion()));
    format!(" {label}  {place:>places$}  {occasion:occasions$}  {}{limit}{covers}", runs(wiring))
}

/// What a line shows of a command: the scripts that it runs, or else how it begins.
fn runs(wiring: &Wiring) -> String {
    let mut scripts: Vec<&str> = wiring.scripts().map(|script| script.path.as_str()).collect();
    scripts.dedup();
    if let Some(first) = scripts.first() {
        let more = if scripts.len() > 1 { format!(" and {} more", scripts.len() - 1) } else { String::new() };
        return format!("{}{more}", text(first));
    }
    let command = text(wiring.command());
    let cut: String = command.chars().take(LONGEST).collect();
    if cut.len() < command.len() { format!("{cut}…") } else { cut }
}

fn limited(limit: &Limit) -> String {
    let default = if limit.default { " (default)" } else { "" };
    let same = duration(std::time::Duration::from_millis(limit.ms));
    let written = format!("{}{}", text(&limit.written), limit.unit.name());
    if same == written { format!("{written}{default}") } else { format!("{written} = {same}{default}") }
}

fn details(wiring: &Wiring) -> Vec<String> {
    let mut lines = Vec::new();
    for command in &wiring.commands {
        let on = match command.on {
            crate::model::On::Anywhere => "",
            crate::model::On::Unix => " (Linux, macOS)",
            crate::model::On::Windows => " (Windows)",
        };
        lines.push(format!("         {}{on}   {}", command.shell.name(), text(&command.command)));
        for script in &command.scripts {
            let by = script.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
            let missing = if script.exists { "" } else { ", which is not there" };
            lines.push(format!("           runs {}{by}{missing}", text(&script.path)));
        }
        if let Some(why) = &command.untold {
            lines.push(format!("           which files it runs can't be told, or not of all: {}", text(why)));
        }
    }
    for cover in &wiring.covered_by {
        lines.push(format!("         covered by {}, by its {}", cover.check, text(&cover.by)));
    }
    lines
}

fn told(look: Look, fault: &WiringFault) -> [String; 2] {
    let slug = fault.kind.slug();
    let label = if fault.kind.is_error() { look.red(slug) } else { look.yellow(slug) };
    let place = fault.place.as_deref().map(|place| format!("   {}", text(place))).unwrap_or_default();
    [
        format!("         {label}   {}{place}", text(&fault.message)),
        format!("           mend   {}", text(&fault.remedy)),
    ]
}

/// What to do next.
fn next(hooks: &Hooks) -> Vec<String> {
    let mut lines = Vec::new();
    let open = hooks.wirings.iter().find(|wiring| wiring.covered_by.is_empty() && !wiring.personal);
    if let Some(open) = open {
        let file = open.scripts().next().map_or(open.file.as_str(), |script| script.path.as_str());
        lines.push(String::new());
        lines.push(format!("cover    say it in the check that tests it: covers: [{}]", text(file)));
    }
    let fault = hooks.wirings.iter().flat_map(|wiring| &wiring.faults).next();
    if let Some(fault) = fault {
        lines.extend(lines.is_empty().then(String::new));
        lines.push(format!("why      hostproof explain {}", fault.kind.slug()));
    }
    lines
}

fn line_number(wiring: &Wiring) -> String {
    wiring.line.map_or_else(String::new, |line| format!(":{line}"))
}

fn folder(wiring: &Wiring) -> Option<&str> {
    wiring.file.rsplit_once('/').map(|(folder, _)| folder)
}

/// What others wrote, in one line.
fn text(text: &str) -> String {
    shown(text.as_bytes()).split_whitespace().collect::<Vec<_>>().join(" ")
}
