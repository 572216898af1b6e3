//! The numbers at the end of a run.

use crate::readers::cases::number;

/// What node counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub tests: u64,
    /// Not told before version 20.
    pub suites: Option<u64>,
    pub pass: u64,
    pub fail: u64,
    pub cancelled: u64,
    pub skipped: u64,
    pub todo: u64,
}

const KEYS: [&str; 7] = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"];

/// Tells the tally from what cases print by its order: all of its lines, one right after the other.
#[derive(Default)]
pub struct TallyLines {
    /// The sign that they begin with, the place of the next key, and the numbers so far.
    open: Option<(char, usize, Tally)>,
    ended: Option<char>,
}

impl TallyLines {
    /// Whether the line is one of a tally, and the tally with its last one.
    pub fn line(&mut self, text: &str) -> (bool, Option<Tally>) {
        match self.next(text) {
            Some(tally) => (true, tally),
            None => (false, None),
        }
    }

    #[expect(clippy::option_option, reason = "no line of a tally, one of it, or its last")]
    fn next(&mut self, text: &str) -> Option<Option<Tally>> {
        let open = self.open.take();
        self.ended = None;
        let mut signs = text.chars();
        let sign = signs.next().filter(|sign| matches!(sign, '#' | 'ℹ'))?;
        let (key, value) = signs.as_str().strip_prefix(' ')?.split_once(' ')?;
        let place = KEYS.iter().position(|known| *known == key)?;
        let value = number(value)?;
        let mut tally = match open {
            Some((before, next, tally)) if before == sign && (next == place || (next == 1 && place == 2)) => tally,
            _ if place == 0 => Tally::default(),
            _ => return None,
        };
        match place {
            0 => tally.tests = value,
            1 => tally.suites = Some(value),
            2 => tally.pass = value,
            3 => tally.fail = value,
            4 => tally.cancelled = value,
            5 => tally.skipped = value,
            _ => tally.todo = value,
        }
        if place + 1 < KEYS.len() {
            self.open = Some((sign, place + 1, tally));
            return Some(None);
        }
        self.ended = Some(sign);
        let Tally { pass, fail, cancelled, skipped, todo, .. } = tally;
        // Numbers that do not add up are no tally.
        (pass + fail + cancelled + skipped + todo == tally.tests).then_some(Some(tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &str) -> Option<Tally> {
        let mut lines = TallyLines::default();
        text.lines().filter_map(|line| lines.line(line).1).last()
    }

    #[test]
    fn a_tally_is_whole_or_none() {
        let whole = "# tests 4\n# suites 1\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 1\n";
        let tally = Tally { tests: 4, suites: Some(1), pass: 1, fail: 1, cancelled: 0, skipped: 1, todo: 1 };
        assert_eq!(last(whole), Some(tally));
        assert_eq!(last(&whole.replace('#', "ℹ")), Some(tally));
        assert_eq!(last(&whole.replace("# suites 1\n", "")), Some(Tally { suites: None, ..tally }));
        for broken in [
            whole.replace("# fail 1\n", ""),
            whole.replace("# fail 1\n", "# fail 1\nprinted\n"),
            whole.replace("# fail", "ℹ fail"),
            whole.replace("pass 1", "pass 2"),
            whole.replace("pass 1", "pass 99999999999999999999"),
            whole.replace("# todo 1\n", ""),
        ] {
            assert_eq!(last(&broken), None, "{broken}");
        }
    }
}
