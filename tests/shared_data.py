"""Data that are not part of the repository: recordings, in shared/data or POISE_DATA, and models of library robots."""

import os
from pathlib import Path

import pytest

from poise.robots.catalogue import models_folder

#: Reason for skipping tests of library robots.
NO_MODELS = "the package example-robot-data is not installed"


def shared_data(name: str) -> Path | None:
    """Return a file or folder of the data, such as ``"mocap/pig_one"``; None if it does not exist.

    Searches the folder POISE_DATA, which may also be a folder inside the data, such as hqp; if it is not set,
    ``shared/data`` in any folder above this file.
    """
    folder = os.environ.get("POISE_DATA")
    above = Path(__file__).resolve().parents
    places = [Path(folder), Path(folder).parent] if folder else [parent / "shared/data" for parent in above]
    return next((place / name for place in places if (place / name).exists()), None)


def require_data(name: str) -> Path:
    """Return a file or folder of the data; skip the test if it does not exist."""
    found = shared_data(name)
    if found is None:
        pytest.skip(f"no {name} in shared/data above the repository, nor in POISE_DATA")
    return found


def require_models() -> None:
    """Skip the calling test, fixture or module if the models of the library robots are not installed.

    Tests that always need them have the marker ``needs_models`` instead.
    """
    if models_folder() is None:
        pytest.skip(NO_MODELS, allow_module_level=True)
