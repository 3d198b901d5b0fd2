"""The login chain in the cluster: Traefik, two login providers, and a release of the chart with both login proxies."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess

import yaml

from harness import APPLY, ROOT, wait_for
from visitor import Visitor

LOGIN = ROOT / "e2e/login"
RELEASE = "launcher"
FULL_NAME = f"{RELEASE}-workshop-launcher"
NAMESPACE, WORKSHOPS = "login-launcher", "login-workshops"
INGRESS, IDP = "login-test-ingress", "login-test-idp"
LAUNCHER, WORKSHOP_DOMAIN = "https://launcher.test", "workshops.test"
ALICE, BOB, ADMIN, MANY = "alice@example.org", "bob@example.org", "admin@example.org", "many@example.org"
ECHO = "01980000-0000-7000-8000-000000000002"
DEFINITIONS = ("workshops.workshoplauncher.dev", "workshopdownloads.workshoplauncher.dev")
JSON = {"Accept": "application/json", "Content-Type": "application/json"}
# Deadline of kubectl and Helm, longer than that of other waits because an upgrade starts several pods one after the other.
TIMEOUT = "--timeout=600s"
# Options of Helm for the front as edge proxy.
ANY = (
    "--set", "ingress.controller=any", "--set", "ingress.className=login-test",
    "--set", "images.front=localhost/workshop-launcher/nginx:test",
)
# The provider that keeps a session for each browser. A sign-out at the launcher also ends the session there.
SSO = "http://sso.test:5557"
SIGN_OUT = f"{SSO}/session/end?client_id=launcher&post_logout_redirect_uri=https%3A%2F%2Flauncher.test%2Fsigned-out"
WITH_SSO = ("--set", f"login.oidc.issuerURL={SSO}", "--set-string", f"login.signedOutURL={SIGN_OUT}")
VOLUME = pathlib.Path("/var/tmp/login-launcher-data")
RELEASE_OPTIONS = (RELEASE, ROOT / "charts/workshop-launcher", "--namespace", NAMESPACE, "--values", LOGIN / "values.yaml")


def run(*command, input=None, check=True, cwd=None):
    """Runs a command. Returns stdout. check=False ignores failures and also returns stderr."""
    done = subprocess.run(list(map(str, command)), input=input, capture_output=True, text=True, timeout=900, cwd=cwd)
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
    kubectl(*APPLY, "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def namespaced(kind, name, api="v1", namespace=NAMESPACE, **body):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **body}


def read(namespace, *words):
    """Returns objects of a namespace as `kubectl get --output json` prints them."""
    return json.loads(kubectl("--namespace", namespace, "get", *words, "--output", "json"))


def cluster_ip(namespace, service):
    return read(namespace, "service", service)["spec"]["clusterIP"]


def hostpath_volume(name, path, **spec):
    """Creates a volume for the launcher's files. A hostPath is enough, because this machine is the only node."""
    path.mkdir(exist_ok=True)
    os.chown(path, 65532, 65532)
    size = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": str(path)}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}}
    apply({**volume, "spec": {**size, "persistentVolumeReclaimPolicy": "Retain", **spec}})


def remove_release(release, namespaces, platform, volume, path, wait=True):
    """Removes a release, its namespaces and volume, and the objects of the manifests in `platform`.

    Ends all pods quickly. Otherwise the deletion of a namespace first waits for half of their grace period, which is 16 s
    and more. wait=False does not wait for the deletion of the namespaces.
    """
    existing = kubectl("get", "namespace", *namespaces, "--ignore-not-found", "--output", "name")
    if existing:
        helm("uninstall", release, "--namespace", namespaces[0], "--ignore-not-found")
    for namespace in namespaces if existing else ():
        everything = ("deployments,replicasets,pods", "--all", "--namespace", namespace)
        kubectl("delete", *everything, "--grace-period=1", "--ignore-not-found")
    kubectl("delete", "namespace", *namespaces, "--ignore-not-found", "--wait=false")
    waiting = f"--wait={str(wait).lower()}"
    kubectl("delete", "--filename", platform, "--ignore-not-found", waiting)
    if wait:
        kubectl("wait", "namespace", *namespaces, "--for=delete", TIMEOUT)
    kubectl("delete", "persistentvolume", volume, "--ignore-not-found", waiting)
    shutil.rmtree(path, ignore_errors=True)


def doctor_report(printed):
    """Returns the lines of the doctor in this output: {check: result}, where the result is ok, warn or FAIL."""
    return {line[6:21].strip(): line[:4].strip() for line in printed.splitlines() if line[:6].strip() in ("ok", "warn", "FAIL")}


def crd_exists_outside_release():
    """Returns True if a CRD exists but does not belong to this Helm release. Other tests apply the CRDs with kubectl.
    Helm then needs --take-ownership, and --force-conflicts for annotations that kubectl has set."""
    get = ("get", "customresourcedefinition", "--ignore-not-found", "--output", "json")
    found = [json.loads(text) for name in DEFINITIONS if (text := kubectl(*get, name))]
    return any(one["metadata"].get("annotations", {}).get("meta.helm.sh/release-name") != RELEASE for one in found)


def settled(look):
    """Returns look(), or None if a request got no usable answer: pods and routes change during an upgrade or an end.

    Requests to the address of a deleted pod get no answer, and a terminating proxy closes connections."""
    try:
        return look()
    except (OSError, http.client.HTTPException, AssertionError, ValueError, KeyError, TypeError):
        return None


def until(what, look):
    """Calls look() until it returns a true value, also after requests without a usable answer. Returns the value."""
    return wait_for(what, lambda: settled(look))


class Chain:
    """Installs the platform and the release, in namespaces with fixed names. Only one release can exist."""

    # The launcher's URL without a path, and the workshops' domain.
    launcher, domain = LAUNCHER, WORKSHOP_DOMAIN
    # Options of Helm of the installed release, or None if it is unknown. Copies of the chain share it.
    installed = None

    def __init__(self):
        self.addresses = {}
        # Names of workshops that test files share. Copies of the chain have the same list.
        self.shared = []

    def platform(self):
        """Installs the components outside the chart: Traefik and the login providers. The resource definitions of Traefik
        and of the Gateway API remain after the tests."""
        for name in ("traefik-crds.yaml", "gateway-crds.yaml"):
            kubectl(*APPLY, pathlib.Path(os.environ["LOGIN_BIN"]) / name)
        # kubectl neither applies nor deletes a GatewayClass before the API server serves this kind.
        served = ("get", "gatewayclasses.gateway.networking.k8s.io")
        until("the Gateway API to be served", lambda: "rror" not in kubectl(*served, check=False))
        # Remove leftover objects of an earlier run that was killed.
        self.remove()
        kubectl(*APPLY, LOGIN / "platform")
        for namespace, name in ((INGRESS, "traefik"), (IDP, "dex"), (IDP, "sso")):
            kubectl("--namespace", namespace, "rollout", "status", f"deployment/{name}", TIMEOUT)
        traefik = cluster_ip(INGRESS, "traefik")
        self.addresses = {
            "launcher.test": traefik,
            f".{WORKSHOP_DOMAIN}": traefik,
            "dex.test": cluster_ip(IDP, "dex"),
            "sso.test": cluster_ip(IDP, "sso"),
        }
        labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
        apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}})
        hostpath_volume(f"{NAMESPACE}-data", VOLUME, storageClassName="by-hand")
        claim = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
        apply(namespaced("PersistentVolumeClaim", "data", spec={**claim, "storageClassName": "by-hand"}))

    def upgrade(self, *words):
        """Runs `helm upgrade --install`, and waits until users can log in."""
        Chain.installed = None
        ownership = ("--take-ownership", "--force-conflicts") if crd_exists_outside_release() else ()
        helm("upgrade", "--install", *RELEASE_OPTIONS, "--wait", TIMEOUT, *ownership, *words)
        self.until_login_works()

    @staticmethod
    def next_secrets():
        """Returns the data of the Secrets that the next `helm upgrade` with the same options writes: {name: data}."""
        said = json.loads(helm("upgrade", *RELEASE_OPTIONS, "--dry-run=server", "--output", "json"))
        secrets = [one for one in yaml.safe_load_all(said["manifest"]) if one and one["kind"] == "Secret"]
        return {one["metadata"]["name"]: one["data"] for one in secrets if one["metadata"]["namespace"] == NAMESPACE}

    def ensure(self, *words):
        """Installs the release with exactly these options of Helm, unless it has them already."""
        if Chain.installed != words:
            self.upgrade(*words)
            self.end_old_pods()
            # With pods of the new revision only.
            self.until_login_works()
            Chain.installed = words

    def uninstall(self):
        Chain.installed = None
        helm("uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", TIMEOUT)

    def until_login_works(self):
        """Waits until users can log in at launcher and workshops. The ingress routes to new pods with a delay.

        Sends each request several times: the ingress briefly alternates between old and new pods, which may set cookies for
        other domains or redirect to another provider.
        """

        def gets_in():
            visitor = self.visitor()
            page = visitor.log_in(f"{self.launcher}/", ALICE)
            start = f"https://login.{self.domain}/oauth2/start"
            answers = [(visitor.open(page.url).status, self.visitor().request("GET", start)) for _ in range(3)]
            return page.url == f"{self.launcher}/" and {(page, start.status) for page, start in answers} == {(200, 302)}

        until("the login at launcher and workshops", gets_in)

    def end_old_pods(self):
        """Ends the pods of earlier revisions, which otherwise serve until the end of their grace period: a request could
        still reach them, and get a 500. Waits until they are gone."""

        def are_gone():
            for one in read(NAMESPACE, "deployments")["items"]:
                counts = [one["status"].get(name, 0) for name in ("replicas", "updatedReplicas")]
                if counts != [one["spec"]["replicas"]] * 2:
                    return False
            pods = [one["metadata"] for one in read(NAMESPACE, "pods")["items"]]
            old = [pod["name"] for pod in pods if "deletionTimestamp" in pod]
            if old:
                kubectl("--namespace", NAMESPACE, "delete", "pod", *old, "--grace-period=1", "--ignore-not-found")
            return not old

        until("the pods of the earlier revision to end", are_gone)

    def remove(self, wait=True):
        """Removes the release, its prerequisites and the platform."""
        Chain.installed = None
        remove_release(RELEASE, (NAMESPACE, WORKSHOPS), LOGIN / "platform", f"{NAMESPACE}-data", VOLUME, wait)

    # Users.

    def visitor(self):
        """Returns a new browser profile in which the chain's host names resolve."""
        return Visitor(self.addresses)

    def signed_in(self, email, *urls):
        """Returns a new browser profile in which this user is logged in at the launcher. Then it opens these URLs."""
        visitor = self.visitor()
        answer = visitor.log_in(f"{self.launcher}/", email)
        assert (answer.status, answer.is_login_form) == (200, False), (answer.url, answer.status, answer.body[:500])
        for url in urls:
            visitor.log_in(url, email)
        return visitor

    def api(self, visitor, method, path, body=None, **headers):
        """Sends an API request of this user. Returns (status, body)."""
        answer = visitor.request(method, f"{self.launcher}/api/v1{path}", JSON | headers, body)
        return answer.status, json.loads(answer.body) if "json" in answer.headers.get_content_type() else answer.body

    def launch(self, visitor, template=ECHO):
        """Launches a workshop through the API, and returns its name."""
        status, body = self.api(visitor, "POST", f"/templates/{template}/launch", "{}")
        assert status == 201, body
        return body["k8s_name"]

    def until_open(self, visitor, name):
        """Waits until its owner, who is logged in at the launcher, gets into this workshop, and returns the URL.

        Traefik reads a new Ingress with a short delay. Without a login, the answer at an address does not tell whether a
        workshop has this address.
        """

        def is_running():
            status, seen = settled(lambda: self.api(visitor, "GET", f"/instances/{name}")) or (None, None)
            assert status != 200 or seen["state"] != "failed", seen
            return seen if status == 200 and seen["state"] == "running" else None

        seen = wait_for(f"{name} to run", is_running)
        until(f"{seen['url']} to be routed", lambda: visitor.log_in(seen["url"], seen["owner_email"]).status == 200)
        return seen["url"]

    def launched(self, visitor, template=ECHO):
        """Launches a workshop, waits until its owner gets in, and returns (name, url)."""
        name = self.launch(visitor, template)
        return name, self.until_open(visitor, name)
