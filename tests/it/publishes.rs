//! `publishes`: what is named there must appear whole.

use hostproof::model::{Finding, Kind, Severity, Verdict};

use crate::context::{Context, errors, of_kind, skip, works};

/// Runs a script as a check that publishes `state/*.json`, and returns what was found, as words, with who did it.
fn published(language: &str, script: &str) -> Vec<(Severity, String, String)> {
    let context = Context::new();
    context.file("publish", script);
    context.checks(&format!(
        "- {{id: publish, cwd: sandbox, run: [{language}, $project/publish], publishes: ['state/*.json']}}"
    ));
    let ran = context.hp(&["run"]);
    let check = ran.only();
    assert_eq!(of_kind(check, Kind::ProbeBlind), Vec::<&Finding>::new(), "{}", ran.said());
    let found = of_kind(check, Kind::TornPublish);
    let red = found.iter().any(|finding| finding.severity == Severity::Error);
    assert_eq!(check.verdict, if red { Verdict::Failed } else { Verdict::Passed }, "{}", ran.said());
    let who = |finding: &Finding| finding.process.as_ref().map(|process| process.argv.join(" ")).unwrap_or_default();
    found.into_iter().map(|finding| (finding.severity, finding.message.clone(), who(finding))).collect()
}

#[track_caller]
fn assert_torn(language: &str, script: &str, how: &str, who: &str) {
    let found = published(language, script);
    let [(Severity::Error, message, writer)] = &found[..] else { panic!("{script}\n{found:?}") };
    assert!(message.starts_with(&format!("work/state/a.json was {how}")), "{script}\n{message}");
    assert!(writer.contains(who), "{script}\n{writer}");
}

#[track_caller]
fn assert_whole(language: &str, script: &str) {
    assert_eq!(published(language, script), [], "{script}");
}

/// The folder is made by the check itself, so each script is a race for whoever watches.
const PYTHON: &str = "import os, shutil, subprocess, sys, tempfile\nos.makedirs('state')\n";

#[test]
fn what_is_made_or_changed_in_place_is_torn() {
    for (script, how) in [
        ("open('state/a.json', 'w').write('x')", "made in place"),
        ("open('state/a.json', 'x').write('x')", "made in place"),
        ("open('d', 'w').write('x'); shutil.copy('d', 'state/a.json')", "made in place"),
        // Empty, and replaced by the whole file: a reader was there before.
        (
            "open('state/a.json', 'w').close()\nopen('d', 'w').write('x')\nos.replace('d', 'state/a.json')",
            "made in place",
        ),
        // Made, and open to the end.
        ("f = open('state/a.json', 'w')\nos._exit(0)", "made in place"),
        (
            "open('d', 'w').write('x'); os.replace('d', 'state/a.json')\nopen('state/a.json', 'w').write('y')",
            "renamed into place",
        ),
    ] {
        assert_torn("python3", &format!("{PYTHON}{script}\n"), how, "publish");
    }
    let early = "f = open('state/d', 'w')\nf.write('x')\nf.flush()\nos.replace('state/d', 'state/a.json')\n\
                 f.write('y')\nf.flush()\nos.fsync(f.fileno())\n";
    assert_torn("python3", &format!("{PYTHON}{early}"), "renamed into place and then written to", "publish");
}

#[test]
fn the_child_that_wrote_is_named_however_short_it_lived() {
    assert_torn("sh", "mkdir state; echo x > d; cp d state/a.json\n", "made in place", "cp d state/a.json");
    assert_torn("sh", "mkdir -p state; echo x > state/a.json; echo\n", "made in place", "sh ");
    assert_torn("sh", "mkdir state; echo x | tee state/a.json\n", "made in place", "tee state/a.json");
    assert_torn("sh", "mkdir state; (cd state; python3 -c \"open('a.json', 'w')\")\n", "made in place", "python3 -c");
    if works(&["node", "--version"]) {
        let script = "const fs = require('fs'); fs.mkdirSync('state'); fs.writeFileSync('state/a.json', 'x');\n";
        assert_torn("node", script, "made in place", "node");
        let script = "const fs = require('fs'); fs.mkdirSync('state'); fs.writeFileSync('state/a.json.tmp', 'x');\n\
                      fs.renameSync('state/a.json.tmp', 'state/a.json');\n";
        assert_whole("node", script);
    } else {
        skip("node is not there");
    }
}

#[test]
fn what_is_renamed_or_linked_into_place_is_whole() {
    for script in [
        "open('state/d', 'w').write('x'); os.replace('state/d', 'state/a.json')",
        "open('d', 'w').write('x'); os.replace('d', 'state/a.json')",
        "open('d', 'w').write('x'); os.link('d', 'state/a.json'); os.unlink('d')",
        "open('d', 'w').write('x'); os.symlink('../d', 'state/a.json')",
        "for n in range(50):\n  open('state/d', 'w').write('x'); os.replace('state/d', 'state/a.json')",
        // Others are nobody's business.
        "open('state/a.txt', 'w').write('x'); open('a.json', 'w').write('x'); os.makedirs('x/state')\n\
         open('x/state/a.json', 'w').write('x')",
        // Readers change nothing.
        "open('d', 'w').write('x'); os.replace('d', 'state/a.json')\nopen('state/a.json').read()",
        // With the folder.
        "os.mkdir('new'); open('new/a.json', 'w').write('x'); os.rmdir('state'); os.rename('new', 'state')",
        "f = tempfile.NamedTemporaryFile('w', dir='state', delete=False); f.write('x'); f.close()\n\
         os.replace(f.name, 'state/a.json')",
    ] {
        assert_whole("python3", &format!("{PYTHON}{script}\n"));
    }
    assert_whole("sh", "mkdir state; echo x > state/.d; mv state/.d state/a.json; mv state/a.json state/b.json\n");
}

#[test]
fn a_moment_without_the_file_is_a_note() {
    let script = "def put():\n  open('d', 'w').write('x'); os.rename('d', 'state/a.json')\n\
                  put(); os.unlink('state/a.json'); put()\n";
    let found = published("python3", &format!("{PYTHON}{script}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0 == Severity::Note && found[0].1.contains("was removed before its successor"), "{found:?}");
}

#[test]
fn globs_lead_to_folders_that_come_and_go() {
    let context = Context::new();
    context.file(
        "publish.py",
        "import os\nfor name in 'ab':\n  os.makedirs(os.environ['TMPDIR'] + f'/{name}/x/state')\n  \
         open(os.environ['TMPDIR'] + f'/{name}/x/state/p', 'w').write('x')\n\
         os.makedirs('deep/er')\nopen('deep/er/f.pid', 'w').write('1')\n",
    );
    context.checks(
        "- {id: a, cwd: sandbox, run: [python3, $project/publish.py], publishes: ['$sandbox/tmp/*/x/state/?']}\n\
         - {id: b, cwd: sandbox, run: [python3, $project/publish.py], publishes: ['**/*.pid']}",
    );
    let ran = context.hp(&["run"]);
    let paths = |id: &str| {
        let found = of_kind(ran.check(id), Kind::TornPublish);
        found.iter().filter_map(|finding| finding.path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(paths("a"), ["tmp/a/x/state/p", "tmp/b/x/state/p"], "{}", ran.said());
    assert_eq!(paths("b"), ["work/deep/er/f.pid"], "{}", ran.said());
}

#[test]
fn a_published_file_of_the_project_may_be_there_before() {
    let context = Context::new();
    context.file(".claude/state/cache.json", "old");
    context.file("publish.py", "open('.claude/state/cache.json', 'w').write('new')\n");
    context.file("right.py", "import os\nopen('.claude/state/d', 'w').write('n')\nos.replace('.claude/state/d', '.claude/state/cache.json')\n");
    let publishes = "publishes: ['.claude/state/*.json']";
    context.checks(&format!(
        "- {{id: torn, run: [python3, publish.py], {publishes}, lock: [a]}}\n\
         - {{id: whole, run: [python3, right.py], {publishes}, lock: [a]}}\n\
         - {{id: reads, run: [cat, .claude/state/cache.json], {publishes}, lock: [a]}}"
    ));
    let ran = context.hp(&["run"]);
    assert_eq!(errors(ran.check("torn")), ["torn-publish"], "{}", ran.said());
    let found = of_kind(ran.check("torn"), Kind::TornPublish);
    assert!(found[0].message.starts_with(".claude/state/cache.json was changed in place by pid"), "{}", ran.said());
    for id in ["whole", "reads"] {
        assert_eq!(ran.check(id).findings, [], "{}", ran.said());
    }
}

#[test]
fn two_at_once_are_told_apart() {
    let context = Context::new();
    context.file("w.py", "import os, sys\nos.makedirs('state')\nopen('state/a', 'w').write('x')\n");
    context.file("r.py", "import os\nos.makedirs('state')\nopen('d', 'w').write('x')\nos.replace('d', 'state/a')\n");
    let check = |number: usize, script: &str| {
        format!(
            "- {{id: {script}{number}, cwd: sandbox, run: [python3, $project/{script}.py], publishes: ['state/a']}}\n"
        )
    };
    let checks: String = (0..8).flat_map(|number| [check(number, "w"), check(number, "r")]).collect();
    context.checks(&checks);
    let ran = context.hp(&["run", "--jobs", "8"]);
    for check in &ran.report().checks {
        let expected: &[&str] = if check.id.starts_with('w') { &["torn-publish"] } else { &[] };
        assert_eq!(errors(check), expected, "{}", ran.said());
        assert_eq!(of_kind(check, Kind::ProbeBlind), Vec::<&Finding>::new(), "{}", ran.said());
    }
}

#[test]
fn by_windows_rules_the_same_is_seen() {
    let context = Context::new();
    context.file("w.py", format!("{PYTHON}open('state/a', 'w').write('x')\nos.mkdir('e'); os.rmdir('e')\n"));
    context.checks("- {id: w, cwd: sandbox, as: windows, run: [python3, $project/w.py], publishes: ['state/a']}");
    let ran = context.hp(&["run"]);
    assert_eq!(errors(ran.only()), ["torn-publish"], "{}", ran.said());
}

#[test]
fn what_can_match_nothing_is_refused_and_what_is_meant_is_allowed() {
    let context = Context::new();
    for (glob, says) in [
        ("/tmp/a.json", "is an absolute path"),
        ("../a.json", "has `..` in it"),
        ("state/", "names a folder"),
        ("state/**", "its last part names no file"),
        ("state/[", "is not a glob"),
    ] {
        context.checks(&format!("- {{id: a, run: ['true'], publishes: ['{glob}']}}"));
        let ran = context.hp(&["lint"]);
        assert!(ran.exits(2).stderr.contains(says), "{}", ran.stderr);
    }
    context.checks(
        "- {id: a, cwd: sandbox, shell: 'echo > a', publishes: [a], allow: [{kind: torn-publish, because: once}]}",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(of_kind(ran.exits(0).only(), Kind::TornPublish)[0].allowed.as_deref(), Some("once"));
}

#[test]
fn of_the_sweep_hook_this_defect_alone_is_told() {
    let context = Context::new();
    context.copy("fixtures/sweep");
    // The mended hook, with the unmended worker's way of publishing and nothing else of it.
    let mended = context.read("fixtures/sweep/mended/hooks/sweep_detached.py");
    let start = mended.find("    # Whole or not").expect("how it publishes");
    let end = mended.find("\n\nif __name__").expect("the end of that");
    let in_place =
        "    with open(path, \"w\", encoding=\"utf-8\") as file:\n        file.write(board.dump_cache(drifts))\n";
    let torn = format!("{}{in_place}{}", &mended[..start], &mended[end..]);
    for variant in ["mended", "torn"] {
        context.checks(&format!(
            "- {{id: {variant}, reader: unittest, run: [python3, fixtures/sweep/mended/test_sweep.py], \
             publishes: ['$sandbox/tmp/*/state/*.json']}}"
        ));
        if variant == "torn" {
            context.file("fixtures/sweep/mended/hooks/sweep_detached.py", &torn);
        }
        let ran = context.hp(&["run"]);
        let check = ran.only();
        assert_eq!((check.cases.ran, check.cases.failed), (Some(57), Some(0)), "{}", ran.said());
        if variant == "mended" {
            assert_eq!((errors(check), of_kind(check, Kind::ProbeBlind).len()), (vec![], 0), "{}", ran.said());
            continue;
        }
        assert_eq!(errors(check), ["torn-publish"], "{}", ran.said());
        let found = of_kind(check, Kind::TornPublish);
        assert_eq!(found.len(), 1, "{}", ran.said());
        let writer = found[0].process.as_ref().map(|process| process.argv.join(" ")).unwrap_or_default();
        assert!(writer.contains("sweep_detached.py"), "{writer}");
        assert!(
            found[0].case.as_ref().is_some_and(|case| case.ends_with("test_cache_published")),
            "{:?}",
            found[0].case
        );
    }
}
