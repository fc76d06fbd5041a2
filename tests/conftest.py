"""What all tests share: how hard hypothesis tries, and where recorded data lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from shared_data import needed

# Derandomized, so that a red test is red again; the thorough profile goes looking for new examples.
_common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("quick", max_examples=8, derandomize=True, **_common)
settings.register_profile("default", max_examples=40, derandomize=True, **_common)
settings.register_profile("thorough", max_examples=2000, print_blob=True, **_common)
settings.load_profile(os.environ.get("POISE_PROFILE", "default"))

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def hqp_data() -> Path:
    """Folder with control sequences recorded on Talos and G1, kept beside the repository."""
    return needed("hqp")
