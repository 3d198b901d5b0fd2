"""`setup accounts`: creates, removes and lists local accounts."""

import sys

from .. import accounts as local_accounts
from .. import checks, files
from ..installation import Installation
from ..problem import Problem


def flags(parser):
    parser.description = (
        "Creates local accounts from a CSV file with a column email and, optionally, a column name; - reads standard input. "
        "Existing accounts keep their passwords."
    )
    parser.add_argument("file", nargs="?", metavar="FILE.csv", help="the addresses")
    parser.add_argument("--sheet", metavar="FILE.html", help="the sheet to write. Default: first-passwords-TIME.html, here")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--new-passwords", action="store_true", help="give the existing accounts of the file new passwords, too")
    action.add_argument("--remove", action="store_true", help="remove the accounts of the file")
    action.add_argument("--list", action="store_true", help="print the addresses of all accounts")
    parser.add_argument("--no-start", action="store_true", help="only write the files")


def run(arguments, say):
    installation = Installation(arguments.directory, say)
    installation.require()
    if arguments.list:
        print("".join(f"{address}\n" for address in sorted(installation.accounts)), end="")
        return
    if not arguments.file:
        raise Problem("name a CSV file with e-mail addresses, or - for standard input: setup accounts FILE.csv", code=2)
    if installation.settings.login != "local":
        raise Problem(f"the login is {installation.settings.login}, not local accounts. Change it with: setup --login local", code=2)
    content = sys.stdin.buffer.read() if arguments.file == "-" else files.read(arguments.file, "the accounts")
    listed = local_accounts.read_csv(content, arguments.file)
    before, kept = dict(installation.accounts), 0
    if arguments.remove:
        _remove(installation, listed, say)
    else:
        installation.accounts, installation.issued = local_accounts.add(before, listed, arguments.new_passwords)
        kept = len(listed) - len(installation.issued)
    if installation.accounts != before:
        # Before the accounts are stored: their passwords would be lost without the sheet.
        path = installation.print_sheet(arguments.sheet)
        try:
            installation.apply(checks.NAMES, start=not arguments.no_start)
        finally:
            if path and not installation.has_stored(installation.issued):
                path.unlink()
                say(f"no account was changed: {path} was deleted, because its passwords are invalid")
        if path:
            say(f"{len(installation.issued)} first passwords are in {path}. Print it, and delete it")
    if kept:
        say(f"{kept} accounts existed already, and keep their passwords")


def _remove(installation, listed, say):
    admins = {address.lower() for address in installation.settings.admins}
    if found := sorted(admins & {address for address, _ in listed}):
        raise Problem(f"{', '.join(found)} is an admin. Name the other admins first: setup --admin ADDRESS", code=2)
    installation.accounts, gone = local_accounts.remove(installation.accounts, listed)
    say(f"{len(gone)} accounts removed. Their open sessions end within 12 hours")
