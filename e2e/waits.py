#!/usr/bin/env python3
"""Refuses fixed waits in tests: a test waits for an event, because a machine may be slower than the author's. For the same
reason, it refuses limits of less than 30 seconds, except in scripts of the shell and of the browser.

A pause between two looks, or of a client that is slow on purpose, names its reason on the same line: `pacing: REASON`. So does
a limit that no slow machine can turn into a failure. Sleeps and limits in simulated time have the comment `simulated time`.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Calls that wait for a time, and short limits, by the ending of the file.
WAITS = {
    ".go": re.compile(r"\btime\.Sleep\("),
    ".py": re.compile(r"\bsleep\(|\btimeout=[12]?\d(\.\d+)?\b"),
    ".mjs": re.compile(r"\b(sleep|setTimeout|waitForTimeout)\("),
    ".sh": re.compile(r"^\s*([^'\"#]*[;|&]\s*|(do|then)\s+)?sleep\s"),
    ".rs": re.compile(r"\b(sleep|sleep_until)\(|timeout(_at)?\(.*\bfrom_(millis\(|secs\([12]?\d\))"),
}
REASON = re.compile(r"(#|//) (pacing: \S|simulated time)")
# Rust code that only tests use: files, and the end of a file.
RUST_TESTS = re.compile(r"^crates/(launcher-testkit/|[^/]+/tests/|[^/]+/src/.*tests?(\.rs$|/))")
RUST_TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{$", re.M)
# These have the patterns.
OWN = ("e2e/waits.py", "e2e/runner/test_waits.py")


def findings(name, text):
    """Returns the lines of this file of the repository that wait without a reason, as FILE:LINE: TEXT."""
    pattern, begin = WAITS.get(pathlib.Path(name).suffix), 0
    if not pattern or name in OWN:
        return []
    if not name.startswith("e2e/") and not RUST_TESTS.match(name):
        module = RUST_TEST_MODULE.search(text)
        begin = text.count("\n", 0, module.start()) if module else len(text)
    lines = list(enumerate(text.splitlines(), 1))[begin:]
    return [f"{name}:{number}: {line.strip()}" for number, line in lines if pattern.search(line) and not REASON.search(line)]


def main():
    files = subprocess.run(["git", "ls-files", "e2e", "crates"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    names = [name for name in files.stdout.splitlines() if pathlib.Path(name).suffix in WAITS]
    wrong = [found for name in names for found in findings(name, (ROOT / name).read_text())]
    if wrong:
        sys.exit("\n".join(wrong) + "\nerror: a test waits for a time. Wait for an event, or name the reason: `pacing: REASON`")


if __name__ == "__main__":
    main()
