"""Certificates: given files, checked; or a private authority for a trial. With ACME, Traefik gets them itself."""

import dataclasses
import hashlib
import pathlib
import re
import secrets
import ssl
import subprocess
import tempfile

from . import files
from .problem import Problem, Problems

DAY = 24 * 3600
# A private certificate is renewed when it has this time left; browsers accept at most 398 days.
RENEW_DAYS, VALID_DAYS, AUTHORITY_DAYS = 30, 397, 3650
WARN_DAYS = 14

AUTHORITY = """[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = Workshop launcher, private authority for a trial
[extensions]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
# The authority can sign for these two domains only, even if its key is stolen.
nameConstraints = critical, permitted;DNS:{host}, permitted;DNS:{workshops}
"""

CERTIFICATE = """[req]
distinguished_name = name
prompt = no
[name]
CN = Workshop launcher
[extensions]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:{host}, DNS:*.{workshops}
"""


@dataclasses.dataclass(frozen=True)
class Pair:
    """A certificate with its chain, and its key, both in PEM."""

    name: str
    certificate: bytes
    key: bytes

    @property
    def file_name(self):
        """Depends on the content: Traefik reads a certificate again only if its configuration changes."""
        return f"{self.name}-{hashlib.sha256(self.certificate + self.key).hexdigest()[:16]}"


def given(settings, copies=None):
    """Returns the given certificates, one or two, without checking their content; and warnings.

    `copies`: folder with the copies of an earlier run. They replace files that do not exist any more.
    """
    names = [("launcher", settings.certificate, settings.key)]
    if settings.workshops_certificate:
        names.append(("workshops", settings.workshops_certificate, settings.workshops_key))
    pairs, warned = [], []
    for name, certificate, key in names:
        try:
            pair = Pair(name, files.read(certificate, "the certificate"), files.read(key, "the key of the certificate"))
        except Problem as problem:
            pair = _copy(copies, name) if copies else None
            if not pair:
                raise
            flag = "" if name == "launcher" else "workshops-"
            warned.append(
                f"{problem}. Setup uses its copy in {copies}, which nothing renews. Name the new files: --{flag}certificate, "
                f"--{flag}key"
            )
        pairs.append(pair)
    return pairs, warned


def _copy(folder, name):
    """Returns the latest copy of a certificate, or None."""
    found = [path for path in folder.glob(f"{name}-*.pem") if path.with_suffix(".key").exists()]
    if not found:
        return None
    latest = max(found, key=lambda path: path.stat().st_mtime_ns)
    return Pair(name, latest.read_bytes(), latest.with_suffix(".key").read_bytes())


def check(settings, pairs):
    """Raises one error that lists all faults of the certificates. Returns warnings."""
    found, warned = [], []
    needed = {settings.domain: pairs[0], settings.login_host: pairs[-1], f"any.{settings.workshops_domain}": pairs[-1]}
    paths = {"launcher": settings.certificate, "workshops": settings.workshops_certificate}
    for pair in pairs:
        path = paths[pair.name]
        if not _key_fits(pair):
            found.append(f"{path}: the certificate and the key do not belong together, or one of them is not PEM")
            continue
        if not _is_valid_for(pair.certificate, DAY):
            found.append(f"{path} has expired, or expires within a day. Renew it")
        elif not _is_valid_for(pair.certificate, WARN_DAYS * DAY):
            warned.append(f"{path} expires within {WARN_DAYS} days. Renew it, and run setup again")
        for host, other in needed.items():
            if other is pair and not _has_name(pair.certificate, host):
                wanted = host if host == settings.domain else f"*.{settings.workshops_domain}"
                found.append(f"{path} is not valid for {wanted}")
    if found:
        raise Problems("the certificates cannot be used:", list(dict.fromkeys(found)))
    return warned


def private(settings, folder):
    """Returns the private authority's certificate, and the files of the authority: {name: content}.

    Keeps the existing ones in `folder` as long as they are valid for the two domains.
    """
    folder = pathlib.Path(folder)
    names = ("ca.pem", "ca.key", "server.pem", "server.key")
    found = {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    with tempfile.TemporaryDirectory(prefix="workshop-launcher-") as work:
        if not _authority_fits(settings, found):
            found = _new_authority(settings, pathlib.Path(work))
        if not _server_fits(settings, found):
            found = _new_certificate(settings, pathlib.Path(work), found)
    return Pair("launcher", found["server.pem"], found["server.key"]), found


def _authority_fits(settings, found):
    if not {"ca.pem", "ca.key"} <= set(found) or not _is_valid_for(found["ca.pem"], VALID_DAYS * DAY):
        return False
    text = _openssl("x509", "-noout", "-text", stdin=found["ca.pem"])
    permitted = re.findall(r"^\s+DNS:(\S+)$", text, re.MULTILINE)
    return permitted == [settings.domain, settings.workshops_domain]


def _server_fits(settings, found):
    if not {"server.pem", "server.key"} <= set(found) or not _is_valid_for(found["server.pem"], RENEW_DAYS * DAY):
        return False
    return all(_has_name(found["server.pem"], host) for host in (settings.domain, settings.login_host))


def _new_authority(settings, work):
    names = {"host": settings.domain, "workshops": settings.workshops_domain}
    (work / "ca.cnf").write_text(AUTHORITY.format(**names))
    _openssl(
        *"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256".split(), "-days", AUTHORITY_DAYS,
        "-config", work / "ca.cnf", "-keyout", work / "ca.key", "-out", work / "ca.pem",
    )
    return {name: (work / name).read_bytes() for name in ("ca.pem", "ca.key")}


def _new_certificate(settings, work, authority):
    names = {"host": settings.domain, "workshops": settings.workshops_domain}
    (work / "server.cnf").write_text(CERTIFICATE.format(**names))
    for name in ("ca.pem", "ca.key"):
        files.replace(work / name, authority[name], files.wanted_owner(None))
    _openssl(
        *"req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256".split(),
        "-config", work / "server.cnf", "-keyout", work / "server.key", "-out", work / "server.csr",
    )
    _openssl(
        *"x509 -req -sha256 -extensions extensions".split(), "-days", VALID_DAYS, "-in", work / "server.csr",
        "-CA", work / "ca.pem", "-CAkey", work / "ca.key", "-set_serial", f"0x{secrets.token_hex(16)}",
        "-extfile", work / "server.cnf", "-out", work / "server.pem",
    )
    made = {name: (work / name).read_bytes() for name in ("server.pem", "server.key")}
    return {name: authority[name] for name in ("ca.pem", "ca.key")} | made


def _key_fits(pair):
    """True if the key belongs to the certificate."""
    with tempfile.TemporaryDirectory(prefix="workshop-launcher-") as work:
        paths = [pathlib.Path(work, name) for name in ("certificate", "key")]
        for path, content in zip(paths, (pair.certificate, pair.key)):
            files.replace(path, content, files.wanted_owner(None))
        try:
            # An empty password, so that a key with a password is refused instead of asking for it.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*paths, password="")
        except (ssl.SSLError, OSError):
            return False
    return True


def _is_valid_for(certificate, seconds):
    """True if the certificate is still valid after this time."""
    return "will not expire" in _openssl("x509", "-noout", "-checkend", int(seconds), stdin=certificate, check=False)


def _has_name(certificate, host):
    return "does match" in _openssl("x509", "-noout", "-checkhost", host, stdin=certificate, check=False)


def _openssl(*words, stdin=None, check=True):
    """Runs openssl, and returns its output."""
    try:
        done = subprocess.run(["openssl", *map(str, words)], input=stdin, capture_output=True, timeout=60)
    except FileNotFoundError:
        raise Problem("the command openssl is missing. On Debian or Ubuntu: apt-get install openssl") from None
    if check and done.returncode != 0:
        raise Problem(f"openssl {words[0]} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")
