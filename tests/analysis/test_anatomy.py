"""Anatomical degrees of freedom from geometry: a positive angle is the same movement on every robot of the library."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

import poise
from poise.analysis import anatomical_joints, anatomical_leg_length
from poise.analysis.anatomy import TRUNK_DEGREES_OF_FREEDOM
from poise.analysis.body_trajectories import standing_state
from poise.robots import Robot
from robot_states import not_none

BODIES = ("human", "g1", "talos", "romeo", "icub", "nao", "mighty", "hoap3")
LEG = {"hip flexion", "hip adduction", "hip rotation", "knee flexion", "ankle dorsiflexion", "ankle inversion"}


@pytest.fixture(scope="module", params=BODIES)
def robot(request: pytest.FixtureRequest) -> Robot:
    try:
        return poise.load_robot(request.param)
    except poise.PoiseError as error:  # descriptions of other people's robots are an extra
        pytest.skip(str(error))


def frame_displacement(robot: Robot, frame: int, joint: int, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Displacement (m) and rotation (rad) of a frame in the world when a joint turns."""
    q = standing_state(robot).q.copy()
    data = robot.model.createData()
    pinocchio.framesForwardKinematics(robot.model, data, q)
    before = data.oMf[frame].copy()
    q[joint] += angle
    pinocchio.framesForwardKinematics(robot.model, data, q)
    after = data.oMf[frame]
    return after.translation - before.translation, pinocchio.log3(after.rotation @ before.rotation.T)


def test_each_of_the_six_leg_rotations_is_assigned_to_a_separate_joint(robot: Robot) -> None:
    found = anatomical_joints(robot)
    for side in ("left", "right"):
        own = [each for each in found if each.side == side]
        assert {each.degree_of_freedom for each in own} == LEG
        assert len({each.joint.name for each in own}) == len(LEG)
    assert all(each.degree_of_freedom in TRUNK_DEGREES_OF_FREEDOM for each in found if each.side is None)


def test_positive_rotations_move_the_foot_in_the_anatomical_direction(robot: Robot) -> None:
    for each in anatomical_joints(robot):
        if each.side is None:
            continue
        foot = robot.foot(each.side)
        gone, turned = frame_displacement(robot, foot.index, each.joint.q, 0.05 * each.sign)
        inward = -1.0 if each.side == "left" else 1.0
        if each.degree_of_freedom == "hip flexion":
            assert gone[0] > 0.0  # forward
        elif each.degree_of_freedom == "knee flexion":
            assert gone[0] < 0.0  # heel to the seat
        elif each.degree_of_freedom == "hip adduction":
            assert inward * gone[1] > 0.0  # towards the other leg
        elif each.degree_of_freedom == "hip rotation":
            assert inward * turned[2] > 0.0  # toes inwards
        elif each.degree_of_freedom == "ankle dorsiflexion":
            assert turned[1] < 0.0  # toes up
        else:
            assert inward * turned[0] > 0.0  # the sole faces the other foot


def test_positive_rotations_of_back_and_neck_move_the_gaze_in_the_anatomical_direction(robot: Robot) -> None:
    part = robot.head or robot.chest
    for each in anatomical_joints(robot):
        if each.side is not None or part is None:
            continue
        _, turned = frame_displacement(robot, part.index, each.joint.q, 0.05 * each.sign)
        axis = {"extension": -turned[1], "bending": turned[0], "rotation": turned[2]}[each.degree_of_freedom.split()[1]]
        assert axis > 0.0, each


def test_the_human_of_the_library_has_the_names_and_signs_that_are_used_here() -> None:
    for each in anatomical_joints(poise.load_robot("human")):
        assert each.joint.name == f"{f'{each.side}_' if each.side else ''}{each.degree_of_freedom.replace(' ', '_')}"
        assert each.sign == 1.0


def test_leg_length_does_not_depend_on_knee_flexion(robot: Robot) -> None:
    feet = {foot.side: standing_state(robot).pose(foot).translation[2] for foot in robot.feet}
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, standing_state(robot).q)
    hip = next(each for each in anatomical_joints(robot) if each.degree_of_freedom == "hip flexion")
    height = data.oMi[hip.joint.index].translation[2] - feet[not_none(hip.side)]
    assert 0.98 * height < anatomical_leg_length(robot) < 1.25 * height
    assert anatomical_leg_length(robot) < 0.7 * robot.height
