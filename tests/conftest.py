"""What all tests share: how hard hypothesis tries, where recorded data lie, and a cache that is empty at first."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from poise.robots.catalogue import models_folder
from shared_data import NO_MODELS, needed

# Derandomized, so that a red test is red again; the thorough profile goes looking for new examples.
_common: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("quick", max_examples=8, derandomize=True, **_common)
settings.register_profile("default", max_examples=40, derandomize=True, **_common)
settings.register_profile("thorough", max_examples=2000, print_blob=True, **_common)
settings.load_profile(os.environ.get("POISE_PROFILE", "default"))

ROOT = Path(__file__).resolve().parents[1]
_cache = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """One cache for all processes of a session, and none of the user's; workers have it from who starts them."""
    if not hasattr(config, "workerinput"):
        config.stash[_cache] = os.environ["POISE_CACHE"] = tempfile.mkdtemp(prefix="poise-cache-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _cache in config.stash:
        shutil.rmtree(config.stash[_cache], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests with the marker ``needs_models`` where the package example-robot-data is absent."""
    if models_folder() is None:
        for item in items:
            if item.get_closest_marker("needs_models"):
                item.add_marker(pytest.mark.skip(reason=NO_MODELS))


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def hqp_data() -> Path:
    """Folder with control sequences recorded on Talos and G1, kept beside the repository."""
    return needed("hqp")
