//! A pre-push hook that asks the gate.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::{platform, source};

/// The hook.
pub const PRE_PUSH: &str = r#"#!/bin/sh
# Written by hostproof init --pre-push: asks whether what is pushed has the receipts that it wants.
# `git push --no-verify` asks nobody.
exec hostproof gate --pre-push "$1"
"#;

/// What a hook has to have in it.
const LINE: &str = "hostproof gate --pre-push";

/// Writes the hook of the repository that a folder is in. What is said of it.
///
/// # Errors
///
/// If there is no repository, it has such a hook already, or its hooks are not its own: what to add to them, and where.
pub fn pre_push(folder: &Path) -> Result<String> {
    let top = source::top(folder).ok_or_else(|| {
        Error::Usage(format!("{} is in no git repository, so nothing is pushed from it", folder.display()))
    })?;
    let hooks = source::hooks_folder(&top)
        .ok_or_else(|| Error::Usage("git does not say where it takes its hooks from".to_owned()))?;
    let file = hooks.join("pre-push");
    let by_hand = |why: &str| {
        Error::Usage(format!(
            "nothing was written: {why}\nhelp: add this line to the hook, before anything that reads standard input: \
             {LINE} \"$1\" || exit"
        ))
    };
    match fs::symlink_metadata(&file) {
        Ok(_) if fs::read_to_string(&file).is_ok_and(|text| text.contains(LINE)) => {
            return Ok(format!("{} asks the gate already", file.display()));
        }
        Ok(_) => return Err(by_hand(&format!("there is a hook already, {}", file.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(Error::file("cannot read", &file, error)),
    }
    if source::value(&top, "core.hooksPath", true).is_some() {
        let why = format!("git takes its hooks from {} (core.hooksPath), which others may share", hooks.display());
        return Err(by_hand(&why));
    }
    put(&hooks, &file).map_err(|error| Error::file("cannot write", &file, error))?;
    let next = if source::default_branch(&top, "origin").is_some() {
        String::new()
    } else {
        "\nnext\n  git remote set-head origin --auto    let git know the default branch of the remote, which the gate compares with"
            .to_owned()
    };
    Ok(format!("{} written: git push asks the gate{next}", file.display()))
}

/// In one piece, and never over another.
fn put(hooks: &Path, file: &Path) -> io::Result<()> {
    fs::create_dir_all(hooks)?;
    let mut written = platform::new_file(hooks, ".hostproof-init-")?;
    written.write_all(PRE_PUSH.as_bytes())?;
    platform::make_executable(written.path())?;
    written.persist_noclobber(file).map(drop).map_err(|error| error.error)
}
