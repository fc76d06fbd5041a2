"""Strict priorities in motion: on random stacks, a lower level never degrades a higher one."""

import numpy as np
import pinocchio
import pytest
from example_hierarchies import costs, joint_limits

from poise import constraints, tasks
from poise.robots import Robot, State
from poise.solvers import Cascade, Lexicographic, Program
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY, Assembly, Task
from robot_states import installed_robot, layout, not_none, random_state

ROBOT = installed_robot("g1")
Levels = list[tuple[str, list[Task]]]


def random_task(random: np.random.Generator, robot: Robot, state: State) -> Task:
    """A random task, with a near, far or unreachable target, exact or within bounds."""
    frame = random.choice([*robot.hands, *robot.feet, robot.chest, robot.gaze])  # type: ignore[arg-type]
    pose = state.pose(frame)
    far = 10.0 ** random.uniform(-2, 0.5)
    point = pose.translation + far * random.normal(size=3)
    turn = pinocchio.exp3(min(far, 2.0) * random.normal(size=3)) @ pose.rotation
    tolerance = None if random.random() < 0.7 else float(random.uniform(0.01, 0.2))
    weight = float(10.0 ** random.uniform(-1, 1))
    axes = "".join(sorted(random.choice(list("xyz"), random.integers(1, 4), replace=False)))
    some = [robot.joints[i] for i in random.choice(len(robot.joints), random.integers(1, 12), replace=False)]
    goal = tasks.Decay(float(random.uniform(1.0, 20.0)))
    candidates: list[Task] = [
        tasks.Position(frame, point, axes=axes, tolerance=tolerance, weight=weight, dynamics=goal),
        tasks.Orientation(frame, turn, axes=axes, tolerance=tolerance, weight=weight, dynamics=goal),
        tasks.Pose(frame, pinocchio.SE3(turn, point), weight=weight, dynamics=goal),
        tasks.CenterOfMass(
            state.center_of_mass + 0.1 * random.normal(size=3), axes=axes, tolerance=tolerance, weight=weight
        ),
        tasks.Gaze(robot.gaze, point, weight=weight),
        tasks.Direction(not_none(robot.chest), (0, 0, 1), random.normal(size=3), weight=weight),
        tasks.RelativePose(robot.foot("right"), robot.foot("left"), pinocchio.SE3(turn, point), weight=weight),
        tasks.AngularMomentum(random.normal(size=len(axes)), axes=axes, weight=weight),
        tasks.Posture(random_state(robot, int(random.integers(1000))), joints=some, tolerance=tolerance, weight=weight),
        tasks.JointComfort(robot, weight=weight),
        constraints.Box(frame, point - 0.1, point + 0.1, weight=weight),
        constraints.HalfSpace(frame, random.normal(size=3), 0.5, weight=weight),
        constraints.HalfSpace(None, random.normal(size=3), 0.5, weight=weight),
        constraints.CenterOfMassInside(margin=0.01, weight=weight),
        constraints.PinnedContact(robot.foot("left"), weight=weight),
    ]
    return candidates[random.integers(len(candidates))]


def random_stack(seed: int) -> tuple[State, Levels, int]:
    """Limits, then two to six levels of one to three tasks."""
    random = np.random.default_rng(seed)
    state = random_state(ROBOT, seed, speed=float(random.choice([0.0, 0.5])))
    levels: Levels = [("always", joint_limits(ROBOT) if random.random() < 0.7 else [])]
    for k in range(random.integers(2, 7)):
        levels.append((f"level {k}", [random_task(random, ROBOT, state) for _ in range(random.integers(1, 4))]))
    return state, levels, int(random.choice([VELOCITY, ACCELERATION]))


def bind_stack(state: State, levels: Levels, order: int) -> Assembly:
    assembly = Assembly(Snapshot(ROBOT).at(state), levels, layout(ROBOT, order))
    assembly.write()
    return assembly


def solve_stack(state: State, levels: Levels, order: int) -> tuple[Program, np.ndarray]:
    program = bind_stack(state, levels, order).stack.program()
    solution = Lexicographic().solve(program)
    assert solution.status == "optimal"
    return program, solution.x


def check(seed: int) -> None:
    """Without the levels from k on, the levels above are not better by more than rounding."""
    state, levels, order = random_stack(seed)
    program, x = solve_stack(state, levels, order)
    everything = costs(program, x)
    for k in range(1, len(levels)):
        alone = costs(*solve_stack(state, levels[:k], order))
        assert (everything[:k] <= alone + 1e-6 * (1.0 + alone)).all(), f"level {k} degrades a higher level"


@pytest.mark.parametrize("seed", range(60))
def test_a_lower_level_never_degrades_a_higher_one(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60, 3000))
def test_a_lower_level_never_degrades_a_higher_one_on_many_stacks(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("seed", range(20))
def test_an_inserted_level_changes_no_level_above_it(seed: int) -> None:
    state, levels, order = random_stack(seed)
    extra = random_task(np.random.default_rng(seed + 10_000), ROBOT, state)
    before = costs(*solve_stack(state, levels, order))
    for k in range(1, len(levels) + 1):
        after = costs(*solve_stack(state, [*levels[:k], ("new", [extra]), *levels[k:]], order))
        assert after[:k] == pytest.approx(before[:k], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_the_limits_hold_on_every_stack(seed: int) -> None:
    """Limits have a point in common in every state, so level 0 is met to rounding."""
    state, levels, order = random_stack(seed)
    program, x = solve_stack(state, [("always", joint_limits(ROBOT)), *levels[1:]], order)
    assert costs(program, x)[0] < 1e-12


@pytest.mark.parametrize("seed", range(15))
def test_every_level_is_as_good_as_in_the_reference_solution(seed: int) -> None:
    state, levels, order = random_stack(seed)
    stack = bind_stack(state, levels, order).stack
    stack.singularity_damping[:] = 0.0  # which the reference does not use
    program = stack.program()
    fast, slow = (costs(program, solver.solve(program).x) for solver in (Lexicographic(), Cascade()))
    assert fast == pytest.approx(slow, rel=1e-6, abs=1e-6)
