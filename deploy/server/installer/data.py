"""The data directory: the database, the identity of the fleet, and the launcher's lock."""

import fcntl
import pathlib

from .problem import Problem

DATABASE = "launcher.db"
# The identity of the fleet: a database of another fleet would be refused.
FLEET = "fleet/id"
# The launcher holds a lock on this file while it runs.
LOCK = "fleet/lock"


def is_used(folder):
    """True if a launcher has used this data directory. With an external database, it has only the fleet's identity."""
    return any((pathlib.Path(folder) / name).exists() for name in (DATABASE, FLEET))


def check_not_running(folder):
    """Raises while a launcher uses this data directory."""
    path = pathlib.Path(folder) / LOCK
    if not path.exists():
        return
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(
                f"the launcher runs, and uses the database in {folder}. Stop it with setup stop, or stop its "
                "container. Then run this command again"
            ) from None


def check_change(old, new):
    """Raises if the launcher would start without the data that it has in the old directory."""
    old, new = pathlib.Path(old), pathlib.Path(new)
    if old == new or not is_used(old) or (new.exists() and new.samefile(old)):
        return
    raise Problem(
        f"--data-dir is {new}, but the launcher's data is in {old}. In {new}, the launcher would start with another database, "
        "and nothing would end the running workshops. Leave --data-dir out to keep the folder. To move the data:\n"
        "1. End all workshops, in the launcher's page\n"
        "2. setup stop\n"
        f"3. mv -T {old} {new}\n"
        f"4. setup --data-dir {new}",
        code=2,
    )
