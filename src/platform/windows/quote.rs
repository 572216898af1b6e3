//! Command lines. A program is given one text here, and takes it apart itself; so it has to be put together the way most
//! programs take it apart.
//!
//! What is here knows only text, and is tested wherever the tests run.

/// How the program that is started takes its command line apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// By the rules of Microsoft's C runtime, as nearly all do.
    Program,
    /// `cmd.exe` itself.
    Cmd,
}

/// Why words can't be passed on as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unquotable {
    /// The character, by name.
    pub what: &'static str,
}

const NUL: Unquotable = Unquotable { what: "a NUL character" };
const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;
const BLANK: u16 = b' ' as u16;
const TAB: u16 = b'\t' as u16;

/// A command line of these words, the program's name first, as UTF-16 without a NUL.
///
/// # Errors
///
/// If there is a NUL in a word, or a quote in the program's name.
pub fn command_line(words: &[Vec<u16>], reader: Reader) -> Result<Vec<u16>, Unquotable> {
    if words.iter().flatten().any(|&unit| unit == 0) {
        return Err(NUL);
    }
    let mut line = program(words.first().map_or(&[], Vec::as_slice))?;
    let script = match reader {
        Reader::Program => None,
        Reader::Cmd => script_of_cmd(words),
    };
    for (at, word) in words.iter().enumerate().skip(1) {
        line.push(BLANK);
        if script == Some(at) {
            verbatim(&mut line, word);
        } else {
            quote(&mut line, word);
        }
    }
    Ok(line)
}

/// The place of the word that `cmd.exe` is given as a script. With `/s` it takes away the first and the last quote of what
/// stands behind `/c`, and nothing else: then the script is passed as it is.
fn script_of_cmd(words: &[Vec<u16>]) -> Option<usize> {
    let is = |word: &Vec<u16>, option: &str| String::from_utf16_lossy(word).eq_ignore_ascii_case(option);
    let last = words.len().checked_sub(1)?;
    let runs = last >= 2 && (is(&words[last - 1], "/c") || is(&words[last - 1], "/k"));
    (runs && words[1..last - 1].iter().any(|word| is(word, "/s"))).then_some(last)
}

/// The first word ends at its closing quote, whatever stands before it.
fn program(name: &[u16]) -> Result<Vec<u16>, Unquotable> {
    if name.contains(&QUOTE) {
        return Err(Unquotable { what: "a quotation mark in its name" });
    }
    let mut line = Vec::new();
    verbatim(&mut line, name);
    Ok(line)
}

fn verbatim(line: &mut Vec<u16>, word: &[u16]) {
    line.push(QUOTE);
    line.extend_from_slice(word);
    line.push(QUOTE);
}

/// Backslashes mean themselves unless a quote follows: then each is doubled, and one more keeps the quote from being one.
fn quote(line: &mut Vec<u16>, word: &[u16]) {
    let plain = !word.is_empty() && !word.iter().any(|unit| [BLANK, TAB, QUOTE].contains(unit) || is_break(*unit));
    if plain {
        line.extend_from_slice(word);
        return;
    }
    line.push(QUOTE);
    let mut backslashes = 0;
    for &unit in word {
        if unit == BACKSLASH {
            backslashes += 1;
        } else {
            if unit == QUOTE {
                line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
            }
            backslashes = 0;
        }
        line.push(unit);
    }
    line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    line.push(QUOTE);
}

/// Some programs end a word at these, too.
fn is_break(unit: u16) -> bool {
    (0x0a..=0x0d).contains(&unit)
}

/// What `cmd.exe` is given to run a batch file with these words, the file's path first: the file and each word in quotes,
/// where no character but the refused ones means anything to it.
///
/// A backslash before a closing quote is doubled, for the program that the file passes the word on to.
///
/// # Errors
///
/// If `cmd.exe` would make something else of a word: it ends a command at a line's end, replaces what stands between
/// percent signs, and knows no quote within quotes.
pub fn batch_line(cmd: &[u16], words: &[Vec<u16>]) -> Result<Vec<u16>, Unquotable> {
    let mut line = program(cmd)?;
    // Extensions on, delayed expansion off, no AutoRun command of the user's; the outer quotes are taken away again.
    line.extend(" /e:on /v:off /d /s /c \"".encode_utf16());
    for (at, word) in words.iter().enumerate() {
        for &unit in word {
            match unit {
                0 => return Err(NUL),
                0x0a | 0x0d => return Err(Unquotable { what: "a line break" }),
                0x22 => return Err(Unquotable { what: "a quotation mark" }),
                0x25 => return Err(Unquotable { what: "a percent sign" }),
                _ => {}
            }
        }
        if at > 0 {
            line.push(BLANK);
        }
        let trailing = word.iter().rev().take_while(|&&unit| unit == BACKSLASH).count();
        line.push(QUOTE);
        line.extend_from_slice(word);
        line.extend(std::iter::repeat_n(BACKSLASH, trailing));
        line.push(QUOTE);
    }
    line.push(QUOTE);
    Ok(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::command_line::split;
    use super::*;

    fn units(words: &[&str]) -> Vec<Vec<u16>> {
        words.iter().map(|word| word.encode_utf16().collect()).collect()
    }

    fn line(words: &[&str], reader: Reader) -> String {
        String::from_utf16(&command_line(&units(words), reader).expect("a line")).expect("text")
    }

    #[test]
    fn words_are_quoted_where_they_have_to_be() {
        assert_eq!(line(&["a", "b", r"c\d"], Reader::Program), r#""a" b c\d"#);
        assert_eq!(line(&["a", "", "b c", r"d e\"], Reader::Program), r#""a" "" "b c" "d e\\""#);
        assert_eq!(line(&["a", r#"b"c"#, r"\", r#"x\"y"#], Reader::Program), r#""a" "b\"c" \ "x\\\"y""#);
        assert_eq!(command_line(&units(&["a", "b\0"]), Reader::Program), Err(NUL));
        assert!(command_line(&units(&["a\"b"]), Reader::Program).is_err());
    }

    #[test]
    fn a_script_of_cmd_is_passed_as_it_is() {
        let script = r#"echo "a b" & echo c"#;
        let passed = format!(r#""cmd" /d /s /c "{script}""#);
        assert_eq!(line(&["cmd", "/d", "/s", "/c", script], Reader::Cmd), passed);
        // Without /s, cmd.exe has rules of its own for quotes; and what follows more words is one of them.
        assert_eq!(line(&["cmd", "/c", "echo a"], Reader::Cmd), r#""cmd" /c "echo a""#);
        assert_eq!(line(&["cmd", "/s", "/c", "x", "a b"], Reader::Cmd), r#""cmd" /s /c x "a b""#);
    }

    #[test]
    fn a_batch_file_gets_no_word_that_cmd_would_change() {
        let cmd: Vec<u16> = r"C:\w\cmd.exe".encode_utf16().collect();
        let line = |words: &[&str]| batch_line(&cmd, &units(words)).map(|line| String::from_utf16_lossy(&line));
        let start = r#""C:\w\cmd.exe" /e:on /v:off /d /s /c "#;
        assert_eq!(line(&[r"C:\x.bat", "a & b", r"c\"]), Ok(format!(r#"{start}""C:\x.bat" "a & b" "c\\"""#)));
        for (word, what) in [("50%", "percent"), ("a\nb", "line break"), ("a\"b", "quotation"), ("\0", "NUL")] {
            assert!(line(&["x.bat", word]).is_err_and(|why| why.what.contains(what)), "{word:?}");
        }
    }

    #[cfg(windows)]
    fn split_by_system(line: &str) -> Vec<String> {
        use windows_sys::Win32::Foundation::LocalFree;
        use windows_sys::Win32::UI::Shell::CommandLineToArgvW;

        let line = super::super::wide::wide(line);
        let mut count = 0;
        // SAFETY: the line ends with a NUL; as many words as are counted are read before they are freed, and each ends
        // with a NUL.
        unsafe {
            let words = CommandLineToArgvW(line.as_ptr(), &raw mut count);
            let text = |at: i32| {
                let word = *words.offset(at as isize);
                let length = (0..).take_while(|&unit| *word.add(unit) != 0).count();
                String::from_utf16_lossy(std::slice::from_raw_parts(word, length))
            };
            let split = (0..count).map(text).collect();
            LocalFree(words.cast());
            split
        }
    }

    proptest! {
        #[test]
        fn a_program_gets_the_words_back(words in prop::collection::vec(r#"[a-z\\" \t\u{e9}\u{1f600}/^%&]{0,8}"#, 0..6)) {
            let words: Vec<&str> = ["p r"].into_iter().chain(words.iter().map(String::as_str)).collect();
            let line = line(&words, Reader::Program);
            prop_assert_eq!(split(&line), words.clone());
            #[cfg(windows)]
            prop_assert_eq!(split_by_system(&line), words);
        }
    }
}
