"""`setup` with a fake engine, whose Compose fails: the checks before the start, and what remains after a failure."""

import json
import re

import pytest

from conftest import LOCAL
from fake_engine import SKIP, FakeEngine
from test_accounts import fits, stored

LAUNCHER_IMAGE = "localhost/workshop-launcher/launcher:0.1.0"


@pytest.fixture
def engine(tmp_path):
    return FakeEngine(tmp_path / "engine", "docker")


def install(engine, home, *words, **options):
    """Runs setup with local accounts and a private authority, without checks of the server."""
    return engine.run(home, *LOCAL, "--data-dir", home.data, *SKIP, *words, **options)


def printed(told):
    """Returns the printed passwords: {address: password}."""
    return dict(re.findall(r"^Password of (\S+): (\S+)$", told, re.MULTILINE))


def test_password_is_printed_although_image_is_missing(engine, home):
    socket = engine.socket("engine.sock")
    engine.missing.write_text(f"{LAUNCHER_IMAGE}\n")
    told = install(engine, home, "--engine-socket", socket)
    assert f"the image {LAUNCHER_IMAGE} is missing" in told
    assert fits(printed(told)["ada@example.org"], stored(home)["ada@example.org"])
    engine.missing.write_text("")
    told = engine.run(home, *SKIP)
    assert "the fake engine starts nothing" in told
    assert not printed(told)


def test_password_of_new_admin_is_printed_although_upgrade_fails(engine, home):
    home.install("--engine-socket", engine.socket("engine.sock"))
    (home.root / "accounts.json").unlink()
    told = engine.run(home, "upgrade")
    assert "the fake engine starts nothing" in told
    assert fits(printed(told)["ada@example.org"], stored(home)["ada@example.org"])


@pytest.mark.parametrize("command", ["accounts", "restore"])
def test_password_of_new_admin_is_printed_by_other_commands(home, command):
    home.install()
    (home.root / "accounts.json").unlink()
    if command == "accounts":
        told = home.run("accounts", "-", "--sheet", "sheet.html", stdin="bob@example.org\n")
        assert "ada@example.org" not in (home.work / "sheet.html").read_text()
    else:
        home.run("backup", "backup.tar.gz")
        told = home.run("restore", "backup.tar.gz", "--replace")
    assert fits(printed(told)["ada@example.org"], stored(home)["ada@example.org"])


def test_engine_of_first_start_is_stored(tmp_path, home):
    podman = FakeEngine(tmp_path / "podman", "podman")
    socket = podman.socket("engine.sock")
    install(podman, home, "--engine-socket", socket)
    podman.install("docker")
    (home.work / "class.csv").write_text("bob@example.org\n")
    podman.run(home, "accounts", "class.csv")
    podman.containers.write_text("1\n")
    assert "stopped" in podman.run(home, "stop", code=0)
    settings = json.loads(home.text("settings.json"))
    assert (settings["engine"], settings["engine_socket"]) == ("podman", str(socket))
    assert not podman.calls_of("docker")
    calls = [words.split()[-1] for words in podman.calls_of("docker-compose") if "--project-name" in words]
    assert calls == ["--detach", "--detach", "down"]


def test_other_login_removes_dex(tmp_path, home):
    podman = FakeEngine(tmp_path / "podman", "podman")
    (home.work / "secret").write_text("secret")
    home.install("--engine", "podman", "--engine-socket", podman.socket("engine.sock"))
    podman.containers.write_text("1\n")
    podman.inspect("dex")
    podman.run(home, "--login", "google", "--client-id", "id", "--client-secret-file", "secret", "--email-domain", "example.org", *SKIP)
    # podman-compose has no command that removes one container.
    assert [words for words in podman.calls_of("podman") if words.endswith(" 1") and "inspect" not in words] == ["stop 1", "rm --force 1"]


def test_socket_of_environment_is_stored(engine, home):
    socket = engine.socket("engine.sock")
    install(engine, home, variables={"DOCKER_HOST": f"unix://{socket}"})
    assert home.variables()["ENGINE_SOURCE"] == str(socket)
    assert "all files" in engine.run(home, *SKIP)
    assert home.variables()["ENGINE_SOURCE"] == str(socket)


def test_engine_is_not_stored_before_images_are_complete(engine, home):
    engine.missing.write_text(f"{LAUNCHER_IMAGE}\n")
    told = install(engine, home, "--engine-socket", engine.socket("engine.sock"))
    assert "ENGINE=docker make server-images" in told
    assert json.loads(home.text("settings.json"))["engine"] == ""


def test_stored_engine_that_does_not_answer_is_not_replaced(engine, home):
    home.install("--engine", "podman")
    told = engine.run(home, *SKIP)
    assert "podman does not answer" in told and "--engine docker" in told
    assert not engine.calls_of("docker")


@pytest.mark.parametrize("name, info", [("docker", {"CgroupVersion": "{}"}), ("podman", {"host": {"cgroupVersion": "v{}"}})])
def test_rootless_engine_without_limits_is_refused(tmp_path, home, name, info):
    engine = FakeEngine(tmp_path / "engine", name)
    refusal = f"rootless {name} ignores limits of memory with cgroup version 1"
    engine.info.write_text(json.dumps(info).replace("{}", "1"))
    assert refusal in install(engine, home, "--engine-socket", engine.socket("engine.sock"))
    assert not [words for words in engine.calls_of("docker-compose") if " up " in words]
    engine.info.write_text(json.dumps(info).replace("{}", "2"))
    told = engine.run(home, *SKIP)
    assert refusal not in told and "the fake engine starts nothing" in told


def test_change_of_engine_forgets_socket(home):
    home.install("--engine", "podman", "--engine-socket", "/run/podman/podman.sock")
    home.run("--engine", "podman")
    assert home.variables()["ENGINE_SOURCE"] == "/run/podman"
    home.run("--engine", "docker")
    assert home.variables()["ENGINE_SOURCE"] == "/run/docker.sock"


def test_stop_without_containers_is_an_error(engine, home):
    home.install("--engine", "docker")
    told = engine.run(home, "stop")
    assert "nothing was stopped" in told and "--engine" in told


def test_restore_uses_engine_of_backup_if_server_has_it(engine, home):
    socket = engine.socket("engine.sock")
    home.install("--engine", "docker", "--engine-socket", socket)
    home.run("backup", "backup.tar.gz")
    home.root.rename(home.root.with_name("away"))
    engine.install("podman")
    assert "the fake engine starts nothing" in engine.run(home, "restore", "backup.tar.gz", "--data-dir", home.data, *SKIP)
    assert home.variables()["ENGINE_SOURCE"] == str(socket)


def test_restore_uses_other_engine_if_server_lacks_engine_of_backup(engine, home):
    home.install("--engine", "podman", "--engine-socket", "/run/user/1000/podman/podman.sock")
    home.run("backup", "backup.tar.gz")
    home.root.rename(home.root.with_name("away"))
    variables = {"DOCKER_HOST": f"unix://{engine.socket('engine.sock')}"}
    told = engine.run(home, "restore", "backup.tar.gz", "--data-dir", home.data, *SKIP, variables=variables)
    assert "warning: this server does not have the engine of the backup: podman" in told
    assert json.loads(home.text("settings.json"))["engine"] == "docker"


def test_restore_keeps_engine_of_server(home):
    home.install("--engine", "podman")
    home.run("backup", "backup.tar.gz")
    home.run("--engine", "docker")
    home.run("restore", "backup.tar.gz", "--replace")
    assert json.loads(home.text("settings.json"))["engine"] == "docker"
