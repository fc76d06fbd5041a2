"""Invalid arguments of constraints raise an error at construction: one line with what was given and expected."""

# mypy: disable-error-code="arg-type, list-item"
# This file tests wrong arguments.

from collections.abc import Callable

import numpy as np
import pytest

from poise import constraints
from poise.errors import TaskError
from poise.state import Snapshot
from poise.tasks import VELOCITY
from robot_states import installed_robot, layout

ROBOT, OTHER = installed_robot("g1"), installed_robot("talos")
HAND, FOOT = ROBOT.hand("left"), ROBOT.foot("left")
NAN = float("nan")

WRONG: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "limits of no robot": (lambda: constraints.JointRange("g1"), ("'g1'", "load_robot")),
    "limits of other joints": (lambda: constraints.JointSpeed(ROBOT, joints=OTHER.joints[:2]), ("g1 has no joint",)),
    "limits of a word": (lambda: constraints.JointRange(ROBOT, joints=["knee"]), ("'knee'", "robot.joint(")),
    "no joints": (lambda: constraints.JointRange(ROBOT, joints=()), ("no joints",)),
    "a margin that leaves nothing": (lambda: constraints.JointRange(ROBOT, margin=5.0), ("5.0 rad", "no range to '")),
    "a margin of NaN": (lambda: constraints.JointRange(ROBOT, margin=NAN), ("margin is nan",)),
    "a margin of a word": (lambda: constraints.JointRange(ROBOT, margin="some"), ("margin is 'some'",)),
    "no acceleration": (lambda: constraints.JointRange(ROBOT, acceleration=0.0), ("acceleration is 0.0", "positive")),
    "two accelerations": (lambda: constraints.JointRange(ROBOT, acceleration=[1, 2]), ("(2,)", "29 numbers")),
    "acceleration without end": (lambda: constraints.JointAcceleration(ROBOT, acceleration=np.inf), ("inf", "finite")),
    "a negative scale": (lambda: constraints.JointSpeed(ROBOT, scale=-1.0), ("scale is -1.0", "positive")),
    "a scale of a word": (lambda: constraints.JointSpeed(ROBOT, scale="slow"), ("scale is 'slow'", "positive")),
    "no recovery": (lambda: constraints.JointRange(ROBOT, recovery=0.0), ("recovery is 0.0", "positive")),
    "weights for other joints": (lambda: constraints.JointSpeed(ROBOT, weight=[1.0, 2.0]), ("2 weights", "29 rows")),
    "static torques of no robot": (lambda: constraints.StaticTorqueLimit("g1", HAND), ("'g1' is not a robot",)),  # type: ignore[arg-type]
    "static torques on no foot": (lambda: constraints.StaticTorqueLimit(ROBOT, "foot"), ("'foot' is not a frame",)),  # type: ignore[arg-type]
    "static torques of a negative share": (
        lambda: constraints.StaticTorqueLimit(ROBOT, HAND, scale=-0.9),
        ("-0.9", "positive"),
    ),
    "static torques of a NaN share": (lambda: constraints.StaticTorqueLimit(ROBOT, HAND, scale=NAN), ("nan",)),
    "a box upside down": (lambda: constraints.Box(HAND, (0, 0, 1), (1, 1, 0)), ("(0, 0, 1)", "lower below upper")),
    "a box of two": (lambda: constraints.Box(HAND, (0, 0), (1, 1)), ("(0, 0)", "three numbers")),
    "a box of NaN": (lambda: constraints.Box(HAND, (0, 0, NAN), (1, 1, 1)), ("nan", "three numbers")),
    "a box to NaN": (lambda: constraints.Box(HAND, (0, 0, 0), (1, 1, NAN)), ("nan", "three numbers")),
    "a box of words": (lambda: constraints.Box(HAND, "here", (1, 1, 1)), ("'here'", "three numbers")),
    "a box of no frame": (lambda: constraints.Box("hand", (0, 0, 0), (1, 1, 1)), ("'hand' is not a frame",)),
    "a plane without normal": (
        lambda: constraints.Polyhedron(HAND, [[1, 0, 0], [0, 0, 0]], 1.0),
        ("normal 1 is zero",),
    ),
    "normals in the plane": (lambda: constraints.Polyhedron(HAND, [[1, 0]], 1.0), ("[[1, 0]]", "3 finite numbers")),
    "normals of words": (lambda: constraints.Polyhedron(HAND, "up", 1.0), ("'up'", "3 finite numbers")),
    "no normals": (lambda: constraints.Polyhedron(HAND, np.zeros((0, 3)), 1.0), ("3 finite numbers per side",)),
    "too few offsets": (lambda: constraints.Polyhedron(HAND, np.eye(3), [1.0, 2.0]), ("offsets", "(2,)", "3 numbers")),
    "an offset of NaN": (lambda: constraints.HalfSpace(HAND, (0, 0, 1), NAN), ("offsets is nan", "finite")),
    "half a space of a word": (lambda: constraints.HalfSpace("hand", (0, 0, 1), 1.0), ("'hand' is not a frame",)),
    "half a space of the center of mass": (lambda: constraints.HalfSpace(None, (0, 0), 1.0), ("3 finite numbers",)),
    "a polygon that is a line": (
        lambda: constraints.CenterOfMassInside(polygon=[[0, 0], [1, 1], [2, 2]]),
        ("[[0, 0], [1, 1], [2, 2]]", "k x 2 corners", "area"),
    ),
    "a polygon of words": (lambda: constraints.CenterOfMassInside(polygon="round"), ("'round'", "k x 2 corners")),
    "a polygon of numbers": (lambda: constraints.CenterOfMassInside(polygon=[0, 1, 2]), ("[0, 1, 2]", "k x 2")),
    "a polygon of NaN": (lambda: constraints.CenterOfMassInside(polygon=np.full((4, 2), NAN)), ("nan", "area")),
    "a margin without number": (lambda: constraints.CenterOfMassInside(margin="safe"), ("margin is 'safe'",)),
    "a margin at infinity": (lambda: constraints.CenterOfMassInside(margin=np.inf), ("margin is inf", "finite")),
    "no contacts": (lambda: constraints.CenterOfMassInside(contacts=0), ("contacts is 0", "one or more")),
    "half a contact": (lambda: constraints.CenterOfMassInside(contacts=1.5), ("contacts is 1.5", "one or more")),
    "contact of no frame": (lambda: constraints.PinnedContact("foot"), ("'foot' is not a frame",)),
    "contact that blocks nothing": (
        lambda: constraints.PinnedContact(FOOT, axes="", rotation_axes=""),
        ("neither axes",),
    ),
    "contact of an unknown axis": (lambda: constraints.PinnedContact(FOOT, axes="a"), ("'a'", "x, y, z")),
    "contact without damping": (lambda: constraints.PinnedContact(FOOT, damping=0.0), ("damping is 0.0", "positive")),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_error_names_the_given_and_the_expected_value_in_one_line(case: str) -> None:
    build, words = WRONG[case]
    with pytest.raises(TaskError) as caught:
        build()
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 200
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def test_limits_of_one_robot_do_not_fit_another() -> None:
    snapshot = Snapshot(OTHER).at(OTHER.stance("standing"))
    with pytest.raises(TaskError, match="made for g1, not for talos"):
        constraints.JointRange(ROBOT).rows(snapshot, layout(OTHER, VELOCITY))
