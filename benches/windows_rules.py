#!/usr/bin/env python3
"""What Windows' rules cost: the same work under `try` by the rules of this system, by Windows' for directories only, and
by all of Windows', in turn.

The work: a clone of this project, Python's own tests of json, shutil and zipfile, and nothing but removals. Wants
target/release/hostproof.

Sandboxes are in memory where there is a place for that: ext4 keeps away from inodes that were freed within the last
seconds, so that there the later of two clones costs several times the first, whoever asks about it.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOSTPROOF = os.path.join(ROOT, "target", "release", "hostproof")
WORK = {
    "git clone": ["git", "clone", "-q", "--depth", "1", "file://" + ROOT, "clone"],
    "python -m unittest test.test_json": [sys.executable, "-m", "unittest", "-q", "test.test_json"],
    "python -m unittest test.test_shutil": [sys.executable, "-m", "unittest", "-q", "test.test_shutil"],
    "python -m unittest test.test_zipfile": [sys.executable, "-m", "unittest", "-q", "test.test_zipfile"],
    "1,000 times mkdir and rmdir": [
        sys.executable, "-c", "import os\nfor _ in range(1000):\n    os.mkdir('d')\n    os.rmdir('d')",
    ],
    "10,000 times create and unlink": [
        sys.executable, "-c", "import os\nfor _ in range(10000):\n    open('f', 'w').close()\n    os.unlink('f')",
    ],
}
RULES = ("native", "windows:directories", "windows")


def timed(rules, command, environment):
    argv = [HOSTPROOF, "try", "--as", rules, "--cwd", "sandbox", "--timeout", "5m", "--"] + command
    began = time.monotonic()
    subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        measure(runs, dict(os.environ, HOSTPROOF_TMPDIR=folder))


def measure(runs, environment):
    print("| | native | directories | all |\n| --- | --- | --- | --- |")
    for name, command in WORK.items():
        times = {rules: [] for rules in RULES}
        for _ in range(runs):
            for rules, taken in times.items():
                taken.append(timed(rules, command, environment))
        native, directories, everything = (statistics.median(times[rules]) for rules in RULES)
        print("| %s | %.0f ms | %.2f | %.2f |" % (name, native * 1000, directories / native, everything / native))


if __name__ == "__main__":
    main()
