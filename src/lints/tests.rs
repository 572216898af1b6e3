//! Each rule against its own examples, and looks at sources that nobody would write.

use super::language::Language;
use super::look::{Lines, Looked, found, look};
use super::rules::{rule, rules};
use super::source::About;
use super::syntax::Syntax;
use crate::model::{Lint, LintKind, Severity};

fn looked(language: Language, text: &[u8]) -> Looked {
    look(text, About::of(language, "hooks/x"))
}

fn kinds(lints: &[Lint]) -> Vec<&'static str> {
    lints.iter().filter(|lint| lint.allowed.is_none()).map(|lint| lint.kind.slug()).collect()
}

/// A look at an example of a rule, with what of it is no text.
fn example(kind: LintKind, language: Language, text: &str) -> Looked {
    let wired = (kind == LintKind::UnquotedVariable).then_some(7);
    let executable = (kind == LintKind::NotExecutable).then(|| text.contains("executable: yes"));
    look(text.as_bytes(), About { wired, executable, ..About::of(language, "hooks/x") })
}

#[test]
fn every_rule_finds_its_bad_examples_and_none_of_its_good_ones() {
    let mut wrong = Vec::new();
    for rule in rules() {
        assert!(rule.kind == LintKind::IdleAllow || (!rule.bad.is_empty() && !rule.good.is_empty()), "{:?}", rule.kind);
        for (examples, times) in [(rule.bad, 1), (rule.good, 0)] {
            for (language, text) in examples {
                let looked = example(rule.kind, *language, text);
                assert!(looked.unread.is_none() && looked.unclear.is_none(), "{text}: {looked:?}");
                let found = looked.lints.iter().filter(|lint| lint.kind == rule.kind).count();
                if found != times {
                    wrong.push(format!("{}: {found} instead of {times} in {text:?}", rule.kind.slug()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_rule_that_was_wrong_more_than_once_in_ten_is_a_note() {
    for rule in rules() {
        let seen = rule.seen;
        assert!(seen.right + seen.wrong <= seen.found, "{}", rule.kind.slug());
        assert!(
            rule.severity == Severity::Note || seen.wrong * 10 <= seen.right + seen.wrong,
            "{} was wrong {} times and right {} times",
            rule.kind.slug(),
            seen.wrong,
            seen.right
        );
    }
}

#[test]
fn a_place_is_a_line_and_a_column_of_characters() {
    let looked = looked(Language::Python, "x = 1\nif x: y = 'ü'; f = open(\n    x)\n".as_bytes());
    let [lint] = &looked.lints[..] else { panic!("{looked:?}") };
    assert_eq!(
        (lint.kind, lint.line, lint.column, lint.end_line, lint.end_column),
        (LintKind::NoEncoding, 2, 20, 3, 7)
    );
    assert_eq!(lint.snippet, "if x: y = 'ü'; f = open(");
}

#[test]
fn a_comment_allows_one_place() {
    let text = "\
f = open(a)  # hostproof: allow no-encoding because it is ASCII
# hostproof: allow no-encoding because so is this
# (it was looked at)
f = open(b)
f = open(c)
";
    let looked = looked(Language::Python, text.as_bytes());
    let seen: Vec<_> = looked.lints.iter().map(|lint| (lint.line, lint.allowed.as_deref())).collect();
    assert_eq!(seen, [(1, Some("it is ASCII")), (4, Some("so is this")), (5, None)]);
}

#[test]
fn each_language_has_its_own_comments() {
    for (language, text) in [
        (Language::JavaScript, "// hostproof: allow posix-only because it is for Linux\nprocess.getuid();\n"),
        (Language::JavaScript, "process.getuid(); /* hostproof: allow posix-only because it is for Linux */\n"),
        (Language::Shell, "pkill x # hostproof: allow by-name because it is for Linux\n"),
        (Language::Rust, "// hostproof: allow posix-only because it is for Linux\nuse std::os::unix::fs::X;\n"),
        (
            Language::Go,
            "package a\n\n// hostproof: allow by-name because it is for Linux\nvar x = exec.Command(\"pkill\")\n",
        ),
    ] {
        let looked = looked(language, text.as_bytes());
        let [lint] = &looked.lints[..] else { panic!("{text}: {looked:?}") };
        assert_eq!(lint.allowed.as_deref(), Some("it is for Linux"), "{text}");
    }
}

#[test]
fn an_allow_that_does_nothing_is_told() {
    for (comment, says) in [
        ("hostproof: allow no-encoding", "no reason"),
        ("hostproof: allow no-encoding because", "no reason"),
        ("hostproof: allow no-encodin because x", "did you mean no-encoding?"),
        ("hostproof: allow slash-path because x", "silences nothing"),
        ("hostproof: allow idle-allow because x", "no kind called"),
        ("hostproof: allow because x", "no kind called"),
    ] {
        let looked = looked(Language::Python, format!("f = open(a)  # {comment}\n").as_bytes());
        assert_eq!(kinds(&looked.lints), ["no-encoding", "idle-allow"], "{comment}");
        assert!(looked.lints[1].message.contains(says), "{comment}: {}", looked.lints[1].message);
    }
    // A text that is no comment allows nothing.
    let looked = looked(Language::Python, b"f = open(a), '# hostproof: allow no-encoding because x'\n");
    assert_eq!(kinds(&looked.lints), ["no-encoding"]);
}

#[test]
fn two_kinds_are_allowed_by_one_comment() {
    let text = "import os\n# hostproof: allow no-encoding, posix-only because it runs in a container\nopen(a).x(os.getuid())\n";
    let looked = looked(Language::Python, text.as_bytes());
    assert_eq!(kinds(&looked.lints), [""; 0]);
    assert_eq!(looked.lints.len(), 2);
}

#[test]
fn what_is_not_understood_is_told_and_the_rest_is_read() {
    let text = format!("x = ) 1\ny = open(a)\n{}", "z = 1\n".repeat(10));
    let looked = looked(Language::Python, text.as_bytes());
    assert!(looked.unclear.as_ref().is_some_and(|unclear| unclear.line.is_some()), "{looked:?}");
    assert_eq!(kinds(&looked.lints), ["no-encoding"]);
}

#[test]
fn what_is_not_utf8_is_told_and_the_rest_is_read() {
    let read = looked(Language::Python, b"# caf\xe9\nx = open(a)\n");
    assert_eq!(read.unclear.as_ref().and_then(|unclear| unclear.line), Some(1), "{read:?}");
    assert_eq!(kinds(&read.lints), ["no-encoding"]);
    let text = "x = open(a)\n";
    let low: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (bytes, encoding) in [
        ([b"\xff\xfe", &low[..]].concat(), "UTF-16 (the low byte first), and no host"),
        ([b"\xfe\xff", &high[..]].concat(), "UTF-16 (the high byte first), and no host"),
        (low, "UTF-16 (the low byte first, without a mark)"),
        (high, "UTF-16 (the high byte first, without a mark)"),
    ] {
        let unread = looked(Language::Python, &bytes).unread.expect("it is not read");
        assert!(unread.message.contains(encoding), "{unread:?}");
    }
    assert!(looked(Language::Shell, b"a\0b").unread.is_some());
}

#[test]
fn depth_and_width_are_answered() {
    let deep = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(5_000), close.repeat(5_000));
    let wide = "subprocess.Popen(a, start_new_session=True)\n".repeat(1000);
    let looks = [
        (Language::Python, deep("(", "open(x)", ")")),
        (Language::Python, deep("f(", "open(x)", ")")),
        (Language::Python, deep("[", "", "]")),
        (Language::Python, format!("x = {}1\n", "a if b else ".repeat(5_000))),
        (Language::Python, format!("x = {}1\n", "os.name and ".repeat(5_000))),
        (Language::Python, format!("x = {}\n", "a.".repeat(5_000) + "b()")),
        (Language::Python, format!("import subprocess\n{wide}")),
        (Language::Shell, deep("(", "a", ")")),
        (Language::Shell, deep("$(", "a", ")")),
        (Language::JavaScript, deep("(", "1", ")")),
        (Language::JavaScript, deep("`${", "1", "}`")),
        (Language::TypeScript, deep("{", "", "}")),
        (Language::Rust, deep("{", "", "}")),
        (Language::Go, deep("(", "", ")")),
    ];
    for (language, text) in looks {
        let looked = looked(language, text.as_bytes());
        // Whatever it is: an answer, or a reason why there is none.
        assert!(looked.unread.is_none() || looked.lints.is_empty(), "{language:?}");
    }
}

#[test]
fn a_kind_has_one_rule_and_one_name() {
    for kind in LintKind::ALL {
        assert_eq!(rule(kind).kind, kind);
        assert_eq!(LintKind::from_slug(kind.slug()), Some(kind));
    }
}

#[test]
fn a_long_file_is_looked_at_in_one_pass() {
    let times = 3_000;
    let lines = |head: &str, line: &str| format!("{head}{}", line.repeat(times));
    for (kind, language, text) in [
        (LintKind::BackgroundOutput, Language::Shell, lines("", "sleep 9 &\n")),
        (LintKind::ByName, Language::Shell, format!("{}grep x", lines("", "ps aux|"))),
        (LintKind::SlashPath, Language::Python, lines("def f(path):\n", "  path.endswith('a/b.json')\n")),
        (LintKind::InPlaceWrite, Language::Python, lines("def f(state_file):\n", "  open(state_file, 'w')\n")),
        (LintKind::RenameOver, Language::Python, lines("import os\ndef f():\n", "  os.rename(tmp, path)\n")),
        (
            LintKind::DetachedCwd,
            Language::Python,
            lines("import subprocess\ndef f():\n", "  p = subprocess.Popen(['x'], start_new_session=True)\n"),
        ),
        (LintKind::IdleAllow, Language::Python, lines("", "# hostproof: allow tmp-literal because x\n")),
    ] {
        let syntax = Syntax::parse(language, &text).expect("a tree");
        let about = About::of(language, "hooks/x");
        let all: Vec<_> = rules().collect();
        let found = found(&syntax, &Lines::of(&text), about, &all);
        assert_eq!(found.iter().filter(|lint| lint.kind == kind).count(), times, "{kind:?}");
        // A walk per finding would be a thousand times as much.
        let most = syntax.nodes().count() * 300;
        assert!(syntax.steps() < most, "{kind:?}: {} of {most}", syntax.steps());
    }
}

#[test]
fn rules_that_take_too_long_say_so() {
    let text = "f(x)\n".repeat(5_000);
    let syntax = Syntax::parse(Language::Python, &text).expect("a tree");
    syntax.limit_steps(1_000);
    assert!(syntax.root().descendants().count() < 2_000);
    assert!(syntax.is_exhausted());
}

#[test]
fn a_file_that_is_mostly_not_understood_is_not_looked_at() {
    for (language, text) in [
        (Language::Python, format!("open(x)\nx={}", "[".repeat(5_000))),
        (Language::Python, format!("{}x = ) 1\n", "y = open(x)\n".repeat(3)) + &"for for for\n".repeat(10)),
    ] {
        let looked = looked(language, text.as_bytes());
        assert!(looked.unread.as_ref().is_some_and(|unread| unread.line.is_some()), "{text:.60}: {looked:?}");
    }
    let small = format!("x = ) 1\n{}", "y = open(2)\n".repeat(50));
    let looked = looked(Language::Python, small.as_bytes());
    assert!(looked.unread.is_none() && looked.unclear.is_some(), "{looked:?}");
}

#[test]
fn only_what_looks_after_a_background_command_keeps_it_quiet() {
    let trap = "[ -f x ] && (sleep 9; sync) >/dev/null 2>&1 &\n";
    for (text, times) in [
        (format!("old=$(cat pid)\nkill -0 \"$old\" && exit 0\n{trap}"), 1),
        ("cleanup() { wait 2>/dev/null; }\nhelper() { echo $!; }\nsleep 999 &\n".to_owned(), 1),
        ("pkill x\nsleep 9 &\n".to_owned(), 1),
        ("sleep 9 &\nkill -0 \"$old\"\n".to_owned(), 1),
        ("sleep 9 &\nsleep 8 >/dev/null &\npid=$!\n".to_owned(), 1),
        (format!("{trap}wait\n"), 0),
        ("f() {\n  sleep 9 &\n  pid=$!\n}\n".to_owned(), 0),
        ("sleep 9 &\nkill %1\n".to_owned(), 0),
        ("sleep 9 &\nsleep 8 &\nwait\n".to_owned(), 0),
    ] {
        let looked = looked(Language::Shell, text.as_bytes());
        let found = kinds(&looked.lints).into_iter().filter(|kind| *kind == "background-output").count();
        assert_eq!(found, times, "{text}");
    }
}

#[test]
fn an_allow_that_nearly_fits_is_told() {
    for comment in [
        "# hostproof:allow no-encoding because x",
        "# HOSTPROOF: allow no-encoding because x",
        "# noqa: X  # hostproof: allow no-encoding because x",
        "# hostproof: allow no-encoding becauseit",
    ] {
        let looked = looked(Language::Python, format!("f = open(a)  {comment}\n").as_bytes());
        assert_eq!(kinds(&looked.lints), ["no-encoding", "idle-allow"], "{comment}");
    }
    let looked = looked(Language::Python, b"f = open(a)  # hostproof: allow all because x\n");
    assert!(!looked.lints[1].message.contains("did you mean"), "{}", looked.lints[1].message);
}
#[test]
fn a_branch_for_windows_is_no_guard_against_windows() {
    for (text, finds) in [
        ("import os\nif os.name == \"nt\":\n    import fcntl\n    os.kill(1, 0)\n", true),
        ("import sys\nif sys.platform == \"win32\":\n    import fcntl\n", true),
        ("import os\nif os.name == \"nt\":\n    pass\nelse:\n    import fcntl\n", false),
        ("import os\nif os.name != \"nt\":\n    import fcntl\n", false),
        ("import os\ndef f(pid, window):\n    if window > 3:\n        return None\n    os.kill(pid, 0)\n", true),
        ("import os\ndef f(pid):\n    if os.environ.get(\"WINDOW\"): return\n    os.kill(pid, 0)\n", true),
        ("import os\ndef f(pid, o):\n    if getattr(o, \"x\"): return\n    os.kill(pid, 0)\n", true),
        ("import os\ndef f(pid):\n    if os.name == \"nt\":\n        return\n    os.kill(pid, 0)\n", false),
        ("import os\ndef f(pid):\n    if getattr(os, \"getuid\", None): os.kill(pid, 0)\n", false),
    ] {
        let looked = looked(Language::Python, text.as_bytes());
        let kinds = kinds(&looked.lints);
        let found = kinds.contains(&"posix-only") || kinds.contains(&"kill-zero");
        assert_eq!(found, finds, "{text}: {kinds:?}");
    }
}

#[test]
fn a_path_is_known_whatever_it_is_called() {
    for text in [
        "def f(q):\n    return q.endswith(\".claude/state/x.json\")\n",
        "def f(name):\n    return name.endswith(\".claude/state/x.json\")\n",
        "def f(i):\n    target = i[\"file_path\"]\n    return target.split(\"/\")[-1]\n",
        "import subprocess\ndef f(p):\n    subprocess.run([\"git\"])\n    return p.endswith(\".claude/state/x.json\")\n",
        "import http.client\ndef f(p):\n    return p.endswith(\".claude/state/x.json\")\n",
        "def f(p):\n    log = s.replace(\"x\", \"\\\\\")\n    return p.endswith(\".claude/state/x.json\")\n",
        "def f(sep, p):\n    return p.endswith(\".claude/state/x.json\")\n",
    ] {
        let looked = looked(Language::Python, text.as_bytes());
        assert_eq!(kinds(&looked.lints), ["slash-path"], "{text}");
    }
}
