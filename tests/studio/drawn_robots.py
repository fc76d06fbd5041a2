"""Robots whose looks are tested: three of the four with large meshes only in `make slow`."""

import pytest

from poise.robots import library_names
from poise.robots.catalogue import is_own, models_folder

LARGE = ("talos", "romeo", "icub")
ROBOTS = [
    pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name
    for name in library_names()
    if is_own(name) or models_folder() is not None
]
