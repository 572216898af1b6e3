//! The receipt of a run: what it needs is seen to before anything runs, and it is written when all is over.

use std::path::PathBuf;
use std::time::SystemTime;

use super::documents::Documents;
use crate::cli::VouchArgs;
use crate::error::{Error, Result};
use crate::model::{LeftOut, ReceiptCheck, Report, RepositoryFacts, Statement};
use crate::plan::Plan;
use crate::receipt::envelope::Envelope;
use crate::receipt::key::Signing;
use crate::receipt::moment::Moment;
use crate::receipt::{repository, statement};
use crate::report::Target;
use crate::run::Reports;
use crate::words::{counted, shown};

/// All that a receipt needs besides the report.
pub struct Vouch<'d> {
    target: &'d Target,
    /// `None` if nobody is to vouch for it.
    signing: Option<Signing>,
    repository: RepositoryFacts,
    /// What hostproof itself writes.
    own: Vec<PathBuf>,
    start: Moment,
}

impl<'d> Vouch<'d> {
    /// Sees to it that there can be a receipt; `None` if none is wanted.
    ///
    /// # Errors
    ///
    /// If there is no repository, no key that signs, or no check that rests on nothing but what is committed.
    pub fn prepare(args: &VouchArgs, documents: &'d Documents, plan: &Plan) -> Result<Option<Self>> {
        let Some(target) = &documents.receipt else { return Ok(None) };
        let own = documents.files();
        let start = Moment::now(&plan.project, &own).map_err(|why| none(&why))?;
        let repository = repository::facts(&plan.project).map_err(|why| none(&why))?;
        let mut left_out = Vec::new();
        for planned in &plan.checks {
            let skipped = planned.skip.as_ref().map(|why| format!("it is skipped: {why}"));
            let inputs = || start.inputs(&planned.check(), plan.setup(planned)).err();
            left_out.extend(skipped.or_else(inputs).map(|because| LeftOut { id: planned.id().to_owned(), because }));
        }
        if left_out.len() == plan.checks.len() {
            return Err(none(&statement::reasons(&left_out)));
        }
        let signing = if args.unsigned {
            None
        } else {
            let or_else =
                |why| Error::Usage(format!("{why}; or have a receipt that nobody vouches for, with --unsigned"));
            Some(Signing::prepare(&plan.project, args.sign.as_deref()).map_err(or_else)?)
        };
        Ok(Some(Self { target, signing, repository, own, start }))
    }

    /// Writes the receipt, and says so.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn write(
        &self,
        plan: &Plan,
        report: &Report,
        checks: &Reports,
        finished: SystemTime,
        strict: bool,
    ) -> Result<String> {
        let checks = checks.iter().map(|check| check.map_err(|error| format!("a report can't be read back: {error}")));
        let end = Moment::now(&plan.project, &self.own).map_err(|why| none(&why))?;
        let run = statement::Run {
            plan,
            report,
            start: &self.start,
            end: &end,
            repository: &self.repository,
            finished,
            strict,
        };
        let statement = statement::statement(&run, checks).map_err(|why| none(&why))?;
        let mut envelope = Envelope::unsigned(serde_json::to_vec(&statement).unwrap_or_default());
        if let Some(signing) = &self.signing {
            signing.sign(&mut envelope).map_err(|why| none(&why))?;
        }
        self.target.write(&envelope.to_json())?;
        Ok(self.told(&statement, &envelope))
    }

    fn told(&self, statement: &Statement, envelope: &Envelope) -> String {
        let receipt = &statement.predicate;
        let by = envelope.signatures().first().map_or("unsigned: nobody vouches for it".to_owned(), |signature| {
            format!("signed with {}", signature.keyid)
        });
        let to = self.target.file().map_or("on standard output".to_owned(), |file| format!("in {}", file.display()));
        let mut lines = vec![format!("{} {to}, {by}", summary(&receipt.checks))];
        lines.extend(receipt.left_out.iter().map(|left| format!("    without {}: {}", left.id, left.because)));
        shown(lines.join("\n").as_bytes())
    }
}

/// There is none, for that reason.
fn none(why: &str) -> Error {
    let why = shown(why.as_bytes());
    let gap = if why.contains('\n') { "\n    " } else { " " };
    Error::Unmeasured(format!("no receipt:{gap}{}", why.replace('\n', "\n    ")))
}

/// What a receipt of these checks is, in a few words.
pub fn summary(checks: &[ReceiptCheck]) -> String {
    let red = checks.iter().filter(|check| check.verdict.is_red()).count();
    let colour = if red == 0 { "green".to_owned() } else { format!("red, {red} of them") };
    format!("receipt of {} ({colour})", counted(checks.len(), "check"))
}
