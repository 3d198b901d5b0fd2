#!/usr/bin/env python3
"""pin.py: after a change of a version in tools/go.mod, writes go.mod and go.sum anew.

They name exactly the modules of which the programs consist. `go mod tidy` would add those of their tests, and of the parts
that tools/NAME/change.sh leaves out.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile

CLUSTER = pathlib.Path(__file__).resolve().parent
TOOLS = CLUSTER / "tools"
ENVIRONMENT = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off", "CGO_ENABLED": "0"}
TAGS = re.search(r"-tags (\S+)", (CLUSTER / "common.sh").read_text())[1]
PROGRAMS = [line.split() for line in (TOOLS / "programs").read_text().splitlines() if not line.startswith("#")]


def run(*words):
    return subprocess.run(words, cwd=TOOLS, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True).stdout


def sums(module):
    """Returns the lines of go.sum for a module: NAME@VERSION."""
    told = json.loads(run("go", "mod", "download", "-json", module))
    return {f"{told['Path']} {told['Version']}{file} {told[key]}" for file, key in (("", "Sum"), ("/go.mod", "GoModSum"))}


def listed(modfile):
    """Lets Go complete modfile and its go.sum. Returns {name: version} of the modules of which the programs consist."""
    packages = [words[1] for words in PROGRAMS]
    told = run("go", "list", "-modfile", modfile, "-tags", TAGS, "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", *packages)
    return dict(line.split() for line in told.splitlines() if " v" in line)


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        modfile = work / "go.mod"
        pins = (TOOLS / "go.mod").read_text()
        additional = set()
        for name, _, *changed in PROGRAMS:
            for module in changed:
                version = re.search(rf"^\t{re.escape(module)} (v\S+)$", pins, re.MULTILINE)[1]
                additional |= sums(f"{module}@{version}")
                script = f'source {CLUSTER}/common.sh; changed_source {name} {module}@{version} {work}/{name}'
                run("bash", "-ec", script)
                pins += f"\nreplace {module} => {work}/{name}/source\n"
                for fork in re.findall(r"=(\S+@v\S+)", (TOOLS / name / "change.sh").read_text()):
                    additional |= sums(fork)
        modfile.write_text(pins)
        found = listed(modfile)
        direct, _, rest = pins.partition("// All other modules")
        direct = re.sub(r"^\t(\S+) v\S+$", lambda line: f"\t{line[1]} {found[line[1]]}", direct, flags=re.MULTILINE)
        others = "".join(f"\t{name} {found[name]} // indirect\n" for name in sorted(found) if f"\t{name} v" not in direct)
        comment, after = rest.partition("\n")[0], rest.partition("\n)\n")[2]
        pins = f"{direct}// All other modules{comment}\nrequire (\n{others})\n{after}"
        modfile.write_text(pins)
        (work / "go.sum").unlink()
        listed(modfile)
        lines = additional | set((work / "go.sum").read_text().splitlines())
    (TOOLS / "go.mod").write_text(re.sub(rf"\nreplace \S+ => {work}\S+\n", "", pins))
    (TOOLS / "go.sum").write_text("".join(f"{line}\n" for line in sorted(lines, key=str.split)))


if __name__ == "__main__":
    main()
