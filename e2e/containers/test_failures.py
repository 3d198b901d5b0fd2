"""Failures from real causes: the owner reads the reason, everything of the workshop is removed, others are unaffected."""

import re
import typing

import pytest
from harness import wait_for
from registry import Registry, SlowConnection
from traces import traces, until_nothing_new
from world import ALICE, ENGINE, IMAGES, QUICK, RESOURCES, SHELL, World

TELL = "Tell your teacher or an administrator"
LOST = r"Files that were not saved elsewhere are lost\. Launch it again"
START_TIMEOUT = 20
# Writes text that no terminal should see, then ends.
BINARY_LAST_WORDS = (
    "import sys, os; os.write(1, b'\\xff\\x00\\x1b[31m' + b'z' * 300000 + b'\\n' + "
    "b''.join(b'line %d\\n' % each for each in range(40)) + b'caf\\xc3\\xa9'); sys.exit(3)"
)


class Cause(typing.NamedTuple):
    """A cause of failure. `message` and `remedy` are patterns for the beginning of the texts that the owner reads."""

    code: str
    message: str
    remedy: str
    changes: dict
    log_tail: str = r"^$"


CAUSES = {
    "missing image": Cause("image-pull-failed", ".*127.0.0.1:.*/missing:test", TELL, {"image": "{open}/missing:test"}),
    "missing tag": Cause("image-pull-failed", ".*/quick:none", TELL, {"image": "{open}/quick:none"}),
    "private image": Cause("image-pull-failed", ".*/private:test", TELL, {"image": "{private}/private:test"}),
    "no registry": Cause("image-pull-failed", ".*127.0.0.1:9/quick:test", TELL, {"image": "127.0.0.1:9/quick:test"}),
    "missing command": Cause("invalid-spec", ".*/no/such/program", TELL, {"command": ["/no/such/program"]}),
    "command is a folder": Cause("invalid-spec", r"The workshop's template has settings that cannot run\.", TELL, {"command": ["/etc"]}),
    "exit": Cause(
        "crashed", r"The workshop's program stopped unexpectedly\..*3", LOST,
        {"command": ["sh", "-c", "echo the last words; exit 3"]}, r"the last words\s*$",
    ),
    "exit with status 0": Cause("crashed", r"The workshop's program stopped unexpectedly\.", LOST, {"command": ["true"]}),
    "binary output": Cause(
        "crashed", r"The workshop's program stopped unexpectedly\.", LOST,
        {"command": ["python3", "-c", BINARY_LAST_WORDS]}, r"line 39\s*café$",
    ),
    "too little memory": Cause(
        "out-of-memory", r"The workshop exceeded its memory limit\.$", LOST,
        {"command": ["python3", "-c", "x = [b'x' * (1 << 20) for _ in range(2000)]"],
         "resources": RESOURCES | {"memory_limit": "32Mi"}},
    ),
    "no answer": Cause(
        "start-timeout", r"The workshop did not become ready in time\. The app runs but does not answer on its port\.$",
        r"Launch it again", {"command": ["sleep", "1000"]},
    ),
    "memory limit below the engine's least": Cause(
        "(invalid-spec|out-of-memory|crashed)", ".", ".", {"resources": RESOURCES | {"memory_request": "1Mi", "memory_limit": "4Mi"}},
        r"",
    ),
}


@pytest.fixture(scope="module")
def world():
    with World(SERVICE_START_TIMEOUT=str(START_TIMEOUT)) as made:
        yield made


@pytest.fixture(scope="module")
def registries(world):
    with Registry() as open_one, Registry(is_private=True) as private:
        open_one.push(world.api, f"{IMAGES}/quick:test", "quick:test")
        private.push(world.api, f"{IMAGES}/quick:test", "private:test")
        open_one.push_large(world.api)
        yield {"open": open_one, "private": private}


@pytest.fixture(scope="module")
def healthy(world):
    return world.running(SHELL, "healthy@example.org")


@pytest.fixture(scope="module")
def before(world, healthy):
    return traces(world.api)


@pytest.fixture(scope="module")
def launched(world, registries, before):
    """Launches a workshop for each cause, all at the same time."""
    prefixes = {name: registry.prefix for name, registry in registries.items()}
    names = {}
    for cause, expected in CAUSES.items():
        changes = dict(expected.changes)
        if "image" in changes:
            changes["image"] = changes["image"].format(**prefixes)
        names[cause] = world.launch(world.template(SHELL, name=cause, **changes))
    return names


@pytest.mark.parametrize("cause", CAUSES)
def test_failure_is_explained(world, launched, cause):
    expected = CAUSES[cause]
    failed = world.until(launched[cause], "failed", START_TIMEOUT + 40)
    reason = failed["reason"]
    assert re.fullmatch(expected.code, reason["code"]), reason
    assert re.match(expected.message, reason["message"]), reason
    assert re.match(expected.remedy, reason["remedy"]), reason
    assert failed["url"] is None
    tail = failed["log_tail"] or ""
    assert re.search(expected.log_tail, tail), repr(tail[-500:])
    assert len(tail.splitlines()) <= 20 and len(tail) <= 20_000 and "\x1b" not in tail and "\0" not in tail


def test_failures_leave_nothing_and_do_not_affect_other_workshops(world, launched, before, healthy):
    world.until_gone(*launched.values(), seconds=START_TIMEOUT + 40)
    until_nothing_new(world.api, before)
    assert world.started(healthy, "healthy@example.org")


def test_private_image_is_not_named_as_missing(world, launched):
    """The admin reads whether the name is wrong or the registry refuses access."""
    texts = {cause: world.until(launched[cause], "failed")["reason"]["message"] for cause in ("missing image", "private image")}
    assert re.search("unauthorized|denied|authentication|credentials", texts["private image"], re.I), texts
    assert re.search("unknown|not found|missing", texts["missing image"], re.I), texts


def test_image_is_pulled_with_its_progress_shown(world, registries):
    """A pull over a slow connection is a step of the start. Two launches at the same time share it."""
    with SlowConnection(registries["open"].port, 2_000_000) as road:
        template = world.template(QUICK, name="slow", image=f"{road.prefix}/pull:test")
        names = [world.launch(template, email) for email in (ALICE, "bob@example.org")]
        steps = set()

        def is_running():
            rows = [world.instance(name) for name in names]
            assert all(row["state"] != "failed" for row in rows), rows
            steps.update((row["start_step"], row["start_progress"]) for row in rows)
            return all(row["state"] == "running" for row in rows)

        wait_for("both workshops to run", is_running, 60)
    shown = {progress for step, progress in steps if step == "pulling-image"}
    assert shown, steps
    # Podman's API reports no bytes.
    assert ENGINE == "podman" or any(0 < progress < 100 for progress in shown), steps
    for name in names:
        world.end(name)
    world.until_gone(*names)


def test_image_that_is_present_needs_no_registry(world):
    name = world.running(QUICK, image=f"{IMAGES}/quick:test")
    assert world.visit(name)[0] == 200
    world.end(name)
