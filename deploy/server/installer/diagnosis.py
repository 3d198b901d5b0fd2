"""`setup doctor`: checks the server and the login. One line for each check, as `launcher doctor` prints them."""

import http.client
import os
import stat

from . import checks, generate, login
from . import engine as engines
from .problem import Problem


# Another program may listen on a port, and speak another protocol.
FAULTS = (Problem, OSError, http.client.HTTPException)


def run(installation):
    """Prints the results. Returns 1 if one of them is FAIL, else 0."""
    report = Report()
    report.check("files", lambda: _permissions(installation))
    engine = report.check("engine", installation.engine, lambda found: f"{found.name} {found.version}, with {' '.join(found.compose)}")
    report.warnings("DNS", lambda: checks.dns(installation.settings))
    report.warnings("memory, disk", lambda: checks.memory(installation.settings) + checks.disk(installation.settings))
    report.warnings("certificates", lambda: _certificates(installation))
    if engine:
        report.check("engine socket", lambda: checks.engine_socket(engine.socket))
        report.check("limits", lambda: checks.limits(engine))
        report.check("images", lambda: _images(installation, engine))
        report.check("containers", lambda: _containers(installation, engine))
    site = installation.site()
    for name, look in (("readiness", site.ready), ("sign-in", site.sign_in), ("forged headers", site.forged)):
        report.check(name, lambda look=look: _asked(site, look))
    print(f"\n{report.total()}\n", flush=True)
    failed = report.failed > 0
    if engine:
        print("launcher doctor, in the launcher's container:\n", flush=True)
        words = ("exec", "-T", "launcher", "/usr/local/bin/launcher", "doctor")
        try:
            engine.run_compose(installation.root, *words, capture=False, profile=engines.LOCAL_ACCOUNTS)
        except Problem:
            failed = True
    return int(failed)


class Report:
    """Prints the line of each check, and counts."""

    def __init__(self):
        self.counts = {"ok": 0, "warn": 0, "FAIL": 0}

    @property
    def failed(self):
        return self.counts["FAIL"]

    def check(self, name, look, text=lambda _: ""):
        """Runs a check. Returns its result, or None after a fault."""
        try:
            found = look()
        except FAULTS as problem:
            self._line("FAIL", name, str(problem) or type(problem).__name__)
            return None
        self._line("ok", name, text(found))
        return found

    def warnings(self, name, look):
        """Runs a check that returns texts of warnings."""
        try:
            found = look()
        except FAULTS as problem:
            self._line("FAIL", name, str(problem) or type(problem).__name__)
            return
        for text in found:
            self._line("warn", name, text)
        if not found:
            self._line("ok", name, "")

    def _line(self, result, name, text):
        self.counts[result] += 1
        print(f"{result:<5} {name:<16} {text}".rstrip(), flush=True)

    def total(self):
        counted = ", ".join(f"{count} {result}" for result, count in self.counts.items())
        return f"{sum(self.counts.values())} checks: {counted}"


def _permissions(installation):
    """Raises if other users can read a file of the configuration."""
    for path in (installation.root, *installation.root.rglob("*")):
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        if mode & 0o077 and not path.is_symlink():
            raise Problem(f"{path} has the mode {mode:04o}: other users may read it. Run setup again")


def _images(installation, engine):
    missing = [one for one in generate.images(installation.root).values() if not engine.has_image(one)]
    if missing:
        raise Problem(f"missing: {', '.join(missing)}. Run setup again")


def _containers(installation, engine):
    found = engine.containers(installation.root)
    states = {name: found[name][1] if name in found else "missing" for name in sorted(engines.services(installation.settings))}
    down = [f"{name} ({state})" for name, state in states.items() if state != "running"]
    if down:
        compose = " ".join(engine.compose)
        raise Problem(f"not running: {', '.join(down)}. Read the log, in {installation.root}: {compose} logs. Run setup again")


def _certificates(installation):
    if installation.settings.tls != "files":
        return []
    return installation.given_certificates()[1]


def _asked(site, look):
    """Runs a check over HTTP. A certificate that only this server does not trust is no fault of the login."""
    try:
        look()
    except login.ssl.SSLCertVerificationError as error:
        if site.settings.tls == "acme" and not site.settings.acme_server:
            raise Problem(f"the certificate is not valid: {error.verify_message}") from None
        site.untrusted = True
        look()
