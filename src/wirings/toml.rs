//! TOML. A key that is there twice is an error of the language itself.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::limits::{MAX_DEPTH, MAX_VALUES};
use super::tree::{Document, Key, Lines, Malformed, Node, Value};

/// Reads a text.
pub fn parse(text: &str) -> Result<Document, Malformed> {
    let lines = Lines::new(text);
    let table = DeTable::parse(text).map_err(|error| Malformed {
        line: error.span().map(|span| lines.line(span.start)),
        message: format!("it is no TOML: {}", error.message()),
    })?;
    let mut builder = Builder { lines: &lines, left: MAX_VALUES };
    let span = table.span();
    let root = builder.table(table.into_inner(), lines.line(span.start), 0)?;
    Ok(Document { root, twice: Vec::new() })
}

struct Builder<'l> {
    lines: &'l Lines,
    left: usize,
}

impl Builder<'_> {
    fn table(&mut self, table: DeTable<'_>, line: u64, depth: usize) -> Result<Node, Malformed> {
        let mut entries = Vec::new();
        for (name, value) in table {
            let key = Key { line: self.lines.line(name.span().start), name: name.into_inner().into_owned() };
            entries.push((key, self.node(value, depth)?));
        }
        // The parser sorts by name; people look for things where they are.
        entries.sort_by_key(|(key, _)| key.line);
        Ok(Node { line, value: Value::Map(entries) })
    }

    fn node(&mut self, value: Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Malformed> {
        let line = self.lines.line(value.span().start);
        self.left = self.left.checked_sub(1).ok_or_else(Malformed::too_many)?;
        if depth >= MAX_DEPTH {
            return Err(Malformed::too_deep(line));
        }
        let value = match value.into_inner() {
            DeValue::Table(table) => return self.table(table, line, depth + 1),
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => Value::Number(number.to_string()),
            DeValue::Float(number) => Value::Number(number.to_string()),
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(time) => Value::Text(time.to_string()),
            DeValue::Array(items) => {
                Value::List(items.into_iter().map(|item| self.node(item, depth + 1)).collect::<Result<_, _>>()?)
            }
        };
        Ok(Node { line, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_lines() {
        let document = parse("z = 1\n[hooks]\n[[hooks.Stop]]\nhooks = [\n  {command = 'a'},\n]\n").unwrap();
        let stop = &document.root.get("hooks").unwrap().get("Stop").unwrap().list().unwrap()[0];
        assert_eq!(stop.line, 3);
        let inner = &stop.get("hooks").unwrap().list().unwrap()[0];
        assert_eq!((inner.line, inner.get("command").unwrap().text()), (5, Some("a")));
    }

    #[test]
    fn what_is_no_toml_says_where() {
        assert_eq!(parse("a = 1\na = 2\n").unwrap_err().line, Some(2));
        assert_eq!(parse("a = [").unwrap_err().line, Some(1));
        assert!(parse(&format!("a = {}", "[".repeat(100_000))).is_err());
    }
}
