//! What programs do with the words that follow them: which run another command, which run a file, and which only read.

/// A program that runs a file.
#[derive(Debug)]
pub struct Interpreter {
    /// Without a version and without `.exe`.
    pub names: &'static [&'static str],
    /// Options whose value is the next word.
    pub valued: &'static [&'static str],
    /// Options whose value is the code itself.
    pub inline: &'static [&'static str],
    /// Options whose value is the name of a module.
    pub module: &'static [&'static str],
    /// Options whose value is a file that is run before.
    pub preload: &'static [&'static str],
    /// What it says of a file that is not there, by its exit status, where that is known.
    pub missing: Option<i32>,
    /// Whether it reads the commands of a POSIX shell.
    pub shell: bool,
}

const NONE: Interpreter =
    Interpreter { names: &[], valued: &[], inline: &[], module: &[], preload: &[], missing: None, shell: false };

/// Those that hooks are written for. The statuses were seen on Debian 12: dash says 2 like Python, bash 127, Node.js 1.
pub const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pythonw", "pypy", "py"],
        valued: &["-W", "-X", "--check-hash-based-pycs"],
        inline: &["-c"],
        module: &["-m"],
        missing: Some(2),
        ..NONE
    },
    Interpreter {
        names: &["node", "nodejs", "bun", "tsx", "ts-node"],
        valued: &["-C", "--conditions", "--loader", "--experimental-loader", "--env-file", "--title"],
        inline: &["-e", "-p", "-pe", "--eval", "--print"],
        preload: &["-r", "--require", "--import", "--preload"],
        missing: Some(1),
        ..NONE
    },
    Interpreter { names: &["deno"], valued: &["-c", "--config", "--import-map"], inline: &["eval"], ..NONE },
    Interpreter {
        names: &["sh", "dash", "ash"],
        valued: &["-o"],
        inline: &["-c"],
        missing: Some(2),
        shell: true,
        ..NONE
    },
    Interpreter {
        names: &["bash", "zsh", "ksh"],
        valued: &["-o", "-O", "+O", "--rcfile", "--init-file"],
        inline: &["-c"],
        missing: Some(127),
        shell: true,
        ..NONE
    },
    Interpreter { names: &["ruby"], valued: &["-I", "-r", "-E"], inline: &["-e"], missing: Some(1), ..NONE },
    Interpreter { names: &["perl"], valued: &["-I"], inline: &["-e", "-E"], missing: Some(2), ..NONE },
    Interpreter { names: &["php"], valued: &["-d", "-c"], inline: &["-r"], missing: Some(1), ..NONE },
    Interpreter {
        names: &["pwsh", "powershell"],
        valued: &["-executionpolicy", "-ep", "-version", "-windowstyle"],
        inline: &["-command", "-c", "-encodedcommand"],
        ..NONE
    },
];

/// A program that runs the command that follows it.
#[derive(Debug)]
pub struct Wrapper {
    pub name: &'static str,
    /// The word that must come first, as `run` of `uv run`.
    pub subcommand: Option<&'static str>,
    pub valued: &'static [&'static str],
    /// How many words of its own come before the command.
    pub operands: usize,
}

const fn wrapper(
    name: &'static str,
    subcommand: Option<&'static str>,
    valued: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, subcommand, valued, operands }
}

/// Those that hooks are started with.
pub const WRAPPERS: &[Wrapper] = &[
    wrapper("exec", None, &["-a"], 0),
    wrapper("command", None, &[], 0),
    wrapper("builtin", None, &[], 0),
    wrapper("nohup", None, &[], 0),
    wrapper("setsid", None, &[], 0),
    wrapper("time", None, &["-f", "-o"], 0),
    wrapper("timeout", None, &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("gtimeout", None, &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("nice", None, &["-n"], 0),
    wrapper("ionice", None, &["-c", "-n"], 0),
    wrapper("sudo", None, &["-u", "-g"], 0),
    wrapper("stdbuf", None, &["-i", "-o", "-e"], 0),
    wrapper("xargs", None, &["-I", "-n", "-P", "-L", "-d"], 0),
    wrapper("flock", None, &["-w", "-E"], 1),
    wrapper("caffeinate", None, &["-t", "-w"], 0),
    wrapper("uv", Some("run"), &["-p", "--python", "--with", "--project", "--extra", "--group", "--env-file"], 0),
    wrapper("poetry", Some("run"), &[], 0),
    wrapper("pipenv", Some("run"), &[], 0),
    wrapper("pdm", Some("run"), &["-p"], 0),
    wrapper("hatch", Some("run"), &[], 0),
    wrapper("rye", Some("run"), &[], 0),
    wrapper("pixi", Some("run"), &["-e"], 0),
    wrapper("conda", Some("run"), &["-n", "-p", "--cwd"], 0),
    wrapper("mise", Some("exec"), &[], 0),
    wrapper("direnv", Some("exec"), &[], 1),
    wrapper("bundle", Some("exec"), &[], 0),
    wrapper("npm", Some("exec"), &["-p", "--package"], 0),
    wrapper("pnpm", Some("exec"), &[], 0),
    wrapper("yarn", Some("exec"), &[], 0),
    wrapper("npx", None, &["-p", "--package"], 0),
    wrapper("bunx", None, &[], 0),
    wrapper("uvx", None, &["-p", "--python", "--from", "--with"], 0),
];

/// Programs whose words are data, not something that is run.
pub const READERS: &[&str] = &[
    "[", "[[", "test", "true", "false", ":", "echo", "printf", "cat", "grep", "head", "tail", "ls", "mkdir", "rm",
    "rmdir", "touch", "cp", "mv", "ln", "chmod", "stat", "wc", "jq", "sed", "awk", "tr", "cut", "sort", "exit",
    "return", "set", "unset", "read", "gawk", "mawk", "egrep", "local", "trap", "wait", "sleep", "kill", "type",
    "which", "hash", "umask", "shift", "git", "tee",
];

/// A program whose code may be in a file that an option names.
#[derive(Debug)]
pub struct FromFile {
    pub names: &'static [&'static str],
    pub long: &'static [&'static str],
}

/// Those that hooks are written with; the letter is `-f` with all of them.
pub const FROM_FILE: &[FromFile] = &[
    FromFile { names: &["jq"], long: &["--from-file"] },
    FromFile { names: &["awk", "gawk", "mawk", "grep", "egrep", "sed"], long: &["--file"] },
    FromFile { names: &["make", "gmake"], long: &["--file", "--makefile"] },
];

/// Programs that run what a file of the project says, and end with a status of their own where there is none.
pub const RUNNERS: &[&str] = &["make", "gmake", "just", "task", "rake", "tox", "nox", "npm", "pnpm", "yarn"];

/// The interpreter of that name: `python3.11` and `node.exe` are known by what they begin with.
pub fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|known| known.names.contains(&name) || known.names.contains(&stem))
}
