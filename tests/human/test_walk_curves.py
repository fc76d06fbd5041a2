"""Curves of a walk agree with those of a laboratory's software; healthy people lie inside the norm, others do not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from marker_files import mocap

from poise import human
from poise.analysis import normative_band, normative_facts, normative_joints
from poise.human.event_sources import collect_events, plate_events
from poise.human.walk_curves import GAIT_ANGLES, GaitCurves, compute_gait_curves
from poise.human.walk_norms import compare_with_norm, profile_score, range_width, speed_note
from poise.robots import SIDES, BodyShape

ADULT = BodyShape.of(1.75)


@cache
def sample() -> GaitCurves:
    walk, static = human.sample_trial(cycles=2)
    return compute_gait_curves(human.fit(walk, static))


@cache
def recorded(name: str) -> GaitCurves:
    files = {
        "one": "pig_one/PiG_Motion-FlatFoot-One.c3d", "gait2354": "gait2354/subject01_walk1.trc",
        "opencap": "opencap_s4/walking1.trc",
    }  # fmt: skip
    return compute_gait_curves(human.fit_trial(mocap(files[name])))


def norm_means(dataset: str = "adults") -> dict[Any, np.ndarray]:
    """The mean curves of a norm, as those of a person whose cycles begin with initial contact."""
    share = np.linspace(0.0, 1.0, 101) + normative_facts(dataset).lead
    return {
        (angle, side): np.degrees(normative_band(angle, cycle=side, dataset=dataset).at(share))
        for angle in normative_joints(dataset) if angle in GAIT_ANGLES for side in SIDES
    }  # fmt: skip


def test_curves_of_the_sample_are_those_it_was_made_of() -> None:
    walk = sample()
    for angle in ("pelvis_obliquity", "pelvis_rotation", "hip_flexion", "knee_flexion"):
        for side in SIDES:
            mean = walk.curves(angle, side).mean
            band = normative_band(angle, cycle=side)
            exact = np.degrees(band.at(np.linspace(0.0, 1.0, 101)))
            shifts = [np.corrcoef(np.roll(exact[:-1], k), mean[:-1])[0, 1] for k in range(-8, 9)]
            assert max(shifts) > 0.9, (angle, side)  # its events are found some per cent later than they were made


@pytest.mark.parametrize(
    ("angle", "channel", "component", "sign", "tolerance"),
    [
        ("pelvis_tilt", "PelvisAngles", 0, 1.0, 1.0),
        ("pelvis_obliquity", "PelvisAngles", 1, 1.0, 1.0),
        ("pelvis_rotation", "PelvisAngles", 2, 1.0, 1.0),
        ("hip_flexion", "HipAngles", 0, 1.0, 2.0),
        ("foot_progression", "FootProgressAngles", 2, 1.0, 4.0),
    ],
)
def test_curves_agree_with_those_that_plug_in_gait_stored(
    angle: str, channel: str, component: int, sign: float, tolerance: float
) -> None:
    walk = recorded("one")
    for side in SIDES:
        (cycle,) = walk.cycles_of(side)
        stored = sign * walk.fit.trial.angles[f"{side[0].upper()}{channel}"][:, component]
        at = np.linspace(cycle.initial_contact, cycle.end, 101)
        theirs = np.interp(at, walk.fit.time, stored)
        ours = walk.curves(angle, side).mean
        if angle == "foot_progression":  # in swing the foot points down, and its horizontal direction means little
            ours, theirs = ours[:55], theirs[:55]
        difference = ours - theirs
        assert np.std(difference) < tolerance, side
        assert angle == "foot_progression" or np.corrcoef(ours, theirs)[0, 1] > 0.8, side


def test_power_is_the_rate_of_work_of_the_moment() -> None:
    walk = sample()
    assert walk.torques is not None
    (cycle, *_) = walk.cycles_of("left")
    power = walk.curves("knee_power", "left").values[0]
    work = np.trapezoid(power, np.linspace(cycle.initial_contact, cycle.end, 101))
    # independently: the moment over the angle, from one frame to the next
    inside = (walk.fit.time >= cycle.initial_contact) & (walk.fit.time <= cycle.end)
    moment = walk.torques.joint_torque("left_knee_flexion")[inside] / walk.torques.mass
    angle = walk.fit.angles()["left_knee_flexion"][inside]
    assert work == pytest.approx(np.trapezoid(moment, angle), abs=0.02)


def test_events_come_from_plates_then_from_the_file_then_from_the_rule() -> None:
    walk = sample()
    assert set(walk.event_counts) == {"plates", "file", "rule"}
    assert walk.event_counts["plates"] > 0
    assert walk.event_counts["rule"] == 0
    stored = walk.fit.trial.events
    late = [replace(event, time=event.time + 0.04) for event in stored]
    found = collect_events(walk.reference, late, walk.torques)
    measured = plate_events(walk.torques) if walk.torques else ()
    assert measured
    for each in found:
        if each.source == "plates":
            assert each.event in measured
        else:
            assert each.event in late
    without = collect_events(walk.reference, (), None)
    assert {each.source for each in without} == {"rule"}


@pytest.mark.parametrize("name", ["gait2354", "opencap"])
def test_members_of_the_norm_lie_inside_it(name: str) -> None:
    for row in recorded(name).compare_with_norm("adults"):
        assert row.inside >= 0.95, (row.angle, row.side)


def test_the_zero_of_the_pelvis_does_not_put_a_person_outside_the_norm() -> None:
    means = recorded("opencap")._means()
    other_laboratory = {
        (angle, side): curve + (12.0 if angle in ("pelvis_tilt", "hip_flexion") else 0.0)
        for (angle, side), curve in means.items()
    }
    for one, two in zip(compare_with_norm(means, ADULT), compare_with_norm(other_laboratory, ADULT), strict=True):
        assert two.inside == one.inside
        assert two.offset == pytest.approx(one.offset + (12.0 if two.angle in ("pelvis_tilt", "hip_flexion") else 0.0))
        assert two.shape_score == pytest.approx(one.shape_score)


def test_a_gait_that_is_not_normal_lies_outside() -> None:
    means = norm_means()
    crouched = {key: curve + (30.0 if key[0] == "knee_flexion" else 0.0) for key, curve in means.items()}
    stiff = {key: 0.3 * curve if key[0] in ("knee_flexion", "hip_flexion") else curve for key, curve in means.items()}
    for changed, angles in ((crouched, {"knee_flexion"}), (stiff, {"knee_flexion", "hip_flexion"})):
        for row in compare_with_norm(changed, ADULT):
            assert (row.inside < 0.85) == (row.angle in angles), row.angle
        assert profile_score(changed, ADULT).score > 6.0


def test_the_profile_score_is_that_of_its_definition() -> None:
    means = norm_means("children")
    child = BodyShape.of(1.2)
    assert profile_score(means, child).score == pytest.approx(0.0, abs=1e-9)
    off = profile_score({key: curve + 5.0 for key, curve in means.items()}, child)
    assert off.dataset == "children"
    assert off.score == pytest.approx(5.0)
    assert off.shape_score < 5.0  # angles whose zero is that of the laboratory do not count with their offset
    assert off.missing == ("foot_progression",)


def test_a_norm_of_few_people_is_wider_and_one_of_another_speed_is_named() -> None:
    assert range_width(5) == pytest.approx(3.04, abs=0.01)  # 2.776 * sqrt(1.2), from tables of Student's t
    assert range_width(1000) == pytest.approx(1.96, abs=0.01)
    assert "1.1 to 1.3 m/s" in speed_note(0.7, "adults")
    assert speed_note(1.2, "adults") == ""
    with pytest.raises(human.TrialError.__mro__[1], match="no norm 'giants'"):
        profile_score(norm_means(), ADULT, "giants")


def test_table_and_text_have_both_sides() -> None:
    walk = sample()
    for side in SIDES:
        table = walk.spatiotemporal[side]
        assert table["stance"] + table["swing"] == pytest.approx(100.0)
        assert table["speed"] == pytest.approx(table["stride"] / table["stride_time"], rel=0.05)
    text = walk.text()
    assert "gait profile score" in text
    assert "ankle power (W/kg)" in text
    assert set(walk.summary()["curves"]) == set(walk.names)


def test_the_page_has_events_curves_and_score() -> None:
    from poise.report.curves_page import curves_page

    page = curves_page(sample())
    for text in ("from force plates", "Foot progression", "Gait profile score", "Ankle power"):
        assert text in page
