//! A change: from the commit where it parts from its base to its head. The policy is that of the base.

use std::path::Path;
use std::rc::Rc;

use super::side::Side;
use crate::error::{Error, Result};
use crate::model::{GateSide, Policy};
use crate::source;

/// What is compared with what.
#[derive(Debug)]
pub struct Change {
    pub base_side: GateSide,
    pub head_side: GateSide,
    /// What the change is to be merged into.
    pub base: Rc<Side>,
    /// Where the two part. What a base did meanwhile is none of the change's doing.
    pub since: Rc<Side>,
    pub head: Rc<Side>,
    /// That of the base.
    pub policy: Policy,
    /// The text of the base's file of allowed signers.
    pub signers: Vec<u8>,
}

impl Change {
    /// Opens both by what git knows by those names. `folder` is that of the manifests, by its name in the project.
    ///
    /// # Errors
    ///
    /// If the clone is shallow, there are no such commits, they have nothing in common, the base has no policy, or manifests
    /// of any of them are wrong.
    pub fn open(project: &Path, folder: &str, base: &str, head: &str) -> Result<Self> {
        if source::is_shallow(project).map_err(Error::Usage)? {
            return Err(Error::Usage(
                "this clone is shallow: where the change parts from its base can't be told\n\
                 help: fetch the whole history: `git fetch --unshallow`, or `fetch-depth: 0` for actions/checkout"
                    .to_owned(),
            ));
        }
        let side = |name: &str| {
            let commit = source::commit(project, name).map_err(|why| {
                Error::Usage(format!(
                    "{why}\nhelp: fetch it first: `git fetch origin`; for actions/checkout, `fetch-depth: 0`"
                ))
            })?;
            Ok::<_, Error>(GateSide { name: name.to_owned(), commit })
        };
        let (base_side, head_side) = (side(base)?, side(head)?);
        let since = source::meeting(project, &base_side.commit, &head_side.commit).map_err(Error::Usage)?;
        let since = since.ok_or_else(|| {
            Error::Usage(format!("{base} and {head} have no commit in common: neither can be a change to the other"))
        })?;
        let open = |commit: &str, name: &str| Side::open(project, folder, commit, name).map(Rc::new);
        let base = open(&base_side.commit, &base_side.name)?;
        let policy = base.policy.clone().ok_or_else(|| no_policy(&base_side))?;
        let signers = base.signers(project, &policy.signers).map_err(|why| {
            Error::Usage(format!(
                "nobody is allowed to sign receipts: {why}\n\
                 help: `gate: {{signers: …}}` in {} names the file; it has to be in the base",
                policy.origin.file
            ))
        })?;
        let same = |commit: &str, known: &Rc<Side>| (known.revision.commit == commit).then(|| known.clone());
        let head = same(&head_side.commit, &base).map_or_else(|| open(&head_side.commit, &head_side.name), Ok)?;
        let since = same(&since, &base).or_else(|| same(&since, &head)).map_or_else(
            || open(&since, &format!("{since}, where {} and {} part", base_side.name, head_side.name)),
            Ok,
        )?;
        Ok(Self { base_side, head_side, base, since, head, policy, signers })
    }
}

fn no_policy(base: &GateSide) -> Error {
    Error::Usage(format!(
        "the base, {}, has no policy for the gate: it is not said from which hosts receipts are wanted, and who may sign them\n\
         help: `hostproof init` writes a first manifest; a policy in it, `gate: {{require: [linux], signers: \
         .github/allowed_signers}}`, counts when it is in the base, so that the first lands without a gate",
        base.name
    ))
}
