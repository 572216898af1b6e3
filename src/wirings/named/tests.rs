//! Which files commands run.

use std::path::Path;

use super::super::files::{Entry, Files, Refused};
use super::super::shell::Flavour;
use super::{Around, Told, in_shell, in_windows_shell};
use crate::model::Script;

/// Names alone.
struct Names(Vec<String>);

impl Files for Names {
    fn names(&self) -> &[String] {
        &self.0
    }

    fn entry(&self, name: &str) -> Entry {
        if self.0.iter().any(|known| known == name) { Entry::File { executable: None } } else { Entry::Missing }
    }

    fn bytes(&self, _: &str) -> Result<Vec<u8>, Refused> {
        Err(Refused { line: None, message: String::new(), remedy: String::new() })
    }

    fn root(&self) -> Option<&Path> {
        Some(Path::new("/p"))
    }

    fn is_repository(&self) -> bool {
        false
    }

    fn hook_folders(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The scripts of a command, missing ones with a `?`; or `!` and why they can't be told.
fn told(command: &str, shell: impl Fn(&str, &Around<'_>) -> Told) -> String {
    let names = ["h/a.sh", "h/b.py", "h/c.js", "h/run.cmd", "h/start", "pkg/mod.py", "pkg/__main__.py", "pl/x.sh"];
    let names = Names(names.map(str::to_owned).to_vec());
    let folders = vec![("CLAUDE_PROJECT_DIR", String::new()), ("CLAUDE_PLUGIN_ROOT", "pl".to_owned())];
    let around = Around { files: &names, folders, cwd: Some(String::new()), file: None, is_top: true };
    let told = shell(command, &around);
    let one = |script: &Script| format!("{}{}", script.path, if script.exists { "" } else { "?" });
    let mut shown: Vec<String> = told.scripts.iter().map(one).collect();
    shown.extend(told.untold.is_some().then(|| "!".to_owned()));
    shown.join(" ")
}

#[test]
fn scripts_are_found_through_what_is_around_them() {
    for (command, scripts) in [
        ("h/a.sh", "h/a.sh"),
        ("./h/a.sh x", "h/a.sh"),
        ("bash h/a.sh", "h/a.sh"),
        ("/bin/bash -eu -o pipefail h/a.sh", "h/a.sh"),
        ("python3 -u h/b.py --all", "h/b.py"),
        ("/usr/bin/env python3.11 h/b.py", "h/b.py"),
        ("env X=1 -u Y node h/c.js", "h/c.js"),
        ("node -r ./h/c.js h/none.js", "h/c.js h/none.js?"),
        ("python3 -m pkg.mod", "pkg/mod.py"),
        ("python3 -m pkg", "pkg/__main__.py"),
        ("python3 -m pytest", ""),
        ("bash -c 'sh h/a.sh && python3 h/b.py'", "h/a.sh h/b.py"),
        ("bash -lc \"bash -c 'h/a.sh'\"", "h/a.sh"),
        ("\"$CLAUDE_PROJECT_DIR\"/h/a.sh", "h/a.sh"),
        ("bash -lc \"$CLAUDE_PROJECT_DIR/h/a.sh\"", "h/a.sh"),
        ("\u{e000}/h/a.sh", "!"),
        ("bash \"${CLAUDE_PLUGIN_ROOT:-.}/x.sh\"", "pl/x.sh"),
        ("bash \"${CLAUDE_PLUGIN_ROOT}/../h/a.sh\"", "h/a.sh"),
        ("\"$(git rev-parse --show-toplevel)/h/a.sh\"", "h/a.sh"),
        ("cd h && ./a.sh", "h/a.sh"),
        ("cd \"$X\" && ./a.sh", "!"),
        ("D=h; bash $D/a.sh", "h/a.sh"),
        ("export D=h && bash \"$D/a.sh\"", "h/a.sh"),
        ("bash \"$(cd h && pwd)/a.sh\"", "h/a.sh"),
        ("x=$(python3 h/b.py); echo \"$x\"", "h/b.py"),
        ("python3 h/none.py || python3 h/b.py", "h/none.py? h/b.py"),
        (". h/a.sh", "h/a.sh"),
        ("timeout -k 1 5s bash h/a.sh", "h/a.sh"),
        ("nohup setsid h/a.sh &", "h/a.sh"),
        ("uv run --with x h/b.py", "h/b.py"),
        ("uv run python h/b.py", "h/b.py"),
        ("npx tsx h/c.js", "h/c.js"),
        ("npx some-package@1", ""),
        ("\"h/run.cmd\" start", "h/run.cmd h/start"),
        ("tool --check h/b.py", "h/b.py"),
        ("echo h/a.sh", ""),
        ("command -v h/a.sh", ""),
        ("/p/h/a.sh", "h/a.sh"),
        ("/opt/a.sh", "!"),
        ("/opt/tool h/a.sh", "h/a.sh"),
        ("~/h/a.sh", "!"),
        ("bash \"$HOME/h/a.sh\"", "!"),
        ("bash \"$WHERE/a.sh\"", "!"),
        ("$TOOL h/a.sh", "!"),
        ("eval \"$x\"", "!"),
        ("python3 -c 'import os'", "!"),
        ("bash <<X\nh/a.sh\nX\n", "!"),
        ("bash", "!"),
        ("cat h/a.sh | sh", "!"),
        ("bash < h/a.sh", "h/a.sh"),
        ("python3 - < h/none.py", "h/none.py?"),
        ("sh -c 'sh < h/a.sh'", "h/a.sh"),
        ("make -s guard", "!"),
        ("make -f h/none.mk", "h/none.mk? !"),
        ("npm run guard", "!"),
        ("find . -name x -exec h/a.sh {} +", "!"),
        ("jq -e -f h/none.jq", "h/none.jq?"),
        ("awk -f h/none.awk x", "h/none.awk?"),
        ("grep -qf h/none.txt", "h/none.txt?"),
        ("sed --file=h/none.sed", "h/none.sed?"),
        ("grep -q x < h/a.sh", ""),
        ("", ""),
    ] {
        assert_eq!(told(command, in_shell), scripts, "{command}");
    }
    let cmd = |command: &str, around: &Around<'_>| in_windows_shell(command, Flavour::Cmd, around);
    for (command, scripts) in [
        ("cmd /c h\\run.cmd start", "h/run.cmd h/start"),
        ("py -3 h\\b.py", "h/b.py"),
        ("%CLAUDE_PROJECT_DIR%\\h\\run.cmd", "h/run.cmd"),
    ] {
        assert_eq!(told(command, cmd), scripts, "{command}");
    }
}

#[test]
fn paths_that_fall_apart_are_named() {
    let unquoted = |command: &str| {
        let names = Names(Vec::new());
        let folders = vec![("CLAUDE_PROJECT_DIR", String::new())];
        let around = Around { files: &names, folders, cwd: Some(String::new()), file: None, is_top: true };
        in_shell(command, &around).unquoted.join(" ")
    };
    for (command, names) in [
        ("$CLAUDE_PROJECT_DIR/a", "$CLAUDE_PROJECT_DIR"),
        ("cat ${HOME}/a $HOME/b", "$HOME"),
        ("sh $(git rev-parse --show-toplevel)/a", "$(git rev-parse --show-toplevel)"),
        ("\"$CLAUDE_PROJECT_DIR\"/a '$HOME'", ""),
        ("D=$CLAUDE_PROJECT_DIR sh", ""),
        ("tool $FLAGS", ""),
    ] {
        assert_eq!(unquoted(command), names, "{command}");
    }
}

#[test]
fn a_script_may_be_missing_where_something_makes_up_for_it() {
    for (command, may) in [
        ("h/none || h/a.sh", true),
        ("h/none || $TOOL", true),
        ("[ -x h/none ] && h/none", true),
        ("[ -x h/none ] && h/none || true", true),
        ("if [ -x h/none ]; then h/none; fi", true),
        ("h/none", false),
        ("h/none || true", true),
        ("h/none || exit 2", false),
        ("\"$CLAUDE_PROJECT_DIR\"/h/none || { echo no >&2; exit 2; }", false),
        ("[ -x h/none ] && h/none || exit 2", false),
        ("if ! h/none; then exit 2; fi", false),
    ] {
        let names = Names(Vec::new());
        let folders = vec![("CLAUDE_PROJECT_DIR", String::new())];
        let around = Around { files: &names, folders, cwd: Some(String::new()), file: None, is_top: true };
        let told = in_shell(command, &around);
        assert_eq!(told.scripts.first().map(|script| script.fallback), Some(may), "{command}");
    }
}
