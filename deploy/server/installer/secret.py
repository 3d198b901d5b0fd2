"""The secrets: generated once, and kept. The clients' secrets come from the login provider."""

import base64
import json
import os
import pathlib
import re
import secrets

from . import stored
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
# All secrets, also empty ones.
FORM = r"[!-~]{0,512}"


def load(path):
    """Reads the stored secrets, and generates those that are missing."""
    found = stored.load(pathlib.Path(path))
    for name in (*GENERATED, *GIVEN):
        if not isinstance(found.get(name, ""), str) or not re.fullmatch(FORM, found.get(name, "")):
            stored.refuse(path, name)
    return {name: found.get(name) or make() for name, make in GENERATED.items()} | {name: found.get(name, "") for name in GIVEN}


def dump(found):
    return (json.dumps(found, indent=2) + "\n").encode()


def given(content, path):
    """Returns the secret in a file that the administrator named: one line."""
    text = content.decode(errors="replace").strip()
    if not re.fullmatch(r"[!-~]{1,512}", text):
        raise Problem(f"{path} must contain one line: the client secret of the login provider", code=2)
    return text
