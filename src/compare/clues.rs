//! What a failure says of the facts that could explain it.
//!
//! A clue is a word of the failure, the fact that it speaks of, and how many of 80 points that is worth. Some clues count
//! only if the fact's values fit: that an error was *not* raised speaks of root only where the red run was root's.

use super::facts::{
    ARCH, CAPABILITIES, CODE_PAGES, CONTAINER, HOME, HOME_SETTINGS, INIT, KERNEL, LIBC, LIMIT, LOCALE, NETWORK,
    NO_NEW_PRIVS, OS, OS_VERSION, PATH, PROCESSORS, RULES, SECCOMP, SH, SHM, TEMP_CASE, TEMP_EXECUTABLE,
    TEMP_FILESYSTEM, TEMP_FREE, TEMP_LENGTH, TEMP_SIZE, TERMINAL, TIME_ZONE, UID, ZONEINFO,
};

/// The fact's value where it is red, and where it is green.
type Fits = fn(&str, &str) -> bool;

/// One kind of clue.
pub struct Clue {
    pub fact: &'static str,
    /// In small letters, with `|` between them; one of them is enough.
    pub words: &'static str,
    /// Of 80.
    pub points: u64,
    pub fits: Fits,
    /// Why that word speaks of that fact.
    pub because: &'static str,
}

const ANY: Fits = |_, _| true;
const RED_IS_ROOT: Fits = |red, _| red.starts_with("0 ");
const GREEN_IS_ROOT: Fits = |_, green| green.starts_with("0 ");
const RED_IS_LESS: Fits = |red, green| number(red) < number(green);
const RED_IS_MORE: Fits = |red, green| number(red) > number(green);

/// A number with its unit; what has no limit is more than any.
fn number(text: &str) -> u64 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let unit = match text.trim_start_matches(|c: char| c.is_ascii_digit()).trim() {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => 1,
    };
    let none = if text == "none" { 0 } else { u64::MAX };
    digits.parse::<u64>().map_or(none, |number| number.saturating_mul(unit))
}

/// Whether a text has a word: a number as a whole, and an escape as one (`\\u2713`, and not `C:\\users`).
pub fn is_in(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let mut rest = text[at + word.len()..].chars();
        if word.ends_with("\\u") || word.ends_with("\\x") {
            rest.by_ref().take(2).filter(char::is_ascii_hexdigit).count() == 2
        } else {
            !word.ends_with(|c: char| c.is_ascii_digit()) || !rest.next().is_some_and(|c| c.is_ascii_digit())
        }
    })
}

const fn clue(fact: &'static str, points: u64, words: &'static str, fits: Fits, because: &'static str) -> Clue {
    Clue { fact, words, points, fits, because }
}

const DENIED: &str = "permission denied|permissionerror: [errno|operation not permitted|eacces|eperm|\
         must be root";

/// All clues that are words.
pub const CLUES: &[Clue] = &[
    clue(
        RULES,
        80,
        "refused-by-windows|windows refuses|device or resource busy|winerror|ebusy",
        ANY,
        "that is what Windows' rules refuse",
    ),
    clue(
        OS,
        78,
        "winerror|being used by another process|refused-by-windows|held-directory|held-file",
        |red, green| red == "windows" || green == "windows",
        "Windows refuses to remove what somebody holds, and others don't",
    ),
    clue(OS, 50, "\\\\|\\r\\n|no module named 'fcntl'|no module named 'pwd'|os.fork", ANY, "systems differ in it"),
    clue(
        UID,
        78,
        "permissionerror not raised|did not raise|not raised|no exception|should have failed|\
         didn't raise",
        RED_IS_ROOT,
        "root may do what others may not, so that nothing was refused",
    ),
    clue(UID, 74, DENIED, GREEN_IS_ROOT, "root may do that, and others may not"),
    clue(UID, 70, "as root|not root|root user|superuser|geteuid|getuid|sudo", ANY, "it speaks of who runs it"),
    clue(
        CAPABILITIES,
        58,
        "operation not permitted|eperm|capab|cap_|mount:|unshare|ptrace",
        ANY,
        "what a user may do is in the capabilities",
    ),
    clue(NO_NEW_PRIVS, 74, "no new privileges|setuid|effective uid is not 0", ANY, "no program gains rights there"),
    clue(SECCOMP, 70, "bad system call|sigsys|function not implemented|enosys", ANY, "a filter answers so"),
    clue(SECCOMP, 50, "operation not permitted|eperm", ANY, "a filter may answer so"),
    clue(KERNEL, 62, "function not implemented|enosys|not supported by the kernel", ANY, "kernels differ in it"),
    clue(
        LOCALE,
        78,
        "unicodeencodeerror|unicodedecodeerror|codec can't|invalid byte sequence|\
         illegal byte sequence|surrogates not allowed|unsupported locale|\
         incompatible character encodings|invalid multibyte|cannot set lc_",
        ANY,
        "the locale says how text is written",
    ),
    clue(LOCALE, 44, "locale|collat|ascii|\\u|\\x", ANY, "the locale says how text is written and sorted"),
    clue(
        CODE_PAGES,
        76,
        "charmap|cp125|cp437|cp850|unicodeencodeerror|unicodedecodeerror",
        ANY,
        "the code page says how text is written",
    ),
    clue(
        TIME_ZONE,
        62,
        "timezone|time zone|tzinfo|zoneinfo|localtime|utcoffset|offset-naive|strftime",
        ANY,
        "it speaks of local time",
    ),
    clue(
        ZONEINFO,
        78,
        "no time zone found|zoneinfonotfounderror|unknown time zone|unknown timezone",
        |red, _| red == "missing",
        "the table of time zones is missing there",
    ),
    clue(
        TEMP_LENGTH,
        80,
        "af_unix path too long|path too long|file name too long|enametoolong|sun_path|sun_len|\
         unix socket path|path_max",
        RED_IS_MORE,
        "the sandbox's path is longer there: that is the place, not the code; let HOSTPROOF_TMPDIR name a shorter one",
    ),
    clue(TEMP_FREE, 78, "no space left|enospc|disk quota|disk full", RED_IS_LESS, "there was less room there"),
    clue(TEMP_SIZE, 74, "no space left|enospc|disk quota|disk full", RED_IS_LESS, "the file system is smaller there"),
    clue(
        TEMP_EXECUTABLE,
        76,
        "permission denied|eacces|cannot execute|failed to map segment",
        |red, _| red.contains("noexec"),
        "no program starts from there",
    ),
    clue(
        TEMP_CASE,
        72,
        "case-insensitive|case-sensitive|casefold|ignoring case|differ in case|illegal-name",
        ANY,
        "file systems differ in whether they tell a from A",
    ),
    clue(
        TEMP_FILESYSTEM,
        74,
        "cross-device link|exdev|stale file handle|operation not supported|enotsup|eopnotsupp|\
         extended attribute|xattr|hard link|no locks available",
        ANY,
        "file systems differ in it",
    ),
    clue(
        TEMP_FILESYSTEM,
        40,
        "mtime|st_mtime|inode|st_ino|st_nlink|st_size|flock|fsync|inotify",
        ANY,
        "file systems differ in it",
    ),
    clue(
        SHM,
        78,
        "/dev/shm|bus error|sigbus|sharedmemory|shm_open|semlock",
        RED_IS_LESS,
        "there is less shared memory there",
    ),
    clue(
        INIT,
        64,
        "zombie|defunct|no child processes|echild|not reaped|getppid|ppid|orphan|setsid|\
         still alive|did not terminate|sigterm",
        ANY,
        "what process 1 is decides who reaps orphans and how signals act",
    ),
    clue(CONTAINER, 44, "zombie|pid 1|cgroup|hostname|/proc/|/sys/", ANY, "containers differ in it"),
    clue(HOME, 66, "$home|~/|getpwuid|expanduser|home directory", ANY, "it speaks of the home"),
    clue(
        HOME_SETTINGS,
        70,
        "user.name|user.email|please tell me who you are|.gitconfig|gitconfig|.config|dotfile|\
         no configuration|rc file",
        ANY,
        "it speaks of the user's settings",
    ),
    clue(
        PATH,
        60,
        "command not found|: not found|not found in $path|not on path|not in path",
        ANY,
        "programs are looked for there",
    ),
    clue(PATH, 36, "enoent|no such file or directory", ANY, "programs are looked for there"),
    clue(
        SH,
        78,
        "bad substitution|[[: not found|illegal option -o pipefail|unexpected operator|\
         declare: not found|source: not found|busybox|syntax error: |sh: 1:|/bin/sh",
        ANY,
        "shells differ in what they take",
    ),
    clue(
        TERMINAL,
        74,
        "not a tty|isatty|inappropriate ioctl|enotty|controlling terminal|/dev/tty|\
         term environment variable|setupterm|terminal_size",
        ANY,
        "it wants a terminal",
    ),
    clue(
        NETWORK,
        78,
        "network is unreachable|name or service not known|name resolution|getaddrinfo|eai_again|\
         enotfound|cannot assign requested address|no route to host|could not resolve",
        ANY,
        "the network is another one",
    ),
    clue(NETWORK, 36, "connection refused|timed out", ANY, "the network may be another one"),
    clue(
        LIBC,
        76,
        "glibc|musl|symbol not found|undefined symbol|symbol lookup|\
         error while loading shared libraries|relocat",
        ANY,
        "it speaks of the C library",
    ),
    clue(
        ARCH,
        80,
        "exec format error|cannot execute binary file|illegal instruction|sigill|bad cpu type",
        ANY,
        "a program for another processor ends so",
    ),
    clue(
        OS_VERSION,
        30,
        "no such option|unknown option|invalid option|unrecognized option|illegal option",
        ANY,
        "versions of programs come with the system",
    ),
    clue(PROCESSORS, 40, "timeout|timed out|timed-out|cpu_count|deadline", ANY, "fewer processors take longer"),
];

/// Clues for the limits, by their names.
pub const LIMITS: &[Clue] = &[
    clue("nofile", 80, "too many open files|emfile", RED_IS_LESS, "fewer files may be open there"),
    clue("nproc", 76, TOO_MANY, RED_IS_LESS, "fewer processes may run there"),
    clue("cgroup.pids", 78, TOO_MANY, RED_IS_LESS, "fewer processes may run there"),
    clue("cgroup.memory", 76, NO_MEMORY, RED_IS_LESS, "there is less memory there"),
    clue("as", 76, NO_MEMORY, RED_IS_LESS, "there is less memory there"),
    clue("fsize", 78, "file too large|efbig|sigxfsz", RED_IS_LESS, "files may be less large there"),
    clue(
        "stack",
        66,
        "stack overflow|recursionerror|sigsegv|segmentation fault",
        RED_IS_LESS,
        "the stack is smaller there",
    ),
    clue("cpu", 74, "sigxcpu|cpu time limit", RED_IS_LESS, "there is less time there"),
    clue("core", 60, "core dump|core file", ANY, "it speaks of core files"),
];

const TOO_MANY: &str = "resource temporarily unavailable|can't start new thread|cannot fork|fork: retry|eagain|\
         blockingioerror";
const NO_MEMORY: &str = "memoryerror|cannot allocate memory|out of memory|enomem|sigkill|bad_alloc";

/// The clue's fact, with limits by their whole names.
pub fn of(fact: &str) -> impl Iterator<Item = &'static Clue> {
    let limit = fact.strip_prefix(LIMIT).map(str::to_owned);
    let name = fact.to_owned();
    let (clues, name) = limit.map_or((CLUES, name), |limit| (LIMITS, limit));
    clues.iter().filter(move |clue| clue.fact == name)
}

#[cfg(test)]
mod tests {
    use super::is_in;

    #[test]
    fn numbers_and_escapes_are_whole() {
        assert!(is_in("it is pid 1 there", "pid 1") && is_in("pid 1", "pid 1"));
        assert!(!is_in("it is pid 1312", "pid 1"));
        assert!(is_in("character '\\u2713'", "\\u") && is_in("b'\\xe9'", "\\x"));
        assert!(!is_in("c:\\users\\xaver", "\\u") && !is_in("c:\\xylophones", "\\x"));
        assert!(is_in("sigtermed", "sigterm"), "other words may go on");
    }
}
