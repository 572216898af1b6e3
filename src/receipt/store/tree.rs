//! The tree of one commit of receipts: what it has, the union of several, and how that is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::MOST;
use crate::receipt::digest::{is_hex, sha256};
use crate::receipt::envelope::MAX_BYTES;
use crate::source;
use crate::source::objects::{self, Entry, FILE, FOLDER};

/// How many digits of a digest name its folder: those of 20,000 have some 80 each.
const SHARD: usize = 2;

/// What a commit has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub commit: String,
    /// By the digest that it should have. Whether it does is seen when it is read.
    pub kept: BTreeMap<String, Blob>,
    /// What is no receipt, whatever is in it. None of it survives the next one that is added.
    pub strays: Vec<Stray>,
}

/// An object of git's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blob {
    pub object: String,
    /// In bytes.
    pub size: u64,
}

/// Something that was put among receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    pub name: String,
    /// A sentence without its end.
    pub why: String,
}

/// The name of an envelope with that digest.
#[must_use]
pub fn path(digest: &str) -> String {
    format!("{}/{digest}.json", &digest[..SHARD])
}

/// Lists what a commit has: two levels, whatever is below them.
///
/// # Errors
///
/// If it is no commit, has more than [`MOST`] entries, or git can't read it: a sentence.
pub fn list(repository: &Path, object: &str) -> Result<Listing, String> {
    let commit = source::commit(repository, object)?;
    let mut listing = Listing { commit: commit.clone(), kept: BTreeMap::new(), strays: Vec::new() };
    let mut shards = Vec::new();
    for entry in objects::entries(repository, &commit, &[], MOST)? {
        match shard(&entry) {
            Some(shard) => shards.push(shard),
            None => listing.strays.push(stray(&entry)),
        }
    }
    if shards.is_empty() {
        return Ok(listing);
    }
    for entry in objects::entries(repository, &commit, &shards, MOST)? {
        match (digest(&entry), entry.size) {
            (Some(digest), Some(size)) if size <= MAX_BYTES as u64 => {
                listing.kept.insert(digest, Blob { object: entry.object, size });
            }
            _ => listing.strays.push(stray(&entry)),
        }
    }
    Ok(listing)
}

fn shard(entry: &Entry) -> Option<String> {
    let name = str::from_utf8(&entry.name).ok()?;
    let is_one = entry.mode == FOLDER && is_hex(name, &[SHARD]);
    is_one.then(|| name.to_owned())
}

fn digest(entry: &Entry) -> Option<String> {
    let name = str::from_utf8(&entry.name).ok()?;
    let digest = name.get(SHARD + 1..)?.strip_suffix(".json")?;
    let is_one = entry.mode == FILE && is_hex(digest, &[64]) && name == path(digest);
    is_one.then(|| digest.to_owned())
}

fn stray(entry: &Entry) -> Stray {
    let why = match (&*entry.mode, entry.size) {
        ("120000", _) => "it is a symbolic link".to_owned(),
        ("160000", _) => "it is a submodule".to_owned(),
        (FOLDER, _) => "it is a folder".to_owned(),
        (_, Some(size)) if size > MAX_BYTES as u64 => format!("it is larger than {} MiB", MAX_BYTES >> 20),
        (FILE, None) => "git does not have its content".to_owned(),
        _ => "it is not named by a digest".to_owned(),
    };
    Stray { name: String::from_utf8_lossy(&entry.name).into_owned(), why }
}

/// The union of what listings have and what is new. Where they have different objects under one name, the one whose content
/// has that name's digest stays, if any does.
///
/// # Errors
///
/// If they are more than [`MOST`], or git can't read such an object: a sentence.
pub fn unite(
    repository: &Path,
    listings: &[&Listing],
    new: &BTreeMap<String, Blob>,
) -> Result<BTreeMap<String, Blob>, String> {
    let mut all = BTreeMap::<&str, BTreeSet<&Blob>>::new();
    for (digest, blob) in listings.iter().flat_map(|listing| &listing.kept).chain(new) {
        all.entry(digest).or_default().insert(blob);
    }
    let disputed: Vec<(&str, &Blob)> = all
        .iter()
        .filter(|(_, blobs)| blobs.len() > 1)
        .flat_map(|(digest, blobs)| blobs.iter().map(|blob| (*digest, *blob)))
        .collect();
    let objects: Vec<String> = disputed.iter().map(|(_, blob)| blob.object.clone()).collect();
    let mut lies = BTreeSet::new();
    objects::blobs(repository, &objects, MAX_BYTES as u64, |index, content| {
        let (digest, blob) = disputed[index];
        if content.is_none_or(|content| sha256(&content) != digest) {
            lies.insert((digest, blob));
        }
    })?;
    let mut united = BTreeMap::new();
    for (digest, blobs) in all {
        let blob = blobs.into_iter().find(|blob| !lies.contains(&(digest, *blob)));
        united.extend(blob.map(|blob| (digest.to_owned(), blob.clone())));
    }
    if united.len() > MOST {
        return Err(format!("there would be more than {MOST}; docs/receipts.md tells how to begin anew"));
    }
    Ok(united)
}

/// Writes a commit that has these, and names it.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn write(
    repository: &Path,
    kept: &BTreeMap<String, Blob>,
    parent: Option<&str>,
    message: &str,
) -> Result<String, String> {
    let mut shards = BTreeMap::<&str, Vec<Entry>>::new();
    for (digest, blob) in kept {
        let name = format!("{digest}.json").into_bytes();
        let entry = Entry { mode: FILE.to_owned(), object: blob.object.clone(), size: None, name };
        shards.entry(&digest[..SHARD]).or_default().push(entry);
    }
    let (names, trees): (Vec<&str>, Vec<Vec<Entry>>) = shards.into_iter().unzip();
    let folders = objects::write_trees(repository, &trees)?.into_iter().zip(names).map(|(object, name)| Entry {
        mode: FOLDER.to_owned(),
        object,
        size: None,
        name: name.as_bytes().to_owned(),
    });
    let root = objects::write_trees(repository, &[folders.collect()])?;
    objects::write_commit(repository, &root.concat(), parent, message)
}
