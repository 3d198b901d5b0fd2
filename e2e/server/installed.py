"""Setup, which runs in the process of the tests, and the folders that it writes."""

import collections
import contextlib
import io
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
from unittest import mock

from installer import cli

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = ROOT / "deploy/server"
DOMAINS = "--domain launcher.example.org --workshops-domain workshops.example.net --admin ada@example.org".split()
LOCAL = [*DOMAINS, *"--login local --tls private-ca".split()]
# Certificates without a private authority, and a login without local accounts: for these, setup starts no program.
ACME = "--tls acme --acme-provider cloudflare --acme-env dns.env".split()
CLIENT = "--client-id id --client-secret-file secret --email-domain example.org".split()
GOOGLE = ["--login", "google", *CLIENT]
FLAGS = [*DOMAINS, *GOOGLE, *ACME]
HELP = "https://help.example.org"

# A file or a folder. A folder has no content.
Entry = collections.namedtuple("Entry", "inode changed mode owner content")


def state(*folders):
    """Returns everything that a program or an administrator can notice of the folders: {path: Entry}."""
    found = {}
    for path in [path for folder in folders if folder.exists() for path in (folder, *sorted(folder.rglob("*")))]:
        known = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(known.st_mode) else None
        found[path] = Entry(known.st_ino, known.st_mtime_ns, stat.S_IMODE(known.st_mode), known.st_uid, content)
    return found


def contents(*folders):
    """Returns mode, owner and content of all files and folders."""
    return {path: entry[2:] for path, entry in state(*folders).items()}


def put(found, *folders):
    """Gives the folders this state again, with its owners, modes and hard links."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    links = {}
    for path, entry in found.items():
        if entry.inode in links:
            os.link(links[entry.inode], path)
            continue
        if entry.content is None:
            path.mkdir()
        else:
            path.write_bytes(entry.content)
            links[entry.inode] = path
        path.chmod(entry.mode)
        os.chown(path, entry.owner, -1)


class Home:
    """The folders of one installation, and the command that works on them."""

    def __init__(self, place):
        self.root, self.data, self.work = (place / name for name in ("workshop-launcher", "data", "work"))
        self.work.mkdir()

    @property
    def folders(self):
        return self.root, self.data

    def words(self, *words, start=False):
        """Returns the words of a command on these folders. Without `start`, it starts nothing."""
        end = [] if start or words[:1] == ("backup",) else ["--no-start"]
        return [str(word) for word in (*words, "--directory", self.root, *end)]

    def call(self, *words, stdin="", start=False, variables=None, terminal=False, file_size=None):
        """Runs setup. `file_size`: no file can become larger, as on a full disk.

        Returns (exit code, stdout and stderr together). Other exceptions than setup's own fail the test.
        """
        told, asked = io.StringIO(), io.TextIOWrapper(io.BytesIO(stdin.encode()))
        asked.isatty = lambda: terminal
        known = {name: value for name, value in os.environ.items() if name not in ("DOCKER_HOST", "XDG_RUNTIME_DIR")}
        sizes = resource.getrlimit(resource.RLIMIT_FSIZE)
        surroundings = [contextlib.chdir(self.work), mock.patch.dict(os.environ, known | (variables or {}), clear=True)]
        surroundings += [mock.patch("sys.stdin", asked), contextlib.redirect_stdout(told), contextlib.redirect_stderr(told)]
        with contextlib.ExitStack() as stack:
            for each in surroundings:
                stack.enter_context(each)
            for number in (signal.SIGTERM, signal.SIGHUP):
                stack.callback(signal.signal, number, signal.getsignal(number))
            stack.callback(os.umask, os.umask(0o022))
            stack.callback(resource.setrlimit, resource.RLIMIT_FSIZE, sizes)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size or sizes[0], sizes[1]))
            try:
                code = cli.main(self.words(*words, start=start))
            except SystemExit as end:
                code = end.code
        return code, told.getvalue()

    def run(self, *words, code=0, **options):
        """Runs setup, which must end with this code. Returns its output."""
        ended, told = self.call(*words, **options)
        assert ended == code, told
        return told

    def process(self, *words, memory=None, **options):
        """Runs setup as a process. `memory`: the most bytes of data that it can have. Returns (exit code, stderr)."""
        limit = (lambda: resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))) if memory else None
        command, pipes = [SERVER / "setup", *self.words(*words)], {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        done = subprocess.run(command, cwd=self.work, preexec_fn=limit, timeout=300, **pipes, **options)
        return done.returncode, done.stderr

    def install(self, *words, **options):
        """Sets up local accounts and a private authority."""
        return self.run(*LOCAL, "--data-dir", self.data, *words, **options)

    def state(self):
        return state(*self.folders)

    def text(self, name):
        return (self.root / name).read_text()

    def write(self, name, text):
        (self.work / name).write_text(text)

    def write_given_files(self):
        """Writes the files that ACME and CLIENT name."""
        self.write("secret", "secret")
        self.write("dns.env", "TOKEN=1\n")

    def variables(self):
        """Returns the .env of the compose file."""
        return dict(line.split("=", 1) for line in self.text(".env").splitlines() if not line.startswith("#"))

    def changed_variables(self, before):
        return {name for name, value in self.variables().items() if before[name] != value}

    def move_away(self, *folders):
        """Makes the server empty, as a new one is; or only these folders."""
        for folder in folders or self.folders:
            folder.rename(folder.with_name(f"{folder.name}.away"))


def write_database(home, text, size=0):
    """Writes a database with a row, whose latest content is in the write-ahead log."""
    database = sqlite3.connect(home.data / "new.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE rows (text TEXT, filler BLOB)")
    database.execute("INSERT INTO rows VALUES (?, randomblob(?))", (text, size))
    for end in ("", "-wal", "-shm"):
        shutil.copyfile(home.data / f"new.db{end}", home.data / f"launcher.db{end}")
    database.close()
    (home.data / "new.db").unlink()


def rows(home):
    """Returns the rows of a copy of the database."""
    copy = home.work / "copy"
    copy.mkdir()
    for path in home.data.glob("launcher.db*"):
        shutil.copyfile(path, copy / path.name)
    with contextlib.closing(sqlite3.connect(copy / "launcher.db")) as database:
        found = [text for (text,) in database.execute("SELECT text FROM rows")]
    shutil.rmtree(copy)
    return found
