#!/usr/bin/env python3
"""Refuses fixed waits in tests: a test waits for an event, because a machine may be slower than the author's.

A pause between two looks, or of a client that is slow on purpose, names its reason on the same line: `pacing: REASON`.
Sleeps in simulated time have the comment `simulated time`.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Calls that wait for a time, by the ending of the file.
WAITS = {
    ".py": re.compile(r"\bsleep\("),
    ".mjs": re.compile(r"\b(sleep|setTimeout|waitForTimeout)\("),
    ".sh": re.compile(r"^\s*([^'\"#]*[;|&]\s*|(do|then)\s+)?sleep\s"),
    ".rs": re.compile(r"\b(sleep|sleep_until)\("),
}
REASON = re.compile(r"(#|//) (pacing: \S|simulated time)")
# Rust code that only tests use.
RUST_TESTS = re.compile(r"^crates/(launcher-testkit/|[^/]+/tests/|[^/]+/src/.*tests?(\.rs$|/))")


def main():
    files = subprocess.run(["git", "ls-files", "e2e", "crates"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    wrong = []
    for name in files.stdout.splitlines():
        path = ROOT / name
        pattern = WAITS.get(path.suffix)
        is_test = name.startswith("e2e/") or RUST_TESTS.match(name)
        if pattern and is_test and path != pathlib.Path(__file__).resolve():
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if pattern.search(line) and not REASON.search(line):
                    wrong.append(f"{name}:{number}: {line.strip()}")
    if wrong:
        sys.exit("\n".join(wrong) + "\nerror: a test waits for a time. Wait for an event, or name the reason: `pacing: REASON`")


if __name__ == "__main__":
    main()
