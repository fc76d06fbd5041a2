"""Changes while the robot moves: weights by a `TunableWeight`, postures by a `LiveTarget`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise import tasks
from poise.control import KinematicController
from poise.errors import TaskError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.state import Snapshot
from poise.tasks import VELOCITY, Assembly
from robot_states import installed_robot, layout, run_closed_loop

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
JOINTS = (ROBOT.joint("left_elbow_joint"), ROBOT.joint("right_elbow_joint"))
ANGLES = np.array([START.q[joint.q] for joint in JOINTS])


# -- tunable weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, "much", [1.0, -2.0], [[1.0]], None])
def test_an_invalid_initial_tunable_weight_is_refused(value: object) -> None:
    with pytest.raises(TaskError, match="TunableWeight: weight is"):
        tasks.TunableWeight(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1.0, math.nan, [1.0, math.inf], [1.0, 2.0, 3.0], [1.0], "much"])
def test_an_invalid_value_does_not_change_a_tunable_weight(value: object) -> None:
    tunable_weight = tasks.TunableWeight([1.0, 2.0])
    with pytest.raises(TaskError, match="TunableWeight"):
        tunable_weight.set(value)  # type: ignore[arg-type]
    assert np.asarray(tunable_weight) == pytest.approx([1.0, 2.0])


def test_a_tunable_weight_is_set_to_one_number_for_all_rows_or_one_each() -> None:
    tunable_weight = tasks.TunableWeight([1.0, 2.0])
    tunable_weight.set(5.0)
    assert np.asarray(tunable_weight) == pytest.approx([5.0, 5.0])
    tunable_weight.set([0.0, 3.0])
    assert np.asarray(tunable_weight) == pytest.approx([0.0, 3.0])


def test_a_tunable_weight_copies_its_array() -> None:
    values = np.array([1.0, 2.0])
    tunable_weight = tasks.TunableWeight(values)
    values[:] = 9.0
    assert np.asarray(tunable_weight) == pytest.approx([1.0, 2.0])


def test_a_tunable_weight_of_the_wrong_size_is_refused_by_its_task() -> None:
    with pytest.raises(TaskError, match="3 weights for 2 rows"):
        tasks.Posture(ANGLES, JOINTS, weight=tasks.TunableWeight([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("value", [2.0, [2.0, 3.0]])
def test_a_program_has_the_current_tunable_weight(value: object) -> None:
    tunable_weight = tasks.TunableWeight(np.ones(2))
    task = tasks.Posture(ANGLES, JOINTS, weight=tunable_weight)
    snapshot = Snapshot(ROBOT).at(START)
    assembly = Assembly(snapshot, [("posture", [task])], layout(ROBOT, VELOCITY))
    for turned in (np.ones(2), value):
        tunable_weight.set(turned)  # type: ignore[arg-type]
        assembly.write()
        (rows,) = assembly.stack.program().levels[0]
        assert rows.weight == pytest.approx(np.broadcast_to(np.asarray(turned), 2))


def test_one_tunable_weight_changes_all_its_tasks() -> None:
    """Two contradicting targets of two elbows: the weights decide the compromise."""
    tunable_weight = tasks.TunableWeight(1.0)
    apart = [
        tasks.Posture(ANGLES + 0.4, JOINTS, weight=tunable_weight, name="up"),
        tasks.Posture(ANGLES, JOINTS, name="down"),
    ]
    hierarchy = Hierarchy(levels=[Level("both", apart), Level("posture", [tasks.Posture(START)])])
    controller, plant = KinematicController(hierarchy, period=0.005), IdealPlant(START)
    for weight in (1.0, 3.0, 0.0):
        tunable_weight.set(weight)
        *_, last = steps(controller, plant, 4.0)
        expected = ANGLES + 0.4 * weight / (weight + 1.0)
        assert [last.state.q[joint.q] for joint in JOINTS] == pytest.approx(expected, abs=2e-3)


# -- live postures -----------------------------------------------------------------------------------------------------


def test_a_live_posture_is_followed_at_once_without_binding_again() -> None:
    target = tasks.LiveTarget(ANGLES)
    task = tasks.Posture(target, JOINTS)
    snapshot = Snapshot(ROBOT).at(START)
    assembly = Assembly(snapshot, [("posture", [task])], layout(ROBOT, VELOCITY))
    for by in (0.0, 0.3, -0.2):
        target.set(ANGLES + by)
        assembly.write()
        assert assembly.column("error") == pytest.approx(-by, abs=1e-12)


def test_a_robot_goes_where_its_live_posture_is_moved() -> None:
    target = tasks.LiveTarget(ANGLES)
    hierarchy = Hierarchy(levels=[Level("arms", [tasks.Posture(target, JOINTS, dynamics=tasks.Decay(5.0))])])
    target.set(ANGLES + 0.3)
    end = run_closed_loop(hierarchy, START, 2.0)[-1].state
    assert [end.q[joint.q] for joint in JOINTS] == pytest.approx(ANGLES + 0.3, abs=1e-3)


@pytest.mark.parametrize("value", [[0.1], [0.1, math.nan], [0.1, 0.2, 0.3]])
def test_a_live_posture_is_moved_to_as_many_finite_angles(value: list[float]) -> None:
    target = tasks.LiveTarget(ANGLES)
    with pytest.raises(TaskError, match="LiveTarget: set to"):
        target.set(value)
    assert target.value == pytest.approx(ANGLES)


def test_a_live_posture_has_one_angle_for_each_joint() -> None:
    task = tasks.Posture(tasks.LiveTarget([0.1, 0.2, 0.3]), JOINTS)
    with pytest.raises(TaskError, match="3 angles for 2 joints"):
        task.rows(Snapshot(ROBOT).at(START), layout(ROBOT, VELOCITY))
