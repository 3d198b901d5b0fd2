"""Files that outlive a crash of the app and end with the workshop: the files of the image are there, and those that the
student wrote are there again after a crash."""

import contextlib
import difflib
import http.client
import json
import signal

from harness import PATIENCE, wait_for
from notebook import Notebook, run_cell
from settled import phase
from test_jupyterlab import JUPYTER
from test_material import node, serving  # noqa: F401
from test_pod_expiry import KUBELET_SECONDS
from test_storage import (
    FILE,
    PYTHON,
    READ,
    WRITE,
    append,
    kill,
    last_crash,
    message_of_failure,
    run,
    until_running,
)
from websockets.exceptions import WebSocketException
from world import ALICE, IMAGES, WORKSHOP_DOMAIN, assert_nothing_was_forbidden

HOME = "/home/jovyan"
STORAGE = {"kind": "workshop", "path": HOME}
WORLD = {
    "SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test",
    "SERVICE_ROOM_GRACE": str(15 * PATIENCE),
    "SERVICE_START_TIMEOUT": "120",
}
# Prints name, owner, mode, time and content of each file below a directory of the image, and a last line.
LAST_LINE = "that is all"
FILES = f"""
import hashlib, os, sys
for folder, _, names in sorted(os.walk(sys.argv[1])):
    for name in sorted(names):
        path = os.path.join(folder, name)
        found = os.lstat(path)
        content = os.readlink(path) if os.path.islink(path) else hashlib.md5(open(path, "rb").read()).hexdigest()
        print(path, found.st_uid, oct(found.st_mode), int(found.st_mtime), content)
print("{LAST_LINE}")
"""


@contextlib.contextmanager
def workshop(world, name, directory=HOME, **changes):
    """Runs a Workshop with this crash-safe directory, or without one, during the block."""
    spec = {"owner": ALICE, "image": PYTHON["image"], "appType": "custom", "port": 8888, "command": PYTHON["command"]}
    spec["resources"] = {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "32Mi", "memoryLimit": "128Mi"}
    spec |= {"securityProfile": "restricted", "lifetimeSeconds": 3600}
    if directory:
        spec["crashSafeDirectory"] = directory
    kind = {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": {"name": name}}
    world.apply(kind | {"spec": spec | changes})
    try:
        yield name
    finally:
        world.kubectl("delete", "workshop", name, "--ignore-not-found")
        world.until_gone(name)


def files(world, name, folder):
    """Returns the files below a directory of the app. A busy API server may close the connection: then tries again."""

    def read():
        with contextlib.suppress(AssertionError):
            lines = world.kubectl("exec", name, "--container", "app", "--", "python3", "-c", FILES, folder).splitlines()
            return lines[:-1] if lines[-1:] == [LAST_LINE] else None

    return wait_for(f"the list of the files below {folder}", read, 30)


def until_again(world, name, seconds=60):
    """Waits until the app runs again after a crash."""
    is_again = lambda: last_crash(world, name) and phase(world, name) == "Running"
    wait_for(f"{name} to run again", is_again, seconds)


def test_directory_has_the_same_files_as_the_image(world):
    # Many files, and links.
    folder = "/opt/jupyter/share"
    for profile in ("restricted", "baseline"):
        with workshop(world, "plain", directory=None, securityProfile=profile) as name:
            until_running(world, name)
            expected = {path: files(world, name, path) for path in (folder, HOME)}
            assert any(".bashrc" in file for file in expected[HOME]) and len(expected[folder]) > 50
        for directory in (folder, HOME):
            with workshop(world, "copied", directory=directory, securityProfile=profile) as name:
                until_running(world, name)
                found = files(world, name, directory)
                # A user other than root owns the copies.
                owners = lambda rows: [row.split(" ")[:1] + row.split(" ")[2:] for row in rows]
                is_same = found == expected[directory] or owners(found) == owners(expected[directory])
                differences = "\n".join(difflib.unified_diff(expected[directory], found, "image", "copy", n=0, lineterm=""))
                assert is_same, f"{profile}, {directory}:\n{differences}"
                run(world, name, f"open('{directory}/mine', 'w').write('mine')")
    assert_nothing_was_forbidden(world)


def test_files_outlive_crashes_of_the_app_until_the_third(world):
    template = world.template(name="crash-safe", storage=STORAGE, **PYTHON)
    name = world.launch(template, ALICE)
    world.until(name, "running")
    before = world.workshop(name)
    assert before["spec"]["crashSafeDirectory"] == HOME and "storage" not in before["spec"]
    run(world, name, WRITE)
    pod = world.pod(name)["metadata"]["uid"]

    kill(world, name, signal.SIGUSR1)
    until_again(world, name)
    crash = last_crash(world, name)
    assert (crash["reason"], crash["filesLost"]) == ("out-of-memory", False)
    assert run(world, name, READ) == "kept"
    assert world.pod(name)["metadata"]["uid"] == pod
    assert "last-crash" in str(world.pod(name)["metadata"]["annotations"])
    wait_for("the row to have the crash", lambda: world.instance(name)["last_crash"], 15)
    # The sidecar gets the crash for the frame page.
    noted = world.pod(name)["metadata"]["annotations"]["workshoplauncher.dev/last-crash"]
    assert noted == f"{crash['at']} out-of-memory"

    kill(world, name, signal.SIGTERM)
    wait_for("the second crash", lambda: last_crash(world, name) != crash, 30)
    until_running(world, name)
    assert run(world, name, READ) == "kept"
    kill(world, name, signal.SIGTERM)
    reason, message = message_of_failure(world, name)
    assert (reason, message.endswith("The app terminated repeatedly with exit code 0.")) == ("crashed", True), message
    assert_nothing_was_forbidden(world)


def test_crash_reaches_the_frame_page(world):
    name = world.launch(world.template(name="frame", storage=STORAGE, **PYTHON), ALICE)
    world.until(name, "running")

    def shown():
        status, body = world.visit(name, ALICE, path="/_launcher/status")
        assert status == 200, (status, body)
        return json.loads(body)["crash"]

    assert shown() is None
    kill(world, name, signal.SIGUSR1)
    until_again(world, name)
    at = last_crash(world, name)["at"]
    wait_for("the crash on the frame page", shown, KUBELET_SECONDS)
    assert shown() == {"at": at, "out_of_memory": True, "files_lost": False}


def test_app_that_crashes_at_each_start_fails_with_its_log_as_without_the_directory(world):
    command = ["python3", "-c", "import sys; sys.exit('no such course')"]
    for directory in (None, HOME):
        with workshop(world, "broken", directory=directory, command=command) as name:
            reason, message = message_of_failure(world, name)
            assert reason == "crashed"
            assert message.endswith("The app terminated repeatedly with exit code 1."), message
            assert world.workshop(name)["status"]["logTail"].endswith("no such course\n")
            assert last_crash(world, name) is None


def test_directory_that_is_a_file_in_the_image_fails_with_an_explanation(world):
    with workshop(world, "file", directory="/opt/jupyter/pyvenv.cfg") as name:
        reason, message = message_of_failure(world, name)
        assert reason == "crashed", message
        log = world.workshop(name)["status"]["logTail"]
        assert log.startswith("launcher-material: /opt/jupyter/pyvenv.cfg is no directory in the image"), log


def test_course_material_and_files_of_the_image_are_in_the_directory(world, node):  # noqa: F811
    with serving(node, {"lesson.txt": "lesson\n"}) as source:
        material = {"directory": HOME, "sources": [source]}
        with workshop(world, "both", material=material) as name:
            until_running(world, name)
            run(world, name, append(f"{HOME}/data/lesson.txt", "mine"))
            kill(world, name, signal.SIGUSR1)
            until_again(world, name)
            read = f"print(open('{HOME}/data/lesson.txt').read()); print(len(open('{HOME}/.bashrc').read()) > 99)"
            assert run(world, name, read) == "lesson\nmine\nTrue"


def test_course_material_alone_outlives_a_crash_and_other_files_do_not(world, node):  # noqa: F811
    with serving(node, {"lesson.txt": "lesson\n"}) as source:
        material = {"directory": HOME, "sources": [source]}
        with workshop(world, "course", directory=None, material=material) as name:
            until_running(world, name)
            run(world, name, WRITE)
            run(world, name, append(f"{HOME}/data/lesson.txt", "mine"))
            kill(world, name, signal.SIGUSR1)
            until_again(world, name)
            assert last_crash(world, name)["filesLost"]
            read = f"import os; print(open('{HOME}/data/lesson.txt').read(), os.path.exists('{HOME}/kept.txt'))"
            assert run(world, name, read) == "lesson\nmine False"


class Lab:
    """A JupyterLab in a pod with a crash-safe directory, and its owner."""

    def __init__(self, world):
        self.world = world
        resources = JUPYTER["resources"] | {"memory_limit": "512Mi"}
        self.name = world.running(**JUPYTER | {"storage": STORAGE, "resources": resources})
        self.place = (world.address(self.name), 80, f"{self.name}.{WORKSHOP_DOMAIN}")

    def run(self, code, seconds=60):
        """Runs a cell in a new notebook. Returns its result."""
        alice = Notebook(*self.place, ALICE)
        with alice.channels(alice.start_kernel()) as channels:
            return run_cell(channels, code, seconds)

    def until_usable(self, seconds):
        """Waits until a cell of a new notebook reads the file."""

        def look():
            # JupyterLab does not answer yet, or its WebSocket ends.
            with contextlib.suppress(OSError, AssertionError, KeyError, WebSocketException, http.client.HTTPException):
                return self.run(f"open('{FILE}').read()") == "'mine'"

        wait_for("JupyterLab to run a cell", look, seconds)


def test_jupyterlab_whose_notebook_exceeds_its_memory_runs_cells_again_with_its_files(world):
    """The kernel of the notebook ends, or the whole container: this depends on the kubelet."""
    lab = Lab(world)
    lab.run(f"open('{FILE}', 'w').write('mine')")
    with contextlib.suppress(TimeoutError, WebSocketException):
        lab.run("import os; open('kernel', 'w').write(str(os.getpid())); x = b'x' * (2 << 30)", seconds=2)
    runs = "import os; print('runs', os.path.exists('/proc/' + open('/home/jovyan/kernel').read()))"
    command = ("exec", lab.name, "--container", "app", "--", "python3", "-c", runs)
    wait_for("the end of the kernel", lambda: "runs True" not in world.kubectl(*command, check=False), 30)
    lab.until_usable(60)
    world.until(lab.name, "running")


def test_jupyterlab_that_ends_runs_cells_again_with_its_files(world):
    lab = Lab(world)
    lab.run(f"open('{FILE}', 'w').write('mine')")
    kill(world, lab.name, signal.SIGTERM)
    wait_for("the crash", lambda: last_crash(world, lab.name), 60)
    lab.until_usable(60)
    world.until(lab.name, "running")
