//! A file's setup commands.

use std::time::Duration;

use super::life::Life;
use super::slot::Slot;
use super::{output, records};
use crate::model::{Check, CheckCommand, Exit, Finding, Home, Inherit, Kind, Process, Severity};
use crate::platform::{self, Ended};

/// How long a setup command may take.
const SETUP_TIMEOUT: Duration = Duration::from_secs(3600);

impl Life<'_> {
    /// Runs a file's setup commands, in the project and with the caller's whole environment. What they leave alive is
    /// ended with them, and told in `left`: a check that counts on it fails without another hint.
    ///
    /// # Errors
    ///
    /// Why the file's checks can't run.
    pub fn set_up(&self, commands: &[Vec<String>], slot: &mut Slot<'_>, left: &mut Vec<Finding>) -> Result<(), String> {
        for argv in commands {
            let line = crate::words::command_line(argv);
            let check = Check {
                home: Home::Real,
                inherit: Inherit::All,
                timeout: SETUP_TIMEOUT,
                ..Check::new("setup", CheckCommand::Argv(argv.clone()))
            };
            let sandbox = slot.sandbox().map_err(|why| format!("setup: {line}: {why}"))?;
            let ready = self.prepare(&check, &sandbox).map_err(|why| format!("setup: {line}: {why}"))?;
            let outcome = slot.run(&ready.job).map_err(|error| format!("setup: {line}: {error}"))?;
            let said = [&outcome.stderr, &outcome.stdout].map(|captured| output::output(captured, None).tail);
            let problem = match (&outcome.not_started, outcome.ended, outcome.exit) {
                (Some(error), _, _) => Some(records::start_error(error)),
                (None, Ended::Timeout, _) => Some("it was ended at its time limit".to_owned()),
                (None, Ended::Cancelled, _) => Some("interrupted".to_owned()),
                (None, Ended::ByItself, Some(Exit::Code(0))) => None,
                (None, Ended::ByItself, exit) => Some(format!("it ended with {}", records::exit_words(exit))),
            };
            if outcome.ended == Ended::ByItself {
                left.extend(outcome.alive.iter().map(|process| left_alive(&line, process)));
            }
            let _ = platform::remove_tree(sandbox.root());
            if let Some(problem) = problem {
                let last = said.iter().find_map(|text| text.lines().rev().find(|line| !line.trim().is_empty()));
                let last = last.map(|line| format!("; its last line: {line}")).unwrap_or_default();
                return Err(format!("setup: {line}: {problem}{last}"));
            }
        }
        Ok(())
    }
}

fn left_alive(line: &str, process: &Process) -> Finding {
    let message = format!("setup: {line}: {} was alive after it, and was ended", process.short());
    let mut finding = Finding::new(Kind::LeakedProcess, Severity::Warning, message);
    finding.process = Some(process.clone());
    finding.remedy = Some("start what a check needs in the check itself, and end it there".to_owned());
    finding
}
