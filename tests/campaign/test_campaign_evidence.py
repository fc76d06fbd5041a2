"""The check version of every campaign of this repository stays above its floor, and the page tells of all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from poise.campaign import Spec, run_campaign, survival
from poise.robots.catalogue import models_folder

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "campaigns").glob("*.toml"))

needs_models = pytest.mark.skipif(models_folder() is None, reason="the package example-robot-data is not installed")


@needs_models
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_survival_is_not_below_its_floor(path: Path, tmp_path: Path) -> None:
    spec = Spec.load(path, "check")
    assert spec.floor is not None, "give its [check] a floor"
    results = run_campaign(spec, tmp_path / "out", workers=1)
    assert results.finished
    assert survival(results).value >= spec.floor, [reason for reason in results["reason"] if reason]


@needs_models
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_size_can_be_planned_and_the_page_has_it(path: Path) -> None:
    sizes = [len(Spec.load(path, size).runs) for size in ("full", "short", "check")]
    assert sizes[0] > sizes[1] > sizes[2] >= 1
    assert f"## {Spec.load(path).title}\n" in (ROOT / "docs/evidence.md").read_text(encoding="utf-8")
