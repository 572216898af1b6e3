//! The whole way, from two commits and receipts to an answer.

use std::path::Path;

use super::change::Change;
use super::decide::{Facts, decide};
use super::evidence::{Claim, Documents, Reader, evidence};
use super::gained::gained;
use super::wants::{Want, run_otherwise, wants, weakened};
use super::wirings::concerned;
use crate::error::Result;
use crate::model::{Accepted, Gate, Platform, Tool};

/// By whom and about what it is asked.
#[derive(Debug, Clone)]
pub struct Asking {
    pub tool: Tool,
    /// The one system that receipts are wanted from, where the rest is not to be asked for yet.
    pub only: Option<Platform>,
}

/// Whether a change may be merged.
///
/// # Errors
///
/// If there are more receipts than can be looked at.
pub fn ask(
    project: &Path,
    change: &Change,
    reader: Reader<'_>,
    documents: Documents<'_>,
    asking: Asking,
) -> Result<Gate> {
    let mut concerned = concerned(change);
    let mut wants = wants(change, &mut concerned.because);
    let gained = gained(change, &mut wants);
    let mut notes = concerned.notes;
    notes.extend(doors(change));
    notes.extend(run_otherwise(change));
    if let Some(only) = asking.only {
        let all = wants.len();
        wants.retain(|want| want.host == only);
        if wants.len() < all {
            let left = all - wants.len();
            notes.push(format!("{left} more will be wanted from hosts of other systems when it is to be merged"));
        }
    }
    let mut obstacles = concerned.obstacles;
    obstacles.extend(gained);
    obstacles.extend(weakened(change, project));
    let mut facts = Facts {
        base: change.base_side.clone(),
        head: change.head_side.clone(),
        since: change.since.revision.commit.clone(),
        policy: change.policy.clone(),
        wirings: concerned.wirings,
        wants,
        obstacles,
        notes,
    };
    let evidence = evidence(reader, documents, &facts.wants)?;
    facts.notes.extend(evidence.notes.iter().cloned());
    let differs = |claim: &Claim, want: &Want| match &want.inputs {
        Ok(inputs) => reader.yardstick.differs(&claim.commit, &claim.check, &claim.sha256, inputs, claim.host),
        Err(_) => Vec::new(),
    };
    let now = jiff::Timestamp::try_from(reader.now).unwrap_or(jiff::Timestamp::MAX);
    Ok(decide(facts, evidence, now, asking.tool, &differs))
}

/// What the base accepts, and what the change would have it accept: doors that stand open.
fn doors(change: &Change) -> Vec<String> {
    let name = |what: &Accepted| match what {
        Accepted::Check(id) => format!("that {id} is made weaker"),
        Accepted::Wiring(path) => format!("that no check covers {path}"),
        Accepted::Policy(part) => format!("that the policy's `{}` is made weaker", part.name()),
    };
    let open = change.policy.accept.iter().map(|accept| {
        format!("the base accepts {} ({}): remove that when it has landed", name(&accept.what), accept.because)
    });
    let known = change.since.policy.as_ref().map_or(&[][..], |policy| &policy.accept);
    let new = change.head.policy.iter().flat_map(|policy| &policy.accept).filter(|accept| !known.contains(accept));
    let opened =
        new.map(|accept| format!("this change lets later ones pass: {} ({})", name(&accept.what), accept.because));
    open.chain(opened).collect()
}
