"""Runs test tiers: see tiers.sh, which starts this program with the words `[TIER...]`, `check` or `times`.

A tier whose requirements are missing is skipped, which is a failure with CI=true. Tiers run at the same time while they
need at most the processors of this machine. A failed test of a tier on real systems is repeated when all tiers have
ended, without others beside it. If it passes then, it is *unstable*. More than MAX_UNSTABLE unstable tests are a failure. A
tier on real systems that failed outside of its tests is repeated as a whole, and counts as one test.

.local/logs has the output of each tier, TIER.log, and a line of JSON for each test, tests.jsonl. If a tier passes, this
program prints the lines of its output that begin with `note: `.
"""

import collections
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / ".local/logs"
TESTS = LOGS / "tests.jsonl"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "workshop-launcher"
# The last duration of each tier and test on this machine, and how often each test was unstable.
TIMES, UNSTABLE = CACHE / "times.json", CACHE / "unstable.json"
MAX_UNSTABLE = 3
SLOWEST = 50
PROCESSORS = os.cpu_count()
IN_CI = os.environ.get("CI") == "true"


@dataclasses.dataclass(frozen=True)
class Tier:
    name: str
    about: str
    # Commands of tiers.sh: `needs` checks the requirements and installs what is missing, `run` runs the tests.
    needs: str
    run: str
    # Processors that the tests use on average. Tests that measure latency, and builds, need all.
    cpus: float = PROCESSORS
    # Names of BUILDS whose programs the tests use.
    builds: tuple = ()
    # True if the tests use the cluster of this machine. Each has namespaces of its own.
    cluster: bool = False
    # True if `check` runs the tier.
    check: bool = False
    # True if failed tests are repeated.
    repeats: bool = False
    # True if the tests run only in processor time that no other test uses, after the builds of programs, and not beside
    # tests that need all processors and come earlier in the list.
    idle: bool = False


def real(*words, **options):
    """A tier of tests on real systems."""
    return Tier(*words, repeats=True, **options)


CRATES = {
    "rules": "launcher-fuzz launcher-domain launcher-trace launcher-workshop launcher-operator",
    "service": "launcher-process launcher-snapshots launcher-store launcher-service launcher-testkit",
    "api": "launcher-api",
    "sidecar": "launcher-sidecar launcher-material",
    "fleet": "launcher-fleet",
    "launcher": "launcher",
}


def rust(name, about, needs="", beside="", **options):
    """A tier of the Rust tests of CRATES. `beside` runs a command with a service."""
    run = f"rust_tests {CRATES[name]}"
    return Tier(name, about, f"need_rust_tests; {needs}", f'{beside} "$0" shell {shlex.quote(run)}' if beside else run, **options)


# In the order in which they start: what measures or needs all processors first, then the longest first.
TIERS = [
    # It runs beside the build.
    Tier("lint", "formatting, shell scripts, Python, waits, workflows", "need_rust; need_command shellcheck shellcheck",
         "lint", cpus=0, check=True),
    Tier("build", "clippy; builds everything once, for all tiers below", "need_rust_tests",
         f'"$PYTHON" e2e/rust_tests.py covered {" ".join(CRATES.values())}', check=True),
    rust("rules", "unit and property tests of domain, Workshop and operator", check=True),
    real("limits", "launcher and sidecar in memory cgroups, attacked by 2,000 slow clients", "need_pytest", "tests limits e2e/limits"),
    real("measured", "size and speed of the pages in a real Chromium, by Lighthouse", "need_browser", "tests measured e2e/browser"),
    Tier("simulation", "the service and its clusters with random faults", "need_rust_tests",
         'SIM_SEEDS="${SIM_SEEDS:-150}" TEST_IDLE=1 rust_tests launcher-service:simulation', cpus=0, idle=True, check=True),
    real("chart_live", "the Helm chart: acceptance by the API server, nginx attacked by 2,000 clients in a cgroup",
         "need_cluster; need_go", "tests chart_live e2e/login/live", builds=("programs-cluster", "programs-login"), cluster=True),
    rust("service", "use cases, loops, rows in SQLite and PostgreSQL, process plumbing", "e2e/postgres/server.sh needs",
         "e2e/postgres/server.sh run", cpus=1.2, check=True),
    real("apps", "well-known apps in a real Chromium", "need_browser; e2e/browser/apps.sh", "tests apps e2e/browser", cpus=0.8),
    rust("api", "the API and the pages over real HTTP", "e2e/postgres/server.sh needs", "e2e/postgres/server.sh run",
         cpus=1.2, check=True),
    real("cluster", "real pods on a real Kubernetes: journeys, failures, faults, isolation, permissions", "need_cluster",
         "tests cluster e2e/cluster/tests --numprocesses 4 --dist loadfile --no-loadscope-reorder",
         cpus=0.6, builds=("programs-cluster",), cluster=True),
    real("login", "the installed chart: Traefik, oauth2-proxy, a provider, a real Chromium, forged identities",
         "need_cluster; need_browser; need_go; need_command curl curl", "tests login e2e/login/tests", cpus=0.5,
         builds=("programs-cluster", "programs-login"), cluster=True),
    real("containers", "workshops in containers of Docker: attacks, resources, files, course material", "need_engines",
         "server_tests docker containers e2e/containers", cpus=0.4),
    real("container_faults", "workshops in containers of Docker: starts, kills, restarts, a full disk; nothing is left", "need_engines",
         "server_tests docker container_faults e2e/containers", cpus=0.4),
    real("browser", "the pages in a real Chromium", "need_browser",
         "tests browser e2e/browser --numprocesses 2", cpus=0.8),
    real("schemathesis", "fuzzing of the running API by its own OpenAPI document", "need_pytest",
         "tests schemathesis e2e/schemathesis --numprocesses 2", cpus=0.8),
    real("podman", "workshops in containers of Podman: what differs from Docker", "need_engines",
         "server_tests podman podman e2e/containers", cpus=0.6),
    real("engine_docker", "the container fleet and its client of the engine on Docker: the Rust tests", "need_engines",
         "engine_tests docker", cpus=0.7),
    real("engine_podman", "the same tests on Podman", "need_engines", "engine_tests podman", cpus=0.7),
    real("kill9", "kill -9 at random moments, full disks, ends: nothing lost, duplicated or orphaned",
         "need_pytest; need_command git git", "tests kill9 e2e/kill9 --numprocesses 4", cpus=0.8),
    real("server", "one server for real: setup, login, upgrade, backup, restore", "need_browser; need_engines; e2e/server/live.sh needs",
         "e2e/server/live.sh docker", cpus=0.8, builds=("programs-server",)),
    real("make_run", "make run: set-up, page, JupyterLab, Ctrl-C", "need_pytest", "tests make_run e2e/make_run", cpus=1.2),
    rust("fleet", "the local fleet with real processes and a real JupyterLab", "need_jupyter", cpus=0.9),
    rust("sidecar", "the sidecar over raw sockets; course material from real and hostile servers", "need_command git git", cpus=1.0),
    rust("launcher", "the program: settings, start, stop, crate dependencies, generated files", "need_jupyter", cpus=0.7),
    real("scripts", "the setup of one server, without an engine; scripts of a release; the runner of the tests", "need_pytest",
         "tests scripts e2e/runner e2e/server e2e/release --ignore e2e/server/live --numprocesses 2", cpus=1.2),
    real("chart", "the Helm chart without a cluster: lint, rendered objects, refused values, alerts; documents",
         "need_pytest; need_command git git; need_go", "tests chart e2e/login/test_*.py --numprocesses 2",
         cpus=1.6, builds=("programs-chart",)),
]

# Go programs of the tests, which are built in the background. After the tier `build`, the scheduling class `idle` gives them
# only time that no test uses. A tier that waits for its programs builds a missing one itself, and reports the error. The
# longest tiers wait for the first ones.
BUILDS = {
    "programs-cluster": "e2e/cluster/build.sh",
    "programs-server": "e2e/login/build.sh traefik oauth2-proxy dex",
    "programs-chart": "e2e/login/build.sh helm promtool",
    "programs-login": "e2e/login/build.sh",
}

# Name of the programs and pods of the cluster in the table of durations.
CLUSTER = "Kubernetes"

# Name of the job that installs the requirements of all tiers.
REQUIREMENTS = "requirements"


def shell(command):
    return ["bash", str(ROOT / "e2e/tiers.sh"), "shell", command]


def load(path):
    return json.loads(path.read_text()) if path.exists() else {}


def store(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, sort_keys=True))


def recorded():
    """Returns the recorded tests: [{tier, test, outcome, seconds, cpu, output}]."""
    return [json.loads(line) for line in TESTS.read_text().splitlines()] if TESTS.exists() else []


class Job:
    """A running command, whose processes are a process group. It takes no share of the processors if it is idle."""

    def __init__(self, name, command, idle=False, tier=None, **variables):
        self.name, self.tier, self.idle, self.begun = name, tier, idle, time.monotonic()
        self.log = LOGS / f"{name}.log"
        prefix = ["chrt", "--idle", "0"] if idle else []
        environment = os.environ | {"TEST_TIER": name, "TEST_RECORD": str(TESTS)} | variables
        with self.log.open("ab" if variables else "wb") as log:
            self.process = subprocess.Popen([*prefix, *shell(command)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=environment, process_group=0)

    def set_idle(self, idle):
        """Takes or gives the job's share of the processors."""
        if self.idle != idle:
            self.idle = idle
            found = subprocess.run(["pgrep", "--pgroup", str(self.process.pid)], stdout=subprocess.PIPE, text=True)
            for pid in found.stdout.split():
                policy = "--idle" if idle else "--other"
                subprocess.run(["chrt", "--all-tasks", policy, "--pid", "0", pid], stderr=subprocess.DEVNULL)

    def end(self, status, usage):
        self.status, self.seconds = status, time.monotonic() - self.begun
        self.cpu = usage.ru_utime + usage.ru_stime

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)


def cluster_cpu():
    """Returns the CPU seconds of the cluster's programs and pods so far: they are no children of a tier."""
    used = 0
    for path in (CACHE / "cluster/run/pid").glob("*"):
        with contextlib.suppress(OSError, IndexError):
            pid = path.read_text().split()[0]
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            used += sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
    for name in ("cpuacct/kubepods/cpuacct.usage", "kubepods/cpu.stat"):
        with contextlib.suppress(OSError, ValueError):
            text = pathlib.Path("/sys/fs/cgroup", name).read_text().split()
            used += int(text[0]) / 1e9 if len(text) == 1 else int(text[1]) / 1e6
    return used


class Run:
    """One run of the selected tiers."""

    def __init__(self, tiers):
        self.waiting, self.builds, self.jobs, self.results = list(tiers), [], {}, {}
        self.begun, self.last, self.now = time.monotonic(), load(TIMES).get("tiers", {}), {}
        # True until the last tier that uses the cluster has ended.
        self.cluster = any(tier.cluster for tier in tiers)
        self.owns_cluster, self.cluster_used, self.cluster_begun = self.cluster and not cluster_runs(), cluster_cpu(), None

    def all(self):
        needed = {build for tier in self.waiting for build in tier.builds}
        self.builds = [name for name in BUILDS if name in needed]
        # Installs what is missing, without waiting for the tiers before. A tier reports what it lacks when it starts.
        checks = [f'"$0" shell {shlex.quote(tier.needs)} || true' for tier in self.waiting]
        self.start(Job(REQUIREMENTS, "\n".join(checks)))
        while self.waiting or self.running():
            self.start_what_fits()
            if self.jobs:
                self.wait_for_one()
            if self.cluster and not any(TIER[name].cluster for name in self.unfinished()):
                self.leave_cluster()

    def leave_cluster(self):
        """Records the costs of the cluster. Stops it, unless it ran before or its failed tests are repeated."""
        seconds, cpu = time.monotonic() - (self.cluster_begun or self.begun), max(0, cluster_cpu() - self.cluster_used)
        self.now[CLUSTER] = {"seconds": seconds, "cpu": cpu}
        self.cluster = False
        if not any(self.results[name][0] == "FAILED" for name in self.results if TIER[name].cluster):
            self.stop_cluster()

    def stop_cluster(self):
        if self.owns_cluster:
            self.owns_cluster = False
            subprocess.run([ROOT / "e2e/cluster/down.sh"], stdout=subprocess.DEVNULL)

    def running(self):
        return [job for job in self.jobs.values() if job.tier]

    def using(self):
        """Returns the running jobs that use processors which others need."""
        return [job for job in self.running() if not job.tier.idle]

    def before(self, tier):
        """Returns the tiers that come earlier in the list, and have not ended."""
        unfinished = self.unfinished()
        return [other for other in itertools.takewhile(lambda other: other != tier, TIERS) if other.name in unfinished]

    def building(self):
        return {job.name for job in self.jobs.values() if not job.tier} | set(self.builds)

    def start_what_fits(self):
        for tier in list(self.waiting):
            free = PROCESSORS - sum(job.tier.cpus for job in self.running())
            # All other tiers use what `build` builds and what the requirements install.
            first = tier.name in ("lint", "build")
            blocked = not first and ("build" in self.unfinished() or REQUIREMENTS in self.building())
            blocked |= tier.idle and bool(self.building() or [other for other in self.before(tier) if other.cpus == PROCESSORS])
            if (tier.cpus <= free or not self.using()) and not blocked and not set(tier.builds) & self.building():
                self.waiting.remove(tier)
                self.start_tier(tier)
        programs = [job for job in self.jobs.values() if job.name in BUILDS]
        # No test runs beside the tier `build`, or all tests that are left wait for programs.
        idle = "build" not in self.unfinished() and bool(self.using() or REQUIREMENTS in self.building())
        for job in programs:
            job.set_idle(idle)
        if self.builds and not programs:
            name = self.builds.pop(0)
            self.start(Job(name, BUILDS[name], idle=idle))

    def unfinished(self):
        return {tier.name for tier in self.waiting} | {job.name for job in self.running()}

    def start(self, job):
        self.jobs[job.process.pid] = job

    def start_tier(self, tier):
        found = subprocess.run(shell(tier.needs), cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if found.returncode:
            reason = (found.stderr.strip().splitlines() or ["unknown requirement"])[-1].removeprefix("error: ")
            self.conclude(tier.name, "skipped", 0, 0, reason)
        else:
            say(f"== {tier.name} begins: {tier.about}")
            if tier.cluster:
                self.cluster_begun = self.cluster_begun or time.monotonic()
            self.start(Job(tier.name, tier.run, tier=tier))

    def wait_for_one(self):
        pid, status, usage = os.wait4(-1, 0)
        job = self.jobs.pop(pid, None)
        if not job:
            return
        job.end(os.waitstatus_to_exitcode(status), usage)
        if job.tier:
            state = "FAILED" if job.status else "passed"
            self.conclude(job.name, state, job.seconds, job.cpu, f"exit status {job.status}: {job.log}" if job.status else job.tier.about)
            log = job.log.read_text(errors="replace")
            for shown in [log] if job.status else [line for line in log.splitlines() if line.startswith("note: ")]:
                say(shown)

    def conclude(self, name, state, seconds, cpu, note):
        self.results[name] = [state, seconds, cpu, note]
        if state != "skipped":
            # Not the duration of a repetition.
            self.now.setdefault(name, {"seconds": seconds, "cpu": cpu})
        left = sorted(self.unfinished() - {name})
        say(f"== {name} {state} after {seconds:.0f} s" + (f", {cpu:.0f} CPU seconds. {self.left(left)}" if left else "."))

    def left(self, names):
        """Estimates the rest of the run by the last run of this machine."""
        if not all(name in self.last for name in names):
            return f"Left: {', '.join(names)}."
        work = max(sum(self.last[name]["cpu"] for name in names) / PROCESSORS, max(self.last[name]["seconds"] for name in names))
        return f"Left: {', '.join(names)}: about {work / 60:.0f} minutes."

    def repeat_failed(self):
        """Repeats the failed tests of tiers on real systems, a tier at a time. Returns the unstable tests. Their paths tell
        the tier what to repeat: without one, everything."""
        failed = {name: [] for name, (state, *_) in self.results.items() if state == "FAILED" and TIER[name].repeats}
        for one in recorded():
            if one["outcome"] == "failed" and one["tier"] in failed:
                failed[one["tier"]].append(one)
        failed = {name: ones or [whole(name)] for name, ones in failed.items()}
        if not 0 < sum(map(len, failed.values())) <= MAX_UNSTABLE:
            return []
        unstable = []
        for tier, ones in failed.items():
            say(f"== {tier}: repeats {', '.join(one['test'] for one in ones)}")
            self.start(Job(tier, TIER[tier].run, tier=TIER[tier], TESTS_AGAIN="\n".join(one["path"] for one in ones)))
            self.wait_for_one()
            if self.results[tier][0] == "passed":
                unstable += ones
        return unstable

    def kill(self):
        for job in self.jobs.values():
            job.kill()
        for job in self.jobs.values():
            job.process.wait()


TIER = {tier.name: tier for tier in TIERS}


def whole(name):
    """Returns the entry of a tier that failed outside of its tests, as in the start of its cluster: all tests are repeated."""
    output = (LOGS / f"{name}.log").read_text(errors="replace")
    return {"tier": name, "test": f"{name} as a whole", "path": "", "output": output[-5000:]}


def say(text):
    print(text, flush=True)


def keep_times(run):
    """Stores the durations of the tiers that have passed, and of their slowest tests."""
    known = load(TIMES)
    passed = {name: times for name, times in run.now.items() if name == CLUSTER or run.results[name][0] == "passed"}
    known.setdefault("tiers", {}).update(passed)
    tests = [one for one in known.get("tests", []) if one["tier"] not in passed]
    tests += [{name: one[name] for name in ("tier", "test", "seconds", "cpu")} for one in recorded() if one["tier"] in passed]
    known["tests"] = sorted(tests, key=lambda one: -one["seconds"])[: 4 * SLOWEST]
    store(TIMES, known)


def print_times():
    """Prints the last durations as two tables of Markdown."""
    known = load(TIMES)
    say(f"| tier | seconds | CPU seconds | waiting seconds of {PROCESSORS} processors |\n|---|---|---|---|")
    for name in [*TIER, CLUSTER]:
        if one := known.get("tiers", {}).get(name):
            say(f"| {name} | {one['seconds']:.0f} | {one['cpu']:.0f} | {max(0, PROCESSORS * one['seconds'] - one['cpu']):.0f} |")
    say("\n| test | tier | seconds | CPU seconds | waiting seconds |\n|---|---|---|---|---|")
    for one in known.get("tests", [])[:SLOWEST]:
        cpu, waiting = ("", "") if one["cpu"] is None else (f"{one['cpu']:.1f}", f"{max(0, one['seconds'] - one['cpu']):.1f}")
        say(f"| `{one['test']}` | {one['tier']} | {one['seconds']:.1f} | {cpu} | {waiting} |")


def print_unstable(unstable):
    counts = load(UNSTABLE)
    for one in unstable:
        counts[one["test"]] = counts.get(one["test"], 0) + 1
        say(f"\nunstable, {counts[one['test']]} times on this machine: {one['test']} (tier {one['tier']}). Its first failure:\n{one['output']}")
    store(UNSTABLE, counts)


def cluster_runs():
    return subprocess.run(["bash", "-c", "source e2e/cluster/env.sh; kubectl get --raw /readyz"], cwd=ROOT,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def selected(words):
    if words == ["check"]:
        # The simulation is the longest of these tests: fewer seeds.
        os.environ.setdefault("SIM_SEEDS", "8")
        return [tier for tier in TIERS if tier.check]
    unknown = [word for word in words if word not in TIER]
    if unknown:
        sys.exit(f"error: unknown tier {unknown[0]}; valid tiers: {', '.join(TIER)}")
    return [tier for tier in TIERS if tier.name in words or not words]


def main():
    words = sys.argv[1:]
    if words == ["times"]:
        return print_times()
    tiers = selected(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    LOGS.mkdir(parents=True, exist_ok=True)
    TESTS.unlink(missing_ok=True)
    run = Run(tiers)
    try:
        run.all()
        unstable = run.repeat_failed()
    finally:
        run.kill()
        run.stop_cluster()
    keep_times(run)
    print_unstable(unstable)
    say("\nTiers:")
    for name, (state, seconds, cpu, note) in run.results.items():
        say(f"  {state:8} {seconds:5.0f} s {cpu:6.0f} CPU s  {name:13} {note}")
    last = {(one["tier"], one["test"]): one["outcome"] for one in recorded()}
    outcomes = collections.Counter(last.values())
    states = collections.Counter(state for state, *_ in run.results.values())
    for (tier, test), outcome in last.items():
        if outcome == "failed":
            say(f"FAILED {tier}: {test}")
    say(f"{run.results and len(run.results)} tiers after {time.monotonic() - run.begun:.0f} s: {dict(states)}")
    say(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    if states["FAILED"] or not states["passed"] or IN_CI and states["skipped"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
