"""[Dalibard2012] section III.B: the motion objectives, equations (7) to (15), both sides of each."""

import numpy as np
import pinocchio
import pytest
from scipy.linalg import null_space

from contact_states import force_layout, random_dynamics_sample
from poise import constraints, tasks
from poise.control import TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.robots import State
from poise.state import Contact, Snapshot
from poise.tasks import ACCELERATION, Assembly
from robot_states import installed_robot, layout, not_none, random_state

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])
RATE = 6.0


def twisting_state(name: str) -> State:
    """A body that twists over feet at rest."""
    start = installed_robot(name).stance("standing")
    snapshot = Snapshot(start.robot).at(start)
    free = null_space(np.vstack([snapshot.jacobian(foot) for foot in start.robot.feet]))
    return start.replace(v=free @ np.random.default_rng(1).normal(0.0, 0.2, free.shape[1]))


# -- equations 7 to 10: feature tasks ----------------------------------------------------------------------------------


def features(state: State) -> dict[str, tasks.MotionTask]:
    """The features of the paper, each with a target value."""
    robot, decay = state.robot, tasks.Decay(RATE)
    foot, q = robot.foot("left"), robot.stance("standing").q
    return {
        "place of a foot": tasks.Position(
            foot, state.pose(foot).translation + np.array([0.1, -0.05, 0.2]), dynamics=decay
        ),
        "chest that stays parallel": tasks.Direction(
            not_none(robot.chest), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0), dynamics=decay
        ),
        "center of mass, 2D": tasks.CenterOfMass(state.center_of_mass[:2] + 0.1, axes="xy", dynamics=decay),
        "center of mass, 3D": tasks.CenterOfMass(state.center_of_mass + 0.1, dynamics=decay),
        "rest pose": tasks.Posture(q, dynamics=decay),
    }


@ROBOTS
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("feature", features(installed_robot("g1").stance("standing")))
def test_the_rows_of_a_feature_are_its_acceleration_minus_the_target_acceleration(
    name: str, seed: int, feature: str
) -> None:
    """ÿ - ÿ* with ÿ* = -λ_p (y - y*) - λ_D ẏ and λ_D = 2 √λ_p; y, ẏ and ÿ by differences of the error y - y* itself."""
    state = random_state(installed_robot(name), seed, speed=0.5)
    task, snapshot, step = features(state)[feature], Snapshot(state.robot).at(state), 1e-4
    acceleration = np.random.default_rng(seed).normal(0.0, 2.0, len(state.v))
    assembly = Assembly(snapshot, [("feature", [task])], layout(state.robot, ACCELERATION))

    def error(seconds: float) -> np.ndarray:
        motion = seconds * (state.v + 0.5 * seconds * acceleration)
        snapshot.at(state.replace(q=pinocchio.integrate(state.robot.model, state.q, motion)))
        assembly.write()
        return assembly.column("error").copy()

    before, now, after = (error(seconds) for seconds in (-step, 0.0, step))
    rate, faster = (after - before) / (2.0 * step), (after - 2.0 * now + before) / step**2
    gain = RATE**2
    expected = faster + gain * now + 2.0 * np.sqrt(gain) * rate
    rows = task.rows(Snapshot(state.robot).at(state), layout(state.robot, ACCELERATION))
    assert rows.lower == pytest.approx(rows.upper)
    assert rows.A @ acceleration - rows.lower == pytest.approx(expected, abs=2e-3 + 1e-4 * np.abs(expected).max())


@ROBOTS
def test_a_level_is_solved_by_the_least_square_of_that_difference(name: str) -> None:
    """Equation 10: of all accelerations that contacts allow, none has a smaller |ÿ - ÿ*|²."""
    state = twisting_state(name)
    far = tasks.CenterOfMass(state.center_of_mass + np.array([0.3, 0.1, 0.0]), dynamics=tasks.Decay(RATE))
    held = [constraints.RigidContact(foot) for foot in state.robot.feet]
    hierarchy = Hierarchy(levels=[Level("contact", held), Level("far", [far])])
    command = TorqueController(hierarchy).step(state)
    program, solution = not_none(command.solution).program, command.solution
    last = program.names.index("far")
    (rows,) = program.levels[last]
    missed = rows.A @ not_none(solution).x - rows.lower
    assert np.abs(missed).max() > 1.0, "more than the soles allow"
    active = np.concatenate(not_none(solution).active[:last]) != 0
    free = null_space(program.A[: program.level_begin[last]][active])
    assert free.T @ rows.A.T @ missed == pytest.approx(0.0, abs=1e-5 * np.abs(missed).max() + 1e-7)


@pytest.mark.parametrize("rate", [2.0, 5.0, 20.0])
def test_a_decay_is_the_proportional_derivative_law_with_critical_damping(rate: float) -> None:
    """ÿ* = -λ_p (y - y*) - λ_D ẏ with λ_D = 2 √λ_p, for λ_p the square of our rate."""
    state = random_state(installed_robot("g1"), 3)
    hand = state.robot.hand("left")
    task = tasks.Position(hand, (0.4, 0.2, 1.0), dynamics=tasks.Decay(rate))
    snapshot = Snapshot(state.robot).at(state)
    g, _, k = task.dynamics.gains(0.0)
    proportional, derivative = g * k, g + k
    assert derivative == pytest.approx(2.0 * np.sqrt(proportional))
    y, speed = snapshot.position(hand), snapshot.velocity(hand)[:3]
    rows = task.rows(snapshot, layout(state.robot, ACCELERATION))
    acceleration = rows.lower + snapshot.drift(hand)[:3]
    assert acceleration == pytest.approx(-proportional * (y - [0.4, 0.2, 1.0]) - derivative * speed)


# -- equations 11 to 14: angular momentum ------------------------------------------------------------------------------


def angular_momentum(state: State) -> np.ndarray:
    """About the center of mass, summed over the bodies: Σ I_i ω_i + r_i x m_i v_i."""
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
    state = random_state(installed_robot(name), seed)
    snapshot = Snapshot(state.robot).at(state)
    expected = angular_momentum(state)
    assert tasks.AngularMomentum().jacobian(snapshot) @ state.v == pytest.approx(expected, abs=1e-9)


@ROBOTS
@pytest.mark.parametrize("seed", range(3))
def test_its_rate_follows_from_the_accelerations(name: str, seed: int) -> None:
    """Equation 13: L̇ = J_AM q̈ + J̇_AM q̇, the left side by differences."""
    state = random_state(installed_robot(name), seed)
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
    """Equation 11: L̇* = -λ_p (L - L*), with L* = 0, on an ideal plant."""
    state = twisting_state(name)
    hierarchy = Hierarchy(
        levels=[
            Level("contact", [constraints.RigidContact(foot) for foot in state.robot.feet]),
            Level("momentum", [tasks.AngularMomentum(dynamics=tasks.Decay(5.0))]),
            Level("posture", [tasks.LeastVelocity()]),
        ]
    )
    before = angular_momentum(state)
    assert np.linalg.norm(before) > 0.1
    *_, last = steps(TorqueController(hierarchy, period=0.001), IdealPlant(state), 0.3)
    expected = before * np.exp(-5.0 * last.state.time)
    assert angular_momentum(last.state) == pytest.approx(expected, abs=float(0.01 * np.linalg.norm(before)))


@ROBOTS
@pytest.mark.parametrize("seed", range(3))
def test_the_rows_of_angular_momentum_are_its_rate_minus_the_target_rate(name: str, seed: int) -> None:
    """Equation 14: L̇ - L̇* with L̇* = -λ_p L, L̇ by differences."""
    state = random_state(installed_robot(name), seed)
    acceleration = np.random.default_rng(seed).normal(0.0, 2.0, len(state.v))
    rows = tasks.AngularMomentum(dynamics=tasks.Decay(RATE)).rows(
        Snapshot(state.robot).at(state), layout(state.robot, ACCELERATION)
    )
    step = 1e-5

    def after(seconds: float) -> np.ndarray:
        v = state.v + seconds * acceleration
        q = pinocchio.integrate(state.robot.model, state.q, seconds * 0.5 * (state.v + v))
        return angular_momentum(state.replace(q=q, v=v))

    rate = (after(step) - after(-step)) / (2 * step)
    assert rows.A @ acceleration - rows.lower == pytest.approx(rate + RATE * angular_momentum(state), abs=1e-4)


# -- equation 15: torques of arms --------------------------------------------------------------------------------------


def arms(state: State) -> list:
    """Joints that carry the hands and not the chest."""
    model = state.robot.model
    trunk = set(model.supports[not_none(state.robot.chest).joint])
    carrying = {joint for hand in state.robot.hands for joint in model.supports[hand.joint]} - trunk
    return [joint for joint in state.robot.joints if joint.index in carrying]


@ROBOTS
def test_torque_minimisation_relaxes_the_arms(name: str) -> None:
    """E_τ = |T τ|²: less than with a posture, and zero if no other task needs the arms."""
    start = installed_robot(name).stance("standing")
    joints = arms(start)
    places = [joint.v - 6 for joint in joints]
    feet = [Level("contact", [constraints.RigidContact(foot) for foot in start.robot.feet])]
    feet.append(Level("balance", [tasks.CenterOfMass(start.center_of_mass)]))
    posture = Level("posture", [tasks.Posture(start)])
    held = TorqueController(Hierarchy(levels=[*feet, posture])).step(start)
    relaxed = TorqueController(Hierarchy(levels=[*feet, Level("arms", [tasks.JointTorque(joints)]), posture])).step(
        start
    )
    assert np.abs(not_none(held.torque)[places]).max() > 0.5
    assert not_none(relaxed.torque)[places] == pytest.approx(0.0, abs=1e-9)
    sizes = [np.linalg.norm(not_none(held.torque)[places])]
    for weight in (1.0, 10.0, 100.0):  # in one level with the posture: the heavier, the more relaxed
        shared = Level("both", [tasks.JointTorque(joints, weight=weight), tasks.Posture(start)])
        command = TorqueController(Hierarchy(levels=[*feet, shared])).step(start)
        sizes.append(np.linalg.norm(not_none(command.torque)[places]))
    assert (np.diff(sizes) < 0.0).all()
    assert sizes[-1] < 0.6 * sizes[0]


@ROBOTS
@pytest.mark.parametrize("seed", range(3))
def test_its_rows_select_the_torques_of_these_joints(name: str, seed: int) -> None:
    """T τ, with T a selection and τ by inverse dynamics of any accelerations and forces."""
    state = random_state(installed_robot(name), seed)
    snapshot, joints = Snapshot(state.robot).at(state), arms(state)
    contacts = [Contact(foot) for foot in state.robot.feet]
    situation = random_dynamics_sample(state, contacts, seed)
    rows = tasks.JointTorque(joints).rows(snapshot, force_layout(snapshot, contacts))
    T = np.eye(len(state.robot.joints))[[joint.v - 6 for joint in joints]]
    assert rows.A @ situation.x - rows.lower == pytest.approx(T @ situation.generalised_forces[6:])
    assert rows.labels == tuple(joint.name for joint in joints)
