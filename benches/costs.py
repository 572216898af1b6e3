#!/usr/bin/env python3
"""What single probes cost, as ratios of medians measured in turn in one run on one machine.

    benches/costs.py [--runs N] [--hostproof PATH] [--before PATH] [names] [report] [checks] [publishes]

Prints Markdown. `--before` is another hostproof, which `checks` runs, too. Everything that is started ends by itself.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from peers import JOBS, medians, project, table, timed, xargs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = 100_000
MAKE = """import os
for folder in range(100):
    os.mkdir('d%%d' %% folder)
    for file in range(%d):
        os.close(os.open('d%%d/f%%d' %% (folder, file), os.O_CREAT | os.O_WRONLY))
""" % (FILES // 100)


def one_check(scratch, name, keys):
    folder = os.path.join(scratch, name)
    os.makedirs(os.path.join(folder, "checks.d"))
    with open(os.path.join(folder, "make.py"), "w") as file:
        file.write(MAKE)
    with open(os.path.join(folder, "checks.d", "c.yaml"), "w") as file:
        file.write("version: 1\nchecks:\n  - {id: c, reader: none, cwd: sandbox%s}\n" % keys)
    return folder


def around(folder, *more):
    """Seconds that a run of one check takes beside the check's own command."""
    began = time.perf_counter()
    done = subprocess.run([HOSTPROOF, "run", "--events"] + list(more), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    took = time.perf_counter() - began
    events = map(json.loads, done.stdout.splitlines())
    return took - next(event["check"]["duration_ms"] for event in events if event["event"] == "check-ended") / 1000


def bench_names(scratch, runs):
    """A look at the names of 100,000 files, against their removal."""
    run = ", run: [python3, $project/make.py]"
    folders = {name: one_check(scratch, name, run + keys) for name, keys in [
        ("looked at", ""), ("not looked at", ", platforms: [linux]")]}
    times = {"looked at": [], "not looked at": [], "left": []}
    for _ in range(runs):
        times["looked at"].append(around(folders["looked at"]))
        times["not looked at"].append(around(folders["not looked at"]))
        kept = tempfile.mkdtemp(dir=scratch)
        os.environ["HOSTPROOF_TMPDIR"] = kept
        times["left"].append(around(folders["not looked at"], "--keep", "always"))
        del os.environ["HOSTPROOF_TMPDIR"]
        shutil.rmtree(kept)
    looked, plain, left = (sorted(times[name])[runs // 2] for name in ("looked at", "not looked at", "left"))
    print("\n### names of %d files\n\n| | seconds | ratio |\n| --- | --- | --- |" % FILES)
    print("| their removal | %.2f | 1.00 |" % (plain - left))
    print("| a look at their names | %.2f | %.2f |" % (looked - plain, (looked - plain) / (plain - left)))


def bench_report(scratch, runs):
    """One check of `true`, with and without a report."""
    folder = one_check(scratch, "report", ", run: ['true']")
    report = os.path.join(scratch, "report.json")
    table("one check of `true`", medians(runs, **{
        "hostproof run": lambda: timed([HOSTPROOF, "run"], cwd=folder),
        "run --report": lambda: timed([HOSTPROOF, "run", "--report", report], cwd=folder),
        "doctor": lambda: timed([HOSTPROOF, "doctor"], cwd=folder),
    }))


def bench_checks(scratch, runs):
    """1,000 checks of `true` by this hostproof, by another, and by xargs."""
    folder = project(os.path.join(scratch, "c1000"), 1000)
    programs = {"hostproof run": HOSTPROOF, "before": BEFORE}
    commands = {
        name: lambda program=program: timed([program, "run", "--jobs", str(JOBS)], cwd=folder)
        for name, program in programs.items() if program
    }
    table("1,000 checks of `true`", medians(runs, **commands, **{"xargs -P2": xargs(1000)}))


def bench_publishes(scratch, runs):
    """Work whose opens for writing are asked about, against the same without `publishes`."""
    work = {
        "git clone": ["git", "clone", "-q", "--depth", "1", "file://" + ROOT, "clone"],
        "python -m unittest test.test_json": [sys.executable, "-m", "unittest", "-q", "test.test_json"],
        "python -m unittest test.test_zipfile": [sys.executable, "-m", "unittest", "-q", "test.test_zipfile"],
        "1,000 files published": [sys.executable, "-c", "import os\nos.mkdir('state')\nfor n in range(1000):\n"
                                  "    open('d', 'w').close()\n    os.replace('d', 'state/%d.json' % n)"],
    }
    print("\n### with `publishes`, against without\n\n| | without | with |\n| --- | --- | --- |")
    for name, command in work.items():
        tried = [HOSTPROOF, "try", "--cwd", "sandbox", "--timeout", "5m"]
        found = medians(runs, plain=lambda: timed(tried + ["--"] + command),
                        asked=lambda: timed(tried + ["--publishes", "state/*.json", "--"] + command))
        print("| %s | %.0f ms | %.2f |" % (name, found["plain"] * 1000, found["asked"] / found["plain"]))
        sys.stdout.flush()


def main():
    global HOSTPROOF, BEFORE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hostproof", default=os.path.join(ROOT, "target", "release", "hostproof"))
    parser.add_argument("--before")
    parser.add_argument("what", nargs="*", choices=["names", "report", "checks", "publishes", []])
    args = parser.parse_args()
    HOSTPROOF, BEFORE = args.hostproof, args.before
    with tempfile.TemporaryDirectory() as scratch:
        # What is remembered of a run is no business of the user who measures.
        os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
        for what in args.what or ["names", "report", "checks", "publishes"]:
            globals()["bench_" + what](scratch, args.runs)


if __name__ == "__main__":
    main()
