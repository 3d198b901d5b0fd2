"""Reads the JSON files that setup stores. Their author may be another version, an administrator, or a foreign backup."""

import json

from .problem import Problem

REMEDY = "Restore the file from a backup"


def parse(content, where, remedy=REMEDY):
    """Returns the object in this content. Raises if it is something else."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Problem(f"cannot read {where}: {error}. {remedy}") from None
    if not isinstance(found, dict):
        raise Problem(f"cannot read {where}: it is not a JSON object. {remedy}")
    return found


def load(path):
    """Returns the object in this file; an empty one without a file."""
    try:
        return parse(path.read_bytes(), path) if path.exists() else {}
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}. {REMEDY}") from None


def refuse(where, name, remedy=REMEDY):
    """Raises the error of a wrong value. Never prints the value, which can be a secret."""
    raise Problem(f"cannot read {where}: {name} has a wrong value. {remedy}")
