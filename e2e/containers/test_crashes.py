"""Kept files after unplanned ends: an app that is killed or exceeds its memory until its workshop fails, and a killed
sidecar. The next launch of the same user and the download have the last saved byte."""

import contextlib
import os
import signal
import typing

import pytest
from harness import wait_for
from saved_files import downloaded
from test_kept_files import WORK, shell
from world import ALICE, BOB, SHELL


def kill(part):
    """Returns a function that kills the first process of this container of a workshop."""
    return lambda world, name: os.kill(world.container(name, part)["State"]["Pid"], signal.SIGKILL)


def exceed_memory(world, name):
    with contextlib.suppress(OSError):
        status, _ = world.visit(name, path="/take/512")
        assert status != 200, "the app has more memory than its limit"


class Cause(typing.NamedTuple):
    """A cause of failures. The workshop fails after it has happened so many times."""

    happen: typing.Callable
    times: int
    codes: tuple


# Some versions of the engines do not report an OOM kill. The launcher then takes each SIGKILL of an app for one.
CAUSES = {
    "killed app": Cause(kill("app"), 3, ("crashed", "out-of-memory")),
    "exceeded memory": Cause(exceed_memory, 3, ("out-of-memory",)),
    "killed sidecar": Cause(kill("sidecar"), 1, ("crashed",)),
}


def until_restarted(world, name, last_crash):
    """Waits until the app answers after a crash that is newer than this one. Returns the newer one."""
    newer = lambda: world.instance(name)["last_crash"] != last_crash
    wait_for(f"a crash of {name}", newer, 30)
    wait_for(f"{name} to answer again", lambda: world.visit(name)[0] == 200, 30)
    return world.instance(name)["last_crash"]


@pytest.fixture(scope="module")
def failed(world):
    """A failed workshop of Alice for each cause, {cause: (template, instance)}. It has written a line before each crash."""
    templates = {cause: world.template(SHELL, name=cause, storage=WORK) for cause in CAUSES}
    names = {cause: world.launch(template) for cause, template in templates.items()}
    for name in names.values():
        world.until(name, "running")
    crashes = dict.fromkeys(CAUSES)
    # All causes happen at the same time, because each one takes some seconds.
    for number in range(1, 4):
        crashing = [cause for cause in CAUSES if number <= CAUSES[cause].times]
        for cause in crashing:
            shell(world, names[cause], f"echo line {number} >> /work/file")
            CAUSES[cause].happen(world, names[cause])
        for cause in crashing:
            if number < CAUSES[cause].times:
                crashes[cause] = until_restarted(world, names[cause], crashes[cause])
    return {cause: (templates[cause], world.until(name, "failed")) for cause, name in names.items()}


@pytest.mark.parametrize("cause", CAUSES)
def test_next_launch_and_download_have_the_last_saved_byte(world, failed, cause):
    template, instance = failed[cause]
    written = "".join(f"line {number}\n" for number in range(1, CAUSES[cause].times + 1))
    assert instance["reason"]["code"] in CAUSES[cause].codes, instance["reason"]
    assert instance["reason"]["remedy"].startswith("The saved files of this workshop are kept."), instance["reason"]
    world.until_gone(instance["k8s_name"])
    path = f"/volumes/{instance['volume']}/download"
    assert downloaded(world.launcher, path, ALICE, BOB) == {"file": written}

    for email, found in ((ALICE, f"{written}file\n"), (BOB, "")):
        name = world.launch(template, email)
        world.until(name, "running")
        assert shell(world, name, "cat /work/file 2>/dev/null; ls -A /work", email) == found
        world.end(name, email)
