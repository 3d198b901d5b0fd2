"""The data directory: a changed path."""

import pytest


@pytest.mark.parametrize("name", ["launcher.db", "fleet/id"])
def test_changed_data_directory_is_refused_until_data_is_moved(home, name):
    home.install()
    (home.data / "fleet").mkdir()
    (home.data / name).write_text("data")
    other, before = home.data.with_name("other"), home.state()
    told = home.run("--data-dir", other, code=2)
    assert f"mv -T {home.data} {other}" in told and "setup stop" in told
    assert home.state() == before and not other.exists()
    home.data.rename(other)
    home.run("--data-dir", other)
    assert home.variables()["DATA_DIR"] == str(other)


def test_unused_data_directory_can_be_changed(home):
    home.install()
    other = home.data.with_name("other")
    home.run("--data-dir", other)
    assert home.variables()["DATA_DIR"] == str(other)


def test_other_path_of_same_data_directory_is_accepted(home):
    home.install()
    (home.data / "launcher.db").write_text("data")
    other = home.data.with_name("other")
    home.data.rename(other)
    home.data.symlink_to(other)
    home.run("--data-dir", other)
    assert home.variables()["DATA_DIR"] == str(other)
