//! Completions and man pages.

use std::fs;
use std::process::{Command, Stdio};

use crate::context::{Context, skip, works};

/// The subcommands, as the help lists them.
fn subcommands(context: &Context) -> Vec<String> {
    let help = context.hp(&["--help"]).exits(0).stdout.clone();
    let list = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    let names = list.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    let names: Vec<String> = names.filter(|name| name != "help").collect();
    assert!(names.contains(&"run".to_owned()) && names.contains(&"man".to_owned()), "{names:?}");
    names
}

#[test]
fn completions_name_every_subcommand_and_shells_take_them() {
    let context = Context::new();
    let names = subcommands(&context);
    for (shell, check) in [
        ("bash", &["bash", "-n"][..]),
        ("zsh", &["zsh", "-n"]),
        ("fish", &["fish", "--no-execute"]),
        ("powershell", &[]),
        ("elvish", &[]),
    ] {
        let script = context.hp(&["completions", shell]).exits(0).stdout.clone();
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell} does not know {name}");
        }
        assert!(script.contains("fail-fast"), "{shell}");
        let Some(program) = check.first() else { continue };
        // bash is everywhere; the others are asked where they are.
        if *program == "bash" || works(&[program, "--version"]) {
            let file = context.file("script", &script);
            let file = file.to_str().expect("text");
            assert!(works(&[check, &[file]].concat()), "{shell} does not take its completions");
        }
    }
    let refused = context.hp(&["completions", "tcsh"]);
    assert!(refused.exits(2).stderr.contains("fish"), "{}", refused.stderr);
}

#[test]
fn bash_completes_an_option() {
    let context = Context::new();
    context.file("script", &context.hp(&["completions", "bash"]).exits(0).stdout);
    let mut bash = Command::new("bash");
    context.dress(&mut bash);
    let words = ". ./script; COMP_WORDS=(hostproof run --fail-f); COMP_CWORD=2; \
_hostproof hostproof --fail-f run; echo \"${COMPREPLY[@]}\"";
    let output = bash.args(["-c", words]).stderr(Stdio::null()).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--fail-fast\n");
}

#[test]
fn there_is_a_man_page_for_everything() {
    let context = Context::new();
    let mut names = subcommands(&context);
    let page = context.hp(&["man"]).exits(0).stdout.clone();
    let receipt = context.hp(&["man", "receipt"]).exits(0).stdout.clone();
    let of_receipts = ["fetch", "list", "publish", "revoke", "show", "verify"];
    names.extend(of_receipts.map(|name| format!("receipt-{name}")));
    for name in &names {
        let page = if name.contains('-') { &receipt } else { &page };
        let known = format!("hostproof\\-{}(1)", name.replace('-', "\\-"));
        assert!(page.contains(&known), "the page does not name {name}: {page}");
        let own = context.hp(&["man", name]).exits(0).stdout.clone();
        assert!(own.contains(&format!(".TH hostproof-{name} 1")), "{own}");
        assert!(own.contains("SYNOPSIS") && own.contains("OPTIONS"), "{own}");
    }
    assert!(page.contains("Exit codes"), "{page}");
    let refused = context.hp(&["man", "walk"]);
    assert!(refused.exits(2).stderr.contains("there is no subcommand walk; there are run, try,"), "{}", refused.stderr);

    context.hp(&["man", "--dir", "pages/man1"]).exits(0);
    let mut files: Vec<String> = fs::read_dir(context.project().join("pages/man1"))
        .expect("the pages")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut expected: Vec<String> = names.iter().map(|name| format!("hostproof-{name}.1")).collect();
    expected.push("hostproof.1".to_owned());
    expected.sort();
    assert_eq!(files, expected);
    assert_eq!(context.read("pages/man1/hostproof.1"), page);

    if !works(&["groff", "--version"]) {
        return skip("groff is not here to set the pages");
    }
    for file in &files {
        let mut groff = Command::new("groff");
        context.dress(&mut groff);
        groff.args(["-man", "-Tutf8", "-ww", &format!("pages/man1/{file}")]).stdout(Stdio::piped());
        let output = groff.stderr(Stdio::piped()).output().expect("groff");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{file}: {said}");
        assert!(!output.stdout.is_empty(), "{file}");
    }
}
