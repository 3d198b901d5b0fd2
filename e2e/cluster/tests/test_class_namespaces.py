"""Classes with namespaces of their own: workloads and kept files are there."""

import contextlib
import uuid

import pytest
from harness import exchange, wait_for
from local_volumes import local_volumes
from world import ALICE, APP, World

CLASSES = f"class-{uuid.uuid4().hex[:8]}"
STORAGE = f"storage-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def world():
    """A world with a namespace of classes, CLASSES."""
    listed = {"SERVICE_CLASS_NAMESPACES": CLASSES}
    with World("classes", processes=False) as made, contextlib.ExitStack() as stack:
        stack.callback(made.kubectl, "delete", "namespace", CLASSES, "--wait=false", "--ignore-not-found")
        made.make_namespace(CLASSES)
        stack.enter_context(local_volumes(made, STORAGE, 1))
        made.launcher, made.operator = made.new_launcher(**listed), made.new_operator(**listed, SERVICE_STORAGE_CLASS=STORAGE)
        made.launcher.start()
        made.operator.start()
        yield made


def names(world, kind):
    """Returns the names of these objects in the namespace of classes."""
    return world.kubectl("get", kind, "--namespace", CLASSES, "--output", "jsonpath={.items[*].metadata.name}").split()


def create_class(world, **changes):
    """Creates a class in the namespace of classes, with a template and a student. Returns the path of its template."""
    slug = world.ask(201, "POST", "/classes/", body={"name": "Statistics", "namespace": CLASSES})["slug"]
    template = world.ask(201, "POST", f"/classes/{slug}/templates/", body=APP | changes)["template_id"]
    world.ask(200, "PUT", f"/classes/{slug}/members/{ALICE}", body={"role": "student", "name": ""})
    return f"/classes/{slug}/templates/{template}"


def test_workload_and_kept_files_of_a_class_are_in_its_namespace(world):
    template = create_class(world, storage={"kind": "kept", "path": "/data", "size": "1Gi"})
    name = world.ask(201, "POST", f"{template}/launch", ALICE, {})["k8s_name"]
    world.until(name, "running")
    (volume,) = names(world, "persistentvolumeclaims")
    assert names(world, "workshops,pods,services") == [name] * 3
    assert [world.objects(kind) for kind in ("workshops", "pods", "persistentvolumeclaims")] == [[], [], []]
    world.end(name)
    world.until(name, "terminated")
    assert names(world, "workshops,pods,services") == []

    def download():
        identity = {"X-Auth-Request-Email": ALICE}
        status, _, body = exchange(world.launcher.port, "GET", f"/api/v1/volumes/{volume}/download", identity)
        return status == 200 and body

    assert wait_for("the download", download)
    wait_for("the end of the download", lambda: names(world, "workshopdownloads,pods") == [])
    world.ask(204, "DELETE", f"/volumes/{volume}", ALICE)
    wait_for("the deletion of the volume", lambda: names(world, "persistentvolumeclaims") == [])
    world.assert_nothing_was_forbidden()
