"""A namespace with a launcher and an operator that run as their own service accounts, and helpers to drive them."""

import base64
import datetime
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import uuid

from harness import ADMIN, PROGRAM, ROOT, Launcher, Program, exchange, wait_for

ALICE, BOB = "alice@example.org", "bob@example.org"
WORKSHOP_DOMAIN = "workshops.test"
IMAGES = "localhost/workshop-launcher"
WORKLOAD = "deployments,replicasets,pods,services,ingresses"
APP = {
    "name": "app",
    "app_type": "custom",
    "image": f"{IMAGES}/http:test",
    "port": 8888,
    "args": ["serve"],
    "resources": {"cpu_request": "5m", "cpu_limit": "1", "memory_request": "16Mi", "memory_limit": "64Mi"},
}


class Operator(Program):
    """`launcher operator`."""

    command = (PROGRAM, "operator")


class World:
    """A namespace, and our programs running in it unless `processes` is false. `with World(...) as world`."""

    def __init__(self, name, security="baseline", processes=True, **operator_settings):
        self.namespace = f"{name}-{uuid.uuid4().hex[:8]}"
        self.security, self.processes = security, processes
        self.programs = []
        self.files = tempfile.TemporaryDirectory(prefix="launcher-world-")
        self.launcher = self.operator = None
        self.operator_settings = operator_settings

    def __enter__(self):
        self._make_namespace()
        try:
            if self.processes:
                self.launcher, self.operator = self.new_launcher(), self.new_operator()
                self.launcher.start()
                self.operator.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for program in self.programs:
            program.clean_up()
        self.files.cleanup()
        self.kubectl("delete", "namespace", self.namespace, "--wait=false", "--ignore-not-found")

    def _make_namespace(self):
        labels = {"pod-security.kubernetes.io/enforce": self.security}
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace, "labels": labels}}
        rbac = (ROOT / "deploy/rbac.yaml").read_text()
        rbac = rbac.replace("namespace: workshops\n", f"namespace: {self.namespace}\n")
        self.kubectl("apply", "--server-side", "--filename", ROOT / "crds/workshops.yaml")
        self.apply(namespace)
        self.kubectl("apply", "--filename", "-", input=rbac)

    # Our programs.

    def kubeconfig(self, account, server=None):
        """Writes a kubeconfig for this service account and returns its path; with a server, it uses that over HTTP
        instead of the API server."""
        admin = json.loads(self.kubectl("config", "view", "--minify", "--raw", "--output", "json"))
        cluster = {"server": server} if server else admin["clusters"][0]["cluster"]
        token = self.kubectl("create", "token", account, "--duration=2h").strip()
        context = {"cluster": "it", "user": "it", "namespace": self.namespace}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "it",
            "contexts": [{"name": "it", "context": context}],
            "clusters": [{"name": "it", "cluster": cluster}],
            "users": [{"name": "it", "user": {"token": token}}],
        }
        path = pathlib.Path(self.files.name) / f"{account}-{uuid.uuid4().hex[:8]}.json"
        path.write_text(json.dumps(config))
        return str(path)

    def new_launcher(self, server=None, **settings):
        """Returns a launcher that is not started; with a server, it connects to that instead of the API server."""
        defaults = {
            "SERVICE_FLEET": "kubernetes",
            "SERVICE_SHUTDOWN_DELAY": "0",
            "SERVICE_LOG": "info,launcher_api=warn",
            "KUBECONFIG": self.kubeconfig("workshop-launcher", server),
        }
        return self._own(Launcher(**defaults | settings))

    def new_operator(self, server=None, **settings):
        """Returns an operator that is not started."""
        defaults = {
            "SERVICE_WORKSHOP_DOMAIN": WORKSHOP_DOMAIN,
            "SERVICE_WORKSHOP_SCHEME": "http",
            "SERVICE_SIDECAR_IMAGE": f"{IMAGES}/sidecar:test",
            "SERVICE_INGRESS_GATED_ELSEWHERE": "true",
            "SERVICE_IMAGE_PULL_POLICY": "if-not-present",
            "KUBECONFIG": self.kubeconfig("workshop-operator", server),
        }
        return self._own(Operator(**defaults | self.operator_settings | settings))

    def _own(self, program):
        self.programs.append(program)
        return program

    def logs(self):
        """Returns the last lines that each of our programs has printed."""
        return "\n".join(f"-- {program.command[1]}\n{program.log_tail()}" for program in self.programs)

    # Calls of the launcher's API.

    def template(self, launcher=None, **changes):
        """Creates the template APP with these changes; returns its id."""
        status, _, body = (launcher or self.launcher).request("POST", "/templates/", body=APP | changes)
        assert status == 201, (status, body)
        return body["template_id"]

    def launch(self, template_id, email=ALICE, launcher=None):
        """Launches the template; returns the name of the instance."""
        status, _, body = (launcher or self.launcher).request("POST", f"/templates/{template_id}/launch", email, {})
        assert status == 201, (status, body)
        return body["k8s_name"]

    def instance(self, name, launcher=None):
        """Returns the instance as the API shows it."""
        status, _, body = (launcher or self.launcher).request("GET", f"/instances/{name}")
        assert status == 200, (status, body)
        return body

    def end(self, name, email=ADMIN):
        """Ends the instance."""
        status, _, body = self.launcher.request("DELETE", f"/instances/{name}", email)
        assert status == 202, (status, body)

    def until(self, name, state, seconds=90, launcher=None):
        """Waits until the instance is in this state; fails at once if it has failed instead."""
        seen = {}

        def look():
            seen.update(self.instance(name, launcher))
            if seen["state"] == "failed" and state != "failed":
                raise AssertionError(f"{name} has failed: {seen['reason']} {seen['log_tail']}")
            return seen["state"] == state

        try:
            wait_for(f"{name} to be {state}", look, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {seen}") from None
        return seen

    def running(self, email=ALICE, **changes):
        """Launches the template APP with these changes, and waits until it runs; returns the name."""
        name = self.launch(self.template(**changes), email)
        self.until(name, "running")
        return name

    # Access to the cluster.

    def kubectl(self, *words, input=None, check=True):
        """Runs kubectl in this namespace; returns its output, and with check=False its errors too."""
        command = ["kubectl", "--namespace", self.namespace, *map(str, words)]
        done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout if check else done.stdout + done.stderr

    def apply(self, *objects):
        """Applies these objects, as the cluster's administrator."""
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "--filename", "-", input=json.dumps(listed))

    def objects(self, kinds, *words):
        """Returns the objects of these kinds."""
        return json.loads(self.kubectl("get", kinds, "--output", "json", *words))["items"]

    def workshop(self, name):
        """Returns the Workshop, or None."""
        found = self.objects("workshops", "--field-selector", f"metadata.name={name}")
        return found[0] if found else None

    def workload(self, name, kinds=WORKLOAD):
        """Returns the objects of this Workshop's workload, as `kind/name`."""
        label = f"workshoplauncher.dev/workshop={name}"
        return self.kubectl("get", kinds, "--selector", label, "--output", "name").split()

    def until_gone(self, name, seconds=60):
        """Waits until the Workshop and its workload are gone."""
        left = lambda: self.workshop(name) or self.workload(name)
        wait_for(f"everything of {name} to be gone", lambda: not left(), seconds)

    def pod(self, name):
        """Returns the only pod of this Workshop."""
        pods = self.objects("pods", "--selector", f"workshoplauncher.dev/workshop={name}")
        assert len(pods) == 1, [pod["metadata"]["name"] for pod in pods]
        return pods[0]

    def address(self, name):
        """Returns the address of the Workshop's Service; its port is 80."""
        return json.loads(self.kubectl("get", "service", name, "--output", "json"))["spec"]["clusterIP"]

    def visit(self, name, email=None, path="/", proof=None):
        """Sends one request to the Workshop's Service as this person, with this proxy secret; returns (status,
        body)."""
        headers = {"X-Auth-Request-Email": email, "X-Auth-Request-Proof": proof}
        headers = {header: value for header, value in headers.items() if value}
        address = self.address(name)

        def is_routed():
            # kube-proxy routes a new Service after up to a second. The sidecar then answers 403 to a request without an
            # identity.
            try:
                return exchange(80, "GET", "/", host=address)[0] == 403
            except (OSError, http.client.HTTPException):
                return False

        wait_for(f"the Service {name} to be routed", is_routed, 15)
        status, _, body = exchange(80, "GET", path, headers, host=address)
        return status, body


def moment(time):
    """Parses a time of the API or the cluster for comparison: the same time may be written in several ways."""
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00"))


def seconds_from_now(time):
    """Returns the seconds from now until this time of the API."""
    return (moment(time) - datetime.datetime.now(datetime.UTC)).total_seconds()


def ca_certificate():
    """Returns the certificate authority, as PEM, and the server URL of the cluster that KUBECONFIG names."""
    words = ["kubectl", "config", "view", "--minify", "--raw", "--output", "jsonpath={.clusters[0].cluster}"]
    cluster = json.loads(subprocess.run(words, check=True, capture_output=True, text=True, env=os.environ).stdout)
    if "certificate-authority-data" in cluster:
        return base64.b64decode(cluster["certificate-authority-data"]).decode(), cluster["server"]
    return pathlib.Path(cluster["certificate-authority"]).read_text(), cluster["server"]
