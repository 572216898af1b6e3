#!/usr/bin/env python3
"""What Windows' rules cost: the same work under `try` by the rules of this system and by Windows', in turn.

The work: a clone of this project, and Python's own tests of shutil and tempfile. Wants target/release/hostproof.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOSTPROOF = os.path.join(ROOT, "target", "release", "hostproof")
WORK = {
    "git clone": ["git", "clone", "-q", "--no-hardlinks", ROOT, "clone"],
    "python -m unittest": [sys.executable, "-m", "unittest", "-q", "test.test_shutil", "test.test_tempfile"],
    "1,000 times mkdir and rmdir": [
        sys.executable, "-c", "import os\nfor _ in range(1000):\n    os.mkdir('d')\n    os.rmdir('d')",
    ],
}


def timed(rules, command):
    argv = [HOSTPROOF, "try", "--as", rules, "--cwd", "sandbox", "--timeout", "5m", "--"] + command
    began = time.monotonic()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    print("| | native | windows | ratio |\n| --- | --- | --- | --- |")
    for name, command in WORK.items():
        times = {"native": [], "windows": []}
        for _ in range(runs):
            for rules, taken in times.items():
                taken.append(timed(rules, command))
        native, windows = (statistics.median(times[rules]) for rules in ("native", "windows"))
        print("| %s | %.0f ms | %.0f ms | %.2f |" % (name, native * 1000, windows * 1000, windows / native))


if __name__ == "__main__":
    main()
