"""A client of JupyterLab behind a sidecar: starts a kernel and runs cells, as JupyterLab's page does."""

import http.client
import json
import socket
import uuid

from harness import DEADLINE
from websockets.sync.client import connect


class Notebook:
    """Requests of this person's browser to the workshop of this host, which is reached at `address` and `port`."""

    def __init__(self, address, port, host, email):
        self.address, self.port, self.host = address, port, host
        self.headers = {"Host": self.host, "X-Auth-Request-Email": email}

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.address, self.port, timeout=DEADLINE)
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
        return self.websocket(f"/api/kernels/{kernel}/channels")

    def websocket(self, path):
        """Opens a WebSocket of the workshop."""
        headers = {name: value for name, value in self.headers.items() if name != "Host"}
        return connect(
            f"ws://{self.host}{path}",
            sock=socket.create_connection((self.address, self.port), timeout=DEADLINE),
            origin=f"http://{self.host}",
            # JupyterLab answers when the kernel is ready.
            open_timeout=DEADLINE,
            additional_headers=headers,
            proxy=None,
        )


def run_cell(channels, code, seconds=DEADLINE):
    """Runs a cell; returns the text of its result. Fails if the kernel is silent for so many seconds."""
    identifier = uuid.uuid4().hex
    header = {"msg_id": identifier, "msg_type": "execute_request", "username": "", "session": "it", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    channels.send(json.dumps(message))
    while True:
        answer = json.loads(channels.recv(timeout=seconds))
        if answer["parent_header"].get("msg_id") == identifier:
            assert answer["msg_type"] != "error", answer["content"]
            if answer["msg_type"] == "execute_result":
                return answer["content"]["data"]["text/plain"]
