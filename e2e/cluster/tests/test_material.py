"""Course material in real pods: it is there before the app starts, an edit of the student outlives an update, and no
failure of a source stops the start."""

import contextlib
import hashlib
import http.server
import io
import os
import pathlib
import signal
import socket
import threading
import zipfile

import pytest
from harness import wait_for
from settled import phase
from test_storage import PYTHON, WORLD as WITH_STORAGE, append, run, until_running, volumes  # noqa: F401
from world import ALICE, IMAGES, assert_nothing_was_forbidden

WORLD = {**WITH_STORAGE, "SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test"}
HOME = "/home/jovyan"
LESSON = f"{HOME}/data/lesson.txt"


def archive(files):
    """Returns a zip archive of these files, with its SHA-256."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as written:
        for name, text in files.items():
            written.writestr(name, text)
    return content.getvalue(), hashlib.sha256(content.getvalue()).hexdigest()


@pytest.fixture(scope="module")
def node(world):
    """The address of the node, at which pods reach this machine."""
    jsonpath = "jsonpath={.items[0].status.addresses[?(@.type=='InternalIP')].address}"
    return world.kubectl("get", "nodes", "--output", jsonpath)


@contextlib.contextmanager
def serving(node, files):
    """Serves an archive of these files. Yields it as a source of course material."""
    content, digest = archive(files)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer((node, 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://{node}:{server.server_port}/data.zip"
        yield {"kind": "archive", "url": url, "sha256": digest, "target": "data"}
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def silent(node):
    """Listens, and never answers. Yields a source of course material, and the listening socket."""
    with socket.create_server((node, 0)) as server:
        server.setblocking(False)
        url = f"http://{node}:{server.getsockname()[1]}/data.zip"
        yield {"kind": "archive", "url": url, "sha256": "0" * 64, "target": "data"}, server


def new_connections(server):
    """Accepts the connections since the last call. Returns them as a list."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            found.append(server.accept()[0])
    return found


@contextlib.contextmanager
def workshop(world, name, *sources, **spec):
    """Runs a Workshop with these sources during the block, and then waits until its pod is gone."""
    base = {"owner": ALICE, "image": PYTHON["image"], "appType": "custom", "port": 8888, "command": PYTHON["command"]}
    base["resources"] = {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "32Mi", "memoryLimit": "128Mi"}
    base |= {"securityProfile": "restricted", "lifetimeSeconds": 3600}
    base["material"] = {"directory": HOME, "sources": list(sources)}
    kind = {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": {"name": name}}
    world.apply(kind | {"spec": base | spec})
    try:
        yield name
    finally:
        world.kubectl("delete", "workshop", name, "--ignore-not-found")
        world.until_gone(name)


def report(world, name):
    """Returns the report about the only source of a running Workshop."""
    until_running(world, name)
    (source,) = world.workshop(name)["status"]["material"]["sources"]
    assert source["target"] == "data"
    return source


def test_app_without_kept_files_finds_files_that_it_can_change(world, node):
    with serving(node, {"lesson.txt": "lesson\n"}) as source, workshop(world, "places", source) as name:
        found = report(world, name)
        assert (found["outcome"], found["version"]) == ("placed", source["sha256"])
        run(world, name, append(LESSON, "mine"))
        assert run(world, name, f"print(open('{LESSON}').read())") == "lesson\nmine"
        names = f"import os; print(sorted(os.listdir('{HOME}/data')))"
        assert run(world, name, names) == "['lesson.txt']"
    assert_nothing_was_forbidden(world)


def test_edit_in_kept_files_outlives_an_update_of_the_teacher(world, node):
    storage = {"volume": "work-material", "size": "1Gi", "path": HOME}
    with serving(node, {"lesson.txt": "one\n", "notes.txt": "one\n"}) as first:
        with workshop(world, "first", first, storage=storage) as name:
            assert report(world, name)["outcome"] == "placed"
            run(world, name, f"open('{HOME}/data/notes.txt', 'w').write('mine')")
    with serving(node, {"lesson.txt": "two\n", "notes.txt": "one\n"}) as second:
        with workshop(world, "second", second, storage=storage) as name:
            assert report(world, name)["outcome"] == "updated"
            read = f"print(open('{LESSON}').read(), open('{HOME}/data/notes.txt').read())"
            assert run(world, name, read) == "two\n mine"


def test_instance_of_the_api_has_the_report(world, node):
    with serving(node, {"lesson.txt": "lesson\n"}) as source:
        name = world.running(**PYTHON, material={"directory": HOME, "sources": [source]})
        (found,) = world.instance(name)["material"]
        assert (found["target"], found["outcome"]) == ("data", "placed")
        world.end(name)
        world.until_gone(name)


def test_server_that_is_down_stops_no_start(world, node):
    with socket.create_server((node, 0)) as server:
        url = f"http://{node}:{server.getsockname()[1]}/data.zip"
    source = {"kind": "archive", "url": url, "sha256": "0" * 64, "target": "data"}
    with workshop(world, "down", source) as name:
        found = report(world, name)
        assert found["outcome"] == "failed" and found["message"]
        assert run(world, name, f"import os; print(os.path.isdir('{HOME}/data'))") == "True", "an empty directory"


def programs(source):
    """Returns the process ids of the programs that load this source. Other tests load material on this machine, too."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_program = (process / "comm").read_text().startswith("launcher-materi")
            if is_program and source["url"].encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


def test_killed_program_gives_up_at_its_second_run(world, node):
    with silent(node) as (source, server), workshop(world, "killed", source) as name:
        # The connections stay open until the program is killed.
        connections = wait_for("the program to connect", lambda: new_connections(server), 60)
        wait_for("the phase", lambda: phase(world, name) == "Starting", 10)
        assert programs(source)
        for process in programs(source):
            os.kill(process, signal.SIGKILL)
        found = report(world, name)
        assert found["outcome"] == "failed" and "memory" in found["message"]
        assert new_connections(server) == [], "the program asked the server again"
        for connection in connections:
            connection.close()
