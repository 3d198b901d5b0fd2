"""An image registry on the loopback address of the test server: open, or with a password."""

import base64
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
import time

from harness import exchange, free_port, wait_for

USER, PASSWORD = "teacher", "password"
# The password with bcrypt, the only kind that the registry accepts.
HTPASSWD = f"{USER}:$2b$05$abcdefghijklmnopqrstuuWG29KuyeAicPCJODk1zjyGvyQUU2awu\n"


class Registry:
    """A registry. `with Registry(is_private) as registry`; its images have the prefix `registry.prefix`."""

    def __init__(self, is_private=False):
        self.is_private, self.port = is_private, free_port()
        self.prefix = f"127.0.0.1:{self.port}"
        credentials = {"username": USER, "password": PASSWORD, "serveraddress": self.prefix} if is_private else {}
        self.auth = base64.urlsafe_b64encode(json.dumps(credentials).encode()).decode()

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory(prefix="launcher-registry-")
        config = {
            "version": 0.1,
            "log": {"level": "error", "accesslog": {"disabled": True}},
            "storage": {"filesystem": {"rootdirectory": f"{self.place.name}/data"}},
            "http": {"addr": self.prefix},
        }
        if self.is_private:
            config["auth"] = {"htpasswd": {"realm": "test", "path": f"{self.place.name}/htpasswd"}}
        for name, text in (("config.yml", json.dumps(config)), ("htpasswd", HTPASSWD)):
            with open(os.path.join(self.place.name, name), "w") as file:
                file.write(text)
        command = ["docker-registry", "serve", f"{self.place.name}/config.yml"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
        self.process = subprocess.Popen(command, **quiet)
        wait_for("the registry to answer", self.answers, 20)
        return self

    def answers(self):
        with contextlib.suppress(OSError):
            return exchange(self.port, "GET", "/v2/")[0] in (200, 401)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.place.cleanup()

    def push(self, api, image, name):
        """Pushes an image of the engine to this registry. Returns its name there."""
        api.push(image, f"{self.prefix}/{name}", self.auth)
        return f"{self.prefix}/{name}"


    def push_large(self, api):
        """Pushes the image with a large layer. The engine loses all its copies, and must pull the layer again."""
        api.load(os.path.join(os.environ["SERVER_IMAGES"], "small.tar"))
        self.push(api, "localhost/workshop-launcher/pull:test", "pull:test")
        for image in api.images():
            if image.endswith("/pull:test"):
                api.call("DELETE", f"/images/{image}?force=true")


class SlowConnection:
    """A port that passes connections to the port of a registry, with this many bytes per second in each connection.

    `sent` counts the bytes that the registry has sent on all connections. While `is_open` is not set, a connection stops
    after 2 MiB of all connections.
    """

    def __init__(self, port, rate):
        self.target, self.rate = port, rate
        self.prefix, self.sent, self.lock = None, 0, threading.Lock()
        self.is_open = threading.Event()
        self.is_open.set()

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.prefix = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.is_open.set()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                threading.Thread(target=self.copy, args=(client, server, None), daemon=True).start()
                threading.Thread(target=self.copy, args=(server, client, self.rate), daemon=True).start()

    def copy(self, source, target, rate):
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(65536):
                target.sendall(data)
                if rate:
                    with self.lock:
                        self.sent += len(data)
                    time.sleep(len(data) / rate)
                    if self.sent > 2 << 20:
                        self.is_open.wait()
            target.shutdown(socket.SHUT_WR)
