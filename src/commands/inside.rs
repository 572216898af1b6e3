//! The inside of `run --in`: the run itself, told in messages.

use std::borrow::Cow;
use std::ffi::OsStr;

use clap::Parser;

use super::check_run::{measure, options};
use super::run::{by_rules, copies, load, until};
use super::show::Show;
use crate::cli::{Cli, Command, RunArgs};
use crate::container::{self, INSIDE, Inside, Message};
use crate::error::{Error, ExitCode, Result};
use crate::model::CheckReport;
use crate::plan::{Plan, Wanted};
use crate::platform;
use crate::run::{Observer, Options};

/// Does what a word in the place of a subcommand asks for; `None` if it is another one.
#[must_use]
pub fn serve(word: &OsStr) -> Option<ExitCode> {
    (word == INSIDE).then(|| match container::enter().and_then(|inside| run(&inside)) {
        Ok(()) => ExitCode::Ok,
        Err(error) => {
            tell(&Message::refused(&error));
            error.exit_code()
        }
    })
}

fn run(inside: &Inside) -> Result<()> {
    let Inside { request, project } = inside;
    std::env::set_current_dir(project).map_err(|error| Error::file("cannot enter", project, error))?;
    let args = parsed(&request.words)?;
    let loaded = load(&args.manifests)?;
    let rules = args.how.rules.as_ref().map(|said| said.rules);
    let copies = copies(&args);
    let wanted = Wanted {
        patterns: args.checks.clone(),
        also: Vec::new(),
        rules,
        vary: args.how.vary.concat(),
        copies,
        pairwise: args.pairwise,
    };
    let mut plan = Plan::of_manifests(loaded, &wanted, platform::current())?;
    by_rules(&mut plan, args.how.rules.as_ref());
    // Each report is sent when it is there.
    let options = options(&args.how, &plan, until(&args), false);
    let options = Options { remove_residue: args.remove_residue, ..options };
    tell(&Message::Ready {
        version: env!("CARGO_PKG_VERSION").into(),
        jobs: options.jobs as u64,
        checks: plan.checks.iter().map(|planned| planned.id().into()).collect(),
        manifests: plan.manifests.digest.as_deref().map(Cow::Borrowed),
    });
    let (ran, host) = measure(&plan, &options, &Messages, request.whole, args.how.stress)?;
    tell(&Message::Over { ran: Box::new(ran), host: Cow::Owned(host) });
    tell(&Message::End(request.token.as_str().into()));
    Ok(())
}

fn parsed(words: &[String]) -> Result<RunArgs> {
    let words = [env!("CARGO_PKG_NAME")].into_iter().chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(words) {
        Ok(Cli { command: Some(Command::Run(args)) }) => Ok(args),
        Ok(_) => Err(Error::Unmeasured("the request asks for something else than a run".to_owned())),
        Err(error) => Err(Error::Unmeasured(format!("the request asks for a run that is not known: {error}"))),
    }
}

struct Messages;

impl Observer for Messages {
    fn check_started(&self, id: &str) {
        tell(&Message::Started(id.into()));
    }

    fn check_ended(&self, report: &CheckReport) {
        tell(&Message::Ended(Cow::Borrowed(report)));
    }
}

/// Where nobody listens any more, the end of the input ends this process.
fn tell(message: &Message<'_>) {
    let _ = Show::json(&message.line());
}
