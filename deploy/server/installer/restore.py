"""Restore: stages a backup beside the installed files, and swaps both by renames. The launcher must not run meanwhile.

An interrupted restore leaves a folder WORK in the configuration's folder and in the data directory:

    .restore/data-dir           path of the data directory. Nothing is staged before this file exists
    .restore/PART/new/          staged files: complete before the swap begins
    .restore/PART/old/          hard links to the installed files: complete before the swap begins
    .restore/swap.json          exists during the swap: the names of the old and the new files

The rename of the last staged file ends the swap. Before it, recover() returns to the old files; after it, only the
old files are deleted.
"""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3

from . import accounts as local_accounts
from . import backup, data, files, secret
from . import settings as answers
from .archive import is_state
from .data import DATABASE, FLEET
from .problem import Problem

WORK, DATA_DIR, SWAP = ".restore", "data-dir", "swap.json"
# The parts of an installation, as in the names of a backup.
DATA, CONFIGURATION = "data", "configuration"
# Files of SQLite that belong to the database. They would damage another database.
DATABASE_FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal")
INTERRUPTED, START = "an earlier restore was interrupted: the installed files are", "If the launcher does not run, start it with: setup"
# The last file of the swap.
SETTINGS = "settings.json"


class Part:
    """One of the two folders of an installation, with its staged files and the links to its old files."""

    def __init__(self, name, folder, old=(), new=()):
        # Files that must not remain beside the old ones, although the backup does not have them.
        self.foreign = DATABASE_FILES if name == DATA else ()
        self.folder = pathlib.Path(folder)
        self.work = self.folder / WORK / name
        self.old, self.new = list(old), list(new)

    def staged(self, name):
        return self.work / "new" / name

    def saved(self, name):
        return self.work / "old" / name

    def create(self):
        """Creates folders for the files, staged and in place. Raises if a file could not get its place."""
        _remove(self.work)
        self.work.mkdir(parents=True)
        writer = files.Writer(self.folder)
        for name in self.new:
            self.staged(name).parent.mkdir(parents=True, exist_ok=True)
            for parent in reversed(pathlib.PurePath(name).parents[:-1]):
                writer.folder(parent)
            if (self.folder / name).is_dir():
                raise Problem(f"{self.folder / name} is a folder. Move it away, and run setup restore again")

    def save(self, names):
        """Links the old files, so that undo() finds them."""
        self.old = [name for name in sorted({*names, *self.new}) if os.path.lexists(self.folder / name)]
        for name in self.old:
            self.saved(name).parent.mkdir(parents=True, exist_ok=True)
            os.link(self.folder / name, self.saved(name), follow_symlinks=False)

    def swap(self):
        for name in self.old:
            if name not in self.new:
                (self.folder / name).unlink()
        for name in self.new:
            os.replace(self.staged(name), self.folder / name)

    def undo(self):
        """Returns to the old files. A repetition has no effect."""
        for name in {*self.new, *self.foreign} - set(self.old):
            (self.folder / name).unlink(missing_ok=True)
        for name in self.old:
            if os.path.lexists(self.saved(name)):
                os.replace(self.saved(name), self.folder / name)

    def is_swapped(self):
        return not any(os.path.lexists(self.staged(name)) for name in self.new)

    def sync(self):
        """Makes all renames and links durable."""
        parents = {(self.folder / name).parent for name in (*self.old, *self.new)}
        below = [path for path in self.work.rglob("*") if path.is_dir()]
        files.sync_folders(self.folder, self.work.parent, self.work, *below, *(path for path in parents if path.is_dir()))


class Restore:
    """A backup on its way into an installation: first stage(), then swap()."""

    def __init__(self, root, archive, settings):
        self.root, self.archive, self.settings = pathlib.Path(root), archive, settings
        names = {CONFIGURATION: [], DATA: []}
        for member in sorted(archive.names):
            kind, _, name = member.partition("/")
            names.get(kind, []).append(name)
        # The settings last.
        names[CONFIGURATION].sort(key=lambda name: name == SETTINGS)
        folders = {DATA: settings.data_dir, CONFIGURATION: self.root}
        self.parts = {kind: Part(kind, folder, new=names[kind]) for kind, folder in folders.items()}

    def stage(self):
        """Writes the backup beside the installed files, and verifies it."""
        for part in self.parts.values():
            files.Writer(part.folder).folder(".")
        _write(self.root / WORK / DATA_DIR, str(self.parts[DATA].folder).encode())
        for part in self.parts.values():
            part.create()
        self.archive.extract(self._target)
        _write(self.parts[CONFIGURATION].staged(SETTINGS), answers.dump(self.settings))
        self._verify()

    def swap(self):
        """Replaces the installed files by the staged ones. Raises while the launcher runs."""
        configuration, database = self.parts[CONFIGURATION], self.parts[DATA]
        data.check_not_running(database.folder)
        configuration.save([name for name in _files_below(self.root) if is_state(name)])
        # The fleet's identity is not among them: it stays if the backup has none.
        database.save(DATABASE_FILES)
        for part in self.parts.values():
            part.sync()
        names = {kind: {"old": part.old, "new": part.new} for kind, part in self.parts.items()}
        _write(self.root / WORK / SWAP, json.dumps(names).encode())
        for part in self.parts.values():
            part.swap()
            part.sync()

    def _target(self, member):
        kind, _, name = member.partition("/")
        return self.parts[kind].staged(name) if kind in self.parts else None

    def _verify(self):
        """Raises if setup or the launcher could not use the staged files."""
        configuration, database = self.parts[CONFIGURATION], self.parts[DATA]
        try:
            secret.load(configuration.staged("secrets.json"))
            local_accounts.load(configuration.staged("accounts.json"))
            if DATABASE in database.new and (said := _database_fault(database.staged(DATABASE))):
                raise Problem(f"the database: {said}")
            if missing := [name for part in self.parts.values() for name in part.new if not part.staged(name).is_file()]:
                raise Problem(f"{', '.join(missing)} is missing")
        except Problem as problem:
            raise Problem(f"{self.archive.path} is damaged: {problem}. Nothing was restored") from None


@contextlib.contextmanager
def staged(root, archive, settings):
    """Stages the backup, and yields its swap(). Afterwards either the old or the new files are complete."""
    restore = Restore(root, archive, settings)
    try:
        restore.stage()
        yield restore.swap
    except OSError as error:
        raise Problem(
            f"{error.filename or 'cannot write a file'}: {error.strerror or error}. Nothing was restored. Correct the fault, "
            "and run setup restore again"
        ) from None
    finally:
        # After a fault here, the next command recovers. The first error is the one to show.
        with contextlib.suppress(OSError, Problem):
            recover(root)


def recover(root):
    """Completes or undoes a restore that was interrupted. Returns a text about its result, or an empty text."""
    root = pathlib.Path(root).absolute()
    work, result = root / WORK, ""
    if not work.exists():
        return result
    folders = {DATA: root, CONFIGURATION: root}
    if (work / DATA_DIR).exists():
        folders[DATA] = pathlib.Path((work / DATA_DIR).read_text(encoding="utf-8"))
        result = f"{INTERRUPTED} those from before that restore. {START}"
    if (work / SWAP).exists():
        names = json.loads((work / SWAP).read_text(encoding="utf-8"))
        parts = [Part(kind, folder, **names[kind]) for kind, folder in folders.items()]
        if all(part.is_swapped() for part in parts):
            result = f"{INTERRUPTED} those of that restore's backup. {START}"
        else:
            _undo(parts, work)
    _clean(work, folders)
    return result


def _clean(work, folders):
    """Deletes the folders of a restore. The order keeps the meaning of the rest if this is interrupted."""
    _remove(folders[DATA] / WORK)
    _remove(work / CONFIGURATION)
    for name in (DATA_DIR, SWAP):
        (work / name).unlink(missing_ok=True)
    _remove(work)


def _undo(parts, work):
    data.check_not_running(parts[0].folder)
    for part in parts:
        part.undo()
        part.sync()
    (work / SWAP).unlink()
    files.sync_folders(work)


def check_target(root, archive, folder, replace):
    """Raises if the restore would destroy something that the administrator did not name."""
    root, folder = pathlib.Path(root), pathlib.Path(folder)
    if not replace and (present := [str(path) for path in (root / SETTINGS, folder / DATABASE) if path.exists()]):
        raise Problem(
            f"this server has an installation already ({', '.join(present)}). To replace it by the backup: --replace. "
            "Workshops that were launched after the backup are then deleted"
        )
    fleet, workshops = folder / FLEET, folder / "fleet/workshops"
    other = fleet.is_file() and fleet.read_bytes() != archive.fleet
    if other and workshops.is_dir() and any(workshops.iterdir()):
        raise Problem(
            f"the workshops in {workshops} belong to another installation than the backup. End them in their launcher, or "
            "restore on another server"
        )


def _database_fault(path):
    """Returns a text about the damage of a staged database, or an empty text. Writes no file beside it."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
            return backup.fault(database)
    except sqlite3.Error as error:
        return str(error)


def _files_below(root):
    return [str(one.relative_to(root)) for one in root.rglob("*") if one.is_file()]


def _write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    files.replace(path, content, os.geteuid())
    files.sync_folders(path.parent)


def _remove(folder):
    if folder.exists():
        shutil.rmtree(folder)
