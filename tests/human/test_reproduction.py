"""A gait cycle from a few tasks: what is reproduced, what is lost, and what ranges of motion do not tell."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from poise.analysis import TABLE_I_JOINTS
from poise.errors import GaitError
from poise.human import BEST, PAPER, TWO_PHASES, Variant
from poise.human.gait.reproduction import (
    EIGHT,
    FOUR_KEYS,
    SIX_KEYS,
    TRACK,
    VARIANTS,
    hierarchy,
    lowest_places,
    reproduce,
)
from poise.human.gait.reproduction_quality import measured
from poise.recording import load_recording
from sampled_walks import judged, run, turned, walk

KNEES = [TABLE_I_JOINTS.index(f"{side}_knee_flexion") for side in ("right", "left")]
WITH_TASKS = [variant for variant in (*VARIANTS, TRACK) if variant.law != "interpolation"]


def by_name(variant: Variant) -> str:
    return variant.name


def test_a_posture_that_is_known_throughout_is_followed_without_loss() -> None:
    assert np.abs(judged(TRACK).differences).max() < 0.15
    assert judged(TRACK).errors.max() < 0.1


def test_without_a_ground_the_loss_is_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.human.gait.reproduction.ground", lambda reference, cycle: [])
    assert measured(reproduce(walk(), variant=TRACK)).errors.max() < 0.02


@pytest.mark.parametrize("variant", WITH_TASKS, ids=by_name)
def test_heels_and_center_of_mass_are_followed_whatever_the_posture_wants(variant: Variant) -> None:
    assert judged(variant).heels < 1.0
    assert judged(variant).center < 0.1


@pytest.mark.parametrize("variant", WITH_TASKS, ids=by_name)
def test_no_point_sinks_and_no_joint_leaves_its_range_and_nothing_explodes(variant: Variant) -> None:
    measures = judged(variant)
    assert measures.penetration < 0.2
    assert measures.limit > 0.0
    assert measures.acceleration < 3000.0
    assert run(variant).fallbacks == 0
    assert set(run(variant).recording["solver/status"]) == {"optimal"}


def test_two_postures_more_in_motion_bring_every_range_within_five_degrees() -> None:
    assert np.abs(judged(BEST).differences).max() < 5.0
    assert judged(BEST).inside >= 0.8
    assert judged(BEST).errors.mean() < judged(PAPER).errors.mean() / 3.0


def test_two_more_halve_what_is_left() -> None:
    assert np.abs(judged(EIGHT).differences).max() < 0.5 * np.abs(judged(BEST).differences).max()
    assert judged(EIGHT).inside >= 0.8


def test_with_the_postures_at_strikes_alone_the_swing_knee_stays_straight() -> None:
    assert (judged(TWO_PHASES).ranges[KNEES] < 0.35 * judged(TWO_PHASES).reference_ranges[KNEES]).all()
    assert (judged(PAPER).ranges[KNEES] > 0.6 * judged(PAPER).reference_ranges[KNEES]).all()


def test_ranges_of_motion_do_not_tell_tasks_from_bare_interpolation() -> None:
    """The same keys without any task: the ranges are as good, the feet are not where they should be."""
    for tasks, bare in ((PAPER, FOUR_KEYS), (BEST, SIX_KEYS)):
        ours, theirs = (float(np.abs(judged(variant).differences).mean()) for variant in (tasks, bare))
        assert theirs == pytest.approx(ours, abs=0.5)
        assert judged(bare).heels > 10.0 * judged(tasks).heels
        assert judged(bare).penetration > 1.0
    assert judged(FOUR_KEYS).heels > 30.0


def test_the_angular_momentum_puts_the_zero_moment_point_under_the_feet_and_costs_no_range() -> None:
    without = replace(BEST, name="without momentum", momentum=False)
    gained = judged(BEST).inside - judged(without).inside
    assert gained >= 0.0
    assert judged(BEST).differences == pytest.approx(judged(without).differences, abs=0.7)
    spin = {v: np.abs(run(v).recording["v"]).max() for v in (BEST, without)}
    assert spin[BEST] < 1.5 * spin[without]


def test_the_direction_of_walking_changes_nothing() -> None:
    other = measured(reproduce(turned(-2.4), variant=BEST))
    assert other.differences == pytest.approx(judged(BEST).differences, abs=0.05)
    assert other.inside == pytest.approx(judged(BEST).inside, abs=0.02)


@pytest.mark.parametrize("variant", [PAPER, BEST], ids=by_name)
def test_ranges_do_not_depend_on_the_period(variant: Variant) -> None:
    for period in (0.01, 0.0025):
        other = measured(reproduce(walk(), variant=variant, period=period))
        assert other.differences == pytest.approx(judged(variant).differences, abs=2.0)


def test_the_recording_tells_what_was_asked_for() -> None:
    recording = run(BEST).recording
    assert recording.provenance["behavior"] == "gait"
    assert "six" in recording.provenance["variant"]
    assert np.abs(recording["error/heels/left_heel"]).max() < 2e-3
    assert "error/angular_momentum/angular_momentum" in recording
    assert recording.labels["error/posture/posture"][:2] == ("base x", "base y")
    assert np.array_equal(recording["q"], run(BEST).q)
    assert len(run(SIX_KEYS).recording["q"]) == len(run(SIX_KEYS).time)


def test_the_recording_can_be_saved_and_comes_back(tmp_path: Path) -> None:
    for variant in (BEST, SIX_KEYS):
        recording = run(variant).recording
        recording.save(tmp_path / "gait.poise")
        back = load_recording(tmp_path / "gait.poise")
        assert np.array_equal(back["q"], recording["q"])
        assert back.summary()


def test_the_hierarchy_is_the_one_of_the_paper_and_momentum_stands_before_the_posture() -> None:
    paper, best = (hierarchy(walk(), walk().cycle(), variant) for variant in (PAPER, BEST))
    assert [level.name for level in paper.levels] == ["heels", "center of mass", "posture"]
    assert [level.name for level in best.levels] == ["heels", "center of mass", "angular momentum", "posture"]
    rows = [sum(len(task.labels(walk().robot)) for task in level.tasks) for level in best.levels]
    assert rows == [4, 3, 3, 42]


def test_the_order_of_heels_and_center_does_not_matter_since_both_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def swapped(*args: object) -> object:
        found = hierarchy(*args)  # type: ignore[arg-type]
        return found.reordered(["center of mass", "heels", "posture"])

    monkeypatch.setattr("poise.human.gait.reproduction.hierarchy", swapped)
    other = measured(reproduce(walk(), variant=PAPER))
    assert other.differences == pytest.approx(judged(PAPER).differences, abs=0.1)


def test_points_are_kept_above_their_lowest_place_in_the_reference() -> None:
    cycle = walk().cycle()
    lowest = lowest_places(walk(), cycle)
    for time in np.linspace(cycle.initial_contact, cycle.end, 23):
        moment = walk().at(float(time))
        assert moment.heels["left"][0][2] > lowest[0] - 1e-3
        assert moment.heels["right"][0][2] > lowest[4] - 1e-3


def test_a_variant_that_makes_no_sense_is_refused_in_one_line() -> None:
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
def test_other_laws_follow_the_feet_as_well(variant: Variant) -> None:
    measures = judged(variant)
    assert (measures.heels < 1.0, measures.center < 0.1, run(variant).fallbacks) == (True, True, 0)
    assert measures.errors.mean() < 8.0
