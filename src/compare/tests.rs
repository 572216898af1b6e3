//! Comparisons of small reports, one thing each.

use serde_json::{Value, json};

use super::*;
use crate::model::{Comparison, Likeness, Standing, Tool};

/// A report of a machine with those facts, and of those checks.
fn report(file: &str, host: &Value, checks: &[Value]) -> Side {
    let mut facts = json!({
        "os": "linux", "arch": "x86_64", "uid": 1000, "locale": "C.UTF-8", "time_zone": "UTC", "umask": "0022",
        "limits": {}, "temp": "/tmp", "programs": {}, "probes": {},
    });
    for (name, value) in host.as_object().expect("facts") {
        facts[name] = value.clone();
    }
    let zero = json!({"planned": 0, "ran": 0, "passed": 0, "failed": 0, "leaked": 0, "timed_out": 0, "broken": 0,
        "flaky": 0, "skipped": 0, "not_run": 0, "unknown": 0});
    let document = json!({
        "schema": "hostproof.report/1",
        "tool": {"name": "hostproof", "version": "0.1.0"},
        "run": {"id": "x", "argv": [], "started": "2026-11-01T00:00:00.000Z", "duration_ms": 1, "jobs": 1,
            "interrupted": false},
        "place": {"kind": "host"}, "host": facts, "source": {"start": null, "end": null},
        "manifests": {"digest": null, "files": []}, "totals": {"checks": zero, "cases": zero}, "checks": checks,
    });
    parse(file, document.to_string().as_bytes()).unwrap_or_else(|why| panic!("{why}"))
}

/// A check with cases, of which those with an error failed with that.
fn check(id: &str, cases: &[(&str, Option<&str>)]) -> Value {
    let outcome = |error: Option<&str>| if error.is_some() { "failed" } else { "passed" };
    let list: Vec<Value> =
        cases.iter().map(|(name, error)| json!({"name": name, "outcome": outcome(*error)})).collect();
    let frames: Vec<Value> = cases
        .iter()
        .filter_map(|(name, error)| Some((name, (*error)?)))
        .map(|(name, error)| json!({"file": "t.py", "line": 7, "function": name, "error": error, "case": name}))
        .collect();
    let (all, failed) = (cases.len(), frames.len());
    json!({
        "id": id, "verdict": if failed > 0 { "failed" } else { "passed" }, "argv": ["python3", "t.py"],
        "started": "2026-11-01T00:00:00.000Z", "duration_ms": 1000, "frames": frames, "findings": [], "processes": [],
        "cases": {"planned": null, "ran": all, "passed": all - failed, "failed": failed, "skipped": 0, "unknown": 0,
            "list": list},
        "stdout": {"bytes": 0, "tail": "", "cut": false}, "stderr": {"bytes": 0, "tail": "", "cut": false},
    })
}

fn together(mut sides: Vec<Side>) -> Comparison {
    label(&mut sides);
    compare(&sides, Tool { name: "hostproof".into(), version: "0.1.0".into() })
}

/// The first cause, where one machine has these facts and is green, and another one has those and fails with an error.
fn explained(green: &Value, red: &Value, error: &str) -> String {
    let one = report("a.json", green, &[check("c", &[("test_a", None)])]);
    let other = report("b.json", red, &[check("c", &[("test_a", Some(error))])]);
    let comparison = together(vec![one, other]);
    assert_eq!(comparison.outcome, Likeness::Different);
    let causes = &comparison.checks[0].causes;
    causes.first().map_or_else(|| "nothing".to_owned(), |cause| cause.fact.clone())
}

#[test]
fn what_the_failure_says_comes_before_what_is_often_so() {
    // Two machines of which everything differs.
    let green = json!({
        "uid": 1000, "locale": "C.UTF-8", "time_zone": "UTC", "umask": "0022", "temp_bytes": 1_000_000_000u64, "init": "systemd",
        "temp_filesystem": "ext4", "temp_case_sensitive": true, "limits": {"nofile": "1048576", "nproc": "unlimited"},
        "home_settings": [".bashrc"], "network": true, "sh": "/usr/bin/dash", "libc": "glibc 2.36", "kernel": "6.1",
        "shm_bytes": 8_000_000_000u64, "terminal": true, "temp": "/tmp", "programs": {"git": "2.47"},
        "temp_executable": true, "seccomp": "none", "zoneinfo": true, "arch": "x86_64",
    });
    let red = json!({
        "uid": 0, "locale": "C", "time_zone": "XST-3", "umask": "0077", "temp_bytes": 1_000_000, "init": "python3",
        "temp_filesystem": "overlayfs", "temp_case_sensitive": false, "limits": {"nofile": "64", "nproc": "10"},
        "home_settings": [], "network": false, "sh": "/bin/busybox", "libc": "musl", "kernel": "6.18",
        "shm_bytes": 64_000_000, "terminal": false, "programs": {"git": "2.20"}, "arch": "aarch64",
        "temp": "/a/very/long/path/to/a/temporary/folder/of/somebody", "temp_executable": false, "seccomp": "filter",
        "zoneinfo": false,
    });
    for (error, fact) in [
        ("AssertionError: PermissionError not raised", "uid"),
        ("AssertionError: '0o600' != '0o644'", "umask"),
        ("AssertionError: datetime.date(2025, 8, 28) != datetime.date(2025, 8, 29)", "time zone"),
        ("UnicodeEncodeError: 'ascii' codec can't encode character '\\xe9'", "locale"),
        ("OSError: AF_UNIX path too long", "length of the temporary folder's path"),
        ("OSError: [Errno 28] No space left on device", "size of the temporary file system"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'tmux'", "program tmux"),
        ("sh: 1: jq: not found", "program jq"),
        ("OSError: [Errno 24] Too many open files", "limit nofile"),
        ("RuntimeError: can't start new thread", "limit nproc"),
        ("OSError: [Errno 18] Invalid cross-device link", "temporary file system"),
        ("FileExistsError: 'Readme.md' and 'README.md'", "case of names"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "network"),
        ("script: bad substitution", "sh"),
        ("OSError: [Errno 25] Inappropriate ioctl for device", "terminal"),
        ("OSError: [Errno 8] Exec format error", "architecture"),
        ("Bus error in /dev/shm", "/dev/shm"),
        ("ImportError: symbol not found: __memcpy", "C library"),
        ("AssertionError: zombie left", "process 1"),
        ("AssertionError: SIGTERM had no effect", "process 1"),
        ("ZoneInfoNotFoundError: 'No time zone found with key Europe/Berlin'", "table of time zones"),
        ("PermissionError: [Errno 13] Permission denied: './run.sh'", "programs in the temporary folder"),
        ("AssertionError: git said nothing", "program git"),
    ] {
        assert_eq!(explained(&green, &red, error), fact, "{error}");
    }
}

#[test]
fn a_clue_counts_only_where_the_fact_fits_it() {
    // Nothing is refused to root: that an error is missing speaks of root only where root was red.
    let [root, user] = [0, 1000].map(|uid| json!({"uid": uid}));
    let missing = "AssertionError: PermissionError not raised";
    let weight = |green, red, error| {
        let one = report("a.json", green, &[check("c", &[("t", None)])]);
        let other = report("b.json", red, &[check("c", &[("t", Some(error))])]);
        together(vec![one, other]).checks[0].causes[0].weight
    };
    assert!(weight(&user, &root, missing) > 80 && weight(&root, &user, missing) < 30);
    assert!(weight(&root, &user, "PermissionError: [Errno 13] Permission denied: '/x'") > 80);
    // A umask that would not make that mode of the other one is no reason.
    let [open, closed] = ["0022", "0077"].map(|umask| json!({"umask": umask}));
    assert!(weight(&open, &closed, "'0o600' != '0o644'") > 80);
    assert!(weight(&open, &closed, "'0o640' != '0o644'") < 60);
    // More room is not why there is none.
    let [small, large] = [1, 1 << 40].map(|bytes: u64| json!({"temp_bytes": bytes}));
    assert!(weight(&large, &small, "No space left on device") > 70);
    assert!(weight(&small, &large, "No space left on device") < 10);
}

#[test]
fn of_three_runs_the_fact_that_parts_them_is_first() {
    let red = |file, host| report(file, &host, &[check("c", &[("t", Some("AssertionError: 1 != 2"))])]);
    let green = |file, host| report(file, &host, &[check("c", &[("t", None)])]);
    let sides = vec![
        green("a.json", json!({"uid": 1000, "kernel": "6.1", "locale": "C.UTF-8"})),
        green("b.json", json!({"uid": 0, "kernel": "6.1", "locale": "C"})),
        red("c.json", json!({"uid": 0, "kernel": "6.18", "locale": "C"})),
    ];
    let causes = together(sides).checks.remove(0).causes;
    // Of the three that differ, experience would name another one.
    assert_eq!((causes[0].fact.as_str(), causes[0].splits), ("kernel", Some(true)));
    assert!(causes[1..].iter().all(|cause| cause.splits == Some(false) && cause.weight < 15), "{causes:?}");
    // Of two, every fact parts them, and that says nothing.
    let two = vec![green("a.json", json!({"uid": 1})), red("b.json", json!({"uid": 2}))];
    assert_eq!(together(two).checks[0].causes[0].splits, None);
}

#[test]
fn skipped_and_missing_are_not_green_and_unknown_is_neither() {
    let plain = json!({});
    let green = check("c", &[("a", None), ("b", None)]);
    let likeness = |other: Value| {
        let sides = vec![report("a.json", &plain, std::slice::from_ref(&green)), report("b.json", &plain, &[other])];
        let comparison = together(sides);
        (comparison.outcome, comparison.totals.cases.different)
    };
    assert_eq!(likeness(green.clone()), (Likeness::Same, 0));
    assert_eq!(likeness(check("c", &[("a", None)])), (Likeness::Different, 1));
    let mut skips = green.clone();
    skips["cases"]["list"][1]["outcome"] = json!("skipped");
    (skips["cases"]["passed"], skips["cases"]["skipped"]) = (json!(1), json!(1));
    assert_eq!(likeness(skips), (Likeness::Different, 1));
    let mut skipped = check("c", &[]);
    skipped["verdict"] = json!("skipped");
    assert_eq!(likeness(skipped), (Likeness::Different, 0));
    // The names of its cases are not known, and their number is the same; then it is another one.
    let mut nameless = green.clone();
    nameless["cases"]["list"] = json!([]);
    assert_eq!(likeness(nameless.clone()), (Likeness::Same, 0));
    nameless["cases"]["passed"] = json!(1);
    assert_eq!(likeness(nameless), (Likeness::Different, 0));
    // Of other checks there is nothing to compare.
    assert_eq!(likeness(check("d", &[("a", None)])).0, Likeness::Unknown);
}

#[test]
fn red_in_different_ways_is_told_and_is_no_difference() {
    let one = check("c", &[("a", Some("x"))]);
    let mut other = one.clone();
    other["verdict"] = json!("timed-out");
    let comparison = together(vec![report("a", &json!({}), &[one]), report("b", &json!({}), &[other])]);
    assert_eq!(comparison.outcome, Likeness::Same);
    assert_eq!(comparison.checks[0].notes, ["red in different ways: failed in a, timed-out in b"]);
}

#[test]
fn variants_stand_for_each_other_where_there_is_no_same_one() {
    let rows = |one: &[&str], other: &[&str]| {
        let of = |file, ids: &[&str]| {
            report(file, &json!({}), &ids.iter().map(|id| check(id, &[("t", None)])).collect::<Vec<_>>())
        };
        let comparison = together(vec![of("a", one), of("b", other)]);
        let sides = |sides: &[crate::model::CheckSide]| {
            sides.iter().map(|side| side.id.clone().unwrap_or_else(|| "-".into())).collect::<Vec<_>>().join(" ")
        };
        comparison.checks.iter().map(|check| format!("{}: {}", check.id, sides(&check.sides))).collect::<Vec<_>>()
    };
    assert_eq!(rows(&["s"], &["s@windows"]), ["s: s s@windows"]);
    assert_eq!(rows(&["s", "s@windows"], &["s", "s@windows"]), ["s: s s", "s@windows: s@windows s@windows"]);
    assert_eq!(rows(&["s"], &["s", "s@windows"]), ["s: s s", "s@windows: s s@windows"]);
    assert_eq!(rows(&["a"], &["b@x"]), ["a: a -", "b@x: - b@x"]);
}

#[test]
fn what_windows_refuses_is_the_system_or_the_rules() {
    let error =
        "PermissionError: [WinError 32] The process cannot access the file: it is being used by another process";
    let linux = json!({"uid": 0, "locale": "C", "kernel": "6.1"});
    let windows = json!({"os": "windows", "uid": null, "locale": "de-DE", "kernel": "10.0", "umask": null});
    assert_eq!(explained(&linux, &windows, error), "system");
    // The same rules kept on Linux say the same, and then nothing differs.
    let sides = vec![
        report("a", &linux, &[check("s", &[("t", None)]), check("s@windows", &[("t", Some(error))])]),
        report("b", &windows, &[check("s", &[("t", Some(error))])]),
    ];
    let outcomes: Vec<_> = together(sides).checks.iter().map(|check| check.outcome).collect();
    assert_eq!(outcomes, [Likeness::Different, Likeness::Same]);
}

#[test]
fn junit_files_are_matched_by_id_and_by_name() {
    let pytest = check("unit", &[("tests/test_x.py::test_a", None), ("tests/test_x.py::test_b", None)]);
    let one = report("host.json", &json!({}), &[pytest, check("other", &[("t", None)])]);
    let xml = r#"<testsuite tests="2"><testcase classname="tests.test_x" name="test_a"/>
        <testcase classname="tests.test_x" name="test_b"><failure message="AssertionError: no">
Traceback (most recent call last):
  File "tests/test_x.py", line 7, in test_b
AssertionError: no</failure></testcase></testsuite>"#;
    let foreign = parse("ci.xml", xml.as_bytes()).expect("a JUnit file");
    let comparison = together(vec![one.clone(), foreign]);
    assert_eq!((comparison.totals.checks.different, comparison.totals.checks.unknown), (1, 1));
    let first = comparison.first.expect("a difference");
    assert_eq!((first.check.as_str(), first.case.as_deref()), ("unit", Some("tests/test_x.py::test_b")));
    assert_eq!(first.standings, [Standing::Green, Standing::Red]);
    assert_eq!(first.frame.map(|frame| frame.line), Some(7));

    // One of hostproof's own has the ids, and what is no case.
    let own = r#"<testsuites><testsuite name="unit"><testcase classname="unit" name="tests/test_x.py::test_a"/>
        <testcase classname="unit" name="tests/test_x.py::test_b"/>
        <testcase classname="unit" name="hostproof: leaked-process"><failure message="m"/></testcase></testsuite>
        <testsuite name="other"><testcase classname="other" name="hostproof: check"><skipped message="no"/></testcase>
        </testsuite></testsuites>"#;
    let comparison = together(vec![one, parse("own.xml", own.as_bytes()).expect("a JUnit file")]);
    let standing = |check: usize| comparison.checks[check].sides[1].standing;
    assert_eq!((standing(0), standing(1)), (Standing::Red, Standing::Skipped));
    assert_eq!(comparison.checks[0].sides[1].findings, [crate::model::Kind::LeakedProcess]);
    assert_eq!(comparison.totals.cases.same, 2);
}

#[test]
fn what_is_no_run_is_told_with_a_remedy() {
    let wrong = |bytes: &[u8]| parse("f", bytes).expect_err("no run");
    let whole = serde_json::to_vec(report("f", &json!({}), &[]).document.report().expect("a report")).expect("JSON");
    assert!(parse("f", &[b"\xef\xbb\xbf", &whole[..]].concat()).is_ok());
    for end in 1..whole.len() {
        assert!(parse("f", &whole[..end]).is_err(), "{end}");
    }
    assert!(wrong(&whole[..whole.len() / 2]).contains("ends in the middle"));
    for (bytes, words) in [
        (&b""[..], "it is empty"),
        (b"version: 1", "neither a report"),
        (b"{}", "nothing of a schema"),
        (br#"{"schema": "hostproof.report/2"}"#, "take a newer one"),
        (br#"{"schema": "hostproof.doctor/1"}"#, "another kind"),
        (br#"{"payloadType": "application/vnd.in-toto+json", "payload": ""}"#, "a receipt"),
        (b"{\"schema\": \"\xff\"}", "no report that can be read"),
        (b"<html></html>", "no JUnit file"),
        (b"<testsuite>", "ends in the middle"),
    ] {
        assert!(wrong(bytes).contains(words), "{}", wrong(bytes));
    }
    assert!(parse("f", &[&b"{\"a\":"[..], &b"[".repeat(100_000)].concat()).is_err());
}

#[test]
fn labels_are_short_and_unique() {
    let labels = |sides: &[(&str, Value)]| {
        let mut sides: Vec<Side> = sides.iter().map(|(file, host)| report(file, host, &[])).collect();
        label(&mut sides);
        sides.into_iter().map(|side| side.label).collect::<Vec<_>>()
    };
    let plain = json!({});
    let podman = json!({"container": "podman"});
    assert_eq!(labels(&[("x/a.json", plain.clone()), ("b.json", podman)]), ["linux", "podman"]);
    assert_eq!(labels(&[("x/a.json", plain.clone()), ("b.json", plain.clone())]), ["a", "b"]);
    assert_eq!(labels(&[("x/a.json", plain.clone()), ("y/a.json", plain.clone())]), ["x/a.json", "y/a.json"]);
    assert_eq!(labels(&[("a.json", plain.clone()), ("a.json", plain)]), ["a (1)", "a (2)"]);
}

#[test]
fn old_failures_are_told_from_new_ones() {
    let now = |checks: &[Value]| report("now", &json!({}), checks).document.report().expect("a report").clone();
    let before =
        report("before", &json!({}), &[check("a", &[("x", Some("e")), ("y", None)]), check("b", &[("z", None)])]);
    let told = |checks: &[Value]| {
        let News { new, old, mended, .. } = news(&before, &now(checks));
        (new.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), old, mended)
    };
    let none: Vec<String> = Vec::new();
    let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    assert_eq!(told(&[check("a", &[("x", Some("e")), ("y", None)])]), (none.clone(), ids(&["a"]), none.clone()));
    assert_eq!(told(&[check("a", &[("x", None), ("y", None)])]), (none.clone(), none.clone(), ids(&["a"])));
    // As many fail, and another one does.
    assert_eq!(told(&[check("a", &[("x", None), ("y", Some("e"))])]).0, ["a"]);
    // A check that was not there and is red is new, a green one is none.
    assert_eq!(told(&[check("c", &[("z", Some("e"))])]).0, ["c"]);
    assert_eq!(told(&[check("c", &[("z", None)])]), (none.clone(), none.clone(), none));
    let mut leaks = check("a", &[("x", Some("e")), ("y", None)]);
    leaks["findings"] = json!([{"kind": "leaked-process", "severity": "error", "message": "m"}]);
    assert_eq!(told(&[leaks]).0, ["a"]);
    let mut skipped = check("b", &[]);
    skipped["verdict"] = json!("skipped");
    assert_eq!(told(&[skipped]).0, ["b"]);
}

/// A check of which only the failures are named, as unittest does without `-v`.
fn terse(id: &str, ran: u64, failed: &[(&str, Option<&str>)]) -> Value {
    let mut check = check(id, failed);
    (check["cases"]["ran"], check["cases"]["passed"]) = (json!(ran), json!(ran - failed.len() as u64));
    check
}

/// What is new, with why, and what is not known.
fn worse(before: &Side, now: &Value) -> (Vec<(String, String)>, Vec<String>) {
    let now = report("now", &json!({}), std::slice::from_ref(now)).document.report().expect("a report").clone();
    let News { new, unknown, .. } = news(before, &now);
    (new, unknown)
}

#[test]
fn where_all_failures_are_named_another_case_was_none() {
    let old = terse("un", 2, &[("__main__.T.test_a", Some("e"))]);
    let new = terse("un", 2, &[("__main__.T.test_b", Some("e"))]);
    let before = report("before", &json!({}), std::slice::from_ref(&old));
    assert_eq!(worse(&before, &new).0, [("un".to_owned(), "__main__.T.test_b".to_owned())]);
    assert_eq!(worse(&before, &old).0, []);
    // Which of them are skipped is not told, and red they are not.
    let mut skips = old.clone();
    (skips["cases"]["passed"], skips["cases"]["skipped"]) = (json!(0), json!(1));
    assert_eq!(worse(&report("before", &json!({}), &[skips]), &new).0.len(), 1);
    // Here a failure has no name: it may be this one.
    let mut nameless = old.clone();
    nameless["cases"]["list"] = json!([]);
    assert_eq!(worse(&report("before", &json!({}), &[nameless]), &new).0, []);

    // Green here and red there, though only the red run names it.
    let green = terse("un", 2, &[]);
    let comparison = together(vec![report("a", &json!({}), &[green]), report("b", &json!({}), &[old])]);
    assert_eq!(comparison.totals.cases.different, 1);
    assert_eq!(comparison.checks[0].cases[0].standings, [Standing::Green, Standing::Red]);
}

#[test]
fn red_in_another_way_is_new() {
    let red = |exit: Value| {
        let mut red = check("c", &[("x", Some("AssertionError: 1")), ("y", None)]);
        red["exit"] = exit;
        red
    };
    let before = report("before", &json!({}), &[red(json!({"code": 1}))]);
    let why = |now: &Value| worse(&before, now).0.into_iter().map(|(_, why)| why).collect::<Vec<_>>();
    assert_eq!(why(&red(json!({"code": 1}))), [""; 0]);
    // Its cases tell why it is red, whatever its exit status is.
    assert_eq!(why(&red(json!({"code": 3}))), [""; 0]);
    assert_eq!(why(&red(json!({"signal": 11}))), ["ended by signal 11 now, and was exit status 1"]);
    let mut unread = red(json!({"code": 1}));
    unread["cases"] = json!({"planned": null, "ran": null, "passed": null, "failed": null, "skipped": null,
        "unknown": null, "list": []});
    assert_eq!(why(&unread), ["how its cases ended is not told now, and was"]);
    let mut late = red(Value::Null);
    late["verdict"] = json!("timed-out");
    assert_eq!(why(&late), ["timed-out now, and was failed"]);

    // Without cases, the exit status and the place tell.
    let bare = |code: i32, line: &str| {
        let mut bare = unread.clone();
        bare["exit"] = json!({"code": code});
        bare["frames"] = json!([{"file": "t.py", "line": 7, "function": line, "error": "E: no", "case": null}]);
        bare
    };
    let before = report("before", &json!({}), &[bare(1, "f")]);
    let why = |now: &Value| worse(&before, now).0.into_iter().map(|(_, why)| why).collect::<Vec<_>>();
    assert_eq!(why(&bare(1, "f")), [""; 0]);
    assert_eq!(why(&bare(2, "f")), ["exit status 2 now, and was exit status 1"]);
    assert_eq!(why(&bare(1, "g")), ["E: no at t.py:7 is new"]);

    // A JUnit file does not tell how a check ended.
    let file = parse("b.xml", br#"<testsuite><testcase name="x"><failure/></testcase></testsuite>"#);
    let file = file.expect("a JUnit file");
    let exits = |exit: Value| {
        let mut check = check("c", &[("x", Some("e"))]);
        check["exit"] = exit;
        worse(&file, &check)
    };
    assert_eq!(exits(json!({"code": 1})), (Vec::new(), Vec::new()));
    assert_eq!(exits(json!({"signal": 11})).1, ["c"]);
}

/// A JUnit file with that in its suite.
fn suite(attributes: &str, cases: &str) -> Side {
    parse("f.xml", format!("<testsuite {attributes}>{cases}</testsuite>").as_bytes()).expect("a JUnit file")
}

#[test]
fn what_is_beyond_the_cut_is_not_the_same() {
    use std::fmt::Write as _;
    // So many names of such a length are more than what is kept.
    let long = "x".repeat(990);
    let file = |failed: &dyn Fn(usize) -> bool| {
        let cases = (0..4_300).fold(String::new(), |mut cases, number| {
            let inner = if failed(number) { "<failure/>" } else { "" };
            let _ = write!(cases, r#"<testcase name="t{number}{long}">{inner}</testcase>"#);
            cases
        });
        suite("", &cases)
    };
    let green = file(&|_| false);
    let comparison = together(vec![green.clone(), file(&|number| number == 4_295)]);
    let standings: Vec<_> = comparison.checks[0].sides.iter().map(|side| side.standing).collect();
    assert_eq!(standings, [Standing::Green, Standing::Red]);
    assert_eq!(comparison.outcome, Likeness::Different);
    // Of two that are cut alike, the rest may differ.
    let comparison = together(vec![green.clone(), green.clone()]);
    assert_eq!(comparison.outcome, Likeness::Unknown);
    assert!(comparison.checks[0].notes.iter().any(|note| note.contains("does not name every case")));
    // Beside a report, too.
    let one = report("a.json", &json!({}), &[check("c", &[("t1", None)])]);
    let cut = file(&|number| number == 4_295);
    let comparison = together(vec![one, cut]);
    assert_eq!(comparison.checks[0].sides[1].standing, Standing::Red);
    assert_eq!(comparison.outcome, Likeness::Different);
}

#[test]
fn a_junit_file_that_contradicts_itself_is_not_the_same() {
    let cases = |count: usize| (0..count).map(|n| format!(r#"<testcase name="t{n}"/>"#)).collect::<Vec<_>>().concat();
    let whole = suite("", &cases(57));
    let outcome = |sides: &[&Side]| together(sides.iter().map(|&side| side.clone()).collect()).outcome;
    let broken = parse("b.xml", format!("<testsuite>{}<testcase na", cases(18)).as_bytes()).expect("a part of one");
    assert_eq!(outcome(&[&whole, &whole]), Likeness::Same);
    assert_eq!(outcome(&[&whole, &broken]), Likeness::Unknown);
    assert_eq!(outcome(&[&broken, &broken]), Likeness::Unknown);
    // Failures that it counts, and does not list.
    let sum = suite(r#"tests="57" failures="3""#, &cases(1));
    assert_eq!(outcome(&[&whole, &sum]), Likeness::Different);
    assert_eq!(outcome(&[&sum, &sum]), Likeness::Unknown);
    // Cases that it counts, and that never ran.
    let short = suite(r#"tests="57""#, &cases(18));
    assert_eq!(outcome(&[&whole, &short]), Likeness::Different);
    assert_eq!(outcome(&[&short, &short]), Likeness::Unknown);
    // None of them is there.
    let empty = suite(r#"tests="0""#, "");
    for sides in [&[&whole, &empty][..], &[&empty, &whole], &[&whole, &whole, &empty]] {
        let comparison = together(sides.iter().map(|&side| side.clone()).collect());
        assert_eq!((comparison.outcome, comparison.totals.cases.different), (Likeness::Different, 57));
    }
    assert_eq!(outcome(&[&empty, &empty]), Likeness::Unknown);
    let one = report("a.json", &json!({}), &[check("c", &[("t1", None)])]);
    assert_eq!(outcome(&[&one, &empty]), Likeness::Different);
}

#[test]
fn cases_whose_names_look_alike_are_not_swapped() {
    let red = |name: &str| format!(r#"<testcase name="{name}"><failure/></testcase>"#);
    let green = |name: &str| format!(r#"<testcase name="{name}"/>"#);
    let different =
        |one: String, other: String| together(vec![suite("", &one), suite("", &other)]).totals.cases.different;
    assert_eq!(different(green("x/y") + &red("x.y"), red("x.y") + &green("x/y")), 0);
    assert_eq!(different(green("x/y") + &red("x.y"), red("x/y") + &green("x.y")), 2);
    // Of one name, as many must end alike.
    let suites = |cases: &[String]| {
        cases.iter().map(|case| format!("<testsuite>{case}</testsuite>")).collect::<Vec<_>>().concat()
    };
    let of = |one: &[String], other: &[String]| {
        let side = |cases: &[String]| {
            parse("f.xml", format!("<testsuites>{}</testsuites>", suites(cases)).as_bytes()).expect("a JUnit file")
        };
        together(vec![side(one), side(other)]).totals.cases.different
    };
    assert_eq!(of(&[green("a"), red("a")], &[red("a"), green("a")]), 0);
    assert_eq!(of(&[green("a"), red("a")], &[green("a"), green("a")]), 1);
    assert_eq!(of(&[green("a"), red("a")], &[red("a")]), 1);
}

#[test]
fn what_was_not_asked_for_is_told_as_that_and_comes_last() {
    let checks = |red: bool| vec![check("a", &[("t", None)]), check("b", &[("t", red.then_some("AssertionError"))])];
    let whole = report("whole.json", &json!({"umask": "0022"}), &checks(false));
    let asked = |red: bool, argv: &[&str]| {
        let mut side = report("part.json", &json!({"umask": "0077"}), &checks(red)[1..]);
        if let Document::Report(report) = &mut side.document {
            report.run.argv = argv.iter().map(|&word| word.to_owned()).collect();
        }
        side
    };
    let comparison = together(vec![whole.clone(), asked(true, &["hostproof", "run", "b"])]);
    assert_eq!(comparison.first.as_ref().expect("a difference").check, "b");
    let told = &comparison.checks[0];
    assert_eq!((told.outcome, told.sides[1].standing), (Likeness::Different, Standing::Missing));
    assert_eq!((&told.notes[..], told.causes.len()), (&["part did not ask for it".to_owned()][..], 0));
    let comparison = together(vec![whole.clone(), asked(false, &["hostproof", "run", "b"])]);
    assert_eq!(comparison.first.expect("a difference").check, "a");
    // A run of all that lacks it is another matter.
    let comparison = together(vec![whole, asked(true, &["hostproof", "run"])]);
    assert_eq!(comparison.first.expect("a difference").check, "a");
}

#[test]
fn a_name_that_ends_like_another_is_another() {
    let one = report("a.json", &json!({}), &[check("c", &[("retest_a", Some("wrong")), ("test_a", None)])]);
    let other = report("b.json", &json!({}), &[check("c", &[("retest_a", Some("wrong")), ("test_a", Some("umask"))])]);
    let frame = together(vec![one, other]).first.expect("a difference").frame.expect("a frame");
    assert_eq!(frame.error.as_deref(), Some("umask"));
    // The same name comes before one that it fits, too.
    let cases = |error| [("T.test_a", Some("wrong")), ("U.test_a", None), ("test_a", error)];
    let side = |file, error| report(file, &json!({"umask": file}), &[check("c", &cases(error))]);
    let comparison = together(vec![side("0022", None), side("0077", Some("'0o600' != '0o644'"))]);
    let first = comparison.first.expect("a difference");
    assert_eq!(first.frame.expect("a frame").error.as_deref(), Some("'0o600' != '0o644'"));
}

#[test]
fn names_with_one_end_are_as_fast_as_any() {
    // If each were set against each, this would take minutes.
    let case = |number: usize| format!("<testcase classname='tests.m{number}' name='test'/>");
    let suite = |from: usize| format!("<testsuite>{}</testsuite>", (from..40_000).map(case).collect::<String>());
    let side = |file, text: String| parse(file, text.as_bytes()).unwrap_or_else(|why| panic!("{why}"));
    let comparison = together(vec![side("a.xml", suite(0)), side("b.xml", suite(1))]);
    assert_eq!((comparison.totals.cases.different, comparison.totals.cases.same), (1, 39_999));
    let names: Vec<String> = (0..20_000).map(|number| format!("tests/m{number}.py::test")).collect();
    let cases: Vec<_> = names.iter().map(|name| (name.as_str(), None)).collect();
    let checks = [check("a", &cases), check("b", &[("test_b", None)])];
    let comparison = together(vec![report("a.json", &json!({}), &checks), side("b.xml", suite(20_000))]);
    assert_eq!(comparison.totals.cases.same, 0, "none of these is one of those");
}

#[test]
fn many_checks_are_found_by_their_ids() {
    let checks: Vec<Value> = (0..4_000).map(|number| check(&format!("c{number}"), &[])).collect();
    let comparison = together(vec![report("a.json", &json!({}), &checks), report("b.json", &json!({}), &checks[1..])]);
    assert_eq!((comparison.totals.checks.same, comparison.totals.checks.different), (3_999, 1));
}
