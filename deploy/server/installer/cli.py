"""The command line: chooses the command, holds the lock, and prints errors."""

import argparse
import os
import signal
import sys

from . import lock
from . import restore as restores
from .commands import accounts, backup, doctor, restore, setup, stop, upgrade
from .installation import DIRECTORY
from .problem import Problem

COMMANDS = {
    "setup": setup,
    "accounts": accounts,
    "backup": backup,
    "restore": restore,
    "upgrade": upgrade,
    "doctor": doctor,
    "stop": stop,
}

OVERVIEW = """\
Sets up the launcher on this server, with Docker or Podman.

commands:
  setup [FLAGS]            set up, or change the settings that the flags name; asks for what is missing
  setup accounts FILE.csv  create local accounts, and a sheet with their first passwords
  setup backup FILE        save settings, secrets, accounts and the database into one file
  setup restore FILE       set up this server from a backup
  setup upgrade            install the version of these sources; no workshop stops
  setup doctor             check the server and the login
  setup stop               stop the launcher and its login; workshops continue, but users cannot open them
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
    parser = _parser(command)
    COMMANDS[command].flags(parser)
    arguments = parser.parse_args(rest)
    # Only the user who runs setup can read what it writes.
    os.umask(0o077)
    # As Ctrl-C: a closed terminal must leave no copy of secrets. nohup ignores its signal.
    for name in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(name) == signal.SIG_DFL:
            signal.signal(name, signal.default_int_handler)
    try:
        return _run(command, arguments) or 0
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


def _run(command, arguments):
    """Runs a command. Commands that write files hold the lock, and first end an interrupted restore."""
    # `stop` writes no file, and must work at once.
    if command in ("doctor", "stop") or (command == "accounts" and arguments.list):
        return COMMANDS[command].run(arguments, say)
    with lock.held(arguments.directory, say):
        if text := restores.recover(arguments.directory):
            say(f"warning: {text}")
        return COMMANDS[command].run(arguments, say)


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
