#!/usr/bin/env python3
"""Runs the tests of chosen crates with the test programs of `cargo test --workspace`.

rust_tests.py run CRATE...: runs the tests of these crates, without the test programs that other tiers run (OWN_TIERS).
rust_tests.py run CRATE:TARGET...: runs only this test program of the crate. For a repetition, TESTS_AGAIN has the tests to
run instead, CRATE:TARGET::TEST, one a line.
rust_tests.py covered CRATE...: fails if a crate that is not listed has tests, or if there is a warning. tiers.sh makes
clippy a part of the build. Prints a note for each language that lacks texts.

`cargo test --package CRATE` would build many dependencies a second time, with the features that this crate alone
needs. This script builds the whole workspace once and gets the list of test programs from cargo.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

BUILD = "cargo test --workspace --all-features --locked --no-run --message-format json".split()

# Test programs with needs of their own: the tiers `engine_docker` and `engine_podman` run `containers` with real engines.
# `simulation` runs many seeds beside the tests that wait.
OWN_TIERS = {"launcher-fleet:containers", "launcher-service:simulation"}


def built_programs():
    """Builds the test programs and the examples of the workspace. Exits after an error.

    Returns [(crate, target, directory, program)] of the tests, the number of warnings, and {name: program} of the examples.
    """
    programs, warnings, examples = [], 0, {}
    with subprocess.Popen(BUILD, stdout=subprocess.PIPE, text=True) as build:
        for message in map(json.loads, build.stdout):
            if message["reason"] == "compiler-message":
                warnings += message["message"]["level"] == "warning"
                print(message["message"]["rendered"], file=sys.stderr)
            if message["reason"] == "compiler-artifact" and message["target"]["kind"] == ["example"]:
                examples[message["target"]["name"]] = message["executable"]
            if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
                directory = pathlib.Path(message["manifest_path"]).parent
                programs.append((directory.name, message["target"]["name"], directory, message["executable"]))
    if build.returncode:
        sys.exit("error: the build failed")
    return programs, warnings, examples


def run(crates, programs, *_):
    chosen = [program for wanted in crates for program in sorted(programs) if is_chosen(wanted, *program[:2])]
    # Two at a time, because many tests wait for locks, timeouts and other programs.
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        failed = [name for name in pool.map(run_program, chosen) if name]
    return f"failed: {', '.join(failed)}" if failed else None


def is_chosen(wanted, crate, target):
    program = f"{crate}:{target}"
    return wanted == program or (wanted == crate and program not in OWN_TIERS)


def run_program(found):
    """Runs one test program, prints its output, and records its tests. Returns its name if a test failed."""
    crate, target, directory, program = found
    # Cargo starts tests in the crate's directory and sets these variables. Some tests depend on both. The test harness
    # prints the durations of tests only with options that a stable compiler permits by RUSTC_BOOTSTRAP.
    variables = {"CARGO_MANIFEST_DIR": str(directory), "CARGO_PKG_NAME": crate, "RUSTC_BOOTSTRAP": "1"}
    again = [test.removeprefix(f"{crate}:{target}::") for test in os.environ.get("TESTS_AGAIN", "").splitlines()]
    # TEST_IDLE: the scheduling class `idle` gives the program only time that no other test uses. Not the build: others wait for it.
    prefix = ["chrt", "--idle", "0"] if os.environ.get("TEST_IDLE") else []
    done = subprocess.run(
        [*prefix, program, "-Zunstable-options", "--report-time", *(["--exact", *again] if again else [])], cwd=directory, env=os.environ | variables,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    output = done.stdout.decode(errors="replace")
    record(f"{crate}:{target}", output)
    shown = output if done.returncode else "\n".join(line for line in output.splitlines() if line.startswith("test result"))
    print(f"-- {crate}: {target}\n{shown}", flush=True)
    return f"{crate}: {target}" if done.returncode != 0 else None


def record(program, output):
    """Appends a line of JSON for each test to the file that TEST_RECORD names. The CPU time of one test is unknown.

    The output of a failed test is what the harness prints of it below `failures:`.

    An ignored test is a part of another one, which runs it in a process of its own.
    """
    if "TEST_RECORD" not in os.environ:
        return
    found = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED).*?(?:<([\d.]+)s>)?$", output, re.M)
    outputs = dict(re.findall(r"^---- (\S+) stdout ----\n(.*?)(?=^---- |^failures:$)", output, re.M | re.S))
    with open(os.environ["TEST_RECORD"], "a") as file:
        for name, outcome, seconds in found:
            path = f"{program}::{name}"
            test = {"tier": os.environ["TEST_TIER"], "test": path, "path": path, "outcome": "passed" if outcome == "ok" else "failed"}
            test |= {"seconds": float(seconds or 0), "cpu": None, "output": outputs.get(name, "")[-4000:]}
            file.write(json.dumps(test) + "\n")


def covered(crates, programs, warnings, examples):
    untranslated = subprocess.run([examples["translations"]], stdout=subprocess.PIPE, text=True, check=True)
    for line in untranslated.stdout.splitlines():
        print(f"note: {line}")
    if warnings:
        return f"error: {warnings} warnings of the compiler or of clippy, see above"
    missing = {program[0] for program in programs} - set(crates)
    return f"no tier runs the tests of: {', '.join(sorted(missing))}" if missing else None


def main():
    command, *crates = sys.argv[1:]
    programs, *rest = built_programs()
    unknown = set(crates) - {program[0] for program in programs} - {":".join(program[:2]) for program in programs}
    if unknown:
        sys.exit(f"no test programs of: {', '.join(sorted(unknown))}")
    if not crates:
        sys.exit("error: name the crates")
    sys.exit({"run": run, "covered": covered}[command](crates, programs, *rest))


if __name__ == "__main__":
    main()
