//! `hostproof receipt revoke`

use std::path::Path;
use std::time::SystemTime;

use super::check_run::tool;
use super::show::Show;
use super::{receipt, receipt_store};
use crate::cli::ReceiptRevokeArgs;
use crate::error::{Error, ExitCode, Result};
use crate::receipt::envelope::Envelope;
use crate::receipt::key::{self, Signing};
use crate::receipt::revocation::{self, Revocations};
use crate::receipt::store::Document;
use crate::receipt::verify::Trust;
use crate::report::{self, Target};
use crate::words::{shown, timestamp};

/// Takes a receipt back.
///
/// # Errors
///
/// If there is no such receipt, key or remote, or git can't.
pub fn run(args: &ReceiptRevokeArgs) -> Result<ExitCode> {
    let repository = receipt_store::repository()?;
    let digest = digest(&repository, &args.receipt)
        .map_err(|why| Error::Usage(shown(format!("{}: {why}", args.receipt.display()).as_bytes())))?;
    let target = args.output.as_ref().map(|file| Target::prepare(report::Document::Revocation, file)).transpose()?;
    let remote = if target.is_some() { None } else { receipt_store::remote(&repository, &args.to)? };
    let signing = Signing::prepare(&repository, args.sign.as_deref()).map_err(Error::Usage)?;
    let statement = revocation::statement(&digest, tool(), timestamp(SystemTime::now()), args.because.clone());
    let mut envelope = Envelope::unsigned(serde_json::to_vec(&statement).unwrap_or_default());
    signing.sign(&mut envelope).map_err(Error::Unmeasured)?;
    let keys: Vec<&str> = envelope.signatures().iter().map(|signature| signature.keyid.as_str()).collect();
    let told = format!("revocation of {digest}, signed with {}", keys.join(", "));
    let bytes = envelope.to_json();
    let (show, lines) = match &target {
        Some(target) => {
            target.write(&bytes)?;
            let place = target.file().map_or("on standard output".to_owned(), |file| format!("in {}", file.display()));
            let show = if target.is_stdout() { Show::Stderr } else { Show::Stdout };
            (show, vec![shown(format!("{told}, {place}").as_bytes())])
        }
        None => {
            (Show::Stdout, receipt_store::put(&repository, std::slice::from_ref(&bytes), remote.as_deref(), &[told])?)
        }
    };
    for line in lines.into_iter().chain(not_allowed(&repository, bytes)) {
        show.line(&line);
    }
    Ok(ExitCode::Ok)
}

/// The digest of a receipt: of a file, of one that is kept here, or of one that is not, if the whole digest is named.
fn digest(repository: &Path, name: &Path) -> Result<String, String> {
    let whole = receipt_store::beginning(name).filter(|text| text.len() == 64);
    let found = match (receipt_store::named(repository, name), whole) {
        (Ok(found), _) => found,
        (Err(_), Some(whole)) => return Ok(whole.to_owned()),
        (Err(why), None) => return Err(why),
    };
    let envelope = found[0].envelope()?;
    if receipt_store::is_revocation(&envelope) {
        return Err("it is a revocation, which nobody can take back; a run makes another receipt".to_owned());
    }
    Ok(envelope.digest())
}

/// What is said if those whom git allows to sign are known, and this is signed by none of them.
fn not_allowed(repository: &Path, bytes: Vec<u8>) -> Option<String> {
    let allowed = key::allowed_signers(repository).and_then(|_| receipt::allowed(None, repository).ok())?;
    let trust = Trust::new(key::keygen(repository), allowed);
    let revocations = Revocations::of(&[Document::new("the revocation".to_owned(), bytes)], &trust).ok()?;
    let why = revocations.disregarded().first()?.why.clone();
    Some(shown(format!("note: it counts for nothing with those who are allowed to sign here: {why}").as_bytes()))
}
