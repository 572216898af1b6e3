//! JSON, with comments and trailing commas where the host allows them.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::limits::{MAX_DEPTH, MAX_VALUES};
use super::tree::{Document, Key, Lines, Malformed, Node, Twice, Value, insert};

/// Reads a text. `comments` is whether the host's own reader allows them, and a comma after the last entry.
pub fn parse(text: &str, comments: bool) -> Result<Document, Malformed> {
    let lines = Lines::new(text);
    if let Some(at) = deeper_than(text, MAX_DEPTH) {
        return Err(Malformed::too_deep(lines.line(at)));
    }
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let options = ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &collect, &options).map_err(|error| {
        let said = error.kind().to_string();
        let (first, rest) = said.split_at(said.chars().next().map_or(0, char::len_utf8));
        Malformed::at(lines.line(error.range().start), format!("it is no JSON: {}{rest}", first.to_lowercase()))
    })?;
    let value = parsed.value.ok_or_else(|| Malformed { line: None, message: "it is empty".to_owned() })?;
    let mut builder = Builder { lines: &lines, twice: Vec::new(), left: MAX_VALUES };
    let root = builder.node(value).ok_or_else(Malformed::too_many)?;
    Ok(Document { root, twice: builder.twice })
}

struct Builder<'l> {
    lines: &'l Lines,
    twice: Vec<Twice>,
    left: usize,
}

impl Builder<'_> {
    /// `None` if there are too many. As deep as the text, which was seen to be bounded.
    fn node(&mut self, value: ast::Value<'_>) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        let line = self.lines.line(value.range().start);
        let value = match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::NumberLit(literal) => Value::Number(literal.value.to_owned()),
            ast::Value::StringLit(literal) => Value::Text(literal.value.into_owned()),
            ast::Value::Array(array) => {
                Value::List(array.elements.into_iter().map(|value| self.node(value)).collect::<Option<_>>()?)
            }
            ast::Value::Object(object) => {
                let mut entries = Vec::new();
                for property in object.properties {
                    let line = self.lines.line(property.range.start);
                    let name = property.name.into_string();
                    let node = self.node(property.value)?;
                    insert(&mut entries, &mut self.twice, Key { name, line }, node);
                }
                Value::Map(entries)
            }
        };
        Some(Node { line, value })
    }
}

/// Where a text is nested deeper than that; comments are taken for text, so it may be a little less.
fn deeper_than(text: &str, most: usize) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            // No string goes on in the next line; a quotation mark in a comment ends there.
            b'\n' => quoted = false,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > most {
                    return Some(at);
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_lines() {
        let document = parse("{\n \"a\": [1,\n  \"\\ud83d\\ude00\"],\n\"b\": null}", false).unwrap();
        let list = document.root.get("a").unwrap();
        assert_eq!(list.line, 2);
        let items = list.list().unwrap();
        assert_eq!((items[1].line, items[1].text()), (3, Some("😀")));
        assert_eq!(document.root.get("b").unwrap().kind(), "null");
    }

    #[test]
    fn the_later_of_two_keys_counts() {
        let document = parse("{\"a\": 1,\n\"a\": 2}", false).unwrap();
        assert_eq!(document.root.get("a").unwrap().value, Value::Number("2".to_owned()));
        assert_eq!(document.twice, [Twice { key: "a".to_owned(), taken: 2, lost: 1 }]);
    }

    #[test]
    fn comments_only_where_they_are_allowed() {
        let text = "{\n// one\n\"a\": 1, /* two */\n}";
        assert!(parse(text, true).is_ok());
        assert_eq!(parse(text, false).unwrap_err().line, Some(2));
    }

    #[test]
    fn what_is_no_json_says_where() {
        for (text, line) in
            [("", None), ("{\"a\": ", Some(1)), ("{\n\"a\" 1}", Some(2)), ("[1]\n[2]", Some(2)), ("{'a': 1}", Some(1))]
        {
            assert_eq!(parse(text, true).unwrap_err().line, line, "{text:?}");
        }
        for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
            assert!(parse(&deep, true).unwrap_err().message.contains("deep"));
        }
        assert!(parse(&format!("[{}1]", "1,".repeat(MAX_VALUES)), true).unwrap_err().message.contains("more than"));
    }
}
