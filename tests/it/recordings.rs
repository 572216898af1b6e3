//! What the real runners printed (`fixtures/outputs`), and what must be read out of it.
//!
//! Beside each recording (`NAME.out`, `NAME.err`, or `NAME.txt` for both streams in one) stands its model, `NAME.json`,
//! written from what the recorded suite is known to do. `HOSTPROOF_UPDATE_MODELS=1` writes models anew, to be read by a
//! person before they are believed.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use hostproof::model::{CaseOutcome, Counts, Exit, Frame, ReaderChoice, Reading, Stream};
use hostproof::readers::{Context, Source, read};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Model {
    /// The command that was recorded.
    run: Vec<String>,
    exit: Exit,
    /// Where it ran, and what was the project.
    #[serde(default = "project", skip_serializing_if = "is_project")]
    cwd: String,
    /// The names of the cases that were to run, where a listing was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    planned: Vec<String>,
    reader: Option<String>,
    counts: Counts,
    /// The cases that did not pass, as `OUTCOME NAME` or `OUTCOME NAME: REASON`.
    not_passed: Vec<String>,
    /// How many names are known.
    names: usize,
    /// As `FILE:LINE in FUNCTION (CASE): ERROR`, and `, raised at FILE:LINE in FUNCTION`.
    frames: Vec<String>,
}

fn project() -> String {
    "/box".to_owned()
}

fn is_project(cwd: &str) -> bool {
    cwd == project()
}

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outputs");
    let folders = fs::read_dir(root).expect("recordings").map(|folder| folder.expect("an entry").path());
    let mut models: Vec<PathBuf> = folders
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| fs::read_dir(folder).expect("a folder").map(|file| file.expect("an entry").path()))
        .filter(|file| ["out", "err", "txt"].iter().any(|end| file.extension().is_some_and(|it| it == *end)))
        .map(|file| file.with_extension("json"))
        .collect();
    models.sort();
    models.dedup();
    models
}

fn sources(model: &Path) -> Vec<Source<'static>> {
    [("out", Stream::Stdout), ("txt", Stream::Stdout), ("err", Stream::Stderr)]
        .into_iter()
        .filter_map(|(end, stream)| {
            let file = File::open(model.with_extension(end)).ok()?;
            Some(Source { stream, bytes: Box::new(BufReader::new(file)) as Box<dyn BufRead>, marks: &[] })
        })
        .collect()
}

fn frame(frame: &Frame) -> String {
    let column = frame.column.map(|column| format!(":{column}")).unwrap_or_default();
    let function = frame.function.as_ref().map(|function| format!(" in {function}")).unwrap_or_default();
    let case = frame.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
    let error = frame.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    let raised = frame.raised.as_ref().map(|raised| {
        let function = raised.function.as_ref().map(|function| format!(" in {function}")).unwrap_or_default();
        format!(", raised at {}:{}{function}", raised.file, raised.line)
    });
    format!("{}:{}{column}{function}{case}{error}{}", frame.file, frame.line, raised.unwrap_or_default())
}

fn seen(model: &Model, reading: Reading) -> Model {
    let not_passed = reading.cases.iter().filter(|case| case.outcome != CaseOutcome::Passed).map(|case| {
        let outcome = format!("{:?}", case.outcome).to_lowercase();
        let reason = case.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{outcome} {}{reason}", case.name)
    });
    Model {
        reader: reading.reader,
        counts: reading.counts,
        not_passed: not_passed.collect(),
        names: reading.cases.len(),
        frames: reading.frames.iter().map(frame).collect(),
        ..model.clone()
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a switch for developers")]
fn every_recording_is_read_as_its_model_says() {
    let update = std::env::var_os("HOSTPROOF_UPDATE_MODELS").is_some();
    let mut wrong = Vec::new();
    for file in models() {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let model: Model = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let context = Context {
            argv: &model.run,
            planned: &model.planned,
            exit: Some(model.exit),
            ..Context::new(Path::new("/box"), Path::new(&model.cwd))
        };
        let reading = read(&ReaderChoice::Auto, sources(&file), &context).expect("files can be read");
        let seen = seen(&model, reading);
        if seen != model {
            let seen = serde_json::to_string_pretty(&seen).expect("it is JSON");
            if update {
                fs::write(&file, seen + "\n").expect("it can be written");
            } else {
                wrong.push(format!("{}: seen: {seen}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
