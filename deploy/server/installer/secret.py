"""The secrets: generated once, and kept. The clients' secrets come from the login provider."""

import base64
import json
import os
import pathlib
import re
import secrets

from .problem import Problem

# Each generated secret, with its form.
GENERATED = {
    "proxy_secret": lambda: secrets.token_hex(32),
    "login_cookie": lambda: base64.urlsafe_b64encode(os.urandom(32)).decode(),
    "workshops_cookie": lambda: base64.urlsafe_b64encode(os.urandom(32)).decode(),
    "dex_launcher": lambda: secrets.token_hex(32),
    "dex_workshops": lambda: secrets.token_hex(32),
}
# Secrets of the login provider.
GIVEN = ("client_secret", "workshops_client_secret")


def load(path):
    """Reads the stored secrets, and generates those that are missing."""
    path = pathlib.Path(path)
    stored = {}
    if path.exists():
        try:
            stored = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise Problem(f"cannot read {path}: {error}. Restore the file from a backup") from None
    return {name: stored.get(name) or make() for name, make in GENERATED.items()} | {
        name: stored.get(name, "") for name in GIVEN
    }


def dump(found):
    return (json.dumps(found, indent=2) + "\n").encode()


def given(content, path):
    """Returns the secret in a file that the administrator named: one line."""
    text = content.decode(errors="replace").strip()
    if not re.fullmatch(r"[!-~]{1,512}", text):
        raise Problem(f"{path} must contain one line: the client secret of the login provider", code=2)
    return text
