//! Arguments, scripts and text arrive as they were written.

use crate::context::Context;

/// Writes its arguments to `said.json` in the project.
const SAYS: &str = "import json, os, sys\n\
    path = os.path.join(os.environ['HOSTPROOF_PROJECT'], 'said.json')\n\
    with open(path, 'w', encoding='utf-8') as file: json.dump(sys.argv[1:], file)\n";

fn said(context: &Context) -> Vec<String> {
    serde_json::from_str(&context.read("said.json")).expect("a list")
}

#[test]
fn arguments_arrive_as_they_are() {
    let words =
        ["", "a b", "tab\there", r#"say "hi""#, r"C:\a b\", r#"\"\\""#, "größe", "\u{1F98A}", "100%", "a^b&c|d", "*"];
    let argv = ["python", "says.py"].iter().chain(&words).collect::<Vec<_>>();
    let context = Context::with(&format!("- {{id: says, run: {}}}", serde_json::to_string(&argv).expect("JSON")));
    context.file("says.py", SAYS);
    context.hp(&["run"]).exits(0);
    assert_eq!(said(&context), words);
}

#[test]
fn a_batch_file_runs_and_gets_its_arguments() {
    let context = Context::with("- {id: says, run: [./says.cmd, 'a b', größe]}");
    context.file("says.py", SAYS);
    context.file("says.cmd", "@python says.py %*\r\n");
    let ran = context.hp(&["run"]);
    assert_eq!(
        ran.only().exit.and_then(|exit| serde_json::to_value(exit).ok()),
        Some(serde_json::json!({"code": 0})),
        "{}",
        ran.said()
    );
    assert_eq!(said(&context), ["a b", "größe"]);
}

#[test]
fn a_batch_file_that_would_get_other_words_is_not_run() {
    let context = Context::with("- {id: says, run: [./says.cmd, 'a\"b & echo']}");
    context.file("says.cmd", "@echo ran>%HOSTPROOF_PROJECT%\\ran\r\n");
    let ran = context.hp(&["run"]);
    assert_ne!(ran.code, Some(0), "{}", ran.said());
    assert_eq!(context.read("ran"), "", "{}", ran.said());
}

#[test]
fn the_environment_and_the_folder_are_the_checks() {
    let context = Context::with("- {id: env, cwd: sandbox, env: {GREETING: grüße}, run: [python, $project/env.py]}");
    context.file(
        "env.py",
        "import os\n\
         assert os.environ['GREETING'] == 'grüße'\n\
         assert os.path.samefile(os.getcwd(), os.path.join(os.environ['HOSTPROOF_SANDBOX'], 'work'))\n\
         assert os.environ['TEMP'].startswith(os.environ['HOSTPROOF_SANDBOX'])\n\
         assert not os.getcwd().startswith('\\\\\\\\?'), os.getcwd()\n",
    );
    context.hp(&["run"]).exits(0);
}

#[test]
fn output_is_read_whatever_it_is_encoded_in() {
    let context = Context::with(
        "- {id: utf-8, run: [python, writes.py, utf-8], expect: {stdout: [{matches: '^größe$'}]}}\n\
         - {id: utf-16, run: [python, writes.py, utf-16], expect: {stdout: [{matches: '^größe$'}]}}\n\
         - {id: utf-16-be, run: [python, writes.py, utf-16-be], expect: {stdout: [{matches: '^größe$'}]}}\n\
         - {id: ansi, run: [python, writes.py, mbcs], expect: {stdout: [{matches: '^größe$'}]}}",
    );
    context.file(
        "writes.py",
        "import sys\n\
         mark = b'\\xfe\\xff' if sys.argv[1] == 'utf-16-be' else b''\n\
         sys.stdout.buffer.write(mark + 'one\\ngröße\\n'.encode(sys.argv[1]))\n",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "4/4 checks");
}
