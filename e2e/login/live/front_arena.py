"""Attacks the front in a memory cgroup with the chart's limit, while users request pages. For test_front_attack.py.

front_arena.py FOLDER: must run in a separate network namespace. Reads FOLDER/arena.json, runs all attacks, and prints the
results as JSON.
front_arena.py ATTACK SECONDS: the attacking process. Opens CLIENTS connections, replaces closed ones, and continues for this
time after the last one has been opened. Prints the number of connections that are open at the end.
"""

import contextlib
import http.client
import json
import os
import pathlib
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from harness import DEADLINE, wait_for  # noqa: E402
from memory_cgroup import MemoryCgroup  # noqa: E402

CLIENTS = 2000

# Ports of the front's upstreams. Both login proxies share a port, and all workshops share a port.
LAUNCHER, LOGIN, WORKSHOP = 7001, 7002, 7003
# A second nginx imitates the front's upstreams. Its launcher answers 401 to a request without the proxy secret. Its
# login proxy answers 500 to a request with any proxy secret, because the front must never send it there.
UPSTREAMS = """
daemon off; pid {folder}/behind.pid; worker_processes 1; error_log /dev/null;
events {{ worker_connections 16000; }}
http {{
  access_log off; map_hash_bucket_size 512; large_client_header_buffers 4 128k; client_max_body_size 0;
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


# The front obeys no such header, so the client gets this answer itself.
STALLING = b"HTTP/1.1 200 OK\r\nX-Accel-Redirect: /.front/notices/missing.en.html\r\nConnection: close\r\n\r\n"


def stall(listener, stopped):
    """Serves a workshop that sends data as fast as the client accepts it, and never reads from its connections."""
    listener.setblocking(False)
    events, held = select.epoll(), {}
    events.register(listener, select.EPOLLIN)
    while not stopped.is_set():
        for descriptor, _ in events.poll(0.2):
            with contextlib.suppress(BlockingIOError):
                while descriptor == listener.fileno():
                    connection, _ = listener.accept()
                    connection.setblocking(False)
                    connection.send(STALLING)
                    held[connection.fileno()] = connection
                    events.register(connection, select.EPOLLOUT)
                try:
                    held[descriptor].send(b"x" * 65_536)
                except ConnectionError:
                    held.pop(descriptor).close()


HOST, WORKSHOP_HOST = b"launcher.example.org", b"w-abcdefghij.workshops.example.net"
# Session cookie that the login proxy of UPSTREAMS accepts.
SESSION_LINE = b"Cookie: session=1\r\n"


def head(method=b"GET", path=b"/", host=HOST, lines=b""):
    """Returns the head of a request without the empty line at its end."""
    return b"%s %s HTTP/1.1\r\nHost: %s\r\n%s" % (method, path, host, lines)


# {attack: [kind of client]}, each as often as the others. A kind is (first bytes, repeated bytes, greedy). A client sends the
# first bytes once. A greedy client then sends the repeated bytes as fast as the server reads them, any other client once per
# second.
ATTACKS = {
    # One long header name: nginx stores the name twice, so these bytes take the most memory.
    "unfinished heads": [(head(lines=b"N" * 63_000 + b": x\r\n"), b"", False)],
    "slow heads, bodies, logins and readers": [
        (head(lines=b"Y: " + b"v" * 60_000), b"v", False),
        (head(b"POST", lines=b"Content-Length: 99999\r\n") + b"\r\nx", b"x", False),
        (head(b"POST", b"/oauth2/start", lines=b"Content-Length: 99999\r\n") + b"\r\nx", b"x", False),
        ((head(lines=b"Cookie: " + b"c" * 60_000 + b"\r\n") + b"\r\n") * 4, b"", False),
    ],
    "pipelines and uploads to a workshop that never reads": [
        ((head() + b"\r\n") * 100, head() + b"\r\n", True),
        # A signed-in upload to the workshop of stall(), which also sends endlessly.
        (
            head(b"POST", b"/", WORKSHOP_HOST, SESSION_LINE + b"Transfer-Encoding: chunked\r\n") + b"\r\n",
            b"10000\r\n" + b"b" * 65_536 + b"\r\n", True,
        ),
    ],
}


class Client:
    """One connection to the front, and the bytes that it still has to send."""

    def __init__(self, kind):
        self.left, self.again, self.greedy = kind
        self.socket = socket.socket()
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self.socket.connect(("127.0.0.1", 8080))

    def send(self):
        """Sends remaining bytes, as far as the kernel takes them. Returns False if the connection is closed."""
        try:
            for _ in range(4):
                if self.left:
                    self.left = self.left[self.socket.send(self.left):]
                if not self.left and self.greedy:
                    self.left = self.again
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


def attack(kinds, seconds):
    """Runs an attack. Returns the number of connections that are open at the end."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    events, held, opened, end, drip = select.epoll(), {}, 0, None, 0.0

    def close(client):
        held.pop(client.socket.fileno())
        client.socket.close()

    while end is None or time.monotonic() < end:
        # At most 20 per round, so that the queue of new connections does not overflow.
        for _ in range(min(CLIENTS - len(held), 20)):
            client = Client(kinds[opened % len(kinds)])
            held[client.socket.fileno()] = client
            events.register(client.socket, select.EPOLLOUT | select.EPOLLRDHUP)
            opened += 1
        if opened >= CLIENTS and end is None:
            end = time.monotonic() + seconds
        for descriptor, event in events.poll(0.02):
            client = held[descriptor]
            if event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP) or not client.send():
                close(client)
            elif not client.left:
                events.modify(descriptor, select.EPOLLRDHUP)
        if time.monotonic() >= drip:
            drip = time.monotonic() + 1
            for client in [one for one in held.values() if not one.left and not one.greedy]:
                client.left = client.again
                if not client.send():
                    close(client)
    return len(held)


class User:
    """A signed-in user. Requests the next page 30 ms after each response, over a new connection."""

    def __init__(self):
        self.times, self.failures, self.stopped = [], [], threading.Event()
        self.thread = threading.Thread(target=self.go_on)
        self.thread.start()

    def go_on(self):
        while not self.stopped.wait(0.03):  # pacing: a user's pause
            began = time.monotonic()
            try:
                connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=DEADLINE)
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


def attacked(how, seconds, group):
    """Runs one attack while four users request pages. Returns their results and the front's peak memory."""
    attacker = subprocess.Popen([sys.executable, __file__, how, str(seconds)], stdout=subprocess.PIPE, text=True)
    users, peak = [User() for _ in range(4)], 0
    while attacker.poll() is None:
        peak = max(peak, group.used())
        time.sleep(0.05)  # pacing: samples of the memory use
    for user in users:
        user.stop()
    times = sorted(one for user in users for one in user.times)
    return {
        "held": json.loads(attacker.stdout.read()), "peak": peak, "asked": len(times),
        "failures": [one for user in users for one in user.failures][:5],
        "p99": times[int(len(times) * 0.99)],
    }


SESSION, PAGE, DATA = {"Cookie": "session=1"}, {"Accept": "text/html"}, {"Accept": "application/json"}
FORGED = {"X-Auth-Request-Email": "eve@example.org", "X-Auth-Request-Proof": "forged"}
# Requests to the front before the attacks: {name: (method, path, headers, body)}.
REQUESTS = {
    "signed in": ("GET", "/", SESSION, None),
    "signed in, forged identity": ("GET", "/", SESSION | FORGED, None),
    "signed in, 60 KiB of cookies": ("GET", "/", {"Cookie": "session=1; x=" + "c" * 60 * 1024}, None),
    "signed in, a head of 80 KiB": ("GET", "/", SESSION | {f"X-{n}": "v" * 8000 for n in range(10)}, None),
    "signed in, 200 header lines": ("GET", "/", SESSION | {f"X-{n}": "v" for n in range(200)}, None),
    "signed in, with a body of 32 MB": ("POST", "/", SESSION, "x" * 32_000_000),
    "unauthenticated, a page": ("GET", "/", PAGE, None),
    "unauthenticated, forged identity": ("GET", "/", FORGED, None),
    "unauthenticated, the API": ("GET", "/api/v1/me", DATA, None),
    "unauthenticated, a form": ("POST", "/instances/a?b=c", PAGE, "x=1"),
    "unauthenticated, JSON": ("POST", "/instances/a", DATA, "{}"),
    "unauthenticated, a body for the login proxy": ("POST", "/oauth2/start", PAGE, "x=1"),
    "unauthenticated, the signed-out page": ("GET", "/signed-out", FORGED, None),
}


def answers(host=HOST):
    """Sends REQUESTS for this host to the front. Returns {name: [status, Location]}."""
    found = {}
    for name, (method, path, headers, body) in REQUESTS.items():
        connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=DEADLINE)
        with contextlib.closing(connection):
            # One Cookie line with all cookies, as browsers send it.
            connection.request(method, path, body, {"Host": host.decode(), **headers})
            answer = connection.getresponse()
            found[name] = [answer.status, answer.headers["Location"]]
    return found


def steered():
    """Sends a request of a signed-in user to the workshop. Returns status and beginning of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=DEADLINE)
    with contextlib.closing(connection):
        connection.request("GET", "/", headers=SESSION | {"Host": WORKSHOP_HOST.decode()})
        answer = connection.getresponse()
        return [answer.status, answer.read(3).decode()]


def front_answers():
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=DEADLINE)
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200


def login_proxies_are_down():
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", LOGIN)):
        return False
    return True


def workers(master):
    return pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()


@contextlib.contextmanager
def running(words, **options):
    """Runs a program during the block. Terminates the program at the end of the block."""
    program = subprocess.Popen(words, **options)
    try:
        yield program
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


def main(folder):
    todo = json.loads((folder / "arena.json").read_text())
    # High CPU priority: other processes of this machine must not distort the measured response times.
    os.nice(-10)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name, value in todo["sysctls"].items():
        pathlib.Path("/proc/sys", *name.split(".")).write_text(value)
    upstreams = UPSTREAMS.format(folder=folder, proof=todo["proof"])
    (folder / "behind.conf").write_text(upstreams)
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
        behind = stack.enter_context(running([todo["nginx"], "-e", "/dev/null", "-c", folder / "behind.conf"]))
        join = f'echo $$ >"{group.path}/cgroup.procs" && exec sh "$0"'
        log = stack.enter_context((folder / "front.log").open("w"))
        front = stack.enter_context(
            running(["sh", "-c", join, folder / "start.sh"], env=environment, stderr=log)
        )
        wait_for("the front to answer", front_answers)
        before = workers(front.pid)
        seen["answers"], seen["steered"] = answers(), steered()
        for how in ATTACKS:
            seen[how] = attacked(how, todo["seconds"], group)
        wait_for("the front to answer", front_answers)
        seen["kills"], seen["same workers"] = group.kills(), workers(front.pid) == before
        # The launcher stays. nginx reads its configuration again.
        (folder / "behind.conf").write_text(upstreams.replace(f":{LOGIN} ", ":7004 "))
        behind.send_signal(signal.SIGHUP)
        wait_for("the login proxies to be down", login_proxies_are_down)
        seen["down"] = [answers(), answers(WORKSHOP_HOST)]
    print(json.dumps(seen))


if __name__ == "__main__":
    if sys.argv[1] in ATTACKS:
        print(json.dumps(attack(ATTACKS[sys.argv[1]], float(sys.argv[2]))))
    else:
        main(pathlib.Path(sys.argv[1]))
