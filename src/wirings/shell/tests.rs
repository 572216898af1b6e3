//! Words against what shells make of them.

use std::process::Command;

use proptest::prelude::*;

use super::words::{Piece, Token, split};
use super::{Flavour, Next, commands, windows_commands};

/// The words of a command in which nothing is to be expanded; what it reads with its sign.
fn words(text: &str) -> Vec<String> {
    let tokens = split(text).unwrap();
    let word = |token| match token {
        Token::Word(word) => word.literal(),
        Token::Input(file) => file.literal().map(|file| format!("<{file}")),
        _ => None,
    };
    tokens.into_iter().map(|token| word(token).unwrap()).collect()
}

#[test]
fn words_and_quotes() {
    for (text, expected) in [
        ("a  b\tc", &["a", "b", "c"][..]),
        ("a'b c'\"d e\"f", &["ab cd ef"]),
        ("'' \"\" a''", &["", "", "a"]),
        ("a\\ b \\\\ \\'", &["a b", "\\", "'"]),
        ("\"a\\\"b\\\\c\\d\"", &["a\"b\\c\\d"]),
        ("'a\\b'", &["a\\b"]),
        ("a\\\nb", &["ab"]),
        ("a # b", &["a"]),
        ("a#b", &["a#b"]),
        ("$'a\\tb\\'c'", &["a\tb'c"]),
        ("a >x 2>&1 <y b", &["a", "<y", "b"]),
        ("a >'x y' b2>z", &["a", "b2"]),
        ("a 2>/dev/null &>>log", &["a"]),
        ("a <<<'b c' d", &["a", "d"]),
        ("a $ b", &["a", "$", "b"]),
        ("a=b c", &["a=b", "c"]),
    ] {
        assert_eq!(words(text), expected, "{text:?}");
    }
}

#[test]
fn expansions_keep_what_they_are() {
    let piece = |text: &str| match &split(text).unwrap()[0] {
        Token::Word(word) => word.0.clone(),
        other => panic!("{other:?}"),
    };
    let parameter = |name: &str, quoted| Piece::Parameter { name: name.to_owned(), default: None, quoted };
    assert_eq!(piece("$A"), [parameter("A", false)]);
    assert_eq!(piece("\"${A_1}\"")[1..], [parameter("A_1", true)]);
    assert_eq!(piece("$1x")[0], parameter("1", false));
    assert!(
        matches!(&piece("${A:-.}")[0], Piece::Parameter { default: Some(word), .. } if word.literal().as_deref() == Some("."))
    );
    assert!(matches!(&piece("${A%/*}")[0], Piece::Unknown { .. }));
    assert!(matches!(&piece("$((1 + 2))")[0], Piece::Unknown { .. }));
    assert!(
        matches!(&piece("$(a \"$(b ')')\" c)")[0], Piece::Command { script, quoted: false } if script == "a \"$(b ')')\" c")
    );
    assert!(matches!(&piece("\"`a \\`b\\``\"")[1], Piece::Command { script, quoted: true } if script == "a `b`"));
}

#[test]
fn what_is_not_followed_is_said() {
    for text in ["'a", "\"a", "$(a", "${a", "`a", "cat <<X\nX\n", "a >"] {
        assert!(split(text).is_err(), "{text:?}");
    }
    for text in ["case a in a) b;; esac", "[[ -f x", "select x in a; do b; done"] {
        assert!(commands(text).is_err(), "{text:?}");
    }
    let deep = format!("{}a{}", "${x:-".repeat(10_000), "}".repeat(10_000));
    assert!(split(&deep).is_err());
    // Whatever it is, it comes to an end.
    let _ = split(&"$(".repeat(10_000));
    let _ = split(&"\"$(".repeat(10_000));
}

#[test]
fn commands_in_their_order() {
    let seen = |text: &str| {
        let commands = commands(text).unwrap();
        let one = |command: &super::Simple| {
            let words: Vec<_> = command.words.iter().map(|word| word.literal().unwrap_or("?".to_owned())).collect();
            let next = match command.next {
                Next::End => "",
                Next::Sequence => ";",
                Next::And => "&&",
                Next::Or => "||",
                Next::Pipe => "|",
            };
            format!("{}{}{next}", if command.guarded { "?" } else { "" }, words.join(" "))
        };
        commands.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        ("a b && c || d; e & f | g", "a b&& c|| d; e; f| g"),
        ("A=1 B=2 c", "c"),
        ("(a; b) || c", "a; b|| c"),
        ("{ a || b; } || true", "a|| b|| true"),
        ("if [ -f x ]; then sh x; else y; fi; z", "[ -f x ]; ?sh x; ?y; z"),
        ("for i in a b; do c \"$i\"; done", "?c ?;"),
        ("! a", "a"),
        ("[[ -f x && -x x ]] && ./x", "[[&& ./x"),
        ("f() { a; }; f", "a; f"),
        ("a\nb # c\n\nd", "a; b; d"),
    ] {
        assert_eq!(seen(text), expected, "{text:?}");
    }
}

#[test]
fn other_shells_in_the_simple_cases() {
    let cmd = |text: &str| windows_commands(text, Flavour::Cmd);
    assert_eq!(cmd("cmd /c .codex\\hooks\\a.cmd \"b c\"").unwrap(), [["cmd", "/c", ".codex/hooks/a.cmd", "b c"]]);
    assert_eq!(cmd("a && b %CLAUDE_PLUGIN_ROOT%\\c").unwrap(), [vec!["a"], vec!["b", "${CLAUDE_PLUGIN_ROOT}/c"]]);
    assert!(cmd("echo %~dp0").is_err());
    assert!(cmd("a ^& b").is_err());
    let power = |text: &str| windows_commands(text, Flavour::Powershell);
    assert_eq!(power("& '.\\a b.ps1' -X; c").unwrap(), [vec!["./a b.ps1", "-X"], vec!["c"]]);
    assert_eq!(power("& \"$env:CLAUDE_PROJECT_DIR\\a.ps1\"").unwrap(), [["${CLAUDE_PROJECT_DIR}/a.ps1"]]);
    assert!(power("if ($x) { a }").is_err());
}

/// What the system's own shell makes words of.
fn by_the_shell(text: &str) -> Option<Vec<String>> {
    let script = format!("printf '%s\\0' {text}");
    let output = Command::new("sh").arg("-fc").arg(script).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    let mut words: Vec<String> = printed.split('\0').map(str::to_owned).collect();
    words.pop();
    output.status.success().then_some(words)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without what is expanded, a word is what the shell says it is.
    #[test]
    fn words_are_those_of_the_shell(text in r#"([a-z]|'[a-z "\\]{0,3}'|"[a-z ']{0,3}"|"\\\\[a-z"]"|\\[ a-z'"]| {1,2}){1,12}"#) {
        // No tilde, glob or dollar is among these; a word must be there for printf to print nothing else.
        let text = format!("x {text}");
        if let Some(expected) = by_the_shell(&text) {
            prop_assert_eq!(words(&text), expected);
        }
    }

    /// Any text comes to an end, without a panic.
    #[test]
    fn any_text_is_answered(text in r#"[a-z $(){}'"`\\;&|<>\n#=%^:/~!\[\]-]{0,60}"#) {
        let _ = commands(&text);
        let _ = windows_commands(&text, Flavour::Cmd);
        let _ = windows_commands(&text, Flavour::Powershell);
    }
}
