"""Attacks on the resources of the server, by a workshop: limits hold, and other workshops answer meanwhile."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import threading

import pytest
from harness import wait_for
from world import ENGINE, MALLORY, RESOURCES, SHELL, gained, probe

MEMORY_MIB = 256
# Most memory that a flood may take: that of the template, and as much again that the kernel counts elsewhere. The buffers
# of all TCP connections together may have 3/32 of the server's memory (tcp_mem in the kernel's ip-sysctl.rst).
FLOOD_MIB = 2 * MEMORY_MIB + 128
TCP_MIB = FLOOD_MIB + (os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20) * 3 // 32
# The engine deletes older lines of a log than the last 10 MiB. Some versions keep the file before, too.
LOG_MIB = 25


@pytest.fixture
def attacker(world, request):
    """A workshop of the attacker, which ends after the test. The parameter changes its resources."""
    resources = RESOURCES | getattr(request, "param", {})
    name = world.running(SHELL, MALLORY, name="attacker", resources=resources)
    yield name
    world.finish(name)


@contextlib.contextmanager
def answering(world, victim):
    """During the block, the same process of the victim gives each answer. Afterwards, it reaches the internet."""
    first, stopped = world.started(victim), threading.Event()

    def ask():
        while True:
            assert world.started(victim) == first
            if stopped.wait(0.05):
                return

    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        asking = threads.submit(ask)
        try:
            yield
        finally:
            stopped.set()
        asking.result()
    output = world.run(victim, *probe("tcp", "internet.example", "80"))[1]
    assert gained(output), f"the victim does not reach the internet: {output}"


def begin_flood(world, attacker, *words):
    """Starts a flood in the attacker's workshop, with its output in /tmp/flood. The end of the workshop ends it."""
    command = f"python3 -m attack.flood {' '.join(words)} > /tmp/flood 2>&1 &"
    assert world.shell(attacker, command, MALLORY) == ""


def flood(world, attacker, *words):
    """Runs a flood in the attacker's workshop. Returns its output, or the code of the crash or failure that it causes."""
    begin_flood(world, attacker, *words)

    def output():
        with contextlib.suppress(AssertionError, OSError, http.client.HTTPException):
            if text := world.shell(attacker, "cat /tmp/flood", MALLORY):
                return text
        row = world.instance(attacker)
        ended = row["reason"] if row["state"] == "failed" else row["last_crash"]
        return ended and ended["code"]

    return wait_for(f"the flood {words} to end", output)


# With less memory, the kernel first ends processes because of the memory limit.
@pytest.mark.parametrize("attacker", [{"memory_limit": "2Gi"}], indirect=True, ids=["2Gi"])
def test_fork_bomb_ends_at_limit_of_processes(world, shell, attacker):
    app = world.container(attacker, "app")
    limit, group = app["HostConfig"]["PidsLimit"], processes_group(app["State"]["Pid"])
    assert 50 < limit <= 4096
    with answering(world, shell):
        begin_flood(world, attacker, "processes")
        wait_for("the limit of processes", lambda: int(group.read_text()) >= limit)
        # Several answers while the processes fork on, until the end of the workshop.
        for _ in range(10):
            world.started(shell)
    assert world.instance(attacker)["state"] == "running"


def processes_group(pid):
    """Returns the file with the number of processes and threads in the cgroup of this process."""
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        file = pathlib.Path("/sys/fs/cgroup", controllers, path.lstrip("/"), "pids.current")
        if file.exists():
            return file
    raise AssertionError(f"the process {pid} has no cgroup that counts processes")


@pytest.mark.parametrize("words", [
    ("kernel_memory",), ("buffers",), ("descriptors",), ("watches",), ("shared_memory", "2048"),
], ids=" ".join)
def test_memory_and_tables_of_the_kernel_are_limited(world, shell, attacker, words):
    with answering(world, shell):
        output = flood(world, attacker, *words)
        # While the flood holds what it got, until the end of the workshop.
        for _ in range(10):
            world.started(shell)
    taken = re.search(r"(\d+) MiB", output)
    assert not taken or int(taken[1]) < (TCP_MIB if words == ("buffers",) else FLOOD_MIB), output


@pytest.mark.podman
def test_log_flood_is_bounded(world, shell, attacker):
    path = pathlib.Path(world.container(attacker, "app")["LogPath"] or "/nonexistent")
    before = world.launcher_memory()
    with answering(world, shell):
        assert "written" in flood(world, attacker, "log", "60")
    size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*") if each.is_file())
    assert size <= LOG_MIB << 20, f"the engine keeps {size >> 20} MiB"
    assert world.launcher_memory() < before + (32 << 20)


def test_killing_everything_ends_no_sidecar_and_no_other_workshop(world, shell, attacker):
    """The app's first process survives: the kernel lets no process of a container kill it."""
    sidecar = world.container(attacker, "sidecar")["State"]["Pid"]
    with answering(world, shell):
        for command in ("python3 -m attack kill_all", "kill -KILL 1"):
            world.run(attacker, "bash", "-c", f"({command}) > /dev/null 2>&1", email=MALLORY)
    assert world.visit(attacker, MALLORY)[0] == 200
    assert world.container(attacker, "sidecar")["State"]["Pid"] == sidecar


def test_files_that_attack_their_removal(world, shell, leaves_nothing, tmp_path):
    """Symbolic links to the server, device nodes, pipes, sockets, deep folders and many files: the end removes only the
    workshop's own."""
    kept = tmp_path / "kept"
    kept.write_text("of the server")
    name = world.running(SHELL, MALLORY, name="traps", security_profile="baseline")
    traps = (
        f"cd /home/jovyan && ln -s {tmp_path} server && ln -s / root && ln -s /proc/1/root process && ln -s server/kept file && "
        "mkfifo pipe && mknod whiteout c 0 0; "
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'; "
        "mkdir locked && touch locked/file && chmod 000 locked; "
        "for i in $(seq 300); do mkdir -p deep/deep 2>/dev/null && cd deep/deep || break; done; "
        "touch $'/home/jovyan/name\\nwith\\x01\\xff' '/home/jovyan/--help' '/home/jovyan/*'; "
        "setsid sh -c 'trap \"\" TERM HUP; sleep 1000000' > /dev/null 2>&1 & "
        "python3 -m attack.flood inodes /home/jovyan/many 2000"
    )
    assert "files" in world.shell(name, traps, MALLORY)
    world.finish(name)
    assert kept.read_text() == "of the server"
    assert world.shell(shell, "true") == ""


@pytest.mark.podman
def test_doctor_warns_of_an_unlimited_disk_and_of_starts_that_interrupt_the_network_of_others(world):
    """No storage driver of the test server limits the disk of a workshop. Podman's bridge takes the lowest MAC address of
    its interfaces; other workshops must hear of each change."""
    parameter = pathlib.Path("/proc/sys/net/ipv4/conf/all/arp_notify")
    before, said = parameter.read_text(), world.doctor()
    assert "disk" in said and "arp_notify" not in said, said
    parameter.write_text("0")
    try:
        assert ("net.ipv4.conf.all.arp_notify = 1" in world.doctor()) == (ENGINE == "podman")
    finally:
        parameter.write_text(before)
