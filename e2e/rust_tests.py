#!/usr/bin/env python3
"""rust_tests.py run CRATE...: runs the tests of these crates, as `cargo test --workspace` has built them.

rust_tests.py covered CRATE...: fails if another crate of the workspace has tests.

`cargo test --package CRATE` would build many dependencies a second time, because cargo then chooses their features for
this crate alone. This script gets the list of the workspace's test programs from cargo, and builds nothing again.
"""

import json
import os
import pathlib
import subprocess
import sys

BUILD = "cargo test --workspace --all-features --locked --no-run --message-format json-render-diagnostics".split()


def test_programs():
    """Returns (crate, target, directory, program) of each test program of the workspace."""
    build = subprocess.run(BUILD, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in build.stdout.splitlines()]
    programs = []
    for message in messages:
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            directory = pathlib.Path(message["manifest_path"]).parent
            programs.append((directory.name, message["target"]["name"], directory, message["executable"]))
    return programs


def run(crates, programs):
    failed = []
    chosen = [program for program in programs if program[0] in crates]
    for crate, target, directory, program in sorted(chosen, key=lambda found: crates.index(found[0])):
        print(f"-- {crate}: {target}", flush=True)
        # As cargo does: in the crate's directory, which is also in the environment.
        environment = os.environ | {"CARGO_MANIFEST_DIR": str(directory), "CARGO_PKG_NAME": crate}
        if subprocess.run([program, "--quiet"], cwd=directory, env=environment).returncode != 0:
            failed.append(f"{crate}: {target}")
    return f"failed: {', '.join(failed)}" if failed else None


def covered(crates, programs):
    missing = {program[0] for program in programs} - set(crates)
    return f"no tier runs the tests of: {', '.join(sorted(missing))}" if missing else None


def main():
    command, *crates = sys.argv[1:]
    programs = test_programs()
    unknown = set(crates) - {program[0] for program in programs}
    if unknown:
        sys.exit(f"no test programs of: {', '.join(sorted(unknown))}")
    sys.exit({"run": run, "covered": covered}[command](crates, programs))


if __name__ == "__main__":
    main()
