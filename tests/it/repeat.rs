//! Checks that run more than once: one verdict over all runs.

use std::process::Stdio;

use hostproof::model::{Kind, Severity, Stop, Verdict};
use rustix::process::{Pid, Signal, kill_process};

use crate::context::{Context, errors, eventually, of_kind};

/// Counts its runs in the project's file `runs`, and goes on with their number in `n`.
const COUNT: &str = "n=$(($(cat runs 2>/dev/null || echo 0) + 1)); echo $n > runs;";

#[test]
fn runs_that_differ_are_flaky_with_the_frames_of_each_outcome() {
    let context = Context::proving("- {id: names, run: [python3, test_names.py], repeat: 6}\n");
    context.file(
        "test_names.py",
        r"import pathlib
import unittest

RUNS = pathlib.Path(__file__).with_name('runs')
RUN = int(RUNS.read_text()) + 1 if RUNS.exists() else 1
RUNS.write_text(str(RUN))


class Names(unittest.TestCase):
    def test_one(self):
        self.assertNotIn(RUN, (2, 5), 'the first way')

    def test_two(self):
        self.assertNotIn(RUN, (3,), 'the second way')


unittest.main()
",
    );
    let junit = context.project().join("junit.xml");
    let ran = context.hp(&["run", "--junit", junit.to_str().expect("text")]);
    let check = ran.exits(1).only();
    assert_eq!(context.read("runs"), "6");
    assert_eq!((check.verdict, check.reason.as_deref()), (Verdict::Flaky, Some("3 of 6 runs are red")));
    let runs = check.runs.as_ref().expect("runs");
    assert_eq!((runs.count, runs.red, runs.least_percent, runs.most_percent), (6, 3, 18, 82));
    let line = |frame: Option<&hostproof::model::Frame>| frame.map(|frame| frame.line);
    let outcomes: Vec<_> = runs.outcomes.iter().map(|one| (one.times, one.first, line(one.frame.as_ref()))).collect();
    assert_eq!(outcomes, [(2, 2, Some(11)), (1, 3, Some(14))], "{}", ran.said());
    assert_eq!(check.frames.iter().map(|frame| frame.line).collect::<Vec<_>>(), [11, 14], "{}", ran.said());
    let message = &of_kind(check, Kind::Flaky)[0].message;
    assert!(message.starts_with("3 of 6 runs are red, so of all 18 to 82 %"), "{message}");
    assert!(message.contains("2 times test_names.py:11, first in run 2"), "{message}");
    assert!(ran.last_line().contains("1 flaky") && ran.stdout.contains("test_names.py:14"), "{}", ran.said());
    assert!(context.read("junit.xml").contains("hostproof: flaky"), "{}", context.read("junit.xml"));
}

#[test]
fn where_no_frame_says_it_the_case_does() {
    let context = Context::proving("- {id: names, run: [sh, names.sh], repeat: 5}\n");
    context.file(
        "names.sh",
        format!(
            "{COUNT}\n\
             tell() {{ if [ $n = $2 ]; then echo \"not ok $1 - number $2\"; else echo \"ok $1 - number $2\"; fi; }}\n\
             echo 1..2; tell 1 2; tell 2 4; [ $n != 2 ] && [ $n != 4 ]\n"
        ),
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let message = &of_kind(check, Kind::Flaky)[0].message;
    for told in ["once 1 failed (\"number 2\"), in run 2", "once 1 failed (\"number 4\"), in run 4"] {
        assert!(message.contains(told), "{message}\n{}", ran.said());
    }
}

#[test]
fn runs_that_agree_have_their_verdict() {
    let context = Context::with(&format!(
        "- {{id: green, repeat: 5, shell: '{COUNT} exit 0'}}\n- {{id: red, repeat: 3, shell: 'exit 1'}}\n\
         - {{id: broken, repeat: 3, run: [no-such-program-here]}}"
    ));
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).check("green").verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(context.read("runs").trim(), "5");
    assert!(ran.stdout.contains("5 runs, none red: at most 44 % of all are"), "{}", ran.said());
    let red = ran.check("red");
    assert_eq!((red.verdict, errors(red)), (Verdict::Failed, vec!["unmet"]), "{}", ran.said());
    assert!(red.reason.as_deref().is_some_and(|reason| reason.starts_with("each of 3 runs is red: ")));
    let broken = ran.check("broken");
    assert_eq!((broken.verdict, &broken.runs), (Verdict::Broken, &None), "{}", ran.said());
}

#[test]
fn a_red_check_is_tried_again_as_often_as_it_may() {
    let third = |id: &str, keys: &str| format!("- {{id: {id}, retries: {{{keys}}}, shell: '{COUNT} test $n -ge 3'}}");
    for (keys, verdict, code, runs) in [
        ("count: 2", Verdict::Flaky, 1, "3"),
        ("count: 9, flaky: fail", Verdict::Flaky, 1, "3"),
        ("count: 2, flaky: pass", Verdict::Passed, 0, "3"),
        ("count: 1, flaky: pass", Verdict::Failed, 1, "2"),
    ] {
        let context = Context::with(&third("a", keys));
        let ran = context.hp(&["run"]);
        assert_eq!(ran.exits(code).only().verdict, verdict, "{keys}: {}", ran.said());
        assert_eq!(context.read("runs").trim(), runs, "{keys}");
        if verdict == Verdict::Passed {
            let finding = of_kind(ran.only(), Kind::Flaky)[0];
            assert_eq!(finding.severity, Severity::Note, "{keys}");
            assert!(ran.stdout.contains("2 of 3 runs are red"), "{}", ran.said());
        }
    }
    let context = Context::with(&format!("- {{id: a, retries: {{count: 3}}, shell: '{COUNT} exit 0'}}"));
    assert_eq!(context.hp(&["run"]).exits(0).only().runs, None, "it passed at once");
    assert_eq!(context.read("runs").trim(), "1");
}

#[test]
fn until_one_fails() {
    for jobs in ["1", "3"] {
        let context = Context::with(&format!(
            "- {{id: a, shell: '{COUNT} test $n -ne 7'}}\n- {{id: b, shell: 'exit 0'}}\n- {{id: c, shell: 'exit 0'}}"
        ));
        let ran = context.hp(&["run", "--until-fail", "--jobs", jobs]);
        let a = ran.exits(1).check("a");
        assert_eq!((a.verdict, context.read("runs").trim()), (Verdict::Flaky, "7"), "{}", ran.said());
        assert_eq!(a.runs.as_ref().map(|runs| (runs.count, runs.red)), Some((7, 1)));
        // The others are told with what they did meanwhile.
        assert_eq!(ran.check("b").verdict, Verdict::Passed, "{}", ran.said());
        assert!(ran.check("c").runs.as_ref().is_some_and(|runs| runs.count > 1 && runs.red == 0), "{}", ran.said());
    }
    let context = Context::with("- {id: a, shell: 'exit 1'}\n- {id: b, shell: 'exit 0'}");
    let ran = context.hp(&["run", "--until-fail", "--jobs", "1"]);
    assert_eq!(ran.exits(1).report().run.stopped, Some(Stop::UntilFail), "{}", ran.said());
    assert!(ran.last_line().ends_with("1 not reached (--until-fail)"), "{}", ran.said());
}

#[test]
fn an_interrupted_run_tells_the_runs_before_it() {
    let context = Context::with(&format!("- {{id: a, shell: '{COUNT} exit 0'}}"));
    let mut command = context.command(&["run", "--until-fail"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
    let runs = || context.read("runs").trim().parse::<u64>().unwrap_or(0);
    eventually("five runs", || runs() >= 5);
    kill_process(Pid::from_child(&child), Signal::INT).expect("a signal");
    let ran = context.finish(child);
    let check = ran.exits(130).only();
    assert_eq!(check.verdict, Verdict::Passed, "{}", ran.said());
    let counted = check.runs.as_ref().expect("runs").count;
    assert!((4..=runs()).contains(&counted), "{counted} of {}", runs());
    context.eventually_nothing_left();
}

#[test]
fn each_variant_runs_so_often() {
    let context = Context::with(&format!(
        "- {{id: a, vary: [locale], repeat: 4, shell: '{COUNT} test \"$LC_ALL\" != C || test $n -lt 5'}}"
    ));
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).check("a").verdict, Verdict::Passed, "{}", ran.said());
    let changed = ran.check("a[locale]");
    assert_eq!((changed.verdict, errors(changed)[0]), (Verdict::Flaky, "depends-on"), "{}", ran.said());
    assert_eq!(changed.runs.as_ref().map(|runs| (runs.count, runs.red)), Some((4, 2)), "{}", ran.said());
}

#[test]
fn what_says_nothing_is_refused() {
    let context = Context::new();
    for (keys, said) in [
        ("repeat: 0", "0 is not between 1 and 100000"),
        ("repeat: often", "write it as 20"),
        ("retries: {flaky: pass}", "the key `count` is missing"),
        ("retries: {count: 2, flaky: maybe}", "maybe"),
        ("repeat: 2, retries: {count: 2}", "both `repeat` and `retries`"),
    ] {
        context.checks(&format!("- {{id: a, {keys}, shell: 'exit 0'}}"));
        let ran = context.hp(&["lint"]);
        assert!(ran.exits(2).stderr.contains(said), "{keys}: {}", ran.said());
    }
}

#[test]
fn what_the_first_run_may_have_left_for_the_others_is_named() {
    let left = std::env::temp_dir().join(format!("hostproof-it-left-{}", std::process::id()));
    let script = format!("test ! -e {0} && touch {0}", left.display());
    let context = Context::with(&format!("- {{id: left, shell: '{script}', repeat: 3}}"));
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    std::fs::remove_file(&left).expect("what it left");
    assert_eq!(check.verdict, Verdict::Flaky, "{}", ran.said());
    let finding = of_kind(check, Kind::Flaky)[0];
    assert!(finding.message.contains("2 of 3 runs are red"), "{}", finding.message);
    assert!(finding.message.contains("the first run is green, and every later one red"), "{}", finding.message);
    assert!(finding.message.contains(&left.display().to_string()), "{}", finding.message);
}
