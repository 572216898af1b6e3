#!/usr/bin/env python3
"""What very many variants cost: memory and time by their number, parts and their merge, a project that is watched.

    benches/scale.py [--runs N] [--hostproof PATH] [matrix] [report] [breaks] [pairwise] [merge] [watch]

Prints Markdown. Everything that is started ends by itself, or is ended.
"""
import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

from peers import JOBS, medians, table, timed, xargs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What a check prints that has much to say.
LOUD = "shell: \"head -c 20000 /dev/zero | tr '\\\\0' x\""
WATCHED = 10_000
# How long the watcher is watched, in seconds.
IDLE = 20


def matrix(folder, sizes, command="run: ['true']"):
    """A project with a check that has so many values of each variable."""
    os.makedirs(os.path.join(folder, "checks.d"))
    variables = ("K%d: [%s]" % (at, ", ".join("v%d" % value for value in range(size))) for at, size in enumerate(sizes))
    with open(os.path.join(folder, "checks.d", "c.yaml"), "w") as file:
        file.write("version: 1\nchecks:\n  - id: big\n    reader: none\n    %s\n    matrix: {%s}\n"
                   % (command, ", ".join(variables)))
    return folder


def tens(combinations):
    """Variables of ten values that have so many combinations."""
    return [10] * (len(str(combinations)) - 1)


def peak(command, folder, statuses=(0,)):
    """The most memory, in MiB, that one process of a command has, and how long it takes."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        began = time.perf_counter()
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        took = time.perf_counter() - began
        kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        os.write(write, json.dumps([kib / 1024, took, done.returncode]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as answer:
        mib, took, status = json.loads(answer.read())
    if status not in statuses:
        sys.exit("%r ended with %d" % (command, status))
    return mib, took


def run(*more):
    return [HOSTPROOF, "run", "--jobs", str(JOBS)] + list(more)


def bench_matrix(scratch, runs):
    """Combinations of `true`, against as many bare spawns."""
    print("\n### combinations of `true`: memory\n\n| | 100 | 1,000 | 10,000 | bytes a combination |")
    print("| --- | --- | --- | --- | --- |")
    folders = {number: matrix(os.path.join(scratch, "m%d" % number), tens(number)) for number in (100, 1000, 10000)}
    for name, command in [("run", run()), ("run --report", run("--report", os.path.join(scratch, "r.json"))),
                          ("run --junit", run("--junit", os.path.join(scratch, "r.xml"))), ("list", [HOSTPROOF, "list"]),
                          ("lint", [HOSTPROOF, "lint"])]:
        peaks = [peak(command, folder)[0] for folder in folders.values()]
        each = (peaks[2] - peaks[1]) * (1 << 20) / 9000
        print("| %s | %s | %.0f |" % (name, " | ".join("%.1f MiB" % mib for mib in peaks), each))
        sys.stdout.flush()
    for number in (1000, 10000):
        table("%d combinations of `true`, two at a time" % number, medians(max(runs * 500 // number, 1), **{
            "hostproof run": lambda: timed(run(), cwd=folders[number]),
            "xargs -P2": xargs(number),
        }))


def bench_report(scratch, _runs):
    """Combinations that print 20 kB each, whose reports are written."""
    print("\n### combinations that print 20 kB, with `--report`: memory\n\n| | peak |\n| --- | --- |")
    for number in (100, 1000, 10000):
        folder = matrix(os.path.join(scratch, "l%d" % number), tens(number), LOUD)
        report = os.path.join(folder, "r.json")
        mib, _ = peak(run("--report", report), folder)
        print("| %d, a report of %.0f MB | %.1f MiB |" % (number, os.path.getsize(report) / 1e6, mib))
        sys.stdout.flush()


def bench_breaks(scratch, _runs):
    """10,000 combinations of which one value, or two together, break all that have them."""
    for name, test in [("one value", '"$K1" != v3'), ("two values", '"$K1$K2" != v3v7')]:
        folder = matrix(os.path.join(scratch, name), tens(10000), "shell: 'test %s'" % test)
        report = os.path.join(scratch, "breaks.json")
        mib, took = peak(run("--report", report), folder, (1,))
        with open(report) as file:
            red = [check for check in json.load(file)["checks"] if check["verdict"] != "passed"]
        words = {finding["message"] for check in red for finding in check["findings"] if finding["kind"] == "depends-on"}
        print("\n10,000 combinations, broken by %s: %d red in %.0f s, at most %.1f MiB; said is: %s"
              % (name, len(red), took, mib, "; ".join(sorted(words))))
        sys.stdout.flush()


def bench_pairwise(scratch, _runs):
    """How soon few of very many combinations are chosen."""
    print("\n### `run --pairwise`, of `true`\n\n| variables | combinations run | all | choosing them | peak |")
    print("| --- | --- | --- | --- | --- |")
    for variables, values in [(13, 3), (20, 5), (5, 60), (10, 100)]:
        folder = matrix(os.path.join(scratch, "p%d" % variables), [values] * variables)
        # No check is in a part of its own that has none: what is left is to choose.
        choose = [HOSTPROOF, "run", "--pairwise", "--partition", "hash:10000/10000"]
        _, took = peak(choose, folder, (0,))
        if variables * values <= 100:
            events = subprocess.run(run("--pairwise", "--events"), cwd=folder, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL).stdout.splitlines()
            number = len(json.loads(events[0])["checks"])
        else:
            number = 0
        mib, _ = peak(choose, folder, (0,))
        print("| %d of %d values | %s | %.0e | %.2f s | %.1f MiB |"
              % (variables, values, number or "", values ** variables, took, mib))
        sys.stdout.flush()


def bench_merge(scratch, _runs):
    """10,000 combinations in four parts, set together again."""
    folder = matrix(os.path.join(scratch, "parts"), tens(10000), LOUD)
    parts = [os.path.join(scratch, "part-%d.json" % part) for part in range(1, 5)]
    for at, part in enumerate(parts):
        subprocess.run(run("--partition", "hash:%d/4" % (at + 1), "--report", part), cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
    ids = []
    for part in parts:
        with open(part) as file:
            ids += [check["id"] for check in json.load(file)["checks"]]
    whole = os.path.join(scratch, "whole.json")
    mib, took = peak([HOSTPROOF, "merge", "--output", whole] + parts, folder)
    with open(whole) as file:
        merged = [check["id"] for check in json.load(file)["checks"]]
    if sorted(ids) != sorted(merged) or len(set(merged)) != 10000:
        sys.exit("%d checks in the parts, %d merged, %d different" % (len(ids), len(merged), len(set(merged))))
    megabytes = sum(map(os.path.getsize, parts)) / 1e6
    print("\nmerge of 10,000 combinations in four parts of %.0f MB: %.1f s, at most %.1f MiB" % (megabytes / 4, took, mib))


def bench_watch(scratch, _runs):
    """What `run --watch` takes of a processor while nothing changes."""
    folder = os.path.join(scratch, "watched")
    os.makedirs(os.path.join(folder, "checks.d"))
    with open(os.path.join(folder, "checks.d", "c.yaml"), "w") as file:
        file.write("version: 1\nchecks:\n  - {id: c, reader: none, run: ['true']}\n")
    for at in range(WATCHED):
        name = os.path.join(folder, "d%d" % (at // 100), "f%d" % at)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        open(name, "w").close()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    watcher = subprocess.Popen([HOSTPROOF, "run", "--watch"], cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    try:
        for line in watcher.stderr:
            if "waiting for a change" in line:
                break
        took = lambda: sum(map(int, open("/proc/%d/stat" % watcher.pid).read().rsplit(")", 1)[1].split()[11:13]))
        before, began = took(), time.monotonic()
        time.sleep(IDLE)
        share = (took() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)
        print("\n`run --watch` of %d files, while nothing changes: %.3f of a processor" % (WATCHED, share))
    finally:
        watcher.send_signal(signal.SIGINT)
        watcher.wait()


BENCHES = {"matrix": bench_matrix, "report": bench_report, "breaks": bench_breaks, "pairwise": bench_pairwise,
           "merge": bench_merge, "watch": bench_watch}


def main():
    global HOSTPROOF
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hostproof", default=os.path.join(ROOT, "target", "release", "hostproof"))
    parser.add_argument("what", nargs="*", choices=[*BENCHES, []])
    args = parser.parse_args()
    HOSTPROOF = os.path.abspath(args.hostproof)
    for what in args.what or BENCHES:
        with tempfile.TemporaryDirectory() as scratch:
            # What is remembered of a run is no business of the user who measures.
            os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
            BENCHES[what](scratch, args.runs)


if __name__ == "__main__":
    main()
