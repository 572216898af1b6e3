//! From a merged check as it is written to the check of the model.

use std::collections::BTreeSet;

use super::forms::{InheritSpec, TextRuleSpec};
use super::resolve::Resolved;
use super::spec::{AcceptSpec, ExpectSpec, GateSpec, WiringSpec};
use crate::model::{
    Accept, Accepted, Allow, Check, CheckCommand, Expect, Home, Inherit, Interpreter, Need, Origin, Planting, Policy,
    ReaderChoice, TextRule, WiringSource,
};

/// The check, with the defaults of the program where the manifest is silent. `None` if it lacks what a problem was
/// reported for.
pub fn lower(resolved: Resolved, origin: Origin) -> Option<Check> {
    let spec = resolved.spec;
    let is_hook = spec.hook.is_some();
    let command = match (spec.run, spec.shell, spec.hook) {
        (Some(run), None, None) => CheckCommand::Argv(run.value.0),
        (None, Some(script), None) => CheckCommand::Shell {
            script: script.value.0.0,
            interpreter: spec.interpreter.map_or(Interpreter::Sh, |interpreter| interpreter.value),
        },
        (None, None, Some(hook)) => CheckCommand::Hook(hook.value.lower()?),
        _ => return None,
    };
    let allow = spec.allow.unwrap_or_default().into_iter().map(|allow| {
        let allow = allow.value;
        Some(Allow {
            kind: allow.kind?,
            matches: allow.matches.map(|expression| expression.0.0),
            ends_within: allow.ends_within.map(|within| within.0.0),
            because: allow.because?.0.0,
        })
    });
    let needs = spec.needs.unwrap_or_default().into_iter().map(|need| {
        let program = need.value.program?.0.0;
        Some(Need { optional: need.value.optional, ..program })
    });
    let events = spec.events.filter(|_| is_hook).map(|events| events.value.0).unwrap_or_default();
    let events = events.into_iter().map(|event| event.value.lower()).collect::<Option<_>>()?;
    let eventually = spec.eventually.unwrap_or_default().into_iter().map(|wanted| wanted.value.lower());
    let forbid = spec.forbid.unwrap_or_default().into_iter().map(|forbid| forbid.value.lower());
    let faults = spec.faults.unwrap_or_default().into_iter().map(|fault| fault.value.lower());
    let breaks = spec.breaks.unwrap_or_default().into_iter().map(|one| one.value.lower());
    let mut default = Check::new(resolved.id, command);
    let mut expected = expect(spec.expect.unwrap_or_default())?;
    if is_hook {
        // It is called as its host does, and its answers are its cases.
        default = Check { home: Home::Real, inherit: Inherit::All, reader: ReaderChoice::None, ..default };
        expected = Expect { cases: expected.cases, skipped: expected.skipped, ..Expect::default() };
    }
    let reader = spec.reader.filter(|_| !is_hook);
    let stdin = spec.stdin.filter(|_| !is_hook);
    Some(Check {
        title: spec.title,
        cwd: spec.cwd.unwrap_or(default.cwd),
        files: spec.files.unwrap_or_default().into_iter().map(|(there, here)| (there.0.0, here.0.0)).collect(),
        home: spec.home.unwrap_or(default.home),
        env: spec.env.unwrap_or_default().into_iter().map(|(name, value)| (name.0.0, value.0)).collect(),
        inherit: spec.inherit.map_or(default.inherit, |inherit| match inherit {
            InheritSpec::All => Inherit::All,
            InheritSpec::Names(names) => Inherit::Names(names.into_iter().map(|name| name.0.0).collect()),
        }),
        stdin: stdin.map(|path| path.0.0.into()),
        timeout: spec.timeout.map_or(default.timeout, |timeout| timeout.0.0),
        grace: spec.grace.map_or(default.grace, |grace| grace.0.0),
        reader: reader.map_or(default.reader, |reader| reader.0),
        expect: expected,
        allow: allow.collect::<Option<_>>()?,
        events,
        eventually: eventually.collect::<Option<_>>()?,
        breaks: breaks.collect::<Option<_>>()?,
        publishes: spec.publishes.unwrap_or_default().into_iter().map(|glob| glob.0.0).collect(),
        plant: spec
            .plant
            .unwrap_or_default()
            .into_iter()
            .map(|(path, plant)| Planting { path: path.0.0, plant: plant.0 })
            .collect(),
        forbid: forbid.collect::<Option<_>>()?,
        faults: faults.collect::<Option<_>>()?,
        watch: spec.watch.unwrap_or_default().into_iter().map(|glob| glob.0.0).collect(),
        unchanged: spec.unchanged.unwrap_or_default().into_iter().map(|argv| argv.0).collect(),
        platforms: spec.platforms.map(|platforms| platforms.0).unwrap_or_default(),
        hosts: spec.hosts.map(|hosts| hosts.0).unwrap_or_default(),
        needs: needs.collect::<Option<_>>()?,
        covers: spec.covers.into_iter().flat_map(|globs| globs.0).map(|glob| glob.0.0).collect(),
        lock: spec.lock.unwrap_or_default().into_iter().map(|name| name.0.0).collect(),
        tags: spec.tags.unwrap_or_default().into_iter().map(|name| name.0.0).collect(),
        windows: spec.rules.map(|rules| rules.windows).unwrap_or_default(),
        copies: spec.copies.map_or(1, |copies| copies.value.0.0),
        repeat: spec.repeat.map_or(1, |repeat| repeat.0.0),
        retries: spec.retries.map(|retries| retries.value.lower().ok_or(())).transpose().ok()?,
        origin: Some(origin),
        ..Check::new(default.id, default.command)
    })
}

/// The files that wire commands, and the policy, if it is one. `None` of it also if it lacks what a problem was reported
/// for. Where it is written is not known here.
pub fn lower_gate(spec: GateSpec) -> (Vec<WiringSource>, Option<Policy>) {
    let source =
        |spec: WiringSpec| Some(WiringSource { file: spec.file?.0.0, commands: spec.commands.map(|path| path.0.0) });
    let wirings: Vec<WiringSource> =
        spec.wirings.unwrap_or_default().into_iter().filter_map(|wiring| source(wiring.value)).collect();
    let accepted = |spec: AcceptSpec| {
        let what = match (spec.check, spec.wiring, spec.policy) {
            (Some(id), None, None) => Accepted::Check(id.0.0),
            (None, Some(path), None) => Accepted::Wiring(path.0.0),
            (None, None, Some(part)) => Accepted::Policy(part),
            _ => return None,
        };
        Some(Accept { what, because: spec.because?.0.0 })
    };
    let (Some(require), Some(signers)) = (spec.require, spec.signers) else { return (wirings, None) };
    let policy = Policy {
        require: require.0.into_iter().collect::<BTreeSet<_>>(),
        signers: signers.0.0,
        max_age: spec.max_age.map_or(Policy::DEFAULT_MAX_AGE, |age| age.0.0),
        accept: spec.accept.unwrap_or_default().into_iter().filter_map(|accept| accepted(accept.value)).collect(),
        wirings: wirings.clone(),
        origin: Origin { file: String::new(), line: 0 },
    };
    (wirings, Some(policy))
}

fn expect(spec: ExpectSpec) -> Option<Expect> {
    let rules = |rules: Option<Vec<TextRuleSpec>>| rules.unwrap_or_default().into_iter().map(rule).collect();
    let cases = spec.cases.map(|cases| cases.value.lower().ok_or(())).transpose().ok()?;
    let skipped = spec.skipped.map(|skipped| skipped.value.lower().ok_or(())).transpose().ok()?;
    let exit = spec.exit.unwrap_or_default();
    Some(Expect { exit, cases, skipped, stdout: rules(spec.stdout), stderr: rules(spec.stderr) })
}

fn rule(spec: TextRuleSpec) -> TextRule {
    match spec {
        TextRuleSpec::Contains(text) => TextRule::Contains(text.0.0),
        TextRuleSpec::NotContains(text) => TextRule::NotContains(text.0.0),
        TextRuleSpec::Matches(expression) => TextRule::Matches(expression.0.0),
    }
}
