//! Where receipts and revocations are kept: under a ref of the repository, and in files.
//!
//! ```text
//! refs/hostproof/receipts                   what is kept here
//! refs/hostproof/remotes/REMOTE/receipts    what a remote had when it was last asked
//!     ab/ab…64 digits….json                 an envelope, named by the SHA-256 of its bytes
//! ```
//!
//! - [`tree`]: what one commit has, the union of several, and how that is written.
//! - [`share`]: publish and fetch.
//! - [`files`]: what lies in files and folders.
//!
//! # Invariants
//!
//! - **Any two merge**: a name is of one content, so that the union of two trees is one. The commits tell who added what
//!   when; nothing is read from them, and nothing hangs on the commits of any branch.
//! - **Nothing is checked out**: the index, the work tree, HEAD and all branches stay as they are.
//! - **All of it is hostile**: whoever may push to the ref writes what they like. A list and an object are read up to a
//!   limit, and what is not named by its content counts for nothing and is told.

pub mod files;
pub mod share;
pub mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::digest::sha256;
use super::envelope::{Envelope, MAX_BYTES};
use crate::error::{Error, Result};
use crate::source::objects;
use crate::words::shown;
use tree::Listing;

/// Where they are kept.
pub const REF: &str = "refs/hostproof/receipts";
/// Where those of remotes are.
const REMOTES: &str = "refs/hostproof/remotes";

/// No more are kept in one place.
pub const MOST: usize = 20_000;
/// No more is read in one go, in bytes.
const MAX_TOTAL: u64 = 512 << 20;

/// What lies under [`REF`], in what was last fetched of remotes, and in files or folders named besides.
#[derive(Debug, Clone)]
pub struct Store {
    repository: PathBuf,
    /// By the ref.
    listings: Vec<(String, Listing)>,
    files: Vec<PathBuf>,
}

/// Something that is kept: an envelope, if it is what it is said to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The SHA-256 of the bytes; of what can't be read what its name says, or nothing.
    pub digest: String,
    /// Where it is: a file's path, or a ref and a path as `git show` takes it.
    pub from: String,
    /// What is kept there, or why that counts for nothing: a sentence.
    pub bytes: Result<Vec<u8>, String>,
}

impl Document {
    /// One with these bytes.
    #[must_use]
    pub fn new(from: String, bytes: Vec<u8>) -> Self {
        Self { digest: sha256(&bytes), from, bytes: Ok(bytes) }
    }

    /// The envelope that it is.
    ///
    /// # Errors
    ///
    /// Why it is none: a sentence.
    pub fn envelope(&self) -> Result<Envelope, String> {
        let bytes = self.bytes.as_ref().map_err(Clone::clone)?;
        Envelope::parse(bytes).map_err(|error| error.to_string())
    }
}

impl Store {
    /// Opens that of the repository that a folder is in. One without the ref is empty.
    ///
    /// # Errors
    ///
    /// If git can't read what the ref leads to: what to do about it.
    pub fn open(repository: &Path) -> Result<Self> {
        let mut listings = Vec::new();
        let here = refs(repository, REF)?.into_iter().filter(|(name, _)| name == REF);
        let there = refs(repository, REMOTES)?.into_iter().filter(|(name, _)| name.ends_with("/receipts"));
        for (name, object) in here.chain(there) {
            let listing = tree::list(repository, &object).map_err(|why| unreadable(&name, &why))?;
            listings.push((name, listing));
        }
        Ok(Self { repository: repository.to_owned(), listings, files: Vec::new() })
    }

    /// The same with a file, or the files of a folder that are called `*.json`.
    ///
    /// # Errors
    ///
    /// If there is nothing of that name, or it can't be looked into.
    pub fn and(mut self, path: &Path) -> Result<Self> {
        self.files.extend(files::at(path)?);
        Ok(self)
    }

    /// All that is kept, each content once for each name that it should have: in the order of the names, files last. What
    /// is too large, is no file in git's terms, or has another content than its name says is there with the reason why it
    /// counts for nothing.
    ///
    /// # Errors
    ///
    /// If git can't read an object, or all of them together are larger than 512 MiB: what to do about it.
    pub fn documents(&self) -> Result<Vec<Document>> {
        let mut documents = Vec::new();
        // By name and object, which several refs may have.
        let mut kept = BTreeMap::new();
        let mut total = 0;
        for (name, listing) in &self.listings {
            for (digest, blob) in &listing.kept {
                kept.entry((digest, &blob.object)).or_insert_with(|| {
                    total += blob.size;
                    format!("{name}:{}", tree::path(digest))
                });
            }
            documents.extend(listing.strays.iter().map(|stray| Document {
                digest: String::new(),
                from: format!("{name}:{}", stray.name),
                bytes: Err(stray.why.clone()),
            }));
        }
        if total > MAX_TOTAL {
            let why = format!("it has more than {} MiB", MAX_TOTAL >> 20);
            return Err(unreadable(REF, &why));
        }
        let objects: Vec<String> = kept.keys().map(|(_, object)| (*object).clone()).collect();
        let mut contents = vec![None; objects.len()];
        objects::blobs(&self.repository, &objects, MAX_BYTES as u64, |index, content| contents[index] = content)
            .map_err(|why| unreadable(REF, &why))?;
        documents.extend(kept.into_iter().zip(contents).map(|(((digest, _), from), content)| Document {
            digest: digest.clone(),
            from,
            bytes: match content {
                None => Err("git does not have its content".to_owned()),
                Some(bytes) if sha256(&bytes) == *digest => Ok(bytes),
                Some(_) => Err("its content is not the one that its name says".to_owned()),
            },
        }));
        documents.extend(self.files.iter().map(|file| files::document(file)));
        Ok(documents)
    }
}

/// The ref that has what a remote had.
fn tracking(remote: &str) -> String {
    format!("{REMOTES}/{remote}/receipts")
}

fn refs(repository: &Path, name: &str) -> Result<Vec<(String, String)>> {
    // Git itself removes no ref that it can't resolve.
    objects::refs(repository, name).map_err(|why| {
        cannot(&format!(
            "the receipts in {name} can't be read: {why}; if a ref is broken, remove the file of its name in the folder that \
             git rev-parse --git-common-dir tells, and then: hostproof receipt fetch"
        ))
    })
}

fn unreadable(name: &str, why: &str) -> Error {
    cannot(&format!(
        "the receipts in {name} can't be read: {why}; to begin anew with what is published: git update-ref -d {name}, \
         and then hostproof receipt fetch"
    ))
}

/// Git can't. What a remote says is among its words.
fn cannot(what: &str) -> Error {
    Error::Unmeasured(shown(what.as_bytes()))
}
