"""Restores that are killed, or fail, at each step: the old or the new installation is complete, and the next command works."""

import fcntl
import itertools
import shutil

import pytest

import interruption
from installed import Trial, check_new, contents, home, rows, school  # noqa: F401


@pytest.mark.parametrize("action", ["kill", "fail", "break"])
def test_interrupted_restore_leaves_old_or_new_installation(school, action):
    trial, outcomes = Trial(school), []
    for step in itertools.count(1):
        trial.reset()
        code, told = trial.restore(action=action, step=step)
        if interruption.REPORT not in told:
            break
        assert code == -9 or "Traceback" not in told
        if code == 1 and trial.is_clean() and "Nothing was restored" in told:
            assert contents(*trial.folders) == trial.before
        repeated, text = trial.run()
        assert repeated == 0 and trial.is_clean(), text
        outcomes.append("new" if rows(school) == ["backup"] else "old")
        if outcomes[-1] == "new":
            check_new(school)
            assert "Nothing was restored" not in told and "from before that restore" not in text
        else:
            assert contents(*trial.folders) == trial.before and "of that restore's backup" not in text
            assert code == -9 or (code == 1 and "Nothing was restored" in told)
        repeated, text = trial.restore()
        assert repeated == 0, text
        check_new(school)
    assert outcomes.count("old") > 20 and outcomes.count("new") > 20
    # Only a failed attempt to create a folder that exists has no effect.
    assert action != "kill" or outcomes == sorted(outcomes, reverse=True)


@pytest.mark.parametrize("part", range(3))
def test_killed_restore_of_empty_server_can_be_repeated(school, part):
    for folder in (school.root, school.data):
        shutil.rmtree(folder)
    trial, installed = Trial(school), 0
    words = ["restore", school.work / "backup.tar.gz", "--data-dir", school.data]
    # Each part has every third step.
    for step in itertools.count(1 + part, 3):
        trial.reset()
        _, told = trial.run(*words, action="kill", step=step)
        if interruption.REPORT not in told:
            break
        code, told = trial.run(*words)
        if code == 1:
            # The files were complete already.
            assert "To replace it by the backup: --replace" in told
            installed += 1
            code, told = trial.run()
        assert code == 0 and rows(school) == ["backup"], told
    assert step > 60 and installed > 5


@pytest.fixture
def half(school):
    """A restore that was killed during the swap."""
    trial = Trial(school)
    for step in itertools.count(30, 5):
        trial.reset()
        trial.restore(action="kill", step=step)
        if (school.root / ".restore/swap.json").exists():
            return trial


@pytest.mark.parametrize(
    "command", [("backup", "other.tar.gz"), ("accounts", "class.csv"), ("restore", "backup.tar.gz")], ids=lambda words: words[0]
)
def test_every_writing_command_ends_half_restore(school, half, command):
    told = school.run(*command, code=1 if command[0] == "restore" else 2 if command[0] == "accounts" else 0)
    assert "warning: an earlier restore was interrupted: the installed files are those from before that restore" in told
    assert half.is_clean() and rows(school) == ["installed"]
    assert contents(school.root).items() <= half.before.items()


def test_old_database_gets_no_foreign_log(school):
    for end in ("-wal", "-shm"):
        (school.data / f"launcher.db{end}").unlink()
    trial = Trial(school)
    for step in itertools.count(30, 2):
        trial.reset()
        _, told = trial.restore(action="kill", step=step)
        if interruption.REPORT not in told:
            break
        if not (school.root / ".restore/swap.json").exists():
            continue
        # As of a launcher that ran meanwhile.
        for end in ("-wal", "-shm", "-journal"):
            (school.data / f"launcher.db{end}").write_text("of another database")
        code, told = trial.run()
        assert code == 0 and trial.is_clean(), told
        if "from before that restore" in told:
            assert contents(*trial.folders) == trial.before, step
    assert step > 60


def test_half_restore_is_not_undone_while_launcher_runs(school, half):
    lock = school.data / "fleet/lock"
    lock.touch(mode=0o600)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        told = school.run(code=1)
        assert "the launcher runs" in told and "setup stop" in told and not half.is_clean()
    lock.unlink()
    assert "the installed files are those from before that restore" in school.run()
    assert half.is_clean() and contents(*half.folders) == half.before
