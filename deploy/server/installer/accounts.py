"""Local accounts: read from a CSV file, with random first passwords. Only hashes are stored."""

import csv
import ctypes
import ctypes.util
import hashlib
import io
import json
import pathlib
import re
import secrets

from . import stored
from .problem import Problem, Problems

# Characters that cannot be confused on paper: no 0 and o, no 1, i and l.
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
GROUPS, LETTERS = 4, 4
ADDRESS_COLUMNS = ("email", "e-mail", "mail", "address", "e-mail address", "email address")
NAME_COLUMNS = ("name", "full name")
# The launcher accepts more addresses. This expression accepts the addresses that schools have.
ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,}")
MOST_ROWS = 10_000
HASH = re.compile(r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}")
# Control characters. Dex would refuse its configuration with some of them.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def load(path):
    """Reads the stored accounts: {address: {"name", "hash"}}."""
    found = stored.load(pathlib.Path(path))
    for address, account in found.items():
        form = isinstance(account, dict) and account.keys() == {"name", "hash"} and all(isinstance(one, str) for one in account.values())
        if not form or not HASH.fullmatch(account["hash"]):
            stored.refuse(path, f"the account {address!r}")
    return found


def dump(accounts):
    return (json.dumps(dict(sorted(accounts.items())), indent=2, ensure_ascii=False) + "\n").encode()


def read_csv(content, where):
    """Returns [(address, name)] of a CSV file. Reports all its errors together, each with its line.

    The file has a column `email` and, optionally, a column `name`; or, without a header, addresses in its first column.
    Spreadsheets also write semicolons, tabs, and a byte order mark.
    """
    try:
        # Some spreadsheets end lines by a carriage return only.
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise Problem(f"{where} is not UTF-8. Save the file as \"CSV UTF-8\"", code=2) from None
    # Not strict, the reader would take all lines after an open quote for one name.
    rows = csv.reader(io.StringIO(text), delimiter=_delimiter(text), skipinitialspace=True, strict=True)
    try:
        lines = [(rows.line_num, [cell.strip() for cell in row]) for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise Problem(
            f"{where}, line {rows.line_num}: {error}. Check the quotes (\") in this line and in the lines before; no account was "
            "changed",
            code=2,
        ) from None
    address, name, lines = _columns(lines, where)
    found, problems = {}, []
    for number, cells in lines:
        written = cells[address] if address < len(cells) else ""
        if not written:
            problems.append(f"line {number}: no e-mail address")
        elif not ADDRESS.fullmatch(written):
            problems.append(f"line {number}: {written!r} is not an e-mail address")
        elif written.lower() in found:
            problems.append(f"line {number}: {written} is in the file twice")
        elif CONTROL.search(person := cells[name] if name is not None and name < len(cells) else ""):
            problems.append(f"line {number}: the name of {written} has a line break or another control character")
        else:
            found[written.lower()] = person
    if problems:
        raise Problems(f"{where} has errors; no account was changed:", problems, code=2)
    return list(found.items())


def _delimiter(text):
    first = text.splitlines()[0] if text.strip() else ""
    return max(",;\t", key=first.count)


def _columns(lines, where):
    """Returns the columns of address and name, and the lines without a header."""
    if not lines:
        raise Problem(f"{where} is empty. It needs one line for each account, with an e-mail address", code=2)
    if len(lines) > MOST_ROWS:
        raise Problem(f"{where} has {len(lines)} lines; at most {MOST_ROWS} are accepted", code=2)
    header = [cell.lower() for cell in lines[0][1]]
    address = next((header.index(name) for name in ADDRESS_COLUMNS if name in header), None)
    name = next((header.index(name) for name in NAME_COLUMNS if name in header), None)
    if address is not None:
        return address, name, lines[1:]
    if not any("@" in cell for cell in header):
        raise Problem(f"{where} has no column \"email\". Its header is: {', '.join(lines[0][1])}", code=2)
    return 0, 1, lines


def add(accounts, listed, renew=False):
    """Adds accounts, each with a first password. Existing accounts keep theirs, unless `renew` is set.

    Returns (all accounts, new passwords as [(address, name, password)]).
    """
    changed, issued = dict(accounts), []
    for address, name in listed:
        if address in accounts and not renew:
            continue
        password = first_password()
        kept = accounts.get(address, {}).get("name", "")
        changed[address] = {"name": name or kept, "hash": hashed(password)}
        issued.append((address, changed[address]["name"], password))
    return changed, issued


def remove(accounts, listed):
    """Returns (the accounts without the listed ones, the addresses that were removed)."""
    gone = {address for address, _ in listed} & set(accounts)
    return {address: account for address, account in accounts.items() if address not in gone}, sorted(gone)


def first_password():
    """Returns a random password of 79 bits, in groups that are easy to type."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(LETTERS)) for _ in range(GROUPS))


def user_id(address):
    """Returns Dex's id of the account: the same whenever the address is the same."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]


BCRYPT = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def hashed(password):
    """Returns the bcrypt hash of a password, by the C library's crypt(), which Debian and Ubuntu always have. Python's
    own module for it does not exist any more since 3.13."""
    # 22 characters for 128 bits: the last one has only two of them.
    salt = "".join(secrets.choice(BCRYPT) for _ in range(21)) + secrets.choice(".Oeu")
    setting = f"$2b$10${salt}"
    for name in (ctypes.util.find_library("crypt"), "libcrypt.so.1", "libcrypt.so.2"):
        try:
            crypt = ctypes.CDLL(name).crypt if name else None
        except (OSError, AttributeError):
            continue
        if crypt:
            crypt.restype, crypt.argtypes = ctypes.c_char_p, (ctypes.c_char_p, ctypes.c_char_p)
            result = (crypt(password.encode(), setting.encode()) or b"").decode()
            if len(result) == 60 and result.startswith(setting):
                return result
    raise Problem("the C library cannot hash with bcrypt. On Debian or Ubuntu: apt-get install libcrypt1")
