"""Shared test configuration: hypothesis profiles, folders of recorded data, and a cache that starts empty."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from poise.robots.catalogue import models_folder
from shared_data import NO_MODELS, require_data

# Derandomized, so that a failure is reproducible; the thorough profile searches for new examples.
_common_settings: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("quick", max_examples=8, derandomize=True, **_common_settings)
settings.register_profile("default", max_examples=25, derandomize=True, **_common_settings)
settings.register_profile("thorough", max_examples=2000, print_blob=True, **_common_settings)
settings.load_profile(os.environ.get("POISE_PROFILE", "default"))

ROOT = Path(__file__).resolve().parents[1]
#: Folders with the slowest files; they run first, so that no process is left with a long file at the end.
SLOW_FIRST = ("docs", "campaign", "studio", "behaviors", "papers", "human", "control", "cli", "exports", "report")
#: Files whose tests are slow and independent: each test goes to any free process.
SPLIT_FILES = ("tests/docs/test_page_programs.py",)
_cache = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Use one new cache for all processes of a session, not the user's; workers inherit it."""
    if not hasattr(config, "workerinput"):
        config.stash[_cache] = os.environ["POISE_CACHE"] = tempfile.mkdtemp(prefix="poise-cache-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _cache in config.stash:
        shutil.rmtree(config.stash[_cache], ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests with the marker ``needs_models`` if the package example-robot-data is not installed.

    Several processes take long folders first; one process alone keeps the order of the files.
    """
    if models_folder() is None:
        for item in items:
            if item.get_closest_marker("needs_models"):
                item.add_marker(pytest.mark.skip(reason=NO_MODELS))
    if hasattr(config, "workerinput"):
        ranks = {folder: rank for rank, folder in enumerate(SLOW_FIRST)}
        items.sort(key=lambda item: ranks.get(item.path.relative_to(ROOT).parts[1], len(ranks)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Schedule like ``--dist loadfile``, but split `SPLIT_FILES`: the fixtures of all other files run once."""
    from xdist.scheduler import LoadFileScheduling

    class FileScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(SPLIT_FILES) else super()._split_scope(nodeid)

    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return FileScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def budget_share() -> Iterator[float]:
    """Share of a period that controllers give their solver by default; there is no limit during the tests.

    Tests compare runs exactly, and a machine that is busy must not change them. Tests of the budget set one.
    """
    from poise.control import hierarchy_controller

    with pytest.MonkeyPatch.context() as patch:
        share = hierarchy_controller.BUDGET_SHARE
        patch.setattr(hierarchy_controller, "BUDGET_SHARE", math.inf)
        yield share


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def hqp_data() -> Path:
    """Folder with control sequences recorded on Talos and G1, kept beside the repository."""
    return require_data("hqp")
