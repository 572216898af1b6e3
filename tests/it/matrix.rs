//! `matrix`: a check with every combination of settings, and which of them break it.

use hostproof::model::{Kind, Verdict};

use crate::context::{Context, Ran, of_kind};

fn ids(ran: &Ran) -> Vec<(&str, Verdict)> {
    ran.report().checks.iter().map(|check| (check.id.as_str(), check.verdict)).collect()
}

fn depends<'a>(ran: &'a Ran, id: &str) -> &'a str {
    &of_kind(ran.check(id), Kind::DependsOn)[0].message
}

#[test]
fn the_setting_that_breaks_it_is_named() {
    let context = Context::with(
        "- id: guard\n  matrix: {FRESH: [\"0.1\", 5, 300], MODE: [strict, null]}\n  env: {MODE: none}\n  \
         shell: 'test \"$FRESH\" != 0.1 || exit 3; case ${MODE-unset} in strict|unset) ;; *) exit 4 ;; esac'\n",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(
        ids(&ran),
        [
            ("guard[FRESH=0.1,MODE=strict]", Verdict::Failed),
            ("guard[FRESH=0.1,MODE=null]", Verdict::Failed),
            ("guard[FRESH=5,MODE=strict]", Verdict::Passed),
            ("guard[FRESH=5,MODE=null]", Verdict::Passed),
            ("guard[FRESH=300,MODE=strict]", Verdict::Passed),
            ("guard[FRESH=300,MODE=null]", Verdict::Passed),
        ],
        "{}",
        ran.said()
    );
    for id in ["guard[FRESH=0.1,MODE=strict]", "guard[FRESH=0.1,MODE=null]"] {
        let told = "passes, but not with FRESH=0.1 (2 combinations that have it are red, and none passes)";
        assert_eq!(depends(&ran, id), told);
        assert!(ran.check(id).reason.as_deref().is_some_and(|reason| reason.starts_with(told)), "{}", ran.said());
    }
    assert_eq!(ran.check("guard[FRESH=5,MODE=null]").variant.as_deref(), Some("FRESH=5,MODE=null"));
    // One of them is run alone by its id, and is not set against others then.
    let ran = context.hp(&["run", "guard[FRESH=0.1,MODE=null]"]);
    assert_eq!(ids(&ran), [("guard[FRESH=0.1,MODE=null]", Verdict::Failed)]);
    assert_eq!(of_kind(ran.only(), Kind::DependsOn).len(), 0);
}

#[test]
fn two_settings_that_break_it_together_are_named_whatever_else_is_set() {
    let context = Context::with(
        "- id: pair\n  matrix: {A: [0, 1], B: [0, 1], C: [0, 1]}\n  shell: 'test \"$A$B\" != 11'\n  vary: [locale]\n",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "7/9 checks", "{}", ran.said());
    for id in ["pair[A=1,B=1,C=0]", "pair[A=1,B=1,C=1]"] {
        assert_eq!(depends(&ran, id), "passes, but not with A=1 and B=1 together");
    }
    // What vary adds is on top of the first.
    assert_eq!(ran.check("pair[A=0,B=0,C=0][locale]").verdict, Verdict::Passed);
}

#[test]
fn pairs_are_enough_to_find_it_in_a_large_one() {
    let variables: Vec<String> = (0..12).map(|number| format!("V{number}: [a, b, c, d]")).collect();
    let context = Context::with(&format!(
        "- id: large\n  matrix: {{{}}}\n  shell: 'test \"$V3\" != c || test \"$V7\" != d'\n",
        variables.join(", ")
    ));
    let refused = context.hp(&["run"]);
    assert!(refused.exits(2).stderr.contains("with --pairwise every two values"), "{}", refused.said());
    let ran = context.hp(&["run", "--pairwise"]);
    let all = ran.exits(1).report().checks.len();
    assert!((16..100).contains(&all), "{all} of 16,777,216: {}", ran.said());
    let red: Vec<&str> = ids(&ran).into_iter().filter(|(_, it)| *it == Verdict::Failed).map(|(id, _)| id).collect();
    assert!(!red.is_empty());
    for id in red {
        assert!(id.contains("V3=c") && id.contains("V7=d"), "{id}");
        assert!(depends(&ran, id).starts_with("passes"), "{}", depends(&ran, id));
    }
}
