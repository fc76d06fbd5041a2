"""Invalid arguments of tasks raise an error at construction: one line with what was given and expected."""

# mypy: disable-error-code="arg-type, list-item"
# This file tests wrong arguments.

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio
import pytest

from poise import tasks
from poise.errors import PoiseError, TaskError
from poise.state import Snapshot
from poise.tasks import VELOCITY
from robot_states import installed_robot, layout, not_none

ROBOT, OTHER = installed_robot("g1"), installed_robot("talos")
START = ROBOT.stance("standing")
HAND, FOOT, CHEST = ROBOT.hand("left"), ROBOT.foot("left"), ROBOT.chest
POINT, POSE = (0.3, 0.2, 0.9), START.pose(HAND)
NAN = float("nan")
LONG = np.linspace(0.0, 1.0, 500)  # the message must stay short


class MisshapenTarget:
    """A target whose rate has another size than its value."""

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.zeros(3), np.zeros(2), np.zeros(3)


#: Constructor, and words of its error: the argument, the given and the expected value.
WRONG: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    # frames and axes
    "no frame": (
        lambda: tasks.Position("left", POINT),
        ("'left'", "not a frame", "robot.hand('left')", "robot.frame('NAME')"),
    ),
    "no frame to hold": (lambda: tasks.HoldPose(5, START), ("5 is not a frame",)),
    "no frame to be seen": (lambda: tasks.RelativePose(HAND, None, POSE), ("None is not a frame",)),
    "no frame of the center of mass": (lambda: tasks.CenterOfMass(POINT, frame="foot"), ("'foot' is not a frame",)),
    "no frame that looks": (lambda: tasks.Gaze(3.0, POINT), ("3.0 is not a frame",)),
    "unknown axis": (lambda: tasks.Position(HAND, POINT, axes="xw"), ("axes is 'xw'", "x, y, z")),
    "axis twice": (lambda: tasks.CenterOfMass((0, 0), axes="xx"), ("axes is 'xx'", "each once")),
    "no axis at all": (lambda: tasks.Orientation(HAND, np.eye(3), axes=""), ("axes is ''",)),
    "axes that are no word": (lambda: tasks.Position(HAND, POINT, axes=2), ("axes is 2",)),
    "neither axes nor rotation_axes": (
        lambda: tasks.Pose(HAND, POSE, axes="", rotation_axes=""),
        ("neither axes nor rotation_axes",),
    ),
    "no turns either": (
        lambda: tasks.RelativePose(HAND, FOOT, POSE, axes="", rotation_axes=""),
        ("neither axes nor rotation_axes",),
    ),
    "unknown turn": (lambda: tasks.Pose(HAND, POSE, rotation_axes="q"), ("'q'", "x, y, z")),
    # targets
    "a point of two": (lambda: tasks.Position(HAND, (0.1, 0.2)), ("target", "(2,)", "3 numbers")),
    "a point with NaN": (lambda: tasks.Position(HAND, (0.1, NAN, 0.2)), ("nan", "finite")),
    "a point of words": (lambda: tasks.Position(HAND, "there"), ("'there'", "3 numbers")),
    "no point": (lambda: tasks.Position(HAND, None), ("target is None", "finite")),
    "a long point": (lambda: tasks.Position(HAND, LONG), ("(500,)", "3 numbers")),
    "a rotation that scales": (lambda: tasks.Orientation(HAND, 2 * np.eye(3)), ("not a rotation", "orthonormal")),
    "a reflection": (lambda: tasks.Orientation(HAND, np.diag([1, 1, -1])), ("not a rotation", "orthonormal")),
    "a rotation of NaN": (lambda: tasks.Orientation(HAND, np.full((3, 3), NAN)), ("not a rotation",)),
    "a rotation of words": (lambda: tasks.Orientation(HAND, [["a"] * 3] * 3), ("not a rotation",)),
    "a vector as rotation": (lambda: tasks.Orientation(HAND, (0, 0, 1)), ("not a rotation", "3 x 3")),
    "a point as pose": (lambda: tasks.Pose(HAND, POINT), ("(0.3, 0.2, 0.9)", "4 x 4")),
    "a word as pose": (lambda: tasks.Pose(HAND, "here"), ("'here'", "pinocchio.SE3")),
    "a pose of NaN": (lambda: tasks.Pose(HAND, pinocchio.SE3(np.eye(3), np.full(3, NAN))), ("finite",)),
    "a relative point": (lambda: tasks.RelativePose(HAND, FOOT, POINT), ("4 x 4",)),
    "no state to hold at": (lambda: tasks.HoldPose(HAND, START.q), ("at is ndarray", "State")),
    "a state of another robot": (lambda: tasks.HoldPose(HAND, OTHER.stance("standing")), ("g1", "talos")),
    "no direction": (lambda: tasks.Direction(not_none(CHEST), (0, 0, 0)), ("axis is (0, 0, 0)", "not zero")),
    "no direction of the target": (
        lambda: tasks.Direction(not_none(CHEST), (0, 0, 1), (0, 0)),
        ("target", "3 numbers"),
    ),
    "a gaze without axis": (lambda: tasks.Gaze(HAND, POINT), ("no axis", "robot.gaze")),
    "a center of mass of two in three axes": (lambda: tasks.CenterOfMass((0, 0)), ("(2,)", "3 numbers")),
    "a center of mass at infinity": (lambda: tasks.CenterOfMass((0, np.inf), axes="xy"), ("inf", "finite")),
    "a momentum of two in three axes": (lambda: tasks.LinearMomentum((0, 0)), ("(2,)", "3 numbers")),
    "a posture of words": (lambda: tasks.Posture("straight"), ("'straight'", "State")),
    "a posture with NaN": (lambda: tasks.Posture([NAN]), ("finite angles",)),
    "a posture as matrix": (lambda: tasks.Posture(np.eye(3)), ("vector of finite angles",)),
    # moving targets
    "a path in the plane for a point": (
        lambda: tasks.Position(HAND, tasks.SplineTarget([0, 1], [[0, 0], [1, 1]])),
        ("(2,)", "expected (3,)"),
    ),
    "a path for a pose": (
        lambda: tasks.Pose(HAND, tasks.SplineTarget([0, 1], [POINT, POINT])),
        ("expected a pinocchio.SE3",),
    ),
    "a passage of poses for a point": (
        lambda: tasks.Position(HAND, tasks.MinimumJerkTarget(POSE, POSE, 1.0)),
        ("(4, 4)", "(3,)"),
    ),
    "a passage of points for a rotation": (
        lambda: tasks.Orientation(HAND, tasks.MinimumJerkTarget(POINT, POINT, 1.0)),
        ("expected (3, 3)",),
    ),
    "a path of one number for two axes": (
        lambda: tasks.CenterOfMass(tasks.SplineTarget([0, 1], [[0], [1]]), axes="xy"),
        ("(1,)", "expected (2,)"),
    ),
    "a target with an odd rate": (
        lambda: tasks.Gaze(ROBOT.gaze, MisshapenTarget()),
        ("(2,)", "expected (3,), (3,) and (3,)"),
    ),
    "a relative path of points": (
        lambda: tasks.RelativePose(HAND, FOOT, tasks.SplineTarget([0, 1], [POINT, POINT])),
        ("pinocchio.SE3",),
    ),
    "a path with one time": (lambda: tasks.SplineTarget([0], [[1, 2]]), ("(1,)", "two or more")),
    "a path with too few points": (lambda: tasks.SplineTarget([0, 1], [[1, 2]]), ("(1, 2)", "one point for each")),
    "a path back in time": (lambda: tasks.SplineTarget([0, 1, 1], [1, 2, 3]), ("[0, 1, 1]", "later")),
    "a long path back in time": (lambda: tasks.SplineTarget(LONG[::-1], LONG), ("later",)),
    "a path with NaN": (lambda: tasks.SplineTarget([0, 1], [1, NAN]), ("NaN", "finite")),
    "a path of words": (lambda: tasks.SplineTarget("ab", [1, 2]), ("'ab'", "numbers")),
    "a path of unequal points": (lambda: tasks.SplineTarget([0, 1], [[1, 2], [3]]), ("[[1, 2], [3]]", "one size")),
    "a path of matrices": (lambda: tasks.SplineTarget([0, 1], np.zeros((2, 3, 3))), ("(2, 3, 3)",)),
    "a path of nothing": (lambda: tasks.SplineTarget([0, 1], 5.0), ("()", "one point for each")),
    "a passage in no time": (lambda: tasks.MinimumJerkTarget([0], [1], 0.0), ("duration is 0.0", "positive")),
    "a passage in a word": (lambda: tasks.MinimumJerkTarget([0], [1], "soon"), ("'soon'", "positive")),
    "a passage that never begins": (lambda: tasks.MinimumJerkTarget([0], [1], 1.0, NAN), ("begin is nan", "finite")),
    "a passage between sizes": (
        lambda: tasks.MinimumJerkTarget([0, 0], [1, 1, 1], 1.0),
        ("(2,)", "(3,)", "two vectors"),
    ),
    "a passage between kinds": (lambda: tasks.MinimumJerkTarget(POSE, np.eye(3), 1.0), ("(4, 4)", "(3, 3)")),
    "a passage from NaN": (lambda: tasks.MinimumJerkTarget([NAN], [1], 1.0), ("nan", "finite")),
    "a passage of words": (lambda: tasks.MinimumJerkTarget("a", "b", 1.0), ("'a'", "numbers")),
    "a passage from no rotation": (lambda: tasks.MinimumJerkTarget(2 * np.eye(3), np.eye(3), 1.0), ("not a rotation",)),
    # weights, intervals, references
    "a negative weight": (lambda: tasks.Posture(START, weight=-1), ("weight is -1", "not negative")),
    "a weight of words": (lambda: tasks.Posture(START, weight="heavy"), ("'heavy'",)),
    "a weight that is NaN": (lambda: tasks.Posture(START, weight=NAN), ("nan",)),
    "a matrix of weights": (lambda: tasks.Position(HAND, POINT, weight=np.eye(3)), ("not negative",)),
    "two weights for three rows": (lambda: tasks.Position(HAND, POINT, weight=[1, 2]), ("2 weights", "3 rows")),
    "weights for other joints": (
        lambda: tasks.Posture((0.1, 0.2), joints=ROBOT.joints[:2], weight=[1, 2, 3]),
        ("3 weights", "2 rows"),
    ),
    "crossed bounds": (lambda: tasks.Position(HAND, POINT, tolerance=(0.3, -0.1)), ("(0.3, -0.1)", "below upper")),
    "bounds that are NaN": (lambda: tasks.Position(HAND, POINT, tolerance=NAN), ("nan", "below upper")),
    "bounds at the wrong infinity": (lambda: tasks.Position(HAND, POINT, tolerance=(np.inf, np.inf)), ("inf",)),
    "bounds of words": (lambda: tasks.Position(HAND, POINT, tolerance="near"), ("'near'", "3 numbers", "pair")),
    "two bounds for three rows": (
        lambda: tasks.Position(HAND, POINT, tolerance=[0.1, 0.2]),
        ("[0.1, 0.2]", "3 numbers"),
    ),
    "pairs of the wrong size": (lambda: tasks.Position(HAND, POINT, tolerance=([0, 0], [1, 1])), ("3 numbers",)),
    "many crossed bounds": (lambda: tasks.Posture(START, tolerance=(LONG, -LONG)), ("below upper",)),
    "no reference": (lambda: tasks.Position(HAND, POINT, dynamics=5.0), ("5.0", "Decay(...)")),
    "a decay that grows": (lambda: tasks.Decay(-1.0), ("Decay", "rate is -1.0", "positive")),
    "a decay without end": (lambda: tasks.Decay(np.inf), ("rate is inf", "positive")),
    "a decay of a word": (lambda: tasks.Decay("fast"), ("rate is 'fast'", "positive")),
    "a decay of two": (lambda: tasks.Decay((1.0, 2.0)), ("rate is (1.0, 2.0)", "positive")),
    "no damping": (lambda: tasks.Decay(5.0, damping=0.0), ("damping is 0.0", "positive")),
    "a negative speed": (lambda: tasks.Decay(speed=-1.0), ("speed is -1.0", "positive")),
    "three speeds": (lambda: tasks.Decay(speed=(1, 2, 3)), ("speed is (1, 2, 3)", "two for a pose")),
    "a speed of NaN": (lambda: tasks.Decay(speed=NAN), ("speed is nan", "positive")),
    "a speed of a word": (lambda: tasks.Decay(speed="fast"), ("'fast'", "positive")),
    "no acceleration": (lambda: tasks.Decay(acceleration=0.0), ("acceleration is 0.0", "positive")),
    "minimum jerk in no time": (lambda: tasks.MinimumJerk(0.0), ("duration is 0.0", "positive")),
    "minimum jerk that never begins": (lambda: tasks.MinimumJerk(1.0, begin=NAN), ("begin is nan",)),
    "minimum jerk without rate": (lambda: tasks.MinimumJerk(1.0, rate=0.0), ("rate is 0.0", "positive")),
    # joints
    "no joint": (lambda: tasks.Posture([0.0], joints=["knee"]), ("'knee'", "robot.joint(")),
    "a number as joints": (lambda: tasks.Posture([0.0], joints=5), ("5 is not a joint",)),
    "no joints": (lambda: tasks.LeastVelocity(joints=[]), ("no joints", "None for all")),
    "joints of another robot": (
        lambda: tasks.Posture(START, joints=OTHER.joints[:2]),
        ("g1 has no joint", OTHER.joints[0].name),
    ),
    "comfort for no robot": (lambda: tasks.JointComfort("g1"), ("'g1'", "load_robot")),
    "comfort without pull": (lambda: tasks.JointComfort(ROBOT, beta=0.0), ("beta is 0.0", "positive")),
    "comfort of another robot": (lambda: tasks.JointComfort(ROBOT, joints=OTHER.joints[:1]), ("g1 has no joint",)),
    "no damping of velocity": (lambda: tasks.LeastVelocity(damping=-2.0), ("damping is -2.0", "positive")),
}


def error_message(build: Callable[[], object]) -> str:
    with pytest.raises(TaskError) as caught:
        build()
    return str(caught.value)


@pytest.mark.parametrize("case", WRONG)
def test_the_error_names_the_given_and_the_expected_value_in_one_line(case: str) -> None:
    build, words = WRONG[case]
    text = error_message(build)
    assert "\n" not in text
    assert len(text) < 200
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def test_errors_of_tasks_are_errors_of_poise_and_carry_the_name_of_the_task() -> None:
    with pytest.raises(TaskError) as caught:
        tasks.Position(HAND, (0.1, 0.2), name="reach for the cup")
    assert isinstance(caught.value, PoiseError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.task == "reach for the cup"
    assert str(caught.value).startswith("reach for the cup:")


#: Errors that depend on the robot: detected when a task is bound, at the first step of a controller.
MISFITS: dict[str, tuple[tasks.Task, tuple[str, ...]]] = {
    "angles for other joints": (tasks.Posture([0.0, 0.1]), ("2 angles", "29 joints", "36 numbers")),
    "weights for other joints": (tasks.Posture(START, weight=np.ones(7)), ("7 weights", "29 rows")),
    "joints of another robot": (tasks.Posture([0.0], joints=OTHER.joints[:1]), ("g1 has no joint",)),
    "velocities of another robot": (tasks.LeastVelocity(joints=OTHER.joints[:1]), ("g1 has no joint",)),
    "an interval for other joints": (tasks.Posture(START, tolerance=np.ones(7)), ("29 numbers",)),
}


@pytest.mark.parametrize("case", MISFITS)
def test_a_task_that_does_not_fit_the_robot_is_refused_when_it_is_bound(case: str) -> None:
    task, words = MISFITS[case]
    text = error_message(lambda: task.rows(Snapshot(ROBOT).at(START), layout(ROBOT, VELOCITY)))
    assert "\n" not in text
    for word in words:
        assert word in text


def test_every_form_of_a_tolerance_gives_its_interval() -> None:
    def bounds(tolerance: object) -> tuple[np.ndarray, np.ndarray]:
        task = tasks.Position(HAND, START.pose(HAND).translation, tolerance=tolerance)
        rows = task.rows(Snapshot(ROBOT).at(START), layout(ROBOT, VELOCITY))
        return rows.lower / 5.0, rows.upper / 5.0

    cases: dict[Any, tuple[Any, Any]] = {
        0.1: (-0.1, 0.1),
        (0.1, 0.2, 0.3): ([-0.1, -0.2, -0.3], [0.1, 0.2, 0.3]),
        (-0.1, 0.2): (-0.1, 0.2),
        (-np.inf, 0.0): (-np.inf, 0.0),
    }
    for tolerance, (low, high) in cases.items():
        lower, upper = bounds(tolerance)
        assert lower == pytest.approx(np.broadcast_to(low, 3), abs=1e-9)
        assert upper == pytest.approx(np.broadcast_to(high, 3), abs=1e-9)
    lower, upper = bounds([0.1, 0.2, 0.3])
    assert upper == pytest.approx([0.1, 0.2, 0.3], abs=1e-9)
    lower, upper = bounds(([-0.1, -0.2, 0.0], 0.5))
    assert lower == pytest.approx([-0.1, -0.2, 0.0], abs=1e-9)
    assert upper == pytest.approx(0.5, abs=1e-9)


def test_a_task_copies_its_target() -> None:
    point, pose, q = np.array(POINT), START.pose(HAND), START.q.copy()
    held = [tasks.Position(HAND, point), tasks.Pose(HAND, pose), tasks.Posture(q)]
    before = [task.value(Snapshot(ROBOT).at(START)).copy() for task in held]
    point[:] = q[:] = 9.0
    pose.translation = np.full(3, 9.0)
    for task, value in zip(held, before, strict=True):
        assert task.value(Snapshot(ROBOT).at(START)) == pytest.approx(value), task
