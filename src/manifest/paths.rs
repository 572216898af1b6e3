//! Paths in manifests: relative, with `/` on every system, and never out of where they belong.

use schemars::Schema;

use super::text::{Fault, Grammar, pattern};
use crate::platform::FileGlob;

/// No absolute path, no drive, no backslash; `..` is looked for by the code, which can say more.
const RELATIVE: &str = r"^[^/\\:][^\\]*$";

/// A path in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPath(pub String);

/// A path in the project, or a glob of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverGlob(pub String);

/// A path in the sandbox's `work/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SandboxPath(pub String);

impl Grammar for ProjectPath {
    const WHAT: &'static str = "a path in the project";
    const NAME: &'static str = "ProjectPath";

    fn text(text: &str) -> Result<Self, Fault> {
        relative(text, "the project").map(Self)
    }

    fn schema() -> Schema {
        pattern(RELATIVE)
    }
}

impl Grammar for CoverGlob {
    const WHAT: &'static str = "a path in the project, or a glob of paths";
    const NAME: &'static str = "CoverGlob";

    fn text(text: &str) -> Result<Self, Fault> {
        let ProjectPath(path) = ProjectPath::text(text)?;
        globset::Glob::new(&path).map_err(|error| {
            Fault::new(format!("\"{text}\" is no glob of paths: {}", error.kind()))
                .help("write a path, or a glob such as `hooks/**` or `hooks/*.py`")
        })?;
        Ok(Self(path))
    }

    fn schema() -> Schema {
        ProjectPath::schema()
    }
}

impl Grammar for SandboxPath {
    const WHAT: &'static str = "a path in the sandbox";
    const NAME: &'static str = "SandboxPath";

    fn text(text: &str) -> Result<Self, Fault> {
        let path = relative(text, "the sandbox's `work/`")?;
        if path.split('/').all(|part| part.is_empty() || part == ".") {
            return Err(Fault::new(format!("\"{text}\" names nothing in the sandbox's `work/`"))
                .help("write the name that the file or folder shall have there"));
        }
        Ok(Self(path))
    }

    fn schema() -> Schema {
        pattern(RELATIVE)
    }
}

/// Files that are published: a glob, relative to where a check starts, or below `$project` or `$sandbox`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishGlob(pub String);

impl Grammar for PublishGlob {
    const WHAT: &'static str = "a glob of files";
    const NAME: &'static str = "PublishGlob";

    fn text(text: &str) -> Result<Self, Fault> {
        if let Some(fault) = no_such_word(text) {
            return Err(fault.help("`$project/…` and `$sandbox/…` are below the project and the sandbox"));
        }
        let below = text.strip_prefix("$project/").or_else(|| text.strip_prefix("$sandbox/")).unwrap_or(text);
        if ["$project", "$sandbox"].contains(&text) || below.ends_with('/') || below == "." {
            return Err(Fault::new(format!("\"{text}\" names a folder")).help("write the files in it: `state/*.json`"));
        }
        let glob = relative(below, "the folder that the check starts in")
            .map_err(|fault| fault.help("`$project/…` and `$sandbox/…` are below the project and the sandbox"))?;
        match FileGlob::new(&glob) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(why) => Err(Fault::new(format!("\"{text}\" is not a glob: {why}")).help(
                "`*` and `?` stand for what is in one name, `**` for any folders, `[ab]` and `{a,b}` for a choice",
            )),
        }
    }

    fn schema() -> Schema {
        pattern(RELATIVE)
    }
}

/// A place outside the sandbox: a glob, absolute, relative to the project, or below `$project` or `$sandbox`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchGlob(pub String);

impl Grammar for WatchGlob {
    const WHAT: &'static str = "a glob of files and folders";
    const NAME: &'static str = "WatchGlob";

    fn text(text: &str) -> Result<Self, Fault> {
        if let Some(fault) = no_such_word(text) {
            return Err(fault);
        }
        let below = ["$project/", "$sandbox/", "/"].into_iter().find_map(|start| text.strip_prefix(start));
        let below = below.or_else(|| text.get(3..).filter(|_| is_on_drive(text))).unwrap_or(text);
        let help = "write what is watched, as `/tmp/sweep_*` or `.claude/state`; what is in a folder goes with it";
        if ["", "."].contains(&below) || below.starts_with('$') || below.ends_with('/') {
            return Err(Fault::new(format!("\"{text}\" names no file and no folder")).help(help));
        }
        let below = relative(below, "the project").map_err(|fault| fault.help(help))?;
        match FileGlob::new(&below) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(why) => Err(Fault::new(format!("\"{text}\" is not a glob: {why}")).help(help)),
        }
    }

    fn schema() -> Schema {
        pattern(r"^[^\\]+$")
    }
}

/// What is wrong with a path that begins with a word that nothing is put in the place of.
pub fn no_such_word(text: &str) -> Option<Fault> {
    let first = text.split('/').next().filter(|first| first.starts_with('$') && first.len() > 1)?;
    (!["$project", "$sandbox"].contains(&first)).then(|| {
        Fault::new(format!("`{first}` stands for nothing here")).help(
            "`$project` and `$sandbox` do: the check's home is `$sandbox/home`, its TMPDIR `$sandbox/tmp`; or write an \
             absolute path",
        )
    })
}

/// Whether a path begins with a drive of Windows, written with `/`.
pub fn is_on_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && &bytes[1..3] == b":/"
}

/// A glob of published files, for the command line.
///
/// # Errors
///
/// A sentence that says what is wrong with it.
pub fn parse_publish_glob(text: &str) -> Result<String, String> {
    PublishGlob::text(text).map(|glob| glob.0).map_err(|fault| fault.sentence())
}

fn relative(text: &str, inside: &str) -> Result<String, Fault> {
    let help = format!("paths are relative to {inside}, and stay inside it");
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    if text.is_empty() {
        return Err(Fault::new("a path must not be empty").help(&help));
    }
    if text.starts_with('/') || text.starts_with('\\') || drive {
        return Err(Fault::new(format!("\"{text}\" is an absolute path")).help(&help));
    }
    if text.contains('\\') {
        return Err(Fault::new(format!("\"{text}\" has a backslash in it"))
            .help("write `/` between folders; it is right on every system"));
    }
    if text.split('/').any(|part| part == "..") {
        return Err(Fault::new(format!("\"{text}\" has `..` in it")).help(&help));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_inside() {
        for path in ["a", "a/b", "./a", "a..b", ".", "...", "ab:c"] {
            assert!(ProjectPath::text(path).is_ok(), "{path}");
        }
        for path in ["", "/a", "..", "../a", "a/..", "a/../b", "C:/a", "c:a", "\\\\host\\a", "a\\b", "a\\..\\b"] {
            assert!(ProjectPath::text(path).is_err(), "{path}");
            assert!(SandboxPath::text(path).is_err(), "{path}");
        }
        for glob in ["a", "state/*.json", "./a", "**/x", "$sandbox/tmp/*/state/*.json", "$project/.claude/{a,b}.json"] {
            assert!(PublishGlob::text(glob).is_ok(), "{glob}");
        }
        for glob in [
            "",
            "/a/*",
            "../a",
            "a/../b",
            "$sandbox",
            "$project/",
            "state/",
            "a[",
            "{a/b,c}",
            "a\\b",
            "**",
            "$sandbox//a",
            "$HOME/a",
        ] {
            assert!(PublishGlob::text(glob).is_err(), "{glob}");
        }
        assert!(SandboxPath::text("a/b").is_ok());
        for path in [".", "./", "./."] {
            assert!(SandboxPath::text(path).is_err(), "{path}");
        }
    }
}
