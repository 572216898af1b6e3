# `just` lists what there is.

_default:
    @just --list

# Type-check everything
[group('build')]
check:
    cargo check --all-targets

# Build the program as it is released
[group('build')]
build:
    cargo build --release

# Run hostproof, such as: just hostproof try -- python3 test.py
[group('build')]
hostproof *ARGS:
    cargo run --quiet -- {{ ARGS }}

# Run the tests, or those whose name contains FILTER
[group('test')]
test FILTER='':
    cargo test {{ FILTER }}

# Run the project's own checks with the program itself
[group('test')]
run *ARGS:
    cargo run --release -- run {{ ARGS }}

# Run the sweep's self-test as it is, without hostproof: unmended or mended
[group('test')]
story VARIANT='unmended':
    python3 fixtures/sweep/{{ VARIANT }}/test_sweep.py

# Rewrite the committed schemas from the types
[group('test')]
schemas $HOSTPROOF_UPDATE_SCHEMAS='1':
    cargo test schema

# Time the parts one by one
[group('bench')]
bench *ARGS:
    cargo bench --bench parts -- {{ ARGS }}

# Time the whole against xargs, cargo-nextest, lsof and fuser, as ratios
[group('bench')]
bench-peers *ARGS:
    cargo build --release
    python3 benches/peers.py {{ ARGS }}

# Time `lint --code` against ruff and ast-grep, as ratios
[group('bench')]
bench-lints *ARGS:
    cargo build --release
    python3 benches/lints.py {{ ARGS }}

# 100 MB of each reader's worst output: linear, and in bounded memory
[group('bench')]
bench-readers *ARGS:
    cargo bench --bench readers -- {{ ARGS }}

# Fuzz the readers for SECONDS
[group('test')]
fuzz SECONDS='60':
    .ci/fuzz {{ SECONDS }}

# Clippy and the documentation, with warnings as errors
[group('lint')]
lint: doc
    cargo clippy --all-targets -- -D warnings

# Build the documentation
[group('lint')]
doc $RUSTDOCFLAGS='-D warnings':
    cargo doc --no-deps

# Format the sources
[group('lint')]
fmt:
    cargo fmt

# Licences, advisories and sources of the dependencies
[group('lint')]
deny:
    cargo deny check

# Everything that a change must pass
[group('ci')]
ci:
    bash .ci/run
