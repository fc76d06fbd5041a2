"""[Dalibard2012] section III.A: the constraints of physics, equations (3) to (6), both sides of each."""

import numpy as np
import pinocchio
import pytest
from scipy.linalg import null_space

from contact_states import force_layout, random_dynamics_sample
from poise import constraints, tasks
from poise.control import Command, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, MujocoPlant, steps
from poise.robots import Foot, State
from poise.state import Contact, Snapshot
from poise.tasks import ACCELERATION
from robot_states import installed_robot, integrate_state, layout, not_none, random_state

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])
SEEDS = pytest.mark.parametrize("seed", range(3))


def corner_accelerations(state: State, foot: Foot, acceleration: np.ndarray) -> np.ndarray:
    """Vertical accelerations of the corners of a sole, by differences of their positions."""
    step = 1e-4

    def heights(seconds: float) -> np.ndarray:
        q = pinocchio.integrate(state.robot.model, state.q, seconds * (state.v + 0.5 * seconds * acceleration))
        pose = state.replace(q=q).pose(foot)
        return np.array([pose.act(corner)[2] for corner in foot.corners])

    return (heights(step) - 2 * heights(0.0) + heights(-step)) / step**2


# -- equation 3: dynamics ----------------------------------------------------------------------------------------------


@ROBOTS
@SEEDS
def test_equation_3_holds_for_every_command(name: str, seed: int) -> None:
    """H q̈ + p = Sᵀ τ + J_Cᵀ φ, with H, p and J_C by pinocchio and φ a force at each corner of the soles."""
    robot = installed_robot(name)
    start = robot.stance("standing")
    random, snapshot = np.random.default_rng(seed), Snapshot(robot).at(start)
    free = null_space(np.vstack([snapshot.jacobian(foot) for foot in robot.feet]))
    state = start.replace(v=free @ random.normal(0.0, 0.2, free.shape[1]))
    contacts = [Contact(foot, forces="vertices") for foot in robot.feet]
    target = start.center_of_mass + random.normal(0.0, 0.05, 3)
    hierarchy = Hierarchy(
        levels=[
            Level("contact", [constraints.RigidContact(contact) for contact in contacts]),
            Level("balance", [tasks.CenterOfMass(target), tasks.AngularMomentum()]),
            Level("posture", [tasks.Posture(start)]),
        ]
    )
    command = TorqueController(hierarchy).step(state)
    assert command.fallback == ""
    model, data = robot.model, robot.model.createData()
    H = pinocchio.crba(model, data, state.q)
    H = np.triu(H) + np.triu(H, 1).T
    p = pinocchio.nonLinearEffects(model, data, state.q, state.v)
    pinocchio.computeJointJacobians(model, data, state.q)
    pinocchio.updateFramePlacements(model, data)
    forces = robot.mass * not_none(command.solution).x[model.nv :].reshape(len(contacts), -1, 3)
    pushed = np.zeros(model.nv)
    for contact, at_corners in zip(contacts, forces, strict=True):
        J = pinocchio.getFrameJacobian(model, data, contact.frame.index, pinocchio.LOCAL_WORLD_ALIGNED)
        R = data.oMf[contact.frame.index].rotation
        for corner, phi in zip(contact.corners, at_corners, strict=True):
            J_C = J[:3] - pinocchio.skew(R @ corner) @ J[3:]
            pushed += J_C.T @ (R @ contact.frame_from_contact.rotation @ phi)
    S = np.eye(model.nv)[6:]
    assert H @ command.acceleration + p == pytest.approx(S.T @ not_none(command.torque) + pushed, abs=1e-6)


# -- equation 4: contacts may leave, not sink --------------------------------------------------------------------------


@ROBOTS
@SEEDS
def test_the_rows_are_equation_4(name: str, seed: int) -> None:
    """n·(J_c q̈ + J̇_c q̇) >= 0 at every corner, the left side by differences; k gives sinking corners time to stop."""
    state = random_state(installed_robot(name), seed)
    foot, k = state.robot.foot("left"), 20.0
    acceleration = np.random.default_rng(seed).normal(0.0, 2.0, len(state.v))
    rows = constraints.NonPenetration(foot, damping=k).rows(
        Snapshot(state.robot).at(state), layout(state.robot, ACCELERATION)
    )
    step, pose = 1e-6, state.pose(foot)
    after = integrate_state(state, state.v, step).pose(foot)
    speeds = np.array([(after.act(corner) - pose.act(corner))[2] / step for corner in foot.corners])
    expected = corner_accelerations(state, foot, acceleration) + k * speeds
    assert rows.A @ acceleration - rows.lower == pytest.approx(expected, abs=2e-3)
    assert np.isinf(rows.upper).all() or (rows.upper > 1e9).all()


def command_with_foot_target(start: State, foot: Foot, height: float) -> Command:
    """Both feet may lift; the left one has a target above or below it, with the highest priority."""
    target = start.pose(foot).translation + np.array([0.0, 0.0, height])
    hierarchy = Hierarchy(
        always=[constraints.NonPenetration(part) for part in start.robot.feet],
        levels=[
            Level("foot", [tasks.Position(foot, target, axes="z")]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    command = TorqueController(hierarchy).step(start)
    assert command.fallback == ""
    return command


@ROBOTS
def test_a_foot_may_lift(name: str) -> None:
    start = installed_robot(name).stance("standing")
    foot = start.robot.foot("left")
    command = command_with_foot_target(start, foot, 0.02)
    assert corner_accelerations(start, foot, not_none(command.acceleration)).mean() == pytest.approx(
        25.0 * 0.02, abs=1e-3
    )
    for part in start.robot.feet:
        assert corner_accelerations(start, part, not_none(command.acceleration)).min() > -1e-4


@ROBOTS
def test_a_foot_does_not_sink(name: str) -> None:
    start = installed_robot(name).stance("standing")
    foot = start.robot.foot("left")
    command = command_with_foot_target(start, foot, -0.02)
    for part in start.robot.feet:
        assert corner_accelerations(start, part, not_none(command.acceleration)).min() > -1e-4
    assert corner_accelerations(start, foot, not_none(command.acceleration)) == pytest.approx(0.0, abs=1e-4)
    held = not_none(command.solution).active[1]
    assert (held == -1).any(), "the constraint is active and listed"


def test_a_corner_that_sinks_comes_to_rest() -> None:
    """nᵀ(J_i v̇ + J̇_i v) >= -k nᵀJ_i v: the speed into the surface falls as exp(-k t)."""
    robot = installed_robot("g1")
    start = robot.stance("standing")
    foot, k = robot.foot("left"), 20.0
    falling = start.replace(v=np.concatenate([[0.0, 0.0, -0.1], np.zeros(robot.model.nv - 3)]))
    hierarchy = Hierarchy(
        always=[constraints.NonPenetration(foot, damping=k)],
        levels=[
            Level("down", [tasks.Position(foot, start.pose(foot).translation - np.array([0.0, 0.0, 1.0]), axes="z")])
        ],
    )
    *_, last = steps(TorqueController(hierarchy, period=5e-4), IdealPlant(falling), 0.1)
    speed = Snapshot(robot).at(last.state).velocity(foot)[2]
    assert speed == pytest.approx(-0.1 * np.exp(-k * last.state.time), rel=0.02)


@ROBOTS
def test_a_robot_stands_in_mujoco_although_nothing_holds_its_contacts(name: str) -> None:
    """The paper found that static contacts need not be enforced: forces inside the cone are sufficient."""
    start = installed_robot(name).stance("standing")
    hierarchy = Hierarchy(
        always=[constraints.JointRange(start.robot), *(constraints.NonPenetration(foot) for foot in start.robot.feet)],
        levels=[
            Level("balance", [tasks.CenterOfMass(start.center_of_mass, dynamics=tasks.Decay(4.0))]),
            Level(
                "chest",
                [tasks.Orientation(not_none(start.robot.chest), start.pose(not_none(start.robot.chest)).rotation)],
            ),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    plant = MujocoPlant(start)
    found = list(steps(TorqueController(hierarchy), plant, 1.5))
    assert not plant.fallen
    assert not any(step.command.fallback for step in found)
    assert plant.truth().center_of_mass == pytest.approx(start.center_of_mass, abs=2e-3)


# -- equations 5 and 6: joints and motors ------------------------------------------------------------------------------


@ROBOTS
@SEEDS
def test_our_bounds_satisfy_equation_5(name: str, seed: int) -> None:
    """q_min <= q + ΔT q̇ + ΔT²/2 q̈ <= q_max for every qdd inside our bounds, at every reachable state."""
    robot, period = installed_robot(name), 0.005
    random, limits = np.random.default_rng(seed), robot.limits
    task = constraints.JointRange(robot)
    q = random.uniform(limits.lower, limits.upper)
    near = random.random(len(q)) < 0.5  # half of them close to an end
    q = np.where(near, limits.upper - 0.02 * random.random(len(q)), q)
    # The largest speed at which a joint can still stop: v²/(2 A) + v ΔT = distance.
    A = task.acceleration
    fastest = [A * (np.sqrt(period**2 + 2.0 * room / A) - period) for room in (limits.upper - q, q - limits.lower)]
    rate = random.uniform(-fastest[1], fastest[0])
    start = robot.stance("standing")
    state = start.replace(q=np.concatenate([start.q[:7], q]), v=np.concatenate([np.zeros(6), rate]))
    rows = task.rows(Snapshot(robot).at(state), layout(robot, ACCELERATION, period))
    for qdd in (rows.lower, rows.upper):
        after = q + period * rate + 0.5 * period**2 * qdd
        assert (after >= limits.lower - 1e-9).all()
        assert (after <= limits.upper + 1e-9).all()


@ROBOTS
@SEEDS
def test_the_rows_are_equation_6(name: str, seed: int) -> None:
    """τ_min <= τ <= τ_max, with τ by inverse dynamics of any accelerations and forces."""
    state = random_state(installed_robot(name), seed)
    robot, snapshot = state.robot, Snapshot(state.robot).at(state)
    contacts = [Contact(foot) for foot in robot.feet]
    situation = random_dynamics_sample(state, contacts, seed)
    rows = constraints.TorqueLimit(robot).rows(snapshot, force_layout(snapshot, contacts))
    torque, most = situation.generalised_forces[6:], robot.limits.torque
    assert rows.A @ situation.x - rows.lower == pytest.approx(torque + most)
    assert rows.A @ situation.x - rows.upper == pytest.approx(torque - most)


@ROBOTS
def test_an_infeasible_task_saturates_the_torque_limits(name: str) -> None:
    start = installed_robot(name).stance("standing")
    contact = [constraints.RigidContact(foot) for foot in start.robot.feet]
    leap = tasks.CenterOfMass(start.center_of_mass + np.array([0.0, 0.0, 5.0]), dynamics=tasks.Decay(20.0))
    hierarchy = Hierarchy(levels=[Level("contact", contact), Level("leap", [leap])])
    command = TorqueController(hierarchy).step(start)
    share = np.abs(not_none(command.torque)) / start.robot.limits.torque
    assert share.max() == pytest.approx(1.0, abs=1e-6)
    assert share.max() <= 1.0


# -- section III.A.2: forces inside the cone ---------------------------------------------------------------------------


def test_contacts_of_the_paper_are_expressed_in_the_basis_of_the_cone() -> None:
    """Section III.A.2: the normal force is positive or null, the force inside the linearized cone, at every point."""
    start = installed_robot("g1").stance("standing")
    contacts = [Contact(foot, forces="vertices") for foot in start.robot.feet]
    far = tasks.CenterOfMass(start.center_of_mass + np.array([1.0, 0.5, 0.5]))
    hierarchy = Hierarchy(
        levels=[Level("contact", [constraints.RigidContact(c) for c in contacts]), Level("far", [far])]
    )
    command = TorqueController(hierarchy).step(start)
    forces = not_none(command.solution).x[start.robot.model.nv :].reshape(-1, 3)
    slope = contacts[0].friction / np.sqrt(2.0)
    assert forces[:, 2].min() >= -1e-9
    assert (np.abs(forces[:, :2]) <= slope * forces[:, 2:] + 1e-9).all()
    assert (np.abs(forces[:, :2]) > slope * forces[:, 2:] - 1e-9).any(), "some are at the edge"
