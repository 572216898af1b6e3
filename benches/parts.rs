//! The parts that a run spends its time in, one by one.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hostproof::manifest;
use hostproof::model::{Exit, Platform, ReaderChoice, ReaderName, Stream};
use hostproof::platform::{Watcher, remove_tree};
use hostproof::readers::{Context, Source, read};

fn readers(criterion: &mut Criterion) {
    let mut output = String::new();
    for case in 0..20_000 {
        output.push_str(&format!("test_{case} (suite.Cases.test_{case}) ... ok\n"));
    }
    output.push_str("\n----------\nRan 20000 tests in 1.000s\n\nOK\n");
    let mut group = criterion.benchmark_group("readers");
    group.throughput(Throughput::Bytes(output.len() as u64));
    for (name, choice) in [("unittest", ReaderChoice::Named(ReaderName::Unittest)), ("auto", ReaderChoice::Auto)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let source = Source { stream: Stream::Stderr, bytes: Box::new(output.as_bytes()), marks: &[] };
                let context = Context { exit: Some(Exit::Code(0)), ..Context::new(Path::new("/p"), Path::new("/p")) };
                black_box(read(&choice, vec![source], &context)).expect("a slice can be read")
            });
        });
    }
    group.finish();
}

fn manifests(criterion: &mut Criterion) {
    let project = tempfile::tempdir().expect("a tempdir");
    let folder = project.path().join("checks.d");
    std::fs::create_dir(&folder).expect("a folder");
    let mut text = "version: 1\nchecks:\n".to_owned();
    for check in 0..1000 {
        text.push_str(&format!("  - {{id: c{check}, run: ['true'], timeout: 5s}}\n"));
    }
    std::fs::write(folder.join("a.yaml"), text).expect("a file");
    criterion.bench_function("manifest of 1,000 checks", |bencher| {
        bencher.iter(|| {
            let options =
                manifest::Options { start: project.path(), directory: None, platform: Platform::Linux, colour: false };
            black_box(manifest::load(&options)).expect("it is right")
        });
    });
}

fn holds(criterion: &mut Criterion) {
    let root = [PathBuf::from("/tmp/nobody-holds-this")];
    for (name, watcher) in [
        ("look for holders", Watcher::of_folders(true)),
        ("look for holders, no mappings", Watcher::of_folders(false)),
        ("look for holders and marks", Watcher::of_sandboxes()),
    ] {
        criterion.bench_function(name, |bencher| bencher.iter(|| black_box(watcher.look(&root))));
    }
}

fn removal(criterion: &mut Criterion) {
    let outer = tempfile::tempdir().expect("a tempdir");
    let tree = || {
        let top = outer.path().join("top");
        for folder in 0..10 {
            let below = top.join(format!("d{folder}/e"));
            std::fs::create_dir_all(&below).expect("folders");
            for file in 0..10 {
                std::fs::write(below.join(file.to_string()), "x").expect("a file");
            }
        }
        top
    };
    criterion.bench_function("remove 100 files in 20 folders", |bencher| {
        bencher.iter_batched(tree, |top| assert!(remove_tree(&top).left.is_empty()), BatchSize::PerIteration);
    });
}

criterion_group!(parts, readers, manifests, holds, removal);
criterion_main!(parts);
