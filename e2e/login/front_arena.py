"""front_arena.py FOLDER: attacks the release's nginx in a memory cgroup with the chart's limit, while users keep
requesting pages. Runs in a separate network namespace. FOLDER/arena.json describes the attacks; prints the
observations."""

import contextlib
import http.client
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from memory_cgroup import MemoryCgroup  # noqa: E402

# Ports of the launcher, of both login proxies and of every workshop in this namespace.
LAUNCHER, LOGIN, WORKSHOP = 7001, 7002, 7003
# Upstreams of the front, served by another nginx: a login proxy, which must never receive the proof, and a launcher,
# which answers 401 without it.
BEHIND = """
daemon off; pid {folder}/behind.pid; worker_processes 1; error_log /dev/null;
events {{ worker_connections 16000; }}
http {{
  access_log off; map_hash_bucket_size 512; large_client_header_buffers 4 128k;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  map "$http_x_auth_request_email $http_x_auth_request_proof" $status_here {{ "ada@example.org {proof}" 200; default 401; }}
  server {{
    listen 127.0.0.1:7001 backlog=4096;
    if ($status_here = 401) {{ return 401; }}
    return 200 ok;
  }}
  server {{
    listen 127.0.0.1:7002 backlog=4096;
    add_header X-Auth-Request-Email ada@example.org always;
    if ($http_x_auth_request_proof) {{ return 500; }}
    if ($http_cookie ~ ^session=1) {{ return 202; }}
    location /oauth2/auth {{ return 401; }}
    location / {{ return 302 https://accounts.example.org/; }}
  }}
}}
"""


def stall(listener, stopped):
    """Serves a workshop that sends as much as the client accepts and reads nothing."""
    listener.setblocking(False)
    events, held = select.epoll(), {}
    events.register(listener, select.EPOLLIN)
    while not stopped.is_set():
        for descriptor, _ in events.poll(0.2):
            with contextlib.suppress(BlockingIOError):
                while descriptor == listener.fileno():
                    connection, _ = listener.accept()
                    connection.setblocking(False)
                    connection.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                    held[connection.fileno()] = connection
                    events.register(connection, select.EPOLLOUT)
                try:
                    held[descriptor].send(b"x" * 65_536)
                except ConnectionError:
                    held.pop(descriptor).close()


class Person:
    """A signed-in user who requests a page 30 ms after each answer, over a new connection each time."""

    def __init__(self):
        self.times, self.failures, self.stopped = [], [], threading.Event()
        self.thread = threading.Thread(target=self.go_on)
        self.thread.start()

    def go_on(self):
        while not self.stopped.wait(0.03):
            began = time.monotonic()
            try:
                connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=10)
                connection.request("GET", "/", headers={"Host": "launcher.example.org", "Cookie": "session=1"})
                answer = connection.getresponse()
                seen = (answer.status, answer.read())
                if seen != (200, b"ok"):
                    self.failures.append(str(seen))
                connection.close()
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
            self.times.append(time.monotonic() - began)

    def stop(self):
        self.stopped.set()
        self.thread.join()


def attacked(how, clients, seconds, group):
    """Runs one attack while users keep requesting pages; returns their results and the front's peak memory."""
    words = [sys.executable, HERE / "front_attacker.py", how, str(clients), str(seconds)]
    attacker = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    people, peak = [Person() for _ in range(4)], 0
    while attacker.poll() is None:
        peak = max(peak, group.used())
        time.sleep(0.05)
    for person in people:
        person.stop()
    times = sorted(one for person in people for one in person.times)
    return {
        "held": json.loads(attacker.stdout.read()), "peak": peak, "asked": len(times),
        "failures": [one for person in people for one in person.failures][:5],
        "p99": times[int(len(times) * 0.99)] if times else None,
    }


SESSION, PAGE, DATA = {"Cookie": "session=1"}, {"Accept": "text/html"}, {"Accept": "application/json"}
FORGED = {"X-Auth-Request-Email": "eve@example.org", "X-Auth-Request-Proof": "forged"}
# Requests sent before the attacks: {name: (method, path, headers, body)}.
QUESTIONS = {
    "signed in": ("GET", "/", SESSION, None),
    "signed in, forged": ("GET", "/", SESSION | FORGED, None),
    "signed in, 60 KiB of cookies": ("GET", "/", {"Cookie": "session=1; x=" + "c" * 60 * 1024}, None),
    "signed in, a head of 80 KiB": ("GET", "/", SESSION | {f"X-{n}": "v" * 8000 for n in range(10)}, None),
    "signed in, 200 lines": ("GET", "/", SESSION | {f"X-{n}": "v" for n in range(200)}, None),
    "signed in, a body": ("POST", "/", SESSION, "x" * 1_000_000),
    "nobody, a page": ("GET", "/", PAGE, None),
    "nobody, forged": ("GET", "/", FORGED, None),
    "nobody, the API": ("GET", "/api/v1/me", DATA, None),
    "nobody, a form": ("POST", "/instances/a?b=c", PAGE, "x=1"),
    "nobody, data": ("POST", "/instances/a", DATA, "{}"),
    "nobody, a body for the login": ("POST", "/oauth2/start", PAGE, "x=1"),
    "nobody, the page without a login": ("GET", "/signed-out", FORGED, None),
}


def answers():
    """Returns the answers to QUESTIONS: {name: [status, Location]}."""
    found = {}
    for name, (method, path, headers, body) in QUESTIONS.items():
        connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=10)
        with contextlib.closing(connection):
            # A browser sends all its cookies in one header line.
            connection.request(method, path, body, {"Host": "launcher.example.org", **headers})
            answer = connection.getresponse()
            found[name] = [answer.status, answer.headers["Location"]]
    return found


def until_it_answers():
    for _ in range(200):
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=5)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.05)
    raise TimeoutError("the front does not answer")


def workers(master):
    return pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()


@contextlib.contextmanager
def running(words, **options):
    """Runs a program and terminates it at the end of the block."""
    program = subprocess.Popen(words, **options)
    try:
        yield program
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


def main(folder):
    todo = json.loads((folder / "arena.json").read_text())
    # Raises the priority above other processes of this machine, because the test measures times.
    os.nice(-10)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name, value in todo["sysctls"].items():
        pathlib.Path("/proc/sys", *name.split(".")).write_text(value)
    (folder / "behind.conf").write_text(BEHIND.format(folder=folder, proof=todo["proof"]))
    listener = socket.create_server(("127.0.0.1", WORKSHOP), backlog=4096)
    stopped = threading.Event()
    workshop = threading.Thread(target=stall, args=(listener, stopped))
    workshop.start()
    environment = os.environ | {"PATH": f"{pathlib.Path(todo['nginx']).parent}:{os.environ['PATH']}"}
    seen = {}
    with contextlib.ExitStack() as stack:
        stack.callback(workshop.join)
        stack.callback(stopped.set)
        group = stack.enter_context(MemoryCgroup("front", todo["limit"]))
        stack.enter_context(running([todo["nginx"], "-e", "/dev/null", "-c", folder / "behind.conf"]))
        join = f'echo $$ >"{group.path}/cgroup.procs" && exec sh "$0"'
        log = stack.enter_context((folder / "front.log").open("w"))
        front = stack.enter_context(
            running(["sh", "-c", join, folder / "start.sh"], env=environment, stderr=log)
        )
        until_it_answers()
        before = workers(front.pid)
        seen["answers"] = answers()
        for how, clients in todo["attacks"]:
            seen[how] = attacked(how, clients, todo["seconds"], group)
        until_it_answers()
        seen["kills"], seen["same workers"] = group.kills(), workers(front.pid) == before
    print(json.dumps(seen))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
