"""A namespace with a launcher and an operator, which use their own service accounts, and functions to control them."""

import contextlib
import datetime
import functools
import http.client
import json
import pathlib
import re
import subprocess
import tempfile
import uuid

from api_server import api_server
from harness import ADMIN, APPLY, DEADLINE, PROGRAM, ROOT, Launcher, Program, exchange, wait_for

ALICE, BOB = "alice@example.org", "bob@example.org"
WORKSHOP_DOMAIN = "workshops.test"
IMAGES = "localhost/workshop-launcher"
# The kinds of the objects of a workload: the operator alone creates, changes and deletes them.
OPERATED = re.compile(r"^  ([a-z]+)[a-z0-9.]*: \[list watch create patch delete\]$", re.MULTILINE)
WORKLOAD = tuple(OPERATED.findall((ROOT / "deploy/permissions.txt").read_text()))
LABELS = {"app": "workshop", "managed-by": "workshop-launcher"}
API_VERSION = "workshoplauncher.dev/v1alpha1"
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
    """A namespace, with a launcher and an operator unless `processes` is false. Usage: `with World(...) as world`.

    `launcher` has settings of all launchers, `operator` those of all operators."""

    def __init__(self, name, security="baseline", processes=True, launcher=None, **operator):
        self.namespace = f"{name}-{uuid.uuid4().hex[:8]}"
        self.security, self.processes = security, processes
        self.programs = []
        self.files = tempfile.TemporaryDirectory(prefix="launcher-world-")
        self.launcher = self.operator = None
        self.launcher_settings, self.operator_settings = launcher or {}, operator

    def __enter__(self):
        define_workshops()
        self.make_namespace(self.namespace)
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

    def make_namespace(self, name):
        """Creates a namespace for workloads. Launcher and operator, whose accounts are in the namespace of this World, get
        their rights there."""
        labels = {"pod-security.kubernetes.io/enforce": self.security}
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        rbac = (ROOT / "deploy/rbac.yaml").read_text()
        # The subjects of the bindings.
        rbac = re.sub(r"^(- kind: .*\n.*\n  namespace: )workshops$", rf"\1{self.namespace}", rbac, flags=re.MULTILINE)
        rbac = rbac.replace("namespace: workshops\n", f"namespace: {name}\n")
        self.kubectl(*APPLY, "-", "--namespace", name, input=f"{json.dumps(namespace)}\n---\n{rbac}")

    # Launcher and operator.

    def kubeconfig(self, account, server=None):
        """Writes a kubeconfig for this service account and returns its path. A given `server` URL replaces the URL of
        the API server."""
        cluster = {"server": server} if server else api_server().cluster
        token = self.kubectl("create", "token", account, "--duration=2h").strip()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "it",
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it", "namespace": self.namespace}}],
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
        return self._own(Launcher(**defaults | self.launcher_settings | settings))

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

    def replace_operator(self, **settings):
        """Stops the operator, and starts another one with these settings."""
        if self.operator.process.poll() is None:
            self.operator.stop()
        self.operator = self.new_operator(**settings)
        self.operator.start()

    def _own(self, program):
        self.programs.append(program)
        return program

    def logs(self):
        """Returns the last log lines of all launchers and operators."""
        return "\n".join(f"-- {program.command[1]}\n{program.log_tail()}" for program in self.programs)

    # Calls of the launcher's API.

    def ask(self, status, method, path, email=ADMIN, body=None, launcher=None):
        """Sends an API request. Fails unless the answer has this status. Returns the body of the answer."""
        found, _, answer = (launcher or self.launcher).request(method, path, email, body)
        assert found == status, (method, path, found, answer)
        return answer

    def template(self, launcher=None, **changes):
        """Creates a template: APP with these changes. Returns its id."""
        return self.ask(201, "POST", "/templates/", body=APP | changes, launcher=launcher)["template_id"]

    def launch(self, template_id, email=ALICE, launcher=None, **body):
        """Launches the template. Returns the name of the instance."""
        return self.ask(201, "POST", f"/templates/{template_id}/launch", email, body, launcher)["k8s_name"]

    def instance(self, name, launcher=None):
        """Returns the instance from the launcher's API."""
        return self.ask(200, "GET", f"/instances/{name}", launcher=launcher)

    def end(self, *names, email=ADMIN):
        """Ends the instances."""
        for name in names:
            self.ask(202, "DELETE", f"/instances/{name}", email)

    def extend(self, name, email=ADMIN):
        """Extends the instance, and waits until its Workshop has the new expiry. Returns the expiry."""
        expiry = parse_time(self.ask(200, "POST", f"/instances/{name}/extend", email, {})["expires_at"])
        wait_for("the extension", lambda: parse_time(self.workshop(name)["spec"].get("expiresAt") or LONG_AGO) == expiry)
        return expiry

    def until(self, name, state, launcher=None):
        """Waits until the instance is in this state, and returns the instance. Fails at once if the instance fails."""
        seen = {}

        def look():
            seen.update(self.instance(name, launcher))
            if seen["state"] == "failed" and state != "failed":
                raise AssertionError(f"{name} failed: {seen['reason']} {seen['log_tail']}")
            return seen["state"] == state

        try:
            wait_for(f"{name} to be {state}", look)
        except AssertionError as error:
            raise AssertionError(f"{error}; the instance: {seen}") from None
        return seen

    def running(self, email=ALICE, **changes):
        """Launches a template, APP with these changes, and waits until the instance runs. Returns its name."""
        name = self.launch(self.template(**changes), email)
        self.until(name, "running")
        return name

    def until_ended(self, *names):
        """Waits until the instances are `terminated`. Fails if a Workshop or workload still exists at that moment. Returns
        the last instance."""
        for name in names:
            ended = self.until(name, "terminated")
            assert self.workshop(name) is None, f"{name} is terminated, but its Workshop still exists"
            assert self.workload(name) == [], f"{name} is terminated, but its workload still exists"
        return ended

    def until_converged(self, running=(), ended=()):
        """Waits until the instances in `running` run, and those in `ended` are terminated with their workloads gone."""
        for name in running:
            self.until(name, "running")
            self.until_phase(name, "Running")
        if ended:
            self.until_ended(*ended)

    @contextlib.contextmanager
    def killed_operator(self):
        """Kills the operator. After the block, starts an operator process with a new lease identity."""
        self.operator.kill()
        try:
            yield
        finally:
            self.operator.start()

    # Access to the cluster.

    def kubectl(self, *words, input=None, check=True):
        """Runs kubectl in this namespace. Returns stdout. check=False ignores failures and also returns stderr."""
        command = ["kubectl", "--namespace", self.namespace, *map(str, words)]
        done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=DEADLINE)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout if check else done.stdout + done.stderr

    def apply(self, *objects, check=True):
        """Applies these objects with the permissions of a cluster administrator. Returns the output of kubectl."""
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        return self.kubectl(*APPLY, "-", input=json.dumps(listed), check=check)

    @contextlib.contextmanager
    def applied_file(self, path, *replaced):
        """Applies this file of the repository during the block, for this namespace instead of `workshops`, and with these
        other replacements (text, new text)."""
        text = (ROOT / path).read_text().replace("namespace: workshops\n", f"namespace: {self.namespace}\n")
        for before, after in replaced:
            text = text.replace(before, after)
        self.kubectl(*APPLY, "-", input=text)
        try:
            yield
        finally:
            self.kubectl("delete", "--filename", "-", input=text)

    @contextlib.contextmanager
    def by_hand(self, name, **spec):
        """Runs a Workshop without the launcher during the block, and then waits until nothing of it is left."""
        self.apply(by_hand(name, **spec))
        try:
            yield name
        finally:
            self.kubectl("delete", "workshop", name, "--ignore-not-found")
            self.until_gone(name)

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

    def status(self, name):
        """Returns the status of the Workshop: {} if there is none."""
        return (self.workshop(name) or {}).get("status") or {}

    def phase(self, name):
        """Returns the phase in the Workshop's status, or None."""
        return self.status(name).get("phase")

    def until_phase(self, name, phase):
        """Waits until the Workshop has this phase. Returns its status."""
        return wait_for(f"{name} to be {phase}", lambda: (found := self.status(name)).get("phase") == phase and found)

    def of_workshop(self, kind, name):
        """Returns the objects of this kind in the workload of this Workshop."""
        return self.objects(kind, labelSelector=f"workshoplauncher.dev/workshop={name}")

    def workload(self, name):
        """Returns the objects of this Workshop's workload as a list of `kind/name`."""
        return [f"{kind}/{one['metadata']['name']}" for kind in WORKLOAD for one in self.of_workshop(kind, name)]

    def until_no_workload(self, name):
        wait_for(f"the workload of {name} to be deleted", lambda: not self.workload(name))

    def until_gone(self, name):
        """Waits until the Workshop and its workload are gone."""
        wait_for(f"all objects of {name} to be deleted", lambda: not (self.workshop(name) or self.workload(name)))

    def pod(self, name):
        """Returns the pod of this Workshop. Fails unless exactly one pod exists."""
        pods = self.of_workshop("pods", name)
        assert len(pods) == 1, [pod["metadata"]["name"] for pod in pods]
        return pods[0]

    def uid(self, name):
        """Returns the uid of the pod of this Workshop."""
        return self.pod(name)["metadata"]["uid"]

    def until_other_pod(self, name, uid):
        """Waits until the Workshop runs in a single pod, which is not the one with this uid."""

        def is_replaced():
            uids = [pod["metadata"]["uid"] for pod in self.of_workshop("pods", name)]
            return len(uids) == 1 and uids != [uid] and self.phase(name) == "Running"

        wait_for(f"{name} to run in another pod", is_replaced)

    def restarts(self, name):
        """Returns {container: restarts} of the pod of this Workshop."""
        return {one["name"]: one["restartCount"] for one in self.pod(name)["status"]["containerStatuses"]}

    def jsonpath(self, *words):
        """Returns the output of `kubectl get` for these words, of which the last one is a JSONPath."""
        return self.kubectl("get", *words[:-1], "--output", f"jsonpath={words[-1]}")

    def node_address(self):
        """Returns the address of the node, at which pods reach this machine."""
        return self.jsonpath("nodes", "--selector=type!=fake", "{.items[0].status.addresses[?(@.type=='InternalIP')].address}")

    def cluster_ip(self, name):
        """Returns the cluster IP of the Workshop's Service. The Service listens on port 80."""
        return wait_for(f"the Service {name}", lambda: self.named("services", name))["spec"]["clusterIP"]

    def status_now(self, name, email=None):
        """Sends one request to the Workshop's Service. Returns the status, or None without an answer. Packets to a pod that
        was just deleted get no answer until kube-proxy removes its route."""
        headers = {"X-Auth-Request-Email": email} if email else {}
        try:
            return exchange(80, "GET", "/", headers, host=self.cluster_ip(name), timeout=3)[0]  # pacing: callers ask again
        except (OSError, http.client.HTTPException):
            return None

    def address(self, name):
        """Waits until the Workshop's Service is routed. Returns its cluster IP."""
        # kube-proxy routes a new Service late. After that, the sidecar answers 403, because this request has no identity.
        wait_for(f"the Service {name} to be routed", lambda: self.status_now(name) == 403)
        return self.cluster_ip(name)

    def visit(self, name, email=None, path="/", proof=None):
        """Sends one request to the Workshop's Service with this identity and proxy secret. Returns (status, body)."""
        headers = {"X-Auth-Request-Email": email, "X-Auth-Request-Proof": proof}
        headers = {header: value for header, value in headers.items() if value}
        return exchange(80, "GET", path, headers, host=self.address(name))[::2]

    def until_app_answers(self, name, email):
        """Waits until the app answers 200 to this identity. A pod that is being replaced may refuse connections."""
        wait_for(f"the app of {name} to answer", lambda: self.status_now(name, email) == 200)

    def assert_nothing_was_forbidden(self):
        """Fails if one of our programs, each with its own account, logged a request without permission. Quotas and Pod
        Security also forbid requests, but their messages name no user."""
        for program in self.programs:
            lines = program.log.read_text().splitlines()
            assert [line for line in lines if "forbidden: user" in line.lower()] == []


LONG_AGO = "2000-01-01T00:00:00Z"


@functools.cache
def define_workshops():
    """Applies the resource definitions, once in each process."""
    crds = ROOT / "crds/workshops.yaml"
    subprocess.run(["kubectl", "apply", "--server-side", "--filename", crds], check=True, capture_output=True)
    established = ["kubectl", "wait", "--for=condition=Established", "--filename", crds, f"--timeout={DEADLINE}s"]
    subprocess.run(established, check=True, capture_output=True)


def by_hand(name, labels=None, **spec):
    """Returns a Workshop as an administrator would write it. Without the labels of the launcher, which then leaves it
    alone: it has no row."""
    usual = {
        "owner": ALICE,
        "image": APP["image"],
        "appType": "custom",
        "port": 8888,
        "args": ["serve"],
        "resources": {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "16Mi", "memoryLimit": "64Mi"},
        "securityProfile": "restricted",
        "lifetimeSeconds": 3600,
    }
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": API_VERSION, "kind": "Workshop", "metadata": metadata, "spec": usual | spec}


def parse_time(time):
    """Parses a timestamp. Compare only parsed timestamps: API and cluster may write the same time as .630Z and .63Z."""
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00"))


def seconds_from_now(time):
    """Returns the seconds from now until this timestamp."""
    return (parse_time(time) - datetime.datetime.now(datetime.UTC)).total_seconds()
