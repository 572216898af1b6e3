//! One layer of a check over another: defaults, the check, and what is different on a platform.

use std::collections::BTreeMap;

use super::spec::{CheckSpec, ExpectSpec};
use crate::model::Platform;

impl CheckSpec {
    /// What is different on that platform.
    pub fn on(&self, platform: Platform) -> Option<&Self> {
        let on = match platform {
            Platform::Linux => &self.linux,
            Platform::Windows => &self.windows,
            Platform::Macos => &self.macos,
        };
        on.as_ref().map(|on| &*on.value.0)
    }

    /// Whether it says what is run.
    pub fn has_command(&self) -> bool {
        self.run.is_some() || self.shell.is_some() || self.hook.is_some()
    }

    /// This layer with another over it. `env` is merged by name and `expect` by its own keys, any other key of the upper
    /// layer replaces that of the lower; a command replaces a command, whichever of `run`, `shell` and `hook` it is.
    pub fn under(self, upper: &Self) -> Self {
        let command = |layer: &Self| (layer.run.clone(), layer.shell.clone(), layer.hook.clone());
        let replaces = upper.has_command();
        let (run, shell, hook) = command(if replaces { upper } else { &self });
        // What is no hook is called for nothing.
        let events = self.events.filter(|_| !replaces || hook.is_some());
        Self {
            id: upper.id.clone().or(self.id),
            title: upper.title.clone().or(self.title),
            run,
            shell,
            hook,
            events: upper.events.clone().or(events),
            interpreter: upper.interpreter.clone().or(self.interpreter),
            cwd: upper.cwd.or(self.cwd),
            files: upper.files.clone().or(self.files),
            home: upper.home.or(self.home),
            env: merge_env(self.env, upper.env.as_ref()),
            inherit: upper.inherit.clone().or(self.inherit),
            stdin: upper.stdin.clone().or(self.stdin),
            timeout: upper.timeout.clone().or(self.timeout),
            grace: upper.grace.clone().or(self.grace),
            reader: upper.reader.clone().or(self.reader),
            expect: merge_expect(self.expect, upper.expect.as_ref()),
            allow: upper.allow.clone().or(self.allow),
            eventually: upper.eventually.clone().or(self.eventually),
            breaks: upper.breaks.clone().or(self.breaks),
            publishes: upper.publishes.clone().or(self.publishes),
            forbid: upper.forbid.clone().or(self.forbid),
            plant: upper.plant.clone().or(self.plant),
            faults: upper.faults.clone().or(self.faults),
            watch: upper.watch.clone().or(self.watch),
            unchanged: upper.unchanged.clone().or(self.unchanged),
            rules: upper.rules.clone().or(self.rules),
            copies: upper.copies.clone().or(self.copies),
            repeat: upper.repeat.clone().or(self.repeat),
            retries: upper.retries.clone().or(self.retries),
            matrix: upper.matrix.clone().or(self.matrix),
            vary: upper.vary.clone().or(self.vary),
            platforms: upper.platforms.clone().or(self.platforms),
            hosts: upper.hosts.clone().or(self.hosts),
            linux: None,
            windows: None,
            macos: None,
            needs: upper.needs.clone().or(self.needs),
            covers: upper.covers.clone().or(self.covers),
            lock: upper.lock.clone().or(self.lock),
            tags: upper.tags.clone().or(self.tags),
        }
    }
}

fn merge_env<K: Clone + Ord, V: Clone>(
    lower: Option<BTreeMap<K, V>>,
    upper: Option<&BTreeMap<K, V>>,
) -> Option<BTreeMap<K, V>> {
    let Some(upper) = upper else { return lower };
    let mut merged = lower.unwrap_or_default();
    merged.extend(upper.iter().map(|(name, value)| (name.clone(), value.clone())));
    Some(merged)
}

fn merge_expect(lower: Option<ExpectSpec>, upper: Option<&ExpectSpec>) -> Option<ExpectSpec> {
    let Some(upper) = upper else { return lower };
    let lower = lower.unwrap_or_default();
    Some(ExpectSpec {
        exit: upper.exit.or(lower.exit),
        cases: upper.cases.clone().or(lower.cases),
        skipped: upper.skipped.clone().or(lower.skipped),
        stdout: upper.stdout.clone().or(lower.stdout),
        stderr: upper.stderr.clone().or(lower.stderr),
    })
}
