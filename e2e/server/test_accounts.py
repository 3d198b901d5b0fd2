"""Local accounts: CSV files of spreadsheets, passwords, the printed sheet, removal."""

import ctypes
import html
import json
import re
import stat

import pytest
import yaml

from fake_engine import FakeEngine
from installed import GOOGLE
from installer.files import MOST_BYTES

CLASS = "email,name\nbob@example.org,Bob Berger\nCarla@example.org,\n"
BOB, CARLA, ADA = "bob@example.org", "carla@example.org", "ada@example.org"


def sheet(home, name="sheet.html"):
    """Returns the accounts on a sheet: {address: password}."""
    text = (home.work / name).read_text()
    cards = re.findall(r"E-mail address: <code>(.*?)</code>.*?Password: <code>(.*?)</code>", text, re.DOTALL)
    return {html.unescape(address): password for address, password in cards}


def stored(home, field="hash"):
    """Returns Dex's accounts: {address: hash}."""
    return {one["email"]: one[field] for one in yaml.safe_load(home.text("dex/dex.yaml"))["staticPasswords"]}


def fits(password, hashed):
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype, crypt.argtypes = ctypes.c_char_p, (ctypes.c_char_p, ctypes.c_char_p)
    return crypt(password.encode(), hashed.encode()).decode() == hashed


def add(home, content, *words, name="sheet.html", **options):
    return home.run("accounts", "-", *words, "--sheet", name, stdin=content, **options)


def test_accounts_are_created_with_passwords_only_on_sheet(school):
    before = school.variables()
    told, issued, hashes = add(school, CLASS), sheet(school), stored(school)
    assert "2 first passwords" in told
    assert set(issued) == {BOB, CARLA} and len(set(issued.values())) == 2 and set(hashes) == {BOB, CARLA, ADA}
    assert all(fits(password, hashes[address]) for address, password in issued.items())
    page = (school.work / "sheet.html").read_text()
    assert "Bob Berger" in page and "https://launcher.example.org/" in page
    assert stat.S_IMODE((school.work / "sheet.html").stat().st_mode) == 0o600
    written = "".join(path.read_text() for path in school.root.rglob("*") if path.is_file())
    assert not [password for password in issued.values() if password in written + told]
    assert all(re.fullmatch(r"([a-z2-9]{4}-){3}[a-z2-9]{4}", password) for password in issued.values())
    # Only Dex restarts.
    assert school.changed_variables(before) == {"DEX_CONFIGURATION"}


def test_existing_accounts_keep_passwords_until_new_ones_are_requested(school):
    add(school, CLASS)
    before = stored(school)
    assert "2 accounts existed already" in add(school, f"{CLASS}dora@example.org,Dora\n", name="second.html")
    assert set(sheet(school, "second.html")) == {"dora@example.org"}
    after, unchanged = stored(school), school.state()
    assert {address: after[address] for address in before} == before
    school.run("accounts", "-", stdin=CLASS)
    assert school.state() == unchanged and not list(school.work.glob("first-passwords-*"))
    add(school, f"{BOB}\n", "--new-passwords", name="third.html")
    renewed = stored(school)
    assert {address for address in renewed if renewed[address] != after[address]} == {BOB}
    assert fits(sheet(school, "third.html")[BOB], renewed[BOB])


def test_accounts_are_removed_and_listed_and_need_local_login(school):
    add(school, CLASS)
    assert "1 accounts removed" in school.run("accounts", "-", "--remove", stdin="BOB@example.org\nzoe@example.org\n")
    assert set(stored(school)) == {ADA, CARLA} and school.run("accounts", "--list").split() == [ADA, CARLA]
    assert "is an admin" in school.run("accounts", "-", "--remove", stdin=f"{ADA}\n", code=2)
    school.write_given_files()
    school.run(*GOOGLE)
    assert "setup --login local" in school.run("accounts", "-", stdin=CLASS, code=2)


SPREADSHEETS = {
    "semicolons": "Name;E-Mail\nBob Berger;bob@example.org\n",
    "tabs": "name\temail\nBob Berger\tbob@example.org\n",
    "no header": "bob@example.org,Bob Berger\n",
    "byte order mark": "\ufeffemail,name\r\nbob@example.org,Bob Berger\r\n\r\n,\r\n",
    "carriage returns": "email,name\rbob@example.org,Bob Berger\r",
    "more columns": 'class,email,name\n7b, bob@example.org ,"Bob Berger"\n',
}


@pytest.mark.parametrize("form", SPREADSHEETS)
def test_files_of_spreadsheets_are_read(school, form):
    add(school, SPREADSHEETS[form])
    assert stored(school, "username") == {ADA: "ada", BOB: "Bob Berger"}


def test_wrong_file_changes_nothing(school):
    wrong = {
        "": ["is empty"],
        "\n\n": ["is empty"],
        "first,last\nBob,Berger\n": ['no column "email"'],
        "email,name\nbob\n,Bob\na@example.org\n\nA@example.org\nb@@example.org\n<i>@example.org\nbøb@example.org\nc@example.org,\x07\n": [
            "line 2: 'bob' is not an e-mail address", "line 3: no e-mail address", "line 6: A@example.org is in the file twice",
            "line 7: ", "line 8: ", "line 9: ", "line 10: the name of c@example.org has",
        ],
        'email,name\nbob@example.org,"Bob\ncarla@example.org,Carla\n': ["quotes"],
        'email,name\nbob@example.org,"Bob\nBerger"\n': ["line 3: the name of bob@example.org has a line break"],
        f"email\n{'x' * 200_000}\n": ["field limit"],
        "email,name\nbob@example.org,J\udcf6rg\n": ["UTF-8"],
    }
    before = school.state()
    for content, named in wrong.items():
        (school.work / "class.csv").write_bytes(content.encode(errors="surrogateescape"))
        told = school.run("accounts", "class.csv", code=2)
        assert not [text for text in named if text not in told], told
    with (school.work / "class.csv").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert f"more than {MOST_BYTES} bytes. Check the name of the file" in school.run("accounts", "class.csv", code=2)
    assert "cannot read the accounts" in school.run("accounts", "missing.csv", code=1)
    assert school.state() == before and len(list(school.work.iterdir())) == 1


def test_sheet_never_replaces_file_and_is_deleted_with_invalid_passwords(school, tmp_path):
    school.write("sheet.html", "mine")
    before = school.state()
    assert "exists already" in add(school, CLASS, code=1)
    assert (school.work / "sheet.html").read_text() == "mine"
    told = FakeEngine(tmp_path / "engine").run(school, "accounts", "-", "--sheet", "other.html", stdin=CLASS)
    assert "no container engine" in told and "other.html was deleted" in told
    assert school.state() == before and not (school.work / "other.html").exists()


def test_names_are_text_on_sheet_and_in_configuration(school):
    name = '<b>"Bob" & {Berger}: [x]</b>'
    quoted = name.replace('"', '""')
    add(school, f'email,name\nbob@example.org,"{quoted}"\n')
    assert "<b>" not in (school.work / "sheet.html").read_text().split("<body>")[1]
    assert stored(school, "username")[BOB] == name == json.loads(school.text("accounts.json"))[BOB]["name"]
