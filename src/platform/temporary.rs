//! Where sandboxes are made, and whether it will do.

use std::path::Path;

use super::case;
use super::places::LONGEST_BASE;
use crate::model::Ability;

/// What a check's temporary folder has behind the base: `/hp-XXXXXX/XXXXXXXX/tmp/`.
const BELOW: usize = 24;

/// Makes a folder there, and looks at it. `filesystem` is its type, where that is known, and `socket` the longest name of
/// a unix socket in bytes, where checks have such.
pub fn ability(base: &Path, filesystem: Option<&str>, socket: Option<usize>) -> Ability {
    let name = "temporary folder";
    let shown = base.display();
    let folder = match tempfile::Builder::new().prefix("hp-try-").tempdir_in(base) {
        Ok(folder) => folder,
        Err(error) => {
            return Ability::no(name, format!("nothing can be made in {shown}: {error}"))
                .essential()
                .helped_by("let HOSTPROOF_TMPDIR name a folder of yours, with a short path");
        }
    };
    let system = filesystem.map(|system| format!(" ({system})")).unwrap_or_default();
    let sensitive = case::is_sensitive(folder.path());
    let tells = if sensitive == Some(false) { "does not tell a from A" } else { "tells a from A" };
    let length = base.as_os_str().len();
    let room = socket.map(|longest| longest.saturating_sub(length + BELOW));
    let sockets = room.map(|room| format!(", and leaves {room} bytes for the name of a socket")).unwrap_or_default();
    let why = format!("{shown}{system} {tells}{sockets}");
    if socket.is_some() && length > LONGEST_BASE {
        let shorter = "let HOSTPROOF_TMPDIR name a folder with a shorter path";
        return Ability::partly(name, why).essential().helped_by(shorter);
    }
    // Elsewhere that is the rule.
    if cfg!(target_os = "linux") && sensitive == Some(false) {
        return Ability::partly(name, why).essential();
    }
    Ability::yes(name, why).essential()
}
