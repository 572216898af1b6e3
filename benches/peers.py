#!/usr/bin/env python3
"""hostproof against peers, as ratios of medians measured in turn in one run on one machine.

    benches/peers.py [--runs N] [--hostproof PATH] [checks] [many] [scan] [memory]

Prints Markdown. A peer that is not installed is named and left out. Everything that is started ends by itself.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

JOBS = 2


def timed(command, **options):
    """Wall seconds of a command, which must succeed."""
    began = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    took = time.perf_counter() - began
    if done.returncode not in (0, 1):
        sys.exit("%r ended with %d: %s" % (command, done.returncode, done.stderr.decode(errors="replace")))
    return took


def medians(runs, **commands):
    """Each command's median, taken in turn so that a change of the machine's speed meets all of them."""
    times = {name: [] for name in commands}
    for name, command in commands.items():
        command()
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(command())
    return {name: statistics.median(values) for name, values in times.items()}


def table(title, rows):
    ours = [name for name in rows if name.startswith("hostproof")]
    print("\n### %s\n\n| | median | %s |" % (title, " | ".join("against `%s`" % name for name in ours)))
    print("| --- | --- |%s" % (" --- |" * len(ours)))
    for name, seconds in rows.items():
        ratios = ["%.2f" % (seconds / rows[own]) for own in ours]
        print("| %s | %.1f ms | %s |" % (name, seconds * 1000, " | ".join(ratios)))
    sys.stdout.flush()


def project(folder, checks):
    os.makedirs(os.path.join(folder, "checks.d"))
    # A manifest has at most so many nodes.
    for first in range(0, checks, 1000):
        with open(os.path.join(folder, "checks.d", "c%05d.yaml" % first), "w") as file:
            file.write("version: 1\ndefaults: {reader: none}\nchecks:\n")
            for number in range(first, min(first + 1000, checks)):
                file.write("  - {id: c%d, run: ['true']}\n" % number)
    return folder


def hostproof_run(folder):
    return lambda: timed([HOSTPROOF, "run", "--jobs", str(JOBS)], cwd=folder)


def xargs(count):
    return lambda: timed("seq %d | xargs -P%d -n1 true" % (count, JOBS), shell=True)


def bench_checks(scratch, runs):
    """1,000 checks of `true` against the bare spawns and against nextest with 1,000 empty tests."""
    commands = {"hostproof run": hostproof_run(project(os.path.join(scratch, "c1000"), 1000)), "xargs -P2": xargs(1000)}
    if shutil.which("cargo-nextest"):
        crate = os.path.join(scratch, "empty")
        os.makedirs(os.path.join(crate, "src"))
        with open(os.path.join(crate, "Cargo.toml"), "w") as file:
            file.write('[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n')
        with open(os.path.join(crate, "src", "lib.rs"), "w") as file:
            file.writelines("#[test] fn t%d() {}\n" % number for number in range(1000))
        nextest = ["cargo", "nextest", "run", "--test-threads", str(JOBS), "--status-level", "fail", "--offline"]
        commands["cargo nextest"] = lambda: timed(nextest, cwd=crate)
    else:
        print("cargo-nextest is not installed: left out")
    table("1,000 checks of `true`, two at a time", medians(runs, **commands))


def bench_many(scratch, runs):
    """Nothing grows with the number of checks."""
    rows = medians(max(runs // 2, 1), **{
        "hostproof run": hostproof_run(project(os.path.join(scratch, "c10000"), 10000)),
        "xargs -P2": xargs(10000),
    })
    table("10,000 checks of `true`, two at a time", rows)


def bench_scan(scratch, runs):
    """Who holds a directory, on a machine with ever more processes."""
    target = os.path.join(scratch, "held")
    os.makedirs(target)
    for crowd in (100, 1000, 3000):
        others = []
        running = len([name for name in os.listdir("/proc") if name.isdigit()])
        try:
            for _ in range(max(crowd - running, 0)):
                others.append(subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL))
            holder = subprocess.Popen(["sleep", "300"], cwd=target)
            others.append(holder)
            commands = {
                "hostproof who": lambda: timed([HOSTPROOF, "who", target]),
                "hostproof who --no-mappings": lambda: timed([HOSTPROOF, "who", "--no-mappings", target]),
            }
            if shutil.which("lsof"):
                commands["lsof +D"] = lambda: timed(["lsof", "+D", target])
            if shutil.which("fuser"):
                commands["fuser"] = lambda: timed(["fuser", target])
            table("who holds a directory, %d processes" % crowd, medians(runs, **commands))
        finally:
            for other in others:
                other.kill()
            for other in others:
                other.wait()


def bench_memory(scratch, _runs):
    """The most memory that hostproof and its supervisors ever have."""
    print("\n### Memory\n\n| checks | peak of the largest process |\n| --- | --- |")
    for count in (100, 1000, 10000):
        folder = project(os.path.join(scratch, "m%d" % count), count)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            subprocess.run([HOSTPROOF, "run", "--jobs", str(JOBS)], cwd=folder, stdout=subprocess.DEVNULL)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            os.write(write, str(peak).encode())
            os._exit(0)
        os.waitpid(child, 0)
        print("| %d | %.1f MB |" % (count, int(os.read(read, 100)) / 1024))


BENCHES = {"checks": bench_checks, "many": bench_many, "scan": bench_scan, "memory": bench_memory}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=textwrap.dedent(__doc__), formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--hostproof", default="target/release/hostproof")
    parser.add_argument("bench", nargs="*", metavar="bench", help="of " + ", ".join(BENCHES))
    arguments = parser.parse_args()
    HOSTPROOF = os.path.abspath(arguments.hostproof)
    for name in arguments.bench or BENCHES:
        with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
            # What is remembered of a run is no business of the user who measures.
            os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
            BENCHES[name](scratch, arguments.runs)
