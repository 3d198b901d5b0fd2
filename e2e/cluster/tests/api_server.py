"""Reads objects through the API server of the cluster that KUBECONFIG names.

Tests poll objects many times a second. One HTTP request costs a small part of the CPU time of a kubectl process.
"""

import base64
import functools
import http.client
import json
import pathlib
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

# All API groups in one answer.
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class ApiServer:
    """The API server, called as the cluster's administrator."""

    def __init__(self):
        words = ["kubectl", "config", "view", "--minify", "--raw", "--flatten", "--output", "json"]
        config = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.cluster, self.url = cluster, cluster["server"]
        self.authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=self.authority)
        self._kept = threading.local()
        self._paths = {}
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        if "client-certificate-data" in user:
            with tempfile.TemporaryDirectory() as folder:
                pair = pathlib.Path(folder) / "pair.pem"
                parts = (user["client-certificate-data"], user["client-key-data"])
                pair.write_bytes(b"\n".join(map(base64.b64decode, parts)))
                self._tls.load_cert_chain(pair)

    def get(self, path, accept="application/json"):
        """Returns the answer to GET `path`, parsed."""
        try:
            status, body = self._exchange(path, accept)
        except (http.client.HTTPException, ConnectionError):
            # The server has closed the idle connection.
            self._kept.connection = None
            status, body = self._exchange(path, accept)
        assert status == 200, f"GET {path}: {status} {body.decode(errors='replace')}"
        return json.loads(body)

    def _exchange(self, path, accept):
        """Sends a request on the connection of this thread. A new connection costs more CPU time than the answer."""
        connection = getattr(self._kept, "connection", None)
        if connection is None:
            netloc = urllib.parse.urlsplit(self.url).netloc
            connection = http.client.HTTPSConnection(netloc, timeout=60, context=self._tls)
        # After a failure, the connection is not used again.
        self._kept.connection = None
        connection.request("GET", path, headers=self._headers | {"Accept": accept})
        response = connection.getresponse()
        body = response.read()
        self._kept.connection = connection
        return response.status, body

    def _discover(self):
        """Returns the path of the group of each kind. Of two groups with a kind, the core group wins."""
        paths = {}
        for prefix in ("/api", "/apis"):
            for group in self.get(prefix, DISCOVERY)["items"]:
                newest = group["versions"][0]
                path = "/".join(filter(None, (prefix, group["metadata"].get("name"), newest["version"])))
                for resource in newest["resources"]:
                    paths.setdefault(resource["resource"], path)
        return paths

    def list(self, namespace, kind, **selectors):
        """Returns the objects of this kind in the namespace that match `labelSelector` and `fieldSelector`."""
        query = urllib.parse.urlencode(selectors)
        if kind not in self._paths:
            self._paths = self._discover()
        return self.get(f"{self._paths[kind]}/namespaces/{namespace}/{kind}?{query}")["items"]


@functools.cache
def api_server():
    """Returns the API server; reads KUBECONFIG once per process."""
    return ApiServer()
