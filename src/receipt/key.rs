//! Which key a receipt is signed with, and whose are believed: what git is told about SSH signatures counts here, too.
//!
//! Source: git-config(1), `gpg.format`, `gpg.ssh.*`, `user.signingKey`.

use std::path::{Path, PathBuf};

use super::envelope::Envelope;
use super::ssh::{Key, Keygen};
use crate::source;

/// A key that was seen to sign, and the program that signs with it.
#[derive(Debug, Clone)]
pub struct Signing {
    keygen: Keygen,
    key: Key,
}

impl Signing {
    /// The key that is named, or else the one that git signs with; seen to sign.
    ///
    /// # Errors
    ///
    /// If there is none, or it does not sign: what to do.
    pub fn prepare(project: &Path, named: Option<&str>) -> Result<Self, String> {
        let key = named.map_or_else(|| of_git(project), |named| Ok(key(named)))?;
        let signing = Self { keygen: keygen(project), key };
        signing.sign(&mut Envelope::unsigned(Vec::new()))?;
        Ok(signing)
    }

    /// Signs an envelope.
    ///
    /// # Errors
    ///
    /// If that can't be done: a sentence, with the program's own words.
    pub fn sign(&self, envelope: &mut Envelope) -> Result<(), String> {
        let signature = self.keygen.sign(envelope, &self.key)?;
        envelope.add(signature);
        Ok(())
    }
}

/// The program that makes and checks signatures.
#[must_use]
pub fn keygen(project: &Path) -> Keygen {
    Keygen::new(source::value(project, "gpg.ssh.program", true).unwrap_or_else(|| "ssh-keygen".to_owned()))
}

/// The file of allowed signers that git is told of.
#[must_use]
pub fn allowed_signers(project: &Path) -> Option<PathBuf> {
    source::value(project, "gpg.ssh.allowedSignersFile", true).map(PathBuf::from)
}

fn of_git(project: &Path) -> Result<Key, String> {
    let what_to_do = "name one with --sign FILE; or tell git of one: git config gpg.format ssh, and \
                      git config user.signingKey ~/.ssh/id_ed25519.pub";
    let format = source::value(project, "gpg.format", false);
    if let Some(other) = format.as_deref().filter(|format| !format.eq_ignore_ascii_case("ssh")) {
        return Err(format!("git signs by {other}, and receipts are signed with SSH keys: {what_to_do}"));
    }
    let plain = source::value(project, "user.signingKey", false).filter(|_| format.is_some());
    let Some(plain) = plain else {
        return Err(format!("there is no key to sign with: {what_to_do}"));
    };
    Ok(match key(&plain) {
        Key::File(_) => Key::File(source::value(project, "user.signingKey", true).unwrap_or(plain).into()),
        literal @ Key::Literal(_) => literal,
    })
}

/// A key as git has it: a public key behind `key::`, or as it is, or else a file.
fn key(text: &str) -> Key {
    let literal =
        text.strip_prefix("key::").or_else(|| Some(text).filter(|text| text.starts_with("ssh-") && text.contains(' ')));
    literal.map_or_else(|| Key::File(text.into()), |line| Key::Literal(format!("{}\n", line.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_literals_or_files() {
        let literal = |text: &str| Key::Literal(format!("{text}\n"));
        for (text, is) in [
            ("key::ssh-ed25519 AAAA me", literal("ssh-ed25519 AAAA me")),
            ("key::ecdsa-sha2-nistp256 AAAA", literal("ecdsa-sha2-nistp256 AAAA")),
            ("ssh-ed25519 AAAA", literal("ssh-ed25519 AAAA")),
            ("ssh-keys/mine", Key::File("ssh-keys/mine".into())),
            ("/home/me/.ssh/id_ed25519.pub", Key::File("/home/me/.ssh/id_ed25519.pub".into())),
        ] {
            assert_eq!(key(text), is, "{text}");
        }
    }
}
