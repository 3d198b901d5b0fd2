"""Private course material in real pods: its server gets the password of a Secret, the app does not, and a missing Secret
does not prevent the start."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import threading

import pytest
from test_material import archive, node, report, workshop  # noqa: F401
from test_storage import run
from world import IMAGES, assert_nothing_was_forbidden

WORLD = {"SERVICE_MATERIAL_IMAGE": f"{IMAGES}/trusting:test", "SERVICE_START_TIMEOUT": "120"}
# The certificate authority that the image trusts.
AUTHORITY = pathlib.Path(os.environ.get("KUBECONFIG", "")).parent / "pki"
LESSON = "/home/jovyan/data/lesson.txt"
PASSWORD = "correct-horse"
TEACHER = "Basic " + base64.b64encode(f"teacher:{PASSWORD}".encode()).decode()

pytestmark = pytest.mark.skipif("TEST_KUBECONFIG" in os.environ, reason="the authority of this cluster is unknown")


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificate(node, tmp_path_factory):  # noqa: F811
    """Files with a certificate for the address of the node, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "names").write_text(f"subjectAltName=IP:{node}\n")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key")
    openssl(folder, "req", *key, "-subj", "/CN=material", "-out", "server.csr")
    issuer = ("-CA", str(AUTHORITY / "ca.crt"), "-CAkey", str(AUTHORITY / "ca.key"), "-set_serial", "4711")
    openssl(
        folder, "x509", "-req", "-in", "server.csr", *issuer, "-days", "2", "-extfile", "names", "-out", "server.crt"
    )
    return folder / "server.crt", folder / "server.key"


@contextlib.contextmanager
def serving(node, certificate, secret):  # noqa: F811
    """Serves an archive by https to the user teacher. Yields it as a source of course material with this secret, and the
    headers `Authorization` of all requests."""
    content, digest = archive({"lesson.txt": "lesson\n"})
    headers = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            headers.append(self.headers.get("Authorization"))
            is_allowed = headers[-1] == TEACHER
            self.send_response(200 if is_allowed else 401)
            self.send_header("Content-Length", str(len(content) if is_allowed else 0))
            self.end_headers()
            if is_allowed:
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = http.server.ThreadingHTTPServer((node, 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"https://{node}:{server.server_port}/data.zip"
        yield {"kind": "archive", "url": url, "sha256": digest, "secret": secret, "target": "data"}, headers
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def create_secret(world, name, password):
    values = (f"--from-literal={key}={value}" for key, value in {"username": "teacher", "password": password}.items())
    world.kubectl("create", "secret", "generic", name, "--type=kubernetes.io/basic-auth", *values)


def test_private_archive_is_placed_and_the_app_has_no_password(world, node, certificate):  # noqa: F811
    create_secret(world, "material-statistics", PASSWORD)
    with serving(node, certificate, "statistics") as (source, headers), workshop(world, "private", source) as name:
        found = report(world, name)
        assert (found["outcome"], found["version"]) == ("placed", source["sha256"]), found
        assert headers == [TEACHER]
        assert run(world, name, f"print(open('{LESSON}').read())") == "lesson"
        look = f"import os; print(os.path.exists('/etc/workshop-launcher'), '{PASSWORD}' in str(dict(os.environ)))"
        assert run(world, name, look) == "False False"
        pod = world.pod(name)
        shown = json.dumps([pod, world.workshop(name)])
        log = world.kubectl("logs", name, "--container", "course-material")
        assert PASSWORD not in shown + log and TEACHER.split()[1] not in shown + log
    assert_nothing_was_forbidden(world)


def test_missing_or_wrong_secret_is_named_and_app_starts(world, node, certificate):  # noqa: F811
    create_secret(world, "material-wrong", "wrong")
    for secret, message in [
        ("missing", "on a cluster as the Secret material-missing"),
        ("wrong", "refuses the secret wrong (401)"),
    ]:
        with serving(node, certificate, secret) as (source, headers), workshop(world, secret, source) as name:
            found = report(world, name)
            assert found["outcome"] == "failed" and message in found["message"], found
            assert len(headers) == (secret == "wrong")
            assert run(world, name, "import os; print(os.listdir('/home/jovyan/data'))") == "[]"
