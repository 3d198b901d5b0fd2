"""The expiry in the pod: an extension reaches the frame page of the sidecar, and the pod does not restart."""

import json

from harness import wait_for
from world import ALICE, parse_time

ANNOTATION = "workshoplauncher.dev/expires-at"
# The kubelet updates the files of a downwardAPI volume with its sync period (60 s) and the delay of its cache.
KUBELET_SECONDS = 150


def shown(world, name):
    """Returns the expiry that the frame page shows, or None."""
    status, body = world.visit(name, ALICE, path="/_launcher/status")
    assert status == 200, (status, body)
    expiry = json.loads(body)["expires_at"]
    return parse_time(expiry) if expiry else None


def test_extension_reaches_frame_page_without_restart(world):
    name = world.running(ALICE)
    pod = world.pod(name)
    expiry = parse_time(world.instance(name)["expires_at"])
    # The operator has written nothing: the sidecar counts the lifetime from the time at which the app was ready.
    assert abs((shown(world, name) - expiry).total_seconds()) < 30
    status, _, extended = world.launcher.request("POST", f"/instances/{name}/extend", body={}, email=ALICE)
    assert status == 200, (status, extended)
    later = parse_time(extended["expires_at"])
    assert later > expiry
    noted = lambda: world.pod(name)["metadata"]["annotations"][ANNOTATION]
    # Before the extension, the annotation had the lifetime.
    wait_for("the annotation of the pod", lambda: not noted().startswith("+") and parse_time(noted()) == later, 30)
    wait_for("the new expiry on the frame page", lambda: shown(world, name) == later, KUBELET_SECONDS)
    now = world.pod(name)
    assert now["metadata"]["uid"] == pod["metadata"]["uid"]
    restarts = [container["restartCount"] for container in now["status"]["containerStatuses"]]
    assert restarts == [0, 0]


def test_frame_page_is_for_the_owner_only(world):
    name = world.running(ALICE)
    assert world.visit(name, ALICE, path="/_launcher/frame")[0] == 200
    app = world.visit(name, "bob@example.org")
    for path in ("/_launcher/frame", "/_launcher/status", "/_launcher/frame.js"):
        assert world.visit(name, "bob@example.org", path=path) == app == (403, app[1])
