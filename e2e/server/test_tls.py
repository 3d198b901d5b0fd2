"""Certificates: given files are checked, the private authority is kept as long as it fits."""

import subprocess

import pytest

HOSTS = "launcher.example.org,*.workshops.example.net"


def certificate(folder, name, hosts=HOSTS, days=90):
    """Writes a self-signed certificate and its key."""
    names = ",".join(f"DNS:{host}" for host in hosts.split(","))
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test".split()
    subprocess.run(
        [*command, "-days", str(days), "-addext", f"subjectAltName={names}", "-keyout", f"{name}.key", "-out", f"{name}.pem"],
        cwd=folder, check=True, capture_output=True,
    )


def read(path, *words):
    return subprocess.run(["openssl", "x509", "-noout", "-in", path, *words], check=True, capture_output=True, text=True).stdout


def given(home, *words, **options):
    return home.install("--tls", "files", "--certificate", "own.pem", "--key", "own.key", *words, **options)


def test_given_certificate_is_used_and_its_successor_replaces_it(home):
    certificate(home.work, "own")
    given(home)
    first = set((home.root / "traefik/certificates").iterdir())
    assert len(first) == 2
    traefik = home.variables()["TRAEFIK_CONFIGURATION"]
    certificate(home.work, "own")
    home.run()
    second = set((home.root / "traefik/certificates").iterdir())
    # Traefik reads its routes again, and does not restart: open connections continue.
    assert len(second) == 2 and not first & second
    assert all(path.name in home.text("traefik/dynamic/edge.yaml") for path in second)
    assert home.variables()["TRAEFIK_CONFIGURATION"] == traefik


def test_second_certificate_is_for_workshops(home):
    certificate(home.work, "own", "launcher.example.org")
    certificate(home.work, "other", "*.workshops.example.net")
    assert "not valid for *.workshops.example.net" in given(home, code=1)
    given(home, "--workshops-certificate", "other.pem", "--workshops-key", "other.key")
    assert len(list((home.root / "traefik/certificates").iterdir())) == 4


@pytest.mark.parametrize(
    ("hosts", "days", "named"),
    [
        ("launcher.example.org,login.workshops.example.net", 90, "not valid for *.workshops.example.net"),
        ("other.example.org,*.workshops.example.net", 90, "not valid for launcher.example.org"),
        (HOSTS, 1, "expires within a day"),
    ],
)
def test_unusable_certificate_is_refused(home, hosts, days, named):
    certificate(home.work, "own", hosts, days)
    assert named in given(home, code=1)


def test_certificate_that_expires_soon_is_named(home):
    certificate(home.work, "own", days=7)
    assert "expires within 14 days" in given(home)


def test_key_of_another_certificate_is_refused(home):
    certificate(home.work, "own")
    certificate(home.work, "other")
    (home.work / "own.key").write_bytes((home.work / "other.key").read_bytes())
    assert "do not belong together" in given(home, code=1)
    (home.work / "own.key").write_text("no key")
    assert "do not belong together" in given(home, code=1)


def test_private_authority_signs_only_for_both_domains(home):
    home.install()
    authority, server = home.root / "private-ca/ca.pem", home.root / "private-ca/server.pem"
    for host in ("launcher.example.org", "any.workshops.example.net"):
        assert "does match" in read(server, "-checkhost", host)
    subprocess.run(["openssl", "verify", "-x509_strict", "-CAfile", authority, server], check=True, capture_output=True)
    text = read(authority, "-text")
    assert "Permitted" in text and "DNS:launcher.example.org" in text and "DNS:workshops.example.net" in text
    assert home.text("launcher/authorities.pem") == authority.read_text()


def test_private_authority_is_kept_until_domain_changes(home):
    home.install()
    before = (home.root / "private-ca/ca.pem").read_bytes()
    home.run("--help-url", "https://help.example.org")
    assert (home.root / "private-ca/ca.pem").read_bytes() == before
    home.run("--domain", "other.example.org")
    assert (home.root / "private-ca/ca.pem").read_bytes() != before
    assert "does match" in read(home.root / "private-ca/server.pem", "-checkhost", "other.example.org")


def test_expired_private_certificate_is_renewed_by_same_authority(home):
    home.install()
    authority = (home.root / "private-ca/ca.pem").read_bytes()
    certificate(home.root / "private-ca", "server", days=10)
    home.run()
    assert (home.root / "private-ca/ca.pem").read_bytes() == authority
    assert read(home.root / "private-ca/server.pem", "-checkend", str(300 * 24 * 3600))


def test_restore_uses_certificates_of_backup(home):
    certificate(home.work, "own", "launcher.example.org")
    certificate(home.work, "other", "*.workshops.example.net")
    given(home, "--workshops-certificate", "other.pem", "--workshops-key", "other.key")
    copies = {path.name: path.read_bytes() for path in (home.root / "traefik/certificates").iterdir()}
    home.run("backup", "backup.tar.gz")
    home.root.rename(home.root.with_name("away"))
    for path in home.work.glob("o*.*"):
        path.unlink()
    for words in (["restore", "backup.tar.gz", "--data-dir", home.data], []):
        told = home.run(*words)
        assert "own.pem: No such file or directory. Setup uses its copy" in told and "--workshops-certificate" in told
        assert {path.name: path.read_bytes() for path in (home.root / "traefik/certificates").iterdir()} == copies
    certificate(home.work, "new")
    told = home.run("--certificate", "new.pem", "--key", "new.key", "--workshops-certificate", "", "--workshops-key", "")
    assert "copy" not in told
    assert len(list((home.root / "traefik/certificates").iterdir())) == 2


def test_restore_without_any_certificate_says_how_to_continue(home):
    certificate(home.work, "own")
    given(home)
    for path in (home.root / "traefik/certificates").iterdir():
        path.unlink()
    home.run("backup", "backup.tar.gz")
    (home.work / "own.pem").unlink()
    told = home.run("restore", "backup.tar.gz", "--replace", code=1)
    assert "cannot read the certificate" in told and "run setup, not setup restore" in told
    certificate(home.work, "own")
    home.run()


def test_copy_does_not_replace_file_of_wrong_flag(home):
    certificate(home.work, "own")
    given(home)
    before = home.state()
    assert "cannot read the certificate" in home.run("--certificate", "missing.pem", code=1)
    assert home.state() == before


def test_expired_copy_is_refused(home):
    certificate(home.work, "own")
    given(home)
    certificate(home.work, "own", days=1)
    folder = home.root / "traefik/certificates"
    for path in folder.iterdir():
        path.write_bytes((home.work / f"own{path.suffix}").read_bytes())
    (home.work / "own.pem").unlink()
    assert "expires within a day" in home.run(code=1)
