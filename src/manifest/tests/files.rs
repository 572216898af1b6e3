//! Whatever lies in `checks.d` is answered at once, with what to do about it.

use std::fs;

use super::project::Project;

const GOOD: &str = "version: 1\nchecks:\n  - {id: good, run: [x]}\n";

/// The text of the error of a file beside a good one, which is not to blame.
fn error_of(content: impl AsRef<[u8]>) -> String {
    let errors = Project::with(content).file("good.yaml", GOOD).errors();
    assert!(errors.ends_with("\n1 error in 1 file"), "{errors}");
    assert!(errors.contains("--> checks.d/a.yaml"), "{errors}");
    assert!(errors.contains("= help: "), "{errors}");
    errors
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

fn utf32(text: &str, to_bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars().flat_map(|character| to_bytes(character.into())).collect()
}

#[test]
fn other_encodings_are_named() {
    for (mark, name) in [("\u{feff}", "with a mark"), ("", "without")] {
        let text = format!("{mark}{GOOD}");
        for (bytes, encoding) in [
            (utf16(&text, u16::to_le_bytes), "UTF-16 (little endian)"),
            (utf16(&text, u16::to_be_bytes), "UTF-16 (big endian)"),
            (utf32(&text, u32::to_le_bytes), "UTF-32 (little endian)"),
            (utf32(&text, u32::to_be_bytes), "UTF-32 (big endian)"),
        ] {
            let error = error_of(bytes);
            assert!(error.starts_with(&format!("error: this manifest is in {encoding}; ")), "{name}: {error}");
            assert!(error.contains("save it as UTF-8"));
        }
    }
}

#[test]
fn a_byte_order_mark_is_accepted_once() {
    let loaded = Project::with(format!("\u{feff}{GOOD}")).loaded();
    assert_eq!(loaded.checks[0].check.origin.as_ref().unwrap().line, 3);

    let error = error_of(format!("\u{feff}\u{feff}{GOOD}"));
    assert!(error.contains("more than one byte order mark"), "{error}");
    assert!(error.contains("a.yaml:1:1"), "{error}");

    let error = error_of(format!("{GOOD}\u{feff}"));
    assert!(error.contains("a.yaml:4:1"), "{error}");
}

#[test]
fn bytes_that_are_no_text_have_their_place() {
    let error = error_of(b"version: 1\nchecks:\n  - id: a\xff\n".as_slice());
    assert!(error.contains("not UTF-8: byte 0xff at offset 28"), "{error}");
    assert!(error.contains("a.yaml:3:10"), "{error}");

    let error = error_of("version: 1\nchecks: \0\n");
    assert!(error.contains("a NUL byte at offset 19"), "{error}");
    assert!(error.contains("a.yaml:2:9"), "{error}");
}

#[test]
fn files_without_a_manifest_in_them() {
    for content in ["", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "null\n", "~"] {
        assert!(error_of(content).contains("this manifest is empty"), "{content:?}");
    }
    for (content, found) in [
        ("words", "the text \"words\""),
        ("- a\n- b", "a list"),
        ("[1, []]", "a list"),
        ("[]", "a list"),
        ("5", "the integer 5"),
    ] {
        let error = Project::with(content).errors();
        let expected = format!("error: expected a map with `version` and `checks`, found {found}\n");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn files_that_are_too_large() {
    let mut large = GOOD.to_owned();
    large.extend(std::iter::repeat_n('#', (1 << 20) - GOOD.len()));
    Project::with(&large).loaded();
    large.push('#');
    assert!(error_of(large).contains("larger than 1 MiB"));
}

#[test]
fn folders() {
    let project = Project::empty().file("good.yaml", GOOD);
    fs::create_dir(project.path("a.yaml")).unwrap();
    assert!(project.errors().starts_with("error: this manifest is a folder, not a file\n--> checks.d/a.yaml\n"));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    use super::*;

    fn fifo(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    const SPECIAL: &str = "error: this manifest is a FIFO, a socket or a device, not a file\n--> checks.d/a.yaml\n";

    #[test]
    fn nothing_is_waited_for() {
        let project = Project::empty();
        fifo(&project.path("a.yaml"));
        assert!(project.errors().starts_with(SPECIAL));

        let project = Project::empty();
        fifo(&project.path("pipe"));
        symlink("pipe", project.path("a.yaml")).unwrap();
        assert!(project.errors().starts_with(SPECIAL));

        let project = Project::empty();
        let _listener = UnixListener::bind(project.path("a.yaml")).unwrap();
        assert!(project.errors().starts_with(SPECIAL));
    }

    #[test]
    fn links_stay_in_the_folder() {
        let project = Project::empty().file("template", GOOD);
        symlink("template", project.path("a.yaml")).unwrap();
        assert_eq!(project.loaded().checks.len(), 1);

        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        fs::write(elsewhere.path(), GOOD).unwrap();
        for target in [elsewhere.path(), Path::new("/dev/zero"), Path::new("../checks.d/../outside")] {
            let project = Project::empty();
            fs::write(project.path("../outside"), GOOD).unwrap();
            symlink(target, project.path("a.yaml")).unwrap();
            let errors = project.errors();
            assert!(errors.starts_with("error: this manifest is a symbolic link out of its folder, to /"), "{errors}");
        }
    }

    #[test]
    fn links_that_lead_nowhere() {
        for target in ["gone", "a.yaml"] {
            let project = Project::empty();
            symlink(target, project.path("a.yaml")).unwrap();
            let errors = project.errors();
            assert!(errors.starts_with("error: this manifest is a symbolic link that leads nowhere: "), "{errors}");
        }
    }

    #[test]
    fn unreadable_files() {
        let project = Project::with(GOOD);
        fs::set_permissions(project.path("a.yaml"), fs::Permissions::from_mode(0o0)).unwrap();
        // Root reads everything.
        if fs::File::open(project.path("a.yaml")).is_err() {
            let errors = project.errors();
            assert!(errors.starts_with("error: this manifest cannot be read: Permission denied"), "{errors}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn names_that_are_no_text() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let project = Project::empty();
        fs::write(project.path("x").with_file_name(OsStr::from_bytes(b"\xff.yaml")), GOOD).unwrap();
        assert!(
            project.errors().starts_with("error: the name of this manifest is not UTF-8\n--> checks.d/\u{fffd}.yaml\n")
        );
    }

    #[test]
    fn names_cannot_speak_to_the_terminal() {
        let project = Project::empty().file("\u{1b}[31m.yaml", "");
        let errors = project.errors();
        assert!(!errors.contains('\u{1b}') && errors.contains("checks.d/␛[31m.yaml"), "{errors}");
    }
}
