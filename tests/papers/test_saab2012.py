"""[Saab2012] section 2: inverse dynamics under contacts as a cascade, in the order in which the paper writes it.

The paper's contact force φ acts on the world; ours acts on the robot, so φ of the paper is minus ours.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pinocchio
import pytest
from scipy.linalg import null_space

from poise import constraints, tasks
from poise.behaviors import one_foot_stance
from poise.control import Command, KinematicController, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.robots import State
from poise.state import Contact
from robot_states import installed_robot, not_none

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])
COUNTS = pytest.mark.parametrize("count", [1, 2])
K = 8.0


@cache
def moving_state(name: str, count: int) -> State:
    """A body that moves over one foot at rest, as in the paper, or over two."""
    robot = installed_robot(name)
    start = robot.stance("standing") if count == 2 else one_foot_stance(robot, "right")
    J = np.vstack([_jacobian(start, Contact(part)) for part in start.contacts])
    free = null_space(J)
    return start.replace(v=free @ np.random.default_rng(0).normal(0.0, 0.01, free.shape[1]))


def contacts_of(state: State) -> tuple[Contact, ...]:
    return tuple(Contact(part, forces="normals") for part in state.contacts)


def equality_tasks(state: State, reach: float = 0.01) -> list[tasks.MotionTask]:
    """(6.1) ... (6.3): the projection of the center of mass, the right hand, the gaze."""
    robot = state.robot
    hand = robot.hand("right")
    ahead = state.pose(robot.gaze).act(2.0 * np.asarray(robot.gaze.axis) + 0.02)
    return [
        tasks.CenterOfMass(state.center_of_mass[:2], axes="xy"),
        tasks.Position(hand, state.pose(hand).translation + np.array([reach, 0.0, 0.0])),
        tasks.Gaze(robot.gaze, ahead),
    ]


def paper_hierarchy(state: State, contacts: Sequence[Contact], motion_tasks: Sequence[tasks.MotionTask]) -> Hierarchy:
    """(3) < (4.1) < (8.1) < ... < (4.n) < (8.n) < (6.1) < ... < (6.k) < (7)."""
    levels = [Level("(3)", [constraints.EquationOfMotion(contacts)])]
    for i, contact in enumerate(contacts, 1):
        planar = [constraints.PlanarContact(contact), constraints.NormalForces(contact)]
        levels += [Level(f"(4.{i})", [constraints.RigidContact(contact)]), Level(f"(8.{i})", planar)]
    levels += [Level(f"(6.{k})", [task]) for k, task in enumerate(motion_tasks, 1)]
    return Hierarchy(levels=[*levels, Level("(7)", [tasks.LeastVelocity(damping=K)])])


def usual_hierarchy(contacts: Sequence[Contact], motion_tasks: Sequence[tasks.MotionTask]) -> Hierarchy:
    """The same tasks with the constraints of a controller: physics at the top, contacts as one level."""
    levels = [Level("contact", [constraints.RigidContact(contact) for contact in contacts])]
    levels += [Level(task.name, [task]) for task in motion_tasks]
    return Hierarchy(levels=[*levels, Level("least", [tasks.LeastVelocity(damping=K)])])


def solve_command(hierarchy: Hierarchy, state: State) -> Command:
    command = TorqueController(hierarchy).step(state)
    assert command.fallback == ""
    return command


def slack(command: Command) -> dict[str, float]:
    """Largest slack of every level."""
    return {
        name: float(np.abs(slack).max(initial=0.0))
        for name, slack in zip(not_none(command.solution).program.names, not_none(command.solution).slack, strict=True)
    }


@ROBOTS
@COUNTS
def test_the_levels_of_the_program_are_those_of_the_paper(name: str, count: int) -> None:
    state = moving_state(name, count)
    command = solve_command(paper_hierarchy(state, contacts_of(state), equality_tasks(state)), state)
    pairs = [f"({number}.{i})" for i in range(1, count + 1) for number in (4, 8)]
    expected = ("physics", "always", "(3)", *pairs, "(6.1)", "(6.2)", "(6.3)", "(7)")
    assert not_none(command.solution).program.names == expected
    (limits,) = not_none(command.solution).program.levels[0]
    assert limits.name == "torque limit", "which the paper does not have; inactive here"
    assert not np.isin(not_none(command.solution).active[0], (-1, 1)).any()


@ROBOTS
@COUNTS
def test_equation_3_and_9_hold(name: str, count: int) -> None:
    """A q̈ + b + Σ J_iᵀ φ_i = Sᵀ τ, with A and b by pinocchio."""
    state = moving_state(name, count)
    contacts = contacts_of(state)
    command = solve_command(paper_hierarchy(state, contacts, equality_tasks(state)), state)
    model, data = state.robot.model, state.robot.model.createData()
    A = pinocchio.crba(model, data, state.q)
    A = np.triu(A) + np.triu(A, 1).T
    b = pinocchio.nonLinearEffects(model, data, state.q, state.v)
    left = A @ command.acceleration + b
    for contact in contacts:
        left += _jacobian(state, contact).T @ -not_none(command.forces)[contact.name]
    S = np.eye(model.nv)[6:]
    assert left == pytest.approx(S.T @ not_none(command.torque), abs=1e-7)


@ROBOTS
@COUNTS
def test_equation_4_holds(name: str, count: int) -> None:
    """J_c q̈ = -J̇_c q̇, with the right side by finite differences along the motion."""
    state = moving_state(name, count)
    contacts = contacts_of(state)
    command = solve_command(paper_hierarchy(state, contacts, equality_tasks(state)), state)
    step = 1e-5
    for contact in contacts:
        places = [pinocchio.integrate(state.robot.model, state.q, s * state.v) for s in (-step, step)]
        before, after = (_jacobian(state.replace(q=q), contact) @ state.v for q in places)
        drift = (after - before) / (2.0 * step)
        assert _jacobian(state, contact) @ command.acceleration == pytest.approx(-drift, abs=1e-7)


@ROBOTS
@COUNTS
def test_equation_8_holds(name: str, count: int) -> None:
    """Q_c (φ_c, f⊥) = 0 and f⊥ >= 0, with Q_c written out: the normal forces produce their components of the wrench."""
    state = moving_state(name, count)
    contacts = contacts_of(state)
    command = solve_command(paper_hierarchy(state, contacts, equality_tasks(state)), state)
    first = state.robot.model.nv
    for contact in contacts:
        unknowns = state.robot.mass * not_none(command.solution).x[first : first + contact.size]
        first += contact.size
        wrench, normals = unknowns[:6], unknowns[6:]
        R = (state.pose(contact.frame) * contact.frame_from_contact).rotation
        assert np.concatenate([R @ wrench[:3], R @ wrench[3:]]) == pytest.approx(not_none(command.forces)[contact.name])
        x, y = contact.outline.T
        assert wrench[[2, 3, 4]] == pytest.approx([normals.sum(), y @ normals, -x @ normals], abs=1e-8)
        assert normals.min() >= -1e-9


@ROBOTS
@COUNTS
def test_equation_6_holds_for_every_task(name: str, count: int) -> None:
    """ë = J q̈ + J̇ q̇ is the reference acceleration, by finite differences of the errors themselves."""
    state, motion_tasks = moving_state(name, count), equality_tasks(moving_state(name, count))
    command = solve_command(paper_hierarchy(state, contacts_of(state), motion_tasks), state)
    levels = slack(command)
    assert max(levels[f"(6.{k})"] for k in (1, 2, 3)) < 1e-9
    hand = motion_tasks[1]
    step = 1e-4

    def error(seconds: float) -> np.ndarray:
        moved = state.v + 0.5 * seconds * not_none(command.acceleration)
        q = pinocchio.integrate(state.robot.model, state.q, seconds * moved)
        return state.replace(q=q).pose(hand.frame).translation - hand.target  # type: ignore[attr-defined]

    rate = (error(step) - error(-step)) / (2 * step)
    found = (error(step) - 2 * error(0.0) + error(-step)) / step**2
    g, _, k = hand.dynamics.gains(0.0)
    assert found == pytest.approx(-g * k * error(0.0) - (g + k) * rate, abs=1e-4)


@ROBOTS
@COUNTS
def test_equation_7_uses_the_remaining_freedom(name: str, count: int) -> None:
    """q̈ + K q̇ is zero in every direction that (3), (4), (8) and (6) leave free."""
    state = moving_state(name, count)
    command = solve_command(paper_hierarchy(state, contacts_of(state), equality_tasks(state)), state)
    program, nv = not_none(command.solution).program, state.robot.model.nv
    last = program.names.index("(7)")
    rows = program.level_begin[last]
    held = program.A[:rows][np.concatenate(not_none(command.solution).active[:last]) != 0]
    free = null_space(held)[:nv]
    assert np.linalg.matrix_rank(free, tol=1e-9) > 5, "some freedom is left"
    assert free.T @ (not_none(command.acceleration) + K * state.v) == pytest.approx(0.0, abs=1e-8)


@ROBOTS
def test_on_one_foot_it_equals_the_usual_arrangement(name: str) -> None:
    """The wrench of one contact follows from the accelerations: forces and torques are the same, too."""
    state = moving_state(name, 1)
    (contact,) = contacts_of(state)
    motion_tasks = equality_tasks(state)
    paper = solve_command(paper_hierarchy(state, [contact], motion_tasks), state)
    ours = solve_command(usual_hierarchy([Contact(contact.frame)], motion_tasks), state)
    assert ours.acceleration == pytest.approx(paper.acceleration, abs=1e-6)
    assert ours.torque == pytest.approx(paper.torque, abs=1e-6)
    assert not_none(ours.forces).wrenches == pytest.approx(not_none(paper.forces).wrenches, abs=1e-6)


@ROBOTS
def test_on_two_feet_accelerations_are_those_of_the_usual_arrangement(name: str) -> None:
    """The paper does not determine the load share of two feet; friction limits, which it omits, are inactive here."""
    state, motion_tasks = moving_state(name, 2), equality_tasks(moving_state(name, 2))
    paper = solve_command(paper_hierarchy(state, contacts_of(state), motion_tasks), state)
    ours = solve_command(usual_hierarchy([Contact(foot) for foot in state.robot.feet], motion_tasks), state)
    assert ours.acceleration == pytest.approx(paper.acceleration, abs=1e-6)
    assert not_none(ours.forces).total == pytest.approx(not_none(paper.forces).total, abs=1e-6)


@ROBOTS
@COUNTS
def test_a_task_out_of_reach_costs_physics_and_contacts_nothing(name: str, count: int) -> None:
    """(3), (4) and (8) hold while (6.1) is infeasible on these soles; normal forces then reach zero."""
    state = moving_state(name, count)
    far = tasks.CenterOfMass(state.center_of_mass[:2] + np.array([2.0, 0.0]), axes="xy")
    command = solve_command(paper_hierarchy(state, contacts_of(state), [far]), state)
    levels = slack(command)
    above = ["(3)", *(f"({number}.{i})" for i in range(1, count + 1) for number in (4, 8))]
    assert max(levels[word] for word in above) < 1e-8
    assert levels["(6.1)"] > 1.0
    normals = [
        not_none(command.solution).active[not_none(command.solution).program.names.index(f"(8.{i + 1})")]
        for i in range(count)
    ]
    assert (np.concatenate(normals) == -1).any()


@ROBOTS
def test_one_definition_serves_kinematics_and_dynamics(name: str) -> None:
    """Section 3.2: the same stack of tasks is applied to both models of the robot; both hands arrive."""
    start = installed_robot(name).stance("standing")
    hierarchy = paper_hierarchy(start, contacts_of(start), equality_tasks(start, reach=0.03))
    goal = start.pose(start.robot.hand("right")).translation + np.array([0.03, 0.0, 0.0])
    for controller in (KinematicController(hierarchy, period=0.005), TorqueController(hierarchy, period=0.005)):
        *_, last = steps(controller, IdealPlant(start), 2.0)
        assert last.state.pose(start.robot.hand("right")).translation == pytest.approx(goal, abs=1e-3)
        for foot in start.robot.feet:
            assert last.state.pose(foot).translation == pytest.approx(start.pose(foot).translation, abs=2e-3)


def _jacobian(state: State, contact: Contact) -> np.ndarray:
    """Jacobian of a contact's point, in world axes, by pinocchio alone."""
    model, data = state.robot.model, state.robot.model.createData()
    pinocchio.computeJointJacobians(model, data, state.q)
    pinocchio.updateFramePlacements(model, data)
    J = pinocchio.getFrameJacobian(model, data, contact.frame.index, pinocchio.LOCAL_WORLD_ALIGNED)
    arm = data.oMf[contact.frame.index].rotation @ contact.frame_from_contact.translation
    return np.vstack([J[:3] - pinocchio.skew(arm) @ J[3:], J[3:]])
