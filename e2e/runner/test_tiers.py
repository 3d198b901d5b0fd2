"""The runner of the tiers decides correctly what is a failure: tiers of the test record invented results."""

import json

import pytest

import rust_tests
import tiers

pytestmark = pytest.mark.scripts


def fails(*tests, times=1):
    """Returns a command that records these tests as failed in its first `times` runs, and as passed later."""
    lines = {
        outcome: "\n".join(
            json.dumps({"tier": "real", "test": test, "path": test, "outcome": outcome, "seconds": 1, "cpu": 1, "output": f"why {test}"})
            for test in tests
        )
        for outcome in ("failed", "passed")
    }
    return (
        f"echo run >> runs; if [ $(wc -l < runs) -le {times} ]; then echo '{lines['failed']}' >> $TEST_RECORD; exit 1; fi; "
        f"echo \"$TESTS_AGAIN\" > again; echo '{lines['passed']}' >> $TEST_RECORD"
    )


@pytest.fixture
def run(monkeypatch, tmp_path, capfd):
    """Runs these tiers in a new folder. Returns (exit status, output)."""

    def run(*chosen):
        monkeypatch.setattr(tiers, "ROOT", tmp_path)
        monkeypatch.setattr(tiers, "TIERS", chosen)
        monkeypatch.setattr(tiers, "TIER", {tier.name: tier for tier in chosen})
        for name, path in {"LOGS": "logs", "TESTS": "logs/tests.jsonl", "TIMES": "times.json", "UNSTABLE": "unstable.json"}.items():
            monkeypatch.setattr(tiers, name, tmp_path / path)
        monkeypatch.setattr(tiers, "shell", lambda command: ["bash", "-c", command])
        monkeypatch.setattr("sys.argv", ["tiers.py"])
        status = 0
        try:
            tiers.main()
        except SystemExit as exited:
            status = exited.code
        return status, capfd.readouterr().out

    return run


def test_test_that_passes_alone_is_unstable_and_counted(run, tmp_path):
    status, output = run(tiers.real("real", "", "true", fails("a")))
    assert status == 0
    assert "unstable, 1 times on this machine: a (tier real). Its first failure:\nwhy a" in output
    assert output.endswith("1 passed, 0 failed, 0 skipped\n")
    assert json.loads((tmp_path / "unstable.json").read_text()) == {"a": 1}
    assert (tmp_path / "again").read_text() == "a\n"


def test_test_that_fails_twice_fails_the_run(run):
    status, output = run(tiers.real("real", "", "true", fails("a", times=2)))
    assert status == 1
    assert output.endswith("0 passed, 1 failed, 0 skipped\n")


@pytest.mark.parametrize("tests, status", [("abc", 0), ("abcd", 1)])
def test_more_than_three_unstable_tests_fail_the_run(run, tests, status):
    assert run(tiers.real("real", "", "true", fails(*tests)))[0] == status


def test_test_without_real_systems_gets_no_second_run(run):
    assert run(tiers.Tier("real", "", "true", fails("a")))[0] == 1


def test_notes_of_a_passed_tier_are_shown(run):
    status, output = run(tiers.Tier("lint", "", "true", "echo 'note: de: 3 of 812'; echo other"))
    assert status == 0 and "\nnote: de: 3 of 812\n" in output and "other" not in output


def test_tier_that_fails_without_a_failed_test_fails_the_run(run):
    assert run(tiers.real("real", "", "true", "exit 3"))[0] == 1


def test_tier_that_fails_outside_of_its_tests_is_repeated_as_a_whole(run, tmp_path):
    command = 'echo run >> runs; [ $(wc -l < runs) = 2 ] || { echo no cluster; exit 3; }; echo "$TESTS_AGAIN" > again'
    status, output = run(tiers.real("real", "", "true", command))
    assert status == 0
    assert "unstable, 1 times on this machine: real as a whole (tier real). Its first failure:\nno cluster\n" in output
    assert (tmp_path / "again").read_text() == "\n"


def test_tier_without_its_requirements_is_skipped_and_fails_in_ci(run, monkeypatch):
    chosen = (tiers.Tier("here", "", "true", "true"), tiers.Tier("lacking", "", "echo 'error: no x here' >&2; false", "true"))
    monkeypatch.setattr(tiers, "IN_CI", False)
    status, output = run(*chosen)
    assert status == 0 and "no x here" in output
    monkeypatch.setattr(tiers, "IN_CI", True)
    assert run(*chosen)[0] == 1


def test_tiers_run_beside_each_other_only_while_the_processors_suffice(run, monkeypatch, tmp_path):
    monkeypatch.setattr(tiers, "PROCESSORS", 2)
    # Each of the first two waits for the other one; the third fails if another one runs.
    meet = "touch {0}; until [ -e {1} ]; do read -t 0.02 <> <(:) || true; done; rm {1}"
    chosen = (
        tiers.Tier("a", "", "true", meet.format("a", "b"), cpus=1),
        tiers.Tier("b", "", "true", meet.format("b", "a"), cpus=1),
        tiers.Tier("alone", "", "true", "[ ! -e a ] && [ ! -e b ]", cpus=2),
    )
    assert run(*chosen)[0] == 0


def test_idle_tier_runs_beside_others_and_after_those_that_need_all_processors(run, monkeypatch):
    monkeypatch.setattr(tiers, "PROCESSORS", 2)
    wait = "until [ -e {0} ]; do read -t 0.02 <> <(:) || true; done"
    chosen = (
        tiers.Tier("measures", "", "true", "[ ! -e idle ] && touch measured", cpus=2),
        # Ends only after a tier that needs all processors: it uses none.
        tiers.Tier("idle", "", "true", f"touch idle; [ -e measured ] && {wait.format('late')}", cpus=0, idle=True),
        tiers.Tier("waits", "", "true", wait.format("idle"), cpus=1),
        tiers.Tier("late", "", "true", "touch late", cpus=2),
    )
    assert run(*chosen)[0] == 0


def test_idle_tier_starts_after_the_builds_of_programs(run, monkeypatch):
    monkeypatch.setattr(tiers, "BUILDS", {"programs": "until [ -e tested ]; do read -t 0.02 <> <(:) || true; done; touch built"})
    chosen = (
        tiers.Tier("idle", "", "true", "[ -e built ]", cpus=0, idle=True),
        tiers.Tier("tests", "", "true", "touch tested", cpus=1),
        tiers.Tier("uses", "", "true", "[ -e built ]", cpus=1, builds=("programs",)),
    )
    assert run(*chosen)[0] == 0


@pytest.mark.parametrize("beside, policy", [("build", "SCHED_OTHER"), ("tests", "SCHED_IDLE")])
def test_builds_of_programs_take_no_share_of_the_processors_from_tests(run, monkeypatch, beside, policy):
    monkeypatch.setattr(tiers, "BUILDS", {"programs": "chrt --pid $$ > policy"})
    chosen = (
        tiers.Tier(beside, "", "true", "until [ -s policy ]; do read -t 0.02 <> <(:) || true; done", cpus=1),
        tiers.Tier("uses", "", "true", f"grep {policy} policy", cpus=1, builds=("programs",)),
    )
    assert run(*chosen)[0] == 0


# A test program whose test `rules::b` fails if it runs beside another test.
PROGRAM = """#!/bin/sh
case "$*" in
  *"--exact rules::b") echo "test rules::b ... ok <0.010s>" ;;
  *) printf '%s\\n' "test rules::a ... ok <0.250s>" "test rules::b ... FAILED <0.010s>" "" failures: "" \\
     "---- rules::b stdout ----" "it is late" "" failures: "    rules::b"; exit 101 ;;
esac
"""


def test_failed_rust_test_is_recorded_with_its_output_and_repeated_alone(monkeypatch, tmp_path):
    program, recorded = tmp_path / "program", tmp_path / "tests.jsonl"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("TEST_RECORD", str(recorded))
    monkeypatch.setenv("TEST_TIER", "real")
    found = ("fleet", "containers", tmp_path, str(program))
    assert rust_tests.run_program(found) == "fleet: containers"
    tests = {one["path"]: one for one in map(json.loads, recorded.read_text().splitlines())}
    assert tests["fleet:containers::rules::a"]["outcome"] == "passed"
    failed = tests["fleet:containers::rules::b"]
    assert failed["outcome"] == "failed" and failed["output"] == "it is late\n\n"

    monkeypatch.setenv("TESTS_AGAIN", failed["path"])
    assert rust_tests.run_program(found) is None
    assert json.loads(recorded.read_text().splitlines()[-1])["outcome"] == "passed"
