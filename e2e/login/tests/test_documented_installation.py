"""The steps of docs/install.md, run on the tests' cluster: then a user logs in, launches a workshop and reaches it.

The commands, files, names and addresses come from the page. MANUAL performs the steps that a person performs outside the
cluster or in a browser. REPLACED lists all texts of the page that this machine replaces.
"""

import json
import re
import urllib.parse

import pytest
import yaml

import fixed_names
from chain import ALICE, LOGIN, TIMEOUT, Chain, cluster_ip, doctor_report, helm, kubectl, run
from fixed_names import BUILT
from harness import ROOT
from installation import steps
from yaml_files import load, load_all

pytestmark = fixed_names.only_on_own_cluster

# The ingress controller with the names that the chart expects by default.
INGRESS = "traefik"
IMAGES = {fixed_names.IMAGES["oauth2Proxy"]: "oauth2-proxy"}
ADMIN = "ada@example.org"


def registered_client():
    """Returns the client that the tests' provider has for this installation."""
    (text,) = (one["data"]["dex.yaml"] for one in manifests("dex") if one["kind"] == "ConfigMap")
    return next(one for one in load(text)["staticClients"] if one["id"] == "documented")


def manifests(name):
    return load_all((LOGIN / f"platform/{name}.yaml").read_text())


def ingress_controller():
    """Returns the objects of the tests' Traefik, in the namespace and with the class that the chart expects by default."""
    text = json.dumps([one for one in manifests("traefik") if one["kind"] != "GatewayClass"])
    items = json.loads(text.replace("login-test-ingress", INGRESS).replace("login-test", INGRESS))
    return {"apiVersion": "v1", "kind": "List", "items": items}


class Documented(Chain):
    """The installation of the page. Its steps are performed one after the other."""

    launcher, domain = "https://launcher.example.org", "workshops.example.net"

    def __init__(self, provider, folder):
        super().__init__()
        self.addresses = dict(provider)
        self.folder = folder
        self.template = None
        self.reports = []
        client = registered_client()
        # {text of the page: text on this machine}. A machine without a registry and a public provider needs no more.
        self.replaced = {
            "oci://ghcr.io/OWNER/REPOSITORY/charts/workshop-launcher": str(self.packaged_chart()),
            "https://accounts.example.org": "http://dex.test:5556/dex",
            "login.clientID=...": f"login.clientID={client['id']}",
            "login.clientSecret=...": f"login.clientSecret={client['secret']}",
        }
        self.used = set()

    def packaged_chart(self):
        """Packs the chart as a release does, with the tests' images."""
        images = (f"{BUILT}/{name}:test" for name in ("launcher", "sidecar", "material"))
        run(ROOT / "packaging/release/chart.sh", self.folder, *images)
        (chart,) = self.folder.glob("workshop-launcher-*.tgz")
        return chart

    def on_this_machine(self, text):
        for documented, present in self.replaced.items():
            if documented in text:
                self.used.add(documented)
                text = text.replace(documented, present)
        return text

    def perform(self, step):
        manual = [perform for title, perform in MANUAL.items() if title in step.prose]
        for name, text in step.files.items():
            (self.folder / name).write_text(self.on_this_machine(text))
        for command in step.commands:
            self.run_command([self.on_this_machine(word) for word in command])
        assert len(manual) + bool(step.files or step.commands) == 1, f"expected one way to perform this step: {step}"
        for perform in manual:
            perform(self, step)

    def run_command(self, words):
        assert words[0] == "helm", words
        printed = helm(*words[1:], cwd=self.folder)
        if words[1] == "test":
            self.reports.append(doctor_report(printed))

    # Steps that need no command.

    def create_records(self, step):
        assert len(step.names) == 2, step
        traefik = cluster_ip(INGRESS, "traefik")
        self.addresses |= {name.removeprefix("*"): traefik for name in step.names}

    def keep_certificate(self, step):
        """Traefik's own certificate is enough, because the visitors of the tests do not verify it."""

    def compare_registered_addresses(self, step):
        assert step.addresses == registered_client()["redirectURIs"]

    def create_first_template(self, step):
        """Follows the links that the step names, and creates a template as the page behind them does."""
        (start,) = re.findall(r"`(https://[^`]+)`", step.prose)
        assert start == f"{self.launcher}/"
        self.until_login_works()
        admin = self.signed_in(ADMIN)
        assert self.api(admin, "GET", "/me")[1]["is_admin"]
        page = admin.open(start)
        links = re.findall(r"\*([^*]+)\*", step.prose)
        assert len(links) == 2, step
        for text in links:
            found = re.search(rf'<a [^>]*href="([^"]+)"[^>]*>(?:(?!</a>).)*{re.escape(text)}', page.body, re.DOTALL)
            assert found, f"expected the link {text} on {page.url}"
            page = admin.open(urllib.parse.urljoin(page.url, found[1]))
            assert page.status == 200, page.url
        _, echo = load((LOGIN / "values.yaml").read_text())["templates"]
        del echo["template_id"]
        status, body = self.api(admin, "POST", "/templates/", json.dumps(echo))
        assert status == 201, body
        self.template = body["template_id"]


# {words of a step: function that performs it}.
MANUAL = {
    "Create two [DNS records]": Documented.create_records,
    "Give the ingress controller a default certificate": Documented.keep_certificate,
    "Register the launcher as a client": Documented.compare_registered_addresses,
    "log in as an admin": Documented.create_first_template,
}


@pytest.fixture
def documented(platform, tmp_path):
    """A cluster with the prerequisites of the page, on which no step has been performed yet."""
    manifest = tmp_path / "ingress-controller.yaml"
    manifest.write_text(yaml.safe_dump(ingress_controller()))
    try:
        fixed_names.prepare(IMAGES, manifest)
        kubectl("apply", "--filename", manifest)
        kubectl("--namespace", INGRESS, "rollout", "status", "deployment/traefik", TIMEOUT)
        yield Documented({"dex.test": platform.addresses["dex.test"]}, tmp_path)
    finally:
        fixed_names.remove(IMAGES, manifest)


def test_documented_steps_install_launcher_in_which_user_reaches_workshop(documented):
    done = steps()
    assert len(done) <= 7
    for step in done:
        documented.perform(step)
    assert documented.used == set(documented.replaced), "expected the page to have every text that this machine replaces"
    (report,) = documented.reports
    assert "FAIL" not in report.values() and report["operator"] == report["database"] == "ok", report
    alice = documented.signed_in(ALICE)
    assert not documented.api(alice, "GET", "/me")[1]["is_admin"]
    name, url = documented.launched(alice, documented.template)
    answer = alice.log_in(f"{url}lab?x=1", ALICE)
    assert (answer.status, json.loads(answer.body)["path"]) == (200, "/lab?x=1")
