"""Course material from a git repository in real pods, with kept files: updates of the teacher, a password, and a server that is
too slow."""

import json
import uuid

import pytest
from git_server import git_server
from harness import PATIENCE
from local_volumes import local_volumes
from settled import until_ended
from test_material import node  # noqa: F401
from test_private_material import PASSWORD, TEACHER, certificate, create_secret, pytestmark  # noqa: F401
from test_storage import PYTHON, STORAGE, append, run
from world import ALICE, BOB, IMAGES, assert_nothing_was_forbidden

CLASS = f"git-{uuid.uuid4().hex[:8]}"
# Half of the start timeout is the time to load the material, in seconds.
SECONDS = 60
WORLD = {
    "SERVICE_MATERIAL_IMAGE": f"{IMAGES}/trusting:test",
    "SERVICE_STORAGE_CLASS": CLASS,
    "SERVICE_ROOM_GRACE": str(15 * PATIENCE),
    "SERVICE_START_TIMEOUT": str(2 * SECONDS),
}
FOLDER = "/home/jovyan/course"
# Prints {name: content} of the files.
FILES = f"""
import json, os
print(json.dumps({{name: open(os.path.join('{FOLDER}', name)).read() for name in os.listdir('{FOLDER}')}}))
"""


def template_with(world, course, secret=None):
    """Creates a template with kept files and this repository. Returns its id."""
    source = {"kind": "git", "url": course.url, "ref": "main", "target": "course"} | ({"secret": secret} if secret else {})
    return world.template(name="course", storage=STORAGE, material={"sources": [source]}, **PYTHON)


def opened(world, template, email=ALICE):
    """Launches the template, and waits until the workshop runs. Returns its name, and the report about its repository."""
    name = world.launch(template, email)
    (report,) = world.until(name, "running", 2 * SECONDS)["material"]
    return name, report


def files(world, name):
    return json.loads(run(world, name, FILES))


def end(world, name):
    world.end(name)
    until_ended(world, name)


@pytest.fixture(scope="module", autouse=True)
def volumes(world):
    with local_volumes(world, CLASS, 5):
        yield


@pytest.fixture(scope="module", autouse=True)
def slow(world, node, volumes):  # noqa: F811
    """A slow server, and a workshop that waits for it while the other tests run. Returns (course, template, name)."""
    with git_server(node, is_slow=True) as course:
        course.push({"lesson.txt": "one\n"})
        template = template_with(world, course)
        yield course, template, world.launch(template)


def test_next_launch_has_the_edits_of_the_student_and_the_push_of_the_teacher(world, node):  # noqa: F811
    with git_server(node) as course:
        version = course.push({"lesson.txt": "one\n", "notes.txt": "one\n", "both.txt": "one\n"})
        template = template_with(world, course)
        name, report = opened(world, template)
        assert (report["outcome"], report["version"]) == ("placed", version), report
        edit = "; ".join(append(f"{FOLDER}/{one}", "mine") for one in ("notes.txt", "both.txt"))
        run(world, name, edit)
        end(world, name)

        version = course.push({"lesson.txt": "two\n", "both.txt": "two\n", "week2.txt": "new\n"})
        (name, report), (other, theirs) = opened(world, template), opened(world, template, BOB)
        assert (report["outcome"], report["version"]) == ("updated", version), report
        assert report["conflicts"] == ["both.txt"]
        mine = {"notes.txt": "one\nmine", "both.txt": "one\nmine", f"both (from teacher {version[:7]}).txt": "two\n"}
        assert files(world, name) == {"lesson.txt": "two\n", "week2.txt": "new\n"} | mine
        assert theirs["outcome"] == "placed"
        assert files(world, other) == {"lesson.txt": "two\n", "notes.txt": "one\n", "both.txt": "two\n", "week2.txt": "new\n"}
    assert_nothing_was_forbidden(world)


def test_private_repository_needs_its_password_and_its_files_outlive_a_wrong_one(world, node, certificate):  # noqa: F811
    create_secret(world, "material-course", PASSWORD)
    with git_server(node, certificate, TEACHER) as course:
        version = course.push({"lesson.txt": "one\n"})
        template = template_with(world, course, "course")
        name, report = opened(world, template)
        assert (report["outcome"], report["version"]) == ("placed", version), report
        assert set(course.logins) == {TEACHER}
        assert files(world, name) == {"lesson.txt": "one\n"}
        run(world, name, append(f"{FOLDER}/lesson.txt", "mine"))
        shown = json.dumps([world.pod(name), world.workshop(name)]) + world.kubectl("logs", name, "--all-containers")
        shown += run(world, name, "import os; print(dict(os.environ), os.path.exists('/etc/workshop-launcher'))")
        assert PASSWORD not in shown and TEACHER.split()[1] not in shown and shown.endswith("False")
        end(world, name)

        course.push({"lesson.txt": "two\n"})
        world.kubectl("delete", "secret", "material-course")
        create_secret(world, "material-course", "wrong")
        name, report = opened(world, template)
        assert report["outcome"] == "failed" and "refuses the secret course (401)" in report["message"], report
        assert files(world, name) == {"lesson.txt": "one\nmine"}
        end(world, name)
    assert_nothing_was_forbidden(world)


def test_workshop_of_a_slow_server_opens_with_a_note_and_the_next_one_has_the_files(world, slow):
    course, template, name = slow
    (report,) = world.until(name, "running", 2 * SECONDS)["material"]
    late = f"The source was not ready after {SECONDS} seconds. The next launch tries again."
    assert (report["outcome"], report["message"]) == ("failed", late)
    run(world, name, "open('/home/jovyan/kept.txt', 'w').write('kept')")
    end(world, name)
    course.is_slow = False
    name, report = opened(world, template)
    assert report["outcome"] == "placed", report
    assert files(world, name) == {"lesson.txt": "one\n"}
    assert run(world, name, "print(open('/home/jovyan/kept.txt').read())") == "kept"
    assert_nothing_was_forbidden(world)
