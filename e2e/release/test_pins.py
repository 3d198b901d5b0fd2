"""Checks that the workflows and the images use only pinned parts, and the same compiler."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
DOCKERFILES = {path.name.removesuffix(".Dockerfile"): path.read_text() for path in sorted((ROOT / "images").glob("*.Dockerfile"))}
COMPILER = re.compile(r"^FROM docker\.io/library/rust:([0-9.]+)-slim-bookworm@sha256:[0-9a-f]{64} AS build$", re.MULTILINE)


def test_actions_are_pinned_by_one_commit_and_name_their_version():
    found = {path.name: re.findall(r"uses: (.*)", path.read_text()) for path in WORKFLOWS}
    uses = [one for each in found.values() for one in each]
    assert all(found.values()) and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+", one) for one in uses), uses
    assert len(set(uses)) == len({one.partition("@")[0] for one in uses})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_may_write_only_what_its_jobs_name(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] in ({}, {"contents": "read"})
    writing = {name: {what for what, level in job.get("permissions", {}).items() if level == "write"} for name, job in workflow["jobs"].items()}
    release = {"build": set(), "publish": {"packages", "id-token", "attestations"}, "release": {"contents"}}
    assert writing == (release if path.name == "release.yml" else {name: set() for name in workflow["jobs"]})


def test_workflow_compares_builds_of_every_runner():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    compared = [line for step in jobs["publish"]["steps"] for line in step.get("run", "").splitlines() if "compare.sh" in line]
    matrix = jobs["build"]["strategy"]["matrix"]
    assert matrix["copy"] == ["first", "second"]
    assert compared == [f"packaging/release/compare.sh parts/first-{runner} parts/second-{runner}" for runner in matrix["runner"]]


def test_dependencies_are_checked_daily():
    workflow = yaml.safe_load((ROOT / ".github/workflows/daily.yml").read_text())
    # YAML reads the key `on` as true.
    triggers, job = workflow[True], workflow["jobs"]["deny"]
    assert "workflow_dispatch" in triggers
    assert [re.fullmatch(r"\d+ \d+ \* \* \*", one["cron"]) is not None for one in triggers["schedule"]] == [True]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[-1] == "make deny" and any('cargo install --locked "cargo-deny@$CARGO_DENY"' in one for one in commands)


def test_images_and_workflows_use_one_compiler():
    compilers = {COMPILER.search(text)[0]: COMPILER.search(text)[1] for text in DOCKERFILES.values()}
    assert len(DOCKERFILES) == 3 and len(compilers) == 1
    assert all(re.findall(r"^ +RUST: (.*)$", path.read_text(), re.MULTILINE) == list(compilers.values()) for path in WORKFLOWS)


@pytest.mark.parametrize("name", DOCKERFILES)
def test_last_stage_of_image_can_be_built_alone_and_program_prints_commit(name):
    first, last = DOCKERFILES[name].split("\nFROM scratch\n")
    copies = re.findall(r"^COPY .*$", last, re.MULTILINE)
    assert copies and all(copy.startswith(f"COPY --from=build /src/target/images/{name}/") for copy in copies)
    assert re.search(rf"^ARG LAUNCHER_COMMIT\nRUN images/build\.sh {name}$", first, re.MULTILINE)
    # The images of each change are built as those of a release, and print the commit.
    ci = (ROOT / ".github/workflows/ci.yml").read_text()
    assert f'--file images/{name}.Dockerfile --build-arg "LAUNCHER_COMMIT=${{GITHUB_SHA:0:7}}"' in ci
    assert f'docker run --rm {name} --version | grep --fixed-strings "(${{GITHUB_SHA:0:7}})"' in ci
