//! A file's setup commands.

use std::time::Duration;

use super::life::Life;
use super::records;
use super::slot::Slot;
use crate::model::{Check, CheckCommand, Finding, Home, Inherit};
use crate::platform;

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
        // What they read is not to be taken for a hook's reading.
        let _reader = (!commands.is_empty()).then(|| self.reading.by_any(self.plan));
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
            left.extend(records::left_alive(&format!("setup: {line}"), &outcome));
            let _ = platform::remove_tree(sandbox.root());
            if let Some(problem) = records::problem(&outcome) {
                return Err(format!("setup: {line}: {problem}"));
            }
        }
        Ok(())
    }
}
