"""Levels and hierarchies: immutable, unique names, one robot, and modified copies."""

from collections.abc import Callable

import numpy as np
import pytest

from poise import constraints, tasks
from poise.errors import HierarchyError, PoiseError
from poise.hierarchy import Hierarchy, Level
from poise.state import Snapshot
from robot_states import installed_robot

ROBOT, OTHER = installed_robot("g1"), installed_robot("talos")
START = ROBOT.stance("standing")
RANGE = constraints.JointRange(ROBOT)
FEET = Level("feet", [tasks.HoldPose(foot, at=START) for foot in ROBOT.feet])
BALANCE = Level("balance", [tasks.CenterOfMass(START.support_center, axes="xy", tolerance=0.01)])
REACH = Level("reach", [tasks.Position(ROBOT.hand("left"), (0.3, 0.2, 0.9), weight=[1.0, 1.0, 4.0])])
POSTURE = Level("posture", [tasks.Posture(START)])


@pytest.fixture
def hierarchy() -> Hierarchy:
    return Hierarchy([RANGE], [FEET, BALANCE, REACH, POSTURE])


def names(hierarchy: Hierarchy) -> list[str]:
    return [level.name for level in hierarchy.levels]


WRONG: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "a level without name": (lambda: Level("", []), ("''", "expected a non-empty string")),
    "a level named by a number": (lambda: Level(3, []), ("3", "non-empty string")),  # type: ignore[arg-type]
    "a level of a number": (lambda: Level("reach", 5), ("'reach' contains 5", "expected tasks")),  # type: ignore[arg-type]
    "a level of nothing": (lambda: Level("reach", None), ("'reach' contains None",)),  # type: ignore[arg-type]
    "a level of levels": (lambda: Level("reach", [FEET]), ("'reach' contains", "expected tasks")),  # type: ignore[list-item]
    "damping below zero": (lambda: Level("reach", [], damping=-1.0), ("damping -1.0", "zero or more")),
    "damping of a word": (lambda: Level("reach", [], damping="much"), ("'much'", "zero or more")),  # type: ignore[arg-type]
    "damping that is NaN": (lambda: Level("reach", [], damping=float("nan")), ("nan", "zero or more")),
    "nothing to do": (lambda: Hierarchy(), ("no task", "always=", "levels=")),
    "levels without tasks": (lambda: Hierarchy(levels=[Level("a"), Level("b")]), ("no task",)),
    "levels of tasks": (lambda: Hierarchy(levels=[RANGE]), ("levels contains JointRange", "poise.Level(")),  # type: ignore[list-item]
    "levels of a number": (lambda: Hierarchy(levels=5), ("levels contains 5", "poise.Level(")),  # type: ignore[arg-type]
    "always of a level": (lambda: Hierarchy([FEET]), ("'always' contains", "expected tasks")),  # type: ignore[list-item]
    "always of a number": (lambda: Hierarchy(5), ("'always' contains 5",)),  # type: ignore[arg-type]
    "two levels of one name": (lambda: Hierarchy(levels=[FEET, Level("feet", [RANGE])]), ("two levels", "'feet'")),
    "a level called always": (lambda: Hierarchy(levels=[Level("always", [RANGE])]), ("two levels", "'always'")),
    "two robots": (
        lambda: Hierarchy([constraints.JointRange(OTHER)], [FEET]),
        ("talos", "g1", "joint range", "hold left_sole", "one robot"),
    ),
    "two robots in one task": (
        lambda: Hierarchy(levels=[Level("a", [tasks.RelativePose(ROBOT.hand("left"), OTHER.hand("left"), np.eye(4))])]),
        ("g1", "talos", "one robot"),
    ),
    "postures of two robots": (
        lambda: Hierarchy(levels=[Level("a", [tasks.Posture(START), tasks.Posture(OTHER.stance("standing"))])]),
        ("g1", "talos"),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_inconsistent_hierarchy_is_refused_in_one_line(case: str) -> None:
    build, words = WRONG[case]
    with pytest.raises(HierarchyError) as caught:
        build()
    text = str(caught.value)
    assert "\n" not in text
    assert isinstance(caught.value, PoiseError)
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def test_an_unknown_level_is_refused_with_a_similar_name(hierarchy: Hierarchy) -> None:
    for ask in (hierarchy.level, hierarchy.without_level, lambda name: hierarchy.with_level(Level("new"), before=name)):
        with pytest.raises(HierarchyError, match="did you mean 'balance'"):
            ask("balanc")
        with pytest.raises(HierarchyError, match="there are feet, balance, reach, posture"):
            ask("xyzzy")
    with pytest.raises(HierarchyError, match="did you mean 'reach'"):
        hierarchy.with_tasks("Reach", [])


def test_one_task_or_one_level_need_no_list() -> None:
    hierarchy = Hierarchy(RANGE, Level("reach", REACH.tasks[0]))
    assert hierarchy.always == (RANGE,)
    assert hierarchy.levels[0].tasks == REACH.tasks
    assert hierarchy.tasks == (RANGE, *REACH.tasks)


def test_generators_are_accepted() -> None:
    hierarchy = Hierarchy((t for t in [RANGE]), (level for level in [FEET, POSTURE]))
    assert names(hierarchy) == ["feet", "posture"]
    assert len(hierarchy.tasks) == 4


def test_it_prints_as_a_table(hierarchy: Hierarchy) -> None:
    calm = hierarchy.with_level(Level("empty")).with_level(Level("still", [tasks.LeastVelocity()]))
    lines = str(calm).splitlines()
    assert lines[0].split() == ["level", "task", "unit", "kind", "weight"]
    assert lines[1].split() == ["-", "always", "joint", "range", "rad/s", "limits", "1"]
    assert lines[2].split() == ["1", "feet", "hold", "left_sole", "m,", "rad", "equality", "1"]
    assert lines[3].split() == ["hold", "right_sole", "m,", "rad", "equality", "1"]
    assert lines[4].split() == ["2", "balance", "center", "of", "mass", "m", "interval", "1"]
    assert lines[5].split() == ["3", "reach", "position", "of", "left_palm", "m", "equality", "1", "to", "4"]
    assert lines[7].split() == ["5", "empty", "(none)"]
    assert lines[8].split() == ["6", "still", "least", "velocity", "rad/s", "rate", "1"]
    at = lines[0].index("unit")
    assert all(line[at - 1] == " " for line in lines if len(line) > at), "columns are aligned"
    assert not any(line.endswith(" ") for line in lines)
    assert repr(hierarchy) == "Hierarchy(1 always, levels feet, balance, reach, posture)"


def test_the_table_marks_interval_constraints() -> None:
    region = constraints.Box(ROBOT.hand("left"), (0, 0, 0), (1, 1, 1))
    table = str(Hierarchy([constraints.CenterOfMassInside(), region, constraints.PinnedContact(ROBOT.foot("left"))]))
    words = [line.split()[-2] for line in table.splitlines()[1:]]
    assert words == ["interval", "interval", "rate"]


def test_a_level_is_inserted_before_the_named_one_or_last(hierarchy: Hierarchy) -> None:
    gaze = Level("gaze", [tasks.Gaze(ROBOT.gaze, (1.0, 0.0, 1.0))])
    assert names(hierarchy.with_level(gaze)) == ["feet", "balance", "reach", "posture", "gaze"]
    assert names(hierarchy.with_level(gaze, before="reach")) == ["feet", "balance", "gaze", "reach", "posture"]
    assert names(hierarchy.with_level(gaze, before="feet")) == ["gaze", "feet", "balance", "reach", "posture"]
    assert names(hierarchy) == ["feet", "balance", "reach", "posture"], "the first one has not changed"
    with pytest.raises(HierarchyError, match="two levels"):
        hierarchy.with_level(FEET)


def test_a_level_can_be_removed_or_get_other_tasks(hierarchy: Hierarchy) -> None:
    assert names(hierarchy.without_level("balance")) == ["feet", "reach", "posture"]
    other = tasks.Position(ROBOT.hand("right"), (0.3, -0.2, 0.9))
    calm = hierarchy.with_level(Level("gaze", [tasks.Gaze(ROBOT.gaze, (1, 0, 1))], damping=0.1))
    changed = calm.with_tasks("reach", other).with_tasks("gaze", [tasks.Gaze(ROBOT.gaze, (1, 1, 1))])
    assert changed.level("reach").tasks == (other,)
    assert changed.level("gaze").damping == 0.1, "other fields do not change"
    assert changed.level("feet") is hierarchy.level("feet")
    with pytest.raises(HierarchyError, match="no task"):
        Hierarchy(levels=[POSTURE]).without_level("posture")


def test_the_same_levels_in_another_order(hierarchy: Hierarchy) -> None:
    other = hierarchy.reorder(["reach", "posture", "feet", "balance"])
    assert names(other) == ["reach", "posture", "feet", "balance"]
    assert other.always == hierarchy.always
    assert set(other.tasks) == set(hierarchy.tasks)
    for order in (["feet"], ["feet", "feet", "reach", "posture"], ["feet", "balance", "reach", "gaze"], [1, 2, 3, 4]):
        with pytest.raises(HierarchyError, match="does not name each level once; there are feet"):
            hierarchy.reorder(order)  # type: ignore[arg-type]


def test_replace_exchanges_always_or_levels(hierarchy: Hierarchy) -> None:
    other = hierarchy.replace(always=())
    assert other.always == ()
    assert other.levels == hierarchy.levels
    assert names(hierarchy.replace(levels=[POSTURE])) == ["posture"]


def test_common_levels_are_the_first_that_are_the_same_task_for_task(hierarchy: Hierarchy) -> None:
    assert hierarchy.common_levels(hierarchy) == 4
    assert hierarchy.common_levels(Hierarchy([RANGE], [FEET, BALANCE, REACH, POSTURE])) == 4
    assert hierarchy.common_levels(hierarchy.without_level("posture")) == 3
    assert hierarchy.common_levels(hierarchy.without_level("balance")) == 1
    assert hierarchy.common_levels(hierarchy.without_level("feet")) == 0
    assert hierarchy.common_levels(hierarchy.with_level(Level("x", [tasks.LeastVelocity()]))) == 4
    assert hierarchy.common_levels(hierarchy.reorder(["feet", "reach", "balance", "posture"])) == 1
    same_words = hierarchy.with_tasks("feet", [tasks.HoldPose(foot, at=START) for foot in ROBOT.feet])
    assert hierarchy.common_levels(same_words) == 0, "tasks are compared by identity, not by name"
    assert hierarchy.common_levels(hierarchy.replace(always=())) == -1
    damped = Hierarchy([RANGE], [FEET, Level("balance", BALANCE.tasks, damping=0.1), REACH, POSTURE])
    assert hierarchy.common_levels(damped) == 1


def test_a_hierarchy_has_its_robot_and_is_a_behavior(hierarchy: Hierarchy) -> None:
    assert hierarchy.robot_name == "g1"
    assert Hierarchy(levels=[Level("still", [tasks.LeastVelocity()])]).robot_name is None
    assert hierarchy(Snapshot(ROBOT).at(START)) is hierarchy


def test_groups_are_the_levels_of_the_program_with_always_first(hierarchy: Hierarchy) -> None:
    groups = hierarchy.groups()
    assert [name for name, _ in groups] == ["always", "feet", "balance", "reach", "posture"]
    assert [len(group) for _, group in groups] == [1, 2, 1, 1, 1]
    assert hierarchy.damping() == (0.0, 0.0, 0.0, 0.0, 0.0)


def test_nothing_in_a_hierarchy_can_be_changed(hierarchy: Hierarchy) -> None:
    for attribute, owner in (("levels", hierarchy), ("always", hierarchy), ("tasks", FEET), ("name", FEET)):
        with pytest.raises(AttributeError):
            setattr(owner, attribute, ())
