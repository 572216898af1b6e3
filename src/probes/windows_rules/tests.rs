//! Every rule, by rows of who has what and what is said to it.

use super::*;

const FILE: Target = Target::File { read_only: false, temporary: false };

fn holder(how: How, program: &str) -> Holder<'_> {
    let directory = matches!(how, How::Cwd | How::ThreadCwd | How::Root);
    Holder { how, program, below: false, directory, came: Came::Opened }
}

fn by_default() -> WindowsRules {
    WindowsRules::default()
}

fn said(act: Act, target: Target, holder: Holder<'_>) -> (&'static str, Option<(Rule, u32)>) {
    match judge(act, "python3", target, &[holder], &by_default()) {
        Answer::Allow => ("allow", None),
        Answer::Refuse(refusal) => ("refuse", Some((refusal.rule, refusal.winerror))),
        Answer::Predict(refusal) => ("predict", Some((refusal.rule, refusal.winerror))),
    }
}

#[test]
fn directories() {
    use Act::{Remove, Rename, Replace};
    let below = |how, directory| Holder { below: true, directory, ..holder(how, "node") };
    let helper = Holder { came: Came::Helper, ..holder(How::Cwd, "python3") };
    let rows = [
        (Remove, holder(How::Cwd, "sleep"), "refuse", Some((Rule::CurrentDirectory, 32))),
        (Rename, holder(How::Cwd, "sleep"), "refuse", Some((Rule::CurrentDirectory, 32))),
        (Replace, holder(How::Cwd, "sleep"), "refuse", Some((Rule::CurrentDirectory, 5))),
        (Remove, holder(How::ThreadCwd, "x"), "refuse", Some((Rule::CurrentDirectory, 32))),
        (Remove, holder(How::Descriptor, "python3"), "predict", Some((Rule::OpenDirectory, 32))),
        (Remove, holder(How::Root, "x"), "predict", Some((Rule::OpenDirectory, 32))),
        (Remove, holder(How::Mount, "x"), "allow", None),
        // Nothing is removed with something in it; that fails by itself.
        (Remove, below(How::Cwd, true), "allow", None),
        (Remove, helper, "predict", Some((Rule::CurrentDirectory, 32))),
        (Rename, below(How::Cwd, true), "refuse", Some((Rule::OpenBelow, 5))),
        (Rename, below(How::Descriptor, false), "refuse", Some((Rule::OpenBelow, 5))),
        (Rename, below(How::Descriptor, true), "predict", Some((Rule::OpenBelow, 5))),
        (Rename, below(How::Mapping, false), "predict", Some((Rule::OpenBelow, 5))),
    ];
    for (act, holder, answer, refusal) in rows {
        assert_eq!(said(act, Target::Directory, holder), (answer, refusal), "{act:?} {holder:?}");
    }
}

#[test]
fn a_directory_is_replaced_by_some() {
    let answer =
        |caller, holders: &[Holder<'_>]| match judge(Act::Replace, caller, Target::Directory, holders, &by_default()) {
            Answer::Allow => "allow",
            Answer::Refuse(_) => "refuse",
            Answer::Predict(_) => "predict",
        };
    assert_eq!(answer("python3.11", &[]), "refuse");
    assert_eq!(answer("node", &[]), "predict");
    assert_eq!(answer("something", &[]), "predict");
    assert_eq!(answer("mv", &[]), "allow");
    assert_eq!(answer("git", &[]), "predict");
    assert_eq!(answer("mv", &[holder(How::Cwd, "sleep")]), "refuse");
    assert_eq!(answer("python3", &[holder(How::Descriptor, "x")]), "refuse");
    assert_eq!(judge(Act::Rename, "python3", Target::Directory, &[], &by_default()), Answer::Allow);
}

#[test]
fn files() {
    use Act::{Remove, Rename, Replace};
    let open = |program| holder(How::Descriptor, program);
    let came = |how, program, came| Holder { came, ..holder(how, program) };
    let rows = [
        (Remove, open("python3.11"), "refuse", Some((Rule::OpenFile, 32))),
        (Rename, open("python"), "refuse", Some((Rule::OpenFile, 32))),
        (Replace, open("go"), "refuse", Some((Rule::OpenFile, 5))),
        (Remove, open("node"), "allow", None),
        (Remove, open("bash"), "allow", None),
        (Rename, open("rustc"), "allow", None),
        (Replace, open("node"), "predict", Some((Rule::OpenTarget, 5))),
        (Remove, open("java"), "predict", Some((Rule::OpenFile, 32))),
        (Remove, open("git"), "predict", Some((Rule::OpenFile, 32))),
        (Remove, open("something"), "predict", Some((Rule::OpenFile, 32))),
        (Remove, holder(How::Executable, "x"), "refuse", Some((Rule::Image, 5))),
        (Replace, holder(How::Mapping, "x"), "predict", Some((Rule::Image, 5))),
        (Replace, came(How::Mapping, "x", Came::Code), "refuse", Some((Rule::Image, 5))),
        (Remove, holder(How::Mapping, "python3"), "refuse", Some((Rule::Image, 5))),
        (Remove, came(How::Mapping, "python3", Came::Forked), "predict", Some((Rule::Image, 5))),
        (Rename, came(How::Mapping, "x", Came::Code), "allow", None),
        (Remove, came(How::Descriptor, "python3", Came::OpenedNoFollow), "predict", Some((Rule::OpenFile, 32))),
        (Remove, came(How::Descriptor, "go", Came::OpenedNoFollow), "refuse", Some((Rule::OpenFile, 32))),
        (Remove, came(How::Descriptor, "python3", Came::Inheritable), "predict", Some((Rule::OpenFile, 32))),
        (Remove, came(How::Descriptor, "python3", Came::Stream), "predict", Some((Rule::OpenFile, 32))),
        (Remove, came(How::Descriptor, "python3", Came::Forked), "predict", Some((Rule::OpenFile, 32))),
        (Rename, holder(How::Executable, "x"), "allow", None),
        (Remove, holder(How::Socket, "x"), "allow", None),
    ];
    for (act, holder, answer, refusal) in rows {
        assert_eq!(said(act, FILE, holder), (answer, refusal), "{act:?} {holder:?}");
    }
}

#[test]
fn programs_of_msys_move_away_what_runs() {
    let answer = |act, caller| judge(act, caller, FILE, &[holder(How::Executable, "x")], &by_default());
    assert!(matches!(answer(Act::Remove, "rm"), Answer::Predict(_)));
    assert!(matches!(answer(Act::Remove, "python3"), Answer::Refuse(_)));
    assert!(matches!(answer(Act::Replace, "mv"), Answer::Refuse(_)));
}

#[test]
fn read_only_files() {
    let target = Target::File { read_only: true, temporary: false };
    let answer = |act, caller| match judge(act, caller, target, &[], &by_default()) {
        Answer::Allow => "allow",
        Answer::Refuse(_) => "refuse",
        Answer::Predict(_) => "predict",
    };
    assert_eq!(answer(Act::Remove, "python3"), "refuse");
    assert_eq!(answer(Act::Remove, "git"), "allow");
    assert_eq!(answer(Act::Remove, "node"), "allow");
    assert_eq!(answer(Act::Replace, "node"), "predict");
    assert_eq!(answer(Act::Replace, "python3"), "refuse");
    assert_eq!(answer(Act::Remove, "something"), "predict");
    assert_eq!(answer(Act::Remove, "cargo"), "predict");
    assert_eq!(answer(Act::Rename, "python3"), "allow");
    let temporary = Target::File { read_only: true, temporary: true };
    assert!(matches!(judge(Act::Remove, "python3", temporary, &[], &by_default()), Answer::Predict(_)));
    assert_eq!(judge(Act::Remove, "python3", FILE, &[], &by_default()), Answer::Allow);
}

#[test]
fn a_sure_refusal_comes_before_a_predicted_one() {
    let holders = [holder(How::Descriptor, "x"), holder(How::Cwd, "sleep")];
    let Answer::Refuse(refusal) = judge(Act::Remove, "rm", Target::Directory, &holders, &by_default()) else {
        panic!("the second holder sits in it");
    };
    assert_eq!((refusal.holder, refusal.class), (Some(1), Refused::Busy));
}

#[test]
fn rules_say_more_of_programs_than_the_table() {
    let told = |program: &str, shares| WindowsRules {
        shares_delete: [(program.to_owned(), shares)].into(),
        ..WindowsRules::default()
    };
    let strict = WindowsRules { strict: true, ..WindowsRules::default() };
    let answer = |program, came, rules: &WindowsRules| {
        let holder = Holder { came, ..holder(How::Descriptor, program) };
        match judge(Act::Remove, "rm", FILE, &[holder], rules) {
            Answer::Allow => "allow",
            Answer::Refuse(_) => "refuse",
            Answer::Predict(_) => "predict",
        }
    };
    assert_eq!(answer("tool", Came::Inheritable, &strict), "refuse");
    assert_eq!(answer("tool", Came::Stream, &strict), "predict");
    assert_eq!(answer("node", Came::Opened, &strict), "allow");
    assert_eq!(answer("python3", Came::Inheritable, &strict), "predict");
    assert_eq!(answer("tool", Came::Opened, &told("tool", false)), "refuse");
    assert_eq!(answer("tool", Came::Opened, &told("tool", true)), "allow");
    assert_eq!(answer("other", Came::Opened, &told("tool", false)), "predict");
    assert_eq!(answer("python3.11", Came::Opened, &told("python3", true)), "allow");
    assert_eq!(answer("node", Came::Opened, &told("node", false)), "refuse");
}

#[test]
fn faithful_errors_are_those_of_the_caller() {
    let faithful = WindowsRules { faithful: true, ..WindowsRules::default() };
    let said = |act, caller, rules: &_| match judge(act, caller, FILE, &[holder(How::Descriptor, "python3")], rules) {
        Answer::Refuse(refusal) => refusal.class,
        answer => panic!("{answer:?}"),
    };
    let plain = by_default();
    assert_eq!(said(Act::Remove, "python3", &plain), Refused::Busy);
    assert_eq!(said(Act::Replace, "node", &plain), Refused::Denied);
    assert_eq!(said(Act::Remove, "python3", &faithful), Refused::Denied);
    assert_eq!(said(Act::Remove, "node", &faithful), Refused::Busy);
    assert_eq!(said(Act::Replace, "node", &faithful), Refused::NotPermitted);
    assert_eq!(said(Act::Remove, "bash", &faithful), Refused::Busy);
    assert_eq!(said(Act::Remove, "tool", &faithful), Refused::Denied);
    assert_eq!(unlink_directory("python3", &faithful), Some(Refused::Denied));
    assert_eq!(unlink_directory("node", &faithful), Some(Refused::NotPermitted));
    assert_eq!(unlink_directory("go", &faithful), None);
    assert_eq!(unlink_directory("python3", &by_default()), None);
}

#[test]
fn programs_are_known_with_and_without_a_version() {
    for name in ["python", "python3", "python3.13", "python.exe", "python3-"] {
        assert_eq!(Runtime::of(name), Some(Runtime::Python), "{name}");
    }
    assert_eq!(Runtime::of("pythonic"), None);
    assert_eq!(Runtime::of(""), None);
}
