"""`setup`: sets up the server, or changes settings."""

import sys

from .. import checks, questions
from .. import settings as answers
from ..installation import Installation
from ..problem import Problems


def flags(parser):
    questions.add_flags(parser)
    parser.add_argument("--no-start", action="store_true", help="only write the files; neither check the server nor start anything")
    skip_flag(parser)


def skip_flag(parser):
    names = ", ".join(checks.NAMES)
    parser.add_argument("--skip", action="append", default=[], choices=checks.NAMES, metavar="CHECK", help=f"skip a check: {names}")


def run(arguments, say):
    installation = Installation(arguments.directory, say)
    arguments.interactive = sys.stdin.isatty()
    questions.take_flags(arguments, installation)
    if arguments.interactive:
        questions.ask_rest(installation)
    answers.check(installation.settings)
    if missing := questions.missing_secrets(installation):
        raise Problems("these settings are missing:", missing, code=2)
    installation.apply(arguments.skip, start=not arguments.no_start)
