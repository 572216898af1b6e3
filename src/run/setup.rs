//! A file's setup commands.

use std::time::Duration;

use super::life::Life;
use super::slot::Slot;
use super::{output, records};
use crate::model::{Check, CheckCommand, Exit, Home, Inherit};
use crate::platform::{self, Ended};

/// How long a setup command may take.
const SETUP_TIMEOUT: Duration = Duration::from_secs(3600);

impl Life<'_> {
    /// Runs a file's setup commands, in the project and with the caller's whole environment.
    ///
    /// # Errors
    ///
    /// Why the file's checks can't run.
    pub fn set_up(&self, commands: &[Vec<String>], slot: &mut Slot<'_>) -> Result<(), String> {
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
