"""Checks that the workflows and the images use only pinned parts, and the same compiler."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
DOCKERFILES = sorted((ROOT / "images").glob("*.Dockerfile"))
COMPILER = re.compile(r"^FROM docker\.io/library/rust:([0-9.]+)-slim-bookworm@sha256:[0-9a-f]{64} AS build$", re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_name_their_version(path):
    uses = re.findall(r"uses: (.*)", path.read_text())
    assert uses
    for one in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+", one), one


def test_action_has_one_version_in_all_workflows():
    versions = {}
    for path in WORKFLOWS:
        for name, version in re.findall(r"uses: ([^@]+)@(.*)", path.read_text()):
            assert versions.setdefault(name, version) == version, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_may_write_only_what_its_jobs_name(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] in ({}, {"contents": "read"})
    writing = {name: {what for what, level in job.get("permissions", {}).items() if level == "write"} for name, job in workflow["jobs"].items()}
    release = {"build": set(), "publish": {"packages", "id-token", "attestations"}, "release": {"contents"}}
    assert writing == (release if path.name == "release.yml" else {name: set() for name in workflow["jobs"]})


def test_images_and_workflows_use_one_compiler():
    compilers = {COMPILER.search(path.read_text())[0] for path in DOCKERFILES}
    assert len(DOCKERFILES) == 3 and len(compilers) == 1
    version = COMPILER.search(DOCKERFILES[0].read_text())[1]
    for path in WORKFLOWS:
        assert re.findall(r"^ +RUST: (.*)$", path.read_text(), re.MULTILINE) == [version], path.name


def test_last_stage_of_image_can_be_built_alone():
    for path in DOCKERFILES:
        stages = path.read_text().split("\nFROM scratch\n")
        assert len(stages) == 2
        name = path.name.removesuffix(".Dockerfile")
        copies = re.findall(r"^COPY .*$", stages[1], re.MULTILINE)
        assert copies and all(copy.startswith(f"COPY --from=build /src/target/images/{name}/") for copy in copies)


def test_program_of_every_image_prints_commit():
    for path in DOCKERFILES:
        name = path.name.removesuffix(".Dockerfile")
        assert re.search(rf"^ARG LAUNCHER_COMMIT\nRUN images/build\.sh {name}$", path.read_text(), re.MULTILINE), path.name
        # The images of each change are built as those of a release, and print the commit.
        ci = (ROOT / ".github/workflows/ci.yml").read_text()
        assert f'--file images/{path.name} --build-arg "LAUNCHER_COMMIT=${{GITHUB_SHA:0:7}}"' in ci
        assert f'docker run --rm {name} --version | grep --fixed-strings "(${{GITHUB_SHA:0:7}})"' in ci
