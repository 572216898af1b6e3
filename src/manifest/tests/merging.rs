//! Defaults, overrides, and what a check is when nothing is said.

use std::time::Duration;

use super::project::{Project, check_on};
use crate::model::{
    Allow, CaseCount, Check, CheckCommand, Cwd, Decision, EventInput, Expect, Expected, Home, Inherit, Interpreter,
    Kind, Listing, ListingForm, Need, Platform, ReaderChoice, ReaderName, SkipRule, Skips, TextRule,
};

fn argv(words: &[&str]) -> CheckCommand {
    CheckCommand::Argv(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn a_check_that_says_nothing() {
    let check = check_on(Platform::Linux, "version: 1\nchecks:\n\n  - id: a\n    run: [x]\n");
    let origin = check.origin.clone();
    assert_eq!(check, Check { origin, ..Check::new("a", argv(&["x"])) });
    let origin = check.origin.unwrap();
    assert_eq!((origin.file.as_str(), origin.line), ("checks.d/a.yaml", 4));
}

#[test]
fn a_check_that_says_everything() {
    let check = check_on(
        Platform::Linux,
        r#"
version: 1
checks:
  - id: guard/spawn-lock
    title: yes
    shell: |
      exit 3
    interpreter: bash
    cwd: sandbox
    files: {hooks: hooks, a/b: fixtures}
    home: real
    env: {A: text, B: 0x1F, C: True, D: null, E: "", F: ~, G:, H: on}
    inherit: [LANG, TERM]
    stdin: fixtures/event.json
    timeout: 1h30m
    grace: 250ms
    reader: ok-lines
    expect:
      exit: 3
      cases: ">=57"
      skipped: 0
      stdout: [{contains: all green}, {not_contains: Traceback}, {matches: "\\(\\d+ checks\\)"}]
      stderr: []
    allow:
      - {kind: leaked-process, match: ssh-agent, because: once per login}
      - {kind: residue, because: meant}
    platforms: [linux, macos]
    needs: ["python3>=3.11", gh, {program: jq>=1.6, optional: true}, {program: x}]
    lock: [port-8080]
    tags: [hooks]
"#,
    );
    let text = |text: &str| Some(text.to_owned());
    let need = |program: &str, at_least: Option<&[u64]>, optional| Need {
        program: program.to_owned(),
        at_least: at_least.map(<[u64]>::to_vec),
        optional,
    };
    let script = CheckCommand::Shell { script: "exit 3\n".to_owned(), interpreter: Interpreter::Bash };
    assert_eq!(
        check,
        Check {
            title: text("yes"),
            cwd: Cwd::Sandbox,
            files: [("hooks", "hooks"), ("a/b", "fixtures")].map(|(to, from)| (to.to_owned(), from.to_owned())).into(),
            home: Home::Real,
            env: [
                ("A", text("text")),
                ("B", text("0x1F")),
                ("C", text("True")),
                ("D", None),
                ("E", text("")),
                ("F", None),
                ("G", None),
                ("H", text("on")),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
            inherit: Inherit::Names(vec!["LANG".to_owned(), "TERM".to_owned()]),
            stdin: Some("fixtures/event.json".into()),
            timeout: Duration::from_secs(5400),
            grace: Duration::from_millis(250),
            reader: ReaderChoice::Named(ReaderName::OkLines),
            expect: Expect {
                exit: 3,
                cases: Some(CaseCount::AtLeast(57)),
                skipped: Some(Skips::AtMost(0)),
                stdout: vec![
                    TextRule::Contains("all green".to_owned()),
                    TextRule::NotContains("Traceback".to_owned()),
                    TextRule::Matches(r"\(\d+ checks\)".to_owned()),
                ],
                stderr: vec![],
            },
            allow: vec![
                Allow {
                    kind: Kind::LeakedProcess,
                    matches: text("ssh-agent"),
                    ends_within: None,
                    because: "once per login".to_owned()
                },
                Allow { kind: Kind::Residue, matches: None, ends_within: None, because: "meant".to_owned() },
            ],
            platforms: vec![Platform::Linux, Platform::Macos],
            needs: vec![
                need("python3", Some(&[3, 11]), false),
                need("gh", None, false),
                need("jq", Some(&[1, 6]), true),
                need("x", None, false),
            ],
            lock: vec!["port-8080".to_owned()],
            tags: vec!["hooks".to_owned()],
            origin: check.origin.clone(),
            ..Check::new("guard/spawn-lock", script)
        }
    );
}

const LAYERS: &str = r#"
version: 1
defaults:
  timeout: 1s
  grace: 1ms
  interpreter: bash
  tags: [default]
  env: {A: default, B: default, C: default, D: default}
  expect: {exit: 1, cases: 1, skipped: 1, stdout: [{contains: default}], stderr: [{contains: default}]}
  windows:
    timeout: 2s
    grace: 2ms
    title: on windows
    env: {B: default-windows, D: default-windows}
    expect: {cases: 2}
checks:
  - id: a
    run: [base]
    timeout: 3s
    tags: []
    env: {C: check, D: check, B: null}
    expect: {skipped: 3, stdout: []}
    windows:
      shell: "echo"
      timeout: 4s
      env: {D: check-windows}
      expect: {exit: 4}
    macos: {run: [other]}
"#;

#[test]
fn layers_in_their_order() {
    let seen = |platform| {
        let check = check_on(platform, LAYERS);
        let env: Vec<_> =
            check.env.iter().map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("-"))).collect();
        let expect = check.expect;
        let expect = (expect.exit, expect.cases, expect.skipped, expect.stdout.len(), expect.stderr.len());
        (
            check.command,
            check.timeout.as_secs(),
            check.grace.as_millis(),
            check.title,
            check.tags,
            env.join(" "),
            expect,
        )
    };
    let exactly = |count| Some(CaseCount::Exactly(count));
    assert_eq!(
        seen(Platform::Linux),
        (
            argv(&["base"]),
            3,
            1,
            None,
            vec![],
            "A=default B=- C=check D=check".to_owned(),
            (1, exactly(1), Some(Skips::AtMost(3)), 0, 1)
        )
    );
    let script = CheckCommand::Shell { script: "echo".to_owned(), interpreter: Interpreter::Bash };
    assert_eq!(
        seen(Platform::Windows),
        (
            script,
            4,
            2,
            Some("on windows".to_owned()),
            vec![],
            "A=default B=- C=check D=check-windows".to_owned(),
            (4, exactly(2), Some(Skips::AtMost(3)), 0, 1)
        )
    );
    assert_eq!(seen(Platform::Macos).0, argv(&["other"]));
}

#[test]
fn a_command_replaces_a_command() {
    let manifest = "
version: 1
checks:
  - id: a
    shell: echo
    interpreter: bash
    windows: {run: [py, x.py]}
    macos: {shell: other, interpreter: pwsh}
";
    let shell = |script: &str, interpreter| CheckCommand::Shell { script: script.to_owned(), interpreter };
    assert_eq!(check_on(Platform::Linux, manifest).command, shell("echo", Interpreter::Bash));
    assert_eq!(check_on(Platform::Windows, manifest).command, argv(&["py", "x.py"]));
    assert_eq!(check_on(Platform::Macos, manifest).command, shell("other", Interpreter::Pwsh));
    let manifest = "version: 1\nchecks: [{id: a, shell: echo}]";
    assert_eq!(check_on(Platform::Windows, manifest).command, shell("echo", Interpreter::Sh));
}

#[test]
fn a_check_of_another_platform_needs_no_command_here() {
    let manifest = "version: 1\nchecks:\n  - {id: a, platforms: [windows], windows: {run: [py]}}\n";
    let check = check_on(Platform::Linux, manifest);
    assert_eq!((check.command, check.platforms), (argv(&["py"]), vec![Platform::Windows]));

    let errors = Project::with("version: 1\nchecks:\n  - {id: a, windows: {run: [py]}}\n").errors();
    assert!(errors.starts_with("error: this check has no `run`, `shell` or `hook` on linux and macos\n"), "{errors}");
    let errors = Project::with("version: 1\nchecks:\n  - {id: a, title: x}\n").errors();
    assert!(errors.starts_with("error: this check has no `run`, `shell` or `hook`\n"), "{errors}");
}

#[test]
fn files_in_their_order_and_a_digest_over_them() {
    let one =
        "version: 1\nsetup: [[cargo, build], [true-ish]]\nchecks:\n  - {id: one, run: [x]}\n  - {id: uno, run: [x]}\n";
    let two = "version: 1\nchecks:\n  - {id: two, run: [x]}\n";
    let loaded = Project::empty().file("b.yml", two).file("a.yaml", one).loaded();
    let names: Vec<_> = loaded.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["checks.d/a.yaml", "checks.d/b.yml"]);
    assert_eq!(loaded.files[0].setup, [vec!["cargo", "build"], vec!["true-ish"]]);
    let checks: Vec<_> = loaded.checks.iter().map(|check| (check.check.id.as_str(), check.file)).collect();
    assert_eq!(checks, [("one", 0), ("uno", 0), ("two", 1)]);
    assert!(loaded.digest.starts_with("sha256:") && loaded.digest.len() == 71, "{}", loaded.digest);

    let digest = |project: Project| project.loaded().digest;
    // Nothing can move from the name into the content.
    assert_ne!(
        digest(Project::empty().file("a.yaml", format!("#.yaml\n{two}"))),
        digest(Project::empty().file("a.yaml#.yaml", format!("\n{two}")))
    );
    let same = Project::empty().file("a.yaml", one).file("b.yml", two);
    assert_eq!(digest(same), loaded.digest);
    for other in [
        Project::empty().file("a.yaml", one).file("c.yml", two),
        Project::empty().file("a.yaml", one).file("b.yml", format!("{two}\n")),
        Project::empty().file("a.yaml", two).file("b.yml", one),
        Project::empty().file("a.yaml", one),
    ] {
        assert_ne!(digest(other), loaded.digest);
    }
}

#[test]
fn readers_of_files_and_of_lines() {
    use crate::model::LineRules;
    let reader = |text: &str| {
        check_on(Platform::Linux, &format!("version: 1\nchecks:\n  - {{id: a, run: [x], reader: {text}}}\n")).reader
    };
    let path = "$sandbox/reports/**/*.xml";
    assert_eq!(reader(&format!("{{junit: {path}}}")), ReaderChoice::Junit(path.to_owned()));
    let rules =
        LineRules { pass: Some("^ok (.*)".to_owned()), planned: Some("[0-9]+".to_owned()), ..LineRules::default() };
    assert_eq!(reader("{lines: {pass: '^ok (.*)', planned: '[0-9]+'}}"), ReaderChoice::Lines(rules));
}

#[test]
fn counts_may_be_listed_and_skips_have_reasons() {
    let expect = |text: &str| {
        check_on(Platform::Linux, &format!("version: 1\nchecks: [{{id: a, run: [x], expect: {text}}}]")).expect
    };
    let listing = |form| {
        let argv = ["pytest", "--collect-only", "-q"].map(str::to_owned).into();
        Some(CaseCount::Listed(Listing { argv, form }))
    };
    let list = "list: [pytest, --collect-only, -q]";
    assert_eq!(expect(&format!("{{cases: {{{list}}}}}")).cases, listing(ListingForm::Auto));
    assert_eq!(expect(&format!("{{cases: {{{list}, reader: go-test}}}}")).cases, listing(ListingForm::GoTest));
    let lines = ListingForm::Lines("^case (.+)$".to_owned());
    assert_eq!(expect(&format!("{{cases: {{{list}, reader: {{lines: ^case (.+)$}}}}}}")).cases, listing(lines));
    let rule = |matches: &str, most| SkipRule { matches: matches.to_owned(), most };
    let skips = vec![rule("needs PostgreSQL", Some(23)), rule("gh", None)];
    let text = "{skipped: [{matches: needs PostgreSQL, most: 23}, {matches: gh}]}";
    assert_eq!(expect(text).skipped, Some(Skips::ByReason(skips)));
}

#[test]
fn a_hook_is_called_as_its_host_does_unless_it_is_said_otherwise() {
    let hook = "hook: {file: .claude/settings.json, event: Stop}\n    events: [{stdin: {sample: {b: 1, a: [x]}}, expect: ask}]";
    let check = |more: &str| {
        check_on(
            Platform::Linux,
            &format!("version: 1\ndefaults: {{reader: tap}}\nchecks:\n  - id: a\n    {hook}{more}\n"),
        )
    };
    let plain = check("");
    let CheckCommand::Hook(named) = &plain.command else { panic!("{:?}", plain.command) };
    assert_eq!((named.event.as_deref(), named.matcher.as_deref()), (Some("Stop"), None));
    assert_eq!((plain.home, &plain.inherit, &plain.reader), (Home::Real, &Inherit::All, &ReaderChoice::None));
    // One text, however it was written.
    assert_eq!(plain.events[0].input, EventInput::Sample(r#"{"a":["x"],"b":1}"#.to_owned()));
    assert_eq!(plain.events[0].expect, Expected::Decision(Decision::Ask));
    let own = check("\n    home: sandbox\n    inherit: [X]");
    assert_eq!((own.home, own.inherit), (Home::Sandbox, Inherit::Names(vec!["X".to_owned()])));
    // What replaces a hook has no use for its events.
    let other = check("\n    linux: {run: [x]}");
    assert_eq!((other.command, other.events.len()), (argv(&["x"]), 0));
}

#[test]
fn what_is_declared_is_waited_for_beyond_the_grace() {
    let keys = "grace: 2s\n    allow: [{kind: leaked-process, ends_within: 5s, because: x}, {kind: leaked-process, ends_within: 3s, because: y}]";
    let check = check_on(Platform::Linux, &format!("version: 1\nchecks:\n  - id: a\n    run: [x]\n    {keys}\n"));
    assert_eq!(check.afterlife(), Duration::from_secs(3));
    assert_eq!(check.allow[1].ends_within, Some(Duration::from_secs(3)));
}
