//! `hostproof who`: who holds a file or a folder.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::context::Context;

/// A program that holds something until its input ends.
struct Holder(Child);

impl Holder {
    /// Runs that line of Python's in that folder, and returns when it has.
    fn that(line: &str, cwd: &Path) -> Self {
        let script = format!("import sys\n{line}\nprint('held', flush=True)\nsys.stdin.read()");
        let mut command = Command::new("python");
        command.args(["-c", &script]).current_dir(cwd).stdin(Stdio::piped()).stdout(Stdio::piped());
        // It dies at its start where its error output is a file of the system below Wine.
        command.stderr(Stdio::piped());
        let mut holder = Self(command.spawn().expect("python"));
        let mut said = [0; 4];
        let out = holder.0.stdout.as_mut().expect("its output");
        std::io::Read::read_exact(out, &mut said).expect("what it says");
        assert_eq!(&said, b"held");
        holder
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What `who` says of a path of the project: each holder with its holds.
fn who(context: &Context, path: &str, code: i32) -> Vec<(u64, Vec<(String, String)>)> {
    let ran = context.hp(&["who", "--json", path]);
    let said: Value = serde_json::from_str(&ran.exits(code).stdout).expect("JSON");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let name = |hold: &Value| text(&hold["path"]).rsplit('\\').next().unwrap_or_default().to_owned();
    let holds = |holder: &Value| {
        holder["holds"].as_array().expect("holds").iter().map(|hold| (text(&hold["how"]), name(hold))).collect()
    };
    let holders = said["holders"].as_array().expect("holders").iter();
    holders.map(|holder| (holder["pid"].as_u64().expect("a pid"), holds(holder))).collect()
}

#[test]
fn the_holders_of_files_and_folders_are_named_until_they_let_go() {
    let context = Context::new();
    context.file("d/f", "text");
    let pid = |holder: &Holder| u64::from(holder.0.id());
    let hold = |how: &str, name: &str| vec![(how.to_owned(), name.to_owned())];

    let reader = Holder::that("file = open('d/f')", context.project());
    assert_eq!(who(&context, "d/f", 1), [(pid(&reader), hold("descriptor", "f"))]);
    assert_eq!(who(&context, "d", 1), [(pid(&reader), hold("descriptor", "f"))], "what lies in it counts");
    drop(reader);
    assert_eq!(who(&context, "d", 0), []);

    let sitter = Holder::that("", &context.project().join("d"));
    assert_eq!(who(&context, "d", 1), [(pid(&sitter), hold("cwd", "d"))]);
    assert_eq!(who(&context, "d/f", 0), []);
    let said = context.hp(&["who", "d"]);
    let said = &said.exits(1).stdout;
    assert!(said.contains(&format!("is the current directory of pid {} (python", pid(&sitter))), "{said}");
    assert!(!said.contains("[]"), "{said}");
}
