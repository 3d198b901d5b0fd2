"""A real JupyterLab in a pod: a cell runs through the sidecar's WebSocket, and only for its owner."""

import http.client
import json
import socket
import uuid

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from world import ALICE, BOB, IMAGES, WORKSHOP_DOMAIN

JUPYTER = {
    "name": "JupyterLab",
    "app_type": "notebook",
    "image": f"{IMAGES}/jupyter:test",
    "port": 8888,
    "args": [],
    "resources": {"cpu_request": "50m", "cpu_limit": "2", "memory_request": "128Mi", "memory_limit": "1Gi"},
}


class Browser:
    """Requests of this person's browser, with the workshop's own origin."""

    def __init__(self, address, name, email):
        self.address, self.host = address, f"{name}.{WORKSHOP_DOMAIN}"
        self.headers = {"Host": self.host, "X-Auth-Request-Email": email}

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.address, 80, timeout=30)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, self.headers | headers)
        response = connection.getresponse()
        answer = response.status, response.read()
        cookies = response.msg.get_all("Set-Cookie") or []
        connection.close()
        if cookies:
            self.headers["Cookie"] = "; ".join(cookie.split(";")[0] for cookie in cookies)
        return answer

    def start_kernel(self):
        """Starts a kernel as JupyterLab's page does; returns its id."""
        assert self.request("GET", "/lab")[0] == 200
        token = self.headers["Cookie"].partition("_xsrf=")[2].partition(";")[0]
        sent = {"Origin": f"http://{self.host}", "X-XSRFToken": token, "Content-Type": "application/json"}
        status, text = self.request("POST", "/api/kernels", {"name": "python3"}, **sent)
        assert status == 201, text
        return json.loads(text)["id"]

    def channels(self, kernel):
        """Opens the WebSocket of a kernel."""
        headers = {name: value for name, value in self.headers.items() if name != "Host"}
        return connect(
            f"ws://{self.host}/api/kernels/{kernel}/channels",
            sock=socket.create_connection((self.address, 80), timeout=30),
            origin=f"http://{self.host}",
            additional_headers=headers,
            proxy=None,
        )


def run_cell(channels, code):
    """Runs a cell; returns the text of its result."""
    identifier = uuid.uuid4().hex
    header = {"msg_id": identifier, "msg_type": "execute_request", "username": "", "session": "it", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    channels.send(json.dumps(message))
    while True:
        answer = json.loads(channels.recv(timeout=60))
        if answer["parent_header"].get("msg_id") == identifier:
            assert answer["msg_type"] != "error", answer["content"]
            if answer["msg_type"] == "execute_result":
                return answer["content"]["data"]["text/plain"]


def test_notebook_cell_runs_over_websocket(world):
    name = world.running(**JUPYTER)
    assert world.visit(name, ALICE, "/api")[0] == 200
    address = world.address(name)
    alice, bob = Browser(address, name, ALICE), Browser(address, name, BOB)
    kernel = alice.start_kernel()
    with alice.channels(kernel) as channels:
        assert run_cell(channels, "6 * 7") == "42"
        # The app runs as the user that the operator has set, without a token of the cluster.
        assert run_cell(channels, "import os; os.getuid()") == "1000"
        secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
        assert run_cell(channels, f"os.path.exists({secrets!r})") == "False"

    with pytest.raises(InvalidStatus) as refused:
        bob.channels(kernel)
    assert refused.value.response.status_code == 403
    assert bob.request("GET", "/lab")[0] == 403
