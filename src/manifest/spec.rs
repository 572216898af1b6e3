//! The manifest as it is written: the types that are read, and that the schema is made from.
//!
//! Every key is optional to serde; `required` is for the schema, and checked by [`super::resolve`], which knows what was
//! refused before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::break_spec::BreakSpec;
use super::counts::{CasesSpec, SkippedSpec};
use super::fault_spec::FaultSpec;
use super::forbid_spec::ForbidSpec;
use super::forms::{Argv, EnvValue, InheritSpec, NeedSpec, NonEmpty, TextRuleSpec};
use super::hook_spec::{EventSpec, EventuallySpec, HookSpec};
use super::json_path::CommandPath;
use super::matrix_spec::MatrixSpec;
use super::paths::{CoverGlob, ProjectPath, PublishGlob, SandboxPath, WatchGlob};
use super::plant_spec::{PlantPath, PlantSpec};
use super::reader_spec::ReaderSpec;
use super::repeat_spec::{Copies, RetriesSpec, Times};
use super::rules_spec::RulesSpec;
use super::spanned::{DEFAULTS, OVERRIDE, Spanned};
use super::text::Parsed;
use super::values::{Age, CheckId, Expression, Filled, Grace, OwnName, Timeout, Version, Within};
use super::vary_spec::VarySpec;
use crate::model::{Cwd, Home, Interpreter, Kind, Platform, PolicyPart};

/// Checks that hostproof runs in sandboxes, and what is expected of each.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `version` and `checks`")]
#[schemars(title = "hostproof manifest", extend("anyOf" = [{"required": ["checks"]}, {"required": ["gate"]}]))]
pub struct ManifestSpec {
    /// The version of the manifest's form: 1.
    #[schemars(required)]
    pub version: Option<Parsed<Version>>,
    /// What holds for every check of this file that does not say otherwise. `env` and `expect` are merged key by key;
    /// any other key of a check replaces what is here.
    pub defaults: Option<Defaults>,
    /// Commands that run once, in this order, before the checks of this file; if one fails, the checks are broken.
    pub setup: Option<Vec<Argv>>,
    /// What the gate goes by; in one file of all.
    pub gate: Option<Spanned<GateSpec>>,
    /// The checks of this file; one with `gate` may have none.
    pub checks: Option<NonEmpty<Spanned<CheckSpec>>>,
}

/// One self-test command and what is expected of it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with the keys of a check")]
#[schemars(rename = "Check", extend("not" = {"anyOf": [
    {"required": ["run", "shell"]}, {"required": ["run", "hook"]}, {"required": ["shell", "hook"]}
]}))]
pub struct CheckSpec {
    /// Its name, unique over all files.
    #[schemars(required)]
    pub id: Option<Spanned<Parsed<CheckId>>>,
    /// What it is about, for people.
    pub title: Option<String>,
    /// The command: a program and its arguments, without a shell. Either this, `shell` or `hook`.
    pub run: Option<Spanned<Argv>>,
    /// A script, run by `interpreter`. Either this, `run` or `hook`.
    pub shell: Option<Spanned<Parsed<Filled>>>,
    /// What runs `shell`; `sh` by default.
    pub interpreter: Option<Spanned<Interpreter>>,
    /// A wired hook, called as its host does, for each of `events`. Either this, `run` or `shell`.
    pub hook: Option<Spanned<HookSpec>>,
    /// The occasions that `hook` is called for, one after the other; each is a case.
    pub events: Option<Spanned<NonEmpty<Spanned<EventSpec>>>>,
    /// Where it starts: in the project (by default), in a copy of it, or in the empty `work/` of its sandbox.
    pub cwd: Option<Cwd>,
    /// What is put into the sandbox's `work/`: the name there, and a file or folder of the project.
    pub files: Option<BTreeMap<Parsed<SandboxPath>, Parsed<ProjectPath>>>,
    /// Which home directory it sees: an empty one in its sandbox (by default), or the caller's.
    pub home: Option<Home>,
    /// Variables to set; null removes one.
    pub env: Option<BTreeMap<Parsed<OwnName>, EnvValue>>,
    /// Which variables of the caller it sees beyond those that every check needs: a list of names, or `all`.
    pub inherit: Option<InheritSpec>,
    /// A file of the project that is its standard input; empty by default.
    pub stdin: Option<Parsed<ProjectPath>>,
    /// How long it may take, as `90s` or `1h30m`; then its whole tree of processes is ended. 10m by default.
    pub timeout: Option<Parsed<Timeout>>,
    /// How long its processes may outlive it, as `250ms`; 1s by default.
    pub grace: Option<Parsed<Grace>>,
    /// What reads cases out of its output; `auto` (the one that recognises it) by default.
    pub reader: Option<ReaderSpec>,
    /// What is expected of it.
    pub expect: Option<ExpectSpec>,
    /// Findings that are meant.
    pub allow: Option<Vec<Spanned<AllowSpec>>>,
    /// What must be so after its end, which detached work has done.
    pub eventually: Option<Vec<Spanned<EventuallySpec>>>,
    /// Edits that must turn it red, each in a copy of the project: `hostproof teeth` proves with them that it can fail.
    pub breaks: Option<Vec<Spanned<BreakSpec>>>,
    /// Files that must appear whole, by a rename: globs, relative to where it starts, or below `$project` or `$sandbox`.
    /// One that is written in place is a finding.
    pub publishes: Option<Vec<Parsed<PublishGlob>>>,
    /// Programs that nothing of it may run, by name: `tmux`, or `{program: tmux, observe: true}` to run it all the same. A
    /// call of one is a finding, and the program is not run. One of that name in the project or the sandbox is another.
    pub forbid: Option<Vec<Spanned<ForbidSpec>>>,
    /// What stands at a path before it starts, and is taken away after it: `{"$sandbox/tmp/guard.log": fifo}`. Nothing may
    /// be there before. A path is relative to where the check starts, below `$project` or `$sandbox`, or absolute.
    pub plant: Option<BTreeMap<Parsed<PlantPath>, PlantSpec>>,
    /// System calls of its processes that are made to fail, or to take their time: `{call: rename, path: "*.pid", errno: EIO}`.
    /// A fault that is never made is a finding. On Linux; the check is skipped elsewhere.
    pub faults: Option<Vec<Spanned<FaultSpec>>>,
    /// Places outside the sandbox that must be the same afterwards: globs, absolute or relative to the project. The project
    /// itself is watched always.
    pub watch: Option<Vec<Parsed<WatchGlob>>>,
    /// Commands whose output and exit status must be the same before and after, each a program and its arguments.
    pub unchanged: Option<Vec<Argv>>,
    /// By whose rules it is judged: `native` (by default), `windows`, or a list; for more than one it runs once by each.
    /// `{windows: {…}}` says how those of Windows are kept.
    #[serde(rename = "as")]
    pub rules: Option<RulesSpec>,
    /// How many copies of it run at the same moment, each in its own sandbox and once more with one `TMPDIR` for all. It is
    /// red if it passes alone and not beside itself.
    pub copies: Option<Spanned<Parsed<Copies>>>,
    /// How often it runs, one run after the other, for one verdict over all: `flaky` if they differ. Once by default.
    pub repeat: Option<Parsed<Times>>,
    /// How often it is tried again if it is red; a check that then passes is `flaky`.
    pub retries: Option<Spanned<RetriesSpec>>,
    /// Variables, each with a list of values: it runs once with every combination of them, and the verdict names the settings
    /// that break it.
    pub matrix: Option<MatrixSpec>,
    /// What is changed about its surroundings, one thing at a time, to run it once more each: names such as `locale` and
    /// `umask`, or `all`. The verdict names the facts that it depends on.
    pub vary: Option<VarySpec>,
    /// Where it runs; it is skipped elsewhere. Everywhere by default.
    pub platforms: Option<NonEmpty<Platform>>,
    /// From hosts of which systems the gate wants a receipt of it; those under the gate's `require` by default.
    pub hosts: Option<NonEmpty<Platform>>,
    /// What is different on Linux.
    pub linux: Option<Spanned<Override>>,
    /// What is different on Windows.
    pub windows: Option<Spanned<Override>>,
    /// What is different on macOS.
    pub macos: Option<Spanned<Override>>,
    /// Programs without which it is broken, or skipped if they are optional.
    pub needs: Option<Vec<Spanned<NeedSpec>>>,
    /// What a change must touch to want it, and what of the wired hooks it covers: paths in the project, or globs of them.
    /// Every change wants it by default, and it covers the hooks that its command and its files name.
    pub covers: Option<NonEmpty<Parsed<CoverGlob>>>,
    /// Checks that share one of these names never run together.
    pub lock: Option<Vec<Parsed<Filled>>>,
    /// Names to select checks by.
    pub tags: Option<Vec<Parsed<Filled>>>,
}

/// What is expected of a check.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `exit`, `cases`, `skipped`, `stdout` or `stderr`")]
#[schemars(rename = "Expect")]
pub struct ExpectSpec {
    /// The exit status; 0 by default.
    pub exit: Option<i32>,
    /// How many cases must run: `57`, `">=57"`, or those that a command lists: `{list: [pytest, --collect-only, -q]}`.
    pub cases: Option<Spanned<CasesSpec>>,
    /// The cases that may be skipped: so many at most, or by reason: `[{matches: "needs PostgreSQL", most: 23}]`. Any by
    /// default.
    pub skipped: Option<Spanned<SkippedSpec>>,
    /// Rules for what it writes to standard output.
    pub stdout: Option<Vec<TextRuleSpec>>,
    /// Rules for what it writes to standard error.
    pub stderr: Option<Vec<TextRuleSpec>>,
}

/// A finding that is meant.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `kind` and `because`")]
#[schemars(rename = "Allow")]
pub struct AllowSpec {
    /// The kind of the finding.
    #[schemars(required)]
    pub kind: Option<Kind>,
    /// A regular expression on the process's command line, the path or the message; without it, every finding of the
    /// kind is meant.
    #[serde(rename = "match")]
    pub matches: Option<Parsed<Expression>>,
    /// Of a leaked process: how long after the check's end it may live, as `10s`. It is waited for, and must end by itself
    /// within that, with neither a directory nor the check's output in its hands. Without this it may stay.
    pub ends_within: Option<Parsed<Within>>,
    /// Why it is meant; the report shows it.
    #[schemars(required)]
    pub because: Option<Parsed<Filled>>,
}

/// What the gate goes by. It is read from the base of a change, never from the change itself.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `require` and `signers`, or with `wirings`")]
#[schemars(rename = "Gate", extend("dependencies" = {"require": ["signers"], "signers": ["require"]}))]
pub struct GateSpec {
    /// From hosts of which systems it wants a receipt of each check that a change concerns; a check's `hosts` says otherwise.
    pub require: Option<NonEmpty<Platform>>,
    /// The file of the project that says who may sign receipts, in the form of `allowed_signers` (ssh-keygen).
    pub signers: Option<Parsed<ProjectPath>>,
    /// How old a receipt may be, in days and hours, as `14d` or `36h`; 14d by default.
    pub max_age: Option<Parsed<Age>>,
    /// What a later change may make weaker, or leave without a check: refused until it is said here, in the base.
    pub accept: Option<Vec<Spanned<AcceptSpec>>>,
    /// Files that wire commands, beyond those whose place and form are known.
    pub wirings: Option<Vec<Spanned<WiringSpec>>>,
}

/// Something that the gate would refuse, and lets pass: one of `check`, `wiring` and `policy`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `because`, and one of `check`, `wiring` and `policy`")]
#[schemars(rename = "Accept", extend("oneOf" = [{"required": ["check"]}, {"required": ["wiring"]}, {"required": ["policy"]}]))]
pub struct AcceptSpec {
    /// The id of a check that a change makes weaker, or removes.
    pub check: Option<Parsed<Filled>>,
    /// A file that wires commands, or one that a wired command runs, which no check covers.
    pub wiring: Option<Parsed<ProjectPath>>,
    /// What of the policy itself a change makes weaker.
    pub policy: Option<PolicyPart>,
    /// Why; the gate shows it.
    #[schemars(required)]
    pub because: Option<Parsed<Filled>>,
}

/// A file that wires commands.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `file`")]
#[schemars(rename = "Wirings")]
pub struct WiringSpec {
    /// The file, in the project.
    #[schemars(required)]
    pub file: Option<Parsed<ProjectPath>>,
    /// Where its commands are: a path such as `$.hooks[*].run`. Not needed for a file in a host's own form, which is known
    /// by its name.
    pub commands: Option<Parsed<CommandPath>>,
}

/// Keys of a check, for every check of a file.
#[derive(Debug, Clone, Default)]
pub struct Defaults(pub CheckSpec);

/// Keys of a check, for one system.
#[derive(Debug, Clone, Default)]
pub struct Override(pub Box<CheckSpec>);

/// A `Deserialize` under a name of the deserializer's, and the schema of a check without some keys.
macro_rules! check_without {
    ($type:ident, $schema:literal, $description:literal, $name:ident, [$($key:literal),*]) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = CheckSpec;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str("a map with keys of a check")
                    }

                    fn visit_newtype_struct<D: serde::Deserializer<'de>>(self, inner: D) -> Result<CheckSpec, D::Error> {
                        CheckSpec::deserialize(inner)
                    }
                }
                deserializer.deserialize_newtype_struct($name, Visitor).map(|check| Self(check.into()))
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $schema.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut schema = CheckSpec::json_schema(generator);
                if let Some(properties) = schema.get_mut("properties").and_then(|keys| keys.as_object_mut()) {
                    $(properties.remove($key);)*
                }
                // What is required of a check is not required of a part of one.
                schema.remove("required");
                schema.insert("description".to_owned(), $description.into());
                schema
            }
        }
    };
}

check_without!(
    Defaults,
    "Defaults",
    "Keys of a check, for every check of the file.",
    DEFAULTS,
    ["id", "run", "shell", "hook", "events"]
);
check_without!(Override, "Override", "Keys of a check, for one system.", OVERRIDE, ["id", "linux", "windows", "macos"]);
