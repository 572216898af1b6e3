//! `--partition`

use crate::model::Partition;

/// More parts than these are a slip of the finger.
const MOST: u64 = 10_000;

/// Reads `hash:2/4`.
///
/// # Errors
///
/// A sentence that says how it is written.
pub fn parse(text: &str) -> Result<Partition, String> {
    let Some((how, parts)) = text.split_once(':') else {
        return Err("write how checks are divided, and which part it is to be: hash:2/4".to_owned());
    };
    if how != "hash" {
        return Err(format!("checks are divided by the hash of their ids: hash:{parts}"));
    }
    let numbers = parts.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    let Some((part, of)) = numbers else {
        return Err("write which part of how many: hash:2/4".to_owned());
    };
    if !(1..=MOST).contains(&of) {
        return Err(format!("there can be 1 to {MOST} parts"));
    }
    if !(1..=of).contains(&part) {
        return Err(format!("the parts are 1 to {of}"));
    }
    Ok(Partition { part, of })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!(parse("hash:2/4"), Ok(Partition { part: 2, of: 4 }));
        assert_eq!(parse("hash:1/1"), Ok(Partition { part: 1, of: 1 }));
        for text in
            ["", "2/4", "count:2/4", "hash:", "hash:2", "hash:0/4", "hash:5/4", "hash:1/0", "hash:-1/4", "hash:1/10001"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
