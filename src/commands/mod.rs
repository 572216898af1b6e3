//! One file per subcommand: from arguments to the library and to an exit code. Nothing here is wanted elsewhere.

mod baseline;
mod check_run;
mod compare;
mod completions;
mod doctor;
mod documents;
mod events;
mod excerpts;
mod explain;
mod gate;
mod github;
mod hooks;
mod init;
mod inside;
mod lint;
mod list;
mod man;
mod merge;
mod parity;
mod receipt;
mod receipt_revoke;
mod receipt_store;
mod run;
mod schema;
mod show;
mod teeth;
mod telling;
mod traps;
mod r#try;
mod vouch;
mod who;

use crate::cli::{Cli, Command, RunArgs};
use crate::error::{Error, ExitCode, Result};

pub use inside::serve;

/// Does what the command line says.
///
/// # Errors
///
/// What keeps it from an answer.
pub fn dispatch(cli: Cli) -> Result<ExitCode> {
    match cli.command.unwrap_or_else(|| Command::Run(RunArgs::default())) {
        Command::Run(args) => run::run(&args),
        Command::Try(args) => r#try::run(args),
        Command::Teeth(args) => teeth::run(args),
        Command::List(args) => list::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Schema(args) => Ok(schema::run(&args)),
        Command::Explain(args) => explain::run(&args),
        Command::Who(args) => who::run(&args),
        Command::Doctor(args) => Ok(doctor::run(&args)),
        Command::Hooks(args) => hooks::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Receipt(args) => receipt::run(&args.command),
        Command::Gate(args) => gate::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Completions(args) => Ok(completions::run(&args)),
        Command::Man(args) => man::run(&args),
    }
}

/// Says on standard error what kept it from an answer.
pub fn tell(error: &Error) {
    show::Show::error(error);
}
