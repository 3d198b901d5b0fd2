"""`launcher doctor` on a cluster: with the launcher's own account, next to a running launcher, and with errors."""

import json
import os
import subprocess

import pytest
from aiohttp import web
from faults import Proxy
from harness import DEADLINE, PROGRAM, doctor_in_time
from world import LONG_AGO, World

DEFINITION = "/openapi/v3/apis/workshoplauncher.dev/"


class Rewriting(Proxy):
    """A proxy that changes two answers: the definition of Workshops lacks a field, and all Workshops are old and without a
    status, as if no operator worked. The cluster stays unchanged, because all tests share it."""

    async def _answer(self, request, body, call, fault):
        if not request.path.startswith(DEFINITION) and call != "LIST workshops":
            return await super()._answer(request, body, call, fault)
        async with self._ask(request, body) as answer:
            document = json.loads(await answer.read())
        if call == "LIST workshops":
            for item in document["items"]:
                item.pop("status", None)
                item["metadata"]["creationTimestamp"] = LONG_AGO
        else:
            properties = document["components"]["schemas"]["dev.workshoplauncher.v1alpha1.Workshop"]["properties"]
            del properties["status"]["properties"]["startStep"]
        return web.json_response(document)


def doctor(launcher, **settings):
    """Runs the doctor; returns its exit status and its lines: {check: (verdict, words)}."""
    options = {"env": launcher.environment | settings, "capture_output": True, "text": True, "timeout": DEADLINE}
    done = doctor_in_time(lambda: subprocess.run([PROGRAM, "doctor"], **options))
    assert done.stderr == ""
    lines = [line.split(maxsplit=1) for line in done.stdout.partition("\n\n")[0].splitlines()]
    return done.returncode, {rest[:15].strip(): (verdict, rest[17:]) for verdict, rest in lines}


@pytest.fixture(scope="module")
def running(world):
    return world.running()


def failure(world, check, **settings):
    """Runs the doctor, which must fail at this check. Returns the words of the check, and all lines."""
    status, said = doctor(world.launcher, **settings)
    assert (status, said[check][0]) == (1, "FAIL"), said
    return said[check][1], said


def test_doctor_warns_only_about_missing_proxy_secret(world, running):
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
    node = world.jsonpath("nodes", "{.items[0].metadata.name}")
    config = json.loads(world.kubectl("get", "--raw", f"/api/v1/nodes/{node}/proxy/configz"))["kubeletconfig"]
    assert (status, said["out of memory"][0]) == (0, "ok" if config.get("singleProcessOOMKill") else "warn"), said


def test_doctor_reports_wrong_accounts_and_servers(world):
    world.kubectl("create", "serviceaccount", "nobody")
    words, said = failure(world, "permissions", KUBECONFIG=world.kubeconfig("nobody"))
    for permission in "get namespaces", "list workshops", "patch workshops", "delete workshops", "deploy/rbac.yaml":
        assert permission in words
    assert said["API server"][0] == "ok"

    config = world.kubeconfig("workshop-launcher")
    with open(config) as file:
        made = json.load(file)
    made["users"][0]["user"]["token"] = "nonsense"
    with open(config, "w") as file:
        json.dump(made, file)
    words, said = failure(world, "API server", KUBECONFIG=config)
    assert "401" in words and "permissions" not in said
    unreachable = world.kubeconfig("workshop-launcher", "http://127.0.0.1:1")
    assert "cannot be reached" in failure(world, "API server", KUBECONFIG=unreachable)[0]
    with World("elsewhere", processes=False) as elsewhere:
        words, _ = failure(world, "fleet binding", KUBECONFIG=elsewhere.kubeconfig("workshop-launcher"))
    assert elsewhere.namespace in words


def test_doctor_reports_crd_of_other_version_and_missing_operator(world, running):
    with Rewriting() as proxy:
        through = {"KUBECONFIG": world.kubeconfig("workshop-launcher", proxy.url)}
        words, said = failure(world, "CRD", **through)
    assert "status.startStep" in words and "crds/workshops.yaml" in words
    verdict, words = said["operator"]
    assert verdict == "FAIL" and running in words and "no operator works" in words, words
