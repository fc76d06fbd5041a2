"""Each kind of run has the results of its command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from drills import parse_spec, result_rows

from poise import runs
from poise.campaign import RUN_KINDS, Spec, run_campaign
from poise.campaign.kinds import find_run_kind
from poise.campaign.kinds.motion_runs import WalkQuality
from poise.campaign.storage import RUN_COLUMNS
from shared_data import require_data


@pytest.mark.parametrize("name", RUN_KINDS)
def test_a_kind_is_found_by_its_name_and_its_columns_clash_with_nothing(name: str) -> None:
    kind = find_run_kind(name)
    assert kind.name == name
    assert not kind.columns.keys() & RUN_COLUMNS.keys()
    assert all(
        column.type in ("number", "count", "flag", "text") and column.description for column in kind.columns.values()
    )


def test_a_walk_of_poor_quality_fails_but_a_slow_computer_does_not() -> None:
    kind, motion = WalkQuality(), runs.Walk()
    result = {"fell": False, "reason": None, "quality": {"pelvis_yaw_deg": 30.0, "overrun_ticks": 5.0}}
    assert kind.reason(motion, result) == "the pelvis yaws by 30 degrees in each stride (at most 20)"
    assert kind.reason(motion, {**result, "quality": {"pelvis_yaw_deg": 10.0, "overrun_ticks": 5.0}}) == ""
    assert kind.reason(motion, {**result, "fell": True, "reason": "fell at 2 s"}) == "fell at 2 s"


def test_a_folder_of_trials_becomes_one_row_a_trial_and_broken_files_are_failed_rows(tmp_path: Path) -> None:
    folder = tmp_path / "trials"
    folder.mkdir()
    for name in ("opensim_subject01/walk_free_01.trc", "malformed/Empty.c3d", "malformed/badParameterOffset.c3d"):
        shutil.copy(require_data(f"mocap/{name}"), folder)
    text = 'kind = "human gait"\n[fixed]\nfolder = "trials"\n[keep]\nrecordings = "none"\n'
    run_campaign(Spec.parse(text, str(tmp_path / "people.toml")), tmp_path / "out", workers=1)
    found = {Path(row["trial"]).name: row for row in result_rows(tmp_path / "out")}
    walk = found.pop("walk_free_01.trc")
    assert walk["outcome"] == "succeeded"
    assert walk["marker_rms_mm"] < 10.0
    assert abs(walk["worst_difference_deg"]) < 5.0
    assert set(found) == {"Empty.c3d", "badParameterOffset.c3d"}
    for name, row in found.items():
        assert row["outcome"] == "failed"
        assert name in row["reason"]


def test_reaches_are_evaluated_as_on_the_command_line(tmp_path: Path) -> None:
    fixed, grid = '[fixed]\nrobot = "mighty"\n', "[grid]\nset.phase_duration = [0.6, 1.2]\n"
    text = f'kind = "reach"\n{fixed}{grid}[keep]\nrecordings = "none"\n'
    run_campaign(parse_spec(text), tmp_path / "out", workers=1)
    quick, slow = result_rows(tmp_path / "out")
    assert quick["motion_seconds"] == pytest.approx(5 * 0.6, abs=0.02)
    assert slow["reach_error_m"] is not None
    assert slow["reach_error_m"] <= quick["reach_error_m"]
