//! The gate, with real git and real keys.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::container::Engine;
use crate::context::{Context, Ran, fifo, repository as sources, works};
use crate::receipts::{Repository, WHO, no_keygen};
use crate::schema::fits;

/// One that covers the hooks, and one that the change has nothing to do with.
pub const CHECKS: &str = "
- {id: guard, shell: 'echo >>ran; test -e hooks/guard.sh', covers: ['hooks/**']}
- {id: other, shell: 'true', covers: ['lib/**']}
";

pub const POLICY: &str = "version: 1\ngate: {require: [linux], signers: signers}\n";

pub const SETTINGS: &str = r#"{"hooks": {"PreToolUse": [
  {"matcher": "Bash", "hooks": [{"type": "command", "command": "sh hooks/guard.sh"}]}
]}}
"#;

/// A base with a policy and a hook that nobody calls, and a branch from it.
pub fn project(checks: &str, policy: &str) -> Repository {
    let repository = Repository::with(checks);
    repository.context.manifest("gate.yaml", policy);
    repository.context.file("signers", format!("# who\n{WHO} {}\n", repository.public("mine")));
    repository.context.file("hooks/guard.sh", "exit 0\n");
    repository.commit("a policy");
    repository.git(&["switch", "-q", "-c", "change"]);
    repository
}

/// The same, with the hook wired in the branch.
pub fn wired() -> Repository {
    let repository = project(CHECKS, POLICY);
    repository.context.file(".claude/settings.json", SETTINGS);
    repository.commit("wires the hook");
    repository
}

pub fn gate(repository: &Repository, arguments: &[&str]) -> Ran {
    repository.context.hp(&[&["gate", "--base", "main"][..], arguments].concat())
}

/// What the gate says as a document, for some receipts.
pub fn asked(repository: &Repository, receipts: &[&str]) -> Value {
    let of: Vec<&str> = receipts.iter().flat_map(|receipt| ["--receipts", receipt]).collect();
    let ran = gate(repository, &[&["--json"][..], &of].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.said()));
    let schema: Value =
        serde_json::from_str(&repository.context.hp(&["schema", "gate"]).exits(0).stdout).expect("a schema");
    fits(&document, &schema, &schema, "gate").expect("as the schema says");
    assert_eq!(ran.code, Some(i32::from(document["ok"] != true)), "{}", ran.said());
    document
}

/// `check host answer`, of each receipt that is wanted.
pub fn answers(document: &Value) -> Vec<String> {
    let wanted = document["wanted"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    wanted.map(|one| ["check", "host", "answer"].map(|key| text(&one[key])).join(" ")).collect()
}

/// `kind subject: message`, of each obstacle that the base does not accept.
pub fn obstacles(document: &Value) -> Vec<String> {
    let all = document["obstacles"].as_array().expect("a list").iter();
    all.filter(|one| one["accepted"].is_null())
        .map(|one| format!("{} {}: {}", one["kind"], one["subject"], one["message"]).replace('"', ""))
        .collect()
}

/// A receipt of what is checked out, changed as if it were from elsewhere, and signed.
pub fn receipt(repository: &Repository, file: &str, change: impl FnOnce(&mut Value)) {
    repository.run(file, &[]);
    let mut payload = repository.payload(file);
    place(&mut payload, None);
    change(&mut payload);
    repository.forge(file, payload.to_string().as_bytes(), "mine");
}

/// Says where it ran: on a host, or in the container of an engine. The machine of the tests may be either.
pub fn place(payload: &mut Value, engine: Option<&str>) {
    payload["predicate"]["place"]["kind"] = engine.map_or("host", |_| "container").into();
    payload["predicate"]["host"]["container"] = engine.map_or(Value::Null, Value::from);
}

pub fn at(payload: &mut Value, time: &str) {
    payload["predicate"]["run"]["started"] = time.into();
    payload["predicate"]["run"]["finished"] = time.into();
}

pub fn ago(hours: i64) -> String {
    (jiff::Timestamp::now() - jiff::SignedDuration::from_hours(hours)).to_string()
}

fn red(payload: &mut Value) {
    payload["predicate"]["checks"][0]["verdict"] = "failed".into();
}

#[test]
fn a_wired_hook_wants_a_receipt_from_a_host() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    fs::remove_file(repository.path("ran")).unwrap_or_default();
    let document = asked(&repository, &[]);
    assert_eq!(answers(&document), ["guard linux missing"]);
    assert_eq!(document["wirings"][0]["place"], ".claude/settings.json:2");
    let head = repository.git(&["rev-parse", "HEAD"]);
    let commands = [
        &format!("git fetch && git switch --detach {}", &head[..12]),
        "hostproof run guard --receipt receipt-linux.json",
        "hostproof receipt publish receipt-linux.json",
    ];
    assert_eq!(document["next"][0]["commands"], json!(commands));
    assert!(!repository.path("ran").exists(), "nothing of a change is run");
    // A container's counts for nothing, however it is marked.
    receipt(&repository, "r1.json", |it| place(it, Some("podman")));
    assert_eq!(answers(&asked(&repository, &["r1.json"])), ["guard linux no-host"]);
    receipt(&repository, "r1.json", |it| it["predicate"]["host"]["container"] = "docker".into());
    assert_eq!(answers(&asked(&repository, &["r1.json"])), ["guard linux no-host"]);
    receipt(&repository, "r1.json", |it| it["predicate"]["place"]["kind"] = "cloud".into());
    assert_eq!(answers(&asked(&repository, &["r1.json"])), ["guard linux no-host"]);
    // A host's does.
    receipt(&repository, "r2.json", |_| {});
    let document = asked(&repository, &["r1.json", "r2.json"]);
    assert_eq!(answers(&document), ["guard linux good"]);
    assert_eq!((&document["wanted"][0]["receipt"], &document["ok"]), (&"r2.json".into(), &true.into()));
    let said = gate(&repository, &["--receipts", "r2.json"]).exits(0).stdout.clone();
    assert!(said.starts_with("yes: the receipt that is wanted is there\n"), "{said}");
    assert!(
        said.contains(" ok    guard  linux    green   ") && said.contains(&format!("signed by {WHO}, r2.json")),
        "{said}"
    );
    // So it does after a rebase that touches nothing of it.
    repository.git(&["switch", "-q", "main"]);
    repository.context.file("readme", "x");
    repository.commit("meanwhile");
    repository.git(&["switch", "-q", "change"]);
    assert_eq!(answers(&asked(&repository, &["r2.json"])), ["guard linux good"], "the base went on");
    repository.git(&["rebase", "-q", "main"]);
    assert_eq!(answers(&asked(&repository, &["r2.json"])), ["guard linux good"]);
    // Not after a commit that touches the hook.
    repository.context.file("hooks/guard.sh", "exit 2\n");
    repository.commit("touches the hook");
    let document = asked(&repository, &["r2.json"]);
    assert_eq!(answers(&document), ["guard linux stale"]);
    assert_eq!(document["wanted"][0]["why"], "the newest from linux is of other inputs: hooks/guard.sh");
    let said = gate(&repository, &["--receipts", "r2.json"]).exits(1).stdout.clone();
    assert!(
        said.starts_with("no: the receipt that is wanted is missing\n")
            && said.contains("next   on a host with linux:"),
        "{said}"
    );
}

/// The whole way of a change, with a receipt that a container has made.
#[test]
fn what_ran_in_a_container_alone_is_merged_nowhere() {
    if no_keygen() {
        return;
    }
    let Some(engine) = Engine::of_this_machine() else { return };
    let mut repository = wired();
    Engine::reach(&mut repository.context);
    let key = repository.key("mine");
    let inside = ["run", "guard", "--in", &engine.image, "--engine", &engine.program, "--receipt", "r1.json", "--sign"];
    repository.context.hp(&[&inside[..], &[&key]].concat()).exits(0);
    let payload = repository.payload("r1.json");
    assert_eq!(payload["predicate"]["place"]["kind"], "container", "{payload}");
    assert_eq!(payload["predicate"]["checks"][0]["verdict"], "passed", "{payload}");
    let document = asked(&repository, &["r1.json"]);
    assert_eq!(answers(&document), ["guard linux no-host"]);
    let why = document["wanted"][0]["why"].as_str().expect("a text");
    assert!(why.starts_with("it ran in a container (") && why.contains("and a host is asked for"), "{why}");
    assert_eq!(document["receipts"][0]["signer"], WHO, "its signature is a good one");
    // Published it is no better. A host's is, and whatever a container said before or says later.
    repository.context.hp(&["receipt", "publish", "--no-push", "r1.json"]).exits(0);
    assert_eq!(answers(&asked(&repository, &[])), ["guard linux no-host"]);
    receipt(&repository, "r2.json", |_| {});
    assert_eq!(answers(&asked(&repository, &["r2.json"])), ["guard linux good"]);
    repository.context.hp(&[&inside[..], &[&key]].concat()).exits(0);
    assert_eq!(answers(&asked(&repository, &["r1.json", "r2.json"])), ["guard linux good"]);
    // A rebase that touches nothing of it, a commit that touches the hook, and what is taken back.
    repository.git(&["switch", "-q", "main"]);
    repository.context.file("readme", "x");
    repository.commit("meanwhile");
    repository.git(&["switch", "-q", "change"]);
    repository.git(&["rebase", "-q", "main"]);
    assert_eq!(answers(&asked(&repository, &["r2.json"])), ["guard linux good"]);
    repository.context.file("hooks/guard.sh", "exit 2\n");
    repository.commit("touches the hook");
    assert_eq!(answers(&asked(&repository, &["r2.json"])), ["guard linux stale"]);
    repository.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repository.context.hp(&["receipt", "revoke", "r2.json", "--no-push", "--sign", &key]).exits(0);
    assert_eq!(answers(&asked(&repository, &["r1.json", "r2.json"])), ["guard linux revoked"]);
}

#[test]
fn a_change_that_concerns_no_check_wants_nothing() {
    if no_keygen() {
        return;
    }
    let repository = project(CHECKS, POLICY);
    repository.context.file("readme", "x");
    repository.commit("a text");
    let said = gate(&repository, &[]).exits(0).stdout.clone();
    assert!(said.starts_with("yes: no receipt is wanted\n"), "{said}");
    // Nor does one that takes a wiring away.
    repository.context.file(".claude/settings.json", SETTINGS);
    repository.commit("wires");
    repository.git(&["branch", "-q", "-f", "main", "change"]);
    fs::remove_file(repository.path(".claude/settings.json")).expect("the settings");
    repository.commit("no longer");
    gate(&repository, &[]).exits(0);
}

#[test]
fn the_newest_receipt_decides() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    receipt(&repository, "r-old-green.json", |it| at(it, &ago(30)));
    receipt(&repository, "r-red.json", |it| {
        at(it, &ago(20));
        red(it);
    });
    receipt(&repository, "r-green.json", |it| at(it, &ago(10)));
    receipt(&repository, "r-same-time.json", |it| {
        at(it, &ago(10));
        red(it);
    });
    let asked = |receipts: &[&str]| answers(&asked(&repository, receipts)).join(" ");
    assert_eq!(asked(&["r-old-green.json"]), "guard linux good");
    assert_eq!(asked(&["r-old-green.json", "r-red.json"]), "guard linux red");
    assert_eq!(asked(&["r-red.json", "r-green.json", "r-old-green.json"]), "guard linux good");
    assert_eq!(asked(&["r-green.json", "r-red.json"]), "guard linux good");
    let mut payload = repository.payload("r-green.json");
    red(&mut payload);
    repository.forge("r-same-time.json", payload.to_string().as_bytes(), "mine");
    assert_eq!(asked(&["r-same-time.json", "r-green.json"]), "guard linux red", "of two at one time the worse");
    // Too old, and as old as may be.
    receipt(&repository, "r1.json", |it| at(it, &ago(14 * 24 + 2)));
    let document = super::gate::asked(&repository, &["r1.json"]);
    assert_eq!(answers(&document), ["guard linux too-old"]);
    assert_eq!(document["wanted"][0]["why"], "the newest is 338h old, and 14d is allowed");
    receipt(&repository, "r1.json", |it| at(it, &ago(14 * 24 - 1)));
    assert_eq!(asked(&["r1.json"]), "guard linux good");
    // A folder has what is in it.
    fs::create_dir_all(repository.path("ran.d/job")).expect("a folder");
    for (from, to) in [("r-red.json", "ran.d/job/a.json"), ("r-old-green.json", "ran.d/b.json")] {
        fs::copy(repository.path(from), repository.path(to)).expect("a copy");
    }
    assert_eq!(asked(&["ran.d"]), "guard linux red");
}

#[test]
fn what_is_published_counts_until_it_is_revoked() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    receipt(&repository, "r-old.json", |it| at(it, &ago(10)));
    receipt(&repository, "r-new.json", |it| at(it, &ago(5)));
    repository.context.hp(&["receipt", "publish", "--no-push", "r-new.json", "r-old.json"]).exits(0);
    let document = asked(&repository, &[]);
    assert_eq!(answers(&document), ["guard linux good"]);
    let name = document["wanted"][0]["receipt"].as_str().expect("a name");
    assert!(name.starts_with("refs/hostproof/receipts:"), "{name}");
    let revoke = |key: &str| {
        let key = repository.key(key);
        let arguments = ["receipt", "revoke", "r-new.json", "--no-push", "--because", "a bad disk", "--sign", &key];
        repository.context.hp(&arguments).exits(0);
        asked(&repository, &[])
    };
    assert_eq!(answers(&revoke("other")), ["guard linux good"], "a stranger revokes nothing");
    // The older one is no way back.
    let document = revoke("mine");
    assert_eq!(answers(&document), ["guard linux revoked"]);
    assert!(document["wanted"][0]["why"].as_str().is_some_and(|why| why.ends_with(": a bad disk")), "{document}");
    assert_eq!(answers(&asked(&repository, &["r-new.json", "r-old.json"])), ["guard linux revoked"]);
    receipt(&repository, "r-newest.json", |it| at(it, &ago(1)));
    assert_eq!(answers(&asked(&repository, &["r-newest.json"])), ["guard linux good"]);
    // What is kept of other inputs tells what changed.
    repository.context.file("hooks/guard.sh", "exit 2\n");
    repository.commit("touches the hook");
    let document = asked(&repository, &[]);
    assert_eq!(answers(&document), ["guard linux stale"]);
    assert_eq!(document["wanted"][0]["why"], "the newest from linux is of other inputs: hooks/guard.sh");
}

#[test]
fn a_green_receipt_has_to_have_all_cases() {
    if no_keygen() {
        return;
    }
    let check = "- {id: guard, run: [echo, 'ok - a'], reader: ok-lines, expect: {cases: 1}, covers: ['hooks/**']}";
    let repository = project(check, POLICY);
    repository.context.file("hooks/guard.sh", "exit 1\n");
    repository.commit("changes the hook");
    let with = |cases: &Value| {
        receipt(&repository, "r1.json", |it| {
            let counts = &mut it["predicate"]["checks"][0]["cases"];
            for (key, value) in cases.as_object().expect("a map") {
                counts[key] = value.clone();
            }
        });
        answers(&asked(&repository, &["r1.json"])).join(" ")
    };
    assert_eq!(with(&json!({})), "guard linux good");
    for cases in [
        json!({"planned": 2, "ran": 1, "unknown": 1, "passed": 1, "failed": 0, "skipped": 0}),
        json!({"planned": 2, "ran": 2, "unknown": 0, "passed": 2, "failed": 0, "skipped": 0}),
        json!({"planned": 0, "ran": 0, "unknown": 0, "passed": 0, "failed": 0, "skipped": 0}),
        json!({"planned": null, "ran": null, "unknown": null, "passed": null, "failed": null, "skipped": null}),
        json!({"planned": 1, "ran": 1, "unknown": 0, "passed": 0, "failed": 1, "skipped": 0}),
    ] {
        assert_eq!(with(&cases), "guard linux short-count", "{cases}");
    }
}

#[test]
fn what_wires_without_a_check_is_refused() {
    if no_keygen() {
        return;
    }
    let two = "version: 1\ngate: {require: [linux, windows], signers: signers, accept: [{wiring: hooks/told.sh, because: it is a test}]}\n";
    let repository = project(CHECKS, two);
    repository.context.file("x.sh", "exit 0\n");
    repository.context.file("hooks/told.sh", "exit 0\n");
    let settings = |commands: &[&str]| {
        let hooks: Vec<Value> = commands.iter().map(|command| json!({"type": "command", "command": command})).collect();
        let settings = json!({"hooks": {"Stop": [{"hooks": hooks}]}});
        repository.context.file(".claude/settings.json", settings.to_string());
        repository.commit("wires");
        obstacles(&asked(&repository, &[]))
    };
    assert_eq!(
        settings(&["sh x.sh"]),
        ["uncovered Claude Code Stop in .claude/settings.json:1: no check covers sh x.sh"]
    );
    let said = gate(&repository, &[]).exits(1).stdout.clone();
    assert!(said.contains("mend   say it in the check that tests it: covers: [x.sh]"), "{said}");
    assert_eq!(settings(&["sh hooks/guard.sh"]), [""; 0]);
    // By a check that runs on one system alone, and by one whose inputs are others.
    repository.context.checks(&format!(
        "{}\n- {{id: far, shell: 'sh x.sh', covers: [readme], platforms: [linux]}}",
        CHECKS.trim_end()
    ));
    repository.context.file("readme", "x");
    let found = settings(&["sh x.sh"]);
    assert!(found[0].contains("no check that covers it is wanted on windows: far"), "{found:?}");
    assert!(found[1].contains("x.sh is no input of a check that covers it"), "{found:?}");
    // What can't be read is not known.
    repository.context.file(".claude/settings.json", "{");
    repository.commit("breaks it");
    let found = obstacles(&asked(&repository, &[]));
    assert!(found[0].starts_with("unread .claude/settings.json: what it wires is not known: "), "{found:?}");
    // A file that the change itself names counts at once.
    repository.context.file("mine.yaml", "hooks: [{run: sh x.sh}]\n");
    let named = two.replace("accept:", "wirings: [{file: mine.yaml, commands: '$.hooks[*].run'}], accept:");
    repository.context.manifest("gate.yaml", &named);
    let found = settings(&[]);
    assert!(found.iter().any(|said| said.contains("in mine.yaml:1: no check")), "{found:?}");
    repository.context.manifest("gate.yaml", two);
    // What the base accepts is told.
    repository.context.checks(&CHECKS.replace("'hooks/**'", "hooks/guard.sh"));
    repository.commit("covers less");
    repository.git(&["branch", "-q", "-f", "main", "change"]);
    assert_eq!(settings(&["sh hooks/told.sh"]), [""; 0]);
    let document = asked(&repository, &[]);
    assert_eq!(document["obstacles"][0]["accepted"], "it is a test");
    let found = settings(&["sh hooks/told.sh", "sh x.sh"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("no check covers sh x.sh"), "{found:?}");
}

#[test]
fn a_check_that_is_made_weaker_waits_for_the_base() {
    if no_keygen() {
        return;
    }
    let strong = "- {id: guard, run: [echo, 'ok - a'], reader: ok-lines, expect: {cases: 1}, covers: ['hooks/**']}";
    let repository = project(&format!("{strong}\n- {{id: gone, shell: 'true', covers: [lib/b.txt]}}"), POLICY);
    let weak = strong.replace(", expect: {cases: 1}", ", allow: [{kind: leaked-process, because: so}]");
    repository.context.checks(&weak);
    repository.commit("weaker");
    receipt(&repository, "r1.json", |_| {});
    let document = asked(&repository, &["r1.json"]);
    assert_eq!(answers(&document), ["guard linux good"]);
    assert_eq!(
        obstacles(&document),
        [
            "weaker gone: it is gone",
            "weaker guard: it allows findings of leaked-process",
            "weaker guard: it expects no number of cases any more",
        ]
    );
    // To accept it in the change itself is no use; in the base it is.
    let accepting = "version: 1\ngate: {require: [linux], signers: signers, accept: [{check: guard, because: it moved}, {check: gone, because: it went}]}\n";
    repository.context.manifest("gate.yaml", accepting);
    repository.commit("accepts it");
    let document = asked(&repository, &["r1.json"]);
    assert_eq!(obstacles(&document).len(), 3);
    let notes = document["notes"].to_string();
    assert!(notes.contains("this change lets later ones pass: that guard is made weaker (it moved)"), "{notes}");
    repository.git(&["switch", "-q", "main"]);
    repository.context.manifest("gate.yaml", accepting);
    repository.commit("accepts it, by itself");
    repository.git(&["switch", "-q", "change"]);
    let ran = gate(&repository, &["--receipts", "r1.json"]);
    assert!(ran.exits(0).stdout.contains("accepted by the base: it moved"), "{}", ran.said());
    assert!(ran.stdout.contains("note: the base accepts that guard is made weaker (it moved)"), "{}", ran.said());
    // A check may go with all that it covered, or take another name.
    let repository = project(&format!("{strong}\n- {{id: gone, shell: 'true', covers: [lib/b.txt]}}"), POLICY);
    fs::remove_file(repository.path("lib/b.txt")).expect("a file");
    repository.context.checks(&strong.replace("guard", "guard/all"));
    repository.commit("moves");
    let document = asked(&repository, &[]);
    assert_eq!((obstacles(&document), answers(&document)), (vec![], vec!["guard/all linux missing".to_owned()]));
}

#[test]
fn the_policy_is_that_of_the_base() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    repository.context.file("signers", format!("you@example.org {}\n", repository.public("other")));
    repository.context.manifest(
        "gate.yaml",
        "version: 1\ngate: {require: [macos], signers: signers, max_age: 3660d, wirings: [{file: none.yaml}]}\n",
    );
    repository.commit("rules of its own");
    repository.run("r1.json", &[]);
    let mut payload = repository.payload("r1.json");
    place(&mut payload, None);
    repository.forge("r1.json", payload.to_string().as_bytes(), "other");
    let document = asked(&repository, &["r1.json"]);
    assert_eq!(answers(&document), ["guard linux missing"]);
    let refused = document["receipts"][0]["refused"].as_str().expect("a reason");
    assert!(refused.contains("which is no key of an allowed signer"), "{refused}");
    assert_eq!(
        obstacles(&document),
        [
            "policy require: it requires receipts from linux no longer",
            "policy max_age: receipts may be 3660d old, and might be 14d",
            "policy signers: signers has 1 line more, or other ones",
        ]
    );
    // The gate is no way out of the gate.
    fs::remove_file(repository.path("checks.d/gate.yaml")).expect("the policy");
    repository.commit("no rules at all");
    assert_eq!(obstacles(&asked(&repository, &[])), ["policy require: the policy is gone: no gate could say anything"]);
    fs::remove_dir_all(repository.path("checks.d")).expect("the manifests");
    repository.commit("no manifests at all");
    let found = obstacles(&asked(&repository, &[]));
    assert!(found.contains(&"weaker guard: it is gone".to_owned()), "{found:?}");
}

#[test]
fn hostile_receipts_count_for_nothing() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    receipt(&repository, "r1.json", |_| {});
    let bytes = fs::read(repository.path("r1.json")).expect("a receipt");
    let payload = repository.payload("r1.json");
    let write = |content: &[u8]| fs::write(repository.path("r2.json"), content).expect("a file");
    let refused = |why: &str| {
        let document = asked(&repository, &["r2.json"]);
        assert_eq!(answers(&document), ["guard linux missing"], "{why}");
        let said = document["receipts"][0]["refused"].as_str().unwrap_or_default();
        assert!(said.contains(why), "{said:?} does not say {why:?}");
    };
    // What nobody vouches for is not parsed.
    write(&bytes[..bytes.len() / 2]);
    refused("no DSSE envelope");
    write("[".repeat(1 << 20).as_bytes());
    refused("no DSSE envelope");
    write(&vec![b' '; 17 << 20]);
    refused("larger than 16 MiB");
    write(b"");
    refused("no DSSE envelope");
    repository.context.hp(&["run", "--receipt", "r2.json", "--unsigned"]).exits(0);
    refused("it is not signed");
    repository.forge("r2.json", payload.to_string().as_bytes(), "other");
    refused("no key of an allowed signer");
    repository.forge("r2.json", "[".repeat(100_000).as_bytes(), "other");
    refused("no key of an allowed signer");
    let changed = payload.to_string().replace("passed", "failed").into_bytes();
    let mut moved = hostproof::receipt::envelope::Envelope::unsigned(changed);
    let signed = hostproof::receipt::envelope::Envelope::parse(&bytes).expect("an envelope");
    moved.add(signed.signatures()[0].clone());
    write(&moved.to_json());
    refused("its signature does not hold");
    // What somebody vouches for who may, and that is not so.
    let forge = |change: &dyn Fn(&mut Value)| {
        let mut payload = payload.clone();
        change(&mut payload);
        repository.forge("r2.json", payload.to_string().as_bytes(), "mine");
    };
    forge(&|it| at(it, &ago(-2)));
    refused("it is from the future");
    forge(&|it| it["predicate"]["source"]["repository"]["roots"] = json!(["0".repeat(40)]));
    refused("it is of another repository");
    forge(&|it| it["predicate"]["source"]["repository"]["project"] = "tools".into());
    refused("it is of another project of a repository");
    repository.forge("r2.json", "[".repeat(100_000).as_bytes(), "mine");
    refused("it holds no receipt");
    // Two readers may take one of two keys each.
    let twice = payload.to_string().replacen("{\"_type\"", "{\"predicateType\":\"x\",\"_type\"", 1);
    repository.forge("r2.json", twice.as_bytes(), "mine");
    refused("it holds no receipt");
    let answer = |change: &dyn Fn(&mut Value)| {
        forge(change);
        answers(&asked(&repository, &["r2.json"])).join(" ")
    };
    // Another check's, another system's, another tree's.
    assert_eq!(answer(&|it| it["predicate"]["host"]["os"] = "windows".into()), "guard linux missing");
    assert_eq!(
        answer(&|it| it["subject"][1]["digest"]["sha256"] = it["subject"][2]["digest"]["sha256"].clone()),
        "guard linux stale"
    );
    let swapped = payload.to_string().replace("guard", "x").replace("other", "guard").replace("\"x\"", "\"other\"");
    repository.forge("r2.json", swapped.replace("check/x", "check/other").as_bytes(), "mine");
    assert_eq!(answers(&asked(&repository, &["r2.json"])), ["guard linux stale"]);
    // What lies there is no file, and steers no terminal.
    fifo(&repository.path("r2.json\u{1b}[31m"));
    let ran = gate(&repository, &["--receipts", "r2.json\u{1b}[31m"]);
    assert!(ran.exits(1).stdout.contains("it is a pipe") && !ran.stdout.contains('\u{1b}'), "{}", ran.said());
}

#[test]
fn settings_in_a_commit_are_hostile_and_hide_nothing() {
    if no_keygen() {
        return;
    }
    let repository = project(CHECKS, POLICY);
    let utf16: Vec<u8> = SETTINGS.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, why) in [
        (vec![b' '; (1 << 20) + 1], "larger than 1 MiB"),
        ("[".repeat(100_000).into_bytes(), "deep"),
        (SETTINGS.as_bytes()[..40].to_vec(), "no JSON"),
        ([&b"\xff\xfe"[..], &utf16].concat(), "UTF-16"),
        (b"{\"hooks\": {}, \"hooks\": {\"Stop\": []}}".to_vec(), "there twice"),
    ] {
        repository.context.file(".claude/settings.json", bytes);
        repository.context.file(".codex/hooks.json", SETTINGS.replace("hooks/guard.sh", "x.sh"));
        repository.context.file("x.sh", "exit 0\n");
        repository.commit("wires");
        let found = obstacles(&asked(&repository, &[]));
        let unread = found.iter().any(|said| said.starts_with("unread .claude/settings.json") && said.contains(why));
        assert!(unread, "{why}: {found:?}");
        assert!(found.iter().any(|said| said.contains("in .codex/hooks.json:2: no check covers sh x.sh")), "{found:?}");
    }
}

/// Whatever a change brings, and whatever git could be told to run on the way, is read.
#[test]
fn nothing_of_a_change_is_run() {
    if no_keygen() {
        return;
    }
    let repository = project(CHECKS, POLICY);
    let mark = repository.keys.path().join("marked");
    let touch = format!("touch '{}'", mark.display());
    let script = format!("#!/bin/sh\n{touch}\ncat\n");
    let program = repository.keys.path().join("program");
    fs::write(&program, &script).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its mode");
    for file in ["hooks/guard.sh", ".githooks/pre-push", ".husky/pre-commit", ".lefthook/pre-push/a.sh"] {
        repository.context.program(file, &script);
    }
    let command = format!("$({touch}); `{touch}`; {touch}; sh hooks/guard.sh");
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}});
    repository.context.file(".claude/settings.json", settings.to_string());
    let check = json!({"id": "mine", "shell": touch, "covers": ["hooks/**"], "expect": {"cases": {"list": ["sh", "-c", touch]}}});
    repository
        .context
        .manifest("mine.yaml", &json!({"version": 1, "setup": [["sh", "-c", touch]], "checks": [check]}).to_string());
    repository.context.file(
        "package.json",
        format!("{{\"scripts\": {{\"prepare\": \"git config core.hooksPath .githooks; {touch}\"}}}}"),
    );
    repository.context.file(".gitattributes", "* diff=x filter=x merge=x\n");
    repository.commit("brings all that");
    receipt(&repository, "r1.json", |_| {});
    let _ = fs::remove_file(&mark);
    let run = program.display().to_string();
    for key in ["diff.x.textconv", "diff.x.command", "filter.x.smudge", "filter.x.clean", "filter.x.process"] {
        repository.git(&["config", key, &run]);
    }
    for key in ["core.fsmonitor", "core.pager", "pager.grep", "core.sshCommand", "diff.external", "core.editor"] {
        repository.git(&["config", key, &run]);
    }
    repository.git(&["config", "core.hooksPath", ".githooks"]);
    let document = asked(&repository, &["r1.json"]);
    assert!(document["wirings"].as_array().is_some_and(|wirings| wirings.len() > 2), "{document}");
    for arguments in [&["hooks"][..], &["hooks", "--at", "change"], &["receipt", "show", "r1.json"]] {
        let ran = repository.context.hp(arguments);
        assert!(ran.code.is_some_and(|code| code < 2), "{}", ran.said());
    }
    assert!(!mark.exists());
}

#[test]
fn what_can_not_be_compared_is_an_error() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    let wrong = |arguments: &[&str], why: &str| {
        let ran = repository.context.hp(&[&["gate"][..], arguments].concat());
        assert!(ran.exits(2).stderr.contains(why), "{}", ran.said());
    };
    wrong(&[], "--base");
    wrong(&["--base", "nowhere"], "git knows no commit called nowhere");
    wrong(&["--base", "nowhere"], "fetch-depth: 0");
    wrong(&["--base", "main", "--head", "--all"], "");
    wrong(&["--base", "main", "--head", "main:signers"], "git knows no commit called main:signers");
    wrong(&["--base", "main", "--receipts", "gone-folder/"], "gone-folder");
    // Another history.
    repository.git(&["switch", "-q", "--orphan", "island"]);
    repository.context.file("a.txt", "x");
    repository.commit("alone");
    wrong(&["--base", "main"], "main and HEAD have no commit in common");
    repository.git(&["switch", "-q", "change"]);
    // A head that the base does not lead to is compared with where the two part.
    repository.git(&["switch", "-q", "main"]);
    repository.context.file("lib/b.txt", "the base's own");
    repository.commit("meanwhile");
    assert_eq!(answers(&asked(&repository, &[])), [""; 0]);
    repository.git(&["switch", "-q", "change"]);
    assert_eq!(answers(&asked(&repository, &[])), ["guard linux missing"]);
    // Where both have changed what a check rests on, what a merge makes of it ran nowhere.
    repository.git(&["switch", "-q", "main"]);
    repository.context.file("hooks/guard.sh", "exit 3\n");
    repository.commit("the base's hook");
    repository.git(&["switch", "-q", "change"]);
    repository.context.file("hooks/new.sh", "exit 0\n");
    repository.commit("another hook");
    receipt(&repository, "r1.json", |_| {});
    assert_eq!(answers(&asked(&repository, &["r1.json"])), ["guard linux base-moved"]);
    // No policy, and one without a list of signers.
    let ran = repository.context.hp(&["gate", "--base", "main~3"]);
    assert!(
        ran.exits(2).stderr.contains("has no policy for the gate") && ran.stderr.contains("hostproof init"),
        "{}",
        ran.said()
    );
    repository.git(&["switch", "-q", "main"]);
    fs::remove_file(repository.path("signers")).expect("the signers");
    repository.commit("nobody may");
    wrong(&["--base", "main"], "nobody is allowed to sign receipts: signers is not in commit");
    std::os::unix::fs::symlink("/etc/passwd", repository.path("signers")).expect("a link");
    repository.commit("a link");
    wrong(&["--base", "main"], "signers is no plain file");
    // A manifest that is wrong, wherever it is.
    repository.git(&["switch", "-q", "-C", "change", "change"]);
    repository.context.file("checks.d/wrong.yaml", "version: 1\nchecks: 3\n");
    repository.commit("wrong");
    repository.git(&["branch", "-q", "-f", "main", "main~2"]);
    wrong(&["--base", "main"], "the manifests of HEAD are wrong");
}

#[test]
fn a_shallow_clone_says_what_it_lacks() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    let clone = Context::new();
    let from = format!("file://{}", repository.context.project().display());
    let mut git = Command::new("git");
    clone.dress(&mut git);
    git.args(["clone", "-q", "--depth", "1", "--no-single-branch", "--branch", "change", &from, "clone"]);
    assert!(git.status().expect("git").success());
    let mut command = clone.command(&["gate", "--base", "origin/main"]);
    let output = command.current_dir(clone.project().join("clone")).output().expect("hostproof");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("this clone is shallow") && said.contains("fetch-depth: 0"), "{said}");
}

#[test]
fn each_system_is_asked_by_itself() {
    if no_keygen() {
        return;
    }
    let checks = "
- {id: guard, shell: 'test -e hooks/guard.sh', covers: ['hooks/**']}
- {id: mac, shell: 'true', covers: ['hooks/**'], hosts: [macos]}
- {id: far, shell: 'true', covers: ['hooks/**'], platforms: [windows]}
";
    let policy = POLICY.replace("[linux]", "[linux, windows]");
    let repository = project(checks, &policy);
    repository.context.file("hooks/guard.sh", "exit 1\n");
    repository.commit("changes the hook");
    let document = asked(&repository, &[]);
    assert_eq!(
        answers(&document),
        ["guard linux missing", "guard windows missing", "far windows missing", "mac macos missing"]
    );
    let commands = |host: usize| document["next"][host]["commands"][1].as_str().unwrap_or_default().to_owned();
    assert_eq!(commands(1), "hostproof run guard far --receipt receipt-windows.json");
    // What is made weaker on one system alone is told of that one.
    let more = "covers: ['hooks/**'], windows: {timeout: 20m}}\n- {id: mac";
    repository.context.checks(&checks.replace("covers: ['hooks/**']}\n- {id: mac", more));
    repository.commit("more time on Windows");
    assert_eq!(obstacles(&asked(&repository, &[])), ["weaker guard: its timeout is 20m, and was 10m, on windows"]);
}

#[test]
fn github_is_told_where_it_is() {
    if no_keygen() {
        return;
    }
    let mut repository = wired();
    repository.context.file("x.sh", "exit 0\n");
    repository.context.file(".claude/settings.json", SETTINGS.replace("hooks/guard.sh", "x.sh"));
    repository.context.file("hooks/guard.sh", "exit 1\n");
    repository.commit("wires something else");
    let workspace = repository.context.project().to_owned();
    repository.context.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", &workspace);
    let ran = gate(&repository, &[]);
    let lines: Vec<&str> = ran.exits(1).stdout.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(
        lines,
        [
            "::error file=checks.d/checks.yaml,line=4,title=gate%3A guard on linux::there is no receipt of it from linux%0Awanted since hooks/guard.sh changed",
            "::error file=.claude/settings.json,line=2,title=gate%3A Claude Code PreToolUse(Bash) in .claude/settings.json%3A2::no check covers sh x.sh%0Amend: say it in the check that tests it: covers: [x.sh]",
        ]
    );
}

/// Puts hostproof where a hook finds it.
fn on_path(repository: &mut Repository) {
    let folder = repository.keys.path().join("bin");
    fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hostproof"), folder.join("hostproof")).expect("a link");
    let path = crate::context::variable("PATH").expect("a path");
    let all = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path))).expect("paths");
    repository.context.env("PATH", all);
}

#[test]
fn a_push_asks_the_gate() {
    if no_keygen() {
        return;
    }
    let mut repository = wired();
    on_path(&mut repository);
    let remote = tempfile::tempdir().expect("a folder");
    let remote = remote.path().join("remote.git").display().to_string();
    repository.git(&["init", "-q", "--bare", "-b", "main", &remote]);
    repository.git(&["-C", &remote, "config", "receive.autogc", "false"]);
    repository.git(&["remote", "add", "origin", &remote]);
    repository.git(&["push", "-q", "origin", "main"]);
    let ran = repository.context.hp(&["init", "--pre-push"]);
    assert!(
        ran.exits(0).stdout.contains("pre-push written") && ran.stdout.contains("git remote set-head origin --auto"),
        "{}",
        ran.said()
    );
    let hook = repository.path(".git/hooks/pre-push");
    assert_eq!(fs::metadata(&hook).expect("the hook").permissions().mode() & 0o111, 0o111);
    let push = |arguments: &[&str]| {
        let mut git = Command::new("git");
        repository.context.dress(&mut git);
        let output = git.arg("push").args(arguments).output().expect("git");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (pushed, said) = push(&["origin", "change"]);
    assert!(!pushed && said.contains("git remote set-head origin --auto"), "{said}");
    repository.git(&["remote", "set-head", "origin", "--auto"]);
    let (pushed, said) = push(&["origin", "change"]);
    assert!(
        !pushed && said.contains("no: the receipt that is wanted is missing") && said.contains("nothing was pushed"),
        "{said}"
    );
    // What is here needs no fetching.
    assert!(said.contains("hostproof run") && !said.contains("git fetch"), "{said}");
    // The address of a remote is that remote; another has no name to set something for.
    let (pushed, said) = push(&[&remote, "change"]);
    assert!(!pushed && said.contains("no: the receipt that is wanted is missing"), "{said}");
    let other = format!("{remote}.other");
    repository.git(&["init", "-q", "--bare", &other]);
    let (pushed, said) = push(&[&other, "change"]);
    assert!(!pushed && said.contains("push to a remote by its name"), "{said}");
    let (pushed, said) = push(&["origin", "change:main"]);
    assert!(!pushed && said.contains("no: the receipt that is wanted is missing"), "{said}");
    // A tag, what is deleted, and what concerns no check.
    repository.git(&["tag", "v1"]);
    repository.git(&["push", "-q", "--no-verify", "origin", "change:refs/heads/old"]);
    for arguments in [&["origin", "v1"][..], &["origin", ":old"], &["origin", "main:refs/heads/same"]] {
        let (pushed, said) = push(arguments);
        assert!(pushed, "{arguments:?}: {said}");
    }
    // As pre-commit and prek tell it.
    let change = repository.git(&["rev-parse", "change"]);
    repository.context.env("PRE_COMMIT_TO_REF", &change).env("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/change");
    let ran = repository.context.hp(&["gate", "--pre-push", "origin"]);
    assert!(ran.exits(1).stderr.contains("guard"), "{}", ran.said());
    // What git would never say.
    repository.context.env("PRE_COMMIT_TO_REF", "");
    let mut command = repository.context.command(&["gate", "--pre-push", "origin"]);
    let child = command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn();
    let mut child = child.expect("hostproof");
    std::io::Write::write_all(&mut child.stdin.take().expect("its input"), b"what is this\n").expect("its input");
    let ran = repository.context.finish(child);
    assert!(ran.exits(2).stderr.contains("git tells a pre-push hook of"), "{}", ran.said());
}

#[test]
fn a_hook_that_is_there_stays() {
    let context = Context::new();
    let init = || context.hp(&["init", "--pre-push"]);
    assert!(init().exits(2).stderr.contains("is in no git repository"));
    assert!(works(&["git", "init", "-q", context.project().to_str().expect("text")]));
    let shown = context.hp(&["init", "--pre-push", "--dry-run"]).exits(0).stdout.clone();
    let hook = context.project().join(".git/hooks/pre-push");
    assert!(shown.contains("exec hostproof gate --pre-push \"$1\"") && !hook.exists(), "{shown}");
    context.file(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n");
    let ran = init();
    assert!(
        ran.exits(2).stderr.contains("there is a hook already")
            && ran.stderr.contains("hostproof gate --pre-push \"$1\" || exit"),
        "{}",
        ran.said()
    );
    assert_eq!(context.read(".git/hooks/pre-push"), "#!/bin/sh\nexit 0\n");
    context.file(".git/hooks/pre-push", "#!/bin/sh\nhostproof gate --pre-push \"$1\" || exit\n");
    assert!(init().exits(0).stdout.contains("asks the gate already"));
    fs::remove_file(&hook).expect("the hook");
    let project = context.project().to_str().expect("text").to_owned();
    assert!(works(&["git", "-C", &project, "config", "core.hooksPath", "shared"]));
    let ran = init();
    assert!(ran.exits(2).stderr.contains("(core.hooksPath), which others may share"), "{}", ran.said());
    assert!(works(&["git", "-C", &project, "config", "--unset", "core.hooksPath"]));
    init().exits(0);
    assert_eq!(context.read(".git/hooks/pre-push"), shown);
    init().exits(0);
}

#[test]
fn the_page_has_every_snippet_whole() {
    let read = |name: &str| fs::read_to_string(sources().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let page = read("docs/gate.md");
    let indented = |text: &str| {
        let lines =
            text.trim_end().lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
        lines.collect::<Vec<_>>().join("\n")
    };
    let hook = Context::new().hp(&["init", "--pre-push", "--dry-run"]).exits(0).stdout.clone();
    assert!(page.contains(&indented(&hook)), "the hook");
    for name in [".pre-commit-hooks.yaml", ".github/actions/hostproof/action.yml", ".github/workflows/gate.yml"] {
        let text = read(name);
        assert!(page.contains(text.trim_end()), "{name}");
        let ours = text.lines().filter(|line| line.contains("uses: hostproof/"));
        let version = concat!("@v", env!("CARGO_PKG_VERSION"));
        assert!(ours.into_iter().all(|line| line.ends_with(version)), "{name} uses another version than {version}");
    }
}
