//! The type of a plain scalar, by the core schema of YAML 1.2: `yes`, `on` and `0777` are not what they were in 1.1.

use super::node::Value;

/// What a scalar without quotes is.
pub fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null(text.to_owned()),
        "true" | "True" | "TRUE" => return Value::Bool(true, text.to_owned()),
        "false" | "False" | "FALSE" => return Value::Bool(false, text.to_owned()),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN, text.to_owned()),
        _ => {}
    }
    if let Some(value) = integer(text) {
        return value;
    }
    match float(text) {
        Some(value) => Value::Float(value, text.to_owned()),
        None => Value::String(text.to_owned()),
    }
}

/// `None` if it is not one.
fn integer(text: &str) -> Option<Value> {
    let (digits, radix) = match (text.strip_prefix("0o"), text.strip_prefix("0x")) {
        (Some(digits), _) => (digits, 8),
        (_, Some(digits)) => (digits, 16),
        _ => (text.strip_prefix(['-', '+']).unwrap_or(text), 10),
    };
    if digits.is_empty() || !digits.chars().all(|character| character.is_digit(radix)) {
        return None;
    }
    let value = if radix == 10 { text.parse().ok() } else { i64::from_str_radix(digits, radix).ok() };
    // One beyond 64 bits is a number that no key takes; its text says which.
    let too_large = || Value::Float(text.parse().unwrap_or(f64::INFINITY), text.to_owned());
    Some(value.map_or_else(too_large, |value| Value::Int(value, text.to_owned())))
}

fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    // Rust reads words as numbers, too (`inf`, `nan`, `infinity`), which YAML does not.
    let first = unsigned.strip_prefix('.').unwrap_or(unsigned);
    if !first.starts_with(|character: char| character.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        match resolve(text) {
            Value::Null(_) => "null",
            Value::Bool(..) => "bool",
            Value::Int(..) => "int",
            Value::Float(..) => "float",
            _ => "string",
        }
    }

    #[test]
    fn follows_the_core_schema() {
        for (text, expected) in [
            ("", "null"),
            ("~", "null"),
            ("null", "null"),
            ("true", "bool"),
            ("False", "bool"),
            ("yes", "string"),
            ("on", "string"),
            ("No", "string"),
            ("tRue", "string"),
            ("0", "int"),
            ("-17", "int"),
            ("+3", "int"),
            ("0o17", "int"),
            ("0x1F", "int"),
            ("0x", "string"),
            ("0o9", "string"),
            ("1_000", "string"),
            ("-", "string"),
            ("99999999999999999999", "float"),
            ("1.5", "float"),
            (".5", "float"),
            ("1.", "float"),
            ("1e3", "float"),
            ("-.inf", "float"),
            (".nan", "float"),
            ("inf", "string"),
            ("nan", "string"),
            ("infinity", "string"),
            ("1.2.3", "string"),
            ("12:30", "string"),
            ("5s", "string"),
        ] {
            assert_eq!(kind(text), expected, "{text:?}");
        }
        assert!(matches!(resolve("010"), Value::Int(10, _)), "no octal by a leading zero");
        assert!(matches!(resolve("0o10"), Value::Int(8, _)));
    }
}
