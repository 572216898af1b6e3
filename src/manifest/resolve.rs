//! From what is written to checks as they are run on a platform.
//!
//! What is wrong is looked for on every platform that a check is for, so that a run on one system finds what would break
//! on another.

use super::break_spec::{BreakSpec, EditSpec};
use super::counts::{CasesSpec, ListSpec, SkippedSpec};
use super::fault_spec::FaultSpec;
use super::node::{Document, NodeId, Span};
use super::problem::{Problem, Problems};
use super::spanned::Spanned;
use super::spec::{AcceptSpec, AllowSpec, CheckSpec, Defaults, GateSpec, ManifestSpec, Override};
use crate::model::{Cwd, FaultCall, Kind, Platform, is_outside};

const PLATFORMS: [Platform; 3] = [Platform::Linux, Platform::Windows, Platform::Macos];

/// A check whose defaults and overrides are merged.
#[derive(Debug)]
pub struct Resolved {
    pub id: String,
    pub id_span: Span,
    /// The whole check.
    pub span: Span,
    /// Has a command unless there is a problem with it.
    pub spec: CheckSpec,
}

/// Resolves the checks of a file for a platform.
pub fn resolve(spec: &ManifestSpec, document: &Document, platform: Platform, problems: &mut Problems) -> Vec<Resolved> {
    let mut resolver = Resolver { document, problems };
    let root = document.root.id;
    if spec.version.is_none() {
        resolver.missing(root, "version", "write `version: 1`");
    }
    if spec.checks.is_none() && spec.gate.is_none() && !document.may_have_had(root, "gate") {
        resolver.missing(root, "checks", "write `checks:` with a list of checks, each with an `id` and a `run`");
    }
    if let Some(gate) = &spec.gate {
        resolver.gate(gate);
    }
    let none = Defaults::default();
    let defaults = &spec.defaults.as_ref().unwrap_or(&none).0;
    resolver.parts(defaults);
    let checks = spec.checks.as_ref().map_or(&[][..], |checks| &checks.0);
    checks.iter().filter_map(|check| resolver.check(defaults, check, platform)).collect()
}

struct Resolver<'d, 'p> {
    document: &'d Document,
    problems: &'p mut Problems,
}

impl Resolver<'_, '_> {
    fn missing(&mut self, map: NodeId, key: &str, help: &str) {
        if !self.document.may_have_had(map, key) {
            let problem = Problem::at(self.document.span(map), format!("the key `{key}` is missing")).help(help);
            self.problems.push(problem);
        }
    }

    /// A policy is whole, or none; files that wire commands can be named without one.
    fn gate(&mut self, gate: &Spanned<GateSpec>) {
        let GateSpec { require, signers, max_age, accept, wirings } = &gate.value;
        for wiring in wirings.iter().flatten().filter(|wiring| wiring.value.file.is_none()) {
            self.missing(wiring.id, "file", "write which file wires commands: `file: my-hooks.yaml`");
        }
        let is_policy = require.is_some() || signers.is_some() || max_age.is_some() || accept.is_some();
        if is_policy && require.is_none() {
            self.missing(gate.id, "require", "write which hosts receipts are wanted from: `require: [linux, windows]`");
        }
        if is_policy && signers.is_none() {
            self.missing(gate.id, "signers", "write who may sign receipts: `signers: .github/allowed_signers`");
        }
        for accept in accept.iter().flatten() {
            let AcceptSpec { check, wiring, policy, because } = &accept.value;
            if because.is_none() {
                self.missing(accept.id, "because", "write why it may pass; the gate shows it");
            }
            let keys = ["check", "wiring", "policy"];
            let number = [check.is_some(), wiring.is_some(), policy.is_some()].into_iter().filter(|is| *is).count();
            let lost = keys.iter().any(|key| self.document.may_have_had(accept.id, key));
            if number > 1 || (number == 0 && !lost) {
                let message = if number > 1 { "more than one of" } else { "none of" };
                let problem =
                    Problem::at(self.document.span(accept.id), format!("{message} `check`, `wiring` and `policy`"))
                        .help("make each an entry of its own: `{check: sweep, because: …}`");
                self.problems.push(problem);
            }
        }
    }

    /// What must hold in each layer by itself.
    fn parts(&mut self, layer: &CheckSpec) {
        for allow in layer.allow.iter().flatten() {
            self.allow(allow);
        }
        for need in layer.needs.iter().flatten().filter(|need| need.value.program.is_none()) {
            self.missing(need.id, "program", "write which program is needed: `program: gh`");
        }
        self.expect(layer);
        self.hook(layer);
        self.disturbed(layer);
        if let Some(retries) = layer.retries.as_ref().filter(|retries| retries.value.count.is_none()) {
            self.missing(retries.id, "count", "write how many more tries it has: `count: 2`");
        }
        for one in layer.breaks.iter().flatten() {
            self.breaks(one);
        }
        let ids = [
            ("run", layer.run.as_ref().map(|run| run.id)),
            ("shell", layer.shell.as_ref().map(|shell| shell.id)),
            ("hook", layer.hook.as_ref().map(|hook| hook.id)),
        ];
        let commands: Vec<_> = ids.into_iter().filter_map(|(key, id)| Some((key, self.document.span(id?)))).collect();
        if let [(one, a), (other, b), ..] = &commands[..] {
            let (first, second) = if a.start < b.start { (a, b) } else { (b, a) };
            let problem = Problem::at(second.clone(), format!("both `{one}` and `{other}`"))
                .also(first.clone(), "the other")
                .help("keep one: `run` is a program and its arguments, `shell` a script, `hook` a wired hook");
            self.problems.push(problem);
        }
        for on in overrides(layer) {
            self.parts(&on.value.0);
        }
    }

    fn expect(&mut self, layer: &CheckSpec) {
        let Some(expect) = &layer.expect else { return };
        if let Some(Spanned { id, value: CasesSpec::List(ListSpec { list: None, .. }) }) = &expect.cases {
            self.missing(*id, "list", "write the command that lists them: `list: [pytest, --collect-only, -q]`");
        }
        if let Some(Spanned { value: SkippedSpec::ByReason(rules), .. }) = &expect.skipped {
            for rule in rules.iter().filter(|rule| rule.value.matches.is_none()) {
                self.missing(
                    rule.id,
                    "matches",
                    "write a regular expression for the reason: `matches: needs PostgreSQL`",
                );
            }
        }
    }

    fn hook(&mut self, layer: &CheckSpec) {
        if let Some(hook) = layer.hook.as_ref().filter(|hook| hook.value.file.is_none()) {
            self.missing(hook.id, "file", "write which file wires it: `file: .claude/settings.json`");
        }
        let events = layer.events.iter().flat_map(|events| &events.value.0);
        for event in events.filter(|event| event.value.expect.is_none()) {
            self.missing(event.id, "expect", "write what it is to answer: `expect: block`");
        }
        for Spanned { id, value } in layer.eventually.iter().flatten() {
            if value.within.is_none() {
                self.missing(*id, "within", "write how long after the end: `within: 10s`");
            }
            if value.file.is_none() {
                self.missing(*id, "file", "write which files: `file: spool/*`");
            }
            if value.is.is_none() {
                self.missing(*id, "is", "write `is: absent` or `is: present`");
            }
        }
    }

    /// What it is forbidden, and what is made to fail.
    fn disturbed(&mut self, layer: &CheckSpec) {
        for forbid in layer.forbid.iter().flatten().filter(|forbid| forbid.value.program.is_none()) {
            self.missing(forbid.id, "program", "write which program may not be run: `program: tmux`");
        }
        for Spanned { id, value: FaultSpec { call, path, errno, delay, .. } } in layer.faults.iter().flatten() {
            if call.is_none() {
                self.missing(*id, "call", "write which call it is: `call: rename`");
            }
            if path.is_none() && call.is_some_and(|call| call != FaultCall::Kill) {
                self.missing(*id, "path", "write what the call is about: `path: \"*.pid\"`");
            }
            match (errno, delay) {
                (None, None) if !self.document.may_have_had(*id, "delay") => {
                    self.missing(
                        *id,
                        "errno",
                        "write how it fails, `errno: EIO`, or how long it takes, `delay: 500ms`",
                    );
                }
                (Some(_), Some(_)) => {
                    let problem = Problem::at(self.document.span(*id), "both `errno` and `delay`")
                        .help("a call that fails does so at once; make each a fault of its own");
                    self.problems.push(problem);
                }
                _ => {}
            }
        }
    }

    fn breaks(&mut self, one: &Spanned<BreakSpec>) {
        if one.value.expect.is_none() {
            self.missing(one.id, "expect", "write what it must be red for: `expect: held-directory`");
        }
        match (one.value.own(), &one.value.edits) {
            (Some(_), Some(_)) => {
                let problem = Problem::at(self.document.span(one.id), "both an edit and `edits`")
                    .help("put all of them under `edits`");
                self.problems.push(problem);
            }
            (Some(own), None) => self.edit(one.id, &own),
            (None, Some(edits)) => edits.0.iter().for_each(|edit| self.edit(edit.id, &edit.value)),
            (None, None) if self.document.may_have_had(one.id, "edits") => {}
            (None, None) => self.missing(one.id, "file", "write which file is edited: `file: hooks/launch.py`"),
        }
    }

    fn edit(&mut self, id: NodeId, edit: &EditSpec) {
        if edit.file.is_none() {
            self.missing(id, "file", "write which file is edited: `file: hooks/launch.py`");
        }
        if edit.replace.is_none() {
            self.missing(id, "replace", "write what is replaced: `replace: \"cwd=root,\"`");
        }
        if edit.with.is_none() {
            self.missing(id, "with", "write what stands there instead, as `with: \"\"` for nothing");
        }
        if edit.with.is_some() && edit.with.as_ref() == edit.replace.as_ref().map(|replace| &replace.0.0) {
            let problem = Problem::at(self.document.span(id), "this edit changes nothing")
                .help("`replace` and `with` are the same");
            self.problems.push(problem);
        }
    }

    fn allow(&mut self, allow: &Spanned<AllowSpec>) {
        if allow.value.ends_within.is_some() && allow.value.kind.is_some_and(|kind| kind != Kind::LeakedProcess) {
            let problem = Problem::at(self.document.span(allow.id), "`ends_within` for what is no process")
                .help("only what is of the kind `leaked-process` can end");
            self.problems.push(problem);
        }
        if allow.value.kind == Some(Kind::DependsOn) {
            let problem = Problem::at(self.document.span(allow.id), "`depends-on` cannot be allowed")
                .help("leave what it may depend on out of `vary`");
            self.problems.push(problem);
        }
        if allow.value.kind.is_none() {
            self.missing(allow.id, "kind", "write which kind of finding is meant; `hostproof explain` lists them");
        }
        if allow.value.because.is_none() {
            self.missing(allow.id, "because", "write why the finding is meant; the report shows it");
        }
    }

    fn check(&mut self, defaults: &CheckSpec, check: &Spanned<CheckSpec>, platform: Platform) -> Option<Resolved> {
        self.parts(&check.value);
        self.command(defaults, check);
        let Some(id) = &check.value.id else {
            self.missing(check.id, "id", "write `id:` with a name that no other check has");
            return None;
        };
        let mut spec = merged(defaults, &check.value, platform);
        if !spec.has_command() {
            // It is skipped here; whatever runs it elsewhere says best what it is.
            let elsewhere = PLATFORMS.map(|platform| merged(defaults, &check.value, platform));
            let with_command = elsewhere.into_iter().find(CheckSpec::has_command)?;
            (spec.run, spec.shell, spec.hook) = (with_command.run, with_command.shell, with_command.hook);
            spec.events = with_command.events;
            spec.interpreter = with_command.interpreter;
        }
        Some(Resolved {
            id: id.value.0.0.clone(),
            id_span: self.document.span(id.id),
            span: self.document.span(check.id),
            spec,
        })
    }

    /// One command on every platform that the check is for, and an interpreter only where it has something to run.
    fn command(&mut self, defaults: &CheckSpec, check: &Spanned<CheckSpec>) {
        let lost = ["run", "shell", "hook"].iter().any(|key| {
            self.document.may_have_had(check.id, key)
                || PLATFORMS.iter().any(|platform| self.document.may_have_had(check.id, platform.name()))
                || overrides(&check.value).any(|on| self.document.may_have_had(on.id, key))
        });
        if lost {
            return;
        }
        let mut without = Vec::new();
        let mut scripts = false;
        for platform in PLATFORMS {
            // Defaults have no command, and an interpreter there is for those checks that have a script.
            let own = merged(&CheckSpec::default(), &check.value, platform);
            scripts |= own.shell.is_some();
            if own.shell.is_none() {
                self.no_interpreter(check.value.on(platform));
            }
            let needed = runs_on(&merged(defaults, &check.value, platform), platform);
            if needed && !own.has_command() {
                without.push(platform);
            }
        }
        if !scripts {
            self.no_interpreter(Some(&check.value));
        }
        self.hook_keys(check);
        self.runs(defaults, check);
        self.company(defaults, check);
        if without.is_empty() {
            return;
        }
        let everywhere = without.len() == PLATFORMS.len();
        let names: Vec<_> = without.into_iter().map(Platform::name).collect();
        let place = if everywhere { String::new() } else { format!(" on {}", names.join(" and ")) };
        let message = format!("this check has no `run`, `shell` or `hook`{place}");
        let problem = Problem::at(self.document.span(check.id), message)
            .help("write what it runs: `run: [python3, hooks/test_sweep.py]`");
        self.problems.push(if everywhere {
            problem
        } else {
            problem.help("or name the systems that it is for under `platforms`")
        });
    }

    /// Whoever wants to see every run wants none to be hidden by another try.
    fn runs(&mut self, defaults: &CheckSpec, check: &Spanned<CheckSpec>) {
        let all = PLATFORMS.map(|platform| merged(defaults, &check.value, platform));
        let both = |spec: &&CheckSpec| spec.repeat.as_ref().is_some_and(|repeat| repeat.0.0 > 1);
        let Some(retries) = all.iter().filter(both).find_map(|spec| spec.retries.as_ref()) else { return };
        let problem = Problem::at(self.document.span(retries.id), "both `repeat` and `retries`")
            .help("keep one: `repeat` runs it always so often, `retries` only while it is red");
        self.problems.push(problem);
    }

    /// What is planted outside the sandboxes is there once, and is not to be taken from one copy by another.
    fn company(&mut self, defaults: &CheckSpec, check: &Spanned<CheckSpec>) {
        let all = PLATFORMS.map(|platform| merged(defaults, &check.value, platform));
        let outside = |spec: &CheckSpec| {
            let copies = spec.copies.as_ref().filter(|copies| copies.value.0.0 > 1)?;
            let mut paths = spec.plant.iter().flatten().map(|(path, _)| path.0.0.clone());
            Some((copies.id, paths.find(|path| is_outside(path, spec.cwd.unwrap_or(Cwd::Project)))?))
        };
        let Some((id, path)) = all.iter().find_map(outside) else { return };
        let problem =
            Problem::at(self.document.span(id), format!("`copies`, and each has something planted at {path}"))
                .help("plant in what each has for itself: below `$sandbox`, or with `cwd: sandbox` or `cwd: copy`");
        self.problems.push(problem);
    }

    /// What only a hook has, and what none has.
    fn hook_keys(&mut self, check: &Spanned<CheckSpec>) {
        let own = PLATFORMS.map(|platform| merged(&CheckSpec::default(), &check.value, platform));
        let span = self.document.span(check.id);
        if let Some(events) = check.value.events.as_ref().filter(|_| own.iter().all(|own| own.hook.is_none())) {
            let problem = Problem::at(self.document.span(events.id), "`events` for a check without `hook`")
                .help("only a wired hook is called for events: `hook: {file: .claude/settings.json, event: Stop}`");
            self.problems.push(problem);
        }
        let Some(hook) = own.iter().find(|own| own.hook.is_some()) else { return };
        if hook.events.is_none() {
            self.missing(check.id, "events", "write what it is called for: `events: [{expect: allow}]`");
        }
        let expect = hook.expect.clone().unwrap_or_default();
        let is_listed = expect.cases.is_some_and(|cases| matches!(cases.value, CasesSpec::List(_)));
        let answers = "what it is to answer stands under `events`";
        for (key, help, is_there) in [
            ("stdin", "what it reads stands under `events`", hook.stdin.is_some()),
            ("reader", answers, hook.reader.is_some()),
            (
                "cwd: sandbox",
                "its host starts it in the project; a copy of that is `cwd: copy`",
                hook.cwd == Some(Cwd::Sandbox),
            ),
            (
                "copies",
                "its calls run one after the other, so that each is proven",
                hook.copies.as_ref().is_some_and(|copies| copies.value.0.0 > 1),
            ),
            ("expect.exit", answers, expect.exit.is_some()),
            ("expect.stdout", answers, expect.stdout.is_some()),
            ("expect.stderr", answers, expect.stderr.is_some()),
            ("expect.cases.list", "its cases are its `events`", is_listed),
        ] {
            if is_there {
                self.problems.push(Problem::at(span.clone(), format!("`{key}` for a `hook`")).help(help));
            }
        }
    }

    fn no_interpreter(&mut self, layer: Option<&CheckSpec>) {
        if let Some(interpreter) = layer.and_then(|layer| layer.interpreter.as_ref()) {
            let span = self.document.span(interpreter.id);
            let problem = Problem::at(span, "an `interpreter` for a check without `shell`")
                .help("remove it; `run` starts the program itself");
            self.problems.push(problem);
        }
    }
}

fn overrides(layer: &CheckSpec) -> impl Iterator<Item = &Spanned<Override>> {
    [&layer.linux, &layer.windows, &layer.macos].into_iter().flatten()
}

/// Defaults, what they say of the platform, the check, and what it says of the platform; each over the one before.
fn merged(defaults: &CheckSpec, check: &CheckSpec, platform: Platform) -> CheckSpec {
    let layers = [Some(defaults), defaults.on(platform), Some(check), check.on(platform)];
    layers.into_iter().flatten().fold(CheckSpec::default(), CheckSpec::under)
}

fn runs_on(spec: &CheckSpec, platform: Platform) -> bool {
    spec.platforms.as_ref().is_none_or(|platforms| platforms.0.contains(&platform))
}
