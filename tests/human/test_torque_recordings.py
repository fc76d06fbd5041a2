"""Torques of people as recordings, reports and exports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torque_trials import known_motion

import poise
from poise.analysis import analyze_walk
from poise.exports import save
from poise.human import compute_torques
from poise.recording import robot_from_provenance
from poise.report import save_page
from poise.robots import Robot


def test_a_recording_holds_motion_torques_forces_and_residual() -> None:
    torques = compute_torques(known_motion())
    recording = torques.recording()
    assert recording["command/torque/left_knee_flexion"] == pytest.approx(torques.joint_torque("left_knee_flexion"))
    assert recording["torque_per_kg/left_knee_flexion"] == pytest.approx(
        torques.joint_torque("left_knee_flexion") / 75.0
    )
    assert recording.units["torque_per_kg/left_knee_flexion"] == "N m/kg"
    assert recording["residual"] == pytest.approx(torques.residual)
    assert recording.provenance["behavior"] == "human torques"
    assert recording.provenance["subject"] == known_motion().trial.subject.name
    assert len(recording.provenance["events"]) == len(known_motion().trial.events) > 0
    feet = [foot.name for foot in torques.robot.feet]
    load = np.nansum([recording[f"measured/force/{name}/fz"] for name in feet], axis=0)
    assert load == pytest.approx(sum(torques.foot_wrenches.force[side][:, 2] for side in ("left", "right")))
    for k in (40, 120):
        place, wrench = recording[f"measured/contact_point/{feet[0]}"][k], recording[f"measured/force/{feet[0]}"][k]
        if np.isfinite(wrench).all():
            about_origin = wrench[3:] + np.cross(place, wrench[:3])
            assert about_origin == pytest.approx(torques.foot_wrenches.moment["left"][k])


def test_a_saved_recording_restores_its_body_model(tmp_path: Path) -> None:
    compute_torques(known_motion()).recording().save(tmp_path / "walk.poise")
    again = poise.load_recording(tmp_path / "walk.poise")
    robot = robot_from_provenance(again.provenance)
    assert isinstance(robot, Robot)
    assert robot.mass == pytest.approx(75.0)
    assert [step.side for step in analyze_walk(again, robot).steps][:2] in (["left", "right"], ["right", "left"])


def test_incomplete_plate_forces_are_not_stored_as_measured_forces() -> None:
    walk = known_motion()
    some = compute_torques(walk.on(*walk.trial.plates[1:4])).recording()
    foot = walk.robot.feet[0].name
    assert f"plate/force/{foot}" in some
    assert f"measured/force/{foot}" not in some
    whole = compute_torques(walk).recording()
    steps = [[step.side for step in analyze_walk(each, walk.robot).steps] for each in (some, whole)]
    assert steps[0] == steps[1]


def test_it_is_reported_and_exported_with_gaps_in_its_torques(tmp_path: Path) -> None:
    walk = known_motion()
    some = compute_torques(walk.on(*walk.trial.plates[1:4])).recording()
    assert np.isnan(some["command/torque"]).any()
    some.save(tmp_path / "walk.poise")
    again = poise.load_recording(tmp_path / "walk.poise")
    save_page(tmp_path / "walk.html", {"walk": again})
    assert (tmp_path / "walk.html").stat().st_size > 10_000
    save(again, tmp_path / "walk.csv")
    assert (tmp_path / "walk.csv").stat().st_size > 10_000
