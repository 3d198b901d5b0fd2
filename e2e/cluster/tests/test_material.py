"""Course material in real pods: it is there before the app starts, the edits of the student outlive an update, and no
failure of a source stops the start."""

import base64
import json
import os
import pathlib
import socket
import subprocess
import uuid

import pytest
from git_server import git_server
from local_volumes import local_volumes
from python_app import HOME, KEPT, PYTHON, run, write
from world import IMAGES

CLASS = f"material-{uuid.uuid4().hex[:8]}"
IS_FOREIGN = "TEST_KUBECONFIG" in os.environ
WORLD = {
    "SERVICE_MATERIAL_IMAGE": f"{IMAGES}/{'material' if IS_FOREIGN else 'trusting'}:test",
    "SERVICE_STORAGE_CLASS": CLASS,
    "SERVICE_ROOM_GRACE": "180",
}
FOLDER = f"{HOME}/course"
# The certificate authority that the image trusts.
AUTHORITY = pathlib.Path(os.environ.get("KUBECONFIG", "")).parent / "pki"
PASSWORD = "correct-horse"
TEACHER = "Basic " + base64.b64encode(f"teacher:{PASSWORD}".encode()).decode()
# Prints {name: content} of the files.
FILES = f"""
import json, os
print(json.dumps({{name: open(os.path.join('{FOLDER}', name)).read() for name in os.listdir('{FOLDER}')}}))
"""

@pytest.fixture(scope="module")
def node(world):
    """The address of the node, at which pods reach this machine."""
    return world.node_address()


@pytest.fixture(scope="module", autouse=True)
def volumes(world):
    with local_volumes(world, CLASS, 1):
        yield


def source_of(course, **more):
    return {"kind": "git", "url": course.url, "ref": "main", "target": "course", **more}


def template_with(world, course, **more):
    """Creates a template with kept files and this repository. Returns its id."""
    return world.template(name="course", storage=KEPT, material={"sources": [source_of(course, **more)]}, **PYTHON)


def opened(world, template):
    """Launches the template, and waits until the workshop runs. Returns its name, and the report about its repository."""
    name = world.launch(template)
    (report,) = world.until(name, "running")["material"]
    return name, report


def files(world, name):
    return json.loads(run(world, name, FILES))


def end(world, name):
    world.end(name)
    world.until_ended(name)


def test_app_finds_files_that_it_can_change_and_a_server_that_is_down_stops_no_start(world, node):
    with socket.create_server((node, 0)) as server:
        url = f"http://{node}:{server.getsockname()[1]}/data.zip"
    down = {"kind": "archive", "url": url, "sha256": "0" * 64, "target": "down"}
    with git_server(node) as course:
        version = course.push({"lesson.txt": "lesson\n"})
        name = world.running(**PYTHON, material={"directory": HOME, "sources": [source_of(course), down]})
    found = {one["target"]: one for one in world.instance(name)["material"]}
    assert (found["course"]["outcome"], found["course"]["version"]) == ("placed", version), found
    assert found["down"]["outcome"] == "failed" and found["down"]["message"], found
    assert files(world, name) == {"lesson.txt": "lesson\n"}
    write(world, name, "mine", f"{FOLDER}/lesson.txt")
    assert files(world, name) == {"lesson.txt": "mine"}
    assert run(world, name, f"import os; print(os.listdir('{HOME}/down'))") == "[]"
    world.end(name)
    world.assert_nothing_was_forbidden()


@pytest.fixture(scope="module")
def certificate(node, tmp_path_factory):
    """Files with a certificate for the address of the node, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "names").write_text(f"subjectAltName=IP:{node}\n")
    openssl = lambda *words: subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key")
    openssl("req", *key, "-subj", "/CN=material", "-out", "server.csr")
    issuer = ("-CA", str(AUTHORITY / "ca.crt"), "-CAkey", str(AUTHORITY / "ca.key"), "-set_serial", "4711")
    openssl("x509", "-req", "-in", "server.csr", *issuer, "-days", "2", "-extfile", "names", "-out", "server.crt")
    return folder / "server.crt", folder / "server.key"


def write_secret(world, password):
    keys = {"username": "teacher", "password": password}
    kind = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "material-course"}}
    world.apply(kind | {"type": "kubernetes.io/basic-auth", "stringData": keys})


@pytest.mark.skipif(IS_FOREIGN, reason="the authority of this cluster is unknown")
def test_private_repository_needs_its_password_and_its_files_outlive_a_wrong_one(world, node, certificate):
    world.kubectl("delete", "secret", "material-course", "--ignore-not-found")
    with git_server(node, certificate, TEACHER) as course:
        version = course.push({"lesson.txt": "one\n"})
        template = template_with(world, course, secret="course")
        name, report = opened(world, template)
        assert report["outcome"] == "failed" and "on a cluster as the Secret material-course" in report["message"], report
        assert course.logins == []
        end(world, name)

        write_secret(world, PASSWORD)
        name, report = opened(world, template)
        assert (report["outcome"], report["version"]) == ("placed", version), report
        assert set(course.logins) == {TEACHER}
        assert files(world, name) == {"lesson.txt": "one\n"}
        write(world, name, "one\nmine", f"{FOLDER}/lesson.txt")
        shown = json.dumps([world.pod(name), world.workshop(name)]) + world.kubectl("logs", name, "--all-containers")
        shown += run(world, name, "import os; print(dict(os.environ), os.path.exists('/etc/workshop-launcher'))")
        assert PASSWORD not in shown and TEACHER.split()[1] not in shown and shown.endswith("False")
        end(world, name)

        version = course.push({"lesson.txt": "one\n", "week2.txt": "new\n"})
        write_secret(world, "wrong")
        name, report = opened(world, template)
        assert report["outcome"] == "failed" and "refuses the secret course (401)" in report["message"], report
        assert files(world, name) == {"lesson.txt": "one\nmine"}
        end(world, name)

        write_secret(world, PASSWORD)
        name, report = opened(world, template)
        assert (report["outcome"], report["version"]) == ("updated", version), report
        assert files(world, name) == {"lesson.txt": "one\nmine", "week2.txt": "new\n"}
        end(world, name)
    world.assert_nothing_was_forbidden()
