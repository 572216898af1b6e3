//! Receipts, with real git and real keys.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::SystemTime;

use hostproof::model::{Platform, Statement, Verdict};
use hostproof::receipt::envelope::Envelope;
use hostproof::receipt::inputs::Inputs;
use hostproof::receipt::revision::Revision;
use hostproof::receipt::ssh::{Key, Keygen};
use hostproof::receipt::statement;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::context::{Context, Ran, fifo, signal, skip};
use crate::schema::fits;

pub const WHO: &str = "me@example.org";

pub const CHECKS: &str = "
- {id: a, shell: 'echo >>ran; test \"$(cat a.txt)\" = one', covers: [a.txt]}
- {id: b, shell: 'true', covers: ['lib/**']}
";

/// A project in a repository, and a folder of keys outside.
pub struct Repository {
    pub context: Context,
    pub keys: tempfile::TempDir,
}

impl Repository {
    pub fn with(checks: &str) -> Self {
        let mut context = Context::with(checks);
        let keys = tempfile::tempdir().expect("a folder");
        context.env("HOME", keys.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["mine", "other"] {
            let key = keys.path().join(name);
            let mut made = Command::new("ssh-keygen");
            made.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(key).stdin(Stdio::null());
            assert!(made.status().expect("ssh-keygen").success());
        }
        let repository = Self { context, keys };
        repository.allow(&["mine"], "");
        repository.context.file(".gitignore", "ran\nmended\nr*.json\n");
        repository.context.file("a.txt", "one\n");
        repository.context.file("lib/b.txt", "b\n");
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit("first");
        repository
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.context, arguments)
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    pub fn key(&self, name: &str) -> String {
        self.keys.path().join(name).display().to_string()
    }

    pub fn public(&self, name: &str) -> String {
        fs::read_to_string(self.key(&format!("{name}.pub"))).expect("a public key").trim().to_owned()
    }

    /// Lets these keys sign, with those options.
    pub fn allow(&self, names: &[&str], options: &str) {
        let lines: Vec<String> = names.iter().map(|name| format!("{WHO} {options} {}\n", self.public(name))).collect();
        fs::write(self.key("allowed"), lines.concat()).expect("allowed signers");
    }

    pub fn run(&self, file: &str, more: &[&str]) -> Ran {
        let key = self.key("mine");
        let ran = [&["run", "--receipt", file, "--sign", &key][..], more].concat();
        self.context.hp(&ran)
    }

    pub fn verify(&self, files: &[&str]) -> Ran {
        let allowed = self.key("allowed");
        self.context.hp(&[&["receipt", "verify", "--allowed-signers", &allowed][..], files].concat())
    }

    /// What verifying one says as a document.
    pub fn verified(&self, file: &str) -> Value {
        let allowed = self.key("allowed");
        let ran = self.context.hp(&["receipt", "verify", "--json", "--allowed-signers", &allowed, file]);
        let document: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.said()));
        let schema: Value =
            serde_json::from_str(&self.context.hp(&["schema", "verification"]).stdout).expect("a schema");
        fits(&document, &schema, &schema, "verification").expect("as the schema says");
        assert_eq!(ran.code, Some(i32::from(document["ok"] != true)), "{}", ran.said());
        document["receipts"][0].clone()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.context.project().join(file)
    }

    pub fn payload(&self, file: &str) -> Value {
        let envelope = Envelope::parse(&fs::read(self.path(file)).expect("a receipt")).expect("an envelope");
        serde_json::from_slice(envelope.payload()).expect("JSON")
    }

    pub fn statement(&self, file: &str) -> Statement {
        serde_json::from_value(self.payload(file)).expect("a statement")
    }

    /// Writes a receipt of any payload, signed with one of the keys.
    pub fn forge(&self, file: &str, payload: &[u8], key: &str) {
        let mut envelope = Envelope::unsigned(payload.to_vec());
        let signature = Keygen::new("ssh-keygen").sign(&envelope, &Key::File(self.key(key).into()));
        envelope.add(signature.expect("a signature"));
        fs::write(self.path(file), envelope.to_json()).expect("a receipt");
    }
}

/// What git prints in a project, as somebody whom it knows.
pub fn git(context: &Context, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    context.dress(&mut git);
    // Its maintenance goes on behind a commit, and is no process of hostproof's.
    let so = [
        "user.name=me",
        "user.email=me@example.org",
        "protocol.file.allow=always",
        "commit.gpgSign=false",
        "maintenance.auto=false",
    ];
    let output = git.args(so.iter().flat_map(|one| ["-c", one])).args(arguments).output().expect("git");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// An agent with one key, which ends with the test.
struct Agent {
    child: Child,
    socket: PathBuf,
}

impl Agent {
    fn with(repository: &Repository, key: &str) -> Self {
        let socket = repository.keys.path().join("agent");
        let mut agent = Command::new("ssh-agent");
        let child = agent
            .args(["-D", "-a"])
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("ssh-agent");
        let agent = Self { child, socket };
        let ask = |arguments: &[&str]| {
            let mut add = Command::new("ssh-add");
            add.args(arguments).env("SSH_AUTH_SOCK", &agent.socket).stdout(Stdio::null()).stderr(Stdio::null());
            add.status().expect("ssh-add").code()
        };
        // Its socket is there before it listens. One that has no key says so with status 1; nobody there is 2.
        crate::context::eventually("the agent answers", || ask(&["-l"]) == Some(1));
        assert_eq!(ask(&["-q", &repository.key(key)]), Some(0));
        agent
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("the agent's end");
    }
}

pub fn with_input(command: &mut Command, input: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a program");
    child.stdin.take().expect("its input").write_all(input).expect("its input");
    child.wait_with_output().expect("its end")
}

/// Whether there is nothing here that could sign.
pub fn no_keygen() -> bool {
    let missing = Command::new("ssh-keygen").arg("-?").output().is_err();
    if missing {
        skip("no ssh-keygen");
    }
    missing
}

#[test]
fn plain_ssh_keygen_checks_a_receipt() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    let ran = repository.run("r.json", &[]);
    assert!(
        ran.exits(0).stdout.contains("receipt of 2 checks (green) in r.json, signed with SHA256:"),
        "{}",
        ran.stdout
    );
    let shown = |form: &str| repository.context.hp(&["receipt", "show", "r.json", form]).exits(0).stdout.clone();
    fs::write(repository.key("sig"), shown("--signature")).expect("a signature");
    let pae = shown("--pae");
    let verify = |input: &str| {
        let mut command = Command::new("ssh-keygen");
        let arguments = ["-Y", "verify", "-n", "hostproof-receipt", "-I", WHO, "-f"];
        command.args(arguments).arg(repository.key("allowed")).arg("-s").arg(repository.key("sig"));
        with_input(&mut command, input.as_bytes())
    };
    let output = verify(&pae);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!verify(&pae.replace("passed", "failed")).status.success());
    // The type, the length and the payload, as DSSE has them.
    let payload = pae.splitn(5, ' ').nth(4).expect("a payload");
    assert!(pae.starts_with(&format!("DSSEv1 28 application/vnd.in-toto+json {} ", payload.len())), "{pae}");
    let payload: Value = serde_json::from_str(payload).expect("JSON");
    assert_eq!(serde_json::from_str::<Value>(&shown("--json")).expect("JSON"), payload);
    let text = repository.context.hp(&["receipt", "show", "r.json"]).exits(0).stdout.clone();
    assert!(text.starts_with("receipt of 2 checks: green\n") && text.contains(" ok    a  "), "{text}");
}

#[test]
fn a_receipt_says_what_was_run_where_and_on_what() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.git(&["remote", "add", "origin", "https://me:s3cret@example.org/a/b.git"]);
    repository.run("r.json", &[]).exits(0);
    let payload = repository.payload("r.json");
    let schema: Value = serde_json::from_str(&repository.context.hp(&["schema", "receipt"]).stdout).expect("a schema");
    fits(&payload, &schema, &schema, "receipt").expect("as the schema says");
    assert!(!schema.to_string().contains("\"number\""));
    assert_eq!(payload["_type"], "https://in-toto.io/Statement/v1");
    let (tree, commit) = (repository.git(&["rev-parse", "HEAD^{tree}"]), repository.git(&["rev-parse", "HEAD"]));
    let subject = json!({"name": "tree", "digest": {"gitTree": tree}, "annotations": {"commit": commit}});
    assert_eq!(payload["subject"][0], subject);
    // By hand, as docs/receipts.md tells.
    let file = repository.git(&["ls-tree", "HEAD", "a.txt"]).replace(" blob ", " ");
    let check = r#"{"check":{"command":{"shell":{"interpreter":"sh","script":"echo >>ran; test \"$(cat a.txt)\" = one"}},"covers":["a.txt"],"id":"a","reader":"none"},"setup":[]}"#;
    let output =
        with_input(&mut Command::new("sha256sum"), format!("hostproof inputs 1\n{check}\n{file}\0").as_bytes());
    let digest = String::from_utf8_lossy(&output.stdout).split_whitespace().next().expect("a digest").to_owned();
    assert_eq!(payload["subject"][1], json!({"name": "check/a", "digest": {"sha256": digest}}));
    let predicate = &payload["predicate"];
    let place = if predicate["host"]["container"].is_null() { "host" } else { "container" };
    assert_eq!(predicate["place"]["kind"], place);
    assert_eq!(predicate["host"]["os"], "linux");
    let source = &predicate["source"]["repository"];
    assert_eq!(*source, json!({"roots": [commit], "origin": "https://example.org/a/b.git", "project": ""}));
    assert_eq!(predicate["checks"][0]["verdict"], "passed");
    assert!(!payload.to_string().contains("s3cret"));
}

#[test]
fn a_receipt_holds_until_its_inputs_change() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let ran = repository.verify(&["r.json"]);
    assert!(ran.exits(0).stdout.contains(&format!("signed by {WHO} (SHA256:")), "{}", ran.stdout);
    // A commit that touches nothing of it, and another history.
    repository.context.file("readme", "x");
    repository.commit("unrelated");
    repository.git(&["commit", "-q", "--amend", "-m", "reworded"]);
    let receipt = repository.verified("r.json");
    assert_eq!((&receipt["ok"], &receipt["same_tree"]), (&true.into(), &false.into()));
    // What lies about uncommitted is not compared.
    repository.context.file("a.txt", "two\n");
    assert!(repository.verify(&["r.json"]).exits(0).stdout.contains("not committed here was not compared"));
    repository.commit("touches a");
    let receipt = repository.verified("r.json");
    assert_eq!(
        (&receipt["checks"][0]["inputs"], &receipt["checks"][0]["differs"]),
        (&"changed".into(), &json!(["a.txt"]))
    );
    assert_eq!(receipt["checks"][1]["inputs"], "same");
    // The check itself, and one that is gone.
    repository.context.file("a.txt", "one\n");
    repository
        .context
        .checks(&CHECKS.replace("covers: [a.txt]", "covers: [a.txt], expect: {exit: 3}").replace("id: b", "id: c"));
    repository.commit("touches the checks");
    let receipt = repository.verified("r.json");
    assert_eq!(receipt["checks"][0]["differs"], json!(["the check itself"]));
    assert_eq!(receipt["checks"][1]["inputs"], "gone");
}

#[test]
fn a_title_elsewhere_in_the_manifest_is_no_input() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &["b"]).exits(0);
    repository.context.checks(&format!("# moved\n{}- {{id: new, shell: 'true'}}\n", CHECKS.trim_start()));
    repository.commit("one more");
    repository.verify(&["r.json"]).exits(0);
}

#[test]
fn fixtures_are_inputs_even_if_they_are_not_covered() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(
        "- {id: a, shell: cat, covers: [a.txt], stdin: event.json}\n- {id: b, shell: 'test -e x/b.txt', cwd: sandbox, covers: [a.txt], files: {x: link}}",
    );
    repository.context.file("data/event.json", "{}");
    std::os::unix::fs::symlink("data/event.json", repository.path("event.json")).expect("a link");
    std::os::unix::fs::symlink("lib", repository.path("link")).expect("a link");
    repository.commit("fixtures");
    repository.run("r.json", &[]).exits(0);
    repository.verify(&["r.json"]).exits(0);
    repository.context.file("data/event.json", "{ }");
    let ran = repository.run("r2.json", &[]);
    assert!(
        ran.stdout.contains("without a: when the run began, data/event.json differs from the commit"),
        "{}",
        ran.stdout
    );
    repository.context.file("lib/b.txt", "other");
    repository.commit("other fixtures");
    let receipt = repository.verified("r.json");
    assert_eq!(receipt["checks"][0]["differs"], json!(["data/event.json"]));
    assert_eq!(receipt["checks"][1]["differs"], json!(["lib/b.txt"]));
}

#[test]
fn what_is_not_as_committed_is_left_out_and_said() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(&format!(
        "{CHECKS}- {{id: all, shell: 'true'}}\n- {{id: named, shell: 'true', covers: [mended, a.txt]}}\n- {{id: folder, shell: 'true', covers: [lib]}}\n- {{id: far, shell: 'true', platforms: [windows]}}"
    ));
    repository.context.file("mended", "");
    // The receipt itself is no dirt, even where git does not ignore it.
    let ran = repository.run("own.json", &[]);
    for (id, why) in [
        ("named", "it covers mended, which git ignores"),
        ("folder", "it covers lib, which is a folder: all in it is lib/"),
        ("far", "it was skipped: runs on windows only"),
    ] {
        assert!(
            ran.exits(0).stdout.contains(&format!("    without {id}: ")) && ran.stdout.contains(why),
            "{}",
            ran.stdout
        );
    }
    repository.run("own.json", &["all"]).exits(0);
    fs::remove_file(repository.path("own.json")).expect("the receipt");
    repository.context.file("new.txt", "");
    let ran = repository.run("r.json", &["a", "b", "all"]);
    let why = "without all: when the run began, new.txt is in no commit, and git does not ignore it";
    assert!(ran.exits(0).stdout.contains(why), "{}", ran.stdout);
    fs::remove_file(repository.path("new.txt")).expect("a file");
    // What git was told not to look at.
    repository.git(&["update-index", "--assume-unchanged", "a.txt"]);
    let ran = repository.run("r.json", &["a", "b"]);
    assert!(
        ran.exits(0).stdout.contains("without a: when the run began, a.txt is one that git was told"),
        "{}",
        ran.stdout
    );
    repository.git(&["update-index", "--no-assume-unchanged", "a.txt"]);
    // A manifest that is not committed.
    repository.context.checks(&CHECKS.replace("lib/**", "lib/*"));
    let ran = repository.run("r9.json", &[]);
    assert!(ran.exits(3).stderr.contains("b: checks.d/checks.yaml differs from the commit"), "{}", ran.stderr);
    assert!(!repository.path("r9.json").exists());
}

#[test]
fn a_submodule_is_an_input_and_must_be_clean() {
    if no_keygen() {
        return;
    }
    let other = Repository::with(CHECKS);
    let repository =
        Repository::with("- {id: a, shell: 'true', covers: [vendor/a.txt]}\n- {id: b, shell: 'true', covers: [lib/]}");
    let from = other.context.project().display().to_string();
    repository.git(&["submodule", "add", "-q", &from, "vendor"]);
    repository.git(&["config", "submodule.vendor.ignore", "all"]);
    repository.commit("a submodule");
    repository.run("r.json", &[]).exits(0);
    assert_eq!(repository.statement("r.json").predicate.checks.len(), 2);
    repository.context.file("vendor/a.txt", "changed");
    let ran = repository.run("r2.json", &[]);
    assert!(
        ran.exits(0).stdout.contains("without a: when the run began, vendor differs from the commit"),
        "{}",
        ran.stdout
    );
    repository.git(&["submodule", "deinit", "-q", "-f", "vendor"]);
    let ran = repository.run("r2.json", &[]);
    assert!(ran.exits(0).stdout.contains("vendor is a submodule that is not checked out"), "{}", ran.stdout);
}

#[test]
fn what_changes_meanwhile_is_left_out() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(
        "- {id: a, shell: 'echo x >>a.txt', covers: [a.txt], lock: [l], allow: [{kind: residue, because: meant}]}\n- {id: b, shell: 'true', covers: [lib/], lock: [l]}",
    );
    let ran = repository.run("r.json", &[]);
    assert!(ran.exits(0).stdout.contains("without a: after the run, a.txt differs from the commit"), "{}", ran.stdout);
    let receipt = repository.statement("r.json").predicate;
    assert_eq!((receipt.checks.len(), receipt.left_out.len(), receipt.totals.checks.passed), (1, 1, 2));
    // Another commit is another source.
    let repository = Repository::with(
        "- id: a\n  shell: git -c user.name=me -c user.email=me@x.org commit -q --allow-empty-message -m '' -a --allow-empty; echo >>lib/b.txt; git -c user.name=me -c user.email=me@x.org commit -qam x\n  covers: [a.txt]",
    );
    let ran = repository.run("r.json", &[]);
    assert!(ran.exits(3).stderr.contains("was checked out when the run began, and"), "{}", ran.said());
    assert!(!repository.path("r.json").exists());
}

#[test]
fn a_red_receipt_is_one_too() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.context.file("a.txt", "wrong\n");
    repository.commit("breaks a");
    let ran = repository.run("r.json", &[]);
    assert!(ran.exits(1).stdout.contains("receipt of 2 checks (red, 1 of them) in r.json"), "{}", ran.stdout);
    let receipt = repository.statement("r.json").predicate;
    assert_eq!((receipt.checks[0].verdict, receipt.checks[1].verdict), (Verdict::Failed, Verdict::Passed));
    assert!(receipt.checks[0].findings.iter().any(|finding| finding.kind == "unmet"));
    let receipt = repository.verified("r.json");
    assert_eq!((&receipt["ok"], &receipt["checks"][0]["inputs"]), (&false.into(), &"same".into()));
}

#[test]
fn a_run_that_was_stopped_has_no_receipt() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with("- {id: a, shell: 'exit 1'}\n- {id: b, shell: 'echo $$ >ran; sleep 50'}");
    let ran = repository.run("r.json", &["--fail-fast", "--jobs", "1"]);
    assert!(
        ran.exits(1).stderr.contains("no receipt: the run was stopped before its end (--fail-fast)"),
        "{}",
        ran.stderr
    );
    let key = repository.key("mine");
    let mut command = repository.context.command(&["run", "--receipt", "r.json", "--sign", &key, "b"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
    repository.context.wait_for_pids("ran", 1);
    signal(child.id(), Signal::INT);
    let ran = repository.context.finish(child);
    assert!(
        ran.exits(130).stderr.contains("no receipt: the run was stopped before its end (interrupted)"),
        "{}",
        ran.stderr
    );
    assert!(!repository.path("r.json").exists());
}

#[test]
fn without_a_repository_or_a_commit_nothing_runs() {
    if no_keygen() {
        return;
    }
    let context = Context::with("- {id: a, shell: 'echo >ran'}");
    let ran = context.hp(&["run", "--receipt", "r.json", "--unsigned"]);
    assert!(
        ran.exits(3).stderr.contains("no receipt: ") && ran.stderr.contains("is in no git repository"),
        "{}",
        ran.stderr
    );
    let mut git = Command::new("git");
    context.dress(&mut git);
    assert!(git.args(["init", "-q"]).status().expect("git").success());
    let ran = context.hp(&["run", "--receipt", "r.json", "--unsigned"]);
    assert!(ran.exits(3).stderr.contains("no receipt: nothing is committed yet"), "{}", ran.stderr);
    assert!(context.read("ran").is_empty() && !context.project().join("r.json").exists());
}

#[test]
fn the_key_is_that_of_git_and_is_seen_to_sign_before_anything_runs() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    let run = || repository.context.hp(&["run", "--receipt", "r.json"]);
    let config = |key: &str, value: &str| repository.git(&["config", key, value]);
    let ran = run();
    assert!(ran.exits(2).stderr.contains("there is no key to sign with: name one with --sign"), "{}", ran.stderr);
    config("gpg.format", "openpgp");
    assert!(run().exits(2).stderr.contains("git signs by openpgp, and receipts are signed with SSH keys"));
    config("gpg.format", "ssh");
    config("user.signingKey", "~/gone");
    assert!(run().exits(2).stderr.contains("does not sign"));
    let gone = repository.context.hp(&["run", "--receipt", "r.json", "--sign", "no-such-key"]);
    assert!(gone.exits(2).stderr.contains("does not sign"), "{}", gone.stderr);
    for wrong in [&["--sign", "x"][..], &["--receipt", "r.json", "--sign", "x", "--unsigned"], &["--unsigned"]] {
        repository.context.hp(&[&["run"][..], wrong].concat()).exits(2);
    }
    assert!(repository.context.read("ran").is_empty(), "nothing ran");
    config("user.signingKey", "~/mine");
    run().exits(0);
    repository.verify(&["r.json"]).exits(0);
    // By git's own settings.
    config("gpg.ssh.allowedSignersFile", "~/allowed");
    repository.context.hp(&["receipt", "verify", "r.json"]).exits(0);
    // The program that git signs with.
    let program = repository.context.program("ran", "#!/bin/sh\necho x >>mended\nexec ssh-keygen \"$@\"\n");
    config("gpg.ssh.program", &program.display().to_string());
    repository.context.hp(&["run", "--receipt", "r.json", "b"]).exits(0);
    assert!(!repository.context.read("mended").is_empty());
}

#[test]
fn an_agent_signs_for_a_public_key() {
    if no_keygen() {
        return;
    }
    let mut repository = Repository::with(CHECKS);
    let agent = Agent::with(&repository, "mine");
    repository.context.env("SSH_AUTH_SOCK", &agent.socket);
    fs::remove_file(repository.key("mine")).expect("the private key");
    repository.git(&["config", "gpg.format", "ssh"]);
    repository.git(&["config", "user.signingKey", &format!("key::{}", repository.public("mine"))]);
    repository.context.hp(&["run", "--receipt", "r.json"]).exits(0);
    repository.verify(&["r.json"]).exits(0);
    let public = repository.key("mine.pub");
    repository.context.hp(&["run", "--receipt", "r2.json", "--sign", &public]).exits(0);
    repository.verify(&["r2.json"]).exits(0);
    // One that the agent has not.
    let other = format!("key::{}", repository.public("other"));
    repository.context.hp(&["run", "--receipt", "r3.json", "--sign", &other]).exits(2);
}

#[test]
fn unsigned_is_possible_and_counts_for_nothing() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    let ran = repository.context.hp(&["run", "--receipt", "r.json", "--unsigned"]);
    assert!(ran.exits(0).stdout.contains("in r.json, unsigned: nobody vouches for it"), "{}", ran.stdout);
    let shown = repository.context.hp(&["receipt", "show", "r.json"]);
    assert!(shown.exits(0).stdout.contains("nobody: it is unsigned"), "{}", shown.stdout);
    assert!(
        repository
            .context
            .hp(&["receipt", "show", "--signature", "r.json"])
            .exits(2)
            .stderr
            .contains("it is not signed")
    );
    assert_eq!(repository.verified("r.json")["refused"], "it is not signed");
    // Nothing of what nobody vouches for is parsed.
    fs::write(repository.path("r2.json"), Envelope::unsigned(b"[[[".to_vec()).to_json()).expect("a receipt");
    assert_eq!(repository.verified("r2.json")["refused"], "it is not signed");
}

#[test]
fn who_may_sign_is_what_the_list_says() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let refused = || repository.verified("r.json")["refused"].as_str().unwrap_or_default().to_owned();
    assert_eq!(refused(), "");
    for options in ["namespaces=\"git\"", "valid-before=\"20200101\"", "valid-after=\"20990101\""] {
        repository.allow(&["mine"], options);
        assert!(refused().contains("is no key of an allowed signer"), "{options}");
    }
    repository.allow(&["other"], "");
    assert!(refused().contains("which is no key of an allowed signer"));
    repository.allow(&["other", "mine"], "namespaces=\"git,hostproof-receipt\"");
    assert_eq!(refused(), "");
    let ran = repository.context.hp(&["receipt", "verify", "r.json"]);
    assert!(ran.exits(2).stderr.contains("nobody is allowed to sign"), "{}", ran.stderr);
    repository.context.hp(&["receipt", "verify", "r.json", "--allowed-signers", "gone"]).exits(2);
}

#[test]
fn what_is_no_receipt_is_refused_and_says_why() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let bytes = fs::read(repository.path("r.json")).expect("a receipt");
    let text = String::from_utf8(bytes.clone()).expect("text");
    let refused = |content: &[u8], why: &str| {
        fs::write(repository.path("r2.json"), content).expect("a file");
        let said = repository.verified("r2.json")["refused"].as_str().unwrap_or_default().to_owned();
        assert!(said.contains(why), "{said:?} does not say {why:?}");
        assert!(said.len() < 1000);
    };
    refused(b"", "no DSSE envelope");
    refused(&bytes[..bytes.len() / 2], "no DSSE envelope");
    refused(&vec![b' '; 17 << 20], "larger than 16 MiB");
    refused("[".repeat(1 << 20).as_bytes(), "no DSSE envelope");
    refused(format!("{{\"payloadType\":\"{}\"}}", "x".repeat(1 << 20)).as_bytes(), "no DSSE envelope");
    // Another payload under the same signature.
    let envelope = Envelope::parse(&bytes).expect("an envelope");
    let mut moved = Envelope::unsigned([envelope.payload(), b" "].concat());
    moved.add(envelope.signatures()[0].clone());
    refused(&moved.to_json(), "its signature does not hold");
    refused(text.replace("in-toto", "in-tota").as_bytes(), "its payload is of type");
    // A signature that the same key made for a commit.
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "sign", "-n", "git", "-f"]).arg(repository.key("mine"));
    let armour = String::from_utf8(with_input(&mut command, &envelope.pae()).stdout).expect("text");
    let sig: String = armour.lines().filter(|line| !line.starts_with('-')).collect();
    let mut as_commit: Value = serde_json::from_slice(&bytes).expect("JSON");
    as_commit["signatures"][0]["sig"] = sig.into();
    refused(as_commit.to_string().as_bytes(), "its signature does not hold");
    // What lies at the path is no file.
    fifo(&repository.path("r-pipe"));
    std::os::unix::fs::symlink("r.json", repository.path("r-link")).expect("a link");
    for (name, why) in [
        ("r-pipe", "it is a pipe"),
        ("r-link", "it is a symbolic link"),
        ("lib", "it is a folder"),
        ("gone", "it can't be read"),
    ] {
        assert!(repository.verified(name)["refused"].as_str().is_some_and(|said| said.contains(why)), "{name}");
        let shown = repository.context.hp(&["receipt", "show", name]);
        assert!(shown.exits(2).stderr.contains(why), "{}", shown.stderr);
    }
}

#[test]
fn what_is_signed_and_contradicts_itself_is_refused() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let payload = repository.payload("r.json");
    let refused = |change: &dyn Fn(&mut Value), why: &str| {
        let mut changed = payload.clone();
        change(&mut changed);
        repository.forge("r2.json", changed.to_string().as_bytes(), "mine");
        let receipt = repository.verified("r2.json");
        let said = receipt["refused"].as_str().unwrap_or_default();
        assert!(said.contains(why), "{said:?} does not say {why:?}");
        assert_eq!(receipt["signer"], WHO, "who signed it is known all the same");
    };
    refused(&|it| it["_type"] = "https://in-toto.io/Statement/v2".into(), "a newer hostproof may know it");
    refused(&|it| it["predicateType"] = "https://slsa.dev/provenance/v1".into(), "it holds a https://slsa.dev");
    refused(&|it| it["predicate"]["run"]["finished"] = "2999-01-01T00:00:00Z".into(), "it is from the future");
    refused(&|it| it["predicate"]["run"]["finished"] = "1999-01-01T00:00:00Z".into(), "ended before it began");
    refused(&|it| it["predicate"]["run"]["finished"] = "soon".into(), "its times are none");
    refused(&|it| it["predicate"]["checks"][0]["duration_ms"] = json!(1.5), "it holds no receipt");
    refused(&|it| it["predicate"]["checks"][1] = it["predicate"]["checks"][0].clone(), "two things of check a");
    refused(&|it| it["subject"][2] = it["subject"][1].clone(), "two subjects called check/a");
    refused(&|it| it["subject"][1]["name"] = "check/z".into(), "none of its subjects");
    refused(&|it| it["subject"][1]["digest"]["sha256"] = "A".into(), "is none of a receipt");
    refused(&|it| it["predicate"]["checks"] = json!([it["predicate"]["checks"][0]]), "says nothing of");
    refused(&|it| it["predicate"]["source"]["end"]["tree"] = "0".repeat(40).into(), "its tree is not the one");
    refused(&|it| it["predicate"]["source"]["end"]["commit"] = "--help".into(), "its commits are none");
    let error = json!({"kind": "later-kind", "severity": "error", "message": "x"});
    refused(&|it| it["predicate"]["checks"][0]["findings"] = json!([error]), "contradicts itself about check a");
    refused(&|it| it["predicate"]["host"]["os"] = "plan9".into(), "a system that is not known: plan9");
    for (bytes, why) in
        [("[".repeat(100_000), "it holds no receipt"), (payload.to_string()[..99].to_owned(), "it holds no receipt")]
    {
        repository.forge("r2.json", bytes.as_bytes(), "mine");
        assert!(repository.verified("r2.json")["refused"].as_str().is_some_and(|said| said.contains(why)));
    }
    // What a later version says more is no fault.
    let mut more = payload.clone();
    more["predicate"]["weather"] = json!({"deep": [1.5]});
    repository.forge("r2.json", more.to_string().as_bytes(), "mine");
    repository.verify(&["r2.json"]).exits(0);
    repository.forge("r2.json", payload.to_string().as_bytes(), "other");
    repository.verify(&["r2.json"]).exits(1);
}

#[test]
fn a_receipt_of_another_repository_or_commit_is_seen() {
    if no_keygen() {
        return;
    }
    let (repository, other) = (Repository::with(CHECKS), Repository::with(CHECKS));
    other.git(&["commit", "-q", "--amend", "-m", "another first"]);
    other.run("r.json", &[]).exits(0);
    fs::copy(other.path("r.json"), repository.path("r.json")).expect("a copy");
    fs::copy(other.key("allowed"), repository.key("allowed")).expect("a copy");
    let refused = repository.verified("r.json")["refused"].as_str().unwrap_or_default().to_owned();
    assert!(refused.contains("it is of another repository: they have no first commit in common"), "{refused}");
    // One that says it is of a commit that had other inputs.
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let mut payload = repository.payload("r.json");
    payload["subject"][1]["digest"]["sha256"] = payload["subject"][2]["digest"]["sha256"].clone();
    repository.forge("r2.json", payload.to_string().as_bytes(), "mine");
    let check = &repository.verified("r2.json")["checks"][0];
    assert!(
        check["differs"][0].as_str().is_some_and(|said| said.contains("has other inputs than those that were run")),
        "{check}"
    );
}

#[test]
fn shallow_clones_are_known_by_their_address() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.git(&["remote", "add", "origin", "git@example.org:a/b.git"]);
    repository.context.file("readme", "x");
    repository.commit("second");
    repository.run("r.json", &[]).exits(0);
    let mut payload = repository.payload("r.json");
    payload["predicate"]["source"]["repository"]["roots"] = Value::Null;
    repository.forge("r2.json", payload.to_string().as_bytes(), "mine");
    repository.verify(&["r2.json"]).exits(0);
    repository.git(&["remote", "set-url", "origin", "https://example.org/a/other"]);
    let refused = repository.verified("r2.json")["refused"].as_str().unwrap_or_default().to_owned();
    assert!(refused.contains("it can't be told whether it is of this repository"), "{refused}");
}

#[test]
fn two_receipts_that_contradict_each_other_both_count_for_nothing() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with("- {id: a, shell: 'test -e mended', covers: [a.txt]}");
    repository.run("r1.json", &[]).exits(1);
    repository.context.file("mended", "");
    repository.run("r2.json", &[]).exits(0);
    repository.verify(&["r2.json"]).exits(0);
    let ran = repository.verify(&["r2.json", "r1.json"]);
    assert!(
        ran.exits(1).stdout.contains(": 0 of 2\n") && ran.stdout.contains("r1.json says otherwise"),
        "{}",
        ran.stdout
    );
    // Two that agree do not.
    repository.run("r3.json", &[]).exits(0);
    repository.verify(&["r2.json", "r3.json"]).exits(0);
}

#[test]
fn a_receipt_from_windows_is_judged_by_what_the_manifest_says_for_windows() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with("- {id: a, run: ['true'], covers: [a.txt], windows: {run: [cmd, /c, exit 0]}}");
    repository.run("r.json", &[]).exits(0);
    let revision = Revision::open(repository.context.project(), "HEAD").expect("a commit");
    let digest = |platform| {
        let plan = revision.plan("checks.d", platform).expect("a plan");
        Inputs::of(&plan.checks[0].check(), &[], &revision).expect("inputs").digest()
    };
    let mut payload = repository.payload("r.json");
    assert_eq!(payload["subject"][1]["digest"]["sha256"], digest(Platform::Linux));
    assert_ne!(digest(Platform::Linux), digest(Platform::Windows));
    payload["predicate"]["host"]["os"] = "windows".into();
    repository.forge("r2.json", payload.to_string().as_bytes(), "mine");
    repository.verify(&["r2.json"]).exits(1);
    payload["subject"][1]["digest"]["sha256"] = digest(Platform::Windows).into();
    repository.forge("r2.json", payload.to_string().as_bytes(), "mine");
    repository.verify(&["r2.json"]).exits(0);
}

#[test]
fn a_project_below_the_top_of_its_repository_has_its_own() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    for file in ["checks.d/checks.yaml", "a.txt", "lib/b.txt"] {
        repository.context.file(&format!("sub/{file}"), repository.context.read(file));
    }
    repository.commit("a project below");
    let (key, allowed) = (repository.key("mine"), repository.key("allowed"));
    let below = |arguments: &[&str]| {
        let mut command = repository.context.command(arguments);
        command.current_dir(repository.path("sub")).stdout(Stdio::piped()).stderr(Stdio::piped());
        repository.context.finish(command.spawn().expect("hostproof"))
    };
    repository.context.file("a.txt", "dirt above\n");
    below(&["run", "--receipt", "r.json", "--sign", &key]).exits(0);
    assert_eq!(repository.statement("sub/r.json").predicate.source.repository.project, "sub");
    below(&["receipt", "verify", "r.json", "--allowed-signers", &allowed]).exits(0);
    let receipt = repository.verified("sub/r.json");
    assert!(receipt["refused"].as_str().is_some_and(|said| said.contains("of sub, and this is its top")), "{receipt}");
    // What is dirty below is seen by its name there.
    repository.context.file("sub/a.txt", "dirt\n");
    let ran = below(&["run", "--receipt", "r.json", "--sign", &key]);
    assert!(ran.exits(1).stdout.contains("without a: when the run began, a.txt differs"), "{}", ran.stdout);
}

#[test]
fn nothing_in_a_receipt_steers_a_terminal_or_is_run() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let mut payload = repository.payload("r.json");
    let evil = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}$(touch pwned)`touch pwned`\r\n::error::x";
    payload["predicate"]["checks"][0]["id"] = evil.into();
    payload["subject"][1]["name"] = format!("check/{evil}").into();
    payload["predicate"]["run"]["id"] = evil.into();
    payload["predicate"]["host"]["os_version"] = evil.into();
    payload["predicate"]["checks"][0]["findings"] =
        json!([{"kind": evil, "severity": "note", "message": evil, "allowed": evil}]);
    payload["predicate"]["left_out"] = json!([{"id": evil, "because": evil}]);
    repository.forge("r2.json", payload.to_string().as_bytes(), "mine");
    payload["_type"] = evil.into();
    repository.forge("r3.json", payload.to_string().as_bytes(), "mine");
    let steers = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    for file in ["r2.json", "r3.json"] {
        for form in [&["receipt", "show", file][..], &["receipt", "show", "--json", file]] {
            let ran = repository.context.hp(form);
            assert!(!ran.stdout.contains(steers) && !ran.stderr.contains(steers), "{}", ran.said());
        }
        let ran = repository.verify(&[file]);
        assert!(!ran.exits(1).stdout.contains(steers) && !ran.stderr.contains(steers), "{}", ran.said());
        assert!(!ran.stdout.contains("\n::error"), "{}", ran.stdout);
    }
    assert!(!repository.path("pwned").exists());
}

#[test]
fn a_statement_is_read_as_it_was_written() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let envelope = Envelope::parse(&fs::read(Path::new(&repository.path("r.json"))).expect("a receipt")).expect("one");
    let read = statement::parse(envelope.payload(), SystemTime::now()).expect("a statement");
    assert_eq!(read, repository.statement("r.json"));
    assert_eq!(statement::tree_of(&read), Some(read.predicate.source.start.tree.as_str()));
    assert!(statement::digest_of(&read, "a").is_some() && statement::digest_of(&read, "z").is_none());
}
