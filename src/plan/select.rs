//! Which checks the patterns of a command line mean.

use globset::Glob;

use crate::error::{Error, Result};

/// Which ids are wanted, each given with that of the check that it is a variant of. An exact id wins over a glob of the
/// same text; the id of a check that is there in variants only means all of them.
pub fn select(ids: &[(&str, &str)], patterns: &[String]) -> Result<Vec<bool>> {
    let mut wanted = vec![patterns.is_empty(); ids.len()];
    for pattern in patterns {
        let mut found = false;
        if let Some(exact) = ids.iter().position(|(id, _)| id == pattern) {
            wanted[exact] = true;
            found = true;
        } else if ids.iter().any(|(_, of)| of == pattern) {
            for ((_, of), wanted) in ids.iter().zip(&mut wanted) {
                *wanted |= of == pattern;
            }
            found = true;
        } else {
            let glob = Glob::new(pattern)
                .map_err(|error| Error::Usage(format!("{pattern} is neither a check's id nor a glob: {error}")))?
                .compile_matcher();
            for ((id, _), wanted) in ids.iter().zip(&mut wanted) {
                if glob.is_match(id) {
                    *wanted = true;
                    found = true;
                }
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
    fn a_check_with_variants_only_means_all_of_them() {
        let ids = [("a", "a"), ("a@windows", "a"), ("b@windows", "b"), ("b@other", "b")];
        let chosen = |pattern: &str| select(&ids, &[pattern.to_owned()]).expect("a match");
        assert_eq!(chosen("a"), [true, false, false, false]);
        assert_eq!(chosen("b"), [false, false, true, true]);
        assert_eq!(chosen("*@windows"), [false, true, true, false]);
    }

    #[test]
    fn a_pattern_without_a_match_names_the_nearest() {
        let error = chosen(&["sweeep"]).expect_err("no such check").to_string();
        assert!(error.contains("did you mean sweep?"), "{error}");
        let error = chosen(&["zzz"]).expect_err("no such check").to_string();
        assert!(error.contains("hostproof list"), "{error}");
    }
}
