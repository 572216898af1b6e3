//! bats by hand: what recordings do not have.

use super::*;

fn reading(argv: &[&str], output: &str) -> Reading {
    let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
    read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &Context { argv: &argv, ..context(1) })
}

#[test]
fn tap_is_called_bats_where_something_says_so() {
    let green = "1..2\nok 1 a\nok 2 b\n";
    assert_eq!(reading(&["make", "check"], green).reader.as_deref(), Some("tap"));
    assert_eq!(reading(&["bats", "t"], green).reader.as_deref(), Some("bats"));
    let red = "1..2\nnot ok 1 a\n# (in test file t.bats, line 5)\n#   `false' failed\nok 2 b\n";
    assert_eq!(reading(&["make", "check"], red).reader.as_deref(), Some("bats"));
    let named = read_as(&ReaderChoice::Named(ReaderName::Bats), Stream::Stdout, green.as_bytes(), &context(0));
    assert_eq!(numbers(&named.counts), (Some(2), [2, 2, 0, 0], Some(0)));
}

#[test]
fn a_helper_that_is_installed_leads_to_the_case() {
    let output = "1..1\nnot ok 1 a\n# (from function `assert_output' in file t/test_helper/bats-assert/src/assert.bash, line 194,\n#  from function `check' in file t/helper.bash, line 3,\n#  in test file t/a.bats, line 5)\n#   `check' failed\n";
    let frames = reading(&["bats"], output).frames;
    assert_eq!(frames.len(), 1);
    let raised = frames[0].raised.as_ref().map(|raised| (raised.file.as_str(), raised.line));
    assert_eq!((frames[0].file.as_str(), frames[0].line), ("tests/t/helper.bash", 3));
    assert_eq!(raised, Some(("t/test_helper/bats-assert/src/assert.bash", 194)));
    assert_eq!(frames[0].error.as_deref(), Some("`check' failed"));
}

#[test]
fn marks_alone_are_not_bats() {
    for output in [" ✓ a\n ✓ b\n", " ✗ a\n", "3 tests, 0 failures\n", " - a\n - b\n3 tests, 1 failure\n"] {
        assert_ne!(reading(&["sh"], output).reader.as_deref(), Some("bats"), "{output}");
    }
    let plain = " ✓ a\n ✗ b\n   (in test file t.bats, line 5)\n     `false' failed\n - c (skipped: x)\n\n3 tests, 1 failure, 1 skipped\n";
    let seen = reading(&["sh"], plain);
    assert_eq!(numbers(&seen.counts), (Some(3), [3, 1, 1, 1], Some(0)));
    assert_eq!((seen.frames.len(), seen.frames[0].case.as_deref()), (1, Some("b")));
}

#[test]
fn a_tally_that_tells_of_more_failures_is_believed() {
    let seen = reading(&["sh"], " ✓ a\n ✓ b\n\n3 tests, 2 failures\n");
    assert_eq!(numbers(&seen.counts), (Some(3), [2, 0, 2, 0], Some(1)));
}
