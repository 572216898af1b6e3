//! Which checks the patterns of a command line mean.

use std::collections::HashMap;

use globset::Glob;

use crate::error::{Error, Result};

/// What stands behind the id of a check to mean it alone, without its variants.
pub const NATIVE: &str = "@native";

/// Which ids are wanted, each given with that of the check that it is a variant of. The id of a check means all that its
/// manifest says of it; that of one variant means that one, and `sweep@native` the check itself. An exact id wins over a glob
/// of the same text.
pub fn select(ids: &[(&str, &str)], patterns: &[String]) -> Result<Vec<bool>> {
    if patterns.is_empty() {
        return Ok(vec![true; ids.len()]);
    }
    let mut wanted = vec![false; ids.len()];
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
    let mut variants: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (_, of)) in ids.iter().enumerate() {
        variants.entry(of).or_default().push(at);
    }
    for pattern in patterns {
        let exact = || places.get(pattern.as_str()).or_else(|| places.get(pattern.replacen(NATIVE, "", 1).as_str()));
        if let Some(all) = variants.get(pattern.as_str()) {
            for at in all {
                wanted[*at] = true;
            }
            continue;
        }
        if let Some(one) = exact() {
            wanted[*one] = true;
            continue;
        }
        let glob = Glob::new(pattern)
            .map_err(|error| Error::Usage(format!("{pattern} is neither a check's id nor a glob: {error}")))?
            .compile_matcher();
        let mut found = false;
        for ((id, _), wanted) in ids.iter().zip(&mut wanted) {
            if glob.is_match(id) {
                *wanted = true;
                found = true;
            }
        }
        if !found {
            return Err(Error::Usage(format!("no check matches {pattern}{}", nearest(ids, pattern))));
        }
    }
    Ok(wanted)
}

fn nearest(ids: &[(&str, &str)], pattern: &str) -> String {
    let scored = ids.iter().map(|(id, _)| (strsim::damerau_levenshtein(id, pattern), id));
    match scored.min() {
        Some((distance, id)) if distance <= pattern.len().div_ceil(3) => format!("; did you mean {id}?"),
        _ => "; hostproof list shows them all".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(patterns: &[&str]) -> Result<Vec<bool>> {
        let ids = ["guard/lock", "guard/spawn", "sweep", "sweep-[x]"].map(|id| (id, id));
        select(&ids, &patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn patterns_choose_by_id_and_by_glob() {
        assert_eq!(chosen(&[]).expect("all"), [true; 4]);
        assert_eq!(chosen(&["guard/*", "sweep"]).expect("three"), [true, true, true, false]);
        assert_eq!(chosen(&["sweep-[x]"]).expect("the exact one"), [false, false, false, true]);
    }

    #[test]
    fn the_id_of_a_check_means_all_of_it_and_that_of_a_variant_that_one() {
        let ids = [("a", "a"), ("a@windows", "a"), ("b@windows", "b"), ("b@other", "b"), ("c[F=1]", "c")];
        let chosen = |pattern: &str| {
            let chosen = select(&ids, &[pattern.to_owned()]).ok()?;
            Some(ids.iter().zip(chosen).filter(|(_, is)| *is).map(|((id, _), _)| *id).collect::<Vec<_>>().join(" "))
        };
        for (pattern, ids) in [
            ("a", Some("a a@windows")),
            ("a@native", Some("a")),
            ("a@windows", Some("a@windows")),
            ("b", Some("b@windows b@other")),
            ("b@native", None),
            ("c@native[F=1]", Some("c[F=1]")),
            ("*@windows", Some("a@windows b@windows")),
        ] {
            assert_eq!(chosen(pattern).as_deref(), ids, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_without_a_match_names_the_nearest() {
        let error = chosen(&["sweeep"]).expect_err("no such check").to_string();
        assert!(error.contains("did you mean sweep?"), "{error}");
        let error = chosen(&["zzz"]).expect_err("no such check").to_string();
        assert!(error.contains("hostproof list"), "{error}");
    }
}
