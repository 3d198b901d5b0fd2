"""`setup` without starting anything: files, permissions, repeated runs, flags, questions, folders, damaged files."""

import json
import os
import re
import tomllib

import pytest
import yaml

from installed import CLIENT, DOMAINS, FLAGS, LOCAL, contents

PASSWORD = re.compile(r"^Password of ada@example.org: \S{19}$", re.MULTILINE)


def test_files_are_private_and_second_run_changes_nothing(school):
    before = school.state()
    assert all(entry.mode == (0o700 if entry.content is None else 0o600) for entry in before.values())
    strangers = {path.relative_to(school.root).parts[0] for path, entry in before.items() if entry.owner != os.geteuid()}
    assert strangers == ({"login", "workshops-login", "dex"} if os.geteuid() == 0 else set())
    assert "all files" in school.run() and "all files" in school.run(*DOMAINS, "--login", "local", "--tls", "acme")
    assert school.state() == before


def test_permissions_and_content_are_corrected(school):
    before = contents(*school.folders)
    (school.root / "secrets.json").chmod(0o644)
    (school.root / "login").chmod(0o755)
    (school.root / "traefik/traefik.yaml").write_text("changed")
    assert "3 files and folders changed" in school.run()
    assert contents(*school.folders) == before


def test_change_of_one_setting_changes_only_its_files(school):
    before, variables = school.state(), school.variables()
    school.run("--help-url", "mailto:help@example.org")
    changed = {path.name for path, entry in school.state().items() if before[path] != entry and entry.content is not None}
    assert changed == {".env", "settings.json"}
    # No program except the launcher gets other variables.
    assert school.changed_variables(variables) == {"HELP_URL"}


def test_files_of_administrator_are_kept(school):
    own = {"launcher.env": "SERVICE_MAX_INSTANCES_PER_USER=1\n", "launcher/templates.json": "[]\n", "images.env": "TRAEFIK_IMAGE=mirror:v3\n"}
    for name, text in own.items():
        (school.root / name).write_text(text)
    before = school.variables()
    school.run()
    assert {name: school.text(name) for name in own} == own
    # The launcher reads its seed templates only at its start.
    assert school.changed_variables(before) == {"LAUNCHER_CONFIGURATION", "TRAEFIK_IMAGE"}
    (school.root / "images.env").write_bytes("# für uns\nNGINX_IMAGE=nginx\n".encode("latin-1"))
    assert "NGINX_IMAGE" in school.run(code=1)


def test_secrets_are_generated_once_and_never_printed(home):
    told = home.install()
    secrets = json.loads(home.text("secrets.json"))
    generated = [value for value in secrets.values() if value]
    assert len(set(generated)) == len(generated) == 5 and len(PASSWORD.findall(told)) == 1
    assert all(len(value) >= 44 and value not in told for value in generated)
    assert "Password" not in home.run("--domain", "other.example.org")
    assert json.loads(home.text("secrets.json")) == secrets


def test_failed_write_leaves_old_file_and_next_run_completes(home):
    # The routes are too large, the accounts and the settings are not.
    told = home.install(code=1, file_size=2000)
    assert "File too large" in told and PASSWORD.search(told)
    assert "ada@example.org" in json.loads(home.text("accounts.json"))
    home.run()
    before, edge = home.state(), home.root / "traefik/dynamic/edge.yaml"
    assert "File too large" in home.run("--domain", "other.example.org", code=1, file_size=2000)
    assert edge.read_bytes() == before[edge].content
    assert {path.parent.name for path in home.state() if path not in before} <= {"certificates"}
    home.run("--domain", "other.example.org")
    assert "other.example.org" in edge.read_text() and home.variables()["PUBLIC_URL"] == "https://other.example.org"


def test_symbolic_link_is_not_followed(school):
    school.write("target", "untouched")
    for name in ("secrets.json", "launcher/proxy-secret"):
        (school.root / name).unlink()
        (school.root / name).symlink_to(school.work / "target")
        assert re.search("not a regular file|cannot read", school.run(code=1))
        (school.root / name).unlink()
    assert (school.work / "target").read_text() == "untouched"

GITHUB = "--workshops-client-id second --workshops-client-secret-file secret --github-org school --github-team class".split()


@pytest.mark.parametrize("provider, words", [("google", []), ("github", GITHUB), ("oidc", ["--issuer", "https://accounts.example.org"])])
def test_provider_is_configured(school, provider, words):
    school.write("secret", 'se"cret$1\n')
    school.run("--login", provider, *CLIENT, *words)
    found = [tomllib.loads(school.text(f"{name}/oauth2-proxy.cfg")) for name in ("login", "workshops-login")]
    assert [(one["provider"], one["client_secret"]) for one in found] == [(provider, 'se"cret$1')] * 2
    assert [one["client_id"] for one in found] == ["id", "second" if words == GITHUB else "id"]
    assert [one.get("github_org", "") + one.get("github_team", "") for one in found] == ["schoolclass" if words == GITHUB else ""] * 2
    assert school.variables()["COMPOSE_PROFILES"] == "" and "/dex" not in school.text("traefik/dynamic/edge.yaml")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("#SERVICE_BRAND_NAME=Old", "Workshops"),
        ("SERVICE_BRAND_NAME=Labor für Statistik # ours", "Labor für Statistik"),
        ("SERVICE_BRAND_NAME='A: \"$lab\" {#1}'", 'A: "$lab" {#1}'),
    ],
)
def test_login_page_has_name_of_installation(school, line, shown):
    (school.root / "launcher.env").write_text(f"{line}\n", encoding="utf-8")
    before = school.variables()
    school.run()
    assert yaml.safe_load(school.text("dex/dex.yaml"))["frontend"] == {"issuer": shown}
    # Dex reads its configuration only at its start.
    assert school.changed_variables(before) == (set() if shown == "Workshops" else {"DEX_CONFIGURATION"})


def test_port_is_part_of_addresses(school):
    school.run("--https-port", "8443", "--http-port", "8080")
    login = tomllib.loads(school.text("login/oauth2-proxy.cfg"))
    assert login["redirect_url"] == "https://launcher.example.org:8443/oauth2/callback"
    assert school.variables()["PUBLIC_URL"] == "https://launcher.example.org:8443"
    assert "workshops.example.net%3A8443" in school.variables()["LOGOUT_URL"]


def test_acme_gets_one_certificate_for_each_domain(home):
    home.write_given_files()
    home.write("dns.env", "# Cloudflare\nCF_DNS_API_TOKEN=abc_123-x\n")
    home.run(*FLAGS, "--data-dir", home.data)
    traefik = yaml.safe_load(home.text("traefik/traefik.yaml"))
    assert traefik["certificatesResolvers"]["acme"]["acme"]["dnsChallenge"] == {"provider": "cloudflare"}
    tls = traefik["entryPoints"]["websecure"]["http"]["tls"]
    assert tls["domains"] == [{"main": "launcher.example.org"}, {"main": "*.workshops.example.net"}]
    assert home.text("acme.env") == "CF_DNS_API_TOKEN=abc_123-x\n"
    before = home.state()
    home.run()
    assert home.state() == before


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("--unknown", ["--unknown"]),
        ("--dom launcher.example.org", ["--dom"]),
        ("--client-secret-file missing", ["missing"]),
        ("--tls files --certificate missing.pem --key missing.key", ["missing.pem"]),
        ("--tls files --certificate /dev/zero --key missing.key", ["/dev/zero: it has more than"]),
        ("--tls acme --acme-provider cloudflare", ["--acme-env is missing"]),
        ("--domain a.workshops.example.net", ["--domain a.workshops.example.net must not lie in"]),
        ("--workshops-domain launcher.example.org --https-port 8701", ["must not lie in", "must differ"]),
        ("--domain launcher --data-dir /var/../etc", ["--domain launcher is not", "--data-dir /var/../etc is not"]),
        ("--domain 192.0.2.1 --local-port 65534", ["--domain 192.0.2.1 is not", "--local-port"]),
        ("--login google --client-id id --email-domain example.org", ["--client-secret-file is missing"]),
        ("--login github --client-id id", ["--workshops-client-id is missing"]),
        ("--login oidc --client-id i$d", ["--issuer is missing", "--client-id contains", "--email-domain is missing"]),
        ("--domain Launcher.example.org --workshops-domain work_shops.example.net", ["in lower case", "--workshops-domain work_"]),
        ("--login ldap --tls self-signed --engine lxc --data-dir data", ["--login is", "--tls is", "--engine lxc", "--data-dir data is"]),
        ("--admin ada --admin ada@example.org$HOME --https-port 0", ["ada is not", "ada@example.org$HOME is not", "--https-port: 0"]),
        ("--tls files --help-url help", ["--certificate is missing", "--key is missing", "--help-url help is not"]),
        ("--tls acme", ["--acme-provider is missing"]),
    ],
)
def test_wrong_flags_are_named_together_and_write_nothing(home, flags, named):
    code, told = home.call(*LOCAL, "--data-dir", home.data, *flags.split())
    assert code in (1, 2) and not [text for text in named if text not in told], told
    assert not home.root.exists() and not home.data.exists()


def test_missing_settings_and_unknown_commands_are_named(home):
    told = home.run(code=2)
    assert re.findall(r"^- (--[a-z-]+)", told, re.MULTILINE) == ["--domain", "--workshops-domain", "--admin", "--login", "--tls"]
    assert "unknown command" in home.run("start", code=2)
    assert all("Run setup first" in home.run(command, "file", code=1) for command in ("backup", "accounts"))
    for command in ("setup", "accounts", "backup", "restore", "upgrade", "doctor", "stop"):
        assert "--directory" in home.run(command, "--help")


def test_variables_that_compose_would_change_are_refused(home):
    home.write_given_files()
    for line in ("TOKEN", "TOKEN=a b", "TOKEN='a'", "TOKEN=$a", "token=a", "TOKEN="):
        home.write("dns.env", f"{line}\n")
        assert "dns.env, line 1" in home.run(*FLAGS, "--data-dir", home.data, code=2)


def test_domains_of_one_site_are_accepted_with_warning(home):
    home.write_given_files()
    # The default of the domain of workshops.
    assert "one registrable domain" in home.run(*FLAGS[:2], *FLAGS[4:], "--data-dir", home.data)
    assert home.variables()["WORKSHOP_DOMAIN"] == "workshops.launcher.example.org"
    for host, workshops, warned in (
        ("launcher.example.org", "workshops.example.org", True), ("launcher.example.org", "workshops.example.net", False),
        ("launcher.school.ac.uk", "workshops.school.ac.uk", True), ("launcher.school.ac.uk", "workshops.other.ac.uk", False),
    ):
        assert ("one registrable domain" in home.run("--domain", host, "--workshops-domain", workshops)) == warned
        assert home.variables()["WORKSHOP_DOMAIN"] == workshops


def test_missing_settings_are_asked_in_terminal(home):
    answers = "launcher.example.org\nworkshops.example.net\nada@example.org\n\nprivate-ca\n"
    home.run("--data-dir", home.data, stdin=answers, terminal=True)
    settings = json.loads(home.text("settings.json"))
    assert [settings["domain"], settings["workshops_domain"], *settings["admins"]] == answers.split()[:3]
    assert (settings["login"], settings["tls"]) == ("local", "private-ca")


@pytest.mark.parametrize("name", ["launcher.db", "fleet/id"])
def test_changed_data_directory_is_refused_until_data_is_moved(school, name):
    other = school.data.with_name("other")
    for unused in (other, school.data):
        school.run("--data-dir", unused)
    other.rmdir()
    (school.data / "fleet").mkdir()
    (school.data / name).write_text("data")
    before = school.state()
    told = school.run("--data-dir", other, code=2)
    assert f"mv -T {school.data} {other}" in told and "setup stop" in told
    assert school.state() == before and not other.exists()
    school.data.rename(other)
    if name == "launcher.db":
        # Another path of the same folder.
        school.data.symlink_to(other)
    school.run("--data-dir", other)
    assert school.variables()["DATA_DIR"] == str(other)


@pytest.mark.parametrize("flag", ["--directory", "--data-dir"])
def test_folder_with_other_files_stays_as_it_is(home, flag):
    shared = home.root if flag == "--directory" else home.data
    shared.mkdir()
    shared.chmod(0o755)
    (shared / "film.mp4").write_text("film")
    before = home.state()
    told = home.install(code=2)
    assert f"{flag} {shared} contains other files, such as film.mp4" in told and f"{flag} {shared}/workshop-launcher" in told
    assert home.state() == before


def test_nested_folders_and_files_in_place_of_folders_are_refused(home):
    for folder in (home.root / "data", home.root.parent, home.root):
        assert "must not contain each other" in home.install("--data-dir", folder, code=2) and not home.root.exists()
    home.root.write_text("mine")
    assert f"{home.root} is not a folder" in home.install(code=1)
    home.root.unlink()
    home.root.symlink_to(home.work / "missing")
    assert f"{home.root} is not a folder" in home.install(code=1)


def test_new_disk_and_interrupted_first_setup_are_accepted(home):
    (home.data / "lost+found").mkdir(parents=True)
    home.root.mkdir()
    (home.root / ".settings.json.x7").touch()
    (home.root / "images.env").touch()
    home.install()


@pytest.mark.parametrize("name, key", [("settings", "http_port"), ("secrets", "proxy_secret"), ("accounts", "bob@example.org")])
def test_damaged_file_is_named(school, name, key):
    for content in ("[]", "{", "[" * 100_000, f'{{"{key}": [1]}}', f'{{"{key}": "a\\n  evil: b"}}'):
        (school.root / f"{name}.json").write_text(content)
        before = school.state()
        told = school.run(code=1)
        assert f"cannot read {school.root}/{name}.json: " in told and "Restore the file from a backup" in told and "evil" not in told
        assert school.state() == before


def test_entry_script_reads_names_in_every_locale(school):
    school.run("accounts", "-", stdin="email,name\njoerg@example.org,Jörg\n")
    before = school.state()
    code, told = school.process(env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert code == 0 and "all files" in told and school.state() == before
