//! The environment that a check sees.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::sandbox::Sandbox;
use super::substitute::substitute;
use super::surroundings;
use crate::model::{Check, Fact, Home, Inherit};
use crate::platform;

/// What every check sees of the caller's environment: where programs are, the locale, the way to the network, and what
/// the systems and the toolchains themselves need.
const ALWAYS: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "JAVA_HOME",
    "GOROOT",
    "RUSTUP_TOOLCHAIN",
    "PYENV_VERSION",
    "NODENV_VERSION",
    "RBENV_VERSION",
    "NVM_BIN",
    "NIX_PATH",
    "NIX_SSL_CERT_FILE",
    "LOCALE_ARCHIVE",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "OS",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "COMMONPROGRAMFILES",
    "ALLUSERSPROFILE",
    "PUBLIC",
];

/// Toolchains that live in the real home: the variable that names the place, and the place when it is not set.
const TOOLCHAINS: &[(&str, &str)] = &[
    ("RUSTUP_HOME", ".rustup"),
    ("CARGO_HOME", ".cargo"),
    ("PYENV_ROOT", ".pyenv"),
    ("PYTHONUSERBASE", ".local"),
    ("UV_CACHE_DIR", ".cache/uv"),
    ("NVM_DIR", ".nvm"),
    ("FNM_DIR", ".local/share/fnm"),
    ("VOLTA_HOME", ".volta"),
    ("BUN_INSTALL", ".bun"),
    ("GOPATH", "go"),
    ("RBENV_ROOT", ".rbenv"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("MISE_DATA_DIR", ".local/share/mise"),
    ("SDKMAN_DIR", ".sdkman"),
];

/// What is read of the caller's environment, once for all checks.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    variables: Vec<(OsString, OsString)>,
    /// Toolchains that live in the caller's home, by the variable that names each.
    toolchains: Vec<(&'static str, PathBuf)>,
    /// This program.
    program: Option<PathBuf>,
}

impl Caller {
    /// Reads this process's environment.
    #[must_use]
    pub fn read() -> Self {
        let variables: Vec<_> = crate::env::all().collect();
        Self { program: std::env::current_exe().ok(), ..Self::of(variables, crate::env::home().as_deref()) }
    }

    fn of(variables: Vec<(OsString, OsString)>, home: Option<&Path>) -> Self {
        let mut caller = Self { variables, ..Self::default() };
        for (name, place) in TOOLCHAINS {
            let named = caller.variable(name).map(PathBuf::from);
            let usual = || home.map(|home| home.join(place)).filter(|place| place.is_dir());
            caller.toolchains.extend(named.or_else(usual).map(|place| (*name, place)));
        }
        caller
    }

    /// Whether a `PATH` is this one, and means the same from every folder.
    #[must_use]
    pub fn has_path(&self, path: Option<&OsStr>) -> bool {
        let absolute = |path: &OsStr| std::env::split_paths(path).all(|folder| folder.is_absolute());
        path == self.variable("PATH") && path.is_some_and(absolute)
    }

    /// What a variable is.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(known, _)| same(known, name)).map(|(_, value)| value.as_os_str())
    }
}

/// Puts a check's environment together. `project` is the project, or the copy that stands for it.
///
/// Git's own variables are never inherited: they would turn the check's git commands on the repository that a hook runs
/// in.
#[must_use]
pub fn environment(
    check: &Check,
    caller: &Caller,
    sandbox: &Sandbox,
    project: &Path,
    cwd: &Path,
) -> Vec<(OsString, OsString)> {
    let mut env: BTreeMap<OsString, OsString> = caller
        .variables
        .iter()
        .filter(|(name, _)| is_inherited(name, &check.inherit))
        .map(|(name, value)| (usual(name), value.clone()))
        .collect();
    // Unset they lie below HOME, wherever a self-test points that: suites make homes of their own, and on most hosts
    // nothing sets these.
    let home = if check.fact == Some(Fact::RealHome) { Home::Real } else { check.home };
    if home == Home::Sandbox {
        env.retain(|name, _| !starts_with(name, "XDG_"));
    }
    let mut set = |name: &str, value: &OsStr| {
        env.insert(usual(OsStr::new(name)), value.to_owned());
    };

    let seen = |path: PathBuf| sandbox.seen(&path);
    let tmp = seen(sandbox.tmp());
    for name in ["TMPDIR", "TMP", "TEMP"] {
        set(name, tmp.as_os_str());
    }
    match home {
        Home::Sandbox => {
            for (name, place) in &caller.toolchains {
                set(name, place.as_os_str());
            }
            let home = seen(sandbox.home());
            for (name, below) in
                [("HOME", ""), ("USERPROFILE", ""), ("APPDATA", "AppData/Roaming"), ("LOCALAPPDATA", "AppData/Local")]
            {
                let place = if below.is_empty() { home.clone() } else { home.join(below) };
                set(name, place.as_os_str());
            }
            set("XDG_RUNTIME_DIR", tmp.as_os_str());
        }
        Home::Real => {
            for name in ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"] {
                if let Some(value) = caller.variable(name) {
                    set(name, value);
                }
            }
            for (name, value) in caller.variables.iter().filter(|(name, _)| starts_with(name, "XDG_")) {
                set(&name.to_string_lossy(), value);
            }
        }
    }
    for name in ["CLAUDE_PROJECT_DIR", "HOSTPROOF_PROJECT"] {
        set(name, project.as_os_str());
    }
    let root = seen(sandbox.root().to_owned());
    set("HOSTPROOF_SANDBOX", root.as_os_str());
    set("HOSTPROOF_CHECK", OsStr::new(&check.id));
    if let Some(program) = &caller.program {
        set("HOSTPROOF", program.as_os_str());
    }
    set("PWD", cwd.as_os_str());
    for (name, value) in check.fact.into_iter().flat_map(surroundings::variables) {
        match value {
            Some(value) => env.insert(usual(OsStr::new(name)), value.into()),
            None => env.remove(&usual(OsStr::new(name))),
        };
    }

    for (name, value) in &check.env {
        match value {
            Some(value) => {
                env.insert(usual(OsStr::new(name)), substitute(value, project, &root).into());
            }
            None => {
                env.remove(&usual(OsStr::new(name)));
            }
        }
    }
    env.into_iter().collect()
}

fn is_inherited(name: &OsStr, inherit: &Inherit) -> bool {
    if starts_with(name, "GIT_") {
        return false;
    }
    match inherit {
        Inherit::All => true,
        Inherit::Names(names) => {
            starts_with(name, "LC_")
                || ALWAYS.iter().any(|always| same(name, always))
                || names.iter().any(|wanted| same(name, wanted))
        }
    }
}

/// Names of variables are compared as the system does.
fn same(name: &OsStr, other: &str) -> bool {
    if platform::VARIABLES_HAVE_CASE { name == other } else { name.eq_ignore_ascii_case(other) }
}

/// A variable's name, so that those which are one to the system are one here: Windows has `Path`.
fn usual(name: &OsStr) -> OsString {
    if platform::VARIABLES_HAVE_CASE { name.to_owned() } else { name.to_ascii_uppercase() }
}

fn starts_with(name: &OsStr, prefix: &str) -> bool {
    let start = name.as_encoded_bytes().get(..prefix.len());
    start.is_some_and(|start| {
        if platform::VARIABLES_HAVE_CASE {
            start == prefix.as_bytes()
        } else {
            start.eq_ignore_ascii_case(prefix.as_bytes())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CheckCommand;

    fn environment_of(check: &Check, caller: &[(&str, &str)], home: Option<&Path>) -> BTreeMap<String, String> {
        let outer = tempfile::tempdir().expect("a tempdir");
        let sandbox = Sandbox::create(outer.path()).expect("a sandbox");
        let caller: Vec<_> = caller.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let caller = Caller::of(caller, home);
        let root = sandbox.root().display().to_string();
        environment(check, &caller, &sandbox, Path::new("/p"), Path::new("/p"))
            .into_iter()
            .map(|(name, value)| {
                (
                    name.to_string_lossy().into_owned(),
                    value.to_string_lossy().replace(&root, "$sandbox").replace('\\', "/"),
                )
            })
            .collect()
    }

    fn check() -> Check {
        Check::new("c", CheckCommand::Argv(vec!["true".to_owned()]))
    }

    #[test]
    fn the_callers_variables_stay_outside_unless_asked_for() {
        let caller = [("PATH", "/bin"), ("LC_TIME", "C"), ("SECRET", "1"), ("WANTED", "2"), ("GIT_DIR", "/real/.git")];
        let env = environment_of(&Check { inherit: Inherit::Names(vec!["WANTED".into()]), ..check() }, &caller, None);
        assert_eq!(env.get("PATH").map(String::as_str), Some("/bin"));
        assert_eq!(env.get("WANTED").map(String::as_str), Some("2"));
        assert!(env.contains_key("LC_TIME") && !env.contains_key("SECRET") && !env.contains_key("GIT_DIR"));
    }

    #[test]
    fn gits_own_variables_are_gone_even_when_all_are_inherited() {
        let caller = [("GIT_DIR", "/real/.git"), ("GIT_INDEX_FILE", "x"), ("OTHER", "1")];
        let env = environment_of(&Check { inherit: Inherit::All, ..check() }, &caller, None);
        assert!(env.contains_key("OTHER") && !env.contains_key("GIT_DIR") && !env.contains_key("GIT_INDEX_FILE"));
    }

    #[test]
    fn home_is_not_below_tmpdir_and_toolchains_stay_where_they_are() {
        let home = tempfile::tempdir().expect("a tempdir");
        std::fs::create_dir(home.path().join(".cargo")).expect("a folder");
        let env = environment_of(&check(), &[("HOME", "/real"), ("RUSTUP_HOME", "/opt/rustup")], Some(home.path()));
        assert_eq!(env["HOME"], "$sandbox/home");
        assert_eq!(env["TMPDIR"], "$sandbox/tmp");
        assert_eq!(env["RUSTUP_HOME"], "/opt/rustup");
        assert_eq!(env["CARGO_HOME"], home.path().join(".cargo").display().to_string().replace('\\', "/"));
        assert!(!env.contains_key("NVM_DIR"));
    }

    #[test]
    fn what_lies_below_home_follows_it() {
        let caller = [("XDG_DATA_HOME", "/real/.local/share"), ("XDG_CONFIG_DIRS", "/etc/xdg")];
        let env = environment_of(&Check { inherit: Inherit::All, ..check() }, &caller, None);
        let xdg: Vec<_> = env.iter().filter(|(name, _)| name.starts_with("XDG_")).collect();
        assert_eq!(xdg, [(&"XDG_RUNTIME_DIR".to_owned(), &"$sandbox/tmp".to_owned())]);
        let own = [("XDG_DATA_HOME".to_owned(), Some("$sandbox/data".to_owned()))];
        let env = environment_of(&Check { env: own.into(), ..check() }, &[], None);
        assert!(env["XDG_DATA_HOME"].ends_with("/data"));
    }

    #[test]
    fn the_real_home_is_the_callers() {
        let env =
            environment_of(&Check { home: Home::Real, ..check() }, &[("HOME", "/real"), ("XDG_DATA_HOME", "/d")], None);
        assert_eq!((env["HOME"].as_str(), env["XDG_DATA_HOME"].as_str()), ("/real", "/d"));
        assert_eq!(env["TMPDIR"], "$sandbox/tmp");
    }

    #[test]
    fn the_checks_own_variables_win_and_null_removes() {
        let own = [("A".to_owned(), Some("$project/x".to_owned())), ("TZ".to_owned(), None)];
        let env = environment_of(&Check { env: own.into(), ..check() }, &[("TZ", "UTC"), ("A", "0")], None);
        assert_eq!(env["A"], "/p/x");
        assert!(!env.contains_key("TZ"));
    }
}
