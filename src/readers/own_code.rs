//! Whose code a file is, and what to call it. Decided from the text of the path alone: nothing is looked up.

use std::path::Path;

use super::Context;

/// The name by which to show a file of the project's own code; `None` if it is foreign.
///
/// Foreign are installed packages, Python's standard library, the library folders of virtual environments, and what is
/// no file at all (`<string>`, `<frozen …>`). Everything else is the project's own. Of a file inside the project or the
/// check's folder only the part below counts, so that a project may itself live under `site-packages`.
///
/// The name is relative to the project if the file lies in it, else to the check's folder, else as it was printed.
pub fn own_name(file: &str, context: &Context<'_>) -> Option<String> {
    if file.is_empty() || file.starts_with('<') {
        return None;
    }
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
        if let Some(below) = below(&whole, &project, windows) {
            return (!is_foreign(below, windows)).then(|| below.join(separator));
        }
        return (!is_foreign(&parts, windows)).then(|| parts.join(separator));
    }
    for base in [&project, &cwd] {
        if let Some(below) = below(&parts, base, windows) {
            return (!is_foreign(below, windows)).then(|| below.join(separator));
        }
    }
    (!is_foreign(&parts, windows)).then(|| file.to_owned())
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

fn is_foreign(parts: &[&str], windows: bool) -> bool {
    let python = |part: &str| {
        let part = part.to_ascii_lowercase();
        part.starts_with("python") || part.starts_with("pypy")
    };
    parts.iter().enumerate().any(|(at, &part)| {
        let next = parts.get(at + 1).copied().unwrap_or_default();
        match part {
            "site-packages" | "dist-packages" | "node_modules" => true,
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
        own_name(file, &Context { argv: &[], project: Path::new("/p"), cwd: Path::new("/p/sub"), exit: None })
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
            r"C:\Python311\Lib\unittest\case.py",
            r"C:\Users\u\AppData\Local\Programs\Python\Python313\lib\os.py",
        ] {
            assert_eq!(name(file), None, "{file}");
        }
    }

    #[test]
    fn a_project_below_installed_packages_is_own() {
        let project = Path::new("/usr/lib/python3/dist-packages/mine");
        let context = Context { argv: &[], project, cwd: project, exit: None };
        assert_eq!(own_name("/usr/lib/python3/dist-packages/mine/t.py", &context).as_deref(), Some("t.py"));
        assert_eq!(own_name("/usr/lib/python3/dist-packages/other/t.py", &context), None);
    }

    #[test]
    fn the_sandbox_is_the_second_base() {
        let context = Context { argv: &[], project: Path::new("/p"), cwd: Path::new("/var/box/work"), exit: None };
        assert_eq!(own_name("/var/box/work/t.py", &context).as_deref(), Some("t.py"));
        assert_eq!(own_name("/private/var/box/work/t.py", &context).as_deref(), Some("t.py"));
        assert_eq!(own_name("t.py", &context).as_deref(), Some("t.py"));
    }

    #[test]
    fn windows_paths_are_compared_without_case() {
        let context =
            Context { argv: &[], project: Path::new(r"C:\Work\proj"), cwd: Path::new(r"C:\Work\proj"), exit: None };
        assert_eq!(own_name(r"c:\work\Proj\hooks\t.py", &context).as_deref(), Some(r"hooks\t.py"));
        assert_eq!(own_name(r"hooks\t.py", &context).as_deref(), Some(r"hooks\t.py"));
        assert_eq!(own_name(r"C:\Work\proj\lib\t.py", &context).as_deref(), Some(r"lib\t.py"));
        assert_eq!(own_name(r"D:\other\t.py", &context).as_deref(), Some(r"D:\other\t.py"));
    }
}
