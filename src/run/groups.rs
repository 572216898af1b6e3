//! What is said of a check's variants together, once all of them are judged.
//!
//! # Invariants
//!
//! - **Nothing is kept for long**: of a variant that is not red, its verdict alone is; a red one's report waits for the last
//!   of its group, with others that wait, out of memory if they are many.
//! - **Nothing is guessed**: of a check that itself is red, or was not seen to pass, no variant depends on anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use super::reports::Reports;
use super::{records, settings, shared};
use crate::model::{CheckReport, Fact, Finding, Frame, Kind, Severity, Shared, SharedKind, SharedUse, Verdict};
use crate::plan::{Change, Plan, Variant};
use crate::words::first_of;

/// How many things are named that several runs used.
const NAMED: usize = 5;

/// How a variant stands, as far as it says something of what was changed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Green,
    Red,
    /// It was left out, or could not be run or measured.
    Unknown,
}

impl Standing {
    pub(super) fn of(report: &CheckReport, variant: &Variant) -> Self {
        match report.verdict {
            Verdict::Passed => Self::Green,
            // It is red beside others, and passes alone.
            _ if variant.is_combination() && report.findings.iter().any(|it| it.kind == Kind::Collision) => Self::Green,
            Verdict::Skipped | Verdict::Broken => Self::Unknown,
            _ => Self::Red,
        }
    }
}

/// A judged variant.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    pub variant: &'a Variant,
    pub standing: Standing,
    /// Where it failed, if it did.
    pub frame: Option<&'a Frame>,
    /// What it used that others may use, too.
    pub shared: &'a SharedUse,
}

/// What the judged variants of one check say together: findings, each with the place of the variant that it is about.
#[must_use]
pub fn conclude(members: &[Member<'_>]) -> Vec<(usize, Finding)> {
    let red = members.iter().enumerate().filter(|(_, member)| member.standing == Standing::Red);
    let found = red.filter_map(|(place, member)| {
        let (last, others) = member.variant.changes.split_last()?;
        let mut finding = match last {
            Change::Fact(fact) => {
                green(members, others)?;
                depends_on(*fact)
            }
            Change::Copy(_) => collision(members, member)?,
            _ => return None,
        };
        finding.frame = member.frame.cloned();
        Some((place, finding))
    });
    found.chain(broken_by_settings(members)).collect()
}

/// What is said of combinations of a matrix, each set against those by the same rules.
fn broken_by_settings(members: &[Member<'_>]) -> Vec<(usize, Finding)> {
    let mut by_rules: BTreeMap<String, Vec<(usize, &Member<'_>)>> = BTreeMap::new();
    for (place, member) in members.iter().enumerate() {
        if member.variant.is_combination() {
            by_rules.entry(member.variant.by_rules()).or_default().push((place, member));
        }
    }
    let said = by_rules.values().flat_map(|combinations| settings::conclude(combinations));
    said.map(|(place, message)| (place, breaks(message, members[place].frame))).collect()
}

/// That settings break a check, in these words.
pub(super) fn breaks(message: String, frame: Option<&Frame>) -> Finding {
    let mut finding = Finding::new(Kind::DependsOn, Severity::Error, message);
    finding.frame = frame.cloned();
    finding.remedy = Some("make it hold with every setting, or take out what is not to be supported".to_owned());
    finding
}

/// The variant with these changes, if it passes.
fn green<'m, 'a>(members: &'m [Member<'a>], changes: &[Change]) -> Option<&'m Member<'a>> {
    members.iter().find(|other| *other.variant.changes == *changes && other.standing == Standing::Green)
}

fn depends_on(fact: Fact) -> Finding {
    let mut finding = Finding::new(Kind::DependsOn, Severity::Error, format!("passes, but not {}", fact.words()));
    finding.remedy = Some("make it hold either way, or let the check itself say what it needs".to_owned());
    finding
}

/// What is said of a copy that is red, if the check alone is not.
fn collision(members: &[Member<'_>], red: &Member<'_>) -> Option<Finding> {
    let alone = members.iter().find(|other| {
        let changes = &other.variant.changes;
        other.standing == Standing::Green
            && changes.iter().all(|change| matches!(change, Change::Rules(_) | Change::Setting(_)))
            && red.variant.changes.starts_with(changes)
    })?;
    let beside: Vec<&SharedUse> =
        members.iter().filter(|other| other.variant.runs_with(red.variant)).map(|other| other.shared).collect();
    let place = if red.variant.has_one_tmpdir() { " with one TMPDIR for all" } else { "" };
    let mut used = used_by_several(alone.shared, &beside, red.variant.has_one_tmpdir());
    // What the failure itself names, by its last name at least, comes first.
    let error = red.frame.and_then(|frame| frame.error.as_deref()).unwrap_or_default();
    used.sort_by_key(|shared| !error.contains(shared.name.rsplit('/').next().unwrap_or_default()));
    let words =
        |things: &[&Shared]| first_of(&things.iter().map(|shared| shared.words()).collect::<Vec<String>>(), NAMED);
    let (seen, unsure): (Vec<&Shared>, Vec<&Shared>) = used.iter().copied().partition(|shared| shared.seen);
    let mut told = Vec::new();
    if !seen.is_empty() {
        told.push(format!("more than one of its runs used {}", words(&seen)));
    }
    // Others are at work on the machine, too.
    if seen.is_empty() && !unsure.is_empty() {
        told.push(format!("{} changed each time it ran, by whom is not known", words(&unsure)));
    }
    let alike = if used.is_empty() {
        alike_in_several(alone.shared, &beside, red.variant.has_one_tmpdir())
    } else {
        Vec::new()
    };
    if !alike.is_empty() {
        told.push(format!("names like {} were there each time it ran", alike.join(", ")));
    }
    let blind = beside.iter().chain([&alone.shared]).find_map(|shared| shared.unseen.as_deref());
    if let Some(why) = blind.filter(|_| seen.is_empty()) {
        told.push(format!("what else they have in common could not all be seen: {why}"));
    } else if told.is_empty() {
        told.push("nothing was seen that more than one of its runs used".to_owned());
    }
    let message = format!("passes alone, but not beside itself{place}: {}", told.join("; "));
    let mut finding = Finding::new(Kind::Collision, Severity::Error, message);
    let is_file = |shared: &&&Shared| matches!(shared.kind, SharedKind::Path | SharedKind::Lock);
    finding.path = used.iter().find(is_file).map(|shared| shared.name.clone());
    finding.remedy = Some(match used[..] {
        [] => "count only what the check made itself; run it alone more often, to see whether it is flaky".to_owned(),
        _ => "let the system choose the name: mktemp or tempfile for files, port 0 for ports".to_owned(),
    });
    Some(finding)
}

/// Whether a thing may be the same for copies: what is in a `TMPDIR` is only if they have one together.
fn may_meet(shared: &Shared, one_tmpdir: bool) -> bool {
    one_tmpdir || !shared.name.starts_with("$TMPDIR/")
}

/// The names that were chosen at random, each as a glob, of which the run alone and one of the others had their own: whoever
/// looks at all that are called so sees those of the others.
fn alike_in_several(alone: &SharedUse, beside: &[&SharedUse], one_tmpdir: bool) -> Vec<String> {
    let globs = |run: &SharedUse| {
        let things = run.things.iter().filter(|shared| shared.kind == SharedKind::Path && may_meet(shared, one_tmpdir));
        things.filter_map(|shared| random(&shared.name).or_else(|| numbered(&shared.name))).collect::<BTreeSet<_>>()
    };
    let others: BTreeSet<String> = beside.iter().flat_map(|run| globs(run)).collect();
    globs(alone).into_iter().filter(|glob| others.contains(glob)).take(NAMED).collect()
}

/// A name with `*` for the random end that `mktemp` and its like give it; `None` if it has none, or nothing else.
fn random(name: &str) -> Option<String> {
    const SHORTEST: usize = 6;
    let kept = name.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let is_random = name.len() - kept.len() >= SHORTEST && kept.ends_with(['-', '_', '.']);
    is_random.then(|| format!("{kept}*"))
}

/// A name with `*` for the number in it, as that of a process; `None` if it has none, or nothing else in a folder of everybody's.
fn numbered(name: &str) -> Option<String> {
    const SHORTEST: usize = 3;
    let (folder, file) = name.rsplit_once('/')?;
    let is_digit = |c: char| c.is_ascii_digit();
    let end = file.rfind(is_digit)? + 1;
    let start = file[..end].trim_end_matches(is_digit).len();
    let is_vague = end - start == file.len() && (folder == "$TMPDIR" || shared::COMMON.contains(&folder));
    (end - start >= SHORTEST && !is_vague).then(|| format!("{folder}/{}*{}", &file[..start], &file[end..]))
}

/// What more than one run used: by processes that were seen with it; or by the run alone and at least one of those beside each
/// other, as far as it then only changed. What else is at work on the machine would have had to change it both times.
fn used_by_several<'a>(alone: &'a SharedUse, beside: &[&'a SharedUse], one_tmpdir: bool) -> Vec<&'a Shared> {
    let is_same = |a: &Shared, b: &Shared| (a.kind, &a.name) == (b.kind, &b.name);
    let mut used: Vec<&Shared> = Vec::new();
    for &run in beside {
        for shared in run.things.iter().filter(|shared| may_meet(shared, one_tmpdir)) {
            let in_others = beside.iter().filter(|other| !std::ptr::eq(**other, run)).flat_map(|other| &other.things);
            let others = || in_others.clone().filter(|other| is_same(other, shared));
            let before = alone.things.iter().find(|other| is_same(other, shared));
            let is_sure = shared.seen && (others().any(|other| other.seen) || before.is_some_and(|it| it.seen));
            if !is_sure && before.is_none() {
                continue;
            }
            match used.iter_mut().find(|known| is_same(known, shared)) {
                Some(known) if is_sure => *known = shared,
                Some(_) => {}
                None => used.push(shared),
            }
        }
    }
    used.sort();
    used
}

/// The variants of a plan that are yet to be judged.
pub struct Groups<'a> {
    plan: &'a Plan,
    /// The group of each check in the plan; `None` for one without other variants.
    group_of: Vec<Option<usize>>,
    waiting: Mutex<Vec<Group>>,
    /// The reports of the red ones, until their group is told.
    held: Reports,
}

/// What is kept of a judged variant.
struct Seen {
    index: usize,
    standing: Standing,
    shared: SharedUse,
    /// Where it failed; of those whose reports wait.
    frame: Option<Frame>,
    waits: bool,
}

struct Group {
    size: usize,
    seen: Vec<Seen>,
}

impl<'a> Groups<'a> {
    /// None is judged yet.
    #[must_use]
    pub fn of(plan: &'a Plan) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, planned) in plan.checks.iter().enumerate() {
            places.entry(&planned.variant.of).or_default().push(index);
        }
        let mut group_of = vec![None; plan.checks.len()];
        let mut groups = Vec::new();
        for places in places.into_values().filter(|places| places.len() > 1) {
            for &index in &places {
                group_of[index] = Some(groups.len());
            }
            groups.push(Group { size: places.len(), seen: Vec::new() });
        }
        Self { plan, group_of, waiting: Mutex::new(groups), held: Reports::default() }
    }

    /// Takes in the report of a judged check. Tells those that can be told: this one, unless it waits for others of its
    /// group; and those that waited for this one.
    pub fn take(&self, index: usize, report: CheckReport, mut tell: impl FnMut(usize, CheckReport)) {
        let Some(group) = self.group_of[index] else { return tell(index, report) };
        let standing = Standing::of(&report, &self.plan.checks[index].variant);
        let waits = report.verdict.is_red() && standing != Standing::Unknown;
        let frame = report.frames.first().filter(|_| waits).cloned();
        let seen = Seen { index, standing, shared: report.shared.clone(), frame, waits };
        if waits {
            self.held.put(index, report);
        } else {
            tell(index, report);
        }
        let mut groups = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        groups[group].seen.push(seen);
        if groups[group].seen.len() < groups[group].size {
            return;
        }
        let whole = std::mem::take(&mut groups[group].seen);
        drop(groups);
        self.tell(whole, &mut tell);
    }

    /// Tells those that wait for others which will not be judged.
    pub fn rest(&self, mut tell: impl FnMut(usize, CheckReport)) {
        let groups = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        for group in groups {
            self.tell(group.seen, &mut tell);
        }
    }

    /// Tells the reports that wait, with what the group says of them.
    fn tell(&self, mut seen: Vec<Seen>, tell: &mut impl FnMut(usize, CheckReport)) {
        if !seen.iter().any(|seen| seen.waits) {
            return;
        }
        seen.sort_by_key(|seen| seen.index);
        let members = seen.iter().map(|seen| Member {
            variant: &self.plan.checks[seen.index].variant,
            standing: seen.standing,
            frame: seen.frame.as_ref(),
            shared: &seen.shared,
        });
        let members: Vec<Member<'_>> = members.collect();
        let mut findings: BTreeMap<usize, Vec<Finding>> = BTreeMap::new();
        for (place, finding) in conclude(&members) {
            findings.entry(place).or_default().push(finding);
        }
        for (place, seen) in seen.iter().enumerate().filter(|(_, seen)| seen.waits) {
            let mut report = match self.held.take(seen.index) {
                Ok(Some(report)) => report,
                Ok(None) => continue,
                Err(error) => records::lost_again(&self.plan.checks[seen.index].check(), &error),
            };
            findings.remove(&place).unwrap_or_default().into_iter().for_each(|finding| add(&mut report, finding));
            tell(seen.index, report);
        }
    }
}

/// Puts a finding before all others, and into the reason.
pub(super) fn add(report: &mut CheckReport, finding: Finding) {
    let before = report.reason.take().map(|reason| format!(": {reason}")).unwrap_or_default();
    report.reason = Some(format!("{}{before}", finding.message));
    report.findings.insert(0, finding);
}

#[cfg(test)]
mod tests {
    use super::Standing::{Green, Red, Unknown};
    use super::*;
    use crate::model::Rules;

    fn concluded(members: &[(Variant, Standing)]) -> Vec<(usize, String)> {
        let nothing = SharedUse::default();
        let member = |(variant, standing)| Member { variant, standing, frame: None, shared: &nothing };
        let members: Vec<_> = members.iter().map(|(variant, standing)| member((variant, *standing))).collect();
        conclude(&members).into_iter().map(|(place, finding)| (place, finding.message)).collect()
    }

    #[test]
    fn a_number_in_a_name_is_told_from_the_name() {
        for (name, glob) in [
            ("/var/tmp/jobs/25930", Some("/var/tmp/jobs/*")),
            ("/tmp/app-4711.sock", Some("/tmp/app-*.sock")),
            ("$TMPDIR/w12/4711", Some("$TMPDIR/w12/*")),
            ("/tmp/4711", None),
            ("$TMPDIR/4711", None),
            ("/tmp/v12", None),
            ("tcp", None),
        ] {
            assert_eq!(numbered(name).as_deref(), glob, "{name}");
        }
    }

    #[test]
    fn a_variant_depends_on_its_fact_if_the_check_without_it_passes() {
        let plain = Variant::plain("a");
        let locale = plain.with(Change::Fact(Fact::Locale));
        let umask = plain.with(Change::Fact(Fact::Umask));
        let all = |of_plain, of_locale, of_umask| {
            concluded(&[(plain.clone(), of_plain), (locale.clone(), of_locale), (umask.clone(), of_umask)])
        };
        assert_eq!(all(Green, Red, Green), [(1, "passes, but not with LANG=C".to_owned())]);
        assert_eq!(all(Green, Red, Red).len(), 2);
        assert_eq!(all(Red, Red, Green), [], "it is red either way");
        assert_eq!(all(Unknown, Red, Red), [], "whether it passes is not known");
        assert_eq!(all(Green, Unknown, Unknown), []);
    }

    #[test]
    fn a_variant_is_set_against_the_one_with_the_same_rules() {
        let native = Variant::plain("a");
        let windows = native.with(Change::Rules(Rules::Windows));
        let both = windows.with(Change::Fact(Fact::Locale));
        let all = [(native, Standing::Green), (windows, Standing::Red), (both, Standing::Red)];
        assert_eq!(concluded(&all), []);
        let [(native, _), (windows, _), (both, _)] = all;
        let all = [(native, Standing::Red), (windows, Standing::Green), (both, Standing::Red)];
        assert_eq!(concluded(&all), [(2, "passes, but not with LANG=C".to_owned())]);
    }

    fn used(things: &[(SharedKind, &str, bool)]) -> SharedUse {
        let thing = |&(kind, name, seen): &(SharedKind, &str, bool)| Shared { kind, name: name.to_owned(), seen };
        SharedUse { things: things.iter().map(thing).collect(), unseen: None }
    }

    /// What is said of the first of two copies, of which this one is red.
    fn beside(one_tmpdir: bool, alone: (Standing, &SharedUse), copies: [&SharedUse; 2]) -> Option<String> {
        let plain = Variant::plain("a");
        let company = if one_tmpdir { plain.with(Change::OneTmpdir) } else { plain.clone() };
        let [one, two] = [1, 2].map(|number| company.with(Change::Copy(number)));
        let member = |variant, standing, shared| Member { variant, standing, frame: None, shared };
        let members = [member(&plain, alone.0, alone.1), member(&one, Red, copies[0]), member(&two, Green, copies[1])];
        let found = conclude(&members);
        assert!(found.iter().all(|(place, finding)| *place == 1 && finding.kind == Kind::Collision));
        found.into_iter().next().map(|(_, finding)| finding.message)
    }

    fn says(alone: &SharedUse, copies: [&SharedUse; 2]) -> String {
        beside(false, (Green, alone), copies).expect("a finding")
    }

    #[test]
    fn copies_collide_over_what_more_than_one_run_used() {
        use SharedKind::{Path, Tcp};
        let none = SharedUse::default();
        let file = |seen| used(&[(Path, "/tmp/x", seen)]);
        assert!(says(&none, [&file(true), &file(true)]).ends_with("used /tmp/x"));
        assert!(says(&file(true), [&none, &file(true)]).ends_with("used /tmp/x"), "the other could not get it");
        assert!(says(&file(false), [&file(false), &none]).contains("/tmp/x changed each time it ran"));
        // Both see what happens while they run, whoever does it.
        for other in [&file(false), &none] {
            assert!(says(&none, [&file(true), other]).contains("nothing was seen"));
        }
        assert!(says(&none, [&used(&[(Tcp, "x", true)]), &file(true)]).contains("nothing was seen"));
        let blind = SharedUse { unseen: Some("no /proc".into()), ..SharedUse::default() };
        assert!(says(&none, [&none, &blind]).ends_with("could not all be seen: no /proc"));
        assert_eq!(beside(false, (Red, &none), [&file(true), &file(true)]), None);
        assert_eq!(beside(false, (Unknown, &none), [&file(true), &file(true)]), None);
    }

    #[test]
    fn names_that_are_chosen_at_random_are_told_where_nothing_else_is() {
        let file = |name: &str| used(&[(SharedKind::Path, name, false)]);
        let told = says(&file("/tmp/scratch-aB3dEf"), [&file("/tmp/scratch-x7Yz12"), &file("/tmp/scratch-000000")]);
        assert!(told.ends_with("names like /tmp/scratch-* were there each time it ran"), "{told}");
        let told = says(&file("/tmp/scratch-aB3dEf"), [&file("/tmp/other-x7Yz12"), &SharedUse::default()]);
        assert!(told.contains("nothing was seen"), "{told}");
        assert_eq!(["/tmp/tmpab12cd34", "/tmp/guard.pid", "/tmp/a-b"].map(random), [None, None, None]);
    }

    #[test]
    fn a_name_in_tmpdir_is_the_same_only_with_one_for_all() {
        let file = used(&[(SharedKind::Path, "$TMPDIR/x", true)]);
        let says = |one_tmpdir| beside(one_tmpdir, (Green, &file), [&file, &file]).expect("a finding");
        assert!(says(false).contains("nothing was seen"));
        assert!(
            says(true).ends_with("beside itself with one TMPDIR for all: more than one of its runs used $TMPDIR/x")
        );
    }
}
