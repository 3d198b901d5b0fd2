"""A backup file: its format, its limits, and its reader. Writer: backup.py."""

import json
import re
import tarfile
import zlib

from . import files
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
# Largest database, and largest other file, in bytes; most files.
MOST_DATABASE, MOST_BYTES, MOST_FILES = 4 << 30, 16 << 20, 1000


def is_state(name):
    return any(re.fullmatch(pattern, name) for pattern in STATE)


def limit(member):
    """Returns the largest size of a member, in bytes."""
    return MOST_DATABASE if member == DATABASE_MEMBER else MOST_BYTES


class Archive:
    """An opened backup, whose members are all known. Their content stays in the file, except for small members."""

    def __init__(self, path):
        self.path = path
        # Names of all members.
        self.names = set()
        self._small = {}
        try:
            self._scan()
            manifest = json.loads(self._small[MANIFEST])
        except (OSError, tarfile.TarError, EOFError, KeyError, ValueError, zlib.error) as error:
            raise self._damaged(error) from None
        if manifest.get("format") != FORMAT:
            raise Problem(f"{path} has the format {manifest.get('format')}; this version reads the format {FORMAT}")
        self.made = manifest.get("made", "")
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
            with tarfile.open(self.path, "r:gz") as archive:
                for member in self._members(archive):
                    if path := target(member.name):
                        files.write_stream(path, archive.extractfile(member))
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise self._damaged(error) from None

    def _scan(self):
        """Reads the whole file once, for the names and for the checksum at its end."""
        with tarfile.open(self.path, "r:gz") as archive:
            for member in self._members(archive):
                if member.name in self.names:
                    raise self._refused(f"{member.name!r} twice")
                if len(self.names) == MOST_FILES:
                    raise self._refused(f"more than {MOST_FILES} files")
                self.names.add(member.name)
                if member.name in (MANIFEST, SETTINGS, FLEET_MEMBER):
                    self._small[member.name] = archive.extractfile(member).read()
            while archive.fileobj.read(files.CHUNK):
                pass

    def _members(self, archive):
        """Yields the members. Refuses those that no backup contains."""
        for member in archive:
            kind, _, rest = member.name.partition("/")
            known = member.name in (MANIFEST, FLEET_MEMBER, DATABASE_MEMBER) or (kind == "configuration" and is_state(rest))
            if not known or not member.isfile():
                raise self._refused(f"{member.name!r}, which no backup contains")
            if member.size > limit(member.name):
                raise self._refused(f"{member.name!r} of {member.size} bytes, of at most {limit(member.name)}")
            yield member

    def _refused(self, found):
        return Problem(f"{self.path} contains {found}. Nothing was restored")

    def _damaged(self, error):
        return Problem(f"{self.path} is not a backup of setup, or is damaged: {error}")
