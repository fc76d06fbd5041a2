"""Joint moments have the conventions of gait laboratories and agree with stored moments."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from marker_files import mocap
from torque_trials import known_motion

from poise.human import (
    LEG_MOMENTS,
    PLUG_IN_GAIT_UNIT,
    Torques,
    compare_stored_moments,
    compute_torques,
    fit,
    internal_joint_moments,
    read_trial,
)
from poise.robots import SIDES


@cache
def laboratory_torques(name: str) -> Torques:
    """A subject with moments stored by a laboratory: Plug-in Gait, two plates."""
    word = name.capitalize()
    walk, static = (mocap(f"pig_{name}/PiG_{kind}-FlatFoot-{word}.c3d") for kind in ("Motion", "Calibration"))
    return compute_torques(fit(read_trial(walk), read_trial(static)))


def test_moments_are_torques_per_kg_with_extensors_positive() -> None:
    torques = compute_torques(known_motion())
    found = internal_joint_moments(torques)
    for side in SIDES:
        assert found[f"{side} knee extensor"] == pytest.approx(-torques.joint_torque(f"{side}_knee_flexion") / 75.0)
        plantarflexor = found[f"{side} ankle plantarflexor"]
        assert 1.0 < plantarflexor.max() < 2.2  # push-off of adults
        assert found[f"{side} hip abductor"].max() > 0.5  # holds the pelvis on one leg
    assert found["lumbar extensor"] == pytest.approx(torques.joint_torque("lumbar_extension") / 75.0)


def test_stored_moments_are_read_in_newton_millimetres_per_kg() -> None:
    walk = known_motion()
    ours = internal_joint_moments(compute_torques(walk))
    stored: dict[Any, Any] = {}
    for side in SIDES:
        for own in LEG_MOMENTS:
            values = stored.setdefault(f"{side[0].upper()}{own.plug_in_gait_channel}", np.zeros((len(walk.time), 3)))
            values[:, own.component] = ours[f"{side} {own.title}"] / PLUG_IN_GAIT_UNIT
    stored.pop("L"), stored.pop("R")
    noted = type(walk)(walk.robot, walk.trial.replace(moments=stored), walk.time, walk.q, walk.v, walk.a)
    rows = compare_stored_moments(compute_torques(noted))
    assert len(rows) == 2 * sum(bool(own.plug_in_gait_channel) for own in LEG_MOMENTS)
    for row in rows:
        assert row.agreement.correlation == pytest.approx(1.0)
        assert row.agreement.error == pytest.approx(0.0, abs=1e-9)
        assert row.agreement.peak_ratio == pytest.approx(1.0)


def test_a_trial_without_stored_moments_has_nothing_to_compare() -> None:
    assert compare_stored_moments(compute_torques(known_motion())) == ()


@pytest.mark.parametrize("name", ["one", "hole"])
def test_ankle_and_knee_have_the_shape_and_the_size_that_the_laboratory_stored(name: str) -> None:
    rows = {(row.side, row.title): row.agreement for row in compare_stored_moments(laboratory_torques(name))}
    ankles = [own for (_, title), own in rows.items() if title == "ankle plantarflexor"]
    knees = [own for (_, title), own in rows.items() if title == "knee extensor"]
    assert ankles
    assert knees
    for own in ankles:
        assert own.correlation > 0.99
        assert own.peak_ratio == pytest.approx(1.0, abs=0.25)
    for own in knees:
        assert own.correlation > 0.9
        assert own.range_ratio == pytest.approx(1.0, abs=0.25)
        assert own.peak_ratio == pytest.approx(1.0, abs=0.25)


def test_signs_at_the_hip_are_those_of_the_laboratory() -> None:
    rows = [
        row
        for name in ("one", "hole")
        for row in compare_stored_moments(laboratory_torques(name))
        if row.title.startswith("hip")
    ]
    assert len(rows) >= 6
    assert all(row.agreement.correlation > 0.7 for row in rows)


def test_plate_contacts_with_overhang_are_detected_in_recorded_walks() -> None:
    """The left toes are 3 cm beyond the second plate in one trial, the right foot lands half beside it in the other."""
    one, hole = laboratory_torques("one").foot_wrenches, laboratory_torques("hole").foot_wrenches
    assert [(each.side, each.complete) for each in one.plate_contacts] == [("right", True), ("left", False)]
    assert one.plate_contacts[1].overhang == pytest.approx(0.03, abs=0.01)
    assert {(each.side, each.complete) for each in hole.plate_contacts} == {("left", True), ("right", False)}
    assert max(each.overhang for each in hole.plate_contacts) > 0.15


def test_the_residual_of_a_real_walk_is_small_along_the_ground() -> None:
    torques = laboratory_torques("one")
    assert (torques.residual_rms[:2] < 0.04 * 9.81 * torques.mass).all()
    assert (torques.residual_rms[3:] < 15.0).all()
