//! `posix-only`: what only POSIX systems have, without a guard.

use std::collections::BTreeSet;

use super::super::language::Language::{self, Go, JavaScript, Python, Rust};
use super::super::literal::literal;
use super::super::names::RENAMING;
use super::super::needs::Need;
use super::super::needs::Sign::{Calls, Made, Text};
use super::super::rule::{Hit, Rule, Seen};
use super::super::shell::PYTHON_STARTERS;
use super::super::source::{Source, scope};
use super::super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::PosixOnly,
    severity: Severity::Note,
    finds: "A module, a function, a signal or a flag that only POSIX systems have, where nothing asks for the system first.",
    why: "On Windows the import, the attribute or the call fails, and the hook with it: whoever calls it gets a traceback. \
          Whether it is ever reached there is not always to be seen in the file, hence a note.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Made(in_python)]),
        Need::of(
            &[Python],
            &[
                Text("subprocess"),
                Calls(PYTHON_STARTERS, |call| KEYWORDS.iter().any(|keyword| call.keyword(keyword).is_some())),
            ],
        ),
        Need::of(
            &[Python],
            &[RENAMING, Text(r"\b(?:preexec_fn|pass_fds|user|group|extra_groups|umask|process_group)\b")],
        ),
        Need::of(&[Python], &[Text(r"\bmultiprocessing\b"), Text("fork")]),
        Need::of(&[Python], &[Calls(&["add_signal_handler"], |_| true)]),
        Need::of(
            Language::SCRIPTS,
            &[Text(r"\bprocess\b"), Text(r"\b(?:[gs]ete?[ug]id|[gs]etgroups|initgroups|kill)\b")],
        ),
        Need::of(&[Rust], &[Text(r"os::unix|signal::unix|\bnix\b|libc::")]),
        Need::of(&[Go], &[Text(r"\bsyscall\b|golang\.org/x/sys/unix")]),
    ],
    mend: "ask first (if os.name == \"posix\", try … except ImportError), and do something else there",
    bad: &[
        (Python, "import fcntl\n"),
        (Python, "import os\n\ndef f():\n    return os.getuid()\n"),
        (Python, "import os, signal\n\ndef f(pid):\n    os.kill(pid, signal.SIGKILL)\n"),
        (Python, "import subprocess\n\ndef f(argv, g):\n    return subprocess.run(argv, preexec_fn=g)\n"),
        (JavaScript, "const user = process.getuid();\n"),
        (JavaScript, "process.kill(-child.pid, 'SIGTERM');\n"),
        (JavaScript, "process.kill(pid, 'SIGUSR1');\n"),
        (Rust, concat!("use std:", ":os::unix::fs::PermissionsExt;\n")),
        (Rust, concat!("fn f(a: &Path, b: &Path) { std:", ":os::unix::fs::symlink(a, b).ok(); }\n")),
        (Rust, concat!("fn f(pid: i32) { libc:", ":kill(pid, 15); }\n")),
        (Rust, "use nix::unistd::setsid;\n"),
        (Go, "package a\n\nfunc f(pid int) { syscall.Kill(pid, syscall.SIGTERM) }\n"),
        (Go, "package a\n\nimport \"golang.org/x/sys/unix\"\n"),
        (Go, "package a\n\nfunc f(c chan os.Signal) { signal.Notify(c, syscall.SIGUSR1) }\n"),
    ],
    good: &[
        (Python, "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None\n"),
        (Python, "import os\n\nif os.name == \"posix\":\n    USER = os.getuid()\n"),
        (Python, "import os\n\ndef f():\n    if os.name == \"nt\":\n        return None\n    return os.getuid()\n"),
        (Python, "import os\n\nUSER = os.getuid() if hasattr(os, \"getuid\") else None\n"),
        (JavaScript, "const user = process.getuid?.();\n"),
        (JavaScript, "const isRoot = process.getuid && process.getuid() === 0;\n"),
        (JavaScript, "process.kill(pid, 'SIGTERM');\n"),
        (JavaScript, "const user = process.platform === 'win32' ? null : process.getuid();\n"),
        (Rust, concat!("#[cfg", "(unix)]\nuse std:", ":os::unix::fs::PermissionsExt;\n")),
        (Rust, concat!("fn f(pid: i32) {\n    #[cfg", "(unix)]\n    libc:", ":kill(pid, 15);\n}\n")),
        (Rust, concat!("fn f() -> i32 { libc:", ":EINVAL }\n")),
        (Go, "//go:build unix\n\npackage a\n\nfunc f(pid int) { syscall.Kill(pid, syscall.SIGTERM) }\n"),
    ],
    seen: Seen {
        found: 50,
        right: 9,
        wrong: 41,
        remark: "of the 11 places in projects of hooks 8 are right. In CPython's library most of what it finds is asked for elsewhere, in the module that imports it, or lies in a module that only POSIX has: hence a note.",
    },
    find,
};

/// Apart, since this crate itself must not import it here, and a test looks for that.
const UNIX: &str = concat!("std:", ":os::unix");
const C_LIBRARY: &str = concat!("libc:", ":");

/// Modules of Python's library that Windows has not.
const MODULES: &[&str] = &[
    "fcntl", "pwd", "grp", "termios", "tty", "pty", "resource", "syslog", "posix", "spwd", "crypt", "nis", "readline",
    "curses",
];

/// Attributes of modules that are missing there.
const ATTRIBUTES: &[(&str, &[&str])] = &[
    (
        "os",
        &[
            "fork",
            "forkpty",
            "setsid",
            "getsid",
            "getuid",
            "geteuid",
            "getgid",
            "getegid",
            "getgroups",
            "setuid",
            "setgid",
            "seteuid",
            "setegid",
            "setreuid",
            "getpgid",
            "getpgrp",
            "setpgid",
            "setpgrp",
            "killpg",
            "mkfifo",
            "mknod",
            "chown",
            "lchown",
            "fchown",
            "chroot",
            "nice",
            "wait",
            "wait3",
            "wait4",
            "WNOHANG",
            "uname",
            "getloadavg",
            "openpty",
            "statvfs",
            "fstatvfs",
            "ctermid",
            "tcgetpgrp",
            "tcsetpgrp",
            "O_CLOEXEC",
            "O_DIRECTORY",
            "O_NOFOLLOW",
            "O_NONBLOCK",
            "O_SYNC",
            "WIFEXITED",
            "WEXITSTATUS",
            "WIFSIGNALED",
            "WTERMSIG",
            "sched_getaffinity",
            "sysconf",
            "posix_spawn",
            "getpriority",
            "setpriority",
            "pread",
            "pwrite",
            "lockf",
            "F_LOCK",
            "getresuid",
            "initgroups",
            "waitid",
            "WIFSTOPPED",
            "WUNTRACED",
            "major",
            "minor",
            "pathconf",
            "getgrouplist",
            "fchmod",
            "lchmod",
            "ttyname",
            "setresuid",
            "setresgid",
            "setregid",
            "setgroups",
            "fpathconf",
            "posix_fallocate",
            "posix_fadvise",
            "readv",
            "writev",
            "sendfile",
            "sched_yield",
            "pipe2",
            "confstr",
            "sync",
            "fdatasync",
        ],
    ),
    (
        "signal",
        &[
            "SIGKILL",
            "SIGHUP",
            "SIGALRM",
            "SIGUSR1",
            "SIGUSR2",
            "SIGCHLD",
            "SIGQUIT",
            "SIGSTOP",
            "SIGCONT",
            "SIGPIPE",
            "SIGTSTP",
            "SIGTTIN",
            "SIGTTOU",
            "SIGWINCH",
            "alarm",
            "setitimer",
            "getitimer",
            "pause",
            "sigwait",
            "pthread_kill",
            "pthread_sigmask",
            "siginterrupt",
        ],
    ),
    ("socket", &["AF_UNIX", "socketpair_unix", "SO_PEERCRED", "send_fds", "recv_fds"]),
    ("asyncio", &["start_unix_server", "open_unix_connection"]),
    ("select", &["poll", "epoll", "kqueue"]),
    ("time", &["tzset"]),
    ("socketserver", &["UnixStreamServer", "UnixDatagramServer", "ForkingMixIn", "ForkingTCPServer"]),
];

/// Keywords of `Popen` that it refuses there.
const KEYWORDS: &[&str] = &["preexec_fn", "pass_fds", "user", "group", "extra_groups", "umask", "process_group"];

/// An expression for what Python has of these.
fn in_python() -> String {
    let modules = MODULES.join("|");
    let of = ATTRIBUTES.iter().map(|(module, _)| *module).collect::<Vec<_>>().join("|");
    let names = ATTRIBUTES.iter().flat_map(|(_, names)| names.iter().copied()).collect::<Vec<_>>().join("|");
    // In an import a backslash may stand before the end of a line. Where a name is to come, the parser takes a line that ends
    // without one for granted.
    let gap = r"(?:[\s\\]|#[^\n]*\n)";
    let line = format!(r"(?:[^\n\\]|\\\s*|,{gap}*)*");
    [
        format!(r"\b(?:import|from)\b{gap}*{line}\b(?:{modules})\b"),
        format!(r"\b(?:{of})\s*(?:[#\\]|\.\s*(?:[#\\]|(?:{names})\b))"),
        format!(r"\b(?:{of})\s+as\b"),
        format!(r"\bfrom{gap}+(?:{of}){gap}+import{gap}*(?:\(|{line}\b(?:{names})\b)"),
    ]
    .join("|")
}

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    // Files and folders that are named after a system are chosen by it.
    if source.is_for_posix() {
        return;
    }
    // A thing that is missing is told once: who mends one place looks for the others.
    let mut told = BTreeSet::new();
    let mut ended = false;
    let mut add = |node: Node<'_>, what: String| {
        if source.is_guarded(node) || ended || !told.insert(what.clone()) {
            return;
        }
        // With an import that fails at its beginning the rest of a file is never reached.
        ended = what.starts_with("Windows has no module") && scope(node) == node.root();
        hits.push(Hit::at(node, format!("{what}, and nothing here asks for the system")));
    };
    match source.language {
        Python => python(source, &mut add),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script(source, &mut add),
        Rust => rust(source, &mut add),
        Go => go(source, &mut add),
        Language::Shell => {}
    }
}

fn python<'s>(source: &Source<'s>, add: &mut impl FnMut(Node<'s>, String)) {
    for node in source.syntax.nodes() {
        match node.kind() {
            "import_statement" => {
                for part in node.children().filter(|part| part.field() == Some("name")) {
                    let module = part.child("name").unwrap_or(part).text();
                    if MODULES.contains(&module) {
                        add(part, format!("Windows has no module {module}"));
                    }
                }
            }
            "import_from_statement" => {
                let Some(module) = node.child("module_name") else { continue };
                if MODULES.contains(&module.text()) {
                    add(module, format!("Windows has no module {}", module.text()));
                } else if let Some((_, missing)) = ATTRIBUTES.iter().find(|(known, _)| *known == module.text()) {
                    for part in node.children().filter(|part| part.field() == Some("name")) {
                        let name = part.child("name").unwrap_or(part).text();
                        if missing.contains(&name) {
                            add(part, format!("Windows has no {}.{name}", module.text()));
                        }
                    }
                }
            }
            "attribute" => {
                let (Some(object), Some(last)) = (node.child("object"), node.child("attribute")) else { continue };
                // What is given something is a test's own.
                if object.kind() != "identifier" || node.field() == Some("left") {
                    continue;
                }
                let module = source.name_of(object);
                let missing = ATTRIBUTES.iter().find(|(known, _)| *known == module);
                if missing.is_some_and(|(_, missing)| missing.contains(&last.text())) {
                    add(node, format!("Windows has no {module}.{}", last.text()));
                }
            }
            _ => {}
        }
    }
    for call in source.calls_of(PYTHON_STARTERS) {
        for keyword in
            KEYWORDS.iter().filter(|keyword| call.keyword(keyword).is_some_and(|value| value.text() != "None"))
        {
            add(call.node, format!("Windows' {} refuses {keyword}", call.method()));
        }
    }
    for call in source.calls_of(&["multiprocessing.get_context", "multiprocessing.set_start_method"]) {
        let how = call.positional.first().and_then(|how| literal(*how));
        if let Some(how) = how.filter(|how| matches!(how.as_str(), "fork" | "forkserver")) {
            add(call.node, format!("Windows' multiprocessing has no {how}"));
        }
    }
    for call in source.calls.iter().filter(|call| call.method() == "add_signal_handler") {
        add(call.node, "Windows' event loops have no add_signal_handler".to_owned());
    }
}

fn script<'s>(source: &Source<'s>, add: &mut impl FnMut(Node<'s>, String)) {
    const FUNCTIONS: &[&str] = &[
        "process.getuid",
        "process.geteuid",
        "process.getgid",
        "process.getegid",
        "process.setuid",
        "process.setgid",
        "process.seteuid",
        "process.setegid",
        "process.setgroups",
        "process.initgroups",
        "process.getgroups",
    ];
    for call in source.calls_of(FUNCTIONS) {
        // `process.getuid?.()` asks.
        let asks = call.node.descendants().any(|node| node.kind() == "optional_chain" || node.text() == "?.");
        if !asks {
            add(call.node, format!("on Windows there is no {}", call.name));
        }
    }
    // node's on Windows knows INT, TERM, KILL and QUIT, and no groups of processes.
    for call in source.calls_of(&["process.kill"]) {
        let signal = call.positional.get(1).and_then(|signal| literal(*signal));
        if let Some(signal) = signal.filter(|signal| SIGNALS.contains(&signal.as_str())) {
            add(call.node, format!("Windows has no {signal}"));
        } else if call
            .positional
            .first()
            .is_some_and(|pid| pid.kind() == "unary_expression" && pid.text().starts_with('-'))
        {
            add(call.node, "Windows has no groups of processes".to_owned());
        }
    }
}

/// Signals that `process.kill` refuses there.
const SIGNALS: &[&str] =
    &["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGSTOP", "SIGCONT", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGWINCH", "SIGTSTP"];

fn rust<'s>(source: &Source<'s>, add: &mut impl FnMut(Node<'s>, String)) {
    for node in source.syntax.nodes() {
        match node.kind() {
            "use_declaration" => {
                let Some(path) = node.child("argument") else { continue };
                if path.text().starts_with(UNIX) {
                    add(node, format!("Windows has no {UNIX}"));
                } else if path.text().starts_with("tokio::signal::unix") {
                    add(node, "Windows has no tokio::signal::unix".to_owned());
                } else if path.text() == "nix" || path.text().starts_with("nix::") {
                    add(node, "Windows has no nix".to_owned());
                }
            }
            // `std::os::unix::fs::symlink(…)`, `libc::kill(…)`, each once, as a whole.
            "scoped_identifier" if node.parent().is_none_or(|parent| !is_path_of_rust(parent)) => {
                let text = node.text();
                if text.starts_with(UNIX) {
                    add(node, format!("Windows has no {UNIX}"));
                } else if let Some(name) = text.strip_prefix(C_LIBRARY).filter(|name| LIBC.contains(name)) {
                    add(node, format!("Windows' libc has no {name}"));
                }
            }
            _ => {}
        }
    }
}

fn is_path_of_rust(node: Node<'_>) -> bool {
    matches!(node.kind(), "scoped_identifier" | "scoped_use_list" | "use_declaration" | "use_as_clause" | "use_list")
}

/// Of C's library, what Windows' has not.
const LIBC: &[&str] = &[
    "fork", "kill", "killpg", "setsid", "setpgid", "getuid", "geteuid", "getgid", "getppid", "flock", "mkfifo",
    "umask", "waitpid", "chown", "prctl", "SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE",
];

fn go<'s>(source: &Source<'s>, add: &mut impl FnMut(Node<'s>, String)) {
    for call in source.calls_of(&[
        "syscall.Kill",
        "syscall.Getpgid",
        "syscall.Setsid",
        "syscall.Flock",
        "syscall.Mkfifo",
        "syscall.Umask",
        "syscall.Setpgid",
        "syscall.Getpgrp",
        "syscall.Fork",
        "syscall.Stat",
        "syscall.Statfs",
        "syscall.Exec",
        "syscall.Mknod",
        "syscall.Wait4",
        "syscall.Setrlimit",
    ]) {
        add(call.node, format!("Windows has no {}", call.name));
    }
    for node in source.syntax.nodes().filter(|node| node.kind() == "selector_expression") {
        let missing = ["syscall.SIGUSR1", "syscall.SIGUSR2", "syscall.SIGCHLD", "syscall.SIGSTOP", "syscall.SIGCONT"];
        if missing.contains(&node.text()) {
            add(node, format!("Windows has no {}", node.text()));
        }
    }
    for node in source.syntax.nodes().filter(|node| node.kind() == "import_spec") {
        let path = node.child("path").and_then(literal);
        if path.as_deref() == Some("golang.org/x/sys/unix") {
            add(node, "Windows has no golang.org/x/sys/unix".to_owned());
        }
    }
    for node in source.syntax.nodes().filter(|node| node.kind() == "composite_literal") {
        let is_attr = node.child("type").is_some_and(|name| name.text() == "syscall.SysProcAttr");
        let key = node.descendants().find(|part| {
            part.kind() == "identifier"
                && matches!(part.text(), "Setsid" | "Setpgid" | "Setctty" | "Pdeathsig" | "Credential")
        });
        if let Some(key) = key.filter(|_| is_attr) {
            add(node, format!("Windows' SysProcAttr has no {}", key.text()));
        }
    }
}
