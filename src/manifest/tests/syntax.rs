//! What YAML has beyond plain data, and sizes that no person writes.

use super::project::Project;

fn errors(content: &str) -> String {
    Project::with(content).errors()
}

fn count(errors: &str) -> usize {
    errors.matches("error: ").count()
}

#[test]
fn duplicate_keys_name_both_places_and_all_are_told() {
    let errors = errors(
        "version: 1
checks:
  - id: guard
    run: [sh, -c, exit 2]
    expect: {exit: 2}
    run: [sh, -c, exit 0]
checks:
  - id: last-one
    run: [\"true\"]
    env: {A: 1, B: 2, 'A': 3}
",
    );
    assert_eq!(count(&errors), 3, "{errors}");
    assert!(
        errors.contains("the key `run` is here twice, first at line 4, column 5\n --> checks.d/a.yaml:6:5\n"),
        "{errors}"
    );
    assert!(errors.contains("the key `checks` is here twice, first at line 2, column 1\n --> checks.d/a.yaml:7:1\n"));
    assert!(errors.contains("the key `A` is here twice, first at line 10, column 11\n  --> checks.d/a.yaml:10:23\n"));
}

#[test]
fn merge_keys_are_refused_and_nothing_is_missed_for_them() {
    let errors = errors(
        "version: 1
defaults:
  timeout: 5s
checks:
  - <<: {id: one, run: [x]}
  - id: two
    <<: *shared
  - id: three
    run: [x]
    env: {\"<<\": heredoc, '<<<': x}
    allow:
      - <<: {kind: residue, because: x}
    needs:
      - <<: {program: x}
",
    );
    assert_eq!(errors.matches("error: manifests have no merge keys (`<<`)").count(), 4, "{errors}");
    assert_eq!(count(&errors), 4, "{errors}");
    assert!(errors.contains("a.yaml:5:5") && errors.contains("a.yaml:7:5"), "{errors}");

    let check = super::project::check_on(
        crate::model::Platform::Linux,
        "version: 1\nchecks:\n  - {id: a, run: [x], env: {\"<<\": heredoc}}\n",
    );
    assert_eq!(check.env["<<"].as_deref(), Some("heredoc"));

    let errors = self::errors("version: 1\n<<: {checks: []}\n");
    assert_eq!(count(&errors), 1, "{errors}");
}

#[test]
fn anchors_aliases_and_tags_are_refused_at_their_places() {
    let errors = errors(
        "version: 1
checks:
  - id: a
    run: &argv [x, y]
  - id: b
    run: *argv
  - id: c
    run: !!seq [x]
    title: !secret word
  - id: *gone
    run: [x]
",
    );
    assert_eq!(count(&errors), 4, "{errors}");
    assert!(errors.contains("manifests have no anchors such as `&argv`"), "{errors}");
    assert!(errors.contains("a.yaml:4:10") && errors.contains("a.yaml:6:10"), "{errors}");
    assert!(errors.contains("manifests have no tags such as `!!seq`\n --> checks.d/a.yaml:8:10\n"), "{errors}");
    assert!(errors.contains("manifests have no tags such as `!secret`\n --> checks.d/a.yaml:9:12\n"), "{errors}");
    assert!(errors.contains("the alias `*gone` stands for nothing"), "{errors}");
}

#[test]
fn aliases_never_unfold() {
    let mut bomb = "version: 1\nx0: &x0 [ha]\n".to_owned();
    for level in 1..12 {
        let uses = vec![format!("*x{}", level - 1); 12].join(", ");
        bomb.extend([format!("x{level}: &x{level} [{uses}]\n")]);
    }
    bomb.push_str("checks:\n  - {id: bomb, run: *x11}\n");
    let errors = errors(&bomb);
    assert!(errors.contains("manifests have no anchors such as `&x0`"), "{errors}");
    assert!(errors.len() < 20_000);

    let errors = self::errors("version: 1\nchecks: &all\n  - id: loop\n    run: *all\n");
    assert_eq!(count(&errors), 1, "{errors}");
    let errors = self::errors("version: 1\nchecks: &all *all\n");
    assert!(count(&errors) >= 1, "{errors}");
}

#[test]
fn depth_is_bounded_without_a_stack() {
    let levels = 100_000;
    let indented = |line: fn(usize) -> String| {
        let mut text = String::from("version: 1\nchecks:\n");
        let mut level = 0;
        while text.len() < 900_000 {
            text.push_str(&" ".repeat(level));
            text.push_str(&line(level));
            level += 1;
        }
        text
    };
    for text in [
        format!("version: 1\nchecks: {}{}\n", "[".repeat(levels), "]".repeat(levels)),
        format!("checks: {}", "[".repeat(levels)),
        format!("{}{}", "{a: ".repeat(levels), "}".repeat(levels)),
        "{".repeat(levels),
        "- ".repeat(levels),
        "? ".repeat(levels),
        "[{".repeat(levels),
        "- ? ".repeat(levels),
        indented(|level| format!("k{level}:\n")),
        indented(|_| "-\n".to_owned()),
    ] {
        let errors = errors(&text);
        assert!(errors.contains("nested more than 16 deep"), "{}: {errors}", &text[..20]);
        assert_eq!(count(&errors), 1);
    }
    // Lists within maps and maps within lists are counted together.
    let errors = errors(&format!("version: 1\nchecks:\n  {}{}{}\n", "- ".repeat(8), "[".repeat(8), "]".repeat(8)));
    assert!(errors.contains("nested more than 16 deep"), "{errors}");
    // Sixteen is read, and refused for what it is.
    let errors = self::errors(&format!("version: 1\nchecks: {}{}\n", "[".repeat(15), "]".repeat(15)));
    assert!(!errors.contains("nested"), "{errors}");
}

#[test]
fn the_number_of_values_is_bounded() {
    let errors = errors(&format!("version: 1\nchecks: [{}]\n", "a,".repeat(20_001)));
    assert!(errors.contains("more than 20000 values"), "{errors}");
    let errors = self::errors(&format!("version: 1\nchecks: [{}]\n", "a,".repeat(19_000)));
    assert!(errors.ends_with("more than 100 errors in 1 file"), "{errors}");
    let errors = self::errors(&format!("version: 1\n{}", "checks: 1\n".repeat(9_000)));
    assert!(errors.ends_with("more than 100 errors in 1 file"), "{errors}");
    // Errors at the end of much that is right: each costs a reading of all of it.
    let errors = self::errors(&format!("setup: [{}]\nchecks: [{}]\n", "[a],".repeat(8_000), "a,".repeat(3_900)));
    assert!(errors.ends_with("more than 100 errors in 1 file"), "{errors}");
    let keys: Vec<_> = (0..9_000).map(|key| format!("k{key}: x")).collect();
    let errors = self::errors(&format!("version: 1\nchecks: [{{{}}}]\n", keys.join(", ")));
    assert!(errors.ends_with("more than 100 errors in 1 file"), "{errors}");
}

#[test]
fn one_document() {
    let errors = errors("version: 1\nchecks:\n  - {id: a, run: [x]}\n---\nversion: 1\n");
    assert!(
        errors.starts_with("error: a manifest is one document; here a second one begins\n --> checks.d/a.yaml:4:1\n"),
        "{errors}"
    );
    Project::with("---\nversion: 1\nchecks:\n  - {id: a, run: [x]}\n...\n").loaded();
}

#[test]
fn keys_are_texts() {
    let errors = errors("version: 1\nchecks: []\n? [a, b]\n: c\n{a: b}: c\n: d\n");
    assert_eq!(errors.matches("a list or a map as a key").count(), 2, "{errors}");
    assert!(errors.contains("a value without a key"), "{errors}");
}

#[test]
fn tabs_are_named() {
    for (text, place) in [
        ("version: 1\nchecks:\n\t- id: a\n", "3:1"),
        ("version: 1\nchecks:\n  - id: a\n\trun: [x]\n", "4:1"),
        ("version: 1\nchecks:\n  - id: a\n    expect:\n    \texit: 1\n", "5:5"),
        ("version: 1\nchecks:\n  -\tid: a\n\t\trun: [x]\n", "3:4"),
    ] {
        let errors = errors(text);
        assert!(errors.contains("a tab is used as indentation"), "{text:?}: {errors}");
        assert!(errors.contains(&format!("a.yaml:{place}\n")), "{text:?}: {errors}");
        assert!(errors.contains("spaces"), "{errors}");
    }
    Project::with("version: 1\nchecks:\n  - {id: a, run: [x]}\t# a tab before a comment\n").loaded();
}

#[test]
fn errors_of_syntax_have_places_and_remedies() {
    for (text, message, help, place) in [
        ("version: 1\nchecks:\n  - id: a: b\n", "not valid YAML: ", "quotes", "3:10"),
        ("version: 1\nchecks:\n  - id: @a\n", "unexpected character", "quotes", "3:9"),
        ("version: 1\nchecks:\n  - id: a\n   run: [x]\n", "not valid YAML: ", "same number of spaces", "4:4"),
        ("version: 1\nchecks:\n  - title: \"\\d\"\n", "unknown escape", "backslash", "3:12"),
        ("version: 1\nchecks: [a\n", "not valid YAML: unclosed bracket", "", "2:9"),
        ("version: 1\nchecks:\n  - title: \"a\n", "not valid YAML: unclosed quote", "", "3:12"),
    ] {
        let errors = errors(text);
        assert!(errors.contains(message) && errors.contains(help), "{text:?}: {errors}");
        assert!(errors.contains(&format!("a.yaml:{place}\n")), "{text:?}: {errors}");
    }
}

#[test]
fn nul_characters_cannot_be_written_as_escapes() {
    let errors = errors("version: 1\nchecks:\n  - {id: a, run: [x, \"a\\0b\"]}\n");
    assert!(errors.starts_with("error: a text with a NUL character in it\n --> checks.d/a.yaml:3:22\n"), "{errors}");
}
