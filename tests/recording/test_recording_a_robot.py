"""Recording of a real robot, controller and plant, and its states read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from poise import constraints, tasks
from poise.control import KinematicController
from poise.errors import RecordingError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.recording import load_recording, record, record_steps
from poise.robots import Robot, State, load_robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("g1")


def reach(robot: Robot, start: State) -> Hierarchy:
    return Hierarchy(
        always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
        levels=[
            Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
            Level("reach", [tasks.Position(robot.hand("left"), target=(0.45, 0.20, 1.10))]),
            Level("posture", [tasks.Posture(target=start)]),
        ],
    )


def test_the_states_of_a_file_are_those_of_the_motion(robot: Robot, tmp_path: Path) -> None:
    start = robot.stance("standing")
    motion_steps = list(steps(KinematicController(reach(robot, start)), IdealPlant(start), 0.3))
    record_steps(motion_steps, robot, tmp_path / "a.poise")
    for step, state in zip(motion_steps, load_recording(tmp_path / "a.poise", robot).states(), strict=True):
        assert np.array_equal(state.q, step.state.q)
        assert np.array_equal(state.v, step.state.v)
        assert (state.time, state.contacts, state.robot) == (step.state.time, step.state.contacts, robot)


def test_a_robot_is_recorded_with_errors_limits_and_provenance(robot: Robot, tmp_path: Path) -> None:
    start = robot.stance("standing")
    path = tmp_path / "a.poise"
    recording = record(KinematicController(reach(robot, start)), IdealPlant(start), 2.0, path, provenance={"seed": 5})
    assert recording.duration == pytest.approx(2.0)
    assert list(recording.levels()) == ["always", "feet", "balance", "reach", "posture"]
    assert recording.residuals()[3].final == pytest.approx(0.0, abs=1e-3)
    assert recording.nonfinite_commands() == 0
    state = recording.state(100)
    assert np.array_equal(recording["center_of_mass"][100], state.center_of_mass)
    joints = np.array([recording[f"q/{joint.name}"] for joint in robot.joints]).T
    margin = np.minimum(joints - robot.limits.lower, robot.limits.upper - joints).min(axis=1)
    assert np.allclose(recording["joint_limit/margin"], margin, rtol=0, atol=0)
    facts = load_recording(path).provenance
    assert facts["robot"] == "g1"
    assert facts["controller"]["period"] == 0.005
    assert facts["controller"]["order"] == "velocity"
    assert facts["controller"]["solver"].startswith("Lexicographic(")
    assert "balance" in facts["controller"]["hierarchy"]
    assert (facts["plant"], facts["seed"]) == ("IdealPlant", 5)


def test_the_hierarchy_of_a_behavior_is_stored_in_the_provenance(robot: Robot) -> None:
    start = robot.stance("standing")
    hierarchy = reach(robot, start)

    def behavior(_: object) -> Hierarchy:
        return hierarchy

    recording = record(KinematicController(behavior), IdealPlant(start), 0.05)
    assert recording.provenance["controller"]["hierarchy"] == str(hierarchy)


def test_levels_that_a_behavior_adds_and_removes_are_absent_at_other_times(robot: Robot, tmp_path: Path) -> None:
    start = robot.stance("standing")
    whole = reach(robot, start)
    without = whole.without_level("reach")

    def behavior(snapshot: object) -> Hierarchy:
        return whole if 0.1 <= snapshot.state.time < 0.2 else without  # type: ignore[attr-defined]

    recording = record(KinematicController(behavior), IdealPlant(start), 0.3, tmp_path / "a.poise")
    there = ~np.isnan(recording["slack/reach"])
    assert np.array_equal(there, (recording.time >= 0.1) & (recording.time < 0.2))
    assert np.isfinite(recording["slack/posture"]).all()


def test_the_states_of_another_robot_are_refused(robot: Robot) -> None:
    start = robot.stance("standing")
    recording = record(KinematicController(reach(robot, start)), IdealPlant(start), 0.02)
    with pytest.raises(RecordingError, match="whose joints are not those of 'talos'"):
        recording.state(0, load_robot("talos"))
