"""DNS records and addresses of a server, without a name server: a resolver for Python, and a command `ip`."""

import json
import shlex

# Python imports this module at its start. It asks no name server.
RESOLVER = """
import json
import pathlib
import socket

RECORDS = json.loads(pathlib.Path(__file__).with_name("records.json").read_text())
resolve = socket.getaddrinfo


def getaddrinfo(host, port, *rest, **named):
    found = RECORDS.get(host) or RECORDS.get("*." + host.partition(".")[2])
    if host == "127.0.0.1":
        found = [host]
    if not found:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return [answer for address in found for answer in resolve(address, port, *rest, **named)]


socket.getaddrinfo = getaddrinfo
"""


class FakeNetwork:
    """The network of the commands that FakeEngine.run() starts with `variables`."""

    def __init__(self, engine):
        self.folder, self.ip = engine.folder / "network", engine.bin / "ip"
        self.folder.mkdir()
        (self.folder / "sitecustomize.py").write_text(RESOLVER)
        self.variables = {"PYTHONPATH": str(self.folder)}
        self.set_records({})

    def set_records(self, found):
        """Sets the records: {name: [address]}. A name can be a wildcard."""
        (self.folder / "records.json").write_text(json.dumps(found))

    def set_addresses(self, *addresses, scope="global"):
        """Sets the addresses of the server."""
        links = [{"ifname": "eth0", "addr_info": [{"local": address, "scope": scope} for address in addresses]}]
        self.set_output(json.dumps(links))

    def set_output(self, text):
        """Sets the output of the command `ip`."""
        self.ip.write_text(f"#!/bin/sh\necho {shlex.quote(text)}\n")
        self.ip.chmod(0o755)
