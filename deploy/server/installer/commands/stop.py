"""`setup stop`: stops the launcher and its login."""

from ..installation import Installation
from ..problem import Problem


def flags(parser):
    parser.description = "Stops the launcher and its login. Workshops continue, but users cannot open them until setup runs again."


def run(arguments, say):
    installation = Installation(arguments.directory, say)
    installation.require()
    engine = installation.engine()
    if not engine.containers(installation.root):
        raise Problem(
            f"{engine.name} has no containers of {installation.root}: nothing was stopped. If another engine runs them, name it "
            "first: setup --engine NAME"
        )
    engine.remove(installation.root)
    say("stopped, also after a reboot. Start again: setup")
