#!/usr/bin/env python3
"""`hostproof lint --code` against ruff, on 10,000 files of the Python library that this Python has.

    benches/lints.py [--files N] [--runs N] [--hostproof PATH] [--ruff PATH]

Prints Markdown: medians measured in turn in one run on one machine. ruff is asked for the rules that are nearest
(encodings, /tmp, processes, paths), without its cache; a ruff that is not installed is named and left out.
"""
import argparse
import os
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
    """Wall seconds of a command that may find something."""
    began = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    took = time.perf_counter() - began
    if done.returncode not in (0, 1, 3):
        sys.exit("%r ended with %d: %s" % (command, done.returncode, done.stderr.decode(errors="replace")))
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hostproof", default="target/release/hostproof")
    parser.add_argument("--ruff", default="ruff")
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
        times = {name: [] for name in commands}
        for name, command in commands.items():
            timed(command, scratch)
        for _ in range(arguments.runs):
            for name, command in commands.items():
                times[name].append(timed(command, scratch))
        rows = {name: statistics.median(values) for name, values in times.items()}
        own = rows["hostproof lint --code"]
        print("%d files, %.0f MB\n\n| | median | against `hostproof lint --code` |\n| --- | --- | --- |" % (arguments.files, size / 1e6))
        for name, seconds in rows.items():
            print("| %s | %.1f s | %.2f |" % (name, seconds, seconds / own))


if __name__ == "__main__":
    main()
