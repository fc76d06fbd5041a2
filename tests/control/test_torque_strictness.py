"""Strict priorities with forces: in the program of a torque controller, a lower level never degrades a higher one."""

import numpy as np
import pytest
from example_hierarchies import costs
from standing_hierarchies import feet, stance_on_two_planes, standing

from poise import constraints, tasks
from poise.control import TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.robots import State
from poise.solvers import Cascade, Lexicographic, Program
from poise.tasks import Task
from robot_states import installed_robot, not_none, random_state

ROBOT = installed_robot("g1")


def random_level(random: np.random.Generator, state: State) -> list[Task]:
    """Tasks on motion, forces and torques that may contradict each other and higher levels."""
    contacts, hand = feet(ROBOT), ROBOT.hand("left")
    weight = 9.81 * ROBOT.mass
    joints = [ROBOT.joints[i] for i in random.choice(len(ROBOT.joints), 6, replace=False)]
    candidates: list[Task] = [
        tasks.CenterOfMass(state.center_of_mass + 0.1 * random.normal(size=3)),
        tasks.Position(hand, state.pose(hand).translation + 0.2 * random.normal(size=3)),
        tasks.AngularMomentum(random.normal(size=3)),
        tasks.Orientation(not_none(ROBOT.chest), np.eye(3)),
        tasks.JointTorque(joints),
        tasks.ContactForce(contacts[0], random.normal(size=3) * weight),
        tasks.CenterOfPressure(contacts[1], random.uniform(-0.1, 0.1, 2)),
        tasks.ForceDistribution(contacts, random.uniform(0.0, 1.0, 2)),
        constraints.TorqueLimit(ROBOT, joints, scale=0.1),
        constraints.NonPenetration(contacts[0]),
        constraints.HalfSpace(hand, random.normal(size=3), 0.5),
    ]
    return [candidates[i] for i in random.choice(len(candidates), random.integers(1, 4), replace=False)]


def program_of(seed: int) -> Program:
    """The program of a controller at a random state."""
    random = np.random.default_rng(seed)
    state = random_state(ROBOT, seed, speed=float(random.choice([0.0, 0.3])))
    levels = [Level("contact", [constraints.RigidContact(contact) for contact in feet(ROBOT)])]
    levels += [Level(f"level {k}", random_level(random, state)) for k in range(random.integers(2, 6))]
    levels.insert(int(random.integers(len(levels) + 1)), Level("posture", [tasks.Posture(state)]))
    controller = TorqueController(Hierarchy([constraints.JointRange(ROBOT)], levels), ramp=0.0)
    command = controller.step(state)
    assert command.fallback == ""
    return not_none(command.solution).program


def first_levels(program: Program, count: int) -> Program:
    """The same program without the lower levels."""
    settings = {
        "damping": program.damping[:count].tolist(),
        "singularity_damping": program.singularity_damping[:count].tolist(),
    }
    return Program(program.levels[:count], variables=program.variables, center=program.center, **settings)


def check_strictness(program: Program) -> None:
    solution = Lexicographic().solve(program)
    assert solution.status == "optimal"
    everything = costs(program, solution.x)
    for k in range(1, len(program)):
        part = first_levels(program, k)
        alone = costs(part, Lexicographic().solve(part).x)
        assert (everything[:k] <= alone + 1e-6 * (1.0 + alone)).all(), f"{program.names[k]} degrades a higher level"


@pytest.mark.parametrize("seed", range(40))
def test_no_level_gains_from_the_removal_of_lower_ones(seed: int) -> None:
    check_strictness(program_of(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 1000))
def test_no_level_gains_from_the_removal_of_lower_ones_on_many_stacks(seed: int) -> None:
    check_strictness(program_of(seed))


@pytest.mark.parametrize("name", ["g1", "talos"])
def test_standing_on_two_planes_is_strict(name: str) -> None:
    state, contacts = stance_on_two_planes(installed_robot(name))
    moving = state.replace(v=0.1 * np.random.default_rng(0).normal(size=len(state.v)))
    hierarchy = standing(state, contacts).with_level(Level("relaxed", [tasks.JointTorque()]), before="posture")
    check_strictness(not_none(TorqueController(hierarchy).step(moving).solution).program)


@pytest.mark.parametrize("seed", range(40))
def test_physics_holds_on_every_stack(seed: int) -> None:
    """The equation of motion, torque limits and cones have a point in common in every state."""
    program = program_of(seed)
    assert program.names[0] == "physics"
    assert costs(program, Lexicographic().solve(program).x)[0] < 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_every_level_is_as_good_as_in_the_reference_solution(seed: int) -> None:
    program = program_of(seed)
    bare = Program(program.levels, variables=program.variables, center=program.center)  # without singularity damping
    fast, slow = (costs(bare, solver.solve(bare).x) for solver in (Lexicographic(), Cascade()))
    assert fast == pytest.approx(slow, rel=1e-6, abs=1e-6)
