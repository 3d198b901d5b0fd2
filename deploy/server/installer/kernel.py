"""Kernel parameters of the server that workshops need."""

import pathlib
from dataclasses import dataclass

from . import files

# Sorts before the files of the administrator, which therefore have precedence.
FILE = pathlib.Path("/etc/sysctl.d/10-workshop-launcher.conf")
HEADER = "# Written by setup of the launcher: docs/server.md, Kernel parameters.\n"


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter, the least value that workshops need, and the reason, which ends the sentence "it is N, …"."""

    name: str
    least: int
    reason: str

    @property
    def path(self):
        return pathlib.Path("/proc/sys", *self.name.split("."))

    @property
    def line(self):
        return f"{self.name} = {self.least}"

    def is_low(self):
        try:
            return int(self.path.read_text()) < self.least
        except (OSError, ValueError):
            return False


INOTIFY = Parameter("fs.inotify.max_user_instances", 8192, "and all workshops share this limit")
# Podman's bridge takes the lowest MAC address of the workshops' interfaces. With this parameter, it announces a change.
ARP = Parameter(
    "net.ipv4.conf.all.arp_notify", 1,
    "and with Podman each start or end of a workshop may interrupt the network of the others for half a minute",
)


def prepare(permitted, engine):
    """Raises the parameters for this engine until the next boot and for later boots, never lowers one. Returns warnings.

    `permitted`: False for an installation that must not change the server.
    """
    parameters = [INOTIFY, ARP] if engine.name == "podman" and not engine.rootless else [INOTIFY]
    low = [each for each in parameters if each.is_low()]
    failure = ""
    if low and permitted:
        try:
            FILE.parent.mkdir(exist_ok=True)
            stored = FILE.read_text().splitlines() if FILE.exists() else []
            # An earlier run may have written other parameters.
            lines = [each.line for each in (INOTIFY, ARP) if each in low or each.line in stored]
            files.replace(FILE, (HEADER + "".join(f"{line}\n" for line in lines)).encode(), 0)
            FILE.chmod(0o644)
            for each in low:
                each.path.write_text(f"{each.least}\n")
        except OSError as error:
            failure = f"Setup cannot change it: {error.filename or FILE}: {error.strerror}. "
    return [
        f"the kernel parameter {each.name} is {each.path.read_text().strip()}, {each.reason}. {failure}Write the line "
        f"{each.line} into a file in {FILE.parent}, and run: sysctl --system"
        for each in low
        if each.is_low()
    ]
