//! `hostproof receipt`

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use super::check_run::{current_folder, tool};
use super::show::Show;
use super::{receipt_revoke, receipt_store};
use crate::cli::{ReceiptCommand, ReceiptShowArgs, ReceiptVerifyArgs};
use crate::error::{Error, ExitCode, Result};
use crate::model::{Checkout, Disregarded, VERIFICATION_SCHEMA, Verification, VerifiedReceipt};
use crate::receipt::revocation::Revocations;
use crate::receipt::store::{Document, Store};
use crate::receipt::verify::{Trust, Yardstick, mark_contradictions};
use crate::receipt::{key, ssh};
use crate::words::shown;
use crate::{manifest, platform, report};

/// No file of allowed signers is larger.
const MAX_SIGNERS: u64 = 4 << 20;

/// Does with receipts what was asked for.
///
/// # Errors
///
/// If one that is to be shown can't be read, nobody is allowed to sign, or the commit's manifests are wrong.
pub fn run(command: &ReceiptCommand) -> Result<ExitCode> {
    match command {
        ReceiptCommand::Show(args) => show(args),
        ReceiptCommand::Verify(args) => verify(args),
        ReceiptCommand::Publish(args) => receipt_store::publish(args),
        ReceiptCommand::Fetch(args) => receipt_store::fetch(args),
        ReceiptCommand::List(_) => receipt_store::list(),
        ReceiptCommand::Revoke(args) => receipt_revoke::run(args),
    }
}

fn show(args: &ReceiptShowArgs) -> Result<ExitCode> {
    let wrong = |why: String| Error::Usage(shown(format!("{}: {why}", args.file.display()).as_bytes()));
    let found = receipt_store::named(&current_folder()?, &args.file).map_err(wrong)?;
    let envelope = found[0].envelope().map_err(wrong)?;
    let first = envelope.signatures().first();
    // Whoever stops reading has seen enough.
    if args.pae {
        let _ = Show::bytes(&envelope.pae());
    } else if args.signature {
        let signature = first.ok_or_else(|| wrong("it is not signed".to_owned()))?;
        let _ = Show::bytes(ssh::armoured(&signature.sig).as_bytes());
    } else {
        let kept = receipt_store::kept(&envelope).map_err(wrong)?;
        if args.json {
            // What a newer hostproof says more is here, too.
            let whole: serde_json::Value = serde_json::from_slice(envelope.payload()).unwrap_or_default();
            let _ = Show::json(&report::plain_json(&serde_json::to_string_pretty(&whole).unwrap_or_default()));
        } else {
            for line in report::said(Show::Stdout.look(), &kept) {
                Show::Stdout.line(&line);
            }
        }
    }
    Ok(ExitCode::Ok)
}

fn verify(args: &ReceiptVerifyArgs) -> Result<ExitCode> {
    let (project, directory) = manifest::places(&current_folder()?, args.manifests.manifests.as_deref())?;
    let project =
        platform::real_path(&project).map_err(|error| Error::file("cannot open the project", &project, error))?;
    let yardstick = Yardstick::open(&project, &directory, "HEAD")?;
    let trust = Trust::new(key::keygen(&project), allowed(args.allowed_signers.as_deref(), &project)?);
    let now = SystemTime::now();
    let kept = Store::open(&project)?.documents()?;
    let named: Vec<(String, Result<Vec<Document>, String>)> =
        args.files.iter().map(|file| (file.display().to_string(), receipt_store::among(&kept, file))).collect();
    let given = named.iter().filter_map(|(_, found)| found.as_ref().ok()).flatten();
    let revocations = Revocations::of(kept.iter().chain(given), &trust)?;
    let mut receipts = Vec::new();
    for (name, found) in &named {
        let refused = |why: &String| VerifiedReceipt {
            file: name.clone(),
            refused: Some(why.clone()),
            ..VerifiedReceipt::default()
        };
        let mut verified = Vec::new();
        match found {
            Ok(found) if found.iter().all(|document| revocations.is_from(&document.from)) => continue,
            Ok(found) => {
                for document in found {
                    verified.push(match &document.bytes {
                        Ok(bytes) => yardstick.verify(name, bytes, &trust, now)?,
                        Err(why) => refused(why),
                    });
                }
            }
            Err(why) => verified.push(refused(why)),
        }
        // Of several envelopes with one payload, one that an allowed signer vouches for is enough.
        verified.sort_by_key(|receipt| receipt.signer.is_none());
        receipts.extend(verified.into_iter().next());
    }
    revocations.mark(&mut receipts);
    mark_contradictions(&mut receipts);
    let unread = kept.iter().filter_map(|document| {
        let why = document.bytes.as_ref().err()?;
        Some(Disregarded { file: document.from.clone(), why: why.clone() })
    });
    let verification = Verification {
        schema: VERIFICATION_SCHEMA.to_owned(),
        tool: tool(),
        head: Checkout {
            commit: yardstick.revision.commit.clone(),
            tree: yardstick.revision.tree.clone(),
            dirty: crate::source::state(&project).is_none_or(|state| state.dirty),
        },
        ok: !receipts.is_empty() && receipts.iter().all(|receipt| receipt.ok),
        receipts,
        disregarded: unread.chain(revocations.disregarded().iter().cloned()).collect(),
    };
    if args.json {
        let json = serde_json::to_string_pretty(&verification).unwrap_or_default();
        let _ = Show::json(&report::plain_json(&json));
    } else {
        for line in report::verification(Show::Stdout.look(), &verification) {
            Show::Stdout.line(&line);
        }
    }
    Ok(if verification.ok { ExitCode::Ok } else { ExitCode::Red })
}

/// The text of the file of allowed signers: that which is named, or git's.
///
/// # Errors
///
/// If there is none, or it can't be read.
pub fn allowed(named: Option<&Path>, project: &Path) -> Result<Vec<u8>> {
    let file = named.map(Path::to_owned).or_else(|| key::allowed_signers(project)).ok_or_else(|| {
        Error::Usage(
            "nobody is allowed to sign: name a file with --allowed-signers FILE, or tell git of one: \
             git config gpg.ssh.allowedSignersFile FILE"
                .to_owned(),
        )
    })?;
    let mut bytes = Vec::new();
    fs::File::open(&file)
        .and_then(|opened| opened.take(MAX_SIGNERS).read_to_end(&mut bytes))
        .map_err(|error| Error::file("cannot read the allowed signers in", &file, error))?;
    Ok(bytes)
}
