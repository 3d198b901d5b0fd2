"""Local accounts: CSV files of spreadsheets, passwords, the printed sheet, removal."""

import ctypes
import html
import json
import re
import stat

import pytest
import yaml

CLASS = "email,name\nbob@example.org,Bob Berger\nCarla@example.org,\n"


@pytest.fixture
def school(home):
    home.install()
    return home


def sheet(home, name="sheet.html"):
    """Returns the accounts on a sheet: {address: password}."""
    text = (home.work / name).read_text()
    cards = re.findall(r"E-mail address: <code>(.*?)</code>.*?Password: <code>(.*?)</code>", text, re.DOTALL)
    return {html.unescape(address): password for address, password in cards}


def stored(home):
    """Returns Dex's accounts: {address: hash}."""
    return {one["email"]: one["hash"] for one in yaml.safe_load(home.text("dex/dex.yaml"))["staticPasswords"]}


def fits(password, hashed):
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype, crypt.argtypes = ctypes.c_char_p, (ctypes.c_char_p, ctypes.c_char_p)
    return crypt(password.encode(), hashed.encode()).decode() == hashed


def test_accounts_are_created_with_sheet(school):
    told = school.run("accounts", "-", "--sheet", "sheet.html", stdin=CLASS)
    assert "2 first passwords" in told
    issued = sheet(school)
    assert set(issued) == {"bob@example.org", "carla@example.org"}
    assert len(set(issued.values())) == 2
    hashes = stored(school)
    assert set(hashes) == {*issued, "ada@example.org"}
    assert all(fits(password, hashes[address]) for address, password in issued.items())
    assert "Bob Berger" in (school.work / "sheet.html").read_text()
    assert "https://launcher.example.org/" in (school.work / "sheet.html").read_text()


def test_passwords_are_only_on_sheet(school):
    told = school.run("accounts", "-", "--sheet", "sheet.html", stdin=CLASS)
    assert stat.S_IMODE((school.work / "sheet.html").stat().st_mode) == 0o600
    written = "".join(path.read_text() for path in school.root.rglob("*") if path.is_file())
    assert not [password for password in sheet(school).values() if password in written + told]
    assert all(re.fullmatch(r"([a-z2-9]{4}-){3}[a-z2-9]{4}", password) for password in sheet(school).values())


def test_existing_accounts_keep_passwords(school):
    school.run("accounts", "-", "--sheet", "first.html", stdin=CLASS)
    before = stored(school)
    told = school.run("accounts", "-", "--sheet", "second.html", stdin=f"{CLASS}dora@example.org,Dora\n")
    assert "2 accounts existed already" in told
    assert set(sheet(school, "second.html")) == {"dora@example.org"}
    after = stored(school)
    assert {address: after[address] for address in before} == before
    state = school.state()
    school.run("accounts", "-", stdin=CLASS)
    assert school.state() == state
    assert not list(school.work.glob("first-passwords-*"))


def test_new_passwords_on_request(school):
    school.run("accounts", "-", "--sheet", "first.html", stdin=CLASS)
    before = stored(school)
    school.run("accounts", "-", "--new-passwords", "--sheet", "second.html", stdin="bob@example.org\n")
    after = stored(school)
    assert {address for address in after if after[address] != before[address]} == {"bob@example.org"}
    assert fits(sheet(school, "second.html")["bob@example.org"], after["bob@example.org"])


def test_accounts_are_removed_and_listed(school):
    school.run("accounts", "-", "--sheet", "sheet.html", stdin=CLASS)
    assert "1 accounts removed" in school.run("accounts", "-", "--remove", stdin="BOB@example.org\nzoe@example.org\n")
    assert set(stored(school)) == {"ada@example.org", "carla@example.org"}
    assert school.run("accounts", "--list").split() == ["ada@example.org", "carla@example.org"]
    assert "is an admin" in school.run("accounts", "-", "--remove", stdin="ada@example.org\n", code=2)


@pytest.mark.parametrize(
    "content",
    [
        "email,name\nbob@example.org,Bob Berger\n",
        "Name;E-Mail\nBob Berger;bob@example.org\n",
        "name\temail\nBob Berger\tbob@example.org\n",
        "bob@example.org,Bob Berger\n",
        "\ufeffemail,name\r\nbob@example.org,Bob Berger\r\n\r\n,\r\n",
        'class,email,name\n7b, bob@example.org ,"Bob Berger"\n',
    ],
    ids=["plain", "semicolons", "tabs", "no header", "byte order mark", "more columns"],
)
def test_files_of_spreadsheets_are_read(school, content):
    school.run("accounts", "-", "--sheet", "sheet.html", stdin=content)
    assert json.loads(school.text("accounts.json"))["bob@example.org"]["name"] == "Bob Berger"


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("first,last\nBob,Berger\n", 'no column "email"'),
        ("email\nbob\n", "line 2: 'bob' is not an e-mail address"),
        ("email\nbob@example.org\n\nBOB@example.org\n", "line 4: BOB@example.org is in the file twice"),
        ("email,name\n,Bob\n", "line 2: no e-mail address"),
        ("email\nbob@@example.org\nbob@example\n", "line 3"),
        ("email\n<script>@example.org\n", "line 2"),
        ("email\nbøb@example.org\n", "line 2"),
    ],
)
def test_wrong_file_changes_nothing(school, content, named):
    before = school.state()
    told = school.run("accounts", "-", stdin=content, code=2)
    assert named in told and "Traceback" not in told
    assert school.state() == before
    assert not list(school.work.iterdir())


def test_file_in_another_encoding_is_refused(school):
    (school.work / "class.csv").write_bytes("email,name\nbob@example.org,Jörg\n".encode("latin-1"))
    assert "UTF-8" in school.run("accounts", "class.csv", code=2)
    assert "cannot read the accounts" in school.run("accounts", "missing.csv", code=1)


def test_sheet_never_replaces_file(school):
    (school.work / "sheet.html").write_text("mine")
    before = school.state()
    assert "exists already" in school.run("accounts", "-", "--sheet", "sheet.html", stdin=CLASS, code=1)
    assert (school.work / "sheet.html").read_text() == "mine"
    assert school.state() == before


def test_names_are_text_on_sheet_and_in_configuration(school):
    name = '<b>"Bob" & {Berger}: [x]</b>'
    quoted = name.replace('"', '""')
    school.run("accounts", "-", "--sheet", "sheet.html", stdin=f'email,name\nbob@example.org,"{quoted}"\n')
    assert "<b>" not in (school.work / "sheet.html").read_text().split("<body>")[1]
    found = {one["email"]: one["username"] for one in yaml.safe_load(school.text("dex/dex.yaml"))["staticPasswords"]}
    assert found["bob@example.org"] == name


def test_accounts_need_local_login(home):
    (home.work / "secret").write_text("secret")
    home.install("--login", "google", "--client-id", "id", "--client-secret-file", "secret", "--email-domain", "example.org")
    assert "setup --login local" in home.run("accounts", "-", stdin=CLASS, code=2)
