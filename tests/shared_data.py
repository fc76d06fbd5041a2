"""Data that are not part of the repository: recordings, in shared/data or POISE_DATA, and models of library robots."""

import os
from pathlib import Path

import pytest

from poise.robots.catalogue import models_folder

#: Why tests of library robots are skipped.
NO_MODELS = "the package example-robot-data is not installed"


def shared_data(name: str) -> Path | None:
    """A file or folder of the data, such as ``"mocap/pig_one"``; None where there is none.

    It is looked for in ``shared/data`` beside any folder above this file, or in the folder POISE_DATA; that may also be
    one of those inside the data, such as hqp.
    """
    given = os.environ.get("POISE_DATA")
    above = Path(__file__).resolve().parents
    places = [Path(given), Path(given).parent] if given else [parent / "shared/data" for parent in above]
    return next((place / name for place in places if (place / name).exists()), None)


def require_data(name: str) -> Path:
    """The same; the test is skipped where there is none."""
    found = shared_data(name)
    if found is None:
        pytest.skip(f"no {name} in shared/data above the repository, nor in POISE_DATA")
    return found


def require_models() -> None:
    """Skip the test, the fixture or the module that calls this, where the library robots have no models.

    Tests that always need them have the marker ``needs_models`` instead.
    """
    if models_folder() is None:
        pytest.skip(NO_MODELS, allow_module_level=True)
