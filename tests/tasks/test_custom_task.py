"""Custom tasks consist of two methods; invalid ones are refused before the robot moves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import poise
from poise import constraints, tasks
from poise.errors import HierarchyError, TaskError
from poise.robots import Robot
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY, Assembly
from robot_states import installed_robot, layout, random_state

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
LEFT, RIGHT = ROBOT.hands
NV = ROBOT.model.nv
ORDERS = (VELOCITY, ACCELERATION)


class SameHeight(tasks.MotionTask):
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def value(self, snapshot: Snapshot) -> np.ndarray:
        return snapshot.position(self.a)[2:] - snapshot.position(self.b)[2:]

    def jacobian(self, snapshot: Snapshot) -> np.ndarray:
        return snapshot.jacobian(self.a)[2:3] - snapshot.jacobian(self.b)[2:3]


class Height(tasks.MotionTask):
    """Height of the left hand; the return value of each method can be replaced."""

    def __init__(self, **returned: Any) -> None:
        self.returned = returned

    def value(self, snapshot: Snapshot) -> np.ndarray:
        return self.returned.get("value", snapshot.position(LEFT)[2:])

    def jacobian(self, snapshot: Snapshot) -> np.ndarray:
        return self.returned.get("jacobian", snapshot.jacobian(LEFT)[2:3])

    def target_rate(self, time: float) -> Any:
        return self.returned.get("target_rate")


class HeightWithDrift(Height):
    def drift(self, snapshot: Snapshot) -> np.ndarray:
        return self.returned["drift"]


def hierarchy(task: tasks.Task) -> poise.Hierarchy:
    raised = START.pose(LEFT).translation + np.array([0.05, 0.0, 0.08])
    return poise.Hierarchy(
        always=[constraints.JointRange(ROBOT), constraints.JointSpeed(ROBOT)],
        levels=[
            poise.Level("feet", [tasks.HoldPose(foot, at=START) for foot in ROBOT.feet]),
            poise.Level("own", [task]),
            poise.Level("reach", [tasks.Position(LEFT, raised)]),
            poise.Level("posture", [tasks.Posture(target=START)]),
        ],
    )


def error_message(build: Any) -> str:
    with pytest.raises(TaskError) as caught:
        build()
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 200
    return text


# -- defaults --------------------------------------------------------------------------------------------------------


def test_two_methods_without_a_constructor_are_a_complete_task() -> None:
    task = SameHeight(LEFT, RIGHT)
    assert (task.name, task.unit, task.weight, task.tolerance, task.target) == ("same height", "", 1.0, None, None)
    assert task.dynamics.gains(0.0) == tasks.Decay().gains(0.0)
    assert task.labels(ROBOT) == ("row 1",)
    assert task.frames() == (LEFT, RIGHT)
    assert task.row_unit(VELOCITY) == "1/s"
    assert task.row_unit(ACCELERATION) == "1/s²"


def test_class_attributes_are_defaults_that_subclasses_inherit() -> None:
    class TrayTask(SameHeight):
        name, unit, weight, dynamics = "tray", "m", 4.0, tasks.Decay(2.0)

    class DerivedTrayTask(TrayTask):
        pass

    for kind in (TrayTask, DerivedTrayTask):
        task = kind(LEFT, RIGHT)
        assert (task.name, task.unit) == ("tray", "m")
        rows = task.rows(Snapshot(ROBOT).at(random_state(ROBOT, 1)), layout(ROBOT, VELOCITY))
        assert rows.weight == pytest.approx(4.0)
        assert rows.lower == pytest.approx(-2.0 * task.value(Snapshot(ROBOT).at(random_state(ROBOT, 1))))


def test_the_default_name_is_derived_from_the_class_name() -> None:
    class ZMPInside2Feet(SameHeight):
        pass

    assert ZMPInside2Feet(LEFT, RIGHT).name == "zmp inside2 feet"
    assert SameHeight(LEFT, RIGHT).name == "same height"
    assert tasks.Posture(START).name == "posture"


def test_the_constructor_of_the_base_takes_all_by_name() -> None:
    class CustomTask(Height):
        def __init__(self) -> None:
            tasks.MotionTask.__init__(self, tolerance=0.01, dimension=1)
            self.returned = {}

    assert CustomTask().name == "custom task"
    assert CustomTask().tolerance == 0.01


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_the_dimension_is_that_of_the_value(rows: int) -> None:
    class PartialPositions(tasks.MotionTask):
        def value(self, snapshot: Snapshot) -> np.ndarray:
            return np.concatenate([snapshot.position(LEFT), snapshot.position(RIGHT)])[:rows]

        def jacobian(self, snapshot: Snapshot) -> np.ndarray:
            return np.vstack([snapshot.jacobian(LEFT)[:3], snapshot.jacobian(RIGHT)[:3]])[:rows]

    assert len(PartialPositions().labels(ROBOT)) == rows
    written = PartialPositions().rows(Snapshot(ROBOT).at(START), layout(ROBOT, ACCELERATION))
    assert written.A.shape == (rows, NV)


# -- in a control loop -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_it_holds_in_a_hierarchy_at_both_orders(order: int) -> None:
    controller = poise.KinematicController(hierarchy(SameHeight(LEFT, RIGHT)), order=order)
    recording = poise.record(controller, poise.IdealPlant(START), seconds=1.5)
    end = recording.state(-1)
    assert end.pose(LEFT).translation[2] - START.pose(LEFT).translation[2] == pytest.approx(0.08, abs=3e-3)
    assert np.abs(recording["error/own/same height"]).max() < 1e-3


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("always", [True, False])
def test_a_tolerance_makes_a_constraint_of_the_same_two_methods(order: int, always: bool) -> None:
    """The target of the hand is 8 cm higher, the limit 3 cm."""
    floor = float(START.pose(LEFT).translation[2])

    class LimitedHeight(Height):
        unit, tolerance = "m", (-np.inf, floor + 0.03)

    plain = hierarchy(LimitedHeight())
    limited = plain.without_level("own").replace(always=(*plain.always, LimitedHeight())) if always else plain
    recording = poise.record(poise.KinematicController(limited, order=order), poise.IdealPlant(START), seconds=1.5)
    heights = np.array([recording.state(i).pose(LEFT).translation[2] for i in range(len(recording["time"]))])
    assert heights.max() <= floor + 0.03 + 1e-4
    assert heights[-1] == pytest.approx(floor + 0.03, abs=2e-3)


def test_a_jacobian_that_changes_with_time_has_the_drift_of_its_motion_and_of_its_time() -> None:
    """``e = s(t) z`` with s = sin t: ``J̇ v = ṡ J_z v + s J̇_z v``."""

    class TimeVaryingHeight(Height):
        def jacobian(self, snapshot: Snapshot) -> np.ndarray:
            return np.sin(snapshot.time) * snapshot.jacobian(LEFT)[2:3]

    for time in (0.0, 2.0, 1000.0):
        snapshot = Snapshot(ROBOT).at(random_state(ROBOT, 5).replace(time=time))
        rate, drift = snapshot.velocity(LEFT)[2], snapshot.drift(LEFT)[2]
        expected = np.cos(time) * rate + np.sin(time) * drift
        assert TimeVaryingHeight().drift(snapshot) == pytest.approx([expected], abs=1e-6)


def test_binding_allocates_the_snapshots_of_the_drift_and_the_loop_none(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = Snapshot(ROBOT).at(random_state(ROBOT, 1))
    two = [SameHeight(LEFT, RIGHT), SameHeight(RIGHT, LEFT)]
    assembly = Assembly(snapshot, [("own", two)], layout(ROBOT, ACCELERATION))
    monkeypatch.setattr(Snapshot, "__init__", lambda self, robot: pytest.fail("a snapshot is made in the loop"))
    for seed in (2, 3):
        snapshot.at(random_state(ROBOT, seed))
        assert assembly.write()
        there, back = assembly.column("drift")
        assert there == pytest.approx(-back)
        assert there == pytest.approx(snapshot.drift(LEFT)[2] - snapshot.drift(RIGHT)[2], abs=1e-8)


def test_a_velocity_controller_makes_no_second_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = Snapshot(ROBOT).at(START)
    monkeypatch.setattr(Snapshot, "stencil", lambda self: pytest.fail("a drift is worked out at velocity order"))
    assert Assembly(snapshot, [("own", [SameHeight(LEFT, RIGHT)])], layout(ROBOT, VELOCITY)).write()


# -- errors ----------------------------------------------------------------------------------------------------------


def test_a_class_without_value_or_jacobian_is_refused_when_it_is_built() -> None:
    class Empty(tasks.MotionTask):
        pass

    class NoValue(tasks.MotionTask):
        def jacobian(self, snapshot: Snapshot) -> np.ndarray:
            return np.zeros((1, NV))

    class NoJacobian(tasks.MotionTask):
        def value(self, snapshot: Snapshot) -> np.ndarray:
            return np.zeros(1)

    class EmptyWriter(tasks.MotionTask):
        """Extends the writers without value and jacobian."""

        def bind_error(self, snapshot: Snapshot, task_rows: tasks.TaskRows, layout: tasks.VariableLayout) -> Any:
            return [*super().bind_error(snapshot, task_rows, layout)]

    assert "Empty does not define value and jacobian" in error_message(Empty)
    assert "NoValue does not define value" in error_message(NoValue)
    assert "NoJacobian does not define jacobian" in error_message(NoJacobian)
    assert "value(snapshot)" in error_message(Empty)
    built = EmptyWriter()
    assert "EmptyWriter does not define" in error_message(lambda: built.rows(Snapshot(ROBOT), layout(ROBOT, VELOCITY)))
    built.dimension = 1
    assert "EmptyWriter does not define" in error_message(lambda: built.rows(Snapshot(ROBOT), layout(ROBOT, VELOCITY)))


NAN_ROW = np.full((1, NV), np.nan)

#: Return value of a method, and words of the error: the method, the returned and the expected value.
WRONG: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no array": ({"value": 0.5}, ("Height.value", "0.5", "float", "array")),
    "nothing": ({"value": None}, ("Height.value", "None", "array")),
    "a list": ({"value": [0.5]}, ("Height.value", "[0.5]", "list", "array")),
    "a number of numpy": ({"value": np.float64(0.5)}, ("Height.value", "0.5", "array")),
    "words": ({"value": np.array(["high"])}, ("Height.value", "<U4")),
    "a matrix": ({"value": np.zeros((1, 1))}, ("Height.value", "(1, 1)", "vector")),
    "an empty value": ({"value": np.zeros(0)}, ("Height.value", "(0,)", "vector")),
    "NaN": ({"value": np.array([np.nan])}, ("Height.value", "NaN", "(1,)")),
    "a Jacobian of other rows": ({"jacobian": np.zeros((3, NV))}, ("Height.jacobian", f"(3, {NV})", f"(1, {NV})")),
    "a Jacobian of other columns": ({"jacobian": np.zeros((1, 6))}, ("Height.jacobian", "(1, 6)", f"(1, {NV})")),
    "a flat Jacobian": ({"jacobian": np.zeros(NV)}, ("Height.jacobian", f"({NV},)", f"(1, {NV})")),
    "no Jacobian": ({"jacobian": None}, ("Height.jacobian", "None", f"(1, {NV})")),
    "an infinite Jacobian": ({"jacobian": NAN_ROW}, ("Height.jacobian", "NaN or infinite", f"(1, {NV})")),
    "rates of other rows": ({"target_rate": np.zeros(2)}, ("Height.target_rate", "(2,)", "(1,)")),
    "a rate of NaN": ({"target_rate": np.array([np.nan])}, ("Height.target_rate", "NaN", "(1,)")),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", WRONG)
def test_an_invalid_return_value_is_refused_before_the_first_tick(case: str, order: int) -> None:
    returned, words = WRONG[case]
    controller = poise.KinematicController(hierarchy(Height(**returned)), order=order)
    plant = poise.IdealPlant(START)
    text = error_message(lambda: poise.record(controller, plant, seconds=0.1))
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"
    assert plant.state().time == 0.0
    assert (plant.state().q == START.q).all()


@pytest.mark.parametrize("drift", [0.0, np.zeros(2), np.zeros((1, 1)), np.array([np.inf])])
def test_an_invalid_custom_drift_is_refused(drift: Any) -> None:
    task = HeightWithDrift(drift=drift)
    snapshot = Snapshot(ROBOT).at(START)
    assert "HeightWithDrift.drift returned" in error_message(lambda: task.rows(snapshot, layout(ROBOT, ACCELERATION)))
    task.rows(snapshot, layout(ROBOT, VELOCITY))  # not evaluated at velocity order


#: Invalid attributes of a class, set without the constructor that checks them.
MISTAKES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "weight": ({"weight": -1.0}, ("weight is -1.0", "not negative")),
    "weights": ({"weight": (1.0, 2.0)}, ("2 weights", "1 rows")),
    "tolerance": ({"tolerance": (0.2, 0.1)}, ("tolerance is (0.2, 0.1)", "below upper")),
    "negative tolerance": ({"tolerance": -0.1}, ("tolerance is -0.1", "at least 0")),
    "dynamics": ({"dynamics": 5.0}, ("dynamics is 5.0", "Decay(...)")),
    "dimension": ({"dimension": 2}, ("Height.value", "(1,)", "(2,)")),
    "parts": ({"part_sizes": (3, 3)}, ("sum to 6", "1 rows")),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_attributes_are_checked_when_the_task_is_bound(case: str) -> None:
    attributes, words = MISTAKES[case]
    task = Height()
    vars(task).update(attributes)
    text = error_message(lambda: task.rows(Snapshot(ROBOT).at(START), layout(ROBOT, VELOCITY)))
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def test_frames_of_another_robot_are_refused_by_the_hierarchy() -> None:
    other: Robot = installed_robot("talos")
    with pytest.raises(HierarchyError, match=re.escape("build all tasks for one robot")):
        hierarchy(SameHeight(*other.hands))
