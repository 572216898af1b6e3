//! lefthook's templates in its commands, replaced as it does it.
//!
//! Source: lefthook.dev/configuration/run, November 2026.

use crate::model::{WiredCommand, Wiring};
use crate::words::quoted;

/// Those that stand for names of files.
const FILES: [&str; 4] = ["{staged_files}", "{push_files}", "{all_files}", "{files}"];

/// A command with what its templates stand for: files, and git's arguments, both of which are the event's.
///
/// # Errors
///
/// If it wants files and there are none: a sentence. lefthook would pass it over.
pub fn filled(wiring: &Wiring, command: &WiredCommand, args: &[String]) -> Result<WiredCommand, String> {
    let mut text = command.command.clone();
    let files: Vec<String> = args.iter().map(|file| quoted(file)).collect();
    for template in FILES.into_iter().filter(|template| command.command.contains(template)) {
        if files.is_empty() {
            let place = wiring.place();
            return Err(format!("{place} is called with files ({template}): say which under `args` of the event"));
        }
        text = text.replace(template, &files.join(" "));
    }
    text = text.replace("{0}", &args.join(" "));
    for (at, arg) in args.iter().enumerate() {
        text = text.replace(&format!("{{{}}}", at + 1), arg);
    }
    text = text.replace("{lefthook_job_name}", wiring.name.as_deref().unwrap_or_default());
    Ok(WiredCommand { command: text, ..command.clone() })
}
