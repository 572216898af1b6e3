//! `hostproof receipt`

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use super::check_run::{current_folder, tool};
use super::show::Show;
use crate::cli::{ReceiptCommand, ReceiptShowArgs, ReceiptVerifyArgs};
use crate::error::{Error, ExitCode, Result};
use crate::model::{Checkout, VERIFICATION_SCHEMA, Verification, VerifiedReceipt};
use crate::receipt::envelope::{Envelope, MAX_BYTES};
use crate::receipt::verify::{Trust, Yardstick, mark_contradictions};
use crate::receipt::{key, ssh, statement};
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
    }
}

fn show(args: &ReceiptShowArgs) -> Result<ExitCode> {
    let wrong = |why: String| Error::Usage(shown(format!("{}: {why}", args.file.display()).as_bytes()));
    let bytes = read(&args.file).map_err(wrong)?;
    let envelope = Envelope::parse(&bytes).map_err(|error| wrong(error.to_string()))?;
    let first = envelope.signatures().first();
    // Whoever stops reading has seen enough.
    if args.pae {
        let _ = Show::bytes(&envelope.pae());
    } else if args.signature {
        let signature = first.ok_or_else(|| wrong("it is not signed".to_owned()))?;
        let _ = Show::bytes(ssh::armoured(&signature.sig).as_bytes());
    } else {
        let statement = statement::parse(envelope.payload(), SystemTime::now()).map_err(wrong)?;
        if args.json {
            // What a newer hostproof says more is here, too.
            let whole: serde_json::Value = serde_json::from_slice(envelope.payload()).unwrap_or_default();
            let _ = Show::json(&report::plain_json(&serde_json::to_string_pretty(&whole).unwrap_or_default()));
        } else {
            let keys: Vec<&str> = envelope.signatures().iter().map(|signature| signature.keyid.as_str()).collect();
            for line in report::receipt(Show::Stdout.look(), &statement, &keys) {
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
    let trust = Trust { keygen: key::keygen(&project), allowed: allowed(args, &project)? };
    let now = SystemTime::now();
    let mut receipts = Vec::new();
    for file in &args.files {
        let name = file.display().to_string();
        receipts.push(match read(file) {
            Ok(bytes) => yardstick.verify(&name, &bytes, &trust, now)?,
            Err(why) => VerifiedReceipt { file: name, refused: Some(why), ..VerifiedReceipt::default() },
        });
    }
    mark_contradictions(&mut receipts);
    let verification = Verification {
        schema: VERIFICATION_SCHEMA.to_owned(),
        tool: tool(),
        head: Checkout {
            commit: yardstick.revision.commit.clone(),
            tree: yardstick.revision.tree.clone(),
            dirty: crate::source::state(&project).is_none_or(|state| state.dirty),
        },
        ok: receipts.iter().all(|receipt| receipt.ok),
        receipts,
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

/// The text of the file of allowed signers.
fn allowed(args: &ReceiptVerifyArgs, project: &Path) -> Result<Vec<u8>> {
    let file = args.allowed_signers.clone().or_else(|| key::allowed_signers(project)).ok_or_else(|| {
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

/// The bytes of a receipt. Whatever lies at its path, nobody waits for it.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: io::Error| format!("it can't be read: {error}");
    let metadata = fs::symlink_metadata(file).map_err(cannot)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() {
            "a folder"
        } else if metadata.is_symlink() {
            "a symbolic link: name the file itself"
        } else {
            "a pipe, a socket or a device"
        };
        return Err(format!("it is {what}"));
    }
    let mut bytes = Vec::new();
    // One more than is allowed, so that it is refused.
    let opened = platform::open_regular(file).map_err(cannot)?;
    opened.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}
