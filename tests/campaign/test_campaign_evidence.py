"""The check version of every campaign reaches its minimum success rate, and the evidence page lists all campaigns."""

from __future__ import annotations

from pathlib import Path

import pytest

from poise.campaign import PlannedRun, Spec
from poise.errors import PoiseError

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "campaigns").glob("*.toml"))


@pytest.mark.needs_models
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_success_rate_is_not_below_its_minimum(path: Path) -> None:
    """Runs in this process: workers have their own tests, and starting one for each spec takes minutes."""
    spec = Spec.load(path, "check")
    assert spec.min_success_rate is not None, "give its [check] a min_success_rate"
    reasons = [failure_reason(spec, run) for run in spec.runs]
    assert sum(not reason for reason in reasons) >= spec.min_success_rate * len(reasons), [
        each for each in reasons if each
    ]


def failure_reason(spec: Spec, run: PlannedRun) -> str:
    """Return the reason of a failed run; "" if it succeeded."""
    try:
        return spec.kind.run(run.parameters, run.seed).reason
    except PoiseError as error:
        return str(error)


@pytest.mark.needs_models
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_size_can_be_planned_and_is_on_the_page(path: Path) -> None:
    sizes = [len(Spec.load(path, size).runs) for size in ("full", "short", "check")]
    assert sizes[0] > sizes[1] > sizes[2] >= 1
    assert f"## {Spec.load(path).title}\n" in (ROOT / "docs/evidence.md").read_text(encoding="utf-8")
