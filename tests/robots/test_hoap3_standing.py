"""HOAP-3 stands: torques of legs and arms suffice, its feet are apart, and its servos hold it on eight force cells."""

import numpy as np
import pinocchio
import pytest

from poise import constraints, tasks
from poise.behaviors import one_foot_stance
from poise.control import Command, KinematicController
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.plants import MujocoPlant, PositionServos, steps
from poise.robots import Robot, State, load_robot
from standing_checks import check_standing_on_cells

GRAVITY = 9.81


@pytest.fixture(scope="module")
def hoap3() -> Robot:
    return load_robot("hoap3")


# -- torques -----------------------------------------------------------------------------------------------------------


def torques_at_rest(state: State, forces: list[tuple[int, np.ndarray]]) -> dict[str, float]:
    """Torques (N m) by joint under gravity and forces (N) at frames, by number, in the world."""
    model, data = state.robot.model, state.robot.model.createData()
    torque = pinocchio.computeGeneralizedGravity(model, data, state.q).copy()
    pinocchio.computeJointJacobians(model, data, state.q)
    pinocchio.updateFramePlacements(model, data)
    for frame, force in forces:
        torque -= pinocchio.getFrameJacobian(model, data, frame, pinocchio.LOCAL_WORLD_ALIGNED)[:3].T @ force
    return {joint.name: float(abs(torque[joint.v])) for joint in state.robot.joints}


def static_torques(state: State) -> dict[str, float]:
    """Torques of a state that stands still, its center of mass above the middle of its feet, evenly on all of them."""
    share = np.array([0.0, 0.0, GRAVITY * state.robot.mass / len(state.contacts)])
    return torques_at_rest(state, [(foot.index, share) for foot in state.contacts])


def lowered_stance(hoap3: Robot, start: State, by: float) -> State:
    """The same stance with a lower center of mass (m) and unchanged feet."""
    middle = np.mean([start.pose(foot).translation for foot in start.contacts], axis=0)
    target = np.array([*middle[:2], start.center_of_mass[2] - by])
    levels = [
        Level("feet", [tasks.HoldPose(foot, at=start) for foot in start.contacts]),
        Level("balance", [tasks.CenterOfMass(target=target)]),
        Level("posture", [tasks.Posture(target=start)]),
    ]
    posed = solve_pose(Hierarchy(always=[constraints.JointRange(hoap3)], levels=levels), start)
    assert "feet" not in posed.unmet
    assert "balance" not in posed.unmet
    return posed.state.replace(contacts=start.contacts)


def test_it_can_go_up_by_one_and_down_by_seven_centimetres(hoap3: Robot) -> None:
    start = hoap3.stance("standing")
    for by in (-0.01, 0.05, 0.07):
        state = lowered_stance(hoap3, start, by)
        assert state.center_of_mass[2] == pytest.approx(start.center_of_mass[2] - by, abs=1e-4)


def test_legs_have_twice_the_torque_of_squats_and_of_standing_on_one_leg(hoap3: Robot) -> None:
    one_leg = one_foot_stance(hoap3)
    states = [lowered_stance(hoap3, hoap3.stance("standing"), by) for by in (0.0, 0.05, 0.07)]
    states += [one_leg, lowered_stance(hoap3, one_leg, 0.03)]
    most = {joint.name: max(static_torques(state)[joint.name] for state in states) for joint in hoap3.joints}
    for joint, limit in zip(hoap3.joints, hoap3.limits.torque, strict=True):
        assert 2.0 * most[joint.name] < limit, joint.name
    assert 3.0 < max(most.values()) < 5.0  # and not oversized: at least a third of the torque is used


def test_an_ankle_can_carry_all_weight_on_the_toes_of_one_foot(hoap3: Robot) -> None:
    for foot in hoap3.feet:
        limit = hoap3.limits.torque[hoap3.joint(f"{foot.side}_ankle_flexion").v - 6]
        assert 2.0 * foot.sole.x_max * GRAVITY * hoap3.mass < limit


def test_arms_stretched_forward_can_hold_a_tenth_of_its_mass(hoap3: Robot) -> None:
    q = np.concatenate([hoap3.rest[:7], np.zeros(28)])
    load = np.array([0.0, 0.0, -0.5 * 0.1 * GRAVITY * hoap3.mass])
    torque = torques_at_rest(State(hoap3, q), [(hand.index, load) for hand in hoap3.hands])
    assert torque["left_shoulder_flexion"] == pytest.approx(1.6, abs=0.05)
    for joint, limit in zip(hoap3.joints, hoap3.limits.torque, strict=True):
        if any(word in joint.name for word in ("shoulder", "elbow", "wrist", "finger")):
            assert 1.2 * torque[joint.name] < limit, joint.name


# -- stance ------------------------------------------------------------------------------------------------------------


def test_the_frame_of_a_sole_is_at_its_middle(hoap3: Robot) -> None:
    """The origin of the paper: its targets of the center of pressure are (0, 0)."""
    for foot in hoap3.feet:
        assert foot.sole.center == pytest.approx([0.0, 0.0, 0.0])
        assert np.ptp(foot.corners, axis=0)[:2] == pytest.approx([0.101, 0.066])


def test_feet_are_under_the_hips_and_apart(hoap3: Robot) -> None:
    start, data = hoap3.stance("standing"), hoap3.model.createData()
    pinocchio.forwardKinematics(hoap3.model, data, start.q)
    for foot in hoap3.feet:
        aside = data.oMi[hoap3.joint(f"{foot.side}_ankle_abduction").index].translation[1]
        assert abs(aside) == pytest.approx(0.039, abs=1e-6)  # half the distance of the hips
    inner = [start.pose(foot).act(corner)[1] for foot in hoap3.feet for corner in foot.corners]
    assert min(y for y in inner if y > 0) - max(y for y in inner if y < 0) == pytest.approx(0.022, abs=1e-6)


def test_nothing_touches_in_standing(hoap3: Robot) -> None:
    constraint = constraints.SelfCollision(hoap3)
    gaps = constraint.gaps(hoap3.stance("standing"))
    assert min(gaps.values()) > 0.0
    assert all(gaps[pair] > min_gap for pair, min_gap in zip(constraint.pairs, constraint.min_gaps, strict=True))
    assert not MujocoPlant(hoap3, self_collision=True).notes


# -- position servos and force cells -----------------------------------------------------------------------------------


def test_it_stands_on_its_servos(hoap3: Robot) -> None:
    start, plant = hoap3.stance("standing"), MujocoPlant(hoap3, actuators=PositionServos())
    levels = [
        Level("feet", [tasks.HoldPose(foot, at=start) for foot in hoap3.feet]),
        Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
        Level("posture", [tasks.Posture(target=start)]),
    ]
    hierarchy = Hierarchy(always=[constraints.JointRange(hoap3), constraints.JointSpeed(hoap3)], levels=levels)
    for _ in steps(KinematicController(hierarchy, period=0.005), plant, 5.0):
        assert not plant.fallen
    check_standing_on_cells(plant)


def test_it_stands_on_its_servos_without_feedback(hoap3: Robot) -> None:
    plant = MujocoPlant(hoap3, actuators=PositionServos())
    for _ in range(1000):
        plant.apply(Command(np.zeros(hoap3.model.nv), None, None, 0.005))
        plant.advance()
    assert plant.truth().time == pytest.approx(5.0)
    check_standing_on_cells(plant)
