#!/usr/bin/env python3
"""Runs the tests of chosen crates with the test programs of `cargo test --workspace`.

rust_tests.py run CRATE...: runs the tests of these crates, without the test programs that other tiers run (OWN_TIERS).
rust_tests.py run CRATE:TARGET...: runs only this test program of the crate.
rust_tests.py covered CRATE...: fails if a crate that is not listed has tests.

`cargo test --package CRATE` would build many dependencies a second time, with the features that this crate alone
needs. This script builds the whole workspace once and gets the list of test programs from cargo.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

BUILD = "cargo test --workspace --all-features --locked --no-run --message-format json-render-diagnostics".split()

# Test programs with needs of their own: the tier `containers` runs them with real engines.
OWN_TIERS = {"launcher-fleet:containers"}


def built_programs():
    """Builds the test programs of the workspace. Returns [(crate, target, directory, program)]."""
    build = subprocess.run(BUILD, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in build.stdout.splitlines()]
    programs = []
    for message in messages:
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            directory = pathlib.Path(message["manifest_path"]).parent
            programs.append((directory.name, message["target"]["name"], directory, message["executable"]))
    return programs


def run(crates, programs):
    chosen = [program for wanted in crates for program in sorted(programs) if is_chosen(wanted, *program[:2])]
    # Two at a time, because many tests wait for locks, timeouts and other programs.
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        failed = [name for name in pool.map(run_program, chosen) if name]
    return f"failed: {', '.join(failed)}" if failed else None


def is_chosen(wanted, crate, target):
    program = f"{crate}:{target}"
    return wanted == program or (wanted == crate and program not in OWN_TIERS)


def run_program(found):
    """Runs one test program and prints its output. Returns its name if a test failed."""
    crate, target, directory, program = found
    # Cargo starts tests in the crate's directory and sets these variables. Some tests depend on both.
    environment = os.environ | {"CARGO_MANIFEST_DIR": str(directory), "CARGO_PKG_NAME": crate}
    done = subprocess.run(
        [program, "--quiet"], cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    sys.stdout.buffer.write(f"-- {crate}: {target}\n".encode() + done.stdout)
    sys.stdout.flush()
    return f"{crate}: {target}" if done.returncode != 0 else None


def covered(crates, programs):
    missing = {program[0] for program in programs} - set(crates)
    return f"no tier runs the tests of: {', '.join(sorted(missing))}" if missing else None


def main():
    command, *crates = sys.argv[1:]
    programs = built_programs()
    unknown = set(crates) - {program[0] for program in programs} - {":".join(program[:2]) for program in programs}
    if unknown:
        sys.exit(f"no test programs of: {', '.join(sorted(unknown))}")
    sys.exit({"run": run, "covered": covered}[command](crates, programs))


if __name__ == "__main__":
    main()
