"""`setup restore`: sets up the server from a backup."""

from .. import checks, data, folders
from .. import engine as engines
from .. import restore as restores
from .. import settings as answers
from ..archive import Archive
from ..installation import Installation
from ..problem import Problem, Problems
from .setup import skip_flag


def flags(parser):
    parser.description = "Sets up this server from a backup."
    parser.add_argument("file", metavar="FILE", help="a file that `setup backup` wrote")
    parser.add_argument("--replace", action="store_true", help="replace the existing installation of this server")
    parser.add_argument("--data-dir", metavar="PATH", help="folder of the data. Default: the one of this server, or /var/lib/workshop-launcher")
    parser.add_argument("--no-start", action="store_true", help="only write the files. The launcher must not run")
    skip_flag(parser)


def run(arguments, say):
    archive = Archive(arguments.file)
    settings = answers.loads(archive.settings, arguments.file)
    existing = Installation(arguments.directory, say)
    # These settings belong to the server, not to the backup, which could name any folder of the server.
    archived, settings.data_dir = settings.data_dir, arguments.data_dir or existing.settings.data_dir
    if existing.exists:
        settings.engine, settings.engine_socket = existing.settings.engine, existing.settings.engine_socket
    elif settings.data_dir != archived:
        say(f"the data will be in {settings.data_dir}, and was in {archived!r} before. Another folder: --data-dir")
    if found := list(answers.path_problems(settings)):
        raise Problems("nothing was restored:", found, code=2)
    restores.check_target(existing.root, archive, settings.data_dir, arguments.replace)
    if not existing.exists or settings.data_dir != existing.settings.data_dir:
        folders.check(existing.root, settings.data_dir)
    if existing.exists:
        data.check_change(existing.settings.data_dir, settings.data_dir)
    elif not arguments.no_start:
        _forget_missing_engine(settings, say)
    _replace_files(archive, settings, existing, stop=existing.exists and not arguments.no_start)
    say(f"restored the backup of {archive.made}")
    try:
        Installation(arguments.directory, say).apply(arguments.skip, start=not arguments.no_start)
    except Problem as problem:
        advice = "The files of the backup are restored. Correct the fault, and run setup, not setup restore"
        raise Problem(f"{problem}\n{advice}", problem.code) from None


def _replace_files(archive, settings, existing, stop):
    """Replaces the files by those of the backup. Stops the launcher only after the backup is staged.

    Removes its containers, so that the engine does not start them on files of both installations after a reboot.
    """
    engine, stopped = existing.engine() if stop else None, False
    if not engine:
        data.check_not_running(settings.data_dir)
    try:
        with restores.staged(existing.root, archive, settings) as swap:
            if engine:
                stopped = True
                engine.remove(existing.root)
                data.check_not_running(settings.data_dir)
            swap()
    except Problem as problem:
        advice = "\nThe launcher is stopped. To start it with the present files: setup" if stopped else ""
        raise Problem(f"{problem}{advice}", problem.code) from None


def _forget_missing_engine(settings, say):
    """Removes the engine from the settings of a backup if this server does not have it."""
    try:
        checks.engine_socket(engines.find(settings.engine, settings.engine_socket).socket)
    except Problem:
        if settings.engine or settings.engine_socket:
            say(f"warning: this server does not have the engine of the backup: {settings.engine} {settings.engine_socket}")
        settings.engine = settings.engine_socket = ""
