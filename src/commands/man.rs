//! `hostproof man`

use std::fs;
use std::io::Write;

use clap::CommandFactory;
use clap_mangen::Man;

use super::show::Show;
use crate::cli::{Cli, ManArgs};
use crate::error::{Error, ExitCode, Result};
use crate::platform;

/// Prints a page, or writes all of them to a folder.
///
/// # Errors
///
/// If there is no such subcommand, or the folder can't be written.
pub fn run(args: &ManArgs) -> Result<ExitCode> {
    let pages = pages();
    if let Some(folder) = &args.dir {
        let failed = |error| Error::file("cannot write man pages to", folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        for (name, page) in &pages {
            let mut file = platform::new_file(folder, ".new-").map_err(failed)?;
            file.write_all(page.as_bytes()).map_err(failed)?;
            file.persist(folder.join(format!("{name}.1"))).map_err(|error| failed(error.error))?;
        }
        return Ok(ExitCode::Ok);
    }
    let wanted = args.subcommand.as_ref().map_or_else(|| "hostproof".to_owned(), |name| format!("hostproof-{name}"));
    let Some((_, page)) = pages.iter().find(|(name, _)| *name == wanted) else {
        let names: Vec<&str> = pages.iter().filter_map(|(name, _)| name.strip_prefix("hostproof-")).collect();
        let name = args.subcommand.as_deref().unwrap_or_default();
        return Err(Error::Usage(format!("there is no subcommand {name}; there are {}", names.join(", "))));
    };
    Show::Stdout.line(page.trim_end());
    Ok(ExitCode::Ok)
}

/// The page of hostproof, those of its subcommands and those of theirs, by name.
fn pages() -> Vec<(String, String)> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let page = |command: clap::Command| {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut page = Vec::new();
        // Nothing fails in memory.
        let _ = Man::new(command).render(&mut page);
        (name, String::from_utf8_lossy(&page).into_owned())
    };
    let mut pages = vec![page(command.clone())];
    for subcommand in command.get_subcommands() {
        pages.push(page(subcommand.clone()));
        pages.extend(subcommand.get_subcommands().cloned().map(page));
    }
    pages
}
