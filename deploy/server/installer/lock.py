"""The lock of the configuration's folder: one command at a time reads the state, changes it, and stores it.

The lock is an flock on the folder itself. It leaves no file, and the kernel releases it if the command is killed.
"""

import contextlib
import fcntl
import os
import pathlib
import time

from . import files
from .problem import Problem

# Longest wait for another command, and the interval of attempts, in seconds.
PATIENCE, INTERVAL = 300, 0.2


@contextlib.contextmanager
def held(root, say):
    """Holds the lock. Waits for another command that has it. Creates the folder, and removes it if it stays empty."""
    root = pathlib.Path(root).absolute()
    handle, created = _acquire(root, say)
    try:
        yield
    finally:
        if created:
            # Fails if the command wrote files.
            with contextlib.suppress(OSError):
                root.rmdir()
        os.close(handle)


def _acquire(root, say):
    """Returns the handle of the locked folder, and True if the folder is new."""
    deadline, told = time.monotonic() + PATIENCE, False
    while True:
        handle, created = _open(root)
        if _lock(root, handle):
            return handle, created
        os.close(handle)
        if time.monotonic() > deadline:
            raise Problem(
                f"another setup command uses {root} for more than {PATIENCE} seconds. Nothing was changed. Find it with: pgrep "
                "-af setup. Wait until it ends, or end it; then run this command again"
            )
        if not told:
            say(f"waiting for another setup command that uses {root}, at most {PATIENCE} seconds")
            told = True
        time.sleep(INTERVAL)


def _open(root):
    """Returns a handle of the folder, and True if the folder is new.

    Corrects no permissions: a wrong --directory must not change a foreign folder.
    """
    created = False
    while True:
        try:
            return os.open(root, os.O_RDONLY | os.O_DIRECTORY), created
        except (FileNotFoundError, NotADirectoryError):
            if os.path.lexists(root) and not root.is_dir():
                raise Problem(f"{root} is not a folder. Move it away, and run setup again") from None
        root.mkdir(mode=files.PRIVATE_FOLDER, parents=True, exist_ok=True)
        created = True


def _lock(root, handle):
    """Locks the folder without waiting. Returns False if another command has the lock, or replaced the folder."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), os.stat(root))
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError as error:
        raise Problem(f"cannot lock {root}: {error.strerror}. Name a folder on a local disk with --directory") from None
