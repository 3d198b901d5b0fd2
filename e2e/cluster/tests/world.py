"""A namespace with a launcher and an operator, which use their own service accounts, and functions to control them."""

import datetime
import http.client
import json
import pathlib
import subprocess
import tempfile
import uuid

from api_server import api_server
from harness import ADMIN, PATIENCE, PROGRAM, ROOT, Launcher, Program, exchange, wait_for

ALICE, BOB = "alice@example.org", "bob@example.org"
WORKSHOP_DOMAIN = "workshops.test"
IMAGES = "localhost/workshop-launcher"
WORKLOAD = ("deployments", "replicasets", "pods", "services", "ingresses")
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
    """A namespace, with a launcher and an operator unless `processes` is false. Usage: `with World(...) as world`."""

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
        crds = ROOT / "crds/workshops.yaml"
        self.kubectl("apply", "--server-side", "--filename", crds)
        self.kubectl("wait", "--for=condition=Established", "--filename", crds, "--timeout=90s")
        self.apply(namespace)
        self.kubectl("apply", "--filename", "-", input=rbac)

    # Launcher and operator.

    def kubeconfig(self, account, server=None):
        """Writes a kubeconfig for this service account and returns its path. A given `server` URL replaces the URL of
        the API server."""
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
        """Returns a launcher that is not started. A given `server` URL replaces the URL of the API server."""
        defaults = {
            "SERVICE_FLEET": "kubernetes",
            "SERVICE_SHUTDOWN_DELAY": "0",
            "SERVICE_LOG": "info,launcher_api=warn",
            "KUBECONFIG": self.kubeconfig("workshop-launcher", server),
        }
        return self._own(Launcher(**defaults | settings))

    def new_operator(self, server=None, **settings):
        """Returns an operator that is not started. A given `server` URL replaces the URL of the API server."""
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
        """Returns the last log lines of all launchers and operators."""
        return "\n".join(f"-- {program.command[1]}\n{program.log_tail()}" for program in self.programs)

    # Calls of the launcher's API.

    def template(self, launcher=None, **changes):
        """Creates a template: APP with these changes. Returns its id."""
        status, _, body = (launcher or self.launcher).request("POST", "/templates/", body=APP | changes)
        assert status == 201, (status, body)
        return body["template_id"]

    def launch(self, template_id, email=ALICE, launcher=None):
        """Launches the template. Returns the name of the instance."""
        status, _, body = (launcher or self.launcher).request("POST", f"/templates/{template_id}/launch", email, {})
        assert status == 201, (status, body)
        return body["k8s_name"]

    def instance(self, name, launcher=None):
        """Returns the instance from the launcher's API."""
        status, _, body = (launcher or self.launcher).request("GET", f"/instances/{name}")
        assert status == 200, (status, body)
        return body

    def end(self, name, email=ADMIN):
        """Ends the instance."""
        status, _, body = self.launcher.request("DELETE", f"/instances/{name}", email)
        assert status == 202, (status, body)

    def until(self, name, state, seconds=90, launcher=None):
        """Waits until the instance is in this state, and returns the instance. Fails at once if the instance fails."""
        seen = {}

        def look():
            seen.update(self.instance(name, launcher))
            if seen["state"] == "failed" and state != "failed":
                raise AssertionError(f"{name} failed: {seen['reason']} {seen['log_tail']}")
            return seen["state"] == state

        try:
            wait_for(f"{name} to be {state}", look, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; the instance: {seen}") from None
        return seen

    def running(self, email=ALICE, **changes):
        """Launches a template, APP with these changes, and waits until the instance runs. Returns its name."""
        name = self.launch(self.template(**changes), email)
        self.until(name, "running")
        return name

    # Access to the cluster.

    def kubectl(self, *words, input=None, check=True):
        """Runs kubectl in this namespace. Returns stdout. check=False ignores failures and also returns stderr."""
        command = ["kubectl", "--namespace", self.namespace, *map(str, words)]
        done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=120 * PATIENCE)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout if check else done.stdout + done.stderr

    def apply(self, *objects):
        """Applies these objects with the permissions of a cluster administrator."""
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "--filename", "-", input=json.dumps(listed))

    def objects(self, kind, **selectors):
        """Returns the objects of this kind that match the selectors of `ApiServer.list`."""
        return api_server().list(self.namespace, kind, **selectors)

    def named(self, kind, name):
        """Returns the object of this kind and name, or None."""
        found = self.objects(kind, fieldSelector=f"metadata.name={name}")
        return found[0] if found else None

    def workshop(self, name):
        """Returns the Workshop with this name, or None."""
        return self.named("workshops", name)

    def of_workshop(self, kind, name):
        """Returns the objects of this kind in the workload of this Workshop."""
        return self.objects(kind, labelSelector=f"workshoplauncher.dev/workshop={name}")

    def workload(self, name):
        """Returns the objects of this Workshop's workload as a list of `kind/name`."""
        return [f"{kind}/{one['metadata']['name']}" for kind in WORKLOAD for one in self.of_workshop(kind, name)]

    def until_gone(self, name, seconds=60):
        """Waits until the Workshop and its workload are gone."""
        left = lambda: self.workshop(name) or self.workload(name)
        wait_for(f"all objects of {name} to be deleted", lambda: not left(), seconds)

    def pod(self, name):
        """Returns the pod of this Workshop. Fails unless exactly one pod exists."""
        pods = self.of_workshop("pods", name)
        assert len(pods) == 1, [pod["metadata"]["name"] for pod in pods]
        return pods[0]

    def cluster_ip(self, name):
        """Returns the cluster IP of the Workshop's Service. The Service listens on port 80."""
        return self.named("services", name)["spec"]["clusterIP"]

    def status_now(self, name, email=None):
        """Sends one request to the Workshop's Service. Returns the status, or None without an answer within 3 s. Packets
        to a pod that was just deleted get no answer until kube-proxy removes its route."""
        headers = {"X-Auth-Request-Email": email} if email else {}
        try:
            return exchange(80, "GET", "/", headers, host=self.cluster_ip(name), timeout=3)[0]
        except (OSError, http.client.HTTPException):
            return None

    def address(self, name):
        """Waits until the Workshop's Service is routed. Returns its cluster IP."""
        # kube-proxy needs up to 1 s to route a new Service. After that, the sidecar answers 403, because this request has
        # no identity.
        wait_for(f"the Service {name} to be routed", lambda: self.status_now(name) == 403, 60)
        return self.cluster_ip(name)

    def visit(self, name, email=None, path="/", proof=None):
        """Sends one request to the Workshop's Service with this identity and proxy secret. Returns (status, body)."""
        headers = {"X-Auth-Request-Email": email, "X-Auth-Request-Proof": proof}
        headers = {header: value for header, value in headers.items() if value}
        status, _, body = exchange(80, "GET", path, headers, host=self.address(name))
        return status, body

    def until_app_answers(self, name, email, seconds=60):
        """Waits until the app answers 200 to this identity. A pod that is being replaced may refuse connections."""
        wait_for(f"the app of {name} to answer", lambda: self.status_now(name, email) == 200, seconds)


def parse_time(time):
    """Parses a timestamp. Compare only parsed timestamps: API and cluster may write the same time as .630Z and .63Z."""
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00"))


def expires_at(workshop):
    """Returns the expiry in the Workshop's spec as a datetime, or None if the spec has no expiry."""
    time = workshop["spec"].get("expiresAt")
    return time and parse_time(time)


def seconds_from_now(time):
    """Returns the seconds from now until this timestamp."""
    return (parse_time(time) - datetime.datetime.now(datetime.UTC)).total_seconds()


def assert_nothing_was_forbidden(world):
    """Fails if one of our programs, each with its own account, logged a request without permission. Quotas and Pod Security
    also forbid requests, but their messages name no user."""
    for program in world.programs:
        lines = program.log.read_text().splitlines()
        assert [line for line in lines if "forbidden: user" in line.lower()] == []
