//! Whose code a file is, and what to call it. Decided from the text of the path alone: nothing is looked up.

use std::path::Path;

use super::Context;

/// The name by which to show a file of the project's own code; `None` if it is foreign.
///
/// Foreign are installed packages, Python's standard library, the library folders of virtual environments, node's own
/// modules, what cargo fetched, Rust's and Go's standard libraries, Go's module cache, and what is no file at all
/// (`<string>`, `<frozen …>`). Everything else is the project's own. Of a file inside the project or the
/// check's folder only the part below counts, so that a project may itself live under `site-packages`.
///
/// The name is relative to the project if the file lies in it or is a copy of one that does, else to the check's folder,
/// else as it was printed. A `file:` URL is the path that it names.
pub fn own_name(file: &str, context: &Context<'_>) -> Option<String> {
    if file.is_empty() || file.starts_with('<') || file.starts_with("node:") {
        return None;
    }
    let named = file.strip_prefix("file://").map(path_of_url);
    let file = named.as_deref().unwrap_or(file);
    let windows = is_windows(file);
    let parts = components(file, windows);
    let separator = if file.contains('\\') && windows { "\\" } else { "/" };
    let project = base(context.project, windows);
    let cwd = base(context.cwd, windows);

    if !is_absolute(file, windows) {
        let mut whole = cwd.clone();
        for &part in &parts {
            if part == ".." {
                whole.pop();
            } else {
                whole.push(part.to_owned());
            }
        }
        let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
        if let Some(name) = original(&whole, context, windows, separator) {
            return Some(name);
        }
        if let Some(below) = below(&whole, &project, windows) {
            return (!is_foreign(below, windows)).then(|| below.join(separator));
        }
        return (!is_foreign(&parts, windows)).then(|| parts.join(separator));
    }
    if let Some(name) = original(&parts, context, windows, separator) {
        return Some(name);
    }
    for base in [&project, &cwd] {
        if let Some(below) = below(&parts, base, windows) {
            return (!is_foreign(below, windows)).then(|| below.join(separator));
        }
    }
    (!is_foreign(&parts, windows)).then(|| file.to_owned())
}

/// What a file in a copy of a part of the project is a copy of.
fn original(parts: &[&str], context: &Context<'_>, windows: bool, separator: &str) -> Option<String> {
    context.copies.iter().find_map(|(copy, original)| {
        let copy = base(copy, windows);
        let exact = parts.len() == copy.len() && parts.iter().zip(&copy).all(|(a, b)| a == b);
        let below = if exact { &[][..] } else { below(parts, &copy, windows)? };
        if is_foreign(below, windows) {
            return None;
        }
        let original = components(original, windows);
        Some(original.iter().chain(below).copied().collect::<Vec<_>>().join(separator))
    })
}

/// The path that a `file:` URL names, without the empty or `localhost` host before it.
fn path_of_url(rest: &str) -> String {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = path.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    let decoded = String::from_utf8_lossy(&decoded).into_owned();
    // `/C:/x` is `C:/x` on the system that has drives.
    match decoded.as_bytes() {
        [b'/', drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => decoded[1..].to_owned(),
        _ => decoded,
    }
}

fn is_windows(file: &str) -> bool {
    let bytes = file.as_bytes();
    let drive =
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/');
    drive || (file.contains('\\') && !file.contains('/'))
}

fn is_absolute(file: &str, windows: bool) -> bool {
    file.starts_with('/') || (windows && (file.starts_with('\\') || file.as_bytes().get(1) == Some(&b':')))
}

fn components(file: &str, windows: bool) -> Vec<&str> {
    let parts = file.split(|c| c == '/' || (windows && c == '\\'));
    let mut parts: Vec<_> = parts.filter(|part| !part.is_empty() && *part != ".").collect();
    // macOS keeps /var and /tmp in /private; a name with it and one without are the same place.
    if file.starts_with("/private/") && matches!(parts.get(1), Some(&("var" | "tmp"))) {
        parts.remove(0);
    }
    parts
}

fn base(path: &Path, windows: bool) -> Vec<String> {
    components(&path.to_string_lossy(), windows).into_iter().map(str::to_owned).collect()
}

/// What of the path is below the base.
fn below<'a, 'p>(parts: &'a [&'p str], base: &[String], windows: bool) -> Option<&'a [&'p str]> {
    let same = |a: &str, b: &str| if windows { a.eq_ignore_ascii_case(b) } else { a == b };
    let inside = !base.is_empty() && parts.len() > base.len() && parts.iter().zip(base).all(|(a, b)| same(a, b));
    inside.then(|| &parts[base.len()..])
}

/// Folders of Go's standard library.
pub const GO: [&str; 24] = [
    "bufio", "bytes", "context", "database", "encoding", "errors", "fmt", "internal", "io", "log", "math", "net", "os",
    "path", "reflect", "regexp", "runtime", "sort", "strconv", "strings", "sync", "syscall", "testing", "time",
];

/// `go`, `go1.22.3`, `go-1.19`.
fn is_go(part: &str) -> bool {
    let version = part.strip_prefix("go").map(|rest| rest.trim_start_matches('-'));
    version.is_some_and(|version| version.is_empty() || version.starts_with("1."))
}

fn ends_in_hex(part: &str, digits: usize) -> bool {
    part.len() >= digits && part.bytes().rev().take(digits).all(|byte| byte.is_ascii_hexdigit())
}

fn is_foreign(parts: &[&str], windows: bool) -> bool {
    let python = |part: &str| {
        let part = part.to_ascii_lowercase();
        part.starts_with("python") || part.starts_with("pypy")
    };
    parts.iter().enumerate().any(|(at, &part)| {
        let next = parts.get(at + 1).copied().unwrap_or_default();
        match part {
            ".cargo" => matches!(next, "registry" | "git"),
            "registry" => next == "src" && parts.get(at + 2).is_some_and(|index| ends_in_hex(index, 16)),
            "rustlib" => next == "src",
            "rustc" => at == 0 && ends_in_hex(next, 40),
            "pkg" => next == "mod",
            "src" if GO.contains(&next) => parts[at.saturating_sub(3)..at].iter().any(|part| is_go(part)),
            _ if part.starts_with("rustc-") => next == "library",
            "site-packages" | "dist-packages" | "node_modules"
            // Perl's own library and installed modules.
            | "perl5" | "perl-base" | "site_perl" | "vendor_perl"
            // What bats suites keep as submodules.
            | "bats-core" | "bats-support" | "bats-assert" | "bats-file" | "bats-detik" | "bats-mock" => true,
            "perl" => next.starts_with("5."),
            ".venv" | "venv" => matches!(next, "lib" | "lib64" | "Lib" | "bin" | "Scripts"),
            "lib" | "lib64" if python(next) => true,
            _ if windows && part.eq_ignore_ascii_case("lib") => parts[..at].iter().any(|part| python(part)),
            _ => python(part) && Path::new(part).extension().is_some_and(|zip| zip == "zip"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(file: &str) -> Option<String> {
        own_name(file, &Context::new(Path::new("/p"), Path::new("/p/sub")))
    }

    #[test]
    fn own_files_are_named_relative_to_the_project() {
        for (file, expected) in [
            ("/p/hooks/a.py", "hooks/a.py"),
            ("a.py", "sub/a.py"),
            ("./a.py", "sub/a.py"),
            ("../hooks/a.py", "hooks/a.py"),
            ("../../elsewhere/a.py", "../../elsewhere/a.py"),
            ("/elsewhere/a.py", "/elsewhere/a.py"),
            ("/p", "/p"),
            ("/p2/a.py", "/p2/a.py"),
            ("/p/venv/a.py", "venv/a.py"),
            ("/home/u/go/src/example.com/x/x.go", "/home/u/go/src/example.com/x/x.go"),
            ("/p/src/net/x.go", "src/net/x.go"),
            ("/p/registry/src/main.rs", "registry/src/main.rs"),
        ] {
            assert_eq!(name(file).as_deref(), Some(expected), "{file}");
        }
    }

    #[test]
    fn foreign_files_have_no_name() {
        for file in [
            "",
            "<string>",
            "<frozen importlib._bootstrap>",
            "node:fs",
            "node:internal/modules/cjs/loader",
            "/usr/lib/python3.11/json/__init__.py",
            "/usr/lib/python3/dist-packages/x.py",
            "/opt/x/lib64/python3.13/os.py",
            "/opt/x/lib/pypy3.10/os.py",
            "/opt/x/lib/python311.zip/os.py",
            "/home/u/.local/lib/python3.11/site-packages/x.py",
            "/p/site-packages/x.py",
            "/p/.venv/lib/python3.11/os.py",
            "venv/bin/x.py",
            "node_modules/x/y.py",
            "/home/u/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/bytes-1.11.1/src/bytes.rs",
            "/usr/local/cargo/registry/src/index.crates.io-1949cf8c6b5b557f/bytes-1.11.1/src/bytes.rs",
            "/home/u/.cargo/git/checkouts/x-1/src/lib.rs",
            "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/iter/adapters/step_by.rs",
            "/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/x.rs",
            "/usr/src/rustc-1.63.0/library/core/src/x.rs",
            "/usr/lib/go-1.19/src/runtime/panic.go",
            "/opt/hostedtoolcache/go/1.21.0/x64/src/testing/testing.go",
            "/home/u/go/pkg/mod/example.com/x@v1.2.3/x.go",
            "/usr/share/perl/5.36/Test/More.pm",
            "/usr/share/perl5/JSON.pm",
            "/usr/lib/x86_64-linux-gnu/perl-base/strict.pm",
            "/usr/local/share/perl/5.36.0/X.pm",
            "test/test_helper/bats-assert/src/assert.bash",
            r"C:\Python311\Lib\unittest\case.py",
            r"C:\Users\u\AppData\Local\Programs\Python\Python313\lib\os.py",
        ] {
            assert_eq!(name(file), None, "{file}");
        }
    }

    #[test]
    fn a_project_below_installed_packages_is_own() {
        let project = Path::new("/usr/lib/python3/dist-packages/mine");
        let context = Context::new(project, project);
        assert_eq!(own_name("/usr/lib/python3/dist-packages/mine/t.py", &context).as_deref(), Some("t.py"));
        assert_eq!(own_name("/usr/lib/python3/dist-packages/other/t.py", &context), None);
    }

    #[test]
    fn the_sandbox_is_the_second_base() {
        let context = Context::new(Path::new("/p"), Path::new("/var/box/work"));
        assert_eq!(own_name("/var/box/work/t.py", &context).as_deref(), Some("t.py"));
        assert_eq!(own_name("/private/var/box/work/t.py", &context).as_deref(), Some("t.py"));
        assert_eq!(own_name("t.py", &context).as_deref(), Some("t.py"));
    }

    #[test]
    fn windows_paths_are_compared_without_case() {
        let context = Context::new(Path::new(r"C:\Work\proj"), Path::new(r"C:\Work\proj"));
        assert_eq!(own_name(r"c:\work\Proj\hooks\t.py", &context).as_deref(), Some(r"hooks\t.py"));
        assert_eq!(own_name(r"hooks\t.py", &context).as_deref(), Some(r"hooks\t.py"));
        assert_eq!(own_name(r"C:\Work\proj\lib\t.py", &context).as_deref(), Some(r"lib\t.py"));
        assert_eq!(own_name(r"D:\other\t.py", &context).as_deref(), Some(r"D:\other\t.py"));
    }

    #[test]
    fn a_url_is_the_path_that_it_names() {
        assert_eq!(name("file:///p/my%20(top)%20dir/%C3%A9.mjs").as_deref(), Some("my (top) dir/é.mjs"));
        assert_eq!(name("file://localhost/p/a.mjs").as_deref(), Some("a.mjs"));
        assert_eq!(name("file:///p/100%.mjs").as_deref(), Some("100%.mjs"));
        assert_eq!(name("file:///D:/x/a.mjs").as_deref(), Some("D:/x/a.mjs"));
        assert_eq!(name("file:///p/node_modules/x/a.mjs"), None);
    }

    #[test]
    fn a_copy_has_the_name_of_what_it_is_a_copy_of() {
        let copies =
            [("/box/work/hooks".into(), "src/hooks".to_owned()), ("/box/work/t.py".into(), "tests/t.py".to_owned())];
        let context = Context { copies: &copies, ..Context::new(Path::new("/p"), Path::new("/box/work")) };
        for (file, expected) in [
            ("/box/work/hooks/a.py", "src/hooks/a.py"),
            ("hooks/a.py", "src/hooks/a.py"),
            ("./t.py", "tests/t.py"),
            ("/box/work/other.py", "other.py"),
            ("hooks2/a.py", "hooks2/a.py"),
        ] {
            assert_eq!(own_name(file, &context).as_deref(), Some(expected), "{file}");
        }
        assert_eq!(own_name("hooks/node_modules/a.js", &context), None);
    }
}
