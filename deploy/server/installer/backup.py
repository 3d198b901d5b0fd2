"""Backup and restore: settings, secrets, accounts, certificates and the database. Not the files in workshops."""

import contextlib
import datetime
import io
import json
import os
import pathlib
import re
import sqlite3
import tarfile
import tempfile
import zlib

from . import files
from . import settings as answers
from .data import DATABASE, FLEET
from .problem import Problem

FORMAT = 1
# The files that setup cannot generate again.
STATE = (
    r"settings\.json", r"secrets\.json", r"accounts\.json", r"acme\.env", r"images\.env", r"launcher\.env",
    r"launcher/templates\.json", r"acme/[A-Za-z0-9._-]+", r"private-ca/[a-z]+\.(pem|key)", r"traefik/certificates/[a-z0-9-]+\.(pem|key)",
)
MOST_BYTES = 4 << 30


def save(root, settings, path, say):
    """Writes the backup into one file, while the launcher runs."""
    root, data = pathlib.Path(root), pathlib.Path(settings.data_dir)
    path = pathlib.Path(path).absolute()
    if path.exists():
        raise Problem(f"{path} exists already. Name another file, or remove this one")
    if not path.parent.is_dir():
        raise Problem(f"the folder {path.parent} does not exist. Create it, or name another file")
    names = sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file() and not one.is_symlink())
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            made = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            _add(archive, "manifest.json", json.dumps({"format": FORMAT, "made": made, "domain": settings.domain}).encode())
            for name in names:
                if _is_state(name):
                    _add(archive, f"configuration/{name}", (root / name).read_bytes())
            _add_data(archive, data, say)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _add_data(archive, data, say):
    if (data / FLEET).is_file():
        _add(archive, f"data/{FLEET}", (data / FLEET).read_bytes())
    if not (data / DATABASE).is_file():
        say(f"warning: {data / DATABASE} does not exist: the backup has no history and no templates")
        return
    with tempfile.TemporaryDirectory(prefix="workshop-launcher-", dir=data) as work:
        copy = pathlib.Path(work, DATABASE)
        _copy_database(data / DATABASE, copy)
        archive.add(copy, f"data/{DATABASE}", filter=_plain)


def _copy_database(source, target):
    """Copies a database that is in use, in one transaction, and checks the copy."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{source}?mode=rw", uri=True, timeout=30)) as live:
            with contextlib.closing(sqlite3.connect(target)) as copy:
                live.backup(copy)
                if (said := copy.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                    raise Problem(f"{source} is damaged: {said}. Restore an earlier backup")
    except sqlite3.Error as error:
        raise Problem(f"cannot copy {source}: {error}") from None


def _is_state(name):
    return any(re.fullmatch(pattern, name) for pattern in STATE)


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


class Archive:
    """An opened backup, whose members are all known."""

    def __init__(self, path):
        self.path = path
        try:
            self.members = self._read(path)
            manifest = json.loads(self.members["manifest.json"])
        except (OSError, tarfile.TarError, EOFError, KeyError, ValueError, zlib.error) as error:
            raise Problem(f"{path} is not a backup of setup, or is damaged: {error}") from None
        if manifest.get("format") != FORMAT:
            raise Problem(f"{path} has the format {manifest.get('format')}; this version reads the format {FORMAT}")
        self.made = manifest.get("made", "")
        if "configuration/settings.json" not in self.members:
            raise Problem(f"{path} has no settings. Nothing was restored")

    def _read(self, path):
        """Returns the content of all members: {name: content}. Refuses members that no backup contains."""
        found = {}
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                kind, _, rest = member.name.partition("/")
                known = member.name in ("manifest.json", f"data/{FLEET}", f"data/{DATABASE}")
                known = known or (kind == "configuration" and _is_state(rest))
                if not known or not member.isfile() or member.size > MOST_BYTES:
                    raise Problem(f"{path} contains {member.name!r}, which no backup contains. Nothing was restored")
                found[member.name] = archive.extractfile(member).read()
        return found

    def configuration(self):
        """Returns the files of the configuration's folder: {name: content}."""
        prefix = "configuration/"
        return {name[len(prefix):]: content for name, content in self.members.items() if name.startswith(prefix)}

    def fleet(self):
        return self.members.get(f"data/{FLEET}")


def check_target(root, archive, data, replace):
    """Raises if the restore would destroy something that the administrator did not name."""
    root, data = pathlib.Path(root), pathlib.Path(data)
    if not replace and (present := [str(path) for path in (root / "settings.json", data / DATABASE) if path.exists()]):
        raise Problem(
            f"this server has an installation already ({', '.join(present)}). To replace it by the backup: --replace. "
            "Workshops that were launched after the backup are then deleted"
        )
    fleet, workshops = data / FLEET, data / "fleet/workshops"
    other = fleet.is_file() and fleet.read_bytes() != archive.fleet()
    if other and workshops.is_dir() and any(workshops.iterdir()):
        raise Problem(
            f"the workshops in {workshops} belong to another installation than the backup. End them in their launcher, or "
            "restore on another server"
        )


def restore(root, archive, settings):
    """Writes the files of the backup, with these settings. The launcher must not run."""
    root, data = pathlib.Path(root), pathlib.Path(settings.data_dir)
    for folder in (root, data):
        files.Writer(folder).folder(".")
    writer = files.Writer(root)
    for name in [name for name in _files_below(root) if _is_state(name)]:
        writer.remove(name)
    for name, content in (archive.configuration() | {"settings.json": answers.dump(settings)}).items():
        for parent in reversed(pathlib.PurePath(name).parents[:-1]):
            writer.folder(parent)
        writer.file(name, content)
    writer = files.Writer(data)
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        writer.remove(name)
    for name in (DATABASE, FLEET):
        if f"data/{name}" in archive.members:
            writer.folder(pathlib.PurePath(name).parent)
            writer.file(name, archive.members[f"data/{name}"])


def _files_below(root):
    return [str(one.relative_to(root)) for one in root.rglob("*") if one.is_file()]
