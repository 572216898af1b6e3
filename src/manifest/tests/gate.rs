//! What the gate goes by.

use std::time::Duration;

use super::project::{Project, check_on};
use crate::model::{Accepted, Platform, Policy, PolicyPart};

const CHECKS: &str = "checks:\n  - {id: a, run: [x]}\n";

fn policy(gate: &str) -> Policy {
    let loaded = Project::with(format!("version: 1\ngate: {gate}\n")).loaded();
    assert!(loaded.checks.is_empty());
    loaded.policy.expect("a policy")
}

#[test]
fn a_policy_is_read_whole() {
    let policy = policy(
        "{require: [windows, linux, linux], signers: .github/allowed_signers, max_age: 36h, wirings: [{file: a.yaml}], \
         accept: [{check: a, because: x}, {wiring: b.sh, because: y}, {policy: max_age, because: z}]}",
    );
    assert_eq!(policy.require, [Platform::Linux, Platform::Windows].into());
    assert_eq!((policy.signers.as_str(), policy.max_age), (".github/allowed_signers", Duration::from_secs(36 * 3600)));
    let what: Vec<&Accepted> = policy.accept.iter().map(|accept| &accept.what).collect();
    let expected = [Accepted::Check("a".into()), Accepted::Wiring("b.sh".into()), Accepted::Policy(PolicyPart::MaxAge)];
    assert_eq!(what, expected.iter().collect::<Vec<_>>());
    assert_eq!(policy.accept[2].because, "z");
    assert_eq!((policy.wirings.len(), policy.origin.file.as_str(), policy.origin.line), (1, "checks.d/a.yaml", 2));
}

#[test]
fn what_it_leaves_out_has_a_default_or_is_missing() {
    assert_eq!(policy("{require: [macos], signers: s}").max_age, Policy::DEFAULT_MAX_AGE);
    // Files that wire commands need no policy.
    let loaded = Project::with(format!("version: 1\ngate: {{wirings: [{{file: a.json}}]}}\n{CHECKS}")).loaded();
    assert_eq!((loaded.policy, loaded.wirings.len()), (None, 1));
    for (gate, problem) in [
        ("{require: [linux]}", "the key `signers` is missing"),
        ("{signers: a}", "the key `require` is missing"),
        ("{max_age: 1d}", "the key `require` is missing"),
        ("{require: [], signers: a}", "this list"),
        ("{require: [beos], signers: a}", "beos"),
        ("{require: [linux], signers: ../a}", "has `..` in it"),
        ("{require: [linux], signers: a, max_age: 14}", "write 14d for days"),
        ("{require: [linux], signers: a, max_age: 0d}", "lets no receipt pass"),
        ("{require: [linux], signers: a, unsigned: true}", "unsigned"),
        ("{require: [linux], signers: a, accept: [{check: a}]}", "the key `because` is missing"),
        ("{require: [linux], signers: a, accept: [{because: a}]}", "none of `check`, `wiring` and `policy`"),
        ("{require: [linux], signers: a, accept: [{check: a, wiring: b, because: c}]}", "more than one of `check`"),
        ("{require: [linux], signers: a, accept: [{policy: all, because: c}]}", "all"),
    ] {
        let errors = Project::with(format!("version: 1\ngate: {gate}\n{CHECKS}")).errors();
        assert!(errors.contains(problem), "{gate}: {errors}");
    }
    assert!(Project::with("version: 1\n").errors().contains("the key `checks` is missing"));
}

#[test]
fn it_is_said_in_one_file() {
    let one = "version: 1\ngate: {require: [linux], signers: a}\n";
    let errors = Project::with(one).file("b.yaml", one).errors();
    assert!(errors.contains("a second `gate`"), "{errors}");
}

#[test]
fn a_check_names_its_hosts() {
    let check = "version: 1\nchecks:\n  - {id: a, run: [x], hosts: [linux, windows], macos: {hosts: [macos]}}\n";
    assert_eq!(check_on(Platform::Linux, check).hosts, [Platform::Linux, Platform::Windows]);
    assert_eq!(check_on(Platform::Macos, check).hosts, [Platform::Macos]);
    assert!(Project::with(check.replace("[macos]", "[]")).errors().contains("this list"));
}
