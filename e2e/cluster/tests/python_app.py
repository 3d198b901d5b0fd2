"""An app with Python, in whose container a test runs code: it reads and writes files as the user that the operator sets."""

import json
import signal

from harness import wait_for
from world import IMAGES

HOME = "/home/jovyan"
FILE = f"{HOME}/kept.txt"
# A server that ends at SIGTERM, and exceeds its memory at SIGUSR1. By default, the first process of a container ignores
# these signals.
SERVER = """
import http.server, os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
signal.signal(signal.SIGUSR1, lambda *_: b"x" * 10**9)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.BaseHTTPRequestHandler).serve_forever()
"""
EXCEED_MEMORY = signal.SIGUSR1
COMMAND = ["python3", "-c", SERVER, "$(PORT)"]
# Changes of a template, and of a Workshop.
PYTHON = {
    "image": f"{IMAGES}/jupyter:test",
    "command": COMMAND,
    "args": [],
    "resources": {"cpu_request": "5m", "cpu_limit": "1", "memory_request": "32Mi", "memory_limit": "128Mi"},
}
PYTHON_SPEC = PYTHON | {
    "resources": {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "32Mi", "memoryLimit": "128Mi"},
}
KEPT = {"kind": "kept", "size": "1Gi", "path": HOME}
CRASH_SAFE = {"kind": "workshop", "path": HOME}
# Last line of the output of Python code in a pod. Without it, the output is cut off.
LAST_LINE = "that is all"


def run(world, name, code):
    """Runs Python code in the app of the workshop. Returns stdout.

    A busy API server may close the connection. The code then runs again, so it must have the same result twice.
    """
    command = ("exec", name, "--container", "app", "--", "python3", "-c", f"{code}\nprint('{LAST_LINE}')")
    said = []

    def look():
        said[:] = world.kubectl(*command, check=False).splitlines()
        return LAST_LINE in said

    try:
        wait_for(f"Python code to run in {name}", look)
    except AssertionError as error:
        raise AssertionError(f"{error}: {said}") from None
    return "\n".join(said[: said.index(LAST_LINE)]).strip()


def write(world, name, text, path=FILE):
    """Writes a file that only the user of the app can read, and waits until it is on the disk."""
    opened = f"open(os.open('{path}', os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), 'w')"
    run(world, name, f"import os\nwith {opened} as file:\n  file.write({text!r}); file.flush(); os.fsync(file.fileno())")


def read(world, name, path=FILE):
    """Returns the text of a file, or None if there is none."""
    code = f"import json, os; print(json.dumps(open('{path}').read() if os.path.exists('{path}') else None))"
    return json.loads(run(world, name, code))


def kill(world, name, number):
    """Sends this signal to the app. Its end may end the command, too."""
    code = f"import os; os.kill(1, {int(number)})"
    world.kubectl("exec", name, "--container", "app", "--", "python3", "-c", code, check=False)


def until_again(world, name):
    """Waits until the app runs again after a crash. Returns the `lastCrash` of its status."""

    def look():
        status = world.status(name)
        return status.get("phase") == "Running" and status.get("lastCrash")

    return wait_for(f"{name} to run again", look)
