"""Forces and sensor readings are recorded under their names, also while contacts change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_steps import JOINTS, POSTURE, ROBOT, FakeState, Motion, forces, identical, make_readings

from poise.recording import Recording, load_recording, record_steps
from poise.state import ContactForces
from robot_states import not_none

LEFT, RIGHT, HAND = "left_sole", "right_sole", "left_palm"
DOCS = Path(__file__).parents[2] / "docs/recording.md"


def step(i: int, *contacts: str, **changes: Any) -> Any:
    """A step whose command has forces at these contacts."""
    return Motion().step(i, forces=forces(i, *contacts), **changes)


def step_with_readings(i: int, *contacts: str, **options: Any) -> Any:
    """A step with sensor readings of these contacts."""
    plain = Motion().step(i)
    return replace(plain, readings=make_readings(i, plain.state, *contacts, **options))


def test_the_wrench_and_the_point_of_every_contact_are_recorded() -> None:
    steps = [step(i, LEFT, RIGHT) for i in range(150)]
    recording = record_steps(steps, ROBOT)
    for k, name in enumerate((LEFT, RIGHT)):
        assert np.array_equal(recording[f"force/{name}"], [not_none(s.command.forces).wrenches[k] for s in steps])
        assert np.array_equal(recording[f"contact_point/{name}"], [not_none(s.command.forces).points[k] for s in steps])
    assert recording.labels[f"force/{LEFT}"] == ("fx", "fy", "fz", "mx", "my", "mz")
    assert (recording.units[f"force/{LEFT}/fz"], recording.units[f"force/{LEFT}/mx"]) == ("N", "N m")
    assert recording.units[f"contact_point/{LEFT}"] == "m"


@pytest.mark.parametrize(
    "touching",
    [
        [(LEFT, RIGHT), (LEFT,), (LEFT, RIGHT), (RIGHT,), ()],
        [(LEFT,), (LEFT, RIGHT), (RIGHT, LEFT, HAND), (HAND,)],
        [(), (HAND, LEFT), (LEFT, HAND)],
    ],
)
def test_a_contact_is_nan_while_it_is_absent(touching: list, tmp_path: Path) -> None:
    steps = [step(7 * k + i, *names) for k, names in enumerate(touching) for i in range(7)]
    recording = record_steps(steps, ROBOT, tmp_path / "a.poise")
    for name in {name for names in touching for name in names}:
        for wrench, point, one in zip(
            recording[f"force/{name}"], recording[f"contact_point/{name}"], steps, strict=True
        ):
            forces = one.command.forces
            if name in not_none(forces).names:
                at = not_none(forces).names.index(name)
                assert np.array_equal(wrench, not_none(forces).wrenches[at])
                assert np.array_equal(point, not_none(forces).points[at])
            else:
                assert np.isnan([*wrench, *point]).all()
    assert recording.nonfinite_commands() == 0
    assert identical(load_recording(tmp_path / "a.poise"), recording)


def test_contacts_that_change_with_the_hierarchy_keep_their_channels() -> None:
    other = Motion(tasks=(POSTURE,))
    recording = record_steps([step(0, LEFT), other.step(1), step(2, RIGHT), other.step(3)], ROBOT)
    assert np.isnan(recording[f"force/{LEFT}/fz"]).tolist() == [False, True, True, True]
    assert np.isnan(recording[f"force/{RIGHT}/fz"]).tolist() == [True, True, False, True]


def test_a_force_that_is_not_finite_is_counted() -> None:
    bad = forces(1, LEFT)
    bad.wrenches[0, 2] = np.nan
    recording = record_steps([step(0, LEFT, RIGHT), Motion().step(1, forces=bad)], ROBOT)
    assert recording["command/nonfinite"].tolist() == [0, 1]


def test_two_contacts_of_one_name_are_numbered() -> None:
    recording = record_steps([step(0, HAND, HAND), step(1, HAND)], ROBOT)
    assert np.isnan(recording[f"force/{HAND}_2/fz"]).tolist() == [False, True]


def test_every_number_of_the_sensors_is_recorded(tmp_path: Path) -> None:
    steps = [step_with_readings(i, LEFT, RIGHT) for i in range(140)]
    recording = record_steps(steps, ROBOT, tmp_path / "a.poise")
    readings = [s.readings for s in steps]
    for k, name in enumerate((LEFT, RIGHT)):
        assert np.array_equal(recording[f"measured/force/{name}"], [not_none(s).forces.wrenches[k] for s in readings])
        assert np.array_equal(
            recording[f"measured/contact_point/{name}"], [not_none(s).forces.points[k] for s in readings]
        )
        assert np.array_equal(recording[f"measured/cells/{name}"], [not_none(s).cells[name] for s in readings])
    for name in ("orientation", "angular_velocity", "acceleration"):
        assert np.array_equal(recording[f"measured/imu/{name}"], [getattr(not_none(s).imu, name) for s in readings])
    assert np.array_equal(recording["measured/joint_positions"], [not_none(s).positions for s in readings])
    assert np.array_equal(recording["measured/joint_velocities"], [not_none(s).velocities for s in readings])
    assert recording.labels["measured/joint_positions"] == JOINTS
    assert recording.units["measured/joint_velocities/neck_slide_joint"] == "m/s"
    assert identical(load_recording(tmp_path / "a.poise"), recording)


def test_torques_of_servos_are_recorded_where_the_plant_knows_them(tmp_path: Path) -> None:
    count = len(JOINTS)
    torques: list[Any] = [None, np.arange(count) + 0.5, np.zeros(count + 1), -np.arange(count), None]
    steps = [replace(Motion().step(i), servo_torques=each) for i, each in enumerate(torques)]
    recording = record_steps(steps, ROBOT, tmp_path / "a.poise")
    unknown = np.full(count, np.nan)
    expected = [unknown, torques[1], unknown, torques[3], unknown]  # one of a wrong size is not recorded
    assert np.array_equal(recording["measured/torque"], expected, equal_nan=True)
    assert recording.labels["measured/torque"] == JOINTS
    assert recording.units["measured/torque/neck_slide_joint"] == "N"
    assert identical(load_recording(tmp_path / "a.poise"), recording)
    assert "measured/torque" not in record_steps([steps[0]], ROBOT)


def test_sensors_that_fall_silent_are_nan_meanwhile() -> None:
    steps = [
        step_with_readings(0, LEFT),
        Motion().step(1),
        step_with_readings(2, LEFT, RIGHT),
        Motion(tasks=()).step(3),
        step_with_readings(4, LEFT),
    ]
    recording = record_steps(steps, ROBOT)
    silent = [False, True, False, True, False]
    for name in (f"measured/force/{LEFT}/fz", "measured/imu/orientation/qw", f"measured/cells/{LEFT}/front left"):
        assert np.isnan(recording[name]).tolist() == silent
    assert np.isnan(recording[f"measured/force/{RIGHT}/fz"]).tolist() == [True, True, False, True, True]


def test_the_true_state_is_recorded_only_where_it_is_not_the_measured_one() -> None:
    same = [step_with_readings(i, LEFT) for i in range(3)]
    equal = [replace(s, readings=replace(s.readings, truth=replace(s.state, q=s.state.q.copy()))) for s in same]
    assert "true/q" not in record_steps(same, ROBOT)
    assert "true/q" not in record_steps(equal, ROBOT)

    moved = step_with_readings(3, LEFT)
    truth: FakeState = replace(moved.state, v=moved.state.v + 1.0)
    recording = record_steps([*same, replace(moved, readings=replace(moved.readings, truth=truth)), *same], ROBOT)
    assert np.isnan(recording["true/v"]).all(axis=1).tolist() == [True] * 3 + [False] * 4
    assert np.array_equal(recording["true/v"][3], truth.v)
    assert np.array_equal(recording["true/q"][3:], [truth.q, *(s.state.q for s in same)])
    assert recording.labels["true/q"] == recording.labels["q"]


def recording_of_forces(wrenches: Any, points: Any) -> Recording:
    """The recording of these measured forces at two contacts; the robot weighs 98.1 N."""
    one = step_with_readings(0, LEFT, RIGHT)
    contact_forces = ContactForces((LEFT, RIGHT), np.array(wrenches, dtype=float), np.array(points, dtype=float))
    return record_steps([replace(one, readings=replace(one.readings, forces=contact_forces))], ROBOT)


def test_the_center_of_pressure_lies_between_the_feet_as_they_are_loaded() -> None:
    recording = recording_of_forces([[0, 0, 75, 0, 0, 0], [0, 0, 25, 0, 0, 0]], [[0.0, 0.1, 0.0], [0.2, -0.1, 0.0]])
    assert recording["center_of_pressure"][0] == pytest.approx([0.05, 0.05])
    assert (recording.labels["center_of_pressure"], recording.units["center_of_pressure"]) == (("x", "y"), "m")


def test_the_center_of_pressure_of_one_sole_follows_its_moments() -> None:
    recording = recording_of_forces([[3, 4, 100, 2.0, -5.0, 1.0], [0] * 6], [[0.3, 0.2, 0.7], [9.0, 9.0, 9.0]])
    assert recording["center_of_pressure"][0] == pytest.approx([0.3 + 0.05, 0.2 + 0.02])


def test_the_center_of_pressure_has_no_horizontal_moment_about_it() -> None:
    rng = np.random.default_rng(3)
    wrenches, points = rng.normal(size=(2, 6)) * 5.0, rng.normal(size=(2, 3)) * 0.1
    wrenches[:, 2] = 40.0, 60.0
    p = np.append(recording_of_forces(wrenches, points)["center_of_pressure"][0], wrenches[:, 2] @ points[:, 2] / 100.0)
    moment = (np.cross(points - p, wrenches[:, :3]) + wrenches[:, 3:]).sum(axis=0)
    assert moment[:2] == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("load", [0.0, -50.0, 0.9, np.nan])
def test_without_load_there_is_no_center_of_pressure(load: float) -> None:
    recording = recording_of_forces([[0, 0, load, 0, 0, 0], [0] * 6], [[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]])
    assert np.isnan(recording["center_of_pressure"]).all()


def test_the_phases_of_a_behavior_are_recorded_if_it_names_any() -> None:
    assert "phase" not in record_steps(Motion().steps(3), ROBOT)
    steps = [Motion().step(i, phase=name) for i, name in enumerate(("", "", "lift", "lift", "land", ""))]
    recording = record_steps([*steps, Motion(tasks=()).step(6)], ROBOT)
    assert recording["phase"].tolist() == ["", "", "lift", "lift", "land", "", ""]


def test_every_channel_of_forces_and_sensors_is_documented() -> None:
    one = step_with_readings(0, "NAME", truth=replace(Motion().step(1).state))
    recording = record_steps([replace(one, command=step(0, "NAME", phase="lift").command)], ROBOT)
    page = DOCS.read_text()
    kinds = ("force", "contact_point", "measured", "true")
    names = [channel.label for key, channel in recording.channels.items() if key.split("/")[0] in kinds]
    assert len(names) == 12
    for name in (*names, "center_of_pressure", "phase"):
        assert f"`{name}`" in page, f"docs/recording.md does not describe {name}"
