//! How text may look where it is shown.

use std::io::IsTerminal;
use std::path::Path;

use console::Style;

use crate::model::Platform;
use crate::{env, platform};

/// Whether colours and characters beyond ASCII may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub colour: bool,
    pub unicode: bool,
    /// Whether files may be links.
    pub links: bool,
}

impl Look {
    /// For a stream: colours on a terminal only, and not with `NO_COLOR` or a dumb one; links where there are colours,
    /// unless `FORCE_HYPERLINK` is 0; Unicode where the locale says UTF-8.
    #[must_use]
    pub fn of(stream: &impl IsTerminal) -> Self {
        let dumb = env::text("TERM").is_some_and(|term| term == "dumb");
        let colour = stream.is_terminal() && !dumb && env::text("NO_COLOR").is_none();
        let links = colour && env::text("FORCE_HYPERLINK").is_none_or(|value| value != "0");
        Self { colour, unicode: unicode(), links }
    }

    /// A text that can be shown: other characters are escaped where only ASCII can be.
    #[must_use]
    pub fn text(self, text: &str) -> String {
        if self.unicode || text.is_ascii() {
            return text.to_owned();
        }
        text.chars()
            .map(|c| match c {
                c if c.is_ascii() => c.to_string(),
                '…' => "...".to_owned(),
                '–' | '—' => "-".to_owned(),
                '‘' | '’' => "'".to_owned(),
                '“' | '”' => "\"".to_owned(),
                c => c.escape_unicode().to_string(),
            })
            .collect()
    }

    /// A text that leads to a file, where it may (OSC 8).
    #[must_use]
    pub fn link(self, text: &str, file: &Path) -> String {
        if !self.links || !file.has_root() {
            return text.to_owned();
        }
        let mut address = "file://".to_owned();
        for &byte in file.as_os_str().as_encoded_bytes() {
            match byte {
                b'/' | b'-' | b'_' | b'.' | b'~' => address.push(char::from(byte)),
                byte if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
                byte => address.push_str(&format!("%{byte:02X}")),
            }
        }
        format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
    }

    /// Red and bold.
    #[must_use]
    pub fn red(self, text: &str) -> String {
        self.styled(text, Style::new().red().bold())
    }

    /// Green.
    #[must_use]
    pub fn green(self, text: &str) -> String {
        self.styled(text, Style::new().green())
    }

    /// Yellow.
    #[must_use]
    pub fn yellow(self, text: &str) -> String {
        self.styled(text, Style::new().yellow())
    }

    /// Dim.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.styled(text, Style::new().dim())
    }

    /// Bold.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    fn styled(self, text: &str, style: Style) -> String {
        if self.colour { style.force_styling(true).apply_to(text).to_string() } else { text.to_owned() }
    }
}

fn unicode() -> bool {
    if platform::current() == Platform::Windows {
        return true;
    }
    env::locale().is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_all_that_an_ascii_terminal_gets() {
        let ascii = Look { colour: false, unicode: false, links: false };
        assert_eq!(ascii.text("prøject …"), "pr\\u{f8}ject ...");
        assert_eq!(Look { unicode: true, ..ascii }.text("prøject …"), "prøject …");
        assert_eq!(ascii.red("x"), "x");
    }

    #[test]
    fn a_link_has_nothing_of_a_name_that_steers_a_terminal() {
        let links = Look { colour: true, unicode: true, links: true };
        let link = links.link("a.py:1", Path::new("/p/a \u{1b}ü.py"));
        assert_eq!(link, "\u{1b}]8;;file:///p/a%20%1B%C3%BC.py\u{1b}\\a.py:1\u{1b}]8;;\u{1b}\\");
        assert_eq!(links.link("a.py:1", Path::new("a.py")), "a.py:1");
    }
}
