//! What is wrong with the values of keys, and what is said about it.

use super::project::{Project, errors_of_check};

/// Keys of a check, and what the one error about them says.
const WRONG: [(&str, &str); 126] = [
    ("tiemout: 5s", "unknown key `tiemout`\n did you mean `timeout`?"),
    ("exit: 3", "unknown key `exit`\n it belongs into `expect`"),
    ("banana: 3", "unknown key `banana`\n known here: id, title, run, "),
    ("link: []", "the key `link` is not known in this version of hostproof"),
    ("copies: 0", "0 is not between 1 and 64"),
    ("matrix: {}", "a matrix without variables"),
    ("matrix: {A: [1, \"1\"]}", "`1` is there twice for A"),
    (
        "matrix: {A: [x, \"x,y\"]}",
        "\"x,y\" cannot be a value of A: it has `,` in it, and stands in the id of a variant",
    ),
    (
        "matrix: {A: [\"x\\ny\"]}",
        "\"x\\ny\" cannot be a value of A: it has a line end or another control character in it",
    ),
    ("faults: [{call: rename, path: a}]", "`errno` is missing"),
    ("faults: [{call: rename, path: a, errno: EOI}]", "`EOI` is the name of no error"),
    ("faults: [{call: open, path: a, nth: 0, errno: EIO}]", "a number from 1 on, or `all`"),
    ("forbid: [bin/tmux]", "\"bin/tmux\" is not the name of a program"),
    ("forbid: [/usr/bin/]", "\"/usr/bin/\" is not the name of a program"),
    ("forbid: [{observe: true}]", "`program` is missing"),
    ("plant: {a: fifos}", "`fifos` can't be planted"),
    ("plant: {$HOME/a: fifo}", "`$HOME` stands for nothing here\n `$project` and `$sandbox` do"),
    ("copies: 2\nplant: {/tmp/a: fifo}", "`copies`, and each has something planted at /tmp/a\n below `$sandbox`"),
    ("plant: {a/: fifo}", "\"a/\" is no place to plant something at"),
    ("events: [{expect: allow}]", "`events` for a check without `hook`\n only a wired hook is called"),
    ("eventually: [{within: 10s, is: absent}]", "the key `file` is missing"),
    ("eventually: [{within: 10s, file: x}]", "the key `is` is missing"),
    ("eventually: [{within: 11m, file: x, is: absent}]", "more than ten minutes after the end"),
    ("eventually: [{within: 1s, file: x, is: gone}]", "`gone` is not known here\n known here: absent, present"),
    ("eventually: [{within: 1s, file: ../x, is: absent}]", "has `..` in it"),
    ("allow: [{kind: residue, ends_within: 1s, because: x}]", "`ends_within` for what is no process"),
    ("title: 5", "expected a text, found `5`\n put it into quotes: \"5\""),
    ("title: [a]", "expected a text, found a list"),
    ("title:", "expected a text, found nothing"),
    ("cwd: here", "`here` is not known here\n known here: project, copy, sandbox"),
    ("cwd: 5", "`5` is not known here\n known here: project, copy, sandbox"),
    ("cwd: [project]", "expected one word, found a list or map"),
    ("home: rael", "did you mean `real`?"),
    ("interpreter: sh", "an `interpreter` for a check without `shell`"),
    ("linux: {interpreter: sh}", "an `interpreter` for a check without `shell`"),
    ("title: !!int 5", "manifests have no tags such as `!!int`"),
    ("shell: exit 0", "both `run` and `shell`"),
    ("linux: {shell: x, run: [x]}", "both `run` and `shell`"),
    ("linux: {id: x}", "the key `id` cannot be here"),
    ("linux: {windows: {}}", "the key `windows` cannot be here"),
    ("linux: {tiemout: 5s}", "did you mean `timeout`?"),
    ("linux: 5", "expected a map with the keys of a check, found the integer 5"),
    ("files: {../a: b}", "\"../a\" has `..` in it"),
    ("files: {a: /b}", "\"/b\" is an absolute path"),
    ("files: {.: b}", "names nothing in the sandbox"),
    ("files: [a]", "expected a map, found a list"),
    ("stdin: ../x", "\"../x\" has `..` in it\n paths are relative to the project"),
    ("stdin: C:\\x", "\"C:\\x\" is an absolute path"),
    ("stdin: a\\b", "has a backslash in it\n write `/`"),
    ("env: {A: 1.5}", "expected a text, found the number 1.5\n put it into quotes"),
    ("env: {A: [x]}", "expected the value of a variable"),
    ("env: {'A=B': x}", "\"A=B\" cannot be the name of a variable"),
    ("env: {'': x}", "\"\" cannot be the name of a variable"),
    ("inherit: everything", "expected a list of names, or `all`"),
    ("inherit: [5]", "expected the name of a variable, found the integer 5"),
    ("timeout: 5", "5 has no unit\n write 5s"),
    ("timeout: '5'", "5 has no unit\n write 5s"),
    ("timeout: 5 min", "\"5 min\" is not a duration"),
    ("timeout: 0s", "a time limit of nothing"),
    ("timeout: 25h", "a time limit of more than a day"),
    ("grace: 11m", "a grace of more than ten minutes"),
    ("grace: 1.5", "expected a duration, found the number 1.5"),
    ("breaks: [{file: a, replace: a, with: b}]", "the key `expect` is missing"),
    ("breaks: [{expect: unmet}]", "the key `file` is missing"),
    ("breaks: [{file: a, with: b, expect: unmet}]", "the key `replace` is missing"),
    ("breaks: [{file: a, replace: a, expect: unmet}]", "the key `with` is missing\n write what stands there instead"),
    ("breaks: [{file: a, replace: a, with: a, expect: unmet}]", "this edit changes nothing"),
    ("breaks: [{file: a, replace: '', with: a, expect: unmet}]", "a text that is nothing stands everywhere"),
    ("breaks: [{file: ../a, replace: a, with: b, expect: unmet}]", "\"../a\" has `..` in it"),
    ("breaks: [{file: a, replace: a, with: b, expect: held-directoy}]", "did you mean held-directory?"),
    (
        "breaks: [{file: a, replace: a, with: b, expect: unmet, edits: [{file: a, replace: a, with: b}]}]",
        "both an edit and `edits`",
    ),
    ("breaks: [{edits: [], expect: unmet}]", "this list must not be empty"),
    ("breaks: [{edits: [{file: a, with: b}], expect: unmet}]", "the key `replace` is missing"),
    ("breaks: [{file: a, replaces: a, with: b, expect: unmet}]", "unknown key `replaces`\n did you mean `replace`?"),
    ("reader: jnuit", "`jnuit` is not known here\n known here: auto, none, "),
    ("reader: junit", "`junit` reads files, and does not say which\n write {junit: build/report.xml}"),
    ("reader: lines", "`lines` reads by expressions of your own, and has none\n write {lines: "),
    ("reader: [jest]", "expected the name of a reader, or a map with `junit` or `lines`, found a list"),
    ("reader: {}", "a reader must not be empty"),
    ("reader: {xml: a}", "unknown key `xml`\n known here: junit, lines"),
    ("reader: {junit: ../a.xml}", "\"../a.xml\" has `..` in it"),
    ("reader: {junit: $sandbox/../a.xml}", "has `..` in it"),
    ("reader: {junit: /tmp/a.xml}", "\"/tmp/a.xml\" is an absolute path"),
    ("reader: {junit: $HOME/a.xml}", "begins with a variable that is not known here"),
    ("reader: {junit: 'a[.xml'}", "not a path, nor a glob of paths"),
    ("reader: {junit: a.xml, lines: {pass: x}}", "a reader with more than one key"),
    ("reader: {lines: {skip: x}}", "at least one of `pass` and `fail` must not be empty"),
    ("reader: {lines: {pass: '('}}", "not a regular expression: unclosed group"),
    ("reader: {lines: {passed: x}}", "unknown key `passed`\n did you mean `pass`?"),
    ("expect: {exit: '0'}", "expected an integer, found the text \"0\""),
    ("expect: {exit: 99999999999}", "expected an integer, found the integer 99999999999"),
    ("expect: {cases: '5'}", "expected a count of cases, found the text \"5\"\n write it without quotes: 5"),
    ("expect: {cases: -5}", "a count cannot be negative"),
    ("expect: {cases: '>5'}", "\">5\" is not a count of cases"),
    ("expect: {cases: [pytest]}", "expected a count of cases, found a list\n belongs under `list`"),
    ("expect: {cases: {}}", "the key `list` is missing\n write the command that lists them"),
    ("expect: {cases: {list: pytest -q}}", "expected a command as a list of words\n write it as a list: [pytest, -q]"),
    ("expect: {cases: {list: []}}", "a command must not be empty"),
    ("expect: {cases: {list: [x], raeder: auto}}", "unknown key `raeder`\n did you mean `reader`?"),
    ("expect: {cases: {list: [x], reader: pytset}}", "did you mean `pytest`?\n known here: auto, pytest, cargo-test"),
    ("expect: {cases: {list: [x], reader: {lines: '('}}}", "not a regular expression: unclosed group"),
    ("expect: {cases: {list: [x], reader: {}}}", "this reader must not be empty"),
    ("expect: {cases: true}", "expected a count of cases (57, \">=57\", or a map with `list`), found `true`"),
    ("expect: {skipped: -1}", "a count cannot be negative"),
    ("expect: {skipped: '0'}", "expected a number of skipped cases, or a list of rules for their reasons"),
    ("expect: {skipped: []}", "this list must not be empty"),
    ("expect: {skipped: [x]}", "expected a rule (a map with `matches`, and perhaps `most`), found the text \"x\""),
    ("expect: {skipped: [{most: 1}]}", "the key `matches` is missing"),
    ("expect: {skipped: [{matches: '('}]}", "not a regular expression: unclosed group"),
    ("expect: {skipped: [{matches: x, most: -1}]}", "expected an integer that is not negative"),
    ("expect: {stdout: [all green]}", "expected a rule, found a text\n write {contains: \"all green\"}"),
    ("expect: {stdout: {contains: x}}", "expected a list, found a map"),
    ("expect: {stdout: [{contains: x, matches: y}]}", "a rule with more than one key"),
    ("expect: {stdout: [{}]}", "a rule must not be empty"),
    ("expect: {stdout: [{matches: '('}]}", "not a regular expression: unclosed group"),
    ("expect: {copies: 2}", "unknown key `copies`"),
    ("allow: [{because: x}]", "the key `kind` is missing"),
    ("allow: [{kind: residue}]", "the key `because` is missing"),
    ("allow: [{kind: residue, because: ' '}]", "this text must not be empty"),
    ("allow: [{kind: residu, because: x}]", "did you mean `residue`?"),
    ("allow: [{kind: residue, because: x, match: '['}]", "not a regular expression: unclosed character class"),
    ("platforms: linux", "expected a list, found the text \"linux\"\n write it as a list: [linux]"),
    ("platforms: []", "this list must not be empty"),
    ("needs: [python3==3]", "\"python3==3\" is not a program that can be looked for"),
    ("needs: [{optional: true}]", "the key `program` is missing"),
    ("lock: [5]", "expected a text, found the integer 5"),
];

#[test]
fn each_wrong_value_is_one_error_with_its_place() {
    for (keys, expected) in WRONG {
        let errors = errors_of_check(keys);
        assert!(errors.ends_with("\n1 error in 1 file"), "{keys}: {errors}");
        assert!(errors.contains("checks.d/a.yaml:5:") || errors.contains("checks.d/a.yaml:4:"), "{keys}: {errors}");
        for part in expected.split("\n ") {
            assert!(errors.contains(part), "{keys}: {part:?} is not in {errors}");
        }
    }
}

#[test]
fn places_are_those_of_the_innermost_value() {
    for (keys, place) in [
        ("env: {A: x, B: [x]}", "5:20"),
        ("expect: {stdout: [{contains: x}, {matches: '('}]}", "5:48"),
        ("expect: {stdout: [{contains: x}, {matches_: x}]}", "5:39"),
        ("needs: [a, {program: '=', optional: no}]", "5:26"),
        ("files: {a: b, ../c: d}", "5:19"),
        ("timeout:\n  5", "6:7"),
        ("timeout:", "5:5"),
    ] {
        let errors = errors_of_check(keys);
        assert!(errors.contains(&format!("checks.d/a.yaml:{place}\n")), "{keys}: {errors}");
    }
}

#[test]
fn commands() {
    for (run, expected) in [
        ("python3 x.py", "expected a command as a list of words, found a text"),
        ("[]", "a command must not be empty"),
        ("[sleep, 5]", "expected a text, found `5`"),
        ("['']", "the first word of a command must name a program"),
        ("{a: b}", "expected a command, as a list of words, found a map"),
        ("", "expected a command, as a list of words, found nothing"),
    ] {
        let errors = Project::with(format!("version: 1\nchecks:\n  - id: a\n    run: {run}\n")).errors();
        assert!(errors.contains(expected), "{run}: {errors}");
        // A command that is wrong is not missing as well.
        assert!(errors.ends_with("\n1 error in 1 file"), "{run}: {errors}");
    }
    let errors = Project::with("version: 1\nchekcs: 1").errors();
    assert!(errors.contains("did you mean `checks`?") && errors.ends_with("\n1 error in 1 file"), "{errors}");
    let errors = Project::with("version: 1\nchecks: [{id: a, rum: [x]}]").errors();
    assert!(errors.contains("did you mean `run`?") && errors.ends_with("\n1 error in 1 file"), "{errors}");
    let errors = Project::with("version: 1\nchecks: [{id: a, shell: ''}]").errors();
    assert!(errors.contains("this text must not be empty") && errors.ends_with("\n1 error in 1 file"), "{errors}");
    let errors = Project::with("version: 1\nsetup: [cargo, build]\nchecks: [{id: a, run: [x]}]").errors();
    assert!(errors.ends_with("\n2 errors in 1 file"), "{errors}");
}

#[test]
fn hooks() {
    const HOOK: &str = "hook: {file: a.json}";
    for (keys, expected) in [
        ("hook: a.json\n    events: [{expect: allow}]", "expected a map with `file` and `event`, found the text"),
        ("hook: {event: Stop}\n    events: [{expect: allow}]", "the key `file` is missing"),
        ("hook: {file: /a}\n    events: [{expect: allow}]", "\"/a\" is an absolute path"),
        ("hook: {file: a, evnt: b}\n    events: [{expect: allow}]", "did you mean `event`?"),
        (HOOK, "the key `events` is missing"),
        ("HOOK\n    events: []", "this list must not be empty"),
        ("HOOK\n    events: [{}]", "the key `expect` is missing"),
        ("HOOK\n    events: [{expect: deny}]", "`deny` is not known here"),
        ("HOOK\n    events: [{expect: {jsn: 1}}]", "did you mean `json`?"),
        ("HOOK\n    events: [{expect: allow, stdin: ../x}]", "has `..` in it"),
        ("HOOK\n    events: [{expect: allow, stdin: {sample: 5}}]", "a sample has keys of its own"),
        ("HOOK\n    events: [{expect: allow, stdin: {}}]", "a sample must not be empty"),
        ("HOOK\n    run: [x]\n    events: [{expect: allow}]", "both `run` and `hook`"),
        ("HOOK\n    stdin: x\n    events: [{expect: allow}]", "`stdin` for a `hook`"),
        ("HOOK\n    reader: tap\n    events: [{expect: allow}]", "`reader` for a `hook`"),
        ("HOOK\n    cwd: sandbox\n    events: [{expect: allow}]", "`cwd: sandbox` for a `hook`"),
        ("HOOK\n    expect: {exit: 2}\n    events: [{expect: allow}]", "`expect.exit` for a `hook`"),
    ] {
        let keys = keys.replace("HOOK", HOOK);
        let errors = Project::with(format!("version: 1\nchecks:\n  - id: a\n    {keys}\n")).errors();
        assert!(errors.contains(expected), "{keys}: {errors}");
        assert!(errors.ends_with("\n1 error in 1 file"), "{keys}: {errors}");
    }
}

#[test]
fn the_top_level() {
    for (manifest, expected) in [
        ("checks: [{id: a, run: [x]}]", "the key `version` is missing"),
        ("version: 1", "the key `checks` is missing"),
        ("version: 1\nchecks: []", "this list must not be empty"),
        ("version: 1\nchecks:", "expected a list, found nothing"),
        ("version: 1\nchecks: [a]", "expected a map with the keys of a check, found the text \"a\""),
        ("version: 1\nchecks: [{run: [x]}]", "the key `id` is missing"),
        ("version: 1\nchecks: [{id: A, run: [x]}]", "\"A\" is not an id"),
        (
            "version: '1'\nchecks: [{id: a, run: [x]}]",
            "expected the version of the manifest's form, found the text \"1\"",
        ),
        ("version: 1\ncheks: 1\nchecks: [{id: a, run: [x]}]", "did you mean `checks`?"),
        ("version: 1\ngate: {require: [linux]}\nchecks: [{id: a, run: [x]}]", "the key `signers` is missing"),
        ("version: 1\ngate: {requires: 1}\nchecks: [{id: a, run: [x]}]", "unknown key `requires`"),
        ("version: 1\ndefaults: {run: [x]}\nchecks: [{id: a, run: [x]}]", "the key `run` cannot be here"),
        ("version: 1\ndefaults: {id: x}\nchecks: [{id: a, run: [x]}]", "the key `id` cannot be here"),
        ("version: 1\ndefaults: {timeout: 5}\nchecks: [{id: a, run: [x]}, {id: b, run: [x]}]", "5 has no unit"),
        ("version: 1\ndefaults: {macos: {grace: 5}}\nchecks: [{id: a, run: [x]}]", "5 has no unit"),
        ("version: 1\ndefaults: {allow: [{kind: residue}]}\nchecks: [{id: a, run: [x]}]", "`because` is missing"),
        // Whatever else a later form has, it was not meant to be read here.
        ("version: 2\nfuture: [yes]\nchecks: {a: b}", "version 2 of the manifest's form is not known"),
    ] {
        let errors = Project::with(manifest).errors();
        assert!(errors.contains(expected), "{manifest}: {errors}");
        assert!(errors.ends_with("\n1 error in 1 file"), "{manifest}: {errors}");
    }
    let errors = Project::with("{}").errors();
    assert!(errors.ends_with("\n2 errors in 1 file"), "{errors}");
}

#[test]
fn an_id_is_unique_over_all_files() {
    let errors = Project::with("version: 1\nchecks: [{id: a, run: [x]}, {id: b, run: [x]}]\n")
        .file("b.yaml", "version: 1\nchecks:\n  - {id: b, run: [x]}\n  - {id: c, run: [x]}\n  - {id: c, run: [x]}\n")
        .errors();
    assert!(errors.contains("error: the id `b` is taken\n --> checks.d/b.yaml:3:10\n"), "{errors}");
    assert!(errors.contains("::: checks.d/a.yaml:2:34\n"), "{errors}");
    assert!(errors.contains("error: the id `c` is taken\n --> checks.d/b.yaml:5:10\n"), "{errors}");
    assert!(errors.ends_with("\n2 errors in 1 file"), "{errors}");
}
