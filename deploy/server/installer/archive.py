"""A backup file: its format, its limits, and its reader. Writer: backup.py."""

import contextlib
import gzip
import re
import tarfile
import zlib

from . import files, stored
from .data import DATABASE, FLEET
from .problem import Problem

FORMAT = 1
MANIFEST, SETTINGS = "manifest.json", "configuration/settings.json"
FLEET_MEMBER, DATABASE_MEMBER = f"data/{FLEET}", f"data/{DATABASE}"
# The files that setup cannot generate again.
STATE = (
    r"settings\.json", r"secrets\.json", r"accounts\.json", r"acme\.env", r"images\.env", r"launcher\.env",
    r"launcher/templates\.json", r"acme/(?!\.\.?$)[A-Za-z0-9._-]+", r"private-ca/[a-z]+\.(pem|key)",
    r"traefik/certificates/[a-z0-9-]+\.(pem|key)",
)
# Maximum bytes of the database and of each other file; maximum number of files.
MOST_DATABASE, MOST_BYTES, MOST_FILES = 4 << 30, 16 << 20, 1000
# Maximum bytes of a member's headers, and of the data after the last member. Python's reader holds all headers of a
# member in memory.
MOST_HEADER = 64 << 10
FAULTS = (OSError, tarfile.TarError, EOFError, KeyError, ValueError, zlib.error)


def is_state(name):
    return any(re.fullmatch(pattern, name) for pattern in STATE)


def limit(member):
    """Returns the largest size of a member, in bytes."""
    return MOST_DATABASE if member == DATABASE_MEMBER else MOST_BYTES


class Limited:
    """A stream that raises if its reader wants more than the next `left` bytes, and therefore would hold them in memory."""

    def __init__(self, file, error):
        self.file, self.error, self.left = file, error, MOST_HEADER

    def read(self, size):
        if not 0 <= size <= self.left:
            raise self.error
        self.left -= size
        return self.file.read(size)

    def seek(self, position):
        return self.file.seek(position)

    def tell(self):
        return self.file.tell()


class Archive:
    """An opened backup, whose members are all known. Their content stays in the file, except for small members."""

    def __init__(self, path):
        self.path = path
        # Names of all members.
        self.names = set()
        self._small = {}
        try:
            self._scan()
            content = self._small[MANIFEST]
        except FAULTS as error:
            raise self._damaged(error) from None
        manifest = stored.parse(content, f"{MANIFEST} in {path}", "Use another backup")
        if manifest.get("format") != FORMAT:
            raise Problem(f"{path} has the format {manifest.get('format')}; this version reads the format {FORMAT}")
        # The text is printed.
        self.made = re.sub(r"[^0-9T:+-]", "", str(manifest.get("made", "")))[:40]
        if SETTINGS not in self.names:
            raise Problem(f"{path} has no settings. Nothing was restored")

    @property
    def settings(self):
        return self._small[SETTINGS]

    @property
    def fleet(self):
        """The identity of the fleet, or None."""
        return self._small.get(FLEET_MEMBER)

    def extract(self, target):
        """Writes each member into the new file `target(name)`, unless this is None."""
        try:
            with self._opened() as (archive, stream):
                for member in self._members(archive, stream):
                    if path := target(member.name):
                        files.write_stream(path, archive.extractfile(member))
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise self._damaged(error) from None

    def _scan(self):
        """Reads the whole file once, for the names and for the checksum at its end."""
        with self._opened() as (archive, stream):
            for member in self._members(archive, stream):
                if member.name in self.names:
                    raise self._refused(f"{member.name!r} twice")
                if len(self.names) == MOST_FILES:
                    raise self._refused(f"more than {MOST_FILES} files")
                self.names.add(member.name)
                if member.name in (MANIFEST, SETTINGS, FLEET_MEMBER):
                    self._small[member.name] = archive.extractfile(member).read()
            stream.left = MOST_HEADER
            while stream.read(1024):
                pass

    @contextlib.contextmanager
    def _opened(self):
        with gzip.open(self.path) as file:
            stream = Limited(file, self._refused(f"a header of more than {MOST_HEADER} bytes"))
            with tarfile.open(fileobj=stream, mode="r:") as archive:
                yield archive, stream

    def _members(self, archive, stream):
        """Yields the members. Refuses those that no backup contains."""
        while True:
            stream.left = MOST_HEADER
            if not (member := archive.next()):
                return
            kind, _, rest = member.name.partition("/")
            known = member.name in (MANIFEST, FLEET_MEMBER, DATABASE_MEMBER) or (kind == "configuration" and is_state(rest))
            if not known or not member.isfile() or member.issparse():
                raise self._refused(f"{member.name!r}, which no backup contains")
            if not 0 <= member.size <= limit(member.name):
                raise self._refused(f"{member.name!r} of {member.size} bytes, of at most {limit(member.name)}")
            stream.left = member.size + files.CHUNK
            yield member

    def _refused(self, found):
        return Problem(f"{self.path} contains {found}. Nothing was restored")

    def _damaged(self, error):
        return Problem(f"{self.path} is not a backup of setup, or is damaged: {error}")
