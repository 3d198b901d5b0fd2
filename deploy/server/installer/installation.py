"""One installation: its folder, and the steps that bring it into the wanted state."""

import dataclasses
import datetime
import os
import pathlib
import re

from . import accounts as local_accounts
from . import checks, data, files, folders, generate, kernel, login, secret, sheet, tls
from . import engine as engines
from . import settings as answers
from .problem import Problem

DIRECTORY = "/etc/workshop-launcher"


class Installation:
    """The configuration's folder, with all that setup remembers."""

    def __init__(self, root, say):
        self.root = pathlib.Path(root).absolute()
        self.say = say
        self.settings = answers.load(self.root / "settings.json")
        # The settings of the last run; the defaults at the first.
        self.stored_settings = dataclasses.replace(self.settings)
        self.secrets = secret.load(self.root / "secrets.json")
        self.accounts = local_accounts.load(self.root / "accounts.json")
        acme_env = self.root / "acme.env"
        self.acme_env = acme_env.read_bytes() if acme_env.exists() else b""
        # Passwords for the sheet that this run generated: [(address, name, password)].
        self.issued = []

    @property
    def exists(self):
        return (self.root / "settings.json").exists()

    def require(self):
        """Raises unless setup has run."""
        if not self.exists:
            raise Problem(f"there is no installation in {self.root}. Run setup first, or name its folder with --directory")

    def engine(self):
        return engines.find(self.settings.engine, self.settings.engine_socket)

    def site(self):
        path = self.root / "private-ca/ca.pem"
        private = self.settings.tls == "private-ca" and path.exists()
        return login.Site(self.settings, path.read_bytes() if private else None)

    # Steps.

    def apply(self, skipped=(), start=True, pull=False):
        """Checks everything, writes the files, starts the programs, and waits until a login works.

        What is in the wanted state already stays as it is.
        """
        answers.check(self.settings)
        if self.exists:
            data.check_change(self.stored_settings.data_dir, self.settings.data_dir)
        if not self.exists or self.stored_settings.data_dir != self.settings.data_dir:
            folders.check(self.root, self.settings.data_dir)
        for text in answers.warnings(self.settings):
            self.say(f"warning: {text}")
        engine = self.engine() if start else None
        if engine and os.geteuid() != 0 and not engine.rootless:
            raise Problem(f"run setup as root: {engine.name} runs as root, and its containers must be able to read their files")
        pairs, authority = self._certificates()
        if engine:
            self._check(engine, skipped)
        issued = self._admins()
        mount = self._socket_mount(engine)
        try:
            writer, chosen = self.write(pairs, authority, mount, engine is not None and engine.rootless)
        finally:
            # Before the start, which may fail: the next run generates no other password.
            self._print_passwords(issued)
        count = len(writer.changed)
        self.say(f"{count} files and folders changed in {self.root}" if count else f"all files in {self.root} were up to date")
        if engine and "kernel" not in skipped:
            self._prepare_kernel(engine)
        if engine:
            self.start(engine, chosen, pull)
        return engine

    def write(self, pairs, authority, mount, rootless):
        """Writes all files. Returns the writer, which knows what it changed, and the images."""
        engines.project(self.root)
        chosen = generate.images(self.root)
        writer = files.Writer(self.root)
        writer.folder(".")
        found = generate.generate(
            self.settings, self.secrets, self.accounts, pairs,
            brand=generate.brand_name(self.root), authority=authority, acme_env=self.acme_env, rootless=rootless,
        )
        found |= {name: self._kept(name, file) for name, file in generate.created().items()}
        found[".env"] = generate.environment(self.settings, chosen, found, engine_mount=mount, rootless=rootless)
        for name, folder in found.items():
            if isinstance(folder, files.Folder):
                writer.folder(name, folder.owner)
        # The routes last: they name the certificates.
        regular = {name: one for name, one in found.items() if isinstance(one, files.File)}
        for name in sorted(regular, key=lambda name: name.startswith("traefik/dynamic/")):
            writer.file(name, regular[name].content, regular[name].owner)
        for path in (self.root / "traefik/certificates").iterdir():
            if f"traefik/certificates/{path.name}" not in found:
                writer.remove(f"traefik/certificates/{path.name}")
        files.Writer(pathlib.Path(self.settings.data_dir)).folder(".")
        return writer, chosen

    def start(self, engine, chosen, pull=False):
        """Starts the programs, and waits until a login works."""
        checks.engine_socket(engine.socket)
        checks.limits(engine)
        checks.images(engine, chosen, self.say, pull)
        self._remember(engine)
        local = self.settings.login == "local"
        self.say(f"starting with {' '.join(engine.compose)}")
        if not local and "dex" in engine.containers(self.root):
            # podman-compose has no command for this.
            for words in (("stop",), ("rm", "--force")):
                engine.run(*words, engine.containers(self.root)["dex"][0])
        told = engine.run_compose(self.root, "up", "--detach", profile=engines.LOCAL_ACCOUNTS if local else "")
        # Some versions of Compose report success although they could not create a container.
        if missing := engines.services(self.settings) - set(engine.containers(self.root)):
            raise Problem(f"{' '.join(engine.compose)} did not create {', '.join(sorted(missing))}: {told[-2000:]}")
        login.wait(self.site(), self.say)
        self.say(f"a login works: {self.settings.url}/")

    def _socket_mount(self, engine):
        """Returns the mount of the engine's socket. Without an engine, setup assumes the engine's usual socket."""
        name = engine.name if engine else self.settings.engine or "docker"
        socket = engine.socket if engine else self.settings.engine_socket or engines.SOCKETS[name]
        mount = engines.socket_mount(name, socket)
        if name == "podman" and mount[0] == socket:
            self.say(
                f"warning: the launcher loses the socket {socket} when Podman's service restarts. Restart the launcher's "
                "container then; or use the socket of systemd, /run/podman/podman.sock, which does not need this"
            )
        return mount

    def _prepare_kernel(self, engine):
        """Raises kernel parameters of the server, unless this is a trial in other folders."""
        default = (pathlib.Path(DIRECTORY), answers.Settings.data_dir)
        permitted = os.geteuid() == 0 and (self.root, self.settings.data_dir) == default
        for text in kernel.prepare(permitted, engine):
            self.say(f"warning: {text}")

    def _remember(self, engine):
        """Stores the engine before it gets containers. Later commands use it, also if another engine is installed."""
        self.settings.engine, self.settings.engine_socket = engine.name, engine.socket
        files.Writer(self.root).file("settings.json", answers.dump(self.settings))

    def _certificates(self):
        """Returns the certificates that Traefik reads, and the files of the private authority."""
        if self.settings.tls == "files":
            pairs, warned = self.given_certificates()
            for text in warned:
                self.say(f"warning: {text}")
            return pairs, None
        if self.settings.tls == "private-ca":
            pair, authority = tls.private(self.settings, self.root / "private-ca")
            return [pair], authority
        return [], None

    def given_certificates(self):
        """Returns the certificates of the administrator, checked, and warnings.

        Copies of an earlier run replace missing files, as after a restore on another server. They never hide a wrong flag.
        """
        names = ("tls", "certificate", "key", "workshops_certificate", "workshops_key")
        unchanged = all(getattr(self.settings, name) == getattr(self.stored_settings, name) for name in names)
        pairs, warned = tls.given(self.settings, self.root / "traefik/certificates" if unchanged else None)
        return pairs, warned + tls.check(self.settings, pairs)

    def _check(self, engine, skipped):
        """Checks the server. DNS, memory, ports and the provider can be skipped by name."""
        found = [] if "dns" in skipped else checks.dns(self.settings)
        found += [] if "memory" in skipped else checks.memory(self.settings) + checks.disk(self.settings)
        for text in found:
            self.say(f"warning: {text}")
        states = [state for _, state, _ in engine.containers(self.root).values()]
        if "ports" not in skipped and "running" not in states:
            checks.ports(self.settings)
        if "provider" not in skipped:
            checks.provider(self.settings)

    def _admins(self):
        """With local accounts, gives each admin an account. Returns the new passwords."""
        if self.settings.login != "local":
            return []
        listed = [(address.lower(), "") for address in self.settings.admins]
        self.accounts, issued = local_accounts.add(self.accounts, listed)
        return issued

    def _print_passwords(self, issued):
        """Prints the new passwords of admins whose hashes are stored. No later run can print them."""
        kept = [(address, password) for address, name, password in issued if self.has_stored([(address, name, password)])]
        for address, password in kept:
            print(f"Password of {address}: {password}")
        if kept:
            print("Write it down: only its hash is stored.", flush=True)

    def has_stored(self, issued):
        """True if the hashes of these new passwords are stored."""
        stored = local_accounts.load(self.root / "accounts.json")
        return all(stored.get(address) == self.accounts[address] for address, _, _ in issued)

    def _kept(self, name, file):
        """Returns the existing file if there is one: the administrator may have changed it."""
        path = self.root / name
        return files.File(path.read_bytes()) if path.exists() else file

    # Accounts.

    def print_sheet(self, path=None):
        """Writes the sheet with the new passwords. Returns its path, or None without new passwords."""
        if not self.issued:
            return None
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        path = pathlib.Path(path or f"first-passwords-{stamp}.html").absolute()
        files.create(path, sheet.render(f"{self.settings.url}/", self.issued))
        return path


def acme_variables(content, path):
    """Returns the variables of the DNS provider in the form that every Compose reads in the same way."""
    lines = [line.strip() for line in content.decode(errors="replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    for number, line in enumerate(lines, 1):
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*=[^\s\"'$`#\\]+", line):
            raise Problem(
                f"{path}, line {number}: not of the form NAME=VALUE, without spaces, quotes, $ and #. For other values, put "
                f"the value into a file in {DIRECTORY}/acme, and set NAME_FILE=/acme/FILE",
                code=2,
            )
    return "".join(f"{line}\n" for line in lines).encode()
