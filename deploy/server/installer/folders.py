"""The two folders of an installation. Setup makes them private: a folder with other files is never meant."""

import pathlib

from .data import is_used
from .problem import Problem

# Names in the folder of the configuration. Some exist before the first setup, because the administrator wrote them.
KNOWN = {
    ".env", ".restore", "accounts.json", "acme", "acme.env", "compose.yaml", "dex", "images.env", "launcher", "launcher.env",
    "login", "private-ca", "secrets.json", "settings.json", "traefik", "workshops-login",
}
# Names in an unused folder of the data: the second is on each new disk, the third is of an interrupted restore.
UNUSED = {"fleet", "lost+found", ".restore"}


def check(root, folder):
    """Raises if a new installation cannot have these folders for configuration and data."""
    root, folder = pathlib.Path(root), pathlib.Path(folder)
    if root == folder or root in folder.parents or folder in root.parents:
        raise Problem(f"--data-dir {folder} and --directory {root} must not contain each other. Name another folder", code=2)
    check_root(root)
    check_data(folder)


def check_root(root):
    if not (root / "settings.json").exists():
        temporary = tuple(f".{name}." for name in KNOWN)
        _check("--directory", root, [name for name in _names(root) if name not in KNOWN and not name.startswith(temporary)])


def check_data(folder):
    if not is_used(folder):
        _check("--data-dir", folder, sorted(set(_names(folder)) - UNUSED))


def _names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _check(flag, folder, found):
    if found:
        raise Problem(
            f"{flag} {folder} contains other files, such as {found[0]}. Setup would hide them from other users. Name a folder "
            f"of its own, as in {flag} {str(folder).rstrip('/')}/workshop-launcher",
            code=2,
        )
