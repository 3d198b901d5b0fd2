"""The check of waits refuses what depends on the speed of a machine, and accepts it with a reason."""

import pytest

import waits

pytestmark = pytest.mark.scripts
# A Rust file whose last part only tests use.
WITH_TESTS = "async fn f() {\n    sleep(PAUSE).await;\n}\n\n#[cfg(test)]\nmod tests {\n    "
REFUSED = [
    ("e2e/a.py", "time.sleep(1)"),
    ("e2e/a.py", "run(command, timeout=29)"),
    ("e2e/a.py", "run(command, timeout=0.5)"),
    ("e2e/a.go", "time.Sleep(pause)"),
    ("e2e/a.mjs", "await sleep(50);"),
    ("e2e/a.sh", "sleep 1"),
    ("crates/a/tests/a.rs", "sleep(Duration::from_secs(1)).await;"),
    ("crates/a/tests/a.rs", "timeout(Duration::from_secs(29), ended).await;"),
    ("crates/a/tests/a.rs", "stream.set_read_timeout(Some(Duration::from_millis(50)));"),
    ("crates/a/src/tests.rs", "timeout_at(start + Duration::from_millis(50), ended).await;"),
]
ACCEPTED = [
    ("e2e/a.py", "run(command, timeout=30)"),
    ("e2e/a.py", "run(command, timeout=120)"),
    ("e2e/a.py", "run(command, shutdown_timeout=0.1)"),
    ("crates/a/tests/a.rs", "timeout(Duration::from_secs(30), ended).await;"),
    ("crates/a/tests/a.rs", "timeout(Duration::from_secs(120), ended).await;"),
    ("crates/a/src/a.rs", "sleep(Duration::from_secs(1)).await;"),
    ("crates/a/src/a.rs", "#[cfg(test)]\nmod tests;\n\nfn f() {\n    sleep(PAUSE);\n}"),
]


@pytest.mark.parametrize("name, line", REFUSED)
def test_wait_without_a_reason_is_refused(name, line):
    assert waits.findings(name, f"first\n{line}\n") == [f"{name}:2: {line}"]
    mark = "#" if name.endswith((".py", ".sh")) else "//"
    for reason in ("pacing: a poll loop", "simulated time"):
        assert waits.findings(name, f"first\n{line} {mark} {reason}\n") == []
    assert waits.findings(name, f"first\n{line} {mark} pacing:\n") != []


@pytest.mark.parametrize("name, text", ACCEPTED)
def test_other_waits_are_accepted(name, text):
    assert waits.findings(name, text) == []


def test_tests_at_the_end_of_a_rust_file_are_checked():
    line = "timeout(Duration::from_secs(5), waiter).await;"
    assert waits.findings("crates/a/src/a.rs", f"{WITH_TESTS}{line}\n}}\n") == [f"crates/a/src/a.rs:7: {line}"]
