"""`setup` without starting anything: files, permissions, repeated runs, wrong flags, questions."""

import json
import os
import pty
import re
import resource
import stat
import subprocess
import tomllib

import pytest
import yaml

from conftest import LOCAL, SERVER


def test_files_are_private(home):
    home.install()
    for path in (home.root, home.data, *home.root.rglob("*")):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path
    if os.geteuid() == 0:
        strangers = {path.relative_to(home.root).parts[0] for path in home.root.rglob("*") if path.stat().st_uid != 0}
        assert strangers == {"login", "workshops-login", "dex"}


def test_second_run_changes_nothing(home):
    home.install()
    before = home.state()
    assert "all files" in home.run()
    assert "all files" in home.install()
    assert home.state() == before


def test_permissions_and_content_are_corrected(home):
    home.install()
    before = {name: one[2:] for name, one in home.state().items()}
    (home.root / "secrets.json").chmod(0o644)
    (home.root / "login").chmod(0o755)
    (home.root / "traefik/traefik.yaml").write_text("changed")
    assert "3 files and folders changed" in home.run()
    assert {name: one[2:] for name, one in home.state().items()} == before


def test_change_of_one_setting_changes_only_its_files(home):
    home.install()
    before = home.state()
    home.run("--help-url", "mailto:help@example.org")
    after = home.state()
    assert {name for name in after if after[name] != before[name]} == {".env", "settings.json"}
    # No program except the launcher gets other variables.
    changed = {name for name, value in home.variables().items() if f"{name}={value}" not in before[".env"][4].decode()}
    assert changed == {"HELP_URL"}


def test_changed_accounts_replace_only_dex(home):
    home.install()
    before = home.variables()
    home.run("accounts", "-", stdin="email\nbob@example.org\n")
    after = home.variables()
    assert {name for name in after if after[name] != before[name]} == {"DEX_CONFIGURATION"}


def test_files_of_administrator_are_kept(home):
    home.install()
    (home.root / "launcher.env").write_text("SERVICE_MAX_INSTANCES_PER_USER=1\n")
    (home.root / "launcher/templates.json").write_text("[]\n")
    before = home.variables()
    home.run()
    assert home.text("launcher.env") == "SERVICE_MAX_INSTANCES_PER_USER=1\n"
    assert home.text("launcher/templates.json") == "[]\n"
    # The launcher reads its seed templates only at its start.
    assert home.variables()["LAUNCHER_CONFIGURATION"] != before["LAUNCHER_CONFIGURATION"]


def test_own_images_have_precedence(home):
    home.install()
    (home.root / "images.env").write_text("# a mirror\nTRAEFIK_IMAGE=registry.example.org/traefik:v3\n")
    home.run()
    assert home.variables()["TRAEFIK_IMAGE"] == "registry.example.org/traefik:v3"
    (home.root / "images.env").write_text("NGINX_IMAGE=nginx\n")
    assert "NGINX_IMAGE" in home.run(code=1)


def test_secrets_are_generated_once_and_differ(home):
    home.install()
    secrets = json.loads(home.text("secrets.json"))
    generated = [value for value in secrets.values() if value]
    assert len(set(generated)) == len(generated) == 5
    assert all(len(value) >= 44 for value in generated)
    home.run("--domain", "other.example.org")
    assert json.loads(home.text("secrets.json")) == secrets


def test_output_contains_no_secret_except_first_password(home):
    told = home.install()
    assert not [value for value in json.loads(home.text("secrets.json")).values() if value and value in told]
    assert len(re.findall(r"^Password of ada@example.org: \S{19}$", told, re.MULTILINE)) == 1
    assert "Password" not in home.run()


def test_failed_write_leaves_old_file_and_next_run_completes(home):
    home.install()
    before = {name: one[4] for name, one in home.state().items()}
    # As on a full disk, no file longer than 2,000 bytes can be written: the routes cannot, the settings can.
    words = [SERVER / "setup", "--directory", home.root, "--no-start", "--domain", "other.example.org"]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    assert done.returncode == 1 and "File too large" in done.stderr and "Traceback" not in done.stderr
    after = {name: one[4] for name, one in home.state().items()}
    assert after["traefik/dynamic/edge.yaml"] == before["traefik/dynamic/edge.yaml"]
    assert not [name for name in after if name not in before and not name.startswith("traefik/certificates/")]
    home.run("--domain", "other.example.org")
    assert "other.example.org" in home.text("traefik/dynamic/edge.yaml")
    assert home.variables()["PUBLIC_URL"] == "https://other.example.org"


def test_symbolic_link_is_not_followed(home):
    home.install()
    target = home.work / "target"
    target.write_text("untouched")
    (home.root / "secrets.json").unlink()
    (home.root / "secrets.json").symlink_to(target)
    assert "not a regular file" in home.run(code=1) or "cannot read" in home.run(code=1)
    assert target.read_text() == "untouched"


PROVIDERS = {
    "google": ["--client-id", "id", "--client-secret-file", "secret", "--email-domain", "example.org"],
    "github": [
        "--client-id", "id", "--client-secret-file", "secret", "--workshops-client-id", "second",
        "--workshops-client-secret-file", "secret", "--email-domain", "*", "--github-org", "school", "--github-team", "class",
    ],
    "oidc": [
        "--client-id", "id", "--client-secret-file", "secret", "--issuer", "https://accounts.example.org",
        "--email-domain", "example.org",
    ],
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_provider_is_configured(home, provider):
    (home.work / "secret").write_text('se"cret$1\n')
    home.install("--login", provider, *PROVIDERS[provider])
    found = [tomllib.loads(home.text(f"{name}/oauth2-proxy.cfg")) for name in ("login", "workshops-login")]
    assert [one["provider"] for one in found] == [provider] * 2
    assert [one["client_secret"] for one in found] == ['se"cret$1'] * 2
    assert [one["client_id"] for one in found] == ["id", "second" if provider == "github" else "id"]
    assert home.variables()["COMPOSE_PROFILES"] == ""
    assert "/dex" not in home.text("traefik/dynamic/edge.yaml")
    if provider == "github":
        assert (found[0]["github_org"], found[0]["github_team"]) == ("school", "class")


def test_port_is_part_of_addresses(home):
    home.install("--https-port", "8443", "--http-port", "8080")
    login = tomllib.loads(home.text("login/oauth2-proxy.cfg"))
    assert login["redirect_url"] == "https://launcher.example.org:8443/oauth2/callback"
    assert home.variables()["PUBLIC_URL"] == "https://launcher.example.org:8443"
    assert "workshops.example.net%3A8443" in home.variables()["LOGOUT_URL"]


def test_acme_gets_one_certificate_for_each_domain(home):
    (home.work / "dns.env").write_text("# Cloudflare\nCF_DNS_API_TOKEN=abc_123-x\n")
    home.install("--tls", "acme", "--acme-provider", "cloudflare", "--acme-env", "dns.env")
    traefik = yaml.safe_load(home.text("traefik/traefik.yaml"))
    resolver = traefik["certificatesResolvers"]["acme"]["acme"]
    assert resolver["dnsChallenge"] == {"provider": "cloudflare"}
    tls = traefik["entryPoints"]["websecure"]["http"]["tls"]
    assert tls["domains"] == [{"main": "launcher.example.org"}, {"main": "*.workshops.example.net"}]
    assert home.text("acme.env") == "CF_DNS_API_TOKEN=abc_123-x\n"
    before = home.state()
    home.run()
    assert home.state() == before


BAD_FLAGS = [
    (["--domain", "launcher"], "--domain"),
    (["--domain", "Launcher.example.org"], "lower case"),
    (["--domain", "192.0.2.1"], "--domain"),
    (["--domain", "a.workshops.example.net"], "must not lie in"),
    (["--workshops-domain", "launcher.example.org"], "must not lie in"),
    (["--workshops-domain", "work shops.example.net"], "--workshops-domain"),
    (["--admin", "ada"], "--admin ada"),
    (["--admin", "ada@example.org$HOME"], "--admin"),
    (["--login", "ldap"], "--login"),
    (["--login", "google", "--client-id", "id", "--email-domain", "example.org"], "--client-secret-file"),
    (["--login", "github", "--client-id", "id", "--email-domain", "*"], "--workshops-client-id"),
    (["--login", "oidc", "--client-id", "id", "--email-domain", "example.org"], "--issuer"),
    (["--login", "oidc", "--client-id", "id", "--issuer", "https://a.example.org"], "--email-domain"),
    (["--login", "oidc", "--client-id", "i d", "--issuer", "https://a.example.org", "--email-domain", "*"], "--client-id"),
    (["--tls", "self-signed"], "--tls"),
    (["--tls", "files"], "--certificate"),
    (["--tls", "files", "--certificate", "missing.pem", "--key", "missing.key"], "missing.pem"),
    (["--tls", "acme"], "--acme-provider"),
    (["--tls", "acme", "--acme-provider", "cloudflare"], "--acme-env"),
    (["--help-url", "help"], "--help-url"),
    (["--engine", "lxc"], "--engine"),
    (["--data-dir", "data"], "--data-dir"),
    (["--data-dir", "/var/../etc"], "--data-dir"),
    (["--https-port", "0"], "--https-port"),
    (["--https-port", "8701"], "must differ"),
    (["--local-port", "65534"], "--local-port"),
    (["--client-secret-file", "missing"], "missing"),
    (["--unknown"], "--unknown"),
    (["--dom", "launcher.example.org"], "--dom"),
    (["start"], "unknown command"),
]


@pytest.mark.parametrize(("flags", "named"), BAD_FLAGS, ids=[" ".join(flags) for flags, _ in BAD_FLAGS])
def test_wrong_flag_is_refused_and_writes_nothing(home, flags, named):
    words = flags if flags == ["start"] else [*LOCAL, "--data-dir", home.data, *flags]
    done = subprocess.run(
        [SERVER / "setup", *([] if flags == ["start"] else ["--directory", home.root, "--no-start"]), *map(str, words)],
        cwd=home.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert not home.root.exists() or not list(home.root.iterdir())


def test_all_missing_settings_are_named_together(home):
    told = home.run(code=2)
    assert re.findall(r"^- (--[a-z-]+)", told, re.MULTILINE) == ["--domain", "--workshops-domain", "--admin", "--login", "--tls"]


@pytest.mark.parametrize("line", ["TOKEN", "TOKEN=a b", "TOKEN='a'", "TOKEN=$a", "token=a", "TOKEN="])
def test_variables_that_compose_would_change_are_refused(home, line):
    (home.work / "dns.env").write_text(f"{line}\n")
    told = home.install("--tls", "acme", "--acme-provider", "cloudflare", "--acme-env", "dns.env", code=2)
    assert "dns.env, line 1" in told


@pytest.mark.parametrize(
    ("host", "workshops", "warned"),
    [
        ("launcher.example.org", "workshops.example.org", True),
        ("launcher.example.org", "workshops.launcher.example.org", True),
        ("launcher.school.ac.uk", "workshops.school.ac.uk", True),
        ("launcher.example.org", "workshops.example.net", False),
        ("launcher.school.ac.uk", "workshops.other.ac.uk", False),
    ],
)
def test_domains_of_one_site_are_accepted_with_warning(home, host, workshops, warned):
    told = home.install("--domain", host, "--workshops-domain", workshops)
    assert ("one registrable domain" in told) == warned


def test_workshops_domain_has_default(home):
    words = [word for word in LOCAL if word not in ("--workshops-domain", "workshops.example.net")]
    home.run(*words, "--data-dir", home.data)
    assert home.variables()["WORKSHOP_DOMAIN"] == "workshops.launcher.example.org"


def test_missing_settings_are_asked_in_terminal(home):
    answers = ["launcher.example.org", "workshops.example.net", "ada@example.org", "", "private-ca"]
    parent, child = pty.openpty()
    words = [SERVER / "setup", "--directory", home.root, "--data-dir", home.data, "--no-start"]
    process = subprocess.Popen(words, stdin=child, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    os.close(child)
    os.write(parent, "".join(f"{answer}\n" for answer in answers).encode())
    told, _ = process.communicate(timeout=60)
    os.close(parent)
    assert process.returncode == 0, told
    settings = json.loads(home.text("settings.json"))
    assert (settings["domain"], settings["workshops_domain"]) == ("launcher.example.org", "workshops.example.net")
    assert (settings["admins"], settings["login"], settings["tls"]) == (["ada@example.org"], "local", "private-ca")


@pytest.mark.parametrize("command", ["setup", "accounts", "backup", "restore", "upgrade", "doctor", "stop"])
def test_every_command_has_help(command):
    done = subprocess.run([SERVER / "setup", command, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "--directory" in done.stdout


def test_commands_without_installation_say_what_to_do(home):
    for command in ("backup", "accounts"):
        assert "Run setup first" in home.run(command, "file", code=1)


def test_password_is_printed_although_later_file_cannot_be_written(home):
    words = [SERVER / "setup", "--directory", home.root, *LOCAL, "--data-dir", home.data, "--no-start"]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    assert done.returncode == 1 and "File too large" in done.stderr
    assert "ada@example.org" in json.loads(home.text("accounts.json"))
    assert re.search(r"^Password of ada@example.org: \S{19}$", done.stdout, re.MULTILINE)
