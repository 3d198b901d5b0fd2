"""Writes files: atomically, with safe permissions, and only if something differs."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import stat
import tempfile
from typing import Optional

from .problem import Problem

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
# Bytes that are copied at once.
CHUNK = 1 << 20
# Largest file that an administrator can name, except for backups.
MOST_BYTES = 4 << 20


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder below the configuration's folder. `owner` is a user id, or None for the user who runs setup."""

    owner: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class File:
    """A file below the configuration's folder. No other user of the server can read it."""

    content: bytes
    owner: Optional[int] = None

    @property
    def digest(self):
        return hashlib.sha256(self.content).hexdigest()


class Writer:
    """Writes below one folder, and remembers the paths that it changed. Only root can give files to other users."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.changed = []

    def folder(self, name, owner=None):
        """Creates the folder, or corrects its owner and mode."""
        path = self.root / name
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise Problem(f"{path} is not a folder. Move it away, and run setup again")
        if not path.exists():
            path.mkdir(mode=PRIVATE_FOLDER, parents=True)
            self.changed.append(path)
        if self._correct(path, owner, PRIVATE_FOLDER):
            self.changed.append(path)

    def file(self, name, content, owner=None):
        """Writes the file unless it has this content, owner and mode. Returns True if it wrote."""
        path = self.root / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise Problem(f"{path} is not a regular file. Move it away, and run setup again")
        if path.exists() and path.read_bytes() == content:
            if self._correct(path, owner, PRIVATE):
                self.changed.append(path)
            return False
        replace(path, content, wanted_owner(owner))
        self.changed.append(path)
        return True

    def remove(self, name):
        """Removes the file if it exists."""
        path = self.root / name
        if path.exists():
            path.unlink()
            self.changed.append(path)

    def _correct(self, path, owner, mode):
        """Sets owner and mode. Returns True if one of them was different."""
        found, uid = path.stat(), wanted_owner(owner)
        wrong = stat.S_IMODE(found.st_mode) != mode or found.st_uid != uid
        if found.st_uid != uid:
            os.chown(path, uid, group_of(uid))
        if wrong:
            path.chmod(mode)
        return wrong


def wanted_owner(owner):
    """Returns the user id that a file gets. Only root can choose another owner than itself."""
    return owner if owner is not None and os.geteuid() == 0 else os.geteuid()


def group_of(uid):
    """Returns the group for files of this user: the group with the same number, which has no members."""
    return uid if uid != os.geteuid() else os.getegid()


def replace(path, content, uid):
    """Replaces the file atomically: after a crash, the old or the new file exists, never a part of one."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), PRIVATE)
            if uid != os.geteuid():
                os.fchown(file.fileno(), uid, group_of(uid))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_stream(path, source):
    """Writes a new private file from a stream, in parts. Never replaces a file."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(source, file, CHUNK)
        file.flush()
        os.fsync(file.fileno())


def sync_folders(*folders):
    """Makes the entries of these folders durable: without this, a power failure may undo renames."""
    for folder in folders:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def create(path, content):
    """Creates a private file outside of the configuration's folder. Never replaces a file."""
    path = pathlib.Path(path)
    if path.exists() or path.is_symlink():
        raise Problem(f"{path} exists already. Name another file, or remove this one")
    if not path.parent.is_dir():
        raise Problem(f"the folder {path.parent} does not exist. Create it, or name another file")
    replace(path, content, os.geteuid())


def read(path, what):
    """Reads a file that the administrator named."""
    try:
        with pathlib.Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Problem(f"cannot read {what} {path}: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise Problem(f"cannot read {what} {path}: it has more than {MOST_BYTES} bytes. Check the name of the file", code=2)
    return content
