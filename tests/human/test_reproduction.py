"""Gait reproduction from a few tasks: accuracy of the variants and their differences."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from poise.analysis import TABLE_I_JOINTS
from poise.errors import GaitError
from poise.human import BEST, PAPER, TWO_PHASES, Variant
from poise.human.gait.reproduction import (
    BEST_EIGHT_KEYS,
    FOUR_KEYS,
    SIX_KEYS,
    TRACK,
    VARIANTS,
    gait_hierarchy,
    lowest_heights,
    reproduce,
)
from poise.human.gait.reproduction_quality import measure_reproduction
from poise.recording import load_recording
from sample_walks import reproduce_sample, sample_quality, sample_walk, turned_walk

KNEES = [TABLE_I_JOINTS.index(f"{side}_knee_flexion") for side in ("right", "left")]
WITH_TASKS = [variant for variant in (*VARIANTS, TRACK) if variant.law != "interpolation"]


def by_name(variant: Variant) -> str:
    return variant.name


def test_tracking_the_whole_posture_reproduces_the_walk() -> None:
    assert np.abs(sample_quality(TRACK).differences).max() < 0.15
    assert sample_quality(TRACK).errors.max() < 0.1


def test_without_ground_constraints_the_error_is_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.human.gait.reproduction.ground_constraints", lambda reference, cycle: [])
    assert measure_reproduction(reproduce(sample_walk(), variant=TRACK)).errors.max() < 0.02


@pytest.mark.parametrize("variant", WITH_TASKS, ids=by_name)
def test_heels_and_center_of_mass_are_tracked_independently_of_the_posture_task(variant: Variant) -> None:
    assert sample_quality(variant).heel_error < 1.0
    assert sample_quality(variant).center_of_mass_error < 0.1


@pytest.mark.parametrize("variant", WITH_TASKS, ids=by_name)
def test_points_stay_above_the_ground_joints_in_range_and_accelerations_bounded(variant: Variant) -> None:
    measures = sample_quality(variant)
    assert measures.penetration < 0.2
    assert measures.joint_limit_margin > 0.0
    assert measures.peak_acceleration < 3000.0
    assert reproduce_sample(variant).fallbacks == 0
    assert set(reproduce_sample(variant).recording["solver/status"]) == {"optimal"}


def test_six_key_postures_with_velocities_reproduce_every_range_within_five_degrees() -> None:
    assert np.abs(sample_quality(BEST).differences).max() < 5.0
    assert sample_quality(BEST).zmp_inside >= 0.8
    assert sample_quality(BEST).errors.mean() < sample_quality(PAPER).errors.mean() / 3.0


def test_two_more_key_postures_halve_the_remaining_error() -> None:
    assert (
        np.abs(sample_quality(BEST_EIGHT_KEYS).differences).max() < 0.5 * np.abs(sample_quality(BEST).differences).max()
    )
    assert sample_quality(BEST_EIGHT_KEYS).zmp_inside >= 0.8


def test_with_key_postures_at_initial_contacts_alone_the_swing_knee_stays_straight() -> None:
    assert (sample_quality(TWO_PHASES).ranges[KNEES] < 0.35 * sample_quality(TWO_PHASES).reference_ranges[KNEES]).all()
    assert (sample_quality(PAPER).ranges[KNEES] > 0.6 * sample_quality(PAPER).reference_ranges[KNEES]).all()


def test_ranges_of_motion_do_not_distinguish_tasks_from_interpolation() -> None:
    """The same keys without any task: the ranges are as good, but the feet deviate."""
    for tasks, bare in ((PAPER, FOUR_KEYS), (BEST, SIX_KEYS)):
        ours, theirs = (float(np.abs(sample_quality(variant).differences).mean()) for variant in (tasks, bare))
        assert theirs == pytest.approx(ours, abs=0.5)
        assert sample_quality(bare).heel_error > 10.0 * sample_quality(tasks).heel_error
        assert sample_quality(bare).penetration > 1.0
    assert sample_quality(FOUR_KEYS).heel_error > 30.0


def test_the_angular_momentum_task_moves_the_zmp_under_the_feet_and_keeps_the_ranges_of_motion() -> None:
    without = replace(BEST, name="without momentum", momentum=False)
    gained = sample_quality(BEST).zmp_inside - sample_quality(without).zmp_inside
    assert gained >= 0.0
    assert sample_quality(BEST).differences == pytest.approx(sample_quality(without).differences, abs=0.7)
    spin = {v: np.abs(reproduce_sample(v).recording["v"]).max() for v in (BEST, without)}
    assert spin[BEST] < 1.5 * spin[without]


def test_the_direction_of_walking_changes_nothing() -> None:
    other = measure_reproduction(reproduce(turned_walk(-2.4), variant=BEST))
    assert other.differences == pytest.approx(sample_quality(BEST).differences, abs=0.05)
    assert other.zmp_inside == pytest.approx(sample_quality(BEST).zmp_inside, abs=0.02)


@pytest.mark.parametrize("variant", [PAPER, BEST], ids=by_name)
def test_ranges_do_not_depend_on_the_period(variant: Variant) -> None:
    for period in (0.01, 0.0025):
        other = measure_reproduction(reproduce(sample_walk(), variant=variant, period=period))
        assert other.differences == pytest.approx(sample_quality(variant).differences, abs=2.0)


def test_the_recording_has_the_task_errors_and_the_variant() -> None:
    recording = reproduce_sample(BEST).recording
    assert recording.provenance["behavior"] == "gait"
    assert "six" in recording.provenance["variant"]
    assert np.abs(recording["error/heels/left_heel"]).max() < 2e-3
    assert "error/angular_momentum/angular_momentum" in recording
    assert recording.labels["error/posture/posture"][:2] == ("base x", "base y")
    assert np.array_equal(recording["q"], reproduce_sample(BEST).q)
    assert len(reproduce_sample(SIX_KEYS).recording["q"]) == len(reproduce_sample(SIX_KEYS).time)


def test_the_recording_can_be_saved_and_comes_back(tmp_path: Path) -> None:
    for variant in (BEST, SIX_KEYS):
        recording = reproduce_sample(variant).recording
        recording.save(tmp_path / "gait.poise")
        back = load_recording(tmp_path / "gait.poise")
        assert np.array_equal(back["q"], recording["q"])
        assert back.summary()


def test_the_hierarchy_is_the_one_of_the_paper_and_momentum_stands_before_the_posture() -> None:
    paper, best = (gait_hierarchy(sample_walk(), sample_walk().cycle(), variant) for variant in (PAPER, BEST))
    assert [level.name for level in paper.levels] == ["heels", "center of mass", "posture"]
    assert [level.name for level in best.levels] == ["heels", "center of mass", "angular momentum", "posture"]
    rows = [sum(len(task.labels(sample_walk().robot)) for task in level.tasks) for level in best.levels]
    assert rows == [4, 3, 3, 42]


def test_the_order_of_heels_and_center_of_mass_does_not_matter_as_both_are_feasible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def swapped(*args: object) -> object:
        found = gait_hierarchy(*args)  # type: ignore[arg-type]
        return found.reorder(["center of mass", "heels", "posture"])

    monkeypatch.setattr("poise.human.gait.reproduction.gait_hierarchy", swapped)
    other = measure_reproduction(reproduce(sample_walk(), variant=PAPER))
    assert other.differences == pytest.approx(sample_quality(PAPER).differences, abs=0.1)


def test_points_stay_above_their_lowest_position_in_the_reference() -> None:
    cycle = sample_walk().cycle()
    lowest = lowest_heights(sample_walk(), cycle)
    for time in np.linspace(cycle.initial_contact, cycle.end, 23):
        moment = sample_walk().at(float(time))
        assert moment.heels["left"][0][2] > lowest[0] - 1e-3
        assert moment.heels["right"][0][2] > lowest[4] - 1e-3


def test_an_invalid_variant_is_refused_in_one_line() -> None:
    for wrong, words in (
        ({"keys": "five"}, "expected one of two, four, six, eight"),
        ({"law": "spline"}, "expected one of pd_per_phase, pd"),
        ({"order": 3}, "expected 0, 1 or 2"),
        ({"gain": 0.0}, "above 0 and below 200"),
    ):
        with pytest.raises(GaitError, match=words):
            Variant("odd", **wrong)


@pytest.mark.parametrize(
    "variant",
    [
        Variant("pd", law="pd", gain=20.0),
        Variant("time to go", keys="six", law="time_to_go"),
        Variant("time to go in motion", keys="six", law="time_to_go", order=1),
        Variant("velocities only", keys="six", law="minimum_jerk", gain=25.0, order=1),
    ],
    ids=by_name,
)
def test_the_other_posture_laws_track_the_feet_as_well(variant: Variant) -> None:
    measures = sample_quality(variant)
    assert (measures.heel_error < 1.0, measures.center_of_mass_error < 0.1, reproduce_sample(variant).fallbacks) == (
        True,
        True,
        0,
    )
    assert measures.errors.mean() < 8.0
