//! What receipts are worth for a commit: who signed them, and whether they speak of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use super::digest::sha256;
use super::envelope::Envelope;
use super::inputs::Inputs;
use super::repository;
use super::revision::Revision;
use super::ssh::{Keygen, Signer, Unvouched, may_be_allowed};
use super::statement::{self, digest_of, tree_of};
use crate::error::{Error, Result};
use crate::model::{
    InputsNow, Platform, ReceiptCheck, RepositoryFacts, Severity, Statement, Verdict, VerifiedCheck, VerifiedReceipt,
};
use crate::plan::Plan;

/// Who vouches, by the digest of what was signed and the signature.
type Vouched = HashMap<(String, Vec<u8>), Result<Signer, Unvouched>>;

/// Whom a verification believes.
#[derive(Debug, Clone)]
pub struct Trust {
    keygen: Keygen,
    /// The text of a file of allowed signers.
    allowed: Vec<u8>,
    /// What was found out: that costs processes, and the same may be there many times.
    known: RefCell<Vouched>,
}

impl Trust {
    /// Those on a list, the text of a file of allowed signers.
    #[must_use]
    pub fn new(keygen: Keygen, allowed: Vec<u8>) -> Self {
        Self { keygen, allowed, known: RefCell::default() }
    }

    /// Who of them vouches for an envelope: the first signature that holds and is by one of them.
    ///
    /// # Errors
    ///
    /// Why nobody does.
    pub fn signer(&self, envelope: &Envelope) -> Result<Signer, Unvouched> {
        let pae = envelope.pae();
        let digest = sha256(&pae);
        let mut refusal = Unvouched::Unsigned;
        for signature in envelope.signatures() {
            let of = (digest.clone(), signature.sig.clone());
            let known = self.known.borrow().get(&of).cloned();
            let answer = known.unwrap_or_else(|| self.keygen.signer(&pae, signature, &self.allowed));
            self.known.borrow_mut().insert(of, answer.clone());
            match answer {
                Ok(signer) => return Ok(signer),
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }

    /// Whether one of them may vouch for an envelope, by the keys that its signatures name: that costs nothing.
    #[must_use]
    pub fn may_vouch(&self, envelope: &Envelope) -> bool {
        envelope.signatures().iter().any(|signature| may_be_allowed(signature, &self.allowed))
    }

    /// The statement in an envelope that an allowed signer vouches for. Nothing of it is parsed before that is known.
    ///
    /// # Errors
    ///
    /// Why it counts for nothing, with who signed it where that is known.
    pub fn open(&self, bytes: &[u8], now: SystemTime) -> Result<(Signer, Statement), (Option<Signer>, String)> {
        let envelope = Envelope::parse(bytes).map_err(|error| (None, error.to_string()))?;
        let signer = self.signer(&envelope).map_err(|error| (None, error.to_string()))?;
        match statement::parse(envelope.payload(), now) {
            Ok(statement) => Ok((signer, statement)),
            Err(why) => Err((Some(signer), why)),
        }
    }
}

/// A commit that receipts are compared with.
#[derive(Debug)]
pub struct Yardstick {
    project: PathBuf,
    /// The folder of the manifests, by its name in the project.
    folder: String,
    pub revision: Revision,
    repository: RepositoryFacts,
    plans: RefCell<BTreeMap<Platform, Rc<Plan>>>,
}

impl Yardstick {
    /// Of a project and the folder of its manifests. Nothing of either is read from the disk.
    ///
    /// # Errors
    ///
    /// If git does not know the commit.
    pub fn open(project: &Path, directory: &Path, revision: &str) -> Result<Self> {
        let folder = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self {
            revision: Revision::open(project, revision).map_err(Error::Usage)?,
            repository: repository::facts(project).map_err(Error::Usage)?,
            project: project.to_owned(),
            folder,
            plans: RefCell::default(),
        })
    }

    /// What a receipt says, if an allowed signer vouches for it and it is of this project, and the system that it is from.
    /// Else the first of the two has why not.
    #[must_use]
    pub fn receive(
        &self,
        file: &str,
        bytes: &[u8],
        trust: &Trust,
        now: SystemTime,
    ) -> (VerifiedReceipt, Option<(Statement, Platform)>) {
        let digest = Envelope::parse(bytes).ok().map(|envelope| envelope.digest());
        let mut verified = VerifiedReceipt { file: file.to_owned(), digest, ..VerifiedReceipt::default() };
        let mut note = |signer: Signer| {
            verified.signer = Some(signer.principal);
            verified.fingerprint = Some(signer.fingerprint);
        };
        let statement = match trust.open(bytes, now) {
            Ok((signer, statement)) => {
                note(signer);
                statement
            }
            Err((signer, why)) => {
                signer.map(note);
                verified.refused = Some(why);
                return (verified, None);
            }
        };
        let receipt = &statement.predicate;
        verified.run = Some(receipt.run.id.clone());
        verified.finished = Some(receipt.run.finished.clone());
        verified.os = Some(receipt.host.os.clone());
        verified.place = Some(receipt.place.kind.clone());
        verified.same_tree = Some(tree_of(&statement) == Some(&self.revision.tree));
        if let Err(why) = repository::same(&self.repository, &receipt.source.repository) {
            verified.refused = Some(why);
            return (verified, None);
        }
        let Some(platform) = Platform::of_name(&receipt.host.os) else {
            verified.refused = Some(format!("it is from a system that is not known: {}", receipt.host.os));
            return (verified, None);
        };
        (verified, Some((statement, platform)))
    }

    /// What a receipt is worth.
    ///
    /// # Errors
    ///
    /// If the commit's own manifests can't be read.
    pub fn verify(&self, file: &str, bytes: &[u8], trust: &Trust, now: SystemTime) -> Result<VerifiedReceipt> {
        let (mut verified, received) = self.receive(file, bytes, trust, now);
        let Some((statement, platform)) = received else { return Ok(verified) };
        let plan = self.plan(platform)?;
        let checks = statement.predicate.checks.iter().map(|check| self.check(&statement, check, &plan, platform));
        verified.checks = checks.collect();
        verified.ok = verified.checks.iter().all(holds);
        Ok(verified)
    }

    fn plan(&self, platform: Platform) -> Result<Rc<Plan>> {
        if let Some(plan) = self.plans.borrow().get(&platform) {
            return Ok(plan.clone());
        }
        let plan = Rc::new(self.revision.plan(&self.folder, platform)?);
        self.plans.borrow_mut().insert(platform, plan.clone());
        Ok(plan)
    }

    fn check(&self, statement: &Statement, check: &ReceiptCheck, plan: &Plan, platform: Platform) -> VerifiedCheck {
        let sha256 = digest_of(statement, &check.id).unwrap_or_default().to_owned();
        let (inputs, differs) = match inputs(plan, &check.id, &self.revision) {
            None => (InputsNow::Gone, Vec::new()),
            Some(Ok(now)) if now.digest() == sha256 => (InputsNow::Same, Vec::new()),
            Some(Ok(now)) => {
                let commit = &statement.predicate.source.start.commit;
                (InputsNow::Changed, self.differs(commit, &check.id, &sha256, &now, platform))
            }
            Some(Err(why)) => (InputsNow::Changed, vec![why]),
        };
        let errors = check.findings.iter().filter(|finding| finding.severity == Severity::Error).count() as u64;
        let (id, verdict, cases) = (check.id.clone(), check.verdict, check.cases);
        VerifiedCheck { id, verdict, cases, errors, sha256, inputs, differs, contradicted_by: None }
    }

    /// How the inputs of a check that were run in a commit differ from what they are now; nothing where that commit is not
    /// known here.
    #[must_use]
    pub fn differs(&self, commit: &str, id: &str, sha256: &str, now: &Inputs, platform: Platform) -> Vec<String> {
        let Ok(then) = Revision::open(&self.project, commit) else { return Vec::new() };
        let plan = then.plan(&self.folder, platform).ok();
        match plan.and_then(|plan| inputs(&plan, id, &then)) {
            Some(Ok(inputs)) if inputs.digest() == sha256 => inputs.unlike(now),
            _ => vec![format!("commit {commit} has other inputs than those that were run")],
        }
    }
}

/// The inputs of a check in a commit; `None` if it has no such check.
#[must_use]
pub fn inputs(plan: &Plan, id: &str, revision: &Revision) -> Option<Result<Inputs, String>> {
    let planned = plan.checks.iter().find(|planned| planned.id() == id)?;
    Some(Inputs::of(&planned.check(), plan.setup(planned), revision))
}

fn holds(check: &VerifiedCheck) -> bool {
    check.verdict == Verdict::Passed && check.inputs == InputsNow::Same && check.contradicted_by.is_none()
}

/// Marks what receipts say differently of one check with one set of inputs on one system.
pub fn mark_contradictions(receipts: &mut [VerifiedReceipt]) {
    // By check, inputs and system: the index of the receipt, and that of the check in it.
    let mut said = BTreeMap::<_, Vec<(usize, usize)>>::new();
    for (at, receipt) in receipts.iter().enumerate() {
        for (index, check) in receipt.checks.iter().enumerate() {
            let of = (check.id.clone(), check.sha256.clone(), receipt.os.clone());
            said.entry(of).or_default().push((at, index));
        }
    }
    for places in said.into_values() {
        for &(at, index) in &places {
            let green = |&(at, index): &(usize, usize)| receipts[at].checks[index].verdict == Verdict::Passed;
            let other = places.iter().find(|other| green(other) != green(&(at, index)));
            if let Some(&(other, _)) = other {
                receipts[at].checks[index].contradicted_by = Some(receipts[other].file.clone());
                receipts[at].ok = false;
            }
        }
    }
}
