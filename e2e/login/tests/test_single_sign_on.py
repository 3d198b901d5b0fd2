"""A login provider that keeps its own session: one login for two domains, sign-out, users with many groups."""

import contextlib
import json
import pathlib
import shutil
import subprocess

from chain import ALICE, ECHO, LAUNCHER, MANY, SSO, WITH_SSO, WORKSHOP_DOMAIN, hostpath_volume, kubectl, node_images
from git_server import git_server
from test_browser import run_in_browser
from visitor import PAGE

# The volume with kept files of the class day, and the class of its storage.
WORK, STORAGE_CLASS = pathlib.Path("/var/tmp/login-class-day"), "class-day"
OPTIONS = (*WITH_SSO, "--set", "snapshots.store=/data/snapshots", "--set", f"workshops.storageClass={STORAGE_CLASS}")
DEEP = f"{LAUNCHER}/launch/{ECHO}?from=a%2Fb+c&x=%C3%BC"
# The image of the preset JupyterLab.
NOTEBOOK_IMAGE = "quay.io/jupyter/scipy-notebook:latest"
# A public address that is no longer in use on the internet: the network policies admit workshops to it.
PUBLIC = "192.88.99.37"
COOKIES = {("launcher.test", "__Host-_oauth2_proxy"), (WORKSHOP_DOMAIN, "__Secure-_oauth2_proxy_workshops")}


def test_wrong_password_is_refused(chain):
    visitor = chain.visitor()
    answer = visitor.log_in(DEEP, ALICE, "wrong")
    assert answer.is_login_form and answer.url.startswith(SSO)
    assert visitor.sessions() == {}


def test_login_at_launcher_also_opens_workshop(chain, echo):
    alice = chain.visitor()
    answer = alice.log_in(DEEP, ALICE)
    assert (answer.status, answer.url) == (200, DEEP)
    workshop = f"{echo[1]}lab?x=1&from=a%2Fb+c"
    answer = alice.open(workshop)
    assert (answer.status, answer.url) == (200, workshop), answer.body
    assert json.loads(answer.body)["path"] == "/lab?x=1&from=a%2Fb+c"
    assert set(alice.sessions()) == COOKIES, "expected separate sessions for launcher and workshops"
    assert alice.forms == 1


def test_login_at_workshop_also_opens_launcher(chain, echo):
    alice = chain.visitor()
    assert alice.log_in(f"{echo[1]}lab?x=1", ALICE).status == 200
    answer = alice.open(DEEP)
    assert (answer.status, answer.url) == (200, DEEP)
    assert ALICE in answer.body
    assert alice.forms == 1


def test_sign_out_ends_provider_session_if_configured(chain, echo):
    alice = chain.signed_in(ALICE, echo[1])
    assert set(alice.sessions()) == COOKIES, "expected a launcher and a workshop session before the sign-out"
    answer = alice.sign_out(LAUNCHER)
    assert answer.url.startswith(f"{SSO}/session/end?"), "expected the provider to ask for confirmation"
    assert alice.submit(answer, logout="yes").url == f"{LAUNCHER}/signed-out"
    assert alice.sessions() == {}
    assert chain.api(alice, "GET", "/me")[0] == 401
    for url in (f"{LAUNCHER}/", echo[1]):
        assert alice.open(url).is_login_form, f"{url} opened without a password after the sign-out"


def test_session_split_over_cookies_opens_launcher_and_workshop(chain, echo):
    """The user with many groups gets past both login proxies. The workshop is Alice's, so its sidecar answers 403."""
    many = chain.signed_in(MANY)
    assert many.open(echo[1]).status == 403
    assert chain.api(many, "GET", "/me")[1]["email"] == MANY
    assert many.forms == 1
    assert set(many.sessions()) == COOKIES
    for (_, name), sizes in many.sessions().items():
        assert {f"{name}_0", f"{name}_1"} <= set(sizes), sizes
        assert sum(sizes.values()) > 8 * 1024, sizes
        assert max(sizes.values()) < 4096, "browsers refuse cookies of 4096 bytes or more"
    many.sign_out(LAUNCHER)
    assert many.sessions() == {}
    assert many.request("GET", echo[1], PAGE).status == 302


@contextlib.contextmanager
def public_address():
    """Adds the address to this machine during the block. A killed test cannot remove it: it expires after 1,800 s."""
    change = lambda *words: subprocess.run(["ip", "address", *words], check=True)
    change("replace", f"{PUBLIC}/32", "dev", "lo", "valid_lft", "1800", "preferred_lft", "1800")
    try:
        yield PUBLIC
    finally:
        change("delete", f"{PUBLIC}/32", "dev", "lo")


@contextlib.contextmanager
def volume_for_kept_work():
    """Creates a volume for the kept files of one person. The cluster provisions no volumes."""
    # Of an earlier run that was killed.
    kubectl("delete", "persistentvolume", STORAGE_CLASS, "--ignore-not-found")
    hostpath_volume(STORAGE_CLASS, WORK, storageClassName=STORAGE_CLASS)
    WORK.chmod(0o777)
    try:
        yield
    finally:
        # Its claim ends with the namespace of the workshops.
        kubectl("delete", "persistentvolume", STORAGE_CLASS, "--wait=false")
        shutil.rmtree(WORK)


def test_class_day(chain):
    node_images("tag", "--force", "localhost/workshop-launcher/http:test", NOTEBOOK_IMAGE)
    try:
        with volume_for_kept_work(), public_address() as address, git_server(address) as course:
            course.push({"lesson.txt": "lesson\n"})
            run_in_browser(chain, "test-class-day", COURSE_REPOSITORY=course.url)
    finally:
        node_images("remove", NOTEBOOK_IMAGE)
