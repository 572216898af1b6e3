//! What is wrong with a wired command on sight. Only what can be known is said: a script is never run.

use std::path::Path;

use regex::Regex;

use super::draft::Draft;
use super::files::{Entry, Files};
use super::hosts::{Form, Matchers};
use super::paths::base;
use super::programs::interpreter;
use super::script::Looks;
use crate::model::{Host, Named, On, Script, Shell, Unit, Wiring, WiringFault, WiringFaultKind as Kind};
use crate::words::duration;

/// A limit in seconds that is rather one in milliseconds.
const LONG_MS: u64 = 3_600_000;
/// A limit in milliseconds that is rather one in seconds.
const SHORT_MS: u64 = 1000;

/// Names that Windows has as scripts for cmd.exe.
const WINDOWS_SCRIPTS: &[&str] = &["npm", "npx", "yarn", "pnpm", "pnpx", "tsx", "ts-node"];

/// The faults of a wiring.
pub fn faults(
    draft: &Draft,
    wiring: &Wiring,
    unquoted: &[String],
    files: &dyn Files,
    looks: &mut Looks<'_>,
) -> Vec<WiringFault> {
    let mut finder = Finder { draft, wiring, files, faults: Vec::new() };
    for command in &wiring.commands {
        for script in &command.scripts {
            finder.script(script, command.on, command.shell, looks);
        }
    }
    finder.file();
    finder.exec_form();
    if let Some(form) = draft.form {
        finder.matcher(form);
        finder.event(form);
    }
    if let Some(line) = draft.disabled {
        let message = format!("line {line} switches hooks off: the host calls none of this file");
        finder.add(Kind::Disabled, message, "remove it, or the hooks".to_owned());
    }
    if !unquoted.is_empty() {
        let names = unquoted.join(" and ");
        let quotes = unquoted.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" and ");
        let message = format!("{names} is not quoted: a space in the path makes two words of it");
        finder.add(Kind::UnquotedVariable, message, format!("put it into double quotes: {quotes}"));
    }
    finder.limit();
    finder.faults
}

struct Finder<'f> {
    draft: &'f Draft,
    wiring: &'f Wiring,
    files: &'f dyn Files,
    faults: Vec<WiringFault>,
}

impl Finder<'_> {
    fn add(&mut self, kind: Kind, message: String, remedy: String) {
        self.add_at(kind, message, remedy, None);
    }

    fn add_at(&mut self, kind: Kind, message: String, remedy: String, place: Option<String>) {
        let fault = WiringFault { kind, message, place, remedy };
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Whether the host takes status 2, and no other, for a refusal of this event.
    fn refuses_by_two(&self) -> bool {
        let event = self.wiring.event.as_deref().unwrap_or_default();
        self.draft.form.is_some_and(|form| form.refused_by_two.contains(&event))
    }

    fn script(&mut self, script: &Script, on: On, shell: Shell, looks: &mut Looks<'_>) {
        let path = &script.path;
        if !script.exists {
            if !script.fallback && script.named != Named::Argument {
                self.missing(script);
            }
            return;
        }
        let Entry::File { executable } = self.files.entry(path) else { return };
        let direct = script.named == Named::Program;
        if direct && on != On::Windows && executable == Some(false) {
            let message = format!("{path} may not be executed, and nothing else runs it");
            let remedy = format!("chmod +x {path} (git update-index --chmod=+x {path}), or name its interpreter");
            self.add(Kind::NotExecutable, message, remedy);
        }
        if script.named == Named::Argument || on == On::Windows {
            return;
        }
        let seen = looks.look(path);
        let for_shell = seen.is_for_a_shell(script.by.as_deref());
        // Those are for cmd.exe, too, which wants them as they are.
        let both = is_batch(path);
        let first_line = direct && seen.carriage == Some(1) && seen.shebang.is_some();
        let (has_mark, ends_with_one) = (seen.has_mark, seen.ends_with_one);
        if let Some(line) = seen.carriage.filter(|_| (for_shell || first_line) && !both) {
            let what =
                if for_shell { "the shell takes the CR for a part of the line" } else { "no program has that name" };
            let message = format!("{path} has Windows line ends (CR LF), the first in line {line}: {what}");
            let remedy = format!("save it with LF, and keep it so: `{path} text eol=lf` in .gitattributes");
            self.add_at(Kind::CarriageReturns, message, remedy, Some(format!("{path}:{line}")));
        }
        if has_mark && (for_shell || direct) && shell != Shell::Powershell {
            let message = format!("{path} begins with a byte order mark, so its first line is not what it seems");
            self.add_at(
                Kind::ByteOrderMark,
                message,
                "save it as UTF-8 without the mark".to_owned(),
                Some(format!("{path}:1")),
            );
        }
        if let Some(line) = ends_with_one.filter(|_| self.refuses_by_two()) {
            let host = self.wiring.host.name();
            let message = format!(
                "{path} ends with status 1 and nowhere with 2; only 2 refuses here: {host} goes on whatever it says"
            );
            let remedy = "end with 2 to refuse, with 0 to allow".to_owned();
            self.add_at(Kind::ExitStatus, message, remedy, Some(format!("{path}:{line}")));
        }
    }

    fn missing(&mut self, script: &Script) {
        let path = &script.path;
        let status = match &script.by {
            Some(by) => interpreter(by).and_then(|known| known.missing),
            None => Some(127),
        };
        let by = script.by.as_deref().unwrap_or("the shell");
        let host = self.wiring.host.name();
        let then = match status {
            Some(2) if self.refuses_by_two() => format!("; {by} ends with 2 then, which {host} takes for a refusal"),
            Some(status) if self.refuses_by_two() => {
                format!("; {by} ends with {status} then, and {host} goes on as if nothing had been refused")
            }
            _ => String::new(),
        };
        let message = format!("{path} is not there{then}");
        self.add(Kind::ScriptMissing, message, "correct the path, or add the file to the project".to_owned());
    }

    /// A hook that is a file out of the project.
    fn file(&mut self) {
        if self.draft.executable == Some(false) {
            let message = format!("{} may not be executed, so git passes it over", self.wiring.file);
            self.add(Kind::NotExecutable, message, "chmod +x it, or remove it".to_owned());
        }
    }

    fn exec_form(&mut self) {
        if self.wiring.host != Host::ClaudeCode {
            return;
        }
        let programs = self.wiring.commands.iter().filter_map(|command| command.argv.as_ref()?.first());
        let script = programs
            .map(|program| base(program).to_ascii_lowercase())
            .find(|name| is_batch(name) || WINDOWS_SCRIPTS.contains(&name.as_str()));
        if let Some(name) = script {
            let message = format!("{name} is a script of cmd.exe's on Windows, which no program with `args` can start");
            self.add(Kind::NeedsShell, message, "write the whole command as one text, without `args`".to_owned());
        }
    }

    fn matcher(&mut self, form: &Form) {
        let Some(matcher) = self.wiring.matcher.as_deref().filter(|text| !text.is_empty() && *text != "*") else {
            return;
        };
        let is_list = matcher.chars().all(|c| c.is_ascii_alphanumeric() || "_-,| ".contains(c));
        let expression = match form.matchers {
            Matchers::ListOrExpression => !is_list,
            Matchers::Expression => true,
            Matchers::Unknown => false,
        };
        if expression && let Some(why) = no_expression(matcher) {
            let message = format!("the matcher `{matcher}` is no regular expression ({why}), so it matches nothing");
            self.add(Kind::BadMatcher, message, "write an expression; `*`, or no matcher, is every one".to_owned());
        }
    }

    fn event(&mut self, form: &Form) {
        let Some(event) = self.wiring.event.as_deref() else { return };
        if form.events.contains(&event) {
            return;
        }
        let lower = event.to_ascii_lowercase();
        let far = |known: &&&str| strsim::damerau_levenshtein(&known.to_ascii_lowercase(), &lower);
        let nearest = form.events.iter().min_by_key(far).filter(|known| far(known) <= 3);
        let host = form.host.name();
        let then = match form.host {
            Host::Cursor => "Cursor may refuse the whole file",
            _ => "nothing ever calls it, and nothing says so",
        };
        let message = format!("{host} has no event {event} that is known here: if it has none, {then}");
        let remedy = match nearest {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => format!("look for the name on {host}'s page of hooks"),
        };
        self.add(Kind::UnknownEvent, message, remedy);
    }

    fn limit(&mut self) {
        let Some(limit) = self.wiring.limit.as_ref().filter(|limit| !limit.default) else { return };
        let (written, host) = (&limit.written, self.wiring.host.name());
        let odd = match limit.unit {
            Unit::Seconds if limit.ms >= LONG_MS => {
                let long = duration(std::time::Duration::from_millis(limit.ms));
                Some((format!("{long}: {host} counts in seconds"), "write it in seconds"))
            }
            Unit::Milliseconds if limit.ms < SHORT_MS => {
                Some((format!("{}ms: {host} counts in milliseconds", limit.ms), "write it in milliseconds"))
            }
            _ => None,
        };
        if let Some((is, remedy)) = odd {
            self.add(Kind::OddLimit, format!("a limit of {written} is {is}"), remedy.to_owned());
        }
    }
}

fn is_batch(name: &str) -> bool {
    let ending = Path::new(name).extension().unwrap_or_default();
    ending.eq_ignore_ascii_case("cmd") || ending.eq_ignore_ascii_case("bat")
}

/// Why a text is no regular expression of JavaScript's, as far as that is known here: what only JavaScript has is taken
/// for right.
fn no_expression(text: &str) -> Option<String> {
    let plain = ["(?=", "(?!", "(?<=", "(?<!"].iter().fold(text.to_owned(), |text, look| text.replace(look, "(?:"));
    let error = Regex::new(&plain).err()?.to_string();
    let known = ["unclosed", "unopened", "repetition operator missing", "invalid repetition", "range"];
    let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    known.iter().any(|known| reason.contains(known)).then_some(reason)
}

/// Marks commands that run twice for one event: hosts that run those that are the same once are left out.
pub fn mark_duplicates(drafts: &[Draft], wirings: &mut [Wiring]) {
    for (at, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.form.is_some_and(|form| !form.once)) {
        let Some((before, [this, ..])) = wirings.split_at_mut_checked(at) else { return };
        let commands = |wiring: &Wiring| -> Vec<String> {
            wiring.commands.iter().map(|command| command.command.clone()).collect()
        };
        let same = |known: &&Wiring| {
            known.host == draft.host
                && (&known.event, &known.matcher) == (&this.event, &this.matcher)
                && commands(known) == commands(this)
        };
        if let Some(first) = before.iter().find(same) {
            let message = format!("the same command is at {}, so it runs twice", first.place());
            let remedy = "remove one of them".to_owned();
            this.faults.push(WiringFault { kind: Kind::Duplicate, message, place: None, remedy });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_javascript() {
        for text in ["Bash|Edit", "mcp__.*", "^(?!Read).*$", "(?<=a)b", "\\d+", "[^/]+"] {
            assert_eq!(no_expression(text), None, "{text}");
        }
        for text in ["*Bash", "(Bash", "Bash)", "[a", "a{2,1}"] {
            assert!(no_expression(text).is_some(), "{text}");
        }
    }
}
