"""Kernel parameters. Setup runs in a mount namespace, in which /etc, /var/lib and the parameters are folders of the test."""

import os
import pathlib
import stat
import subprocess
import sys

import pytest

from conftest import LOCAL, SERVER
from fake_engine import SKIP, FakeEngine

FILE = "etc/sysctl.d/10-workshop-launcher.conf"
LIMIT = pathlib.Path("/proc/sys/fs/inotify/max_user_instances")
# The other files of /etc remain visible. `limits` has the files of /proc/sys/fs/inotify, and `network` those of
# /proc/sys/net/ipv4/conf/all.
NAMESPACE = """
set -e
mount --bind /etc "$0/server"
mount --bind "$0/etc" /etc
mount --bind "$0/lib" /var/lib
mount --bind "$0/limits" /proc/sys/fs/inotify
mount --bind "$0/network" /proc/sys/net/ipv4/conf/all
exec "$@"
"""


class Server:
    """A server with its own /etc, /var/lib and kernel parameters."""

    def __init__(self, folder, engine="docker"):
        self.folder, self.engine = folder, FakeEngine(folder / "engine", engine)
        self.socket = self.engine.socket("engine.sock")
        for name in ("server", "etc", "lib", "limits", "network"):
            (folder / name).mkdir()
        for path in pathlib.Path("/etc").iterdir():
            if path.name not in ("sysctl.d", "workshop-launcher"):
                (folder / "etc" / path.name).symlink_to(folder / "server" / path.name)
        self.limit, self.announces = 128, 0
        if (done := self.enter("true")).returncode != 0:
            # In CI, a skipped test is a failure.
            end = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
            end(f"needs root with CAP_SYS_ADMIN: {done.stdout}")

    @property
    def limit(self):
        return int((self.folder / "limits/max_user_instances").read_text())

    @limit.setter
    def limit(self, value):
        (self.folder / "limits/max_user_instances").write_text(f"{value}\n")

    @property
    def announces(self):
        return int((self.folder / "network/arp_notify").read_text())

    @announces.setter
    def announces(self, value):
        (self.folder / "network/arp_notify").write_text(f"{value}\n")

    @property
    def file(self):
        """Returns the lines of the file that setup writes, without comments."""
        return [line for line in (self.folder / FILE).read_text().splitlines() if not line.startswith("#")]

    def enter(self, *words):
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", NAMESPACE, self.folder, *words]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(command, **options, text=True, timeout=60)

    def run(self, *words):
        """Runs setup with the default folders, unless `words` name others. Returns its output."""
        setup = ["env", "--unset=DOCKER_HOST", f"PATH={self.engine.bin}", sys.executable, SERVER / "setup", *LOCAL, *SKIP]
        done = self.enter(*setup, "--engine-socket", self.socket, *words)
        assert "the fake engine starts nothing" in done.stdout, done.stdout
        return done.stdout


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path)


def test_limit_is_raised_now_and_for_later_boots(server):
    told = server.run()
    assert server.limit == 8192
    assert server.file == ["fs.inotify.max_user_instances = 8192"]
    assert server.announces == 0
    assert stat.S_IMODE((server.folder / FILE).stat().st_mode) == 0o644
    assert "max_user_instances" not in told
    server.limit = 1024
    server.run()
    assert server.limit == 8192


def test_bridge_of_podman_announces_its_address(tmp_path):
    server = Server(tmp_path, "podman")
    server.run()
    assert server.limit == 8192 and server.announces == 1
    both = ["fs.inotify.max_user_instances = 8192", "net.ipv4.conf.all.arp_notify = 1"]
    assert server.file == both
    # After a change by hand: the other line stays.
    server.announces = 0
    server.run()
    assert server.announces == 1 and server.file == both
    server.announces = 0
    told = server.run("--directory", server.folder / "other")
    assert server.announces == 0 and "each start or end of a workshop may interrupt the network of the others" in told


def test_higher_limit_is_kept(server):
    server.limit = 65536
    server.run()
    assert server.limit == 65536
    assert not (server.folder / FILE).exists()


def test_limit_is_kept_on_request(server):
    told = server.run("--skip", "kernel")
    assert server.limit == 128
    assert not (server.folder / FILE).exists() and "max_user_instances" not in told


@pytest.mark.parametrize("flag", ["--directory", "--data-dir"])
def test_limit_is_kept_by_installation_in_another_folder(server, flag):
    told = server.run(flag, server.folder / "other")
    assert server.limit == 128
    assert not (server.folder / FILE).exists()
    assert "fs.inotify.max_user_instances is 128" in told and "sysctl --system" in told


def test_limit_that_cannot_be_changed_is_warning(server):
    (server.folder / "etc/sysctl.d").write_text("no folder")
    assert "Setup cannot change it: /etc/sysctl.d" in server.run()
    assert server.limit == 128


def test_limit_is_kept_without_start(home):
    before = LIMIT.read_text()
    home.install()
    assert LIMIT.read_text() == before
