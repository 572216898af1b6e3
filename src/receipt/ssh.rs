//! SSH signatures over receipts, made and checked by `ssh-keygen`, as git does with commits: whatever holds a key for git
//! (a file, an agent, a hardware token) signs receipts, too, and the options of `allowed_signers` mean what they mean
//! there.
//!
//! Source: ssh-keygen(1), `-Y`; PROTOCOL.sshsig of OpenSSH. Wants OpenSSH 8.2, for `-Y find-principals`.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;

use super::envelope::{Envelope, Signature};

/// What a signature is for. One that the same key made for anything else, a commit say, is none over a receipt.
pub const NAMESPACE: &str = "hostproof-receipt";

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
/// How long a line of an armoured signature is, as PROTOCOL.sshsig recommends.
const LINE: usize = 76;

/// A key to sign with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A file: of a private key, or of a public one whose other half an agent has.
    File(PathBuf),
    /// A public key as one line of text; an agent has its other half.
    Literal(String),
}

/// Somebody who may vouch for a receipt, and has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// As the allowed signers name them.
    pub principal: String,
    /// `SHA256:…`
    pub fingerprint: String,
}

/// Why nobody vouches for an envelope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unvouched {
    #[error("it is not signed")]
    Unsigned,
    /// The bytes are not those that were signed, or were signed for something else.
    #[error("its signature does not hold: {0}")]
    Broken(String),
    /// The signature holds, and is by nobody who is allowed, now and for this.
    #[error("it is signed with {fingerprint}, which is no key of an allowed signer ({why})")]
    Stranger { fingerprint: String, why: String },
    /// It could not be found out.
    #[error("{0}")]
    Unknown(String),
}

/// `ssh-keygen`, or what stands for it.
#[derive(Debug, Clone)]
pub struct Keygen {
    program: OsString,
}

impl Keygen {
    /// By that name or path: git's `gpg.ssh.program` where the user has set it, else `ssh-keygen`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into() }
    }

    /// Signs an envelope as it is.
    ///
    /// # Errors
    ///
    /// A sentence, with the program's own words.
    pub fn sign(&self, envelope: &Envelope, key: &Key) -> Result<Signature, String> {
        let literal;
        let mut arguments = vec![OsString::from("-Y"), "sign".into(), "-n".into(), NAMESPACE.into()];
        match key {
            Key::File(file) => arguments.extend(["-f".into(), file.into()]),
            Key::Literal(text) => {
                literal = file_with(text.as_bytes()).map_err(|error| format!("cannot write a key: {error}"))?;
                // Else it would look for the private half beside it.
                arguments.extend(["-U".into(), "-f".into(), literal.path().into()]);
            }
        }
        let output = self.ask(&arguments, &envelope.pae()).map_err(|error| self.not_run(&error))?;
        if !output.status.success() {
            return Err(format!("{} does not sign: {}", self.name(), words_of(&output)));
        }
        let armoured = String::from_utf8_lossy(&output.stdout);
        let sig = bare(&armoured).ok_or_else(|| format!("{} printed no signature", self.name()))?;
        let mut signature = Signature { keyid: String::new(), sig };
        signature.keyid = self.holds(&envelope.pae(), &signature).map_err(|error| error.to_string())?;
        Ok(signature)
    }

    /// Who of the allowed signers vouches for what was signed, by one signature over it. `allowed` is the text of a file of
    /// allowed signers.
    ///
    /// # Errors
    ///
    /// Why nobody does.
    pub fn signer(&self, pae: &[u8], signature: &Signature, allowed: &[u8]) -> Result<Signer, Unvouched> {
        let fingerprint = self.holds(pae, signature)?;
        let sig = file_with(armoured(&signature.sig).as_bytes()).map_err(|error| unknown(&error))?;
        let list = file_with(allowed).map_err(|error| unknown(&error))?;
        let about = |verb: &'static str| {
            [OsStr::new("-Y"), OsStr::new(verb), OsStr::new("-f"), list.path().as_os_str()].map(OsStr::to_owned)
        };
        let by = [OsString::from("-s"), sig.path().into()];
        let found = [&about("find-principals")[..], &by].concat();
        let found = self.ask(&found, b"").map_err(|error| Unvouched::Unknown(self.not_run(&error)))?;
        let principals = String::from_utf8_lossy(&found.stdout).into_owned();
        let mut why = if found.status.success() { String::new() } else { "nobody listed has it".to_owned() };
        for principal in principals.lines().filter(|_| found.status.success()) {
            let namespace = ["-n", NAMESPACE, "-I", principal].map(OsString::from);
            let verify = [&about("verify")[..], &by, &namespace].concat();
            let output = self.ask(&verify, pae).map_err(|error| Unvouched::Unknown(self.not_run(&error)))?;
            if output.status.success() {
                return Ok(Signer { principal: principal.to_owned(), fingerprint });
            }
            why = format!("{principal}: {}", words_of(&output));
        }
        Err(Unvouched::Stranger { fingerprint, why })
    }

    /// The fingerprint of the key that a signature was made with, if it holds over these bytes.
    fn holds(&self, pae: &[u8], signature: &Signature) -> Result<String, Unvouched> {
        let sig = file_with(armoured(&signature.sig).as_bytes()).map_err(|error| unknown(&error))?;
        let arguments: [OsString; 6] =
            ["-Y".into(), "check-novalidate".into(), "-n".into(), NAMESPACE.into(), "-s".into(), sig.path().into()];
        let output = self.ask(&arguments, pae).map_err(|error| Unvouched::Unknown(self.not_run(&error)))?;
        if !output.status.success() {
            return Err(Unvouched::Broken(words_of(&output)));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let fingerprint = said.split_whitespace().find(|word| word.starts_with("SHA256:"));
        fingerprint
            .map(str::to_owned)
            .ok_or_else(|| Unvouched::Unknown(format!("{} does not say which key it is", self.name())))
    }

    fn ask(&self, arguments: &[OsString], input: &[u8]) -> io::Result<Output> {
        let mut child = Command::new(&self.program)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // It may have enough before the end; its answer says what of it.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
        child.wait_with_output()
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    fn not_run(&self, error: &io::Error) -> String {
        format!("{} cannot be run: {error}; signatures want OpenSSH", self.name())
    }
}

fn unknown(error: &io::Error) -> Unvouched {
    Unvouched::Unknown(format!("a signature can't be looked at: {error}"))
}

/// Whether the key that a signature names may be one of an allowed signer's, by what the list says alone. One that is
/// certified may be another's whose key is listed.
#[must_use]
pub fn may_be_allowed(signature: &Signature, allowed: &[u8]) -> bool {
    const CERTIFIED: &[u8] = b"-cert-v01@openssh.com";
    signature.key().is_some_and(|key| {
        memmem::find(key, CERTIFIED).is_some() || memmem::find(allowed, STANDARD.encode(key).as_bytes()).is_some()
    })
}

/// What the program said against it, in one line.
fn words_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A file that only this user can read, and that is gone with its handle.
fn file_with(bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("hostproof-").tempfile()?;
    file.write_all(bytes)?;
    file.flush()?;
    Ok(file)
}

/// A signature in the armour that `ssh-keygen` reads.
#[must_use]
pub fn armoured(sig: &[u8]) -> String {
    let text = STANDARD.encode(sig);
    let mut lines = vec![BEGIN];
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        lines.push(line);
        rest = after;
    }
    lines.push(END);
    lines.join("\n") + "\n"
}

/// The signature in an armour.
fn bare(armoured: &str) -> Option<Vec<u8>> {
    let inner = armoured.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
    STANDARD.decode(inner.split_whitespace().collect::<String>()).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::receipt::verify::Trust;

    /// A new key in a folder, and its public half. `None` where there is nothing that makes one, and says so.
    fn key(folder: &Path, name: &str) -> Option<(Key, String)> {
        let file = folder.join(name);
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
            .arg(&file)
            .stdin(Stdio::null())
            .status();
        let Ok(made) = made else {
            writeln!(io::stderr(), "skipped: no ssh-keygen").expect("standard error");
            return None;
        };
        assert!(made.success());
        let public = std::fs::read_to_string(file.with_extension("pub")).expect("a public key");
        Some((Key::File(file), public))
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn signed(by: &Key) -> Envelope {
        let mut envelope = Envelope::unsigned(b"{}".to_vec());
        envelope.add(Keygen::new("ssh-keygen").sign(&envelope, by).expect("signed"));
        envelope
    }

    fn signer(envelope: &Envelope, allowed: &str) -> Result<Signer, Unvouched> {
        Trust::new(Keygen::new("ssh-keygen"), allowed.into()).signer(envelope)
    }

    #[test]
    fn a_signature_is_known_by_its_principal() {
        let folder = folder();
        let Some((mine, public)) = key(folder.path(), "mine") else { return };
        let envelope = signed(&mine);
        let found = signer(&envelope, &format!("# people\nsomebody@example.org {public}")).expect("allowed");
        assert_eq!(found.principal, "somebody@example.org");
        assert_eq!(found.fingerprint, envelope.signatures()[0].keyid);
        // What was written and read again is signed all the same.
        let again = Envelope::parse(&envelope.to_json()).expect("an envelope");
        assert_eq!(
            signer(&again, &format!("a@b,c@d namespaces=\"{NAMESPACE}\" {public}")).expect("allowed").principal,
            "a@b"
        );
    }

    #[test]
    fn who_is_not_allowed_vouches_for_nothing() {
        let folder = folder();
        let Some((mine, public)) = key(folder.path(), "mine") else { return };
        let Some((_, other)) = key(folder.path(), "other") else { return };
        let envelope = signed(&mine);
        for allowed in [
            String::new(),
            "not a list\n\0".to_owned(),
            format!("other@example.org {other}"),
            format!("me@example.org namespaces=\"git\" {public}"),
            format!("me@example.org valid-before=\"20200101\" {public}"),
        ] {
            let refusal = signer(&envelope, &allowed).expect_err(&allowed);
            assert!(matches!(refusal, Unvouched::Stranger { .. }), "{allowed}: {refusal:?}");
        }
        assert_eq!(signer(&Envelope::unsigned(b"{}".to_vec()), &format!("me {public}")), Err(Unvouched::Unsigned));
    }

    #[test]
    fn a_signature_names_its_key() {
        let folder = folder();
        let Some((mine, public)) = key(folder.path(), "mine") else { return };
        let Some((_, other)) = key(folder.path(), "other") else { return };
        let signature = &signed(&mine).signatures()[0].clone();
        assert!(may_be_allowed(signature, format!("# who\nme@example.org {public}").as_bytes()));
        assert!(!may_be_allowed(signature, format!("me@example.org {other}").as_bytes()));
        for sig in [&b"SSHSIG"[..], b"", b"SSHSIG\0\0\0\x01\xff\xff\xff\xff", b"SSHSIG\0\0\0\x02\0\0\0\0"] {
            let signature = Signature { keyid: String::new(), sig: sig.to_vec() };
            assert_eq!(signature.key(), None);
            assert!(!may_be_allowed(&signature, public.as_bytes()));
        }
    }

    #[test]
    fn a_signature_over_something_else_does_not_hold() {
        let folder = folder();
        let Some((mine, public)) = key(folder.path(), "mine") else { return };
        let allowed = format!("me@example.org {public}");
        let good = signed(&mine);
        let mut moved = Envelope::unsigned(b"{ }".to_vec());
        moved.add(good.signatures()[0].clone());
        assert!(matches!(signer(&moved, &allowed), Err(Unvouched::Broken(_))));
        let mut garbage = Envelope::unsigned(b"{}".to_vec());
        garbage.add(Signature { keyid: String::new(), sig: b"SSHSIG".to_vec() });
        assert!(matches!(signer(&garbage, &allowed), Err(Unvouched::Broken(_))));
        // As a commit would be signed.
        let Key::File(file) = &mine else { unreachable!() };
        let arguments: [OsString; 6] =
            ["-Y".into(), "sign".into(), "-n".into(), "git".into(), "-f".into(), file.into()];
        let as_git = Keygen::new("ssh-keygen").ask(&arguments, &good.pae()).expect("signed").stdout;
        let mut as_commit = Envelope::unsigned(b"{}".to_vec());
        as_commit
            .add(Signature { keyid: String::new(), sig: bare(&String::from_utf8_lossy(&as_git)).expect("armour") });
        assert!(matches!(signer(&as_commit, &allowed), Err(Unvouched::Broken(_))));
        // One good signature beside a bad one is enough.
        garbage.add(good.signatures()[0].clone());
        assert_eq!(signer(&garbage, &allowed).expect("allowed").principal, "me@example.org");
    }

    #[test]
    fn what_cannot_be_asked_is_not_known() {
        let folder = folder();
        let Some((mine, public)) = key(folder.path(), "mine") else { return };
        let envelope = signed(&mine);
        let missing = Keygen::new(folder.path().join("no-such-program"));
        let trust = Trust::new(missing.clone(), public.into_bytes());
        assert!(matches!(trust.signer(&envelope), Err(Unvouched::Unknown(_))));
        assert!(missing.sign(&envelope, &mine).is_err());
        assert!(Keygen::new("ssh-keygen").sign(&envelope, &Key::File(folder.path().join("gone"))).is_err());
    }

    #[test]
    fn the_armour_is_put_on_and_taken_off() {
        let sig: Vec<u8> = (0..=255).collect();
        let text = armoured(&sig);
        assert!(text.lines().all(|line| line.len() <= LINE));
        assert_eq!(bare(&text), Some(sig));
        assert_eq!(bare("-----BEGIN SSH SIGNATURE-----"), None);
    }
}
