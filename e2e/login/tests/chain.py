"""The login chain in the cluster: Traefik, two login providers, and a release of the chart with both login proxies."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess

from harness import ROOT, wait_for
from visitor import Visitor

LOGIN = ROOT / "e2e/login"
RELEASE = "launcher"
NAMESPACE, WORKSHOPS = "login-launcher", "login-workshops"
INGRESS, IDP = "login-test-ingress", "login-test-idp"
LAUNCHER, WORKSHOP_DOMAIN = "https://launcher.test", "workshops.test"
ALICE, BOB, ADMIN = "alice@example.org", "bob@example.org", "admin@example.org"
JUPYTERLAB, ECHO = "01980000-0000-7000-8000-000000000001", "01980000-0000-7000-8000-000000000002"
DEFINITIONS = ("workshops.workshoplauncher.dev", "workshopdownloads.workshoplauncher.dev")
RELEASE_NAME = "meta.helm.sh/release-name"
ANY = (
    "--set", "ingress.controller=any", "--set", "ingress.className=login-test",
    "--set", "images.front=localhost/workshop-launcher/nginx:test",
)
# Additions to ANY for the Gateway API. The port is that of Traefik's entry point; the test creates the Secret.
GATEWAY = (
    *ANY, "--set", "ingress.controller=gateway", "--set", "ingress.gateway.port=8443",
    "--set", "ingress.tls.launcherSecret=gateway", "--set", "ingress.tls.workshopsSecret=gateway",
)
# One wildcard domain for launcher and workshops.
ONE_HOST, ONE_DOMAIN = "launcher.apps.example.test", "apps.example.test"
WILDCARD = ("--set", f"host={ONE_HOST},workshops.domain={ONE_DOMAIN},workshops.nameSuffix=-ws")
VOLUME = pathlib.Path("/var/tmp/login-launcher-data")


def run(*command, input=None, check=True, cwd=None):
    """Runs a command. Returns stdout. check=False ignores failures and also returns stderr."""
    done = subprocess.run(list(map(str, command)), input=input, capture_output=True, text=True, timeout=300, cwd=cwd)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout if check else done.stdout + done.stderr


def kubectl(*words, **options):
    return run("kubectl", *words, **options)


def helm(*words, **options):
    return run(pathlib.Path(os.environ["LOGIN_BIN"]) / "helm", *words, **options)


def node_images(*words):
    """Runs `ctr images` on the node of the tests' own cluster."""
    return run("bash", "-c", f'source {ROOT}/e2e/cluster/common.sh; containers images "$@"', "ctr", *words)


def apply(*objects):
    kubectl("apply", "--filename", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def namespaced(kind, name, api="v1", namespace=NAMESPACE, **body):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **body}


def cluster_ip(namespace, service):
    return kubectl("--namespace", namespace, "get", "service", service, "--output", "jsonpath={.spec.clusterIP}")


def end_pods(*namespaces):
    """Ends all pods of these namespaces quickly. Otherwise the deletion of a namespace first waits for half of their grace
    period, which is 16 s and more."""
    for namespace in namespaces:
        everything = ("deployments,replicasets,pods", "--all", "--namespace", namespace)
        kubectl("delete", *everything, "--grace-period=1", "--ignore-not-found")


def doctor_report(printed):
    """Returns the lines of the doctor in this output: {check: result}, where the result is ok, warn or FAIL."""
    return {line[6:21].strip(): line[:4].strip() for line in printed.splitlines() if line[:6].strip() in ("ok", "warn", "FAIL")}


def crd_exists_outside_release():
    """Returns True if a CRD exists but does not belong to this Helm release. Other tests apply the CRDs with kubectl.
    Helm then needs --take-ownership, and --force-conflicts for annotations that kubectl has set."""
    get = ("get", "customresourcedefinition", "--ignore-not-found", "--output", "json")
    found = [json.loads(text) for name in DEFINITIONS if (text := kubectl(*get, name))]
    return any(one["metadata"].get("annotations", {}).get(RELEASE_NAME) != RELEASE for one in found)


def settled(look):
    """Returns look(), or None if a request got no usable answer: pods and routes change during an upgrade or an end.

    Requests to the address of a deleted pod get no answer, and a terminating proxy closes connections."""
    try:
        return look()
    except (OSError, http.client.HTTPException, AssertionError, ValueError, KeyError):
        return None


class Chain:
    """Installs the platform and the release, in namespaces with fixed names. Only one release can exist."""

    # The launcher's URL without a path, and the workshops' domain.
    launcher, domain = LAUNCHER, WORKSHOP_DOMAIN

    def __init__(self):
        self.addresses = {}

    def definitions(self):
        """Installs the resource definitions of Traefik and of the Gateway API. They remain after the tests."""
        for name in ("traefik-crds.yaml", "gateway-crds.yaml"):
            kubectl("apply", "--server-side", "--filename", pathlib.Path(os.environ["LOGIN_BIN"]) / name)
        # kubectl neither applies nor deletes a GatewayClass before the API server serves this kind.
        served = ("get", "gatewayclasses.gateway.networking.k8s.io")
        wait_for("the Gateway API to be served", lambda: "rror" not in kubectl(*served, check=False), 30)

    def platform(self):
        """Installs the components outside the chart: Traefik and the login providers."""
        kubectl("apply", "--filename", LOGIN / "platform")
        for namespace, name in ((INGRESS, "traefik"), (IDP, "dex"), (IDP, "sso")):
            kubectl("--namespace", namespace, "rollout", "status", f"deployment/{name}", "--timeout=280s")
        traefik = cluster_ip(INGRESS, "traefik")
        self.addresses = {
            "launcher.test": traefik,
            f".{WORKSHOP_DOMAIN}": traefik,
            "dex.test": cluster_ip(IDP, "dex"),
            "sso.test": cluster_ip(IDP, "sso"),
        }

    def prepare(self):
        """Creates a restricted namespace and a volume."""
        labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
        apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}})
        # A hostPath volume is enough for the launcher's files, because this machine is the only node.
        VOLUME.mkdir(exist_ok=True)
        os.chown(VOLUME, 65532, 65532)
        size = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand"}
        claim = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
        volume = {**size, "hostPath": {"path": str(VOLUME)}, "persistentVolumeReclaimPolicy": "Retain"}
        apply(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"{NAMESPACE}-data"}, "spec": volume},
            namespaced("PersistentVolumeClaim", "data", spec={**claim, "storageClassName": "by-hand"}),
        )

    def install(self, *words):
        """Runs helm upgrade --install, and waits until users can log in. Returns Helm's output."""
        chart = ROOT / "charts/workshop-launcher"
        common = ("--namespace", NAMESPACE, "--values", LOGIN / "values.yaml", "--wait", "--timeout", "280s")
        ownership = ("--take-ownership", "--force-conflicts") if crd_exists_outside_release() else ()
        printed = helm("upgrade", "--install", RELEASE, chart, *common, *ownership, *words)
        self.until_login_works()
        return printed

    def until_login_works(self):
        """Waits until users can log in at launcher and workshops. The ingress routes to new pods with a delay."""

        def gets_in():
            page = self.visitor().log_in(f"{self.launcher}/", ALICE)
            workshops = self.visitor().request("GET", f"https://login.{self.domain}/oauth2/start")
            return (page.status, page.url, workshops.status) == (200, f"{self.launcher}/", 302)

        # A pod of the earlier revision may answer, with cookies for other domains.
        wait_for("the login at launcher and workshops", lambda: settled(gets_in), 60)

    def until_old_pods_are_gone(self):
        """Waits until no pod of an earlier revision is terminating: a request could still reach it, and get a 500."""

        def are_gone():
            pods = json.loads(kubectl("get", "pods", "--namespace", NAMESPACE, "--output", "json"))["items"]
            return not any("deletionTimestamp" in pod["metadata"] for pod in pods)

        wait_for("the pods of the earlier revision to end", are_gone, 90)

    def uninstall(self):
        return helm("uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", "--ignore-not-found")

    def remove(self):
        """Removes the release, its prerequisites and the platform."""
        self.uninstall()
        end_pods(NAMESPACE, WORKSHOPS)
        namespaces = ("namespace", NAMESPACE, WORKSHOPS)
        kubectl("delete", *namespaces, "--ignore-not-found", "--wait=false")
        kubectl("delete", "--filename", LOGIN / "platform", "--ignore-not-found")
        kubectl("wait", *namespaces, "--for=delete", "--timeout=280s")
        kubectl("delete", "persistentvolume", f"{NAMESPACE}-data", "--ignore-not-found")
        shutil.rmtree(VOLUME, ignore_errors=True)

    # Users.

    def visitor(self):
        """Returns a new browser profile in which the chain's host names resolve."""
        return Visitor(self.addresses)

    def signed_in(self, email, url=None):
        """Returns a new browser profile in which this user is logged in."""
        visitor = self.visitor()
        answer = visitor.log_in(url or f"{self.launcher}/", email)
        assert (answer.status, answer.is_login_form) == (200, False), (answer.url, answer.status, answer.body[:500])
        return visitor

    def launched(self, visitor, template=ECHO):
        """Launches a workshop through the API, waits until the ingress routes the workshop, and returns (name, url)."""
        json_headers = {"Accept": "application/json", "Content-Type": "application/json"}
        answer = visitor.request("POST", f"{self.launcher}/api/v1/templates/{template}/launch", json_headers, "{}")
        assert answer.status == 201, answer.body
        name = json.loads(answer.body)["k8s_name"]

        def read():
            answer = visitor.request("GET", f"{self.launcher}/api/v1/instances/{name}", json_headers)
            return json.loads(answer.body) if answer.status == 200 else None

        def is_running():
            seen = settled(read) or {"state": None}
            assert seen["state"] != "failed", seen
            return seen if seen["state"] == "running" else None

        seen = wait_for(f"{name} to run", is_running, 90)
        self.until_routed(seen["url"], seen["owner_email"])
        return name, seen["url"]

    def until_routed(self, url, owner):
        """Waits until the ingress routes this workshop. Traefik reads a new Ingress with a short delay.

        Without a login, the answer at an address does not tell whether a workshop has this address.
        """
        visitor = self.visitor()
        wait_for(f"{url} to be routed", lambda: settled(lambda: visitor.log_in(url, owner).status == 200), 60)
