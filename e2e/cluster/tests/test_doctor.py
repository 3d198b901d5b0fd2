"""`launcher doctor` on a cluster: with the launcher's own account, next to a running launcher, and with errors."""

import json
import os
import subprocess

import pytest
from aiohttp import web
from faults import Proxy
from harness import PATIENCE, PROGRAM, wait_for
from test_admission import apply_by_hand, workshop
from world import World

DEFINITION = "/openapi/v3/apis/workshoplauncher.dev/"


class OtherVersion(Proxy):
    """A proxy that reports the Workshop definition as another version, or as missing. The cluster's definition stays
    unchanged, because all tests share it."""

    gone = False

    async def _answer(self, request, body, call, fault):
        if not request.path.startswith(DEFINITION):
            return await super()._answer(request, body, call, fault)
        if self.gone:
            return web.Response(status=404, text="404 page not found")
        async with self._ask(request, body) as answer:
            document = json.loads(await answer.read())
        schemas = document["components"]["schemas"]
        properties = schemas["dev.workshoplauncher.v1alpha1.Workshop"]["properties"]
        del properties["status"]["properties"]["startStep"]
        return web.json_response(document)


@pytest.fixture(scope="module")
def other_version():
    with OtherVersion() as proxy:
        yield proxy


def doctor(launcher, **settings):
    """Runs the doctor; returns its exit status and its lines: {check: (verdict, words)}."""
    done = subprocess.run(
        [PROGRAM, "doctor"], env=launcher.environment | settings, capture_output=True, text=True, timeout=30 * PATIENCE
    )
    assert done.stderr == ""
    lines = [line.split(maxsplit=1) for line in done.stdout.partition("\n\n")[0].splitlines()]
    return done.returncode, {rest[:15].strip(): (verdict, rest[17:]) for verdict, rest in lines}


def test_doctor_warns_only_about_missing_proxy_secret(world):
    running = world.running()
    status, said = doctor(world.launcher)
    assert (status, {check for check, (verdict, _) in said.items() if verdict != "ok"}) == (0, {"proxy secret"}), said
    assert said["proxy secret"][0] == "warn"
    assert {"API server", "namespace", "CRD", "permissions", "operator", "fleet binding", "clock"} <= said.keys()
    assert said["workshops"][1] == "1 running"
    assert "kubectl" in said["operator"][1], "expected the command that shows the leader"
    assert "kubectl get --raw" in said["out of memory"][1], "expected the command for an administrator"
    assert world.instance(running)["state"] == "running"


def test_doctor_with_the_rights_of_an_administrator_reads_the_setting_of_the_kubelet(world):
    status, said = doctor(world.launcher, KUBECONFIG=os.environ["KUBECONFIG"], SERVICE_NAMESPACE=world.namespace)
    node = world.kubectl("get", "nodes", "--output", "jsonpath={.items[0].metadata.name}")
    config = json.loads(world.kubectl("get", "--raw", f"/api/v1/nodes/{node}/proxy/configz"))["kubeletconfig"]
    is_single = config.get("singleProcessOOMKill")
    assert (status, said["out of memory"][0]) == (0, "ok" if is_single else "warn"), said


def test_doctor_reports_missing_permissions(world):
    world.kubectl("create", "serviceaccount", "nobody")
    status, said = doctor(world.launcher, KUBECONFIG=world.kubeconfig("nobody"))
    assert (status, said["permissions"][0]) == (1, "FAIL"), said
    for permission in "get namespaces", "list workshops", "patch workshops", "delete workshops":
        assert permission in said["permissions"][1]
    assert "deploy/rbac.yaml" in said["permissions"][1]
    assert said["API server"][0] == "ok"


def test_doctor_reports_crd_of_other_version(world, other_version):
    through = {"KUBECONFIG": world.kubeconfig("workshop-launcher", other_version.url)}
    other_version.gone = False
    status, said = doctor(world.launcher, **through)
    assert (status, said["CRD"][0]) == (1, "FAIL"), said
    assert "status.startStep" in said["CRD"][1]
    assert "crds/workshops.yaml" in said["CRD"][1]


def test_doctor_reports_missing_crd(world, other_version):
    other_version.gone = True
    through = {"KUBECONFIG": world.kubeconfig("workshop-launcher", other_version.url)}
    status, said = doctor(world.launcher, **through)
    assert (status, said["CRD"][0]) == (1, "FAIL"), said
    assert "no definition of Workshop in workshoplauncher.dev/v1alpha1" in said["CRD"][1]


def test_doctor_reports_refused_credentials_and_unreachable_server(world):
    config = world.kubeconfig("workshop-launcher")
    with open(config) as file:
        made = json.load(file)
    made["users"][0]["user"]["token"] = "nonsense"
    with open(config, "w") as file:
        json.dump(made, file)
    status, said = doctor(world.launcher, KUBECONFIG=config)
    assert (status, said["API server"][0]) == (1, "FAIL"), said
    assert "401" in said["API server"][1]
    assert "permissions" not in said

    away = world.kubeconfig("workshop-launcher", "http://127.0.0.1:1")
    status, said = doctor(world.launcher, KUBECONFIG=away)
    assert (status, said["API server"][0]) == (1, "FAIL"), said
    assert "cannot be reached" in said["API server"][1]


def test_doctor_reports_namespace_mismatch_with_database(world):
    with World("elsewhere", processes=False) as elsewhere:
        status, said = doctor(world.launcher, KUBECONFIG=elsewhere.kubeconfig("workshop-launcher"))
    assert (status, said["fleet binding"][0]) == (1, "FAIL"), said
    assert elsewhere.namespace in said["fleet binding"][1]


def test_doctor_reports_missing_operator(world):
    with World("idle", processes=False) as idle:
        launcher = idle.new_launcher()
        apply_by_hand(idle, workshop("waits"))
        verdict = lambda: doctor(launcher)[1]["operator"]
        assert verdict()[0] == "ok", "expected no failure in the first minute without a status"
        wait_for("the doctor to report the missing operator", lambda: verdict()[0] == "FAIL", 90)
        assert "waits" in verdict()[1]
        assert "no operator works" in verdict()[1]
