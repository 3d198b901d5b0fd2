"""Marks the tests of this folder."""

import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == FOLDER:
            item.add_marker(pytest.mark.chart_live)
