"""Paths of the modules that these tests import."""

import pathlib
import sys

for folder in pathlib.Path(__file__).resolve().parents[1:3]:
    sys.path.insert(0, str(folder))
