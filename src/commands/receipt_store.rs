//! `hostproof receipt publish`, `fetch` and `list`, and how a receipt that is kept is named.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::check_run::current_folder;
use super::show::Show;
use super::vouch::summary;
use crate::cli::{PushArgs, ReceiptFetchArgs, ReceiptPublishArgs};
use crate::error::{Error, ExitCode, Result};
use crate::model::{Disregarded, REVOCATION};
use crate::receipt::digest::is_hex;
use crate::receipt::envelope::Envelope;
use crate::receipt::store::{Document, REF, Store, files, share};
use crate::receipt::{revocation, statement};
use crate::report::{self, Kept, Said};
use crate::source;
use crate::words::shown;

/// How much of a digest has to be named.
const SHORTEST: usize = 6;
/// How much of it is shown.
const DIGITS: usize = 12;

/// Publishes receipts and revocations.
///
/// # Errors
///
/// If a file is none, there is no such remote, or git can't.
pub fn publish(args: &ReceiptPublishArgs) -> Result<ExitCode> {
    let repository = repository()?;
    let (mut envelopes, mut told) = (Vec::new(), Vec::new());
    for file in &args.files {
        let wrong = |why: String| Error::Usage(shown(format!("{}: {why}", file.display()).as_bytes()));
        let document = from_file(file).map_err(wrong)?;
        let kept = kept(&document.envelope().map_err(wrong)?).map_err(wrong)?;
        told.push(format!("{}  {}   {}", &kept.digest[..DIGITS], described(&kept), file.display()));
        envelopes.extend(document.bytes);
    }
    let remote = remote(&repository, &args.to)?;
    for line in put(&repository, &envelopes, remote.as_deref(), &told)? {
        Show::Stdout.line(&line);
    }
    Ok(ExitCode::Ok)
}

/// Adds envelopes to those that are kept here and by a remote. Says what came of it, with what is `told` of each.
///
/// # Errors
///
/// If git can't.
pub fn put(repository: &Path, envelopes: &[Vec<u8>], remote: Option<&str>, told: &[String]) -> Result<Vec<String>> {
    let published = share::publish(repository, envelopes, remote)?;
    let place = remote.map_or_else(|| format!("kept in {REF}"), |remote| format!("published to {remote}"));
    let mut lines = vec![format!("{place}; {} in all", published.total)];
    lines.extend(
        told.iter()
            .zip(published.new)
            .map(|(told, is_new)| format!("    {told}{}", if is_new { "" } else { ", which was there already" })),
    );
    if remote.is_none() {
        lines.push("not pushed: hostproof receipt publish without --no-push pushes what is kept here".to_owned());
    }
    Ok(lines.iter().map(|line| shown(line.as_bytes())).collect())
}

/// Fetches them.
///
/// # Errors
///
/// If there is no such remote, or git can't.
pub fn fetch(args: &ReceiptFetchArgs) -> Result<ExitCode> {
    let repository = repository()?;
    let remote = share::remote(&repository, args.remote.as_deref())?;
    let line = match share::fetch(&repository, &remote)? {
        None => format!("{remote} has no receipts"),
        Some(fetched) => {
            let strays = match fetched.strays {
                0 => String::new(),
                count => format!("; {count} of what {remote} has there are passed over, since they are no receipts"),
            };
            format!("{} new from {remote}, {} in all{strays}", fetched.new, fetched.total)
        }
    };
    Show::Stdout.line(&shown(line.as_bytes()));
    Ok(ExitCode::Ok)
}

/// Lists them.
///
/// # Errors
///
/// If git can't.
pub fn list() -> Result<ExitCode> {
    let (mut all, mut unread) = (Vec::new(), Vec::new());
    for document in Store::open(&repository()?)?.documents()? {
        match document.envelope().and_then(|envelope| kept(&envelope)) {
            Ok(kept) => all.push(kept),
            Err(why) => unread.push(Disregarded { file: document.from, why }),
        }
    }
    for line in report::kept(Show::Stdout.look(), all, &unread) {
        Show::Stdout.line(&line);
    }
    Ok(ExitCode::Ok)
}

/// What an envelope says, whoever vouches for it.
///
/// # Errors
///
/// If it is neither a receipt nor a revocation: a sentence.
pub fn kept(envelope: &Envelope) -> Result<Kept, String> {
    let said = if is_revocation(envelope) {
        let (receipt, revocation) = revocation::parse(envelope.payload())?;
        Said::Revocation(receipt, revocation)
    } else {
        Said::Receipt(Box::new(statement::parse(envelope.payload(), SystemTime::now())?))
    };
    let keys = envelope.signatures().iter().map(|signature| signature.keyid.clone()).collect();
    Ok(Kept { digest: envelope.digest(), said, keys })
}

/// Whether an envelope says that it is a revocation, whoever vouches for it.
pub fn is_revocation(envelope: &Envelope) -> bool {
    statement::predicate_type(envelope.payload()).as_deref() == Some(REVOCATION)
}

fn described(kept: &Kept) -> String {
    let what = match &kept.said {
        Said::Revocation(receipt, _) => format!("revocation of {}", &receipt[..DIGITS]),
        Said::Receipt(statement) => summary(&statement.predicate.checks),
    };
    match &kept.keys[..] {
        [] => format!("{what}, unsigned: nobody vouches for it"),
        keys => format!("{what}, signed with {}", keys.join(", ")),
    }
}

/// The repository that hostproof was called in.
///
/// # Errors
///
/// If it was called in none.
pub fn repository() -> Result<PathBuf> {
    let folder = current_folder()?;
    let none = || Error::Usage(format!("{} is in no git repository", folder.display()));
    Ok(source::repository(&folder).map_err(Error::Unmeasured)?.ok_or_else(none)?.top)
}

/// The remote to push to, if any.
///
/// # Errors
///
/// If there is no such remote.
pub fn remote(repository: &Path, to: &PushArgs) -> Result<Option<String>> {
    if to.no_push { Ok(None) } else { share::remote(repository, to.remote.as_deref()).map(Some) }
}

/// The receipt in a file of that name or, if there is none, the envelopes of the one that is kept and whose digest begins
/// so.
///
/// # Errors
///
/// If there is no such receipt, or it can't be read: a sentence.
pub fn named(folder: &Path, name: &Path) -> Result<Vec<Document>, String> {
    let kept = if beginning(name).is_none() {
        Vec::new()
    } else {
        let cannot = |error: Error| error.to_string();
        Store::open(folder).map_err(cannot)?.documents().map_err(cannot)?
    };
    among(&kept, name)
}

/// The same among what is kept.
///
/// # Errors
///
/// If there is no such receipt, or it can't be read: a sentence.
pub fn among(kept: &[Document], name: &Path) -> Result<Vec<Document>, String> {
    let Some(beginning) = beginning(name) else { return Ok(vec![from_file(name)?]) };
    let of = |document: &Document| document.envelope().ok().map(|envelope| envelope.digest());
    let (mut found, mut digest) = (Vec::new(), None);
    for document in kept {
        let Some(own) = of(document).filter(|own| own.starts_with(beginning)) else { continue };
        if digest.get_or_insert_with(|| own.clone()) != &own {
            return Err("the digests of several begin so".to_owned());
        }
        found.push(document.clone());
    }
    if found.is_empty() {
        return Err("there is no such file, and no receipt that is kept here has a digest that begins so; hostproof \
                    receipt fetch brings what others published"
            .to_owned());
    }
    Ok(found)
}

/// The beginning of a digest, if a name is one and not that of a file.
pub fn beginning(name: &Path) -> Option<&str> {
    let lengths: Vec<usize> = (SHORTEST..=64).collect();
    name.to_str().filter(|text| is_hex(text, &lengths) && name.symlink_metadata().is_err())
}

fn from_file(file: &Path) -> Result<Document, String> {
    let bytes = files::read(file)?;
    Ok(Document::new(file.display().to_string(), bytes))
}
