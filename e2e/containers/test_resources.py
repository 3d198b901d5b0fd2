"""Attacks on the resources of the server, by a workshop: limits hold, and other workshops work meanwhile."""

import contextlib
import json
import pathlib
import re
import threading
import time

import pytest
from harness import PATIENCE, wait_for
from world import ENGINE, MALLORY, RESOURCES, SHELL

# Longest answer of another workshop during an attack, in seconds, on two busy cores.
SLOWEST = 5 * PATIENCE
MEMORY_MIB = 256
# The memory of the template, and as much again for what the kernel counts elsewhere.
KERNEL_MEMORY_MIB = 2 * MEMORY_MIB + 128


@pytest.fixture(scope="module")
def victim(world):
    return world.running(SHELL)


@pytest.fixture
def attacker(world, request):
    """A workshop of the attacker, which ends after the test. The parameter changes its resources."""
    resources = RESOURCES | getattr(request, "param", {})
    name = world.running(SHELL, MALLORY, name="attacker", resources=resources)
    yield name
    world.end(name)
    # The engines need some attempts to end thousands of processes.
    world.until_gone(name, seconds=120)


class Watch:
    """Asks the victim during the block. Fails if an answer is wrong or late, or if another process gives it."""

    def __init__(self, world, victim):
        self.world, self.victim = world, victim
        self.stopped, self.slowest, self.count = threading.Event(), 0, 0

    def __enter__(self):
        self.first = self.world.started(self.victim)
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()
        return self

    def ask(self):
        while not self.stopped.wait(0.05):
            began = time.monotonic()
            assert self.world.started(self.victim) == self.first
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.count += 1

    def __exit__(self, kind, *_):
        self.stopped.set()
        self.thread.join()
        if not kind:
            assert self.count and self.slowest < SLOWEST, f"{self.count} answers, the slowest after {self.slowest:.1f} s"
            output = self.world.run(self.victim, "python3", "-m", "attack", "tcp", "internet.example", "80", seconds=60)[1]
            assert '"gained": true' in output, f"the victim does not reach the internet: {output}"


def begin_flood(world, attacker, *words):
    """Starts a flood in the attacker's workshop, with its output in /tmp/flood."""
    command = f"python3 -m attack.flood {' '.join(words)} > /tmp/flood 2>&1 &"
    assert world.run(attacker, "bash", "-c", command, email=MALLORY) == (0, "")


def ended_as(world, name):
    """Returns the code of the workshop's failure, or of the last crash of its app; "" if the app never ended."""
    row = world.instance(name)
    ended = row["reason"] if row["state"] == "failed" else row["last_crash"]
    return ended["code"] if ended else ""


def flood(world, attacker, *words, seconds=60):
    """Runs a flood in the attacker's workshop. Returns its output, or the code of the crash or failure that it causes."""
    begin_flood(world, attacker, *words)

    def output():
        with contextlib.suppress(AssertionError, OSError):
            status, text = world.run(attacker, "cat", "/tmp/flood", email=MALLORY)
            if status == 0 and text:
                return text
        return ended_as(world, attacker)

    return wait_for(f"the flood {words} to end", output, seconds)


# With less memory, the kernel first ends processes because of the memory limit, which takes it minutes.
@pytest.mark.parametrize("attacker", [{"memory_limit": "1Gi"}], indirect=True, ids=["fork_bomb"])
def test_fork_bomb_ends_at_limit_of_processes(world, victim, attacker):
    app = world.container(attacker, "app")
    limit = app["HostConfig"]["PidsLimit"]
    assert 0 < limit <= 4096
    with Watch(world, victim):
        begin_flood(world, attacker, "processes", "4")
        group = processes_group(app["State"]["Pid"])
        wait_for("the first processes of the flood", lambda: int(group.read_text()) > 50, 30)
        seen, end = 0, time.monotonic() + 5
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                seen = max(seen, int(group.read_text()))
            time.sleep(0.05)
    assert 50 < seen <= limit
    assert world.instance(attacker)["state"] == "running"


def processes_group(pid):
    """Returns the file with the number of processes and threads in the cgroup of this process."""
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        file = pathlib.Path("/sys/fs/cgroup", controllers, path.lstrip("/"), "pids.current")
        if file.exists():
            return file
    raise AssertionError(f"the process {pid} has no cgroup that counts processes")


def test_app_that_exceeds_memory_is_explained(world, victim):
    """Twice the memory of the template, by an app that was never ready: the workshop fails with the reason."""
    take = ["python3", "-c", "import time; time.sleep(1); x = [b'x' * (1 << 20) for _ in range(512)]; time.sleep(60)"]
    name = world.launch(world.template(SHELL, name="hungry", command=take), MALLORY)
    with Watch(world, victim):
        failed = world.until(name, "failed")
    assert failed["reason"]["code"] == "out-of-memory"
    assert failed["reason"]["message"] == "The workshop exceeded its memory limit."
    assert failed["reason"]["remedy"].startswith("Files that were not saved elsewhere are lost. Launch it again and load less data")
    world.until_gone(name)


def test_app_that_exceeds_memory_is_usable_again_with_its_files(world, victim, attacker):
    """The kernel ends the app because of the memory limit. The app answers again within 10 seconds, with its files."""
    first = world.started(attacker, MALLORY)
    assert world.run(attacker, "bash", "-c", "echo kept > /home/jovyan/work", email=MALLORY) == (0, "")

    def answers_again():
        status, text = world.visit(attacker, MALLORY, "/started")
        return status == 200 and json.loads(text) != first

    with Watch(world, victim):
        status, _ = world.visit(attacker, MALLORY, f"/take/{2 * MEMORY_MIB}")
        assert status != 200, "the app has more memory than its limit"
        began = time.monotonic()
        wait_for("the app to answer again", answers_again, 30)
        taken = time.monotonic() - began
    assert world.run(attacker, "cat", "/home/jovyan/work", email=MALLORY) == (0, "kept\n")
    crash = world.until(attacker, "running")["last_crash"]
    assert (crash["code"], crash["files_lost"]) == ("out-of-memory", False)
    # Without other load, the app answers within 10 s.
    assert taken < 10 * PATIENCE, f"{taken:.1f} s"


def test_child_that_exceeds_memory_ends_alone_or_with_its_app(world, victim, attacker):
    """Twice the memory, by a child of the app, without swap: the kernel ends the child, or the app, which starts again."""
    take = "python3 -m attack.flood memory 512; echo status $? > /tmp/status"
    with Watch(world, victim):
        world.run(attacker, "bash", "-c", f"({take}) > /dev/null 2>&1 &", email=MALLORY)

        def result():
            if code := ended_as(world, attacker):
                return code
            with contextlib.suppress(AssertionError, OSError):
                status, text = world.run(attacker, "cat", "/tmp/status", email=MALLORY)
                return text.strip() if status == 0 else None

        # 137: ended by SIGKILL.
        assert wait_for("the end of the child", result, 60) in ("status 137", "out-of-memory")


@pytest.mark.parametrize("what", ["kernel_memory", "buffers", "descriptors", "watches"])
def test_memory_and_tables_of_the_kernel(world, victim, attacker, what):
    taken = []
    with Watch(world, victim):
        # Other programs of the machine may take memory at the same time, but not during each flood.
        while len(taken) < 3 and not (taken and taken[-1] < KERNEL_MEMORY_MIB):
            before = free_memory()
            output = flood(world, attacker, what, "5")
            taken.append(before - free_memory())
            print(output, f"the server has {taken[-1]} MiB less")
    assert taken[-1] < KERNEL_MEMORY_MIB, taken


def free_memory():
    """Returns the available memory of the server in MiB."""
    text = pathlib.Path("/proc/meminfo").read_text()
    return int(re.search(r"MemAvailable:\s+(\d+)", text)[1]) >> 10


def test_shared_memory_is_limited(world, victim, attacker):
    size = world.container(attacker, "app")["HostConfig"]["ShmSize"]
    with Watch(world, victim):
        output = flood(world, attacker, "shared_memory", "2048")
    written = re.match(r"(\d+) MiB, then: \[Errno 28\]", output)
    assert (written and int(written[1]) <= size >> 20) or "took" not in output, output


def test_cpu_is_limited(world, victim, attacker):
    with Watch(world, victim):
        before = cpu_seconds(world, attacker)
        flood(world, attacker, "cpu", "4")
        used = cpu_seconds(world, attacker) - before
    # The limit is one CPU. A period of the kernel's bandwidth control may be begun at both ends.
    assert used < 4 * 1.4, f"used {used:.1f} s of CPU time in 4 s"


def cpu_seconds(world, name):
    stats = world.api.call("GET", f"/containers/{world.container(name, 'app')['Id']}/stats?stream=false&one-shot=true")
    return stats["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9


def test_log_flood_is_bounded(world, victim, attacker):
    path = pathlib.Path(world.container(attacker, "app")["LogPath"] or "/nonexistent")
    before = world.launcher_memory()
    with Watch(world, victim):
        assert "written" in flood(world, attacker, "log", "60")
    size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*") if each.is_file())
    assert size <= 25 << 20, f"the engine keeps {size >> 20} MiB"
    assert world.launcher_memory() < before + (32 << 20)


def test_killing_everything_ends_no_sidecar_and_no_other_workshop(world, victim):
    """The app's first process survives: the kernel lets no process of a container kill it."""
    name = world.running(SHELL, MALLORY, name="suicide")
    sidecar = world.container(name, "sidecar")["State"]["Pid"]
    with Watch(world, victim):
        for command in ("python3 -m attack kill_all", "kill -KILL 1; kill -TERM 1"):
            world.run(name, "bash", "-c", f"({command}) > /dev/null 2>&1", email=MALLORY)
    assert world.visit(name, MALLORY)[0] == 200
    assert world.container(name, "sidecar")["State"]["Pid"] == sidecar
    world.end(name)
    world.until_gone(name)


def test_files_that_attack_their_removal(world, victim, leaves_nothing, tmp_path):
    """Symbolic links to the server, device nodes, pipes, sockets, deep folders and many files: the end removes only the
    workshop's own, and in time."""
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
        "python3 -m attack.flood inodes /home/jovyan/many 20000"
    )
    status, output = world.run(name, "bash", "-c", traps, email=MALLORY, seconds=60)
    assert "files" in output, (status, output)
    began = time.monotonic()
    world.end(name, MALLORY)
    world.until_gone(name, seconds=40)
    assert time.monotonic() - began < 40
    assert kept.read_text() == "of the server"
    assert world.run(victim, "true") == (0, "")


def test_disk_is_limited_where_the_engine_can(world, victim, attacker):
    """Without a limit of the storage driver, a workshop can fill the disk. Then `launcher doctor` says so."""
    size = world.container(attacker, "app")["HostConfig"].get("StorageOpt") or {}
    if "size" not in size:
        said = world.doctor()
        assert "disk" in said, said
        return
    with Watch(world, victim):
        assert "No space left" in flood(world, attacker, "disk", "/home/jovyan/big", "20000", seconds=60)


def test_doctor_warns_if_starts_interrupt_network_of_others(world):
    """Podman's bridge takes the lowest MAC address of its interfaces. Other workshops must hear of each change."""
    parameter = pathlib.Path("/proc/sys/net/ipv4/conf/all/arp_notify")
    before = parameter.read_text()
    assert "arp_notify" not in world.doctor()
    parameter.write_text("0")
    try:
        assert ("net.ipv4.conf.all.arp_notify = 1" in world.doctor()) == (ENGINE == "podman")
    finally:
        parameter.write_text(before)
