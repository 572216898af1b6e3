//! Tables of names, and what holds for all.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

/// What is wrong with one path, in a few words.
fn wrong(paths: &[&str]) -> Vec<(String, String)> {
    let found = illegal(paths.iter().map(|path| (Path::new(path), false)), temp_room());
    found.into_iter().map(|illegal| (illegal.path, illegal.why)).collect()
}

fn whys(paths: &[&str]) -> Vec<String> {
    wrong(paths).into_iter().map(|(_, why)| why).collect()
}

#[test]
fn devices_are_devices_with_any_extension_in_any_folder() {
    for name in [
        "con",
        "CON",
        "Prn",
        "aux.c",
        "NUL.txt",
        "NUL.tar.gz",
        "COM1",
        "com9.log",
        "lpt1",
        "LPT³.x",
        "com¹",
        "CONIN$",
        "conout$.txt",
        "PRN .txt",
        "src/aux/mod.rs",
        "nul  .x",
    ] {
        assert_eq!(whys(&[name]), ["is the name of a device on Windows"], "{name}");
    }
    for name in [
        "auxil.c",
        "console.log",
        "com10.txt",
        "COM.log",
        "nul-terminated.txt",
        "com0",
        "lpt0",
        "lpta",
        "com⁴",
        "xcon",
        "a.con",
        "conin",
        "CLOCK$",
        "co",
        "com",
        "äux",
    ] {
        assert_eq!(whys(&[name]), [""; 0], "{name}");
    }
}

#[test]
fn signs_and_ends() {
    for (name, sign) in [
        ("flow_[fd00::7]:8080.dat", ":"),
        ("what?.md", "?"),
        ("a<b>.txt", "<"),
        ("pipe|name", "|"),
        ("star*.txt", "*"),
        ("quote\".txt", "\\\""),
        ("back\\slash.txt", "\\\\"),
        ("tab\tname", "\\t"),
        ("bell\u{7}", "\\u{7}"),
    ] {
        assert_eq!(whys(&[name]), [format!("has `{sign}` in it, which no name on Windows has")], "{name}");
    }
    for (name, what) in
        [("trailing.", "a dot"), ("trailing ", "a blank"), ("dir.d./inner.txt", "a dot"), ("x...", "a dot")]
    {
        assert_eq!(whys(&[name]), [format!("ends in {what}, which Windows drops")], "{name}");
    }
    for name in
        ["a b.txt", ".hidden", "dots..in.name", "é.txt", " leading", "\u{7f}", "a'b", "$x", "~", "漢字", "[x]{y}"]
    {
        assert_eq!(whys(&[name]), [""; 0], "{name}");
    }
}

#[test]
fn twins_are_two_names_of_one_folder() {
    assert_eq!(
        wrong(&["a/Test.txt", "b/test.txt", "a/test.txt"]),
        [(
            "a/test.txt".to_owned(),
            "and Test.txt are one name on Windows and macOS: they differ in case only".to_owned()
        )]
    );
    // A folder's twin is told once, whatever is in both.
    assert_eq!(wrong(&["Src/a", "Src/b", "src/a", "src/c"]).len(), 1);
    assert_eq!(wrong(&["É", "é"]).len(), 1);
    assert_eq!(whys(&["straße", "STRASSE"]), [""; 0], "letters are compared one by one");
    assert_eq!(whys(&["𐐀", "𐐨"]), [""; 0], "what takes two units is not folded");
    assert_eq!(wrong(&["x", "X", "x"]).len(), 1, "a name is no twin of itself");
}

#[test]
fn normalisation_is_the_business_of_macos() {
    let found = illegal([(Path::new("caf\u{e9}"), false), (Path::new("cafe\u{301}"), false)], 0);
    assert_eq!(found.iter().map(|illegal| illegal.on).collect::<Vec<_>>(), [MACOS]);
    assert_eq!(illegal([(Path::new("K"), false), (Path::new("\u{212a}"), false)], 0)[0].on, MACOS);
    assert_eq!(wrong(&["Cafe\u{301}", "caf\u{e9}"]).len(), 1, "both at once");
}

#[test]
fn paths_are_as_long_as_windows_would_have_them() {
    let room = LONGEST_PATH - temp_room();
    let path = |length: usize| {
        let folder = "d".repeat(50);
        let mut path = format!("{folder}/{folder}/{folder}/");
        path.push_str(&"f".repeat(length - path.len()));
        path
    };
    assert_eq!(whys(&[&path(room)]), [""; 0]);
    let long = path(room + 1);
    assert_eq!(
        wrong(&[&long]),
        [(long.clone(), "has a path of about 260 characters on Windows, where 259 is the most".to_owned())]
    );
    // Of a file that is too deep its folders are not told as well.
    let deep = format!("{}/f.txt", ["d".repeat(50).as_str(); 5].join("/"));
    assert_eq!(wrong(&[&deep]).iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), [deep.as_str()]);
    let folder = path(room - 11);
    assert_eq!(illegal([(Path::new(&folder), true)], temp_room()).len(), 1, "a folder has less");
    assert_eq!(project_room("x"), 33);
}

#[cfg(unix)]
#[test]
fn what_is_not_unicode_is_told() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let found = illegal([(Path::new(name), false)], 0);
    assert_eq!((found[0].on, found[0].why.as_str()), (BOTH, "is not Unicode (UTF-8)"));
}

fn check(platforms: &[Platform], rules: crate::model::Rules) -> Check {
    let mut check = Check::new("c", crate::model::CheckCommand::Argv(vec!["x".into()]));
    check.platforms = platforms.to_vec();
    check.rules = rules;
    check
}

#[test]
fn it_weighs_what_the_check_says_that_it_is_for() {
    use crate::model::Rules::{Native, Windows};
    let cases = [];
    let blame = Blame { cases: &cases, complete: true };
    let weigh = |name: &str, check: &Check| {
        let found = illegal([(Path::new(name), false)], 0);
        findings(&found, check, &blame).first().map(|finding| finding.severity)
    };
    let all = [Platform::Linux, Platform::Windows];
    assert_eq!(weigh("aux.c", &check(&[], Native)), Some(Severity::Note));
    assert_eq!(weigh("aux.c", &check(&[], Windows)), Some(Severity::Error));
    assert_eq!(weigh("aux.c", &check(&all, Native)), Some(Severity::Error));
    assert_eq!(weigh("aux.c", &check(&[Platform::Linux], Native)), None);
    assert_eq!(weigh("aux.c", &check(&[Platform::Linux], Windows)), Some(Severity::Error));
}

#[test]
fn of_very_many_the_first_are_told_and_the_rest_is_counted() {
    let paths: Vec<PathBuf> = (0..100).map(|number| PathBuf::from(format!("{number}?"))).collect();
    let found = illegal(paths.iter().map(|path| (path.as_path(), false)), 0);
    let told = findings(&found, &check(&[], crate::model::Rules::Windows), &Blame { cases: &[], complete: true });
    assert_eq!(told.len(), TOLD + 1);
    assert_eq!(told[TOLD].message, "and 80 more names that another system cannot have");
    assert!(of_the_run(&found).is_some_and(|note| note.message.ends_with("; and 97 more")));
    assert_eq!(of_the_run(&[]), None);
}

proptest! {
    #[test]
    fn names_of_ordinary_letters_are_fine(names in proptest::collection::btree_set("[b-z][0-9a-z_-]{3,20}(\\.[a-z]{1,4})?", 0..20)) {
        let paths: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert_eq!(whys(&paths), Vec::<String>::new());
    }

    #[test]
    fn a_name_in_another_case_is_its_twin(name in "[b-z][a-zà-öø-þ]{4,20}") {
        let upper: String = fold(&name).collect();
        prop_assume!(upper != name);
        prop_assert_eq!(wrong(&[&name, &upper]).len(), 1);
    }

    #[test]
    fn no_listing_is_too_odd(paths in proptest::collection::vec(".{0,40}", 0..20)) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let _ = wrong(&paths);
    }
}
