"""Marks the tests of this folder, and adds the paths of the modules that they import."""

import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = map(str, FOLDER.parents[:2])


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == FOLDER:
            item.add_marker(pytest.mark.chart_live)
