"""Cascade, the reference solver: its tolerance."""

import pytest

from poise.errors import SolverError
from poise.solvers import Cascade


def test_a_tolerance_is_small_and_positive() -> None:
    with pytest.raises(SolverError, match="tolerance"):
        Cascade(tolerance=0.0)
