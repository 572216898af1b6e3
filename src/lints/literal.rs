//! Texts that stand in a source.

use super::syntax::Node;

/// Kinds of node that are a text.
const TEXTS: &[&str] = &[
    "string",
    "concatenated_string",
    "template_string",
    "string_literal",
    "raw_string_literal",
    "interpreted_string_literal",
    "raw_string",
    "word",
    // Of a shell: `"$a"/b`.
    "concatenation",
];

/// A hole in a text: something that is put in when it runs.
pub const HOLE: char = '\u{fffc}';

/// Whether a node is a text.
#[must_use]
pub fn is_text(node: Node<'_>) -> bool {
    TEXTS.contains(&node.kind())
}

/// What a text says, if nothing is put into it.
#[must_use]
pub fn literal(node: Node<'_>) -> Option<String> {
    pieces(node).filter(|text| !text.contains(HOLE))
}

/// What a text says, with a [`HOLE`] for everything that is put into it; `None` of what is no text.
#[must_use]
pub fn pieces(node: Node<'_>) -> Option<String> {
    if !is_text(node) {
        return None;
    }
    // A word of a shell and its raw texts have no parts.
    match node.kind() {
        "word" => return Some(node.text().replace('\\', "")),
        "raw_string" => return Some(node.text().trim_matches('\'').to_owned()),
        _ => {}
    }
    let mut text = String::new();
    let end = node.end_index();
    let mut next = node.next(end);
    while let Some(part) = next {
        // What is put in may be of any depth: it is passed over, not looked through.
        next = part.after(end);
        match part.kind() {
            "string_content"
            | "string_fragment"
            | "interpreted_string_literal_content"
            | "raw_string_literal_content" => {
                text.push_str(&unescaped(part));
            }
            "escape_sequence" => text.push_str(&escape(part.text())),
            "word" => text.push_str(&part.text().replace('\\', "")),
            "raw_string" => text.push_str(part.text().trim_matches('\'')),
            "interpolation" | "template_substitution" | "simple_expansion" | "expansion" | "command_substitution" => {
                text.push(HOLE);
            }
            _ => next = part.next(end),
        }
    }
    Some(text)
}

/// What a text says, or a sum of some (`"a" + b`, `"a %s" % b`, `"a {}".format(b)`), with a [`HOLE`] for what can't be told.
#[must_use]
pub fn summed(node: Node<'_>) -> Option<String> {
    summed_within(node, 8)
}

/// The same, of so many parts at most.
fn summed_within(node: Node<'_>, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let of = |node: Node<'_>| summed_within(node, depth);
    let hole = HOLE.to_string();
    match node.kind() {
        "parenthesized_expression" => of(node.parts().next()?),
        "binary_operator" | "binary_expression" => {
            let (left, right) = (node.child("left")?, node.child("right")?);
            match node.child("operator").map_or("", Node::text) {
                "%" => of(left).map(|text| text.replace("%s", &hole).replace("%d", &hole)),
                "+" => match (of(left), of(right)) {
                    (None, None) => None,
                    (left, right) => Some(left.unwrap_or_else(|| hole.clone()) + &right.unwrap_or(hole)),
                },
                _ => None,
            }
        }
        "call" => {
            let function = node.child("function").filter(|function| function.text().ends_with(".format"))?;
            of(function.child("object")?).map(|text| text.replace("{}", &hole))
        }
        _ => pieces(node),
    }
}

/// The content of a part of a text, in which escapes may be nodes of their own.
fn unescaped(part: Node<'_>) -> String {
    let whole = part.text();
    let (start, mut done, mut text) = (part.bytes().start, 0, String::new());
    for inner in part.children().filter(|inner| inner.kind() == "escape_sequence") {
        let at = inner.bytes();
        text.push_str(whole.get(done..at.start - start).unwrap_or_default());
        text.push_str(&escape(inner.text()));
        done = at.end - start;
    }
    text.push_str(whole.get(done..).unwrap_or_default());
    text
}

fn escape(sequence: &str) -> String {
    let code = |digits: &str| u32::from_str_radix(digits.trim_matches(['{', '}']), 16).ok().and_then(char::from_u32);
    match sequence.strip_prefix('\\').unwrap_or(sequence) {
        "n" => "\n".to_owned(),
        "t" => "\t".to_owned(),
        "r" => "\r".to_owned(),
        "\n" => String::new(),
        other => match other.chars().next() {
            Some('x' | 'u' | 'U') => code(&other[1..]).map(String::from).unwrap_or_default(),
            _ => other.to_owned(),
        },
    }
}

/// The expression that is put into a text first.
pub fn first_hole(text: Node<'_>) -> Option<Node<'_>> {
    let hole = text.parts().find(|part| matches!(part.kind(), "interpolation" | "template_substitution"))?;
    hole.parts().next()
}

#[cfg(test)]
mod tests {
    use super::super::language::Language;
    use super::super::syntax::Syntax;
    use super::*;

    #[test]
    fn texts_are_read() {
        for (language, source, kind, text) in [
            (Language::Python, r#"x = "a\"b\n" 'c'"#, "concatenated_string", "a\"b\nc"),
            (Language::Python, r#"x = f"{a}/b""#, "string", "\u{fffc}/b"),
            (Language::Python, r#"x = "\u2192é""#, "string", "→é"),
            (Language::JavaScript, "x = `${a}/b`", "template_string", "\u{fffc}/b"),
            (Language::JavaScript, r"x = 'a\tb'", "string", "a\tb"),
            (Language::Rust, r#"const X: &str = "a/b";"#, "string_literal", "a/b"),
            (Language::Go, "package a\nvar x = \"/tmp\"", "interpreted_string_literal", "/tmp"),
            (Language::Shell, "a \"$b/c\"", "string", "\u{fffc}/c"),
            (Language::Shell, "a 'b c'", "raw_string", "b c"),
        ] {
            let syntax = Syntax::parse(language, source).expect("a tree");
            let node = syntax.nodes().find(|node| node.kind() == kind && node.is_named()).expect("a text");
            assert_eq!(pieces(node).as_deref(), Some(text), "{source}");
        }
    }
}
