#!/usr/bin/env python3
"""`hostproof lint --code` against ruff and ast-grep, on 10,000 files of the Python library that this Python has.

    benches/lints.py [--files N] [--runs N] [--hostproof PATH] [--ruff PATH] [--ast-grep PATH]

Prints Markdown: medians measured in turn in one run on one machine, and the processors' time, which says more where others
want them, too. ruff is asked for the rules that are nearest (encodings, /tmp, processes, paths), without its cache; ast-grep,
which has the same parser, for one pattern. What is not installed is named and left out. Both can be had without touching the
system: `pip install --target DIR ruff ast-grep-cli`, and they lie in DIR/bin.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

RULES = "PLW1514,S108,S60,PTH,PLW15,S101"


def sources():
    """Files of the library, in an order that is the same everywhere."""
    library = sysconfig.get_paths()["stdlib"]
    for folder, folders, names in os.walk(library):
        folders[:] = sorted(name for name in folders if name not in ("site-packages", "__pycache__"))
        for name in sorted(names):
            path = os.path.join(folder, name)
            # Some are broken or in other encodings, to test Python itself.
            if name.endswith(".py") and "lib2to3" not in path and "bad" not in name and os.path.getsize(path) < 1 << 20:
                yield path


def fill(folder, count):
    """So many files, and how large they are together."""
    found, size = list(sources()), 0
    for number in range(count):
        source = found[number % len(found)]
        copy = os.path.join(folder, "d%03d" % (number // 100))
        os.makedirs(copy, exist_ok=True)
        shutil.copyfile(source, os.path.join(copy, "f%05d.py" % number))
        size += os.path.getsize(source)
    return size


def timed(command, cwd):
    """Wall seconds and processor seconds of a command that may find something."""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    began, before = time.perf_counter(), spent()
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    took = time.perf_counter() - began, spent() - before
    if done.returncode not in (0, 1, 3):
        sys.exit("%r ended with %d: %s" % (command, done.returncode, done.stderr.decode(errors="replace")))
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hostproof", default="target/release/hostproof")
    parser.add_argument("--ruff", default="ruff")
    parser.add_argument("--ast-grep", default="ast-grep")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        size = fill(scratch, arguments.files)
        commands = {"hostproof lint --code": [os.path.abspath(arguments.hostproof), "lint", "--code", "--json", "."]}
        ruff = shutil.which(arguments.ruff)
        if ruff:
            commands["ruff check"] = [
                ruff, "check", "--no-cache", "--isolated", "--preview", "--exit-zero", "--output-format", "json", "--select", RULES, ".",
            ]
        else:
            print("ruff is not installed: left out")
        ast_grep = shutil.which(arguments.ast_grep)
        if ast_grep:
            commands["ast-grep run"] = [
                ast_grep, "run", "--lang", "python", "--pattern", "open($$$)", "--no-ignore", "hidden", "--json=compact", ".",
            ]
        else:
            print("ast-grep is not installed: left out")
        times = {name: [] for name in commands}
        for name, command in commands.items():
            timed(command, scratch)
        for _ in range(arguments.runs):
            for name, command in commands.items():
                times[name].append(timed(command, scratch))
        rows = {name: [statistics.median(each) for each in zip(*values)] for name, values in times.items()}
        wall, processor = rows["hostproof lint --code"]
        print("%d files, %.0f MB\n" % (arguments.files, size / 1e6))
        print("| | median | against `hostproof lint --code` | of processors | against `hostproof lint --code` |")
        print("| --- | --- | --- | --- | --- |")
        for name, (took, spent) in rows.items():
            print("| %s | %.1f s | %.2f | %.1f s | %.2f |" % (name, took, took / wall, spent, spent / processor))


if __name__ == "__main__":
    main()
