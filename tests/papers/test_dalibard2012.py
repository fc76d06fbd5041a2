"""[Dalibard2012] section III: constraints of physics and motion objectives of the locomotion controller."""

import numpy as np
import pinocchio
import pytest
from scipy.linalg import null_space

from poise import constraints, tasks
from poise.control import Command, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, MujocoPlant, steps
from poise.robots import Foot, State
from poise.state import Contact, Snapshot
from poise.tasks import ACCELERATION
from robot_states import layout, random_state, robot_of

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])


def turning(name: str) -> State:
    """A body that twists over feet at rest."""
    start = robot_of(name).stance("standing")
    snapshot = Snapshot(start.robot).at(start)
    free = null_space(np.vstack([snapshot.jacobian(foot) for foot in start.robot.feet]))
    return start.replace(v=free @ np.random.default_rng(1).normal(0.0, 0.2, free.shape[1]))


def corner_accelerations(state: State, foot: Foot, acceleration: np.ndarray) -> np.ndarray:
    """Of the corners of a sole along the vertical, by differences of their places."""
    step = 1e-4

    def heights(seconds: float) -> np.ndarray:
        q = pinocchio.integrate(state.robot.model, state.q, seconds * (state.v + 0.5 * seconds * acceleration))
        pose = state.replace(q=q).pose(foot)
        return np.array([pose.act(corner)[2] for corner in foot.corners])

    return (heights(step) - 2 * heights(0.0) + heights(-step)) / step**2


# -- equation 4: contacts may leave, not sink -------------------------------------------------------------------------


def wishing(start: State, foot: Foot, wish: float) -> Command:
    """Both feet may leave; the left one is asked to accelerate up or down, above all else."""
    target = start.pose(foot).translation + np.array([0.0, 0.0, wish])
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
    start = robot_of(name).stance("standing")
    foot = start.robot.foot("left")
    command = wishing(start, foot, 0.02)
    assert corner_accelerations(start, foot, command.acceleration).mean() == pytest.approx(25.0 * 0.02, abs=1e-3)
    for part in start.robot.feet:
        assert corner_accelerations(start, part, command.acceleration).min() > -1e-4


@ROBOTS
def test_a_foot_does_not_sink(name: str) -> None:
    start = robot_of(name).stance("standing")
    foot = start.robot.foot("left")
    command = wishing(start, foot, -0.02)
    for part in start.robot.feet:
        assert corner_accelerations(start, part, command.acceleration).min() > -1e-4
    assert corner_accelerations(start, foot, command.acceleration) == pytest.approx(0.0, abs=1e-4)
    held = command.solution.active[1]
    assert (held == -1).any(), "the constraint acts, and shows"


def test_a_corner_that_sinks_comes_to_rest() -> None:
    """nᵀ(J_i v̇ + J̇_i v) >= -k nᵀJ_i v: the speed into the surface falls as exp(-k t)."""
    robot = robot_of("g1")
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
    """The paper found that static contacts need not be enforced: forces inside the cone do."""
    start = robot_of(name).stance("standing")
    hierarchy = Hierarchy(
        always=[constraints.JointRange(start.robot), *(constraints.NonPenetration(foot) for foot in start.robot.feet)],
        levels=[
            Level("balance", [tasks.CenterOfMass(start.center_of_mass, reference=tasks.Decay(4.0))]),
            Level("chest", [tasks.Orientation(start.robot.chest, start.pose(start.robot.chest).rotation)]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    plant = MujocoPlant(start)
    found = list(steps(TorqueController(hierarchy), plant, 1.5))
    assert not plant.fallen
    assert not any(step.command.fallback for step in found)
    assert plant.truth().center_of_mass == pytest.approx(start.center_of_mass, abs=2e-3)


# -- equations 8 to 10: feature tasks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [2.0, 5.0, 20.0])
def test_a_decay_is_the_proportional_derivative_law_with_critical_damping(rate: float) -> None:
    """ÿ* = -λ_p (y - y*) - λ_D ẏ with λ_D = 2 √λ_p, for λ_p the square of our rate."""
    state = random_state(robot_of("g1"), 3)
    hand = state.robot.hand("left")
    task = tasks.Position(hand, (0.4, 0.2, 1.0), reference=tasks.Decay(rate))
    snapshot = Snapshot(state.robot).at(state)
    g, _, k = task.reference.gains(0.0)
    proportional, derivative = g * k, g + k
    assert derivative == pytest.approx(2.0 * np.sqrt(proportional))
    y, speed = snapshot.position(hand), snapshot.velocity(hand)[:3]
    rows = task.rows(snapshot, layout(state.robot, ACCELERATION))
    asked = rows.lower + snapshot.drift(hand)[:3]
    assert asked == pytest.approx(-proportional * (y - [0.4, 0.2, 1.0]) - derivative * speed)


# -- equations 11 to 14: angular momentum -----------------------------------------------------------------------------


def angular_momentum(state: State) -> np.ndarray:
    """About the centre of mass, summed over the bodies: Σ I_i ω_i + r_i x m_i v_i."""
    model, data = state.robot.model, state.robot.model.createData()
    pinocchio.forwardKinematics(model, data, state.q, state.v)
    center = pinocchio.centerOfMass(model, data, state.q)
    total = np.zeros(3)
    for joint in range(1, model.njoints):
        inertia, pose, motion = model.inertias[joint], data.oMi[joint], data.v[joint]
        R = pose.rotation
        turning_rate = R @ motion.angular
        place = pose.act(inertia.lever)
        speed = R @ (motion.linear + np.cross(motion.angular, inertia.lever))
        total += R @ inertia.inertia @ R.T @ turning_rate + inertia.mass * np.cross(place - center, speed)
    return total


@ROBOTS
@pytest.mark.parametrize("seed", range(3))
def test_angular_momentum_is_linear_in_the_velocity(name: str, seed: int) -> None:
    """Equation 12: L = J_AM q̇."""
    state = random_state(robot_of(name), seed)
    snapshot = Snapshot(state.robot).at(state)
    expected = angular_momentum(state)
    assert tasks.AngularMomentum().jacobian(snapshot) @ state.v == pytest.approx(expected, abs=1e-9)


@ROBOTS
@pytest.mark.parametrize("seed", range(3))
def test_its_rate_follows_from_the_accelerations(name: str, seed: int) -> None:
    """Equation 13: L̇ = J_AM q̈ + J̇_AM q̇, the left side by differences."""
    state = random_state(robot_of(name), seed)
    acceleration = np.random.default_rng(seed).normal(0.0, 2.0, len(state.v))
    step, task, snapshot = 1e-5, tasks.AngularMomentum(), Snapshot(state.robot).at(state)
    expected = task.jacobian(snapshot) @ acceleration + task.drift(snapshot)

    def after(seconds: float) -> np.ndarray:
        v = state.v + seconds * acceleration
        q = pinocchio.integrate(state.robot.model, state.q, seconds * 0.5 * (state.v + v))
        return angular_momentum(state.replace(q=q, v=v))

    assert (after(step) - after(-step)) / (2 * step) == pytest.approx(expected, abs=1e-5)


@ROBOTS
def test_angular_momentum_decays_at_the_rate_of_the_task(name: str) -> None:
    """Equation 11: L̇* = -λ_p (L - L*), with L* = 0, on a robot that does as it is told."""
    state = turning(name)
    hierarchy = Hierarchy(
        levels=[
            Level("contact", [constraints.RigidContact(foot) for foot in state.robot.feet]),
            Level("momentum", [tasks.AngularMomentum(reference=tasks.Decay(5.0))]),
            Level("posture", [tasks.LeastVelocity()]),
        ]
    )
    before = angular_momentum(state)
    assert np.linalg.norm(before) > 0.1
    *_, last = steps(TorqueController(hierarchy, period=0.001), IdealPlant(state), 0.3)
    expected = before * np.exp(-5.0 * last.state.time)
    assert angular_momentum(last.state) == pytest.approx(expected, abs=0.01 * np.linalg.norm(before))


# -- equation 15: torques of arms -------------------------------------------------------------------------------------


def arms(state: State) -> list:
    """Joints that carry the hands and not the chest."""
    model = state.robot.model
    trunk = set(model.supports[state.robot.chest.joint])
    carrying = {joint for hand in state.robot.hands for joint in model.supports[hand.joint]} - trunk
    return [joint for joint in state.robot.joints if joint.index in carrying]


@ROBOTS
def test_torque_minimisation_relaxes_the_arms(name: str) -> None:
    """E_τ = |T τ|²: less than with a posture, and zero where nothing else needs the arms."""
    start = robot_of(name).stance("standing")
    joints = arms(start)
    places = [joint.v - 6 for joint in joints]
    feet = [Level("contact", [constraints.RigidContact(foot) for foot in start.robot.feet])]
    feet.append(Level("balance", [tasks.CenterOfMass(start.center_of_mass)]))
    posture = Level("posture", [tasks.Posture(start)])
    held = TorqueController(Hierarchy(levels=[*feet, posture])).step(start)
    relaxed = TorqueController(Hierarchy(levels=[*feet, Level("arms", [tasks.JointTorque(joints)]), posture])).step(
        start
    )
    assert np.abs(held.torque[places]).max() > 0.5
    assert relaxed.torque[places] == pytest.approx(0.0, abs=1e-9)
    sizes = [np.linalg.norm(held.torque[places])]
    for weight in (1.0, 10.0, 100.0):  # in one level with the posture: the heavier, the more relaxed
        shared = Level("both", [tasks.JointTorque(joints, weight=weight), tasks.Posture(start)])
        command = TorqueController(Hierarchy(levels=[*feet, shared])).step(start)
        sizes.append(np.linalg.norm(command.torque[places]))
    assert (np.diff(sizes) < 0.0).all()
    assert sizes[-1] < 0.6 * sizes[0]


def test_contacts_of_the_paper_are_expressed_in_the_basis_of_the_cone() -> None:
    """Section III.A.2: the normal force is positive or null, the force inside the linearised cone, at every point."""
    start = robot_of("g1").stance("standing")
    contacts = [Contact(foot, forces="vertices") for foot in start.robot.feet]
    far = tasks.CenterOfMass(start.center_of_mass + np.array([1.0, 0.5, 0.5]))
    hierarchy = Hierarchy(
        levels=[Level("contact", [constraints.RigidContact(c) for c in contacts]), Level("far", [far])]
    )
    command = TorqueController(hierarchy).step(start)
    forces = command.solution.x[start.robot.model.nv :].reshape(-1, 3)
    slope = contacts[0].friction / np.sqrt(2.0)
    assert forces[:, 2].min() >= -1e-9
    assert (np.abs(forces[:, :2]) <= slope * forces[:, 2:] + 1e-9).all()
    assert (np.abs(forces[:, :2]) > slope * forces[:, 2:] - 1e-9).any(), "some are at the edge"
