"""Images that an admin pulls ahead of a launch: their states, one pull for all, and the end with the launcher."""

import time

import pytest
from harness import ADMIN, exchange, wait_for
from registry import Registry, SlowConnection
from world import ALICE, QUICK, World

# The image has one layer of this many random bytes.
LAYER = 8 * 1024 * 1024
# Bytes per second, so that a pull takes some seconds.
RATE = 2_000_000


@pytest.fixture(scope="module")
def registry(world):
    with Registry() as registry:
        registry.push_large(world.api)
        yield registry


@pytest.fixture
def road(registry):
    """A slow connection to the registry."""
    with SlowConnection(registry.port, RATE) as road:
        yield road


@pytest.fixture
def slow(world, road):
    """The name of an image that takes some seconds to pull. Removed afterwards."""
    image = f"{road.prefix}/pull:test"
    yield image
    world.api.request("DELETE", f"/images/{image}?force=true")


def image(world, template, method="GET", path="", expected=200):
    status, _, body = world.launcher.request(method, f"/templates/{template}/image{path}", body=None)
    assert status == expected, (status, body)
    return body


def page(world, method, path):
    """Sends a request of an admin's browser. Returns (status, body)."""
    headers = {"X-Auth-Request-Email": ADMIN, "Sec-Fetch-Site": "same-origin"}
    if method == "POST":
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    status, _, text = exchange(world.launcher.port, method, path, headers)
    return status, text.decode()


def pull(world, template):
    return image(world, template, "POST", "/pull", 202)


def until(world, template, state, seconds=60):
    """Waits until the image is in this state. Returns all answers on the way."""
    seen = []

    def look():
        seen.append(image(world, template))
        return seen[-1]["state"] == state

    wait_for(f"the image to be {state}", look, seconds)
    return seen


def assert_layer_sent_once(road):
    """The registry has sent the image's large layer, and not a second time."""
    assert LAYER <= road.sent < 1.5 * LAYER, road.sent


def test_requested_image_is_pulled_once_with_its_progress(world, road, slow):
    template = world.template(QUICK, image=slow)
    assert image(world, template) == {"state": "missing", "percent": None, "reason": None}
    assert [pull(world, template)["state"] for _ in range(3)] == ["pulling"] * 3
    seen = until(world, template, "ready")
    assert {each["state"] for each in seen} == {"pulling", "ready"}, seen
    percents = [each["percent"] for each in seen[:-1]]
    assert percents == sorted(percents) and any(0 < percent < 100 for percent in percents), percents
    assert_layer_sent_once(road)
    assert pull(world, template)["state"] == "ready"
    name = world.launch(template)
    steps = {world.instance(name)["start_step"]}
    wait_for("the workshop to run", lambda: steps.add((row := world.instance(name))["start_step"]) or row["state"] == "running", 30)
    assert "pulling-image" not in steps
    world.end(name)
    world.until_gone(name)


def test_launches_and_requests_share_a_pull(world, road, slow):
    template = world.template(QUICK, image=slow)
    road.is_open.clear()
    names = [world.launch(template, ALICE)]
    until(world, template, "pulling")
    pull(world, template)
    names.append(world.launch(template, "bob@example.org"))
    # The pull that an admin has requested continues without the launch that began it.
    world.end(names[0])
    world.until_gone(names[0])
    progress = lambda: (world.instance(names[1])["start_progress"] or 0) > 0
    wait_for("the progress of the other launch", progress, 60)
    assert image(world, template)["state"] == "pulling"
    road.is_open.set()
    steps = set()

    def runs():
        row = world.instance(names[1])
        steps.add((row["start_step"], (row["start_progress"] or 0) > 0))
        return row["state"] == "running"

    wait_for("the other workshop to run", runs, 60)
    assert ("pulling-image", True) in steps, steps
    assert image(world, template)["state"] == "ready"
    assert_layer_sent_once(road)
    world.end(names[1])
    world.until_gone(names[1])


def test_missing_image_is_explained(world, registry):
    missing = f"{registry.prefix}/missing:test"
    template = world.template(QUICK, image=missing)
    pull(world, template)
    reason = until(world, template, "failed")[-1]["reason"]
    assert reason["code"] == "image-pull-failed" and missing in reason["message"], reason
    assert not reason["retryable"], reason
    # A text that is no image reference.
    wrong = world.template(QUICK, image="UPPER/case:test")
    pull(world, wrong)
    assert until(world, wrong, "failed")[-1]["reason"]["code"] == "image-pull-failed"


def test_pages_show_the_state(world, slow):
    template = world.template(QUICK, name="shown", image=slow)

    def line():
        status, text = page(world, "GET", "/admin/templates")
        assert status == 200, text
        return text.split(f'id="image-{template}"')[1].split("</div>")[0]

    assert "Image not on this server" in line() and "Download now" in line()
    status, _ = page(world, "POST", f"/admin/templates/{template}/image")
    assert status == 303
    wait_for("the page to show the progress", lambda: "Downloading: " in line(), 30)
    wait_for("the page to show the end", lambda: "Image ready on this server" in line(), 60)


def test_stop_of_the_launcher_ends_a_pull(registry):
    with World() as world, SlowConnection(registry.port, RATE // 20) as road:
        template = world.template(QUICK, image=f"{road.prefix}/pull:test")
        pull(world, template)
        wait_for("the download to begin", lambda: image(world, template)["percent"], 30)
        begin = time.monotonic()
        world.launcher.stop()
        assert time.monotonic() - begin < 10
        world.launcher.start()
        assert image(world, template)["state"] == "missing"
