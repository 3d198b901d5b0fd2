"""`setup backup`: saves the installation into one file."""

from .. import backup
from ..installation import Installation


def flags(parser):
    parser.description = "Saves settings, secrets, accounts and the database into one file, while the launcher runs."
    parser.add_argument("file", metavar="FILE", help="the file to write, as in backup.tar.gz. It contains all secrets")


def run(arguments, say):
    installation = Installation(arguments.directory, say)
    installation.require()
    backup.save(installation.root, installation.settings, arguments.file, say)
    say(f"saved: {arguments.file}. It contains all secrets: keep it as safe as the server. Files in workshops and kept files are not in it")
