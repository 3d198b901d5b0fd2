"""YAML parsers for tests. The C parser of PyYAML is about ten times as fast as the parser in Python, and optional."""

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text):
    """Returns the only document of this text."""
    return yaml.load(text, LOADER)


def load_all(text):
    """Returns the documents of this text as a list; empty documents are None."""
    return list(yaml.load_all(text, LOADER))
