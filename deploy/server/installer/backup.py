"""Backup: settings, secrets, accounts, certificates and the database. Reader: archive.py.

Files in workshops and the engine's volumes with kept files are not in it.
"""

import contextlib
import datetime
import io
import json
import os
import pathlib
import sqlite3
import stat
import tarfile
import tempfile
import time

from . import files
from .archive import DATABASE_MEMBER, FLEET_MEMBER, FORMAT, MANIFEST, MOST_FILES, is_state, limit
from .data import DATABASE, FLEET
from .problem import Problem

# Longest wait for a locked database, in seconds.
PATIENCE = 30


def save(root, settings, path, say):
    """Writes the backup into one file, while the launcher runs."""
    root, data = pathlib.Path(root), pathlib.Path(settings.data_dir)
    path = pathlib.Path(path).absolute()
    if path.exists():
        raise Problem(f"{path} exists already. Name another file, or remove this one")
    if not path.parent.is_dir():
        raise Problem(f"the folder {path.parent} does not exist. Create it, or name another file")
    names = sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file() and not one.is_symlink())
    names = [name for name in names if is_state(name)]
    # The others are the manifest and the data.
    if len(names) > MOST_FILES - 3:
        raise Problem(f"{root} has {len(names)} files of its own, which no restore accepts. Remove old files from {root}/acme")
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            made = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            _add(archive, MANIFEST, json.dumps({"format": FORMAT, "made": made, "domain": settings.domain}).encode())
            for name in names:
                _add_file(archive, f"configuration/{name}", root / name)
            _add_data(archive, data, say)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        files.sync_folders(path.parent)
    except BaseException:
        os.unlink(temporary)
        raise


def _add_data(archive, data, say):
    if (data / FLEET).is_file():
        _add_file(archive, FLEET_MEMBER, data / FLEET)
    if not (data / DATABASE).is_file():
        say(f"warning: {data / DATABASE} does not exist: the backup has no history and no templates")
        return
    with tempfile.TemporaryDirectory(prefix="workshop-launcher-", dir=data) as work:
        copy = pathlib.Path(work, DATABASE)
        _copy_database(data / DATABASE, copy)
        _check_size(data / DATABASE, copy.stat().st_size, DATABASE_MEMBER)
        archive.add(copy, DATABASE_MEMBER, filter=_plain)


def _copy_database(source, target):
    """Copies a database that is in use, in one transaction, and checks the copy."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{source}?mode=rw", uri=True, timeout=1)) as live:
            with contextlib.closing(sqlite3.connect(target)) as copy:
                live.backup(copy, progress=_patience(source))
                if said := fault(copy):
                    raise Problem(f"{source} is damaged: {said}. Restore an earlier backup")
    except sqlite3.Error as error:
        raise Problem(f"cannot copy {source}: {error}") from None


def _patience(source):
    """Returns a callback of a copy, which raises if another program locks the database for too long."""
    end = time.monotonic() + PATIENCE

    def check(*_):
        if time.monotonic() > end:
            raise Problem(f"another program locks {source} for more than {PATIENCE} seconds. End it, and save the backup again")

    return check


def fault(database):
    """Returns a text about the damage of an open database, or an empty text."""
    said = database.execute("PRAGMA integrity_check").fetchone()[0]
    return "" if said == "ok" else said


def _add_file(archive, name, path):
    """Adds a small file. Another program may write it meanwhile, so its size counts only after it was read.

    Traefik can write to the folder of its certificates. A link that it placed there since the list of files is not followed,
    and a pipe is not waited for.
    """
    try:
        with open(path, "rb", opener=_unfollowed) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Problem(f"{path} is no regular file. Move it away, and save the backup again")
            content = file.read(limit(name) + 1)
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}. Save the backup again") from None
    _check_size(path, len(content), name)
    _add(archive, name, content)


def _unfollowed(path, flags):
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _check_size(path, size, name):
    """Raises if the restore would refuse the member `name`."""
    if size > limit(name):
        raise Problem(f"{path} has more than {limit(name)} bytes, which no restore accepts. No backup was saved")


def _add(archive, name, content):
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), files.PRIVATE
    archive.addfile(member, io.BytesIO(content))


def _plain(member):
    """Removes the user's name and number: a restore gives the files to the user who runs it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = files.PRIVATE
    return member
