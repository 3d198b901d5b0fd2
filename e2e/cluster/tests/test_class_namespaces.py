"""Classes with namespaces of their own: workloads and kept files there, and the queue at a full quota."""

import contextlib
import json
import uuid

import pytest
from harness import APPLY, ROOT, exchange, wait_for
from local_volumes import local_volumes
from world import ALICE, APP, BOB, World

CAROL = "carol@example.org"
MAIN = "namespace: workshops\n"


class Namespace:
    """A namespace of classes, with the rights of the world's launcher and operator as the chart renders them."""

    def __init__(self, world, name, **quota):
        self.world, self.name = world, name
        labels = {"pod-security.kubernetes.io/enforce": "baseline"}
        objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}]
        if quota:
            metadata = {"name": "workshops", "namespace": name}
            objects.append({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": quota}})
        world.kubectl(*APPLY, "-", "--namespace", name, input="\n---\n".join([*map(json.dumps, objects), *self.rules()]))

    def rules(self):
        """Yields the Roles and RoleBindings of deploy/rbac.yaml, whose subjects are in the world's namespace."""
        for part in (ROOT / "deploy/rbac.yaml").read_text().split("\n---\n"):
            if "kind: Role" in part:
                own, subjects, accounts = part.partition("subjects:")
                yield own.replace(MAIN, f"namespace: {self.name}\n") + subjects + accounts.replace(
                    "namespace: workshops", f"namespace: {self.world.namespace}"
                )

    def names(self, kind):
        found = self.world.kubectl("get", kind, "--namespace", self.name, "--output", "jsonpath={.items[*].metadata.name}")
        return found.split()


@pytest.fixture(scope="module")
def places():
    """Returns a world, a namespace of classes for one pod, and one without a quota."""
    few, many = (f"{word}-{uuid.uuid4().hex[:8]}" for word in ("few", "many"))
    listed, storage = {"SERVICE_CLASS_NAMESPACES": f"{few},{many}"}, f"classes-{uuid.uuid4().hex[:8]}"
    with contextlib.ExitStack() as stack:
        world = World("classes", processes=False)
        stack.enter_context(world)
        for name in (few, many):
            stack.callback(world.kubectl, "delete", "namespace", name, "--wait=false", "--ignore-not-found")
        made = Namespace(world, few, pods="1"), Namespace(world, many)
        stack.enter_context(local_volumes(world, storage, 1))
        world.launcher = world.new_launcher(**listed)
        world.operator = world.new_operator(**listed, SERVICE_STORAGE_CLASS=storage)
        world.launcher.start()
        world.operator.start()
        yield world, *made


def create_class(world, namespace, **changes):
    """Creates a class with a template. Returns the path of its template."""
    body = {"name": namespace, "namespace": namespace}
    slug = world.ask(201, "POST", "/classes/", body=body)["slug"]
    template = world.ask(201, "POST", f"/classes/{slug}/templates/", body=APP | changes)["template_id"]
    for email in (ALICE, BOB, CAROL):
        world.ask(200, "PUT", f"/classes/{slug}/members/{email}", body={"role": "student", "name": ""})
    return f"/classes/{slug}/templates/{template}"


def launch(world, template, email):
    return world.ask(201, "POST", f"{template}/launch", email, {})["k8s_name"]


def test_full_quota_holds_the_class_and_no_other(places):
    world, few, many = places
    limited, other = create_class(world, few.name), create_class(world, many.name)
    first = launch(world, limited, ALICE)
    world.until(first, "running")
    assert (few.names("pods"), world.objects("pods"), many.names("pods")) == ([first], [], [])
    second = launch(world, limited, BOB)
    wait_for("the quota", lambda: world.instance(second)["start_step"] == "waiting-for-quota")
    third = launch(world, limited, CAROL)
    free = launch(world, other, ALICE)
    world.until(free, "running")
    assert world.instance(third)["state"] == "queued"
    assert (few.names("workshops"), many.names("pods")) == (sorted([first, second]), [free])
    for ended, started in ((first, second), (second, third)):
        world.end(ended)
        world.until(started, "running")
    assert few.names("workshops") == few.names("pods") == [third]
    world.end(third, free)
    for name in (second, third, free):
        world.until(name, "terminated")
    assert (few.names("workshops,pods,services"), many.names("workshops,pods,services")) == ([], [])
    world.assert_nothing_was_forbidden()


def test_kept_files_of_a_class_are_in_its_namespace(places):
    world, _, many = places
    template = create_class(world, many.name, storage={"kind": "kept", "path": "/data", "size": "1Gi"})
    name = launch(world, template, ALICE)
    world.until(name, "running")
    (volume,) = many.names("persistentvolumeclaims")
    assert world.objects("persistentvolumeclaims") == []
    world.end(name)
    world.until(name, "terminated")

    def download():
        identity = {"X-Auth-Request-Email": ALICE}
        status, _, body = exchange(world.launcher.port, "GET", f"/api/v1/volumes/{volume}/download", identity)
        return status == 200 and body

    assert wait_for("the download", download)
    wait_for("the end of the download", lambda: many.names("workshopdownloads,pods") == [])
    world.ask(204, "DELETE", f"/volumes/{volume}", ALICE)
    wait_for("the deletion of the volume", lambda: many.names("persistentvolumeclaims") == [])
    world.assert_nothing_was_forbidden()
