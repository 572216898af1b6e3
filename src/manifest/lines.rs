//! From offsets in a text to lines and columns.

/// A text with its lines.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    /// The offset at which each line begins; never empty.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// Line and column, both from 1, the column in characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let offset = floor(self.text, offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        (line, self.text[self.starts[line - 1]..offset].chars().count() + 1)
    }

    /// Where a line, counted from 1, begins, and its text without the line break.
    pub fn line(&self, line: usize) -> (usize, &'t str) {
        let start = self.starts[line - 1];
        let end = self.starts.get(line).map_or(self.text.len(), |next| next - 1);
        let text = &self.text[start..end];
        (start, text.strip_suffix('\r').unwrap_or(text))
    }
}

/// The last character boundary that is not after the offset.
pub fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_and_characters() {
        let lines = Lines::new("ab\r\nüx\n");
        let positions: Vec<_> = [0, 1, 3, 4, 5, 6, 7, 8, 99].map(|at| lines.position(at)).to_vec();
        assert_eq!(positions, [(1, 1), (1, 2), (1, 4), (2, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 1)]);
        assert_eq!(lines.line(1), (0, "ab"));
        assert_eq!(lines.line(2), (4, "üx"));
        assert_eq!(lines.line(3), (8, ""));
        assert_eq!(Lines::new("").position(0), (1, 1));
    }
}
