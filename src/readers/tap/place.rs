//! Places as JavaScript's producers of TAP write them: `helper (t/a.js:5:7)`.

use crate::model::{Frame, Raised};
use crate::readers::Context;
use crate::readers::cases::{clip, number};
use crate::readers::own_code::own_name;

/// A place in some file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place<'a> {
    pub function: Option<&'a str>,
    pub file: &'a str,
    pub line: u64,
    pub column: Option<u64>,
}

/// Reads `at helper (t/a.js:5:7)`, `helper (t/a.js:5)` or `t/a.js:5:7`.
pub fn place(text: &str) -> Option<Place<'_>> {
    let text = text.trim().trim_matches(['\'', '"']);
    let text = text.strip_prefix("at ").unwrap_or(text);
    let (function, place) = match text.strip_suffix(')').and_then(|text| text.split_once(" (")) {
        Some((function, place)) => (Some(function.strip_prefix("async ").unwrap_or(function)), place),
        None => (None, text.strip_prefix("async ").unwrap_or(text)),
    };
    let (before, last) = place.rsplit_once(':')?;
    let last = number(last)?;
    let (file, line, column) = match before.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
        Some((file, line)) => (file, line, Some(last)),
        None => (before, last, None),
    };
    (!file.is_empty()).then_some(Place { function, file, line, column })
}

/// The first place in the project's own code of a stack, with the place where the error was raised if that is before it.
#[derive(Debug, Default)]
pub struct Stack {
    raised: Option<Raised>,
    pub own: Option<Frame>,
}

impl Stack {
    pub fn take(&mut self, place: &Place<'_>, context: &Context<'_>) {
        if self.own.is_some() || place.file.starts_with('<') {
            return;
        }
        let function = place.function.map(clip);
        match own_name(place.file, context).filter(|_| !place.file.starts_with("node:")) {
            Some(file) => {
                let raised = self.raised.take();
                self.own =
                    Some(Frame { column: place.column, function, raised, ..Frame::new(clip(&file), place.line) });
            }
            None if self.raised.is_none() => {
                self.raised = Some(Raised { file: clip(place.file), line: place.line, function });
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let read = |text| place(text).map(|place| (place.function, place.file, place.line, place.column));
        assert_eq!(read("helper (/a b/t.js:5:7)"), Some((Some("helper"), "/a b/t.js", 5, Some(7))));
        assert_eq!(
            read("    at async x.<anonymous> (t (1).js:5:7)"),
            Some((Some("x.<anonymous>"), "t (1).js", 5, Some(7)))
        );
        assert_eq!(read("'/box/t.js:12:1'"), Some((None, "/box/t.js", 12, Some(1))));
        assert_eq!(read("t.sh:3"), Some((None, "t.sh", 3, None)));
        assert_eq!(read("Error: helper: two"), None);
        assert_eq!(read(":3"), None);
    }
}
