"""The commands."""

import argparse
import os
import sys

from . import accounts as local_accounts
from . import backup as backups
from . import checks, data, diagnosis, files, lock, questions
from . import engine as engines
from . import restore as restores
from . import settings as answers
from .archive import Archive
from .installation import DIRECTORY, Installation
from .problem import Problem, Problems

OVERVIEW = """\
Sets up the launcher on this server, with Docker or Podman.

commands:
  setup [FLAGS]            set up, or change the settings that the flags name; asks for what is missing
  setup accounts FILE.csv  create local accounts, and a sheet with their first passwords
  setup backup FILE        save settings, secrets, accounts and the database into one file
  setup restore FILE       set up this server from a backup
  setup upgrade            install the version of these sources; no workshop stops
  setup doctor             check the server and the login
  setup stop               stop the launcher and its login; workshops continue, unreachable
  setup COMMAND --help     the flags of a command

You can run setup again at any time: it changes only what differs. docs/server.md has the steps."""


def main(words):
    """Runs a command. Returns the exit code: 0, 1 after an error, 2 after wrong flags or answers."""
    command, rest = ("setup", words)
    if words and words[0] in COMMANDS:
        command, rest = words[0], words[1:]
    elif words and not words[0].startswith("-"):
        print(f"error: unknown command {words[0]}. Commands: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    run, build = COMMANDS[command]
    parser = _parser(command)
    build(parser)
    arguments = parser.parse_args(rest)
    # Only the user who runs setup can read what it writes.
    os.umask(0o077)
    try:
        return _run(command, run, arguments) or 0
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.code
    except PermissionError as error:
        print(f"error: {error.filename}: permission denied. Run setup as root", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename or 'cannot write a file'}: {error.strerror}. Run setup again", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("error: interrupted. Run setup again: it continues where it stopped", file=sys.stderr)
        return 1


def _run(command, run, arguments):
    """Runs a command. Commands that write files hold the lock, and first end an interrupted restore."""
    # `stop` writes no file, and must work at once.
    if command in ("doctor", "stop") or (command == "accounts" and arguments.list):
        return run(arguments)
    with lock.held(arguments.directory, say):
        if text := restores.recover(arguments.directory):
            say(f"warning: {text}")
        return run(arguments)


def say(text):
    print(text, file=sys.stderr, flush=True)


def _parser(command):
    name = "setup" if command == "setup" else f"setup {command}"
    parser = argparse.ArgumentParser(
        prog=name, description=OVERVIEW if command == "setup" else None, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--directory", default=DIRECTORY, metavar="PATH", help=f"folder of the configuration. Default: {DIRECTORY}")
    return parser


# setup


def _setup_flags(parser):
    questions.add_flags(parser)
    parser.add_argument("--no-start", action="store_true", help="only write the files; neither check the server nor start anything")
    _skip_flag(parser)


def _skip_flag(parser):
    names = ", ".join(checks.NAMES)
    parser.add_argument("--skip", action="append", default=[], choices=checks.NAMES, metavar="CHECK", help=f"skip a check: {names}")


def _setup(arguments):
    installation = Installation(arguments.directory, say)
    arguments.interactive = sys.stdin.isatty()
    questions.take_flags(arguments, installation)
    if arguments.interactive:
        questions.ask_rest(installation)
    answers.check(installation.settings)
    if missing := questions.missing_secrets(installation):
        raise Problems("these settings are missing:", missing, code=2)
    installation.apply(arguments.skip, start=not arguments.no_start)


# accounts


def _accounts_flags(parser):
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


def _accounts(arguments):
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
        _remove_accounts(installation, listed)
    else:
        installation.accounts, installation.issued = local_accounts.add(before, listed, arguments.new_passwords)
        kept = len(listed) - len(installation.issued)
    if installation.accounts != before:
        # Before the accounts are stored: their passwords would be lost without the sheet.
        path = installation.print_sheet(arguments.sheet)
        installation.apply(checks.NAMES, start=not arguments.no_start)
        if path:
            say(f"{len(installation.issued)} first passwords are in {path}. Print it, and delete it")
    if kept:
        say(f"{kept} accounts existed already, and keep their passwords")


def _remove_accounts(installation, listed):
    admins = {address.lower() for address in installation.settings.admins}
    if found := sorted(admins & {address for address, _ in listed}):
        raise Problem(f"{', '.join(found)} is an admin. Name the other admins first: setup --admin ADDRESS", code=2)
    installation.accounts, gone = local_accounts.remove(installation.accounts, listed)
    say(f"{len(gone)} accounts removed. Their open sessions end within 12 hours")


# backup and restore


def _backup_flags(parser):
    parser.description = "Saves settings, secrets, accounts and the database into one file, while the launcher runs."
    parser.add_argument("file", metavar="FILE", help="the file to write, as in backup.tar.gz. It contains all secrets")


def _backup(arguments):
    installation = Installation(arguments.directory, say)
    installation.require()
    backups.save(installation.root, installation.settings, arguments.file, say)
    say(f"saved: {arguments.file}. It contains all secrets: keep it as safe as the server. Files in workshops are not in it")


def _restore_flags(parser):
    parser.description = "Sets up this server from a backup."
    parser.add_argument("file", metavar="FILE", help="a file that `setup backup` wrote")
    parser.add_argument("--replace", action="store_true", help="replace the existing installation of this server")
    parser.add_argument("--data-dir", metavar="PATH", help="folder of the data. Default: the one of this server or backup")
    parser.add_argument("--no-start", action="store_true", help="only write the files. The launcher must not run")
    _skip_flag(parser)


def _restore(arguments):
    archive = Archive(arguments.file)
    settings = answers.loads(archive.settings, arguments.file)
    existing = Installation(arguments.directory, say)
    if existing.exists:
        # These settings belong to the server, not to the backup.
        for name in ("data_dir", "engine", "engine_socket"):
            setattr(settings, name, getattr(existing.settings, name))
    if arguments.data_dir:
        settings.data_dir = arguments.data_dir
    if found := list(answers.path_problems(settings)):
        raise Problems("nothing was restored:", found, code=2)
    restores.check_target(existing.root, archive, settings.data_dir, arguments.replace)
    if existing.exists:
        data.check_change(existing.settings.data_dir, settings.data_dir)
    elif not arguments.no_start:
        _forget_missing_engine(settings)
    _replace_files(archive, settings, existing, stop=existing.exists and not arguments.no_start)
    say(f"restored the backup of {archive.made}")
    try:
        Installation(arguments.directory, say).apply(arguments.skip, start=not arguments.no_start)
    except Problem as problem:
        advice = "The files of the backup are restored. Correct the fault, and run setup, not setup restore"
        raise Problem(f"{problem}\n{advice}", problem.code) from None


def _replace_files(archive, settings, existing, stop):
    """Replaces the files by those of the backup. Stops the launcher only after the backup is staged."""
    engine, stopped = existing.engine() if stop else None, False
    if not engine:
        data.check_not_running(settings.data_dir)
    try:
        with restores.staged(existing.root, archive, settings) as swap:
            if engine:
                engine.run_compose(existing.root, "stop", profile=engines.LOCAL_ACCOUNTS)
                data.check_not_running(settings.data_dir)
                stopped = True
            swap()
    except Problem as problem:
        advice = "\nThe launcher is stopped. To start it with the present files: setup" if stopped else ""
        raise Problem(f"{problem}{advice}", problem.code) from None


def _forget_missing_engine(settings):
    """Removes the engine from the settings of a backup if this server does not have it."""
    try:
        checks.engine_socket(engines.find(settings.engine, settings.engine_socket).socket)
    except Problem:
        if settings.engine or settings.engine_socket:
            say(f"warning: this server does not have the engine of the backup: {settings.engine} {settings.engine_socket}")
        settings.engine = settings.engine_socket = ""


# upgrade, doctor, stop


def _upgrade_flags(parser):
    parser.description = "Installs the version of these sources: pulls its images, and replaces the programs that changed."
    parser.add_argument("--backup", metavar="FILE", help="first save a backup into this file")


def _upgrade(arguments):
    installation = Installation(arguments.directory, say)
    installation.require()
    if arguments.backup:
        backups.save(installation.root, installation.settings, arguments.backup, say)
    installation.apply(("dns", "memory", "ports"), pull=True)


def _doctor_flags(parser):
    parser.description = "Checks the server and the login. Changes nothing. Exits with 1 if a check says FAIL."


def _doctor(arguments):
    installation = Installation(arguments.directory, say)
    installation.require()
    return diagnosis.run(installation)


def _stop_flags(parser):
    parser.description = "Stops the launcher and its login. Workshops continue, but users cannot open them until setup runs again."


def _stop(arguments):
    installation = Installation(arguments.directory, say)
    installation.require()
    engine = installation.engine()
    if not engine.containers(installation.root):
        raise Problem(
            f"{engine.name} has no containers of {installation.root}: nothing was stopped. If another engine runs them, name it "
            "first: setup --engine NAME"
        )
    engine.run_compose(installation.root, "stop", profile=engines.LOCAL_ACCOUNTS)
    say("stopped. Start again: setup")


COMMANDS = {
    "setup": (_setup, _setup_flags),
    "accounts": (_accounts, _accounts_flags),
    "backup": (_backup, _backup_flags),
    "restore": (_restore, _restore_flags),
    "upgrade": (_upgrade, _upgrade_flags),
    "doctor": (_doctor, _doctor_flags),
    "stop": (_stop, _stop_flags),
}
