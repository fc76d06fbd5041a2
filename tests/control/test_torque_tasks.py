"""Tasks on forces and torques reach their targets, and active limits appear in the solution."""

import numpy as np
import pytest
from standing_hierarchies import AcceleratingTarget, feet, stance_on_two_planes, standing

from poise import constraints, tasks
from poise.control import Command, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, MujocoPlant, steps
from poise.recording import record
from poise.robots import Joint, State
from poise.solvers import UPPER, Weighted
from poise.state import Contact
from poise.tasks import Task
from robot_states import installed_robot, not_none

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])


def command_with(start: State, *extra: Task, before: str | None = "posture") -> Command:
    """Command of a standing robot with an extra level, below balance by default."""
    hierarchy = standing(start).with_level(Level("extra", extra), before=before)
    command = TorqueController(hierarchy).step(start)
    assert command.fallback == ""
    return command


def level_slack(command: Command, name: str) -> np.ndarray:
    return not_none(command.solution).slack[not_none(command.solution).program.names.index(name)]


def pressure(state: State, contact: Contact, command: Command) -> np.ndarray:
    """Center of pressure of a contact in its own plane (m)."""
    R = (state.pose(contact.frame) * contact.frame_from_contact).rotation
    f, m = (R.T @ part for part in np.split(not_none(command.forces)[contact.name], 2))
    return np.array([-m[1], m[0]]) / f[2]


# -- torques -----------------------------------------------------------------------------------------------------------


def jerking_hierarchy(start: State, joint: Joint) -> Hierarchy:
    """All joints are at rest but one, whose task needs more than its limit of a tenth of its torque."""
    robot = start.robot
    others = [other for other in robot.joints if other != joint]
    wild = tasks.Posture([start.q[joint.q] - 1.0], joints=[joint], dynamics=tasks.Decay(50.0))
    levels = [
        Level("contact", [constraints.RigidContact(foot) for foot in robot.feet]),
        Level("others", [tasks.Posture(start, joints=others)]),
        Level("extra", [wild]),
    ]
    return Hierarchy([constraints.TorqueLimit(robot, [joint], scale=0.1)], levels)


@ROBOTS
def test_an_active_torque_limit_is_listed_in_the_explanation(name: str) -> None:
    """An elbow task beyond the limit: the torque is at the limit, the row is active, the explanation lists it."""
    robot = installed_robot(name)
    start = robot.stance("standing")
    elbow = robot.joint({"g1": "left_elbow_joint", "talos": "arm_left_4_joint"}[name])
    command = TorqueController(jerking_hierarchy(start, elbow)).step(start)
    place = elbow.v - 6
    assert abs(not_none(command.torque)[place]) == pytest.approx(0.1 * robot.limits.torque[place], rel=1e-9)
    assert np.abs(not_none(command.solution).active[1]) == [UPPER]
    assert np.abs(level_slack(command, "extra")).max() > 1.0
    assert f"torque limit[{elbow.name}]" in not_none(command.solution).explain()


def test_an_active_limit_is_found_in_the_recording() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    controller = TorqueController(jerking_hierarchy(start, robot.joint("left_elbow_joint")))
    recording = record(controller, IdealPlant(start), 0.02)
    assert any("torque limit[left_elbow_joint]" in found.row for found in recording.saturations())


@ROBOTS
def test_a_scaled_limit_of_some_joints_holds_where_it_stands(name: str) -> None:
    robot = installed_robot(name)
    start = robot.stance("standing")
    knees = [joint for joint in robot.joints if "knee" in joint.name or joint.name.endswith("_4_joint")][:2]
    places = [joint.v - 6 for joint in knees]
    free = command_with(start, tasks.JointTorque(knees, target=0.0), before=None)
    scale = float(0.5 * np.abs(not_none(free.torque)[places]).max() / robot.limits.torque[places].max())
    limit = constraints.TorqueLimit(robot, knees, scale=scale)
    command = TorqueController(standing(start).replace(always=[limit])).step(start)
    assert command.fallback == ""
    assert (np.abs(not_none(command.torque)[places]) <= scale * robot.limits.torque[places] + 1e-6).all()
    assert (np.abs(not_none(free.torque)[places]) > scale * robot.limits.torque[places]).any()


@ROBOTS
def test_a_joint_exerts_its_target_torque(name: str) -> None:
    robot = installed_robot(name)
    start = robot.stance("standing")
    joint = robot.joints[-1]
    command = command_with(start, tasks.JointTorque([joint], target=0.4))
    assert not_none(command.torque)[joint.v - 6] == pytest.approx(0.4, abs=1e-9)


# -- forces ------------------------------------------------------------------------------------------------------------


@ROBOTS
@pytest.mark.parametrize("share", [0.48, 0.5, 0.53])
def test_weight_shifts_between_the_feet(name: str, share: float) -> None:
    start = installed_robot(name).stance("standing")
    command = command_with(start, tasks.ForceDistribution(feet(start.robot), (share, 1.0 - share)))
    left, right = not_none(command.forces).wrenches[:, 2]
    assert left / (left + right) == pytest.approx(share, abs=1e-9)
    assert command.acceleration == pytest.approx(0.0, abs=1e-8), "nothing moves"


@ROBOTS
def test_weight_shifts_no_further_than_higher_levels_allow(name: str) -> None:
    """All weight on one foot, below the posture: the ZMP reaches an edge of the soles, and nothing moves."""
    start = installed_robot(name).stance("standing")
    command = command_with(start, tasks.ForceDistribution(feet(start.robot), (1.0, 0.0)), before=None)
    left, right = not_none(command.forces).wrenches[:, 2]
    assert 0.55 < left / (left + right) < 0.95
    assert command.acceleration == pytest.approx(0.0, abs=1e-8)
    assert np.isin(not_none(command.solution).active[0], (-1, 1)).any(), "a cone is active and listed"


@ROBOTS
def test_a_body_free_to_move_shifts_all_of_its_weight(name: str) -> None:
    """Above the posture: limbs swing so that one foot carries all weight, and the center of mass stays at rest."""
    start = installed_robot(name).stance("standing")
    command = command_with(start, tasks.ForceDistribution(feet(start.robot), (1.0, 0.0)))
    left, right = not_none(command.forces).wrenches[:, 2]
    assert left == pytest.approx(9.81 * start.robot.mass, abs=1e-6)
    assert right == pytest.approx(0.0, abs=1e-6)
    assert level_slack(command, "balance") == pytest.approx(0.0, abs=1e-9)
    assert np.abs(not_none(command.acceleration)).max() > 1.0


@ROBOTS
@pytest.mark.parametrize("place", [(0.0, 0.0), (0.01, 0.0), (-0.02, 0.005)])
def test_the_center_of_pressure_moves_to_its_target(name: str, place: tuple[float, float]) -> None:
    start = installed_robot(name).stance("standing")
    left, _ = feet(start.robot)
    command = command_with(start, tasks.CenterOfPressure(left, place))
    assert pressure(start, left, command) == pytest.approx(place, abs=1e-9)
    assert level_slack(command, "balance") == pytest.approx(0.0, abs=1e-9)


@ROBOTS
def test_a_hand_pushes_a_wall_with_its_target_force(name: str) -> None:
    start, contacts = stance_on_two_planes(installed_robot(name))
    *_, hand = contacts
    wall = tasks.ContactForce(hand, (0.0, 0.0, 20.0))
    command = TorqueController(standing(start, contacts).with_level(Level("push", [wall]), before="posture")).step(
        start
    )
    assert not_none(command.forces)[hand.name][:3] == pytest.approx([0.0, -20.0, 0.0], abs=1e-6), "the wall pushes back"
    assert command.acceleration == pytest.approx(0.0, abs=1e-8)


@ROBOTS
def test_the_center_of_pressure_is_that_of_mujoco(name: str) -> None:
    start = installed_robot(name).stance("standing")
    left, right = feet(start.robot)
    forward = [tasks.CenterOfPressure(left, (0.02, 0.0)), tasks.ForceDistribution((left, right), (0.52, 0.48))]
    plant = MujocoPlant(start)
    controller = TorqueController(standing(start).with_level(Level("forces", forward), before="posture"))
    *_, last = steps(controller, plant, 1.0)
    measured = not_none(last.readings).forces
    f, m = np.split(measured[left.name], 2)
    assert np.array([-m[1], m[0]]) / f[2] == pytest.approx([0.02, 0.0], abs=2e-3)
    assert f[2] / measured.total[2] == pytest.approx(0.52, abs=0.005)


# -- weighted and strict -----------------------------------------------------------------------------------------------


@ROBOTS
def test_weighted_and_strict_agree_where_all_tasks_can_be_met(name: str) -> None:
    start = installed_robot(name).stance("standing")
    hand, contacts = start.robot.hand("left"), feet(start.robot)
    hierarchy = Hierarchy(
        always=[constraints.JointRange(start.robot)],
        levels=[
            Level("contact", [constraints.RigidContact(contact) for contact in contacts]),
            Level("balance", [tasks.CenterOfMass(AcceleratingTarget(start.center_of_mass, (0.1, 0.05, -0.3)))]),
            Level("hand", [tasks.Position(hand, AcceleratingTarget(start.pose(hand).translation, (0.5, 0.5, 0.5)))]),
            Level("share", [tasks.ForceDistribution(contacts, (0.52, 0.48))]),
        ],
    )
    strict, weighted = (TorqueController(hierarchy, solver=s).step(start) for s in (None, Weighted()))
    assert strict.fallback == weighted.fallback == ""
    assert not_none(weighted.solution).solver == "weighted"
    assert weighted.acceleration == pytest.approx(strict.acceleration, abs=1e-3)
    assert weighted.torque == pytest.approx(strict.torque, abs=1e-2)
    assert np.abs(not_none(strict.acceleration)).max() > 0.5


@ROBOTS
def test_with_contradicting_tasks_only_the_strict_solution_respects_the_priorities(name: str) -> None:
    """The weighted solution trades balance for a hand out of reach; both satisfy physics."""
    start = installed_robot(name).stance("standing")
    hand = start.robot.hand("left")
    wild = tasks.Position(hand, AcceleratingTarget(start.pose(hand).translation, (30.0, 0.0, 0.0)))
    hierarchy = standing(start).with_level(Level("wild", [wild]), before="posture")
    strict, weighted = (TorqueController(hierarchy, solver=s).step(start) for s in (None, Weighted()))
    miss = [np.abs(level_slack(command, "balance")).max() for command in (strict, weighted)]
    assert miss[0] < 1e-9 < 1e-3 < miss[1]
    for command in (strict, weighted):
        assert (np.abs(not_none(command.torque)) <= start.robot.limits.torque).all()
        assert np.isfinite(not_none(command.torque)).all()


def test_with_slow_task_dynamics_the_center_of_mass_stays_in_its_region_and_the_soles_flat() -> None:
    """Talos in MuJoCo reaches forward and up, balanced by this constraint alone."""
    robot = installed_robot("talos")
    start, hand, margin = robot.stance("standing"), robot.hand("left"), 0.03
    inside = constraints.CenterOfMassInside(margin, dynamics=tasks.Decay(2.0))
    hierarchy = Hierarchy(
        always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
        levels=[
            Level("contact", [constraints.RigidContact(foot) for foot in robot.feet]),
            Level("balance", [inside]),
            Level("reach", [tasks.Position(hand, start.pose(hand).translation + np.array([0.5, 0.0, 0.4]))]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    plant = MujocoPlant(start)
    corners = start.support_polygon
    edges = np.roll(corners, -1, axis=0) - corners
    inward = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1, keepdims=True)
    depths, cosines = [], []
    for _ in steps(TorqueController(hierarchy), plant, 1.2):
        truth = plant.truth()
        assert len(truth.contacts) == 2
        depths.append(float(np.min(np.sum(inward * (truth.center_of_mass[:2] - corners), axis=1))))
        cosines.append(min(truth.pose(foot).rotation[2, 2] for foot in robot.feet))
    assert np.linalg.norm(plant.truth().pose(hand).translation - start.pose(hand).translation) > 0.6
    assert max(depths) - min(depths) > 0.02  # it moves towards an edge
    assert min(depths) > margin - 1e-3
    assert np.degrees(np.arccos(min(cosines))) < 0.3
