//! Publish and fetch: what is kept here and what a remote has become one.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::tree::{self, Blob, Listing};
use super::{REF, cannot, refs, tracking, unreadable};
use crate::error::{Error, Result};
use crate::receipt::digest::sha256;
use crate::source::{objects, remote};

/// How often others may come first.
const ATTEMPTS: u32 = 20;
/// How long to wait after the first time; after each it is longer.
const PAUSE: Duration = Duration::from_millis(20);

/// What came of a publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// For each that was to be published, whether it was not there before.
    pub new: Vec<bool>,
    /// How many are there now.
    pub total: usize,
}

/// What a remote had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// How many of them were not here.
    pub new: usize,
    /// How many are here now.
    pub total: usize,
    /// How many things there are none.
    pub strays: usize,
}

/// The remote of that name; without a name `origin`, or the only one.
///
/// # Errors
///
/// If there is no such remote.
pub fn remote(repository: &Path, named: Option<&str>) -> Result<String> {
    let remotes = remote::remotes(repository).map_err(|why| cannot(&why))?;
    let wanted = named.unwrap_or("origin");
    match &remotes[..] {
        [only] if named.is_none() => Ok(only.clone()),
        all if all.iter().any(|name| name == wanted) => Ok(wanted.to_owned()),
        [] => Err(Error::Usage("this repository has no remote: git remote add origin ADDRESS".to_owned())),
        all => Err(Error::Usage(format!(
            "this repository has no remote called {wanted}; it has {}: name one with --remote",
            all.join(", ")
        ))),
    }
}

/// Adds envelopes to what is kept here and, if a remote is named, to what that has, with all that is here. What it has
/// comes here.
///
/// # Errors
///
/// If git can't, or others came first again and again: what to do about it.
pub fn publish(repository: &Path, envelopes: &[Vec<u8>], remote: Option<&str>) -> Result<Published> {
    let mut new = BTreeMap::new();
    for envelope in envelopes {
        let object = objects::write_blob(repository, envelope).map_err(|why| cannot(&why))?;
        new.insert(sha256(envelope), Blob { object, size: envelope.len() as u64 });
    }
    again(|last| {
        // Before git itself stumbles over what is damaged here.
        let here = here(repository)?;
        let there = remote.map_or(Ok(None), |remote| there(repository, remote));
        let there = there.map_err(Refused::unless_race)?;
        if let Some(refused) = last {
            refused.race(there.as_ref())?;
        }
        let listings: Vec<&Listing> = here.iter().chain(&there).collect();
        let united = tree::unite(repository, &listings, &new).map_err(|why| unreadable(REF, &why))?;
        let goal = if remote.is_some() { &there } else { &here };
        let is_new = |bytes: &Vec<u8>| goal.as_ref().is_none_or(|goal| !goal.kept.contains_key(&sha256(bytes)));
        let published = Published { new: envelopes.iter().map(is_new).collect(), total: united.len() };
        let is_there = goal.as_ref().filter(|goal| is_all(goal, &united));
        let commit = if let Some(goal) = is_there {
            goal.commit.clone()
        } else {
            let parent = there.as_ref().or(here.as_ref()).map(|listing| listing.commit.as_str());
            commit(repository, &united, parent)?
        };
        move_here(repository, here.as_ref(), &commit).map_err(Refused::unless_race)?;
        if let Some(remote) = remote.filter(|_| is_there.is_none()) {
            // Whether it was one is known when it is seen what is there now.
            push(repository, remote, &commit, there.as_ref()).map_err(Stop::Again)?;
        }
        Ok(published)
    })
}

/// Brings what a remote has here; `None` if it has no receipts.
///
/// # Errors
///
/// If git can't, or others came first again and again: what to do about it.
pub fn fetch(repository: &Path, remote: &str) -> Result<Option<Fetched>> {
    again(|_| {
        let here = here(repository)?;
        let there = there(repository, remote).map_err(Refused::unless_race)?;
        let Some(there) = there else { return Ok(None) };
        let listings: Vec<&Listing> = here.iter().chain([&there]).collect();
        let united = tree::unite(repository, &listings, &BTreeMap::new()).map_err(|why| unreadable(REF, &why))?;
        let before = here.as_ref().map_or(0, |here| here.kept.len());
        let fetched =
            Fetched { new: united.len().saturating_sub(before), total: united.len(), strays: there.strays.len() };
        let is_here = here.as_ref().is_some_and(|here| is_all(here, &united));
        if united.is_empty() || is_here {
            return Ok(Some(fetched));
        }
        let commit = if is_all(&there, &united) {
            there.commit.clone()
        } else {
            commit(repository, &united, Some(&there.commit))?
        };
        move_here(repository, here.as_ref(), &commit).map_err(Refused::unless_race)?;
        Ok(Some(fetched))
    })
}

/// Whether a listing has just these.
fn is_all(listing: &Listing, united: &BTreeMap<String, Blob>) -> bool {
    listing.strays.is_empty() && listing.kept == *united
}

fn here(repository: &Path) -> Result<Option<Listing>> {
    let found = refs(repository, REF)?.into_iter().find(|(name, _)| name == REF);
    let listed = found.map(|(_, object)| tree::list(repository, &object));
    listed.transpose().map_err(|why| unreadable(REF, &why))
}

fn there(repository: &Path, remote: &str) -> Result<Option<Listing>, Refused> {
    let unreadable = |why: String| {
        let what_to_do = format!(
            "whoever may push there can begin anew with what is kept here: git push {remote} --delete {REF}, and then \
             hostproof receipt publish"
        );
        Refused {
            what: format!("the receipts of {remote} can't be read: {why}; {what_to_do}"),
            why,
            push: false,
            before: None,
        }
    };
    let refused = |why: String| Refused {
        what: format!("cannot fetch the receipts of {remote}: {why}"),
        why,
        push: false,
        before: None,
    };
    let object = remote::fetch(repository, remote, REF, &tracking(remote)).map_err(refused)?;
    object.map(|object| tree::list(repository, &object)).transpose().map_err(unreadable)
}

fn commit(repository: &Path, united: &BTreeMap<String, Blob>, parent: Option<&str>) -> Result<String> {
    let message = format!("Receipts and revocations: {}\n", united.len());
    tree::write(repository, united, parent, &message)
        .map_err(|why| cannot(&format!("cannot keep receipts in {REF}: {why}")))
}

fn move_here(repository: &Path, here: Option<&Listing>, commit: &str) -> Result<(), Refused> {
    let before = here.map(|here| here.commit.as_str());
    if before == Some(commit) {
        return Ok(());
    }
    objects::move_ref(repository, REF, commit, before).map_err(|why| Refused {
        what: format!("cannot keep receipts in {REF}: {why}"),
        why,
        push: false,
        before: None,
    })
}

fn push(repository: &Path, remote: &str, commit: &str, there: Option<&Listing>) -> Result<(), Refused> {
    remote::push(repository, remote, commit, REF).map_err(|why| Refused {
        what: format!("cannot push {REF} to {remote}, and it is kept here alone: {why}"),
        why,
        push: true,
        before: there.map(|there| there.commit.clone()),
    })
}

/// Git did not do something, perhaps because others came first.
#[derive(Debug)]
struct Refused {
    /// Git's words.
    why: String,
    what: String,
    /// Whether it is a push that was refused.
    push: bool,
    /// What the remote's ref named before that.
    before: Option<String>,
}

impl Refused {
    /// Itself, if others came first: git says so, or the remote's ref names something else by now.
    ///
    /// # Errors
    ///
    /// If not so.
    fn race(self, there: Option<&Listing>) -> Result<Self> {
        const WORDS: [&str; 6] = [
            "cannot lock ref",
            "Unable to create",
            "failed to update ref",
            "already exists",
            "fetch first",
            "non-fast-forward",
        ];
        let has_moved = self.push && self.before.as_ref() != there.map(|there| &there.commit);
        if has_moved || WORDS.iter().any(|words| self.why.contains(words)) {
            return Ok(self);
        }
        Err(cannot(&self.what))
    }

    /// What to do about it, where nothing but its words can tell.
    fn unless_race(self) -> Stop {
        self.race(None).map_or_else(Stop::Error, Stop::Again)
    }
}

/// Why something did not come to its end.
#[derive(Debug)]
enum Stop {
    /// Others may have come first.
    Again(Refused),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Does something again while others come first. It is told why it did not come to its end the last time.
fn again<T>(mut once: impl FnMut(Option<Refused>) -> Result<T, Stop>) -> Result<T> {
    let mut last = None;
    for attempt in 0..ATTEMPTS {
        match once(last.take()) {
            Ok(done) => return Ok(done),
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Again(refused)) => last = Some(refused),
        }
        pause(attempt);
    }
    let what = last.map(|refused| refused.what).unwrap_or_default();
    Err(cannot(&format!("others came first {ATTEMPTS} times, try again: {what}")))
}

/// Waits, and not as long as another process that waits, too.
fn pause(attempt: u32) {
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let longest = PAUSE * (attempt + 1);
    thread::sleep(longest * (at.subsec_micros() % 100) / 100);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(why: &str, push: bool, before: Option<&str>) -> Refused {
        Refused { why: why.to_owned(), what: String::new(), push, before: before.map(str::to_owned) }
    }

    fn at(commit: &str) -> Listing {
        Listing { commit: commit.to_owned(), kept: BTreeMap::new(), strays: Vec::new() }
    }

    #[test]
    fn a_refusal_is_a_race_only_if_somebody_came_first() {
        assert!(refused("no receipts here", true, Some("a")).race(Some(&at("a"))).is_err());
        assert!(refused("no receipts here", true, Some("a")).race(Some(&at("b"))).is_ok());
        assert!(refused("no receipts here", true, None).race(Some(&at("b"))).is_ok());
        assert!(refused("no receipts here", true, None).race(None).is_err());
        assert!(refused("could not resolve host", false, None).race(None).is_err());
        assert!(refused("cannot lock ref 'x': is at a but expected b", false, None).race(None).is_ok());
    }
}
