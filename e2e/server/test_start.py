"""`setup` with a fake engine, whose Compose fails: the checks before the start, and what remains after a failure."""

import contextlib
import json
import os
import random
import re
import socket
import stat
import threading

import pytest

from fake_engine import SKIP, STARTED
from installed import CLIENT, GOOGLE, LOCAL
from installer import checks, installation, kernel
from installer import settings as answers
from test_accounts import ADA, fits, stored
from test_compose import IMAGES

IMAGE = IMAGES["LAUNCHER_IMAGE"]
HERE, OTHER = "198.51.100.7", "192.0.2.9"
BOTH = {"launcher.example.org": [HERE], "*.workshops.example.net": [HERE]}
# The number of ports from --local-port on.
LOCAL_PORTS = 6
podman = pytest.mark.parametrize("engine", ["podman"], indirect=True)


def settings(home):
    found = json.loads(home.text("settings.json"))
    return found["engine"], found["engine_socket"]


def password(told):
    """Returns the printed password of the admin, or None."""
    found = re.search(rf"^Password of {ADA}: (\S+)$", told, re.MULTILINE)
    return found and found[1]


def test_password_is_printed_although_image_is_missing(engine, home):
    engine.missing.write_text(f"{IMAGE}\n")
    told = engine.run(home, *LOCAL, "--data-dir", home.data, *SKIP, "--engine-socket", engine.socket)
    assert f"the image {IMAGE} is missing" in told and "ENGINE=docker make server-images" in told
    assert fits(password(told), stored(home)[ADA])
    # The engine is stored before it gets containers, and not earlier.
    assert settings(home)[0] == ""
    engine.missing.write_text("")
    assert not password(engine.start(home)) and settings(home)[0] == "docker"


def test_password_of_new_admin_is_printed_by_all_commands(engine, school):
    school.run("--engine-socket", engine.socket)
    accounts = school.root / "accounts.json"
    accounts.unlink()
    school.run("backup", "backup.tar.gz")
    for words in (["upgrade"], ["accounts", "-", "--sheet", "sheet.html"], ["restore", "backup.tar.gz", "--replace", *SKIP]):
        accounts.unlink(missing_ok=True)
        told = engine.run(school, *words, stdin="bob@example.org\n")
        assert STARTED in told and fits(password(told), stored(school)[ADA])
    assert ADA not in (school.work / "sheet.html").read_text()


@podman
def test_engine_of_first_start_is_stored(engine, school):
    engine.start(school)
    engine.install("docker")
    school.write("class.csv", "bob@example.org\n")
    engine.run(school, "accounts", "class.csv")
    engine.containers.write_text("1\n")
    assert "stopped" in engine.run(school, "stop", code=0)
    assert "nothing was stopped" in engine.run(school, "stop")
    assert settings(school) == ("podman", str(engine.socket)) and not engine.calls_of("docker")
    calls = [words.split()[-1] for words in engine.calls_of("docker-compose") if "--project-name" in words]
    assert calls == ["--detach", "--detach", "down"]


@podman
def test_other_login_removes_dex(engine, school):
    school.write_given_files()
    engine.containers.write_text("1\n")
    engine.inspect("dex")
    engine.run(school, *SKIP, "--engine-socket", engine.socket, *GOOGLE)
    # podman-compose has no command that removes one container.
    assert [words for words in engine.calls_of("podman", " 1") if "inspect" not in words] == ["stop 1", "rm --force 1"]


def test_socket_of_environment_is_stored(engine, school):
    for variables in ({"DOCKER_HOST": f"unix://{engine.socket}"}, {}):
        told = engine.run(school, *SKIP, variables=variables)
        assert school.variables()["ENGINE_SOURCE"] == str(engine.socket)
    assert "all files" in told


def test_stored_engine_that_does_not_answer_is_not_replaced(engine, school):
    school.run("--engine", "podman")
    told = engine.run(school, *SKIP)
    assert "podman does not answer" in told and "--engine docker" in told and not engine.calls_of("docker")


INFO = [("docker", '{"CgroupVersion": "%s"}'), ("podman", '{"host": {"cgroupVersion": "v%s"}}')]


@pytest.mark.parametrize("engine, info", INFO, indirect=["engine"])
def test_rootless_engine_without_limits_is_refused(engine, school, info):
    engine.info.write_text(info % 1)
    told = engine.run(school, *SKIP, "--engine-socket", engine.socket)
    assert "ignores limits of memory with cgroup version 1" in told and not engine.calls_of("docker-compose", "--detach")
    engine.info.write_text(info % 2)
    assert "ignores limits" not in engine.start(school)


def test_restore_uses_engine_of_backup_if_server_has_it(engine, school):
    school.run("--engine", "docker", "--engine-socket", engine.socket)
    school.run("backup", "backup.tar.gz")
    school.move_away(school.root)
    engine.install("podman")
    assert STARTED in engine.run(school, "restore", "backup.tar.gz", "--data-dir", school.data, *SKIP)
    assert settings(school) == ("docker", str(engine.socket))


def test_restore_uses_engine_of_server_if_server_lacks_engine_of_backup(engine, school):
    school.run("--engine", "podman", "--engine-socket", "/run/user/1000/podman/podman.sock")
    school.run("backup", "backup.tar.gz")
    school.run("--engine", "docker")
    school.run("restore", "backup.tar.gz", "--replace")
    assert settings(school)[0] == "docker"
    school.move_away(school.root)
    variables = {"DOCKER_HOST": f"unix://{engine.socket}"}
    told = engine.run(school, "restore", "backup.tar.gz", "--data-dir", school.data, *SKIP, variables=variables)
    assert "warning: this server does not have the engine of the backup: podman" in told and settings(school)[0] == "docker"


@pytest.fixture
def warnings(engine, school, monkeypatch):
    """A function that runs setup with these records, whose names can be wildcards, and returns its warnings about DNS."""

    def run(records, addresses=HERE, scope="global", output=None, skipped=()):
        def resolve(host, *_, **__):
            if found := records.get(host) or records.get("*." + host.partition(".")[2]):
                return [(None, None, None, None, (address, 443)) for address in found]
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        links = [{"ifname": "eth0", "addr_info": [{"local": addresses, "scope": scope}]}]
        engine.command("ip", f"echo '{json.dumps(links) if output is None else output}'")
        told = engine.run(school, "--engine-socket", engine.socket, *SKIP[2:], *skipped)
        assert STARTED in told, told
        return re.findall(r"^warning: (.*(?:leads to|no address).*)$", told, re.MULTILINE)

    return run


def test_records_with_address_of_server_are_accepted(warnings):
    assert warnings(BOTH) == warnings(dict.fromkeys(BOTH, [OTHER, HERE])) == []
    # The addresses of the server are unknown, or cannot be reached by others.
    assert warnings(BOTH, output="") == warnings(BOTH, output="no JSON") == warnings(BOTH, OTHER, scope="link") == []
    assert warnings({}, skipped=["--skip", "dns"]) == []
    assert "has no address" in warnings({}, output="[]")[0]


@pytest.mark.parametrize("name", BOTH)
def test_record_that_is_missing_or_has_another_address_is_warning(warnings, name):
    (text,) = warnings({other: addresses for other, addresses in BOTH.items() if other != name})
    assert text.startswith(f"the name {name} has no address. Create a DNS record of type A for {name}")
    (text,) = warnings(BOTH | {name: [OTHER]})
    assert text.startswith(f"{name} leads to {OTHER}, and this server has the addresses {HERE}.")
    assert "only if a router or load balancer forwards the ports" in text


def test_record_of_one_workshop_is_no_wildcard(warnings, engine, school):
    records = {"launcher.example.org": [HERE], "login.workshops.example.net": [HERE]}
    assert [text.split(" has ")[0] for text in warnings(records)] == ["the name *.workshops.example.net"]
    assert re.search(r"^warn  DNS +the name \*\.workshops\.example\.net has no address", engine.run(school, "doctor"), re.MULTILINE)


def listener(port, address="127.0.0.1"):
    """Returns a socket that listens on the port, as another program would."""
    return contextlib.closing(socket.create_server((address, port)))


@pytest.fixture
def ports():
    """Free ports, by flag."""
    while True:
        first = random.randrange(20_000, 30_000)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + 2 + LOCAL_PORTS):
                stack.enter_context(listener(port, ""))
            return {"--http-port": first, "--https-port": first + 1, "--local-port": first + 2}


@pytest.fixture
def start(engine, school, ports):
    """A function that runs setup on the free ports, and returns its output."""
    words = ["--engine-socket", engine.socket, *SKIP[:4], *SKIP[6:], "--skip", "kernel", *(word for pair in ports.items() for word in pair)]
    return lambda *more: engine.run(school, *words, *more)


@pytest.mark.parametrize("flag, offset", [("--http-port", 0), ("--https-port", 0), ("--local-port", 0), ("--local-port", LOCAL_PORTS - 1)])
def test_port_of_another_program_is_refused(engine, school, start, ports, flag, offset):
    port, before = ports[flag] + offset, school.state()
    for address in ("127.0.0.1", ""):
        with listener(port, address):
            told = start()
        assert f"error: another program uses port {port}. Find it with: ss -ltnp 'sport = :{port}'" in told
        assert f"choose another port with {flag}" in told
    assert school.state() == before and not engine.calls_of("docker", "--detach")
    assert STARTED in start()


def test_port_is_accepted_while_it_closes_or_by_request_or_while_installation_runs(engine, start, ports):
    with listener(ports["--https-port"]) as server, socket.create_connection(server.getsockname()) as client:
        # The side that closes first keeps the port in the state TIME-WAIT.
        server.accept()[0].close()
        assert client.recv(1) == b""
    assert STARTED in start()
    with listener(ports["--https-port"]):
        assert STARTED in start("--skip", "ports")
        engine.containers.write_text("1\n")
        assert STARTED in start()


@pytest.fixture
def stranger():
    """The port of a program that speaks another protocol than HTTP."""

    def answer():
        with contextlib.suppress(OSError):
            while True:
                with server.accept()[0] as connection:
                    connection.sendall(b"220 mail\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_foreign_program_is_neither_launcher_nor_provider(school, stranger, engine, monkeypatch):
    monkeypatch.setattr(checks, "dns", lambda settings: [])
    # The second of the local ports is the one of readiness.
    school.run("--local-port", stranger - 1)
    told = engine.run(school, "doctor")
    assert re.search(r"^FAIL  readiness +220 mail", told, re.MULTILINE) and "checks: " in told
    school.write_given_files()
    told = engine.run(school, "--login", "oidc", "--issuer", f"http://127.0.0.1:{stranger}", *CLIENT, *SKIP[:-2])
    assert "the login provider does not answer" in told


@pytest.fixture
def parameters(tmp_path, monkeypatch, school):
    """The parameters of a server whose default folders are those of `school`, and the file of setup, as files of a folder."""
    if os.geteuid() != 0:
        # In CI, a skipped test is a failure.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("needs root")
    defaults = installation.DIRECTORY, answers.Settings.data_dir, str(kernel.FILE), str(kernel.INOTIFY.path)
    assert defaults[:2] == ("/etc/workshop-launcher", "/var/lib/workshop-launcher")
    assert defaults[2:] == ("/etc/sysctl.d/10-workshop-launcher.conf", "/proc/sys/fs/inotify/max_user_instances")
    monkeypatch.setattr(installation, "DIRECTORY", str(school.root))
    monkeypatch.setattr(answers.Settings, "data_dir", str(school.data))
    monkeypatch.setattr(kernel, "FILE", tmp_path / "sysctl.d/10-workshop-launcher.conf")
    monkeypatch.setattr(kernel.Parameter, "path", property(lambda parameter: tmp_path / parameter.name))
    kernel.INOTIFY.path.write_text("128\n")
    kernel.ARP.path.write_text("0\n")
    return lambda: (int(kernel.INOTIFY.path.read_text()), int(kernel.ARP.path.read_text()))


def lines():
    return [line for line in kernel.FILE.read_text().splitlines() if not line.startswith("#")]


def test_limit_is_raised_unless_it_is_higher_or_setup_may_not(parameters, engine, school):
    school.run()
    assert "max_user_instances" not in engine.start(school, "--skip", "kernel") and parameters() == (128, 0)
    kernel.FILE.parent.write_text("no folder")
    assert f"Setup cannot change it: {kernel.FILE.parent}" in engine.start(school) and parameters() == (128, 0)
    kernel.FILE.parent.unlink()
    for before, after in ((65536, 65536), (128, 8192), (1024, 8192)):
        kernel.INOTIFY.path.write_text(f"{before}\n")
        assert not kernel.FILE.exists() or before < after
        assert "max_user_instances" not in engine.start(school) and parameters() == (after, 0)
    assert lines() == ["fs.inotify.max_user_instances = 8192"] and stat.S_IMODE(kernel.FILE.stat().st_mode) == 0o644


@podman
@pytest.mark.parametrize("folder", ["root", "data"])
def test_installation_in_another_folder_only_warns(parameters, engine, school, folder):
    setattr(school, folder, school.data.with_name("other"))
    told = engine.start(school, *LOCAL, "--data-dir", school.data)
    assert parameters() == (128, 0) and not kernel.FILE.exists()
    assert "fs.inotify.max_user_instances is 128" in told and "sysctl --system" in told
    assert "each start or end of a workshop may interrupt the network of the others" in told


@podman
def test_bridge_of_podman_announces_its_address(parameters, engine, school):
    for _ in range(2):
        # After a change by hand, the other line stays.
        kernel.ARP.path.write_text("0\n")
        engine.start(school)
        assert parameters() == (8192, 1) and lines() == ["fs.inotify.max_user_instances = 8192", "net.ipv4.conf.all.arp_notify = 1"]
