//! Listings as the runners print them.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

fn read(form: &ListingForm, text: &str) -> Result<Listed, String> {
    listing(form, Box::new(text.as_bytes())).expect("a slice can be read")
}

/// The form, the number, and the names.
fn seen(text: &str) -> (&'static str, u64, Vec<String>) {
    let listed = read(&ListingForm::Auto, text).unwrap_or_else(|why| panic!("{why}: {text}"));
    for (_, named) in ListingForm::NAMED.iter().filter(|(name, _)| *name == listed.form) {
        assert_eq!(read(named, text).as_ref(), Ok(&listed), "{text}");
    }
    (listed.form, listed.number, listed.names)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

const IDS: &str = "tests/test_a.py::test_p[a b]\ntests/test_a.py::test_p[c::d]\ntests/test_a.py::TestX::test_y\n";

#[test]
fn pytest_lists_ids_or_numbers() {
    let all =
        names(&["tests/test_a.py::test_p[a b]", "tests/test_a.py::test_p[c::d]", "tests/test_a.py::TestX::test_y"]);
    assert_eq!(seen(&format!("{IDS}\n3 tests collected in 0.02s\n")), ("pytest", 3, all.clone()));
    assert_eq!(
        seen(&format!("{IDS}\r\n3/9 tests collected (6 deselected) in 62.02s (0:01:02)")),
        ("pytest", 3, all.clone())
    );
    // Before pytest 6.2.
    assert_eq!(seen(&format!("{IDS}\nno tests ran in 0.02s\n")), ("pytest", 3, all.clone()));
    assert_eq!(seen(&format!("{IDS}\nno tests ran in 0.02 seconds\n")), ("pytest", 3, all.clone()));
    let warnings = "=============================== warnings summary ===============================\n\
                    tests/test_a.py::test_p[a b]\n  /box/x.py:1: Warning: x\n\n3 tests collected in 0.02s\n";
    assert_eq!(seen(&format!("{IDS}\n{warnings}")), ("pytest", 3, all));
    // What a conftest prints is not told from an id, and the tally shows that.
    assert_eq!(seen(&format!("a.b::c\n{IDS}\n3 tests collected in 0.02s\n")), ("pytest", 3, vec![]));
    assert_eq!(seen("tests/test_a.py: 3\ntests/b c.py: 1\n\n"), ("pytest", 4, vec![]));
    let tree = "============================= test session starts ==============================\ncollected 1 item\n\n\
                <Dir py>\n  <Module test_a.py>\n    <Function test_z>\n\n\
                ========================== 1 test collected in 0.02s ==========================\n";
    assert_eq!(seen(tree), ("pytest", 1, vec![]));
    for none in ["\nno tests collected in 0.00s\n", "\nno tests collected (4 deselected) in 0.01s\n"] {
        assert_eq!(read(&ListingForm::Auto, none), Err("it lists no cases (read as a listing of pytest)".to_owned()));
    }
}

#[test]
fn cargo_lists_each_binary_with_its_tally() {
    let all = names(&["tests::a", "tests::b", "a", "benches::c", "src/lib.rs - f (line 1)"]);
    let text = "tests::a: test\ntests::b: test\n\n2 tests, 0 benchmarks\na: test\nbenches::c: benchmark\n\n\
                1 test, 1 benchmark\n\n0 tests, 0 benchmarks\nsrc/lib.rs - f (line 1): test\n\n1 test, 0 benchmarks\n\
                all doctests ran in 0.52s; merged doctests compilation took 0.51s\n";
    assert_eq!(seen(text), ("cargo-test", 5, all.clone()));
    let terse: Vec<&str> = text.lines().filter(|line| !line.contains("benchmark")).collect();
    let terse = terse.join("\n").replace("\na: test", "\na: test\nbenches::c: benchmark");
    assert_eq!(seen(&terse), ("cargo-test", 5, all));
    assert_eq!(seen("a: test\n\n2 tests, 0 benchmarks\n"), ("cargo-test", 2, vec![]));
    assert!(read(&ListingForm::Auto, "\n0 tests, 0 benchmarks\n").is_err());
}

#[test]
fn nextest_go_and_bats() {
    let all = || names(&["boxed tests::a", "boxed::it a", "boxed::it outer"]);
    assert_eq!(seen("boxed tests::a\nboxed::it a\nboxed::it outer\n"), ("nextest", 3, all()));
    assert_eq!(seen("boxed:\n    tests::a\nboxed::it:\n    a\n    outer\n"), ("nextest", 3, all()));
    let go = "TestA\nTestB\nBenchmarkX\nFuzzZ\nExampleP\nok  \texample.com/m/p\t0.003s\nTestA\n\
              ok  \texample.com/m/q\t(cached)\n?   \texample.com/m/r\t[no test files]\n";
    assert_eq!(seen(go), ("go-test", 5, names(&["TestA", "TestB", "FuzzZ", "ExampleP", "TestA"])));
    assert_eq!(seen("2\n"), ("bats", 2, vec![]));
    assert!(read(&ListingForm::Auto, "0\n").is_err());
    assert!(read(&ListingForm::Auto, "hello world\nand more: yes\n").is_err_and(|why| why.contains("lines: RE")));
    assert!(read(&ListingForm::GoTest, "2\n").is_err_and(|why| why.ends_with("in the form of go-test")));
}

#[test]
fn an_own_expression_names_by_its_group() {
    let lines = |expression: &str| {
        let listed = read(&ListingForm::Lines(expression.to_owned()), "# case: one\n# case: two \nother\n");
        listed.map(|listed| listed.names)
    };
    assert_eq!(lines("^# (case): (?<name>.+)$"), Ok(names(&["one", "two"])));
    assert_eq!(lines("^# case: (.+)$"), Ok(names(&["one", "two"])));
    assert_eq!(lines("case: .+"), Ok(names(&["case: one", "case: two"])));
    assert!(lines("^nothing$").is_err());
}

#[test]
fn names_have_a_limit_and_numbers_go_on() {
    let mut text = String::new();
    for at in 0..=MOST_CASES {
        writeln!(text, "t.py::test_{at}").expect("a string");
    }
    let listed = read(&ListingForm::Pytest, &format!("{text}\n{} tests collected in 1s\n", MOST_CASES + 1));
    assert_eq!(listed.map(|listed| (listed.number, listed.names.len())), Ok((MOST_CASES as u64 + 1, 0)));
    let long = format!("t.py::{}\n", "ü".repeat(900)).repeat(20_000);
    let listed = read(&ListingForm::Pytest, &format!("{long}\n20000 tests collected in 1s\n"));
    assert_eq!(listed.map(|listed| (listed.number, listed.names.len())), Ok((20_000, 0)));
}

proptest! {
    #[test]
    fn any_text_is_answered(parts in prop::collection::vec(prop::sample::select(vec![
        "a.py::t", "\n", "\n", ": test", "3 tests, 1 benchmark", "3 tests collected in 0.1s", "TestA", "ok  \tp\t1s", "    ",
        "x:", " ", "7", "99999999999999999999", "a.py: 4", "é", "<Function x>", "\r",
    ]), 0..40)) {
        let text = parts.concat();
        for (_, form) in ListingForm::NAMED {
            if let Ok(listed) = read(&form, &text) {
                prop_assert!(listed.names.is_empty() || listed.names.len() as u64 == listed.number);
            }
        }
    }
}
