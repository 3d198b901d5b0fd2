"""Attacks the front in a memory cgroup with the chart's limit. Needs root, but no cluster."""

import base64
import json
import os
import subprocess
import sys

import pytest

from chart import LOGIN, RELEASE
from front_arena import LAUNCHER as LAUNCHER_PORT
from front_arena import LOGIN as LOGIN_PORT
from front_arena import WORKSHOP as WORKSHOP_PORT
from test_front_memory import LIMITS, front, memory_limit, sysctls

# Folders of the front's pod. The test replaces them in all files by a temporary folder.
FOLDERS = ("/tmp", "/etc/workshop-launcher-proxy")
SERVICES = {
    f"{RELEASE}-login.launcher": LOGIN_PORT, f"{RELEASE}-workshops-login.launcher": LOGIN_PORT,
    f"{RELEASE}.launcher": LAUNCHER_PORT, "$front_workshop.workshops": WORKSHOP_PORT,
}
SECONDS = float(os.environ.get("FRONT_ATTACK_SECONDS", "6"))
# Maximum of the 99th percentile of the users' response times, without other load on the machine.
P99_SECONDS = float(os.environ.get("FRONT_ATTACK_P99", "1"))
ATTACKS = {
    "unfinished heads": 2000, "slow heads": 2000, "slow bodies": 2000, "slow logins": 2000, "pipelines": 2000,
    "cookies": 2000, "stalled both ways": 2000,
}


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
    assert one["p99"] < P99_SECONDS


def test_nginx_workers_under_attack_are_not_killed(results):
    assert (results["kills"], results["same workers"]) == (0, True)
