"""Invalid arguments of force tasks raise an error at construction: one line with what was given and expected."""

# mypy: disable-error-code="arg-type, list-item"
# This file tests wrong arguments.

from collections.abc import Callable

import numpy as np
import pytest

from contact_states import force_layout
from poise import constraints, tasks
from poise.errors import PoiseError, TaskError
from poise.state import Contact, Snapshot
from robot_states import installed_robot

ROBOT, OTHER = installed_robot("g1"), installed_robot("talos")
FEET, FOOT = ROBOT.feet, Contact(ROBOT.foot("left"))
POINT = Contact(ROBOT.hand("left"))
NAN = float("nan")

WRONG: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "a force at no contact": (lambda: tasks.ContactForce("hand", (0, 0, 1)), ("'hand'", "robot.foot('left')")),
    "a force of two": (lambda: tasks.ContactForce(FOOT, (0, 1)), ("target", "(2,)", "3 numbers")),
    "a force of NaN": (lambda: tasks.ContactForce(FOOT, (0, 0, NAN)), ("nan", "finite")),
    "a force along an unknown axis": (lambda: tasks.ContactForce(FOOT, (0, 0, 1), axes="n"), ("'n'", "'xyz'")),
    "a force along no axis": (lambda: tasks.ContactForce(FOOT, (0, 0, 1), axes=""), ("axes is ''",)),
    "a force along one axis twice": (lambda: tasks.ContactForce(FOOT, (0, 0, 1), axes="zz"), ("'zz'",)),
    "a moment at a point": (lambda: tasks.ContactForce(POINT, np.ones(6)), ("bears no moment", "three components")),
    "weights that do not fit": (lambda: tasks.ContactForce(FOOT, np.ones(3), weight=[1, 2]), ("2 weights", "3 rows")),
    "pressure in space": (lambda: tasks.CenterOfPressure(FOOT, (0, 0, 0)), ("(3,)", "2 numbers")),
    "pressure at infinity": (lambda: tasks.CenterOfPressure(FOOT, (0, np.inf)), ("inf", "finite")),
    "pressure of a point": (lambda: tasks.CenterOfPressure(POINT), ("point contact", "with corners")),
    "one contact to share": (lambda: tasks.ForceDistribution(FEET[:1]), ("1 contact", "two or more")),
    "shares for others": (lambda: tasks.ForceDistribution(FEET, (1, 2, 3)), ("shares", "(3,)", "2 numbers")),
    "shares of nothing": (lambda: tasks.ForceDistribution(FEET, (0, 0)), ("(0, 0)", "not all zero")),
    "a share that pulls": (lambda: tasks.ForceDistribution(FEET, (2, -1)), ("(2, -1)", "none negative")),
    "torque of a word": (lambda: tasks.JointTorque(["knee"]), ("'knee'", "robot.joint(")),
    "torque of no joint": (lambda: tasks.JointTorque(()), ("no joints",)),
    "torque of NaN": (lambda: tasks.JointTorque(target=NAN), ("nan", "finite")),
    "too many torques": (lambda: tasks.JointTorque(ROBOT.joints[:2], [1, 2, 3]), ("(3,)", "2 numbers")),
    "limits of no robot": (lambda: constraints.TorqueLimit("g1"), ("'g1'", "load_robot")),
    "limits of other joints": (lambda: constraints.TorqueLimit(ROBOT, OTHER.joints[:1]), ("g1 has no joint",)),
    "no limits": (lambda: constraints.TorqueLimit(ROBOT, scale=0.0), ("scale is 0.0", "positive")),
    "a rigid contact of no frame": (lambda: constraints.RigidContact("foot"), ("'foot'", "part of a robot")),
    "a rigid contact that never stops": (lambda: constraints.RigidContact(FOOT, damping=0.0), ("damping is 0.0",)),
    "a surface without normal": (lambda: constraints.NonPenetration(FOOT, (0, 0, 0)), ("normal", "not zero")),
    "no damping": (lambda: constraints.NonPenetration(FOOT, damping=-1.0), ("damping is -1.0", "positive")),
    "a motion of six weights": (lambda: constraints.EquationOfMotion(weight=[1, 2]), ("2 weights", "6 rows")),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_error_names_the_given_and_the_expected_value_in_one_line(case: str) -> None:
    build, words = WRONG[case]
    with pytest.raises(PoiseError) as caught:
        build()
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 200
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def test_limits_of_one_robot_do_not_fit_another() -> None:
    snapshot = Snapshot(OTHER).at(OTHER.stance("standing"))
    with pytest.raises(TaskError, match="made for g1, not for talos"):
        constraints.TorqueLimit(ROBOT).rows(snapshot, force_layout(snapshot, [Contact(OTHER.foot("left"))]))


def test_torques_for_all_joints_must_fit_the_robot() -> None:
    snapshot = Snapshot(ROBOT).at(ROBOT.stance("standing"))
    with pytest.raises(TaskError, match="29 numbers"):
        tasks.JointTorque(target=[1.0, 2.0]).rows(snapshot, force_layout(snapshot, [FOOT]))
