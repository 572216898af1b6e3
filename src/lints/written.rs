//! Calls of Python as they are written, without a tree: what stands between the parentheses, argument by argument.

use regex::bytes::Regex;

/// A call, as far as its letters tell.
#[derive(Debug, Clone)]
pub struct Written<'t> {
    /// The arguments, without spaces around them.
    pub arguments: Vec<&'t [u8]>,
}

/// The most bytes of arguments that are looked at.
const LONGEST: usize = 2000;

/// The calls in a text of what `name` matches, which ends with what stands behind a name. `None` is one that can't be told:
/// it may be any.
pub fn calls<'t>(text: &'t [u8], name: &Regex) -> impl Iterator<Item = Option<Written<'t>>> {
    let is_made = |at: usize| text[..at].trim_ascii_end().ends_with(b"def");
    name.find_iter(text).filter(move |found| !is_made(found.start())).map(|found| {
        // Else the name is imported as another one.
        if !found.as_bytes().ends_with(b"(") {
            return None;
        }
        Some(Written { arguments: arguments(&text[found.end()..])? })
    })
}

impl<'t> Written<'t> {
    /// The value of a keyword, if it is there.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<&'t [u8]> {
        self.arguments.iter().find_map(|argument| value_of(argument, name))
    }

    /// The argument at a place, if there are so many without a keyword; else the keyword of that name.
    #[must_use]
    pub fn argument(&self, at: usize, name: &str) -> Option<&'t [u8]> {
        let mut positional = self.arguments.iter().copied().filter(|argument| !is_keyword(argument));
        positional.nth(at).or_else(|| self.keyword(name))
    }

    /// Whether something is spread into it: `*these`, `**those`.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        self.arguments.iter().any(|argument| argument.starts_with(b"*"))
    }
}

/// What stands behind `name =`.
fn value_of<'t>(argument: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let rest = without_blanks(argument.strip_prefix(name.as_bytes())?).strip_prefix(b"=")?;
    (!rest.starts_with(b"=")).then(|| without_blanks(rest))
}

fn is_keyword(argument: &[u8]) -> bool {
    let name = argument.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    std::str::from_utf8(&argument[..name]).is_ok_and(|name| !name.is_empty() && value_of(argument, name).is_some())
}

/// The text between the quotes of an argument that is a plain text, without holes and escapes, and nothing else.
#[must_use]
pub fn plain_text(argument: &[u8]) -> Option<&str> {
    let prefix = argument.iter().take(2).take_while(|byte| b"rRbBuU".contains(byte)).count();
    let (quote, rest) = argument[prefix..].split_first()?;
    let inner = rest.strip_suffix(&[*quote][..])?;
    let is_plain = |byte: &u8| byte.is_ascii() && !matches!(byte, b'"' | b'\'' | b'\\' | b'\n');
    let is_one = matches!(quote, b'"' | b'\'') && inner.iter().all(is_plain);
    str::from_utf8(inner).ok().filter(|_| is_one)
}

/// Whether there may be a text in some letters.
#[must_use]
pub fn has_text(letters: &[u8]) -> bool {
    memchr::memchr2(b'"', b'\'', letters).is_some()
}

/// The arguments up to the closing parenthesis, split at commas. `None` if they are longer than people
/// write, or hide what is what.
fn arguments(text: &[u8]) -> Option<Vec<&[u8]>> {
    let text = &text[..text.len().min(LONGEST)];
    let (mut arguments, mut at, mut depth) = (Vec::new(), 0, 0_usize);
    // Where the argument begins, and where it ends so far, without what is only around it.
    let mut own: Option<(usize, usize)> = None;
    loop {
        let byte = *text.get(at)?;
        let next = match byte {
            quote @ (b'"' | b'\'') => end_of_text(text, at, quote)?,
            b'#' => {
                at += memchr::memchr(b'\n', &text[at..])?;
                continue;
            }
            // Outside of texts a backslash can only stand before the end of a line.
            byte if is_blank(byte) => {
                at += 1;
                continue;
            }
            b')' | b']' | b'}' if depth == 0 => {
                arguments.extend(own.map(|(start, end)| &text[start..end]));
                return (byte == b')').then_some(arguments);
            }
            b',' if depth == 0 => {
                arguments.extend(own.take().map(|(start, end)| &text[start..end]));
                at += 1;
                continue;
            }
            // The commas of a lambda are its own.
            b'l' if text[at..].starts_with(b"lambda") => return None,
            _ => at + 1,
        };
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        own = Some((own.map_or(at, |(start, _)| start), next));
        at = next;
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\\'
}

/// Without what may stand before a word.
fn without_blanks(mut text: &[u8]) -> &[u8] {
    while let Some((_, rest)) = text.split_first().filter(|(first, _)| is_blank(**first)) {
        text = rest;
    }
    text
}

/// The first byte after a text that begins with a quote.
fn end_of_text(text: &[u8], start: usize, quote: u8) -> Option<usize> {
    let three = [quote; 3];
    let (mut at, end): (usize, &[u8]) =
        if text[start..].starts_with(&three) { (start + 3, &three) } else { (start + 1, &three[..1]) };
    loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        if rest.starts_with(end) {
            return Some(at + end.len());
        }
        match rest[0] {
            b'\\' => at += 2,
            b'\n' if end.len() == 1 => return None,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_apart_as_far_as_they_can_be() {
        let name = Regex::new(r"\bopen(?:\s*[(#\\]|\s+as\b)").expect("an expression");
        let of = |text: &'static str| -> Vec<Option<Vec<String>>> {
            let shown = |argument: &&[u8]| String::from_utf8_lossy(argument).into_owned();
            let all = calls(text.as_bytes(), &name);
            all.map(|call| call.map(|call| call.arguments.iter().map(shown).collect())).collect()
        };
        let told = |arguments: &[&str]| Some(arguments.iter().map(|argument| (*argument).to_owned()).collect());
        assert_eq!(of("open()"), [told(&[])]);
        assert_eq!(of("open( a.b ,\n  mode = 'r,)' , )"), [told(&["a.b", "mode = 'r,)'"])]);
        assert_eq!(of("open(f(a, [1, 2]), \"\"\"x\")\"\"\")"), [told(&["f(a, [1, 2])", "\"\"\"x\")\"\"\""])]);
        assert_eq!(of("open(open(a))"), [told(&["open(a)"]), told(&["a"])]);
        assert_eq!(of("open(a # b, (\n , # c\n \\\n d = # e\n f # g\n)"), [told(&["a", "d = # e\n f"])]);
        assert_eq!(of("def open(a):"), [] as [Option<Vec<String>>; 0]);
        for untold in
            ["open(a", "open(a, \"b\n)", "open \\\n (a)", "import open as o", "open(lambda a, b: a)", "open(a]"]
        {
            assert_eq!(of(untold), [None], "{untold}");
        }
        assert_eq!(of(&*format!("open({})", "a".repeat(LONGEST)).leak()), [None]);
    }

    #[test]
    fn keywords_are_no_places() {
        let name = Regex::new(r"f\(").expect("an expression");
        let call = calls(b"f(a == b, mode=\"w\", c)", &name).next().flatten().expect("a call");
        assert_eq!(call.argument(0, "file"), Some(&b"a == b"[..]));
        assert_eq!(call.argument(1, "mode"), Some(&b"c"[..]));
        assert_eq!(call.argument(2, "mode"), Some(&b"\"w\""[..]));
        assert_eq!(call.keyword("mode").and_then(plain_text), Some("w"));
        assert_eq!(plain_text(b"'a' 'b'"), None);
    }
}
