"""Tests that the front stays within its memory limit: calculated, and under attack. Needs root, but no cluster."""

import base64
import json
import os
import re
import subprocess
import sys

import pytest
import yaml

from chart import CHART, LOGIN, RELEASE, ROOT, helm, values_of
from front_arena import LAUNCHER as LAUNCHER_PORT
from front_arena import LOGIN as LOGIN_PORT
from front_arena import WORKSHOP as WORKSHOP_PORT
from nginx_conf import blocks, parsed, the

FRONT = f"{RELEASE}-front"
MIB = 1024 * 1024
SOCKET_BUFFER = 32 * 1024
# Maximum kernel memory of a connection in bytes: full send and receive buffers, and 8 KiB for the socket itself.
KERNEL = 2 * SOCKET_BUFFER + 8 * 1024
# Folders of the front's pod. The test replaces them in all files by a temporary folder.
FOLDERS = ("/tmp", "/etc/workshop-launcher-proxy")
SERVICES = {
    f"{RELEASE}-login.launcher": LOGIN_PORT, f"{RELEASE}-workshops-login.launcher": LOGIN_PORT,
    f"{RELEASE}.launcher": LAUNCHER_PORT, "$front_workshop.workshops": WORKSHOP_PORT,
}
SECONDS = float(os.environ.get("FRONT_ATTACK_SECONDS", "6"))
ATTACKS = {
    "unfinished heads": 2000, "slow heads": 2000, "slow bodies": 2000, "slow logins": 2000, "pipelines": 2000,
    "cookies": 2000, "stalled both ways": 2000,
}


def front(*words, kubernetes="1.34"):
    """Renders the front with these options of helm. Returns (data of the ConfigMap, pod, data of the Secret)."""
    common = ("--namespace", "launcher", "--kube-version", kubernetes, "--values", values_of("any"))
    status, text = helm("template", RELEASE, CHART, *common, *words)
    assert status == 0, text
    found = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(text) if one}
    pod = found["Deployment", FRONT]["spec"]["template"]["spec"]
    return found["ConfigMap", FRONT]["data"], pod, found["Secret", FRONT]["data"]


def memory_limit(pod):
    return pod["containers"][0]["resources"]["limits"]["memory"]


def sysctls(pod):
    return {one["name"]: one["value"] for one in pod["securityContext"].get("sysctls", [])}


def budget(configuration):
    """Returns (maximum connections, maximum heap of the nginx worker in bytes)."""
    conf = parsed(configuration["nginx.conf"])
    assert the(conf, "worker_processes") == "1"
    connections = int(the(blocks(conf, "events")[""], "worker_connections"))
    return connections, int(re.search(r"^ulimit -d (\d+) \|\| :$", configuration["start.sh"], re.M)[1]) * 1024


LIMITS = {
    "64Mi": 64 * MIB, "256Mi": 256 * MIB, "1Gi": 1024 * MIB, "1.5Gi": 1536 * MIB, "700M": 700_000_000,
    "800000Ki": 800_000 * 1024, "1G": 10**9, "536870912": 512 * MIB,
}


@pytest.mark.parametrize("limit", LIMITS)
def test_nginx_memory_for_all_connections_fits_the_limit(limit):
    connections, data = budget(front("--set", f"front.resources.limits.memory={limit}")[0])
    rest = LIMITS[limit] - data - connections * KERNEL
    # The limit leaves 8 MiB for nginx's master process and for nginx's code pages.
    assert 8 * MIB <= rest < 8.5 * MIB
    assert data - 8 * MIB == connections * 96 * 1024


def test_default_memory_limit_fits_2000_attackers_and_500_other_connections():
    configuration, pod, _ = front()
    assert memory_limit(pod) == "1Gi"
    connections, data = budget(configuration)
    assert connections > 2 * 2000 + 500
    # The most expensive unfinished head takes 142 KiB, measured. The chart calculates 96 KiB for any other connection.
    assert data > 2000 * 142 * 1024 + 500 * 96 * 1024
    without = front("--set", "front.resources.limits=null")[0]
    assert budget(without) == (connections, data)


def test_documented_maximum_connections_match_nginx_configuration():
    rows = re.findall(r"^\| (\w+)(?:, the default)? \| (\d+) \| (\d+) \|$", (ROOT / "docs/front.md").read_text(), re.M)
    assert [limit for limit, _, _ in rows] == ["256Mi", "512Mi", "1Gi"]
    for limit, connections, requests in rows:
        found, _ = budget(front("--set", f"front.resources.limits.memory={limit}")[0])
        assert (int(connections), int(requests)) == (found, found // 2)


@pytest.mark.parametrize(
    "limit,message",
    [("32Mi", "is less than 64Mi"), ("1Ti", "is invalid"), ("lots", "is invalid"), ("100m", "is invalid")],
)
def test_invalid_memory_limit_is_refused(limit, message):
    words = ("--values", values_of("any"), "--set", f"front.resources.limits.memory={limit}")
    status, text = helm("template", RELEASE, CHART, *words)
    assert status != 0 and f"- front.resources.limits.memory {message}" in text, text


def test_nginx_socket_buffers_are_limited_for_clients_and_upstreams():
    configuration, pod, _ = front()
    assert {name: int(value.split()[2]) for name, value in sysctls(pod).items()} == {
        "net.ipv4.tcp_rmem": SOCKET_BUFFER, "net.ipv4.tcp_wmem": SOCKET_BUFFER,
    }
    # The kernel doubles the requested size, so 16k limits a buffer to 32 KiB.
    assert "rcvbuf=16k sndbuf=16k" in configuration["start.sh"]
    for words, kubernetes in (((), "1.31.9"), (("--set", "front.boundSocketBuffers=false"), "1.34")):
        assert not sysctls(front(*words, kubernetes=kubernetes)[1])
    assert sysctls(front(kubernetes="v1.32.1-gke.100")[1])


def adapted(text, folder):
    """Returns a file of the front, with folders and Services of the cluster replaced by local folders and ports."""
    for path in FOLDERS:
        text = text.replace(f"{path}/", f"{folder}/")
    for name, port in SERVICES.items():
        text = text.replace(f"http://{name}.", f"http://127.0.0.1:{port}")
    return text


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Runs front_arena.py with all attacks, one after another. Returns its results."""
    folder = tmp_path_factory.mktemp("arena")
    folder.chmod(0o755)
    configuration, pod, proofs = front()
    start = adapted(configuration["start.sh"], folder)
    # This test uses no DNS, so the domain of Services becomes empty.
    services = '"map $host $front_services { default " services "; }"'
    assert services in start
    start = start.replace(services, services.replace('" services "', r'\"\"'))
    (folder / "start.sh").write_text(start)
    (folder / "nginx.conf").write_text(adapted(configuration["nginx.conf"], folder))
    for name, text in proofs.items():
        (folder / name).write_bytes(base64.b64decode(text))
    todo = {
        "nginx": subprocess.run([LOGIN / "nginx.sh"], check=True, capture_output=True, text=True).stdout.strip(),
        "limit": LIMITS[memory_limit(pod)], "sysctls": sysctls(pod), "seconds": SECONDS, "attacks": list(ATTACKS.items()),
        "proof": "example-of-a-proxy-secret-for-the-launcher",
    }
    (folder / "arena.json").write_text(json.dumps(todo))
    words = ["unshare", "--net", sys.executable, LOGIN / "front_arena.py", folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60 + 3 * SECONDS * len(ATTACKS))
    log = (folder / "front.log").read_text()[-2000:]
    assert done.returncode == 0, f"{done.stderr}{log}"
    found = json.loads(done.stdout) | {"limit": todo["limit"]}
    print(json.dumps(found, indent=1), log)
    return found


def test_nginx_forwards_only_authenticated_requests(results):
    """The launcher of front_arena.py answers 200 only to the identity of the login proxy with the proxy secret."""
    provider = "https://accounts.example.org/"
    assert results["answers"] == {
        "signed in": [200, None],
        "signed in, forged identity": [200, None],
        "signed in, 60 KiB of cookies": [200, None],
        "signed in, a head of 80 KiB": [400, None],
        "signed in, 200 header lines": [400, None],
        "signed in, with a body": [200, None],
        "unauthenticated, a page": [302, provider],
        "unauthenticated, forged identity": [302, provider],
        "unauthenticated, the API": [401, None],
        "unauthenticated, a form": [303, "https://launcher.example.org/instances/a?b=c"],
        "unauthenticated, JSON": [401, None],
        "unauthenticated, a body for the login proxy": [413, None],
        "unauthenticated, the signed-out page": [401, None],
    }


@pytest.mark.parametrize("how", ATTACKS)
def test_nginx_under_attack_stays_below_memory_limit_and_answers_users(results, how):
    one = results[how]
    assert one["held"] > ATTACKS[how] / 2, "less than half of the attacking connections stayed open"
    assert one["peak"] < results["limit"]
    # The rate is low, because other tests run at the same time.
    assert not one["failures"] and one["asked"] > 5 * SECONDS
    assert one["p99"] < 1


def test_nginx_workers_under_attack_are_not_killed(results):
    assert (results["kills"], results["same workers"]) == (0, True)
