"""`setup upgrade`: installs the version of these sources."""

from .. import backup
from ..installation import Installation


def flags(parser):
    parser.description = "Installs the version of these sources: pulls its images, and replaces the programs that changed."
    parser.add_argument("--backup", metavar="FILE", help="first save a backup into this file")


def run(arguments, say):
    installation = Installation(arguments.directory, say)
    installation.require()
    if arguments.backup:
        backup.save(installation.root, installation.settings, arguments.backup, say)
    installation.apply(("dns", "memory", "ports"), pull=True)
