"""`setup doctor`: checks the server and the login."""

from .. import diagnosis
from ..installation import Installation


def flags(parser):
    parser.description = "Checks the server and the login. Changes nothing. Exits with 1 if a check says FAIL."


def run(arguments, say):
    installation = Installation(arguments.directory, say)
    installation.require()
    return diagnosis.run(installation)
