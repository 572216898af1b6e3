//! Receipts that are shared: clones of one bare repository, with real git and real keys.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hostproof::receipt::envelope::Envelope;
use hostproof::receipt::store::Store;
use serde_json::Value;

use crate::context::{Context, Ran};
use crate::receipts::{CHECKS, Repository, git, no_keygen, with_input};

const REF: &str = "refs/hostproof/receipts";
const AT_ORIGIN: &str = "refs/hostproof/remotes/origin/receipts";

/// How many each of two clones publishes at once.
const EACH: usize = 3;
/// How many lie in one ref.
const MANY: usize = 3000;

/// A repository with a bare one that it pushes to, and another clone of that.
struct Shared {
    first: Repository,
    second: Context,
    bare: tempfile::TempDir,
}

impl Shared {
    /// With a second commit, so that the first can stay when history changes.
    fn new() -> Self {
        let first = Repository::with(CHECKS);
        let bare = tempfile::tempdir().expect("a folder");
        bare_in(&first, bare.path());
        first.git(&["remote", "add", "origin", &bare.path().display().to_string()]);
        first.git(&["config", "gpg.ssh.allowedSignersFile", &first.key("allowed")]);
        first.context.file("readme", "x");
        first.commit("second");
        first.git(&["push", "-q", "origin", "main"]);
        let mut second = Context::new();
        second.env("HOME", first.keys.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        git(&second, &["clone", "-q", &bare.path().display().to_string(), "."]);
        git(&second, &["config", "gpg.ssh.allowedSignersFile", &first.key("allowed")]);
        Self { first, second, bare }
    }

    fn hp(&self, arguments: &[&str]) -> Ran {
        self.first.context.hp(arguments)
    }

    /// Runs the checks, and publishes what came of it.
    fn publish(&self, file: &str) -> String {
        self.first.run(file, &[]).exits(0);
        self.hp(&["receipt", "publish", file]).exits(0);
        digest(&self.first.path(file))
    }

    /// What git prints in the bare repository.
    fn at_origin(&self, arguments: &[&str]) -> String {
        let bare = self.bare.path().display().to_string();
        git(&self.first.context, &[&["-C", &bare][..], arguments].concat())
    }

    fn kept_at_origin(&self) -> usize {
        self.at_origin(&["ls-tree", "-r", "--name-only", REF]).lines().count()
    }

    /// Lets the bare repository run a hook.
    fn hook(&self, name: &str, script: &str) {
        let text = format!("#!/bin/sh\nset -e\nunset GIT_QUARANTINE_PATH\n{script}\n");
        let made = self.first.context.program("mended", &text);
        fs::rename(made, self.bare.path().join("hooks").join(name)).expect("a hook");
    }

    /// Brings what is at the origin to the other clone, and verifies one of them there.
    fn verified_elsewhere(&self, receipt: &str) -> (Value, Ran) {
        self.second.hp(&["receipt", "fetch"]).exits(0);
        let document = self.second.hp(&["receipt", "verify", "--json", receipt]);
        (serde_json::from_str(&document.stdout).expect("JSON"), self.second.hp(&["receipt", "verify", receipt]))
    }
}

/// Makes a bare repository, whose own upkeep after a push is no process that hostproof leaves.
fn bare_in(repository: &Repository, folder: &Path) {
    let folder = folder.display().to_string();
    repository.git(&["init", "-q", "--bare", "-b", "main", &folder]);
    repository.git(&["-C", &folder, "config", "receive.autogc", "false"]);
}

/// What names a receipt.
fn digest(file: &Path) -> String {
    Envelope::parse(&fs::read(file).expect("a receipt")).expect("an envelope").digest()
}

/// Makes receipts that differ in their run alone, unsigned.
fn variants(repository: &Repository, of: &str, count: usize) -> Vec<String> {
    let mut payload = repository.payload(of);
    let name = |index: usize| {
        payload["predicate"]["run"]["id"] = format!("run {index}").into();
        let envelope = Envelope::unsigned(payload.to_string().into_bytes());
        let name = format!("r-{index}.json");
        fs::write(repository.path(&name), envelope.to_json()).expect("a receipt");
        name
    };
    (0..count).map(name).collect()
}

/// Keeps bytes as git does, and names them.
fn blob(context: &Context, bytes: &[u8]) -> String {
    piped(context, &["hash-object", "-w", "--stdin"], bytes)
}

/// Makes a tree of the lines that `git ls-tree` prints.
fn tree(context: &Context, lines: &[String]) -> String {
    // Each line with its end, and nothing at all for the empty tree.
    let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
    piped(context, &["mktree"], text.as_bytes())
}

fn piped(context: &Context, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("git");
    context.dress(&mut command);
    let output = with_input(command.args(arguments), input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn sha256(bytes: &[u8]) -> String {
    let output = with_input(&mut Command::new("sha256sum"), bytes);
    String::from_utf8_lossy(&output.stdout).split_whitespace().next().expect("a digest").to_owned()
}

/// The tree with one envelope, named as it should be or by another digest.
fn tree_of_one(context: &Context, bytes: &[u8], digest: &str) -> String {
    let shard = tree(context, &[format!("100644 blob {}\t{digest}.json", blob(context, bytes))]);
    tree(context, &[format!("040000 tree {shard}\t{}", &digest[..2])])
}

fn commit_tree(context: &Context, tree: &str) -> String {
    git(context, &["commit-tree", tree, "-m", "by hand"])
}

#[test]
fn what_is_published_is_found_by_another_clone_after_a_rebase() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let digest = shared.publish("r.json");
    // Another history with the same inputs.
    git(&shared.second, &["commit", "-q", "--amend", "-m", "reworded"]);
    shared.second.file("unrelated", "");
    git(&shared.second, &["add", "unrelated"]);
    git(&shared.second, &["commit", "-q", "-m", "unrelated"]);
    let ran = shared.second.hp(&["receipt", "verify", &digest]);
    assert!(ran.exits(1).stdout.contains("hostproof receipt fetch brings"), "{}", ran.said());
    let ran = shared.second.hp(&["receipt", "fetch"]);
    assert_eq!(ran.exits(0).stdout, "1 new from origin, 1 in all\n");
    shared.second.hp(&["receipt", "verify", &digest[..12]]).exits(0);
    let shown = shared.second.hp(&["receipt", "show", &digest[..12]]);
    assert!(shown.exits(0).stdout.contains(&format!("digest  {digest}\n")), "{}", shown.stdout);
    let listed = shared.second.hp(&["receipt", "list"]);
    assert!(listed.exits(0).stdout.starts_with("kept here: 1 receipt, 0 revocations\n"), "{}", listed.stdout);
    assert!(listed.stdout.contains(&format!(" ok    {}  ", &digest[..12])), "{}", listed.stdout);
    // By its own name, as docs/receipts.md tells.
    let bytes = fs::read(shared.first.path("r.json")).expect("a receipt");
    let name = sha256(&bytes);
    let path = format!("{REF}:{}/{name}.json", &name[..2]);
    assert_eq!(git(&shared.second, &["show", &path]).as_bytes(), bytes.trim_ascii_end());
}

#[test]
fn clones_that_publish_at_once_lose_nothing() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.first.run("r.json", &[]).exits(0);
    let files = variants(&shared.first, "r.json", 2 * EACH);
    let running: Vec<_> = files
        .iter()
        .enumerate()
        .map(|(index, file)| {
            let context = if index % 2 == 0 { &shared.first.context } else { &shared.second };
            let path = shared.first.path(file).display().to_string();
            let mut command = context.command(&["receipt", "publish", &path]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
            (context, child)
        })
        .collect();
    for (context, child) in running {
        context.finish(child).exits(0);
    }
    assert_eq!(shared.kept_at_origin(), 2 * EACH);
    for context in [&shared.first.context, &shared.second] {
        context.hp(&["receipt", "fetch"]).exits(0);
        let listed = context.hp(&["receipt", "list"]);
        assert!(listed.stdout.starts_with("kept here: 6 receipts, 0 revocations\n"), "{}", listed.said());
    }
}

#[test]
fn who_comes_second_tries_again() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let theirs = shared.publish("r.json");
    let before = shared.at_origin(&["rev-parse", REF]);
    // What another clone pushes in the moment between fetch and push.
    let file = variants(&shared.first, "r.json", 1).remove(0);
    shared.second.hp(&["receipt", "publish", &shared.first.path(&file).display().to_string()]).exits(0);
    let after = shared.at_origin(&["rev-parse", REF]);
    shared.at_origin(&["update-ref", REF, &before]);
    shared.hook("pre-receive", &format!("test -e once || {{ >once; git update-ref {REF} {after}; }}"));
    shared.first.run("r2.json", &[]).exits(0);
    shared.hp(&["receipt", "publish", "r2.json"]).exits(0);
    assert!(shared.bare.path().join("once").exists());
    assert_eq!(shared.kept_at_origin(), 3);
    assert_eq!(shared.at_origin(&["merge-base", &after, REF]), after, "the other's commit comes before");
    shared.hp(&["receipt", "verify", &theirs]).exits(0);
}

#[test]
fn who_never_comes_first_is_told_so() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.publish("r.json");
    let who = "GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x";
    shared.hook(
        "pre-receive",
        &format!("echo x >>times; git update-ref {REF} $({who} git commit-tree {REF}: -p {REF} -m \"$$\")"),
    );
    shared.first.run("r2.json", &[]).exits(0);
    let ran = shared.hp(&["receipt", "publish", "r2.json"]);
    assert!(ran.exits(3).stderr.contains("others came first 20 times, try again: cannot push"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(shared.bare.path().join("times")).expect("a file").lines().count(), 20);
    // It is here, and goes with the next.
    fs::remove_file(shared.bare.path().join("hooks/pre-receive")).expect("the hook");
    shared.hp(&["receipt", "publish", "r.json"]).exits(0);
    assert_eq!(shared.kept_at_origin(), 2);
}

#[test]
fn a_remote_that_refuses_is_told_with_its_words_and_asked_once() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.hook("pre-receive", "echo x >>times; printf 'no receipts \\033[31mhere\\n' >&2; exit 1");
    shared.first.run("r.json", &[]).exits(0);
    let ran = shared.hp(&["receipt", "publish", "r.json"]);
    assert!(ran.exits(3).stderr.contains("no receipts here"), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'));
    assert!(ran.stderr.contains("and it is kept here alone"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(shared.bare.path().join("times")).expect("a file").lines().count(), 1);
    shared.first.git(&["remote", "set-url", "origin", "/nowhere"]);
    let ran = shared.hp(&["receipt", "fetch"]);
    assert!(ran.exits(3).stderr.contains("cannot fetch the receipts of origin: git says: "), "{}", ran.stderr);
}

#[test]
fn what_is_there_already_is_not_added_again() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.first.run("r.json", &[]).exits(0);
    let ran = shared.hp(&["receipt", "publish", "r.json"]);
    assert!(ran.exits(0).stdout.starts_with("published to origin; 1 in all\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("already") && ran.stdout.contains("receipt of 2 checks (green), signed with SHA256:"));
    let before = shared.at_origin(&["rev-parse", REF]);
    let ran = shared.hp(&["receipt", "publish", "r.json"]);
    assert!(ran.exits(0).stdout.contains("r.json, which was there already"), "{}", ran.stdout);
    assert_eq!(shared.at_origin(&["rev-parse", REF]), before);
    // Nor by a clone that has none of it yet.
    let path = shared.first.path("r.json").display().to_string();
    shared.second.hp(&["receipt", "publish", &path]).exits(0);
    assert_eq!(shared.at_origin(&["rev-parse", REF]), before);
    assert_eq!(git(&shared.second, &["rev-parse", REF]), before);
}

#[test]
fn what_is_no_receipt_is_not_published() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.first.run("r.json", &["--report", "report.json"]).exits(0);
    fs::write(shared.first.path("r2.json"), Envelope::unsigned(b"{\"a\": [".to_vec()).to_json()).expect("a file");
    for (file, why) in [
        ("report.json", "report.json: it is no DSSE envelope"),
        ("r2.json", "r2.json: it holds no receipt"),
        ("gone.json", "gone.json: it can't be read"),
        ("lib", "lib: it is a folder"),
    ] {
        let ran = shared.hp(&["receipt", "publish", "r.json", file]);
        assert!(ran.exits(2).stderr.contains(why), "{}", ran.stderr);
    }
    let ran = shared.hp(&["receipt", "publish", "r.json", "--remote", "upstream"]);
    let why = "this repository has no remote called upstream; it has origin: name one with --remote";
    assert!(ran.exits(2).stderr.contains(why), "{}", ran.stderr);
    assert_eq!(shared.first.git(&["for-each-ref", "refs/hostproof"]), "", "nothing was done by halves");
    assert_eq!(shared.hp(&["receipt", "fetch"]).exits(0).stdout, "origin has no receipts\n");
    // One that nobody vouches for is told of.
    shared.hp(&["run", "--receipt", "r3.json", "--unsigned"]).exits(0);
    let ran = shared.hp(&["receipt", "publish", "r3.json"]);
    assert!(ran.exits(0).stdout.contains("unsigned: nobody vouches for it   r3.json"), "{}", ran.stdout);
}

#[test]
fn without_a_remote_they_are_kept_here() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let publish = |more: &[&str]| repository.context.hp(&[&["receipt", "publish", "r.json"][..], more].concat());
    assert!(publish(&[]).exits(2).stderr.contains("this repository has no remote"));
    let ran = publish(&["--no-push"]);
    assert!(ran.exits(0).stdout.starts_with("kept in refs/hostproof/receipts; 1 in all\n"), "{}", ran.stdout);
    assert!(repository.context.hp(&["receipt", "list"]).exits(0).stdout.starts_with("kept here: 1 receipt"));
    // It goes with the next that is pushed.
    let bare = tempfile::tempdir().expect("a folder");
    bare_in(&repository, bare.path());
    repository.git(&["remote", "add", "elsewhere", &bare.path().display().to_string()]);
    repository.run("r2.json", &[]).exits(0);
    let ran = repository.context.hp(&["receipt", "publish", "r2.json"]);
    assert!(ran.exits(0).stdout.starts_with("published to elsewhere; 2 in all\n"), "{}", ran.stdout);
    let outside = Context::new();
    for command in ["publish", "revoke"] {
        let ran = outside.hp(&["receipt", command, "r.json"]);
        assert!(ran.exits(2).stderr.contains("is in no git repository"), "{}", ran.stderr);
    }
}

#[test]
fn nothing_of_the_work_is_touched() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.first.run("r.json", &[]).exits(0);
    shared.first.context.file("a.txt", "staged\n");
    shared.first.git(&["add", "a.txt"]);
    shared.first.context.file("lib/b.txt", "not staged\n");
    // It is no push of a branch: what is to be seen to before one has no say.
    shared.first.context.program(".git/hooks/pre-push", "#!/bin/sh\nexit 1\n");
    let state = |context: &Context| {
        let seen: [&[&str]; 4] = [
            &["status", "--porcelain"],
            &["ls-files", "--stage"],
            &["rev-parse", "HEAD"],
            &["for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"],
        ];
        let fetched = context.project().join(".git/FETCH_HEAD").exists();
        (seen.map(|arguments| git(context, arguments)), fetched)
    };
    let before = (state(&shared.first.context), state(&shared.second));
    // From a folder of it, under a git that says it is elsewhere: as a hook of another repository.
    let mut command = shared.first.context.command(&["receipt", "publish", "../r.json"]);
    command.current_dir(shared.first.path("lib")).env("GIT_DIR", "/nowhere").env("GIT_INDEX_FILE", "/nowhere");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
    shared.first.context.finish(child).exits(0);
    shared.second.hp(&["receipt", "fetch"]).exits(0);
    let digest = digest(&shared.first.path("r.json"));
    shared.hp(&["receipt", "revoke", &digest, "--sign", &shared.first.key("mine")]).exits(0);
    assert_eq!((state(&shared.first.context), state(&shared.second)), before);
    assert_eq!(shared.kept_at_origin(), 2);
}

#[test]
fn plain_git_fetches_and_pushes_them() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.first.run("r.json", &[]).exits(0);
    shared.hp(&["receipt", "publish", "r.json", "--no-push"]).exits(0);
    shared.first.git(&["push", "-q", "origin", REF]);
    git(
        &shared.second,
        &["config", "--add", "remote.origin.fetch", "+refs/hostproof/*:refs/hostproof/remotes/origin/*"],
    );
    git(&shared.second, &["fetch", "-q"]);
    let digest = digest(&shared.first.path("r.json"));
    shared.second.hp(&["receipt", "verify", &digest]).exits(0);
    assert_eq!(git(&shared.second, &["for-each-ref", "--format=%(refname)", "refs/hostproof"]), AT_ORIGIN);
}

#[test]
fn what_was_taken_away_elsewhere_is_not_lost_here() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let first = shared.publish("r.json");
    shared.second.hp(&["receipt", "fetch"]).exits(0);
    shared.at_origin(&["update-ref", "-d", REF]);
    shared.hp(&["receipt", "fetch"]).exits(0);
    shared.first.git(&["update-ref", "-d", REF]);
    let second = shared.publish("r2.json");
    assert_eq!(shared.kept_at_origin(), 1);
    shared.second.hp(&["receipt", "fetch"]).exits(0);
    shared.second.hp(&["receipt", "verify", &first, &second]).exits(0);
    // Of no common commit, and pushed all the same.
    shared.second.hp(&["receipt", "publish", &shared.first.path("r.json").display().to_string()]).exits(0);
    assert_eq!(shared.kept_at_origin(), 2);
}

#[test]
fn a_revocation_is_seen_by_the_other_clone_however_the_receipt_is_encoded() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let digest = shared.publish("r.json");
    let path = shared.first.path("r.json").display().to_string();
    let (document, ran) = shared.verified_elsewhere(&digest);
    assert_eq!(document["receipts"][0]["digest"], digest.as_str(), "{}", ran.exits(0).stdout);
    let key = shared.first.key("mine");
    let because = "its disk\u{1b}[31m was failing";
    let ran = shared.hp(&["receipt", "revoke", "r.json", "--because", because, "--sign", &key]);
    let answer = format!("revocation of {digest}, signed with SHA256:");
    assert!(ran.exits(0).stdout.contains(&answer) && !ran.stdout.contains("note:"), "{}", ran.said());
    // The same in another encoding, with another signature, and published again.
    let mut envelope: Value = serde_json::from_slice(&fs::read(&path).expect("a receipt")).expect("JSON");
    envelope["more"] = true.into();
    fs::write(shared.first.path("r2.json"), envelope.to_string()).expect("a receipt");
    let payload = shared.first.payload("r.json").to_string();
    shared.first.forge("r3.json", payload.as_bytes(), "mine");
    shared.hp(&["receipt", "publish", "r2.json", "r.json"]).exits(0);
    for receipt in [digest.clone(), path, shared.first.path("r2.json").display().to_string()] {
        let (document, ran) = shared.verified_elsewhere(&receipt);
        let said = format!("it is revoked by {} (SHA256:", crate::receipts::WHO);
        assert!(ran.exits(1).stdout.contains(&said) && ran.stdout.contains("its disk was failing"), "{}", ran.stdout);
        assert!(!ran.stdout.contains('\u{1b}'));
        let receipt = &document["receipts"][0];
        assert_eq!(receipt["revoked_by"]["because"], because);
        assert_eq!((&receipt["ok"], &receipt["checks"]), (&false.into(), &serde_json::json!([])));
        assert!(receipt["revoked_by"]["file"].as_str().is_some_and(|file| file.starts_with(REF)), "{receipt}");
    }
    let listed = shared.second.hp(&["receipt", "list"]);
    assert!(listed.stdout.starts_with("kept here: 2 receipts, 1 revocation\n"), "{}", listed.stdout);
    assert!(listed.stdout.contains(&format!("takes {} back: its disk was failing, signed", &digest[..12])));
    assert!(listed.stdout.contains(", and a revocation names it"), "{}", listed.stdout);
    // Another run is another receipt.
    let again = shared.publish("r4.json");
    assert_ne!(again, digest);
    let (_, ran) = shared.verified_elsewhere(&again);
    ran.exits(0);
}

#[test]
fn a_revoked_red_receipt_contradicts_nothing() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with("- {id: a, shell: 'test -e mended', covers: [a.txt]}");
    repository.run("r1.json", &[]).exits(1);
    repository.context.file("mended", "");
    repository.run("r2.json", &[]).exits(0);
    repository.verify(&["r2.json", "r1.json"]).exits(1).stdout.contains("says otherwise");
    let key = repository.key("mine");
    repository.context.hp(&["receipt", "revoke", "r1.json", "--sign", &key, "--no-push"]).exits(0);
    let ran = repository.verify(&["r2.json", "r1.json"]);
    assert!(ran.exits(1).stdout.contains(": 1 of 2\n") && !ran.stdout.contains("says otherwise"), "{}", ran.stdout);
}

#[test]
fn a_strangers_revocation_counts_for_nothing_and_is_told() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let digest = shared.publish("r.json");
    let ran = shared.hp(&["receipt", "revoke", &digest, "--sign", &shared.first.key("other")]);
    let note = "note: it counts for nothing with those who are allowed to sign here: it is signed with SHA256:";
    assert!(ran.exits(0).stdout.contains(note), "{}", ran.stdout);
    // One that nobody signed, and one that was changed after it was.
    let key = shared.first.key("mine");
    shared.hp(&["receipt", "revoke", &digest, "--sign", &key, "--output", "r2.json"]).exits(0);
    let signed = Envelope::parse(&fs::read(shared.first.path("r2.json")).expect("a file")).expect("an envelope");
    let mut broken = Envelope::unsigned([signed.payload(), b" "].concat());
    fs::write(shared.first.path("r3.json"), broken.to_json()).expect("a file");
    broken.add(signed.signatures()[0].clone());
    fs::write(shared.first.path("r4.json"), broken.to_json()).expect("a file");
    shared.hp(&["receipt", "publish", "r3.json", "r4.json"]).exits(0);
    let (document, ran) = shared.verified_elsewhere(&digest);
    assert!(ran.exits(0).stdout.contains("not taken into account:\n"), "{}", ran.stdout);
    for why in ["it is not signed", "its signature does not hold", "which is no key of an allowed signer"] {
        assert!(ran.stdout.contains(why), "{why}: {}", ran.stdout);
    }
    assert_eq!(document["disregarded"].as_array().map(Vec::len), Some(3), "{document}");
    // Signed by one who may, and no revocation that can be read.
    let mut payload: Value = serde_json::from_slice(signed.payload()).expect("JSON");
    payload["subject"][0]["digest"]["sha256"] = "x".into();
    shared.first.forge("r5.json", payload.to_string().as_bytes(), "mine");
    let ran = shared.hp(&["receipt", "publish", "r5.json"]);
    assert!(ran.exits(2).stderr.contains("its subject receipt is no receipt"), "{}", ran.stderr);
    let ran = shared.first.verify(&["--json", "r.json", "r5.json"]);
    let why = "it is signed by me@example.org, and its subject receipt is no receipt";
    assert!(ran.exits(1).stdout.contains(why), "{}", ran.stdout);
    // The one that counts, as a file.
    let ran = shared.first.verify(&["r.json", "r2.json"]);
    assert!(ran.exits(1).stdout.contains("good for commit") && ran.stdout.contains(": 0 of 1\n"), "{}", ran.stdout);
    // It is none for whoever believes others.
    shared.first.allow(&["other"], "");
    assert!(shared.first.verify(&["r.json", "r2.json"]).exits(1).stdout.contains("signed with SHA256:"));
}

#[test]
fn what_is_revoked_is_named_by_its_file_or_digest() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let digest = shared.publish("r.json");
    let key = shared.first.key("mine");
    let revoke =
        |receipt: &str, more: &[&str]| shared.hp(&[&["receipt", "revoke", receipt, "--sign", &key][..], more].concat());
    for (receipt, why) in [
        (&digest[..5], "it can't be read"),
        ("abcdef012345", "no receipt that is kept here has a digest that begins so"),
        ("lib", "it is a folder"),
    ] {
        assert!(revoke(receipt, &[]).exits(2).stderr.contains(why), "{receipt}");
    }
    // One that is not kept here, by its whole digest.
    let elsewhere = "ab".repeat(32);
    let ran = revoke(&elsewhere, &["--no-push"]);
    assert!(ran.exits(0).stdout.contains(&format!("revocation of {elsewhere}")), "{}", ran.stdout);
    let ran = revoke(&digest[..6], &["--output", "r2.json"]);
    assert!(ran.exits(0).stdout.contains(", in r2.json"), "{}", ran.stdout);
    assert_eq!(shared.first.payload("r2.json")["subject"][0]["digest"]["sha256"], digest.as_str());
    let schema: Value = serde_json::from_str(&shared.hp(&["schema", "revocation"]).stdout).expect("a schema");
    crate::schema::fits(&shared.first.payload("r2.json"), &schema, &schema, "revocation").expect("as the schema says");
    assert_eq!(shared.kept_at_origin(), 1, "neither was published");
    assert!(revoke("r2.json", &[]).exits(2).stderr.contains("it is a revocation, which nobody can take back"));
    let shown = shared.hp(&["receipt", "show", "r2.json"]);
    assert!(shown.exits(0).stdout.starts_with("revocation of a receipt\n"), "{}", shown.stdout);
    // Plain ssh-keygen checks it like a receipt.
    let form = |form: &str| shared.hp(&["receipt", "show", "r2.json", form]).exits(0).stdout.clone();
    fs::write(shared.first.key("sig"), form("--signature")).expect("a signature");
    let mut command = Command::new("ssh-keygen");
    let arguments = ["-Y", "verify", "-n", "hostproof-receipt", "-I", crate::receipts::WHO, "-f"];
    command.args(arguments).arg(shared.first.key("allowed")).arg("-s").arg(shared.first.key("sig"));
    assert!(with_input(&mut command, form("--pae").as_bytes()).status.success());
    let ran = shared.hp(&["receipt", "revoke", "r.json", "--sign", "no-such-key"]);
    assert!(ran.exits(2).stderr.contains("does not sign"), "{}", ran.stderr);
}

#[test]
fn whatever_lies_among_receipts_is_passed_over_and_told() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let digest = shared.publish("r.json");
    let there = &shared.first.context;
    let bytes = fs::read(shared.first.path("r.json")).expect("a receipt");
    let name = sha256(&bytes);
    let good = blob(there, &bytes);
    let large = vec![b' '; 17 << 20];
    let empty = tree(there, &[]);
    // Folders in folders, and one that has ten of itself ten times over.
    let deep = (0..300).fold(empty.clone(), |inner, _| tree(there, &[format!("040000 tree {inner}\tin")]));
    let bomb = (0..12).fold(good.clone(), |inner, level| {
        let kind = if level == 0 { "100644 blob" } else { "040000 tree" };
        tree(there, &(0..10).map(|index| format!("{kind} {inner}\t{index}")).collect::<Vec<_>>())
    });
    let lie = format!("aa{}", "0".repeat(62));
    let commit = there.project().display().to_string();
    let commit = git(there, &["-C", &commit, "rev-parse", "HEAD"]);
    let folder = tree(
        there,
        &[
            format!("100644 blob {good}\t{lie}.json"),
            format!("120000 blob {good}\taa{}.json", "1".repeat(62)),
            format!("160000 commit {commit}\taa{}.json", "2".repeat(62)),
            format!("100644 blob {}\taa{}.json", blob(there, &large), "3".repeat(62)),
            format!("100644 blob {good}\t{name}.json.json"),
            format!("040000 tree {bomb}\taa{}.json", "4".repeat(62)),
            format!("100644 blob {good}\t\u{1b}]0;title\u{7}\u{1b}[31mred"),
        ],
    );
    let root = tree(
        there,
        &[
            format!("040000 tree {folder}\taa"),
            format!("040000 tree {bomb}\tbb"),
            format!("040000 tree {deep}\tcc"),
            format!("040000 tree {}\t{}", tree(there, &[format!("100644 blob {good}\t{name}.json")]), &name[..2]),
            format!("040000 tree {bomb}\tAA"),
            format!("100644 blob {good}\t.gitattributes"),
            format!("120000 blob {good}\tdd"),
        ],
    );
    assert!(!["aa", "bb", "cc"].contains(&&name[..2]), "a digest of one in 85 would need other names");
    let commit = commit_tree(there, &root);
    shared.first.git(&["push", "-q", "-f", "origin", &format!("{commit}:{REF}")]);
    let fetched = shared.second.hp(&["receipt", "fetch"]);
    assert!(fetched.exits(0).stdout.contains("of what origin has there are passed over"), "{}", fetched.stdout);
    let listed = shared.second.hp(&["receipt", "list"]);
    assert!(listed.exits(0).stdout.starts_with("kept here: 1 receipt, 0 revocations\n"), "{}", listed.stdout);
    assert!(!listed.stdout.contains('\u{1b}') && !listed.stdout.contains('\u{7}'), "{}", listed.stdout);
    for (file, why) in [
        (&*lie, "its content is not the one that its name says"),
        (&"1".repeat(62), "it is a symbolic link"),
        (&"2".repeat(62), "it is a submodule"),
        (&"3".repeat(62), "it is larger than 16 MiB"),
        (".json.json", "it is not named by a digest"),
        (&"4".repeat(62), "it is a folder"),
        ("red", "it is not named by a digest"),
        (":bb/7", "it is a folder"),
        (":cc/in", "it is a folder"),
        (":AA", "it is a folder"),
        (":.gitattributes", "it is not named by a digest"),
        (":dd", "it is a symbolic link"),
    ] {
        let is_told = |line: &str| line.starts_with("passed over: ") && line.contains(file) && line.ends_with(why);
        assert!(listed.stdout.lines().any(is_told), "{file}: {}", listed.stdout);
    }
    let (document, ran) = shared.verified_elsewhere(&digest);
    assert!(ran.exits(0).stdout.contains("    and "), "{}", ran.stdout);
    assert!(document["disregarded"].as_array().is_some_and(|told| told.len() > 12), "{document}");
    assert_eq!(git(&shared.second, &["status", "--porcelain"]), "", "nothing was checked out");
    // The next that is published has none of it, but for what only its content tells.
    shared.publish("r2.json");
    let names = shared.at_origin(&["ls-tree", "-r", "-t", "--name-only", REF]);
    assert_eq!(names.matches(".json").count(), 3, "{names}");
    assert!(!names.contains("AA") && !names.contains("cc/in"), "{names}");
}

#[test]
fn a_lie_does_not_displace_what_it_is_called_by() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    shared.first.run("r.json", &[]).exits(0);
    let bytes = fs::read(shared.first.path("r.json")).expect("a receipt");
    let (name, digest) = (sha256(&bytes), digest(&shared.first.path("r.json")));
    for lie in [&b"{}"[..], b"[]"] {
        let commit = commit_tree(&shared.first.context, &tree_of_one(&shared.first.context, lie, &name));
        shared.first.git(&["push", "-q", "-f", "origin", &format!("{commit}:{REF}")]);
        shared.second.hp(&["receipt", "fetch"]).exits(0);
        // Neither of two lies stays, and the truth goes before both.
        shared.hp(&["receipt", "publish", "r.json"]).exits(0);
        let (_, ran) = shared.verified_elsewhere(&digest);
        ran.exits(0);
        assert_eq!(shared.kept_at_origin(), 1);
    }
}

#[test]
fn thousands_are_read_and_more_than_can_be_are_told() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let digest = shared.publish("r.json");
    let there = &shared.first.context;
    let folder = tempfile::tempdir().expect("a folder");
    let contents: Vec<String> = (0..MANY).map(|index| format!("{{\"number\": {index}}}")).collect();
    let files: Vec<PathBuf> = (0..MANY).map(|index| folder.path().join(index.to_string())).collect();
    for (file, content) in files.iter().zip(&contents) {
        fs::write(file, content).expect("a file");
    }
    let list: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let objects = piped(there, &["hash-object", "-w", "--stdin-paths"], list.join("\n").as_bytes());
    let mut sums = Command::new("sha256sum");
    let sums = with_input(sums.args(&files), b"").stdout;
    let sums = String::from_utf8(sums).expect("text");
    let mut shards = std::collections::BTreeMap::<&str, Vec<String>>::new();
    for (object, sum) in objects.lines().zip(sums.lines()) {
        shards.entry(&sum[..2]).or_default().push(format!("100644 blob {object}\t{}.json", &sum[..64]));
    }
    let root: Vec<String> =
        shards.into_iter().map(|(name, lines)| format!("040000 tree {}\t{name}", tree(there, &lines))).collect();
    let commit = commit_tree(there, &tree(there, &root));
    shared.first.git(&["update-ref", REF, &commit]);
    let store = Store::open(there.project()).expect("a store");
    assert_eq!(store.documents().expect("documents").iter().filter(|one| one.bytes.is_ok()).count(), MANY);
    shared.hp(&["receipt", "publish", "r.json"]).exits(0);
    assert_eq!(shared.kept_at_origin(), MANY + 1);
    let (_, ran) = shared.verified_elsewhere(&digest);
    ran.exits(0);
    // One more than are read.
    let object = blob(there, b"{}");
    let lines: Vec<String> = (0..=20_000).map(|index| format!("100644 blob {object}\taa{index:062x}.json")).collect();
    let commit = commit_tree(there, &tree(there, &[format!("040000 tree {}\taa", tree(there, &lines))]));
    shared.first.git(&["push", "-q", "-f", "origin", &format!("{commit}:{REF}")]);
    let ran = shared.second.hp(&["receipt", "fetch"]);
    let why = "the receipts of origin can't be read: it has more than 20000 entries";
    assert!(ran.exits(3).stderr.contains(why), "{}", ran.stderr);
    // Then it is not known what is revoked.
    let ran = shared.second.hp(&["receipt", "verify", &digest]);
    assert!(ran.exits(3).stderr.contains("it has more than 20000 entries"), "{}", ran.stderr);
}

#[test]
fn a_damaged_ref_is_told_and_the_remedy_mends_it() {
    if no_keygen() {
        return;
    }
    let shared = Shared::new();
    let digest = shared.publish("r.json");
    let here = &shared.first.context;
    let file = here.project().join(".git").join(REF);
    let whole = fs::read_to_string(&file).expect("a ref");
    let blob = blob(here, b"no commit");
    let key = shared.first.key("mine");
    let remedy = "git update-ref -d refs/hostproof/receipts, and then hostproof receipt fetch";
    for (content, why, remedy) in [
        ("garbage\n", "ignoring broken ref", "remove the file of its name"),
        ("0123456789012345678901234567890123456789\n", "git knows no commit called 0123456789", remedy),
        (&*format!("{blob}\n"), "git knows no commit called", remedy),
    ] {
        fs::write(&file, content).expect("a ref");
        for arguments in [
            &["receipt", "list"][..],
            &["receipt", "publish", "r.json"],
            &["receipt", "fetch"],
            &["receipt", "verify", "r.json"],
            &["receipt", "revoke", &digest[..8], "--sign", &key],
        ] {
            let ran = here.hp(arguments);
            let is_told = ran.stderr.contains(why) && ran.stderr.contains(remedy);
            assert!(matches!(ran.code, Some(2 | 3)) && is_told, "{arguments:?}: {}", ran.said());
        }
        if content == "garbage\n" {
            fs::remove_file(&file).expect("a ref");
        } else {
            shared.first.git(&["update-ref", "-d", REF]);
        }
        here.hp(&["receipt", "fetch"]).exits(0);
        assert_eq!(fs::read_to_string(&file).expect("a ref"), whole);
    }
    // An object that is gone, and one that is not what it was.
    let name = sha256(&fs::read(shared.first.path("r.json")).expect("a receipt"));
    let object = shared.first.git(&["rev-parse", &format!("{REF}:{}/{name}.json", &name[..2])]);
    let object = here.project().join(".git/objects").join(&object[..2]).join(&object[2..]);
    let content = fs::read(&object).expect("an object");
    fs::remove_file(&object).expect("an object");
    let ran = here.hp(&["receipt", "list"]);
    assert!(ran.exits(0).stdout.contains("passed over: ") && ran.stdout.contains("git does not have its content"));
    let middle = content.len() / 2;
    fs::write(&object, [&content[..middle], b"garbage"].concat()).expect("an object");
    let ran = here.hp(&["receipt", "list"]);
    assert!(ran.exits(3).stderr.contains(remedy), "{}", ran.said());
    // At the remote.
    fs::write(&object, content).expect("an object");
    let commit = commit_tree(here, &tree_of_one(here, b"{}", &"a".repeat(64)));
    shared.first.git(&["push", "-q", "-f", "origin", &format!("{commit}^{{tree}}:{REF}")]);
    let ran = shared.second.hp(&["receipt", "fetch"]);
    let remedy = format!("git push origin --delete {REF}, and then hostproof receipt publish");
    assert!(ran.exits(3).stderr.contains(&remedy), "{}", ran.stderr);
    shared.first.git(&["push", "-q", "origin", "--delete", REF]);
    here.hp(&["receipt", "publish", "r.json"]).exits(0);
    let (_, ran) = shared.verified_elsewhere(&digest);
    ran.exits(0);
}

#[test]
fn folders_of_files_are_a_store_too() {
    if no_keygen() {
        return;
    }
    let repository = Repository::with(CHECKS);
    repository.run("r.json", &[]).exits(0);
    let bytes = fs::read(repository.path("r.json")).expect("a receipt");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    };
    file("linux/receipt.json", &bytes);
    file("linux/readme.txt", b"");
    file("windows/large.json", &vec![b' '; 17 << 20]);
    std::os::unix::fs::symlink("receipt.json", folder.path().join("linux/z.json")).expect("a link");
    std::os::unix::fs::symlink("/", folder.path().join("linux/root")).expect("a link");
    let open = || Store::open(repository.context.project()).expect("a store").and(folder.path());
    let documents = open().expect("a folder").documents().expect("documents");
    let from: Vec<&str> =
        documents.iter().map(|one| one.from.trim_start_matches(folder.path().to_str().expect("text"))).collect();
    assert_eq!(from, ["/linux/receipt.json", "/linux/z.json", "/windows/large.json"]);
    assert_eq!(documents[0].digest, sha256(&bytes));
    assert!(documents[1].bytes.as_ref().is_err_and(|why| why.contains("a symbolic link")));
    assert!(documents[2].envelope().is_err_and(|why| why.contains("larger than 16 MiB")));
    file("a/b/c/d/e.json", &bytes);
    assert!(open().is_err_and(|error| error.to_string().contains("nested more than 4 folders deep")));
    let store = Store::open(repository.context.project()).expect("a store");
    assert!(store.and(Path::new("/nowhere")).is_err());
}
