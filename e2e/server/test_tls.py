"""Certificates: given files are checked, the private authority is kept as long as it fits."""

import functools
import pathlib
import subprocess
import tempfile

import pytest

HOSTS = "launcher.example.org,*.workshops.example.net"


@functools.cache
def made(hosts, days, number):
    """Returns a self-signed certificate and its key. Other numbers give other ones."""
    names = ",".join(f"DNS:{host}" for host in hosts.split(","))
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test -keyout key -out pem".split()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "-days", str(days), "-addext", f"subjectAltName={names}"], cwd=folder, check=True, capture_output=True)
        return {end: pathlib.Path(folder, end).read_bytes() for end in ("pem", "key")}


def certificate(folder, name, hosts=HOSTS, days=90, number=1):
    for end, content in made(hosts, days, number).items():
        (folder / f"{name}.{end}").write_bytes(content)


def read(path, *words):
    return subprocess.run(["openssl", "x509", "-noout", "-in", path, *words], check=True, capture_output=True, text=True).stdout


def given(home, *words, **options):
    return home.run("--tls", "files", "--certificate", "own.pem", "--key", "own.key", *words, **options)


def copies(home):
    return {path.name: path.read_bytes() for path in (home.root / "traefik/certificates").iterdir()}


@pytest.fixture
def trial(school):
    """A school with a private authority. Returns the paths of its certificate and of the server's."""
    school.run("--tls", "private-ca")
    return school.root / "private-ca/ca.pem", school.root / "private-ca/server.pem"


@pytest.fixture
def own(school):
    """A school that has been given a certificate."""
    certificate(school.work, "own")
    given(school)
    return school


def test_given_certificate_is_used_and_its_successor_replaces_it(own):
    first, variables = copies(own), own.variables()
    certificate(own.work, "own", number=2)
    own.run()
    # Traefik reads its routes again, and does not restart: open connections continue.
    second = copies(own)
    assert len(first) == len(second) == 2 and not first.keys() & second.keys()
    assert all(name in own.text("traefik/dynamic/edge.yaml") for name in second) and not own.changed_variables(variables)


def test_unusable_certificate_is_refused_or_named(school):
    before = school.state()
    for hosts, days, named in (
        ("launcher.example.org,login.workshops.example.net", 90, "not valid for *.workshops.example.net"),
        ("other.example.org,*.workshops.example.net", 90, "not valid for launcher.example.org"),
        (HOSTS, 1, "expires within a day"),
    ):
        certificate(school.work, "own", hosts, days)
        assert named in given(school, code=1) and school.state() == before
    certificate(school.work, "own", days=7)
    assert "expires within 14 days" in given(school)
    for key in (made(HOSTS, 90, 2)["key"], b"no key"):
        (school.work / "own.key").write_bytes(key)
        assert "do not belong together" in given(school, code=1)


def test_private_authority_signs_only_for_both_domains(school, trial):
    authority, server = trial
    assert {path.name: path.stat().st_mode & 0o777 for path in authority.parent.iterdir()} == dict.fromkeys(
        ("ca.pem", "ca.key", "server.pem", "server.key"), 0o600
    )
    assert all("does match" in read(server, "-checkhost", host) for host in ("launcher.example.org", "any.workshops.example.net"))
    subprocess.run(["openssl", "verify", "-x509_strict", "-CAfile", authority, server], check=True, capture_output=True)
    text = read(authority, "-text")
    assert "Permitted" in text and "DNS:launcher.example.org" in text and "DNS:workshops.example.net" in text
    assert school.text("launcher/authorities.pem") == authority.read_text()


def test_private_authority_is_kept_until_domain_changes(school, trial):
    authority, server = trial
    before = authority.read_bytes()
    certificate(server.parent, "server", days=10)
    school.run("--help-url", "https://help.example.org")
    # The certificate would have expired soon.
    assert authority.read_bytes() == before and read(server, "-checkend", str(300 * 24 * 3600))
    school.run("--domain", "other.example.org")
    assert authority.read_bytes() != before and "does match" in read(server, "-checkhost", "other.example.org")


def test_restore_uses_both_certificates_of_backup(school):
    certificate(school.work, "own", "launcher.example.org")
    certificate(school.work, "other", "*.workshops.example.net")
    assert "not valid for *.workshops.example.net" in given(school, code=1)
    given(school, "--workshops-certificate", "other.pem", "--workshops-key", "other.key")
    before = copies(school)
    assert len(before) == 4
    school.run("backup", "backup.tar.gz")
    school.move_away(school.root)
    for path in school.work.glob("o*.*"):
        path.unlink()
    for words in (["restore", "backup.tar.gz", "--data-dir", school.data], []):
        told = school.run(*words)
        assert "own.pem: No such file or directory. Setup uses its copy" in told and "--workshops-certificate" in told
        assert copies(school) == before
    # A copy does not replace the file of a wrong flag.
    unchanged = school.state()
    assert "cannot read the certificate" in school.run("--certificate", "missing.pem", code=1)
    assert school.state() == unchanged
    certificate(school.work, "new")
    told = school.run("--certificate", "new.pem", "--key", "new.key", "--workshops-certificate", "", "--workshops-key", "")
    assert "copy" not in told and len(copies(school)) == 2


def test_restore_without_any_certificate_says_how_to_continue(own):
    for name in copies(own):
        (own.root / "traefik/certificates" / name).unlink()
    own.run("backup", "backup.tar.gz")
    (own.work / "own.pem").unlink()
    told = own.run("restore", "backup.tar.gz", "--replace", code=1)
    assert "cannot read the certificate" in told and "run setup, not setup restore" in told
    certificate(own.work, "own")
    own.run()


def test_expired_copy_is_refused(own):
    for name in copies(own):
        (own.root / "traefik/certificates" / name).write_bytes(made(HOSTS, 1, 1)[name[-3:]])
    (own.work / "own.pem").unlink()
    assert "expires within a day" in own.run(code=1)
