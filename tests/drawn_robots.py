"""Robots whose rendering is tested: three of the four with large meshes only in `make slow`."""

import pytest

from poise.robots import library_names
from poise.robots.catalogue import is_bundled

LARGE = ("talos", "romeo", "icub")
ROBOTS = [
    pytest.param(
        name,
        marks=[
            *([] if is_bundled(name) else [pytest.mark.needs_models]),
            *([pytest.mark.slow] if name in LARGE else []),
        ],
    )
    for name in library_names()
]
