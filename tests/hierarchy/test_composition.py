"""Behaviors with further levels: placement by name, changes while running, and nothing above is degraded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise import constraints, tasks
from poise.behaviors import Reach, Stand, Walk
from poise.errors import HierarchyError
from poise.hierarchy import Behavior, ComposedBehavior, Hierarchy, Level
from poise.state import Snapshot
from robot_states import installed_robot, not_none

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
LEFT, RIGHT = ROBOT.hand("left"), ROBOT.hand("right")

pytestmark = pytest.mark.needs_models


def hand_level(name: str, target: tuple[float, float, float] = (0.3, 0.2, 1.0)) -> Level:
    return Level(name, tasks.Position(LEFT, target))


def base_hierarchy() -> Hierarchy:
    return Hierarchy(
        always=constraints.JointRange(ROBOT),
        levels=[
            Level("feet", [tasks.HoldPose(foot, at=START) for foot in ROBOT.feet]),
            Level("balance", tasks.CenterOfMass(START.support_center, axes="xy")),
            Level("posture", tasks.Posture(START)),
        ],
    )


def level_names(behavior: Behavior) -> list[str]:
    return [level.name for level in behavior(Snapshot(ROBOT).at(START)).levels]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=6))
def test_every_level_is_directly_below_or_above_the_one_that_is_named(places: list[tuple[bool, int]]) -> None:
    composed = ComposedBehavior(base_hierarchy())
    expected = ["feet", "balance", "posture"]
    for number, (below, choice) in enumerate(places):
        anchor, name = expected[choice % len(expected)], f"level {number}"
        composed.add_level(hand_level(name), **{"below" if below else "above": anchor})
        expected.insert(expected.index(anchor) + below, name)
        assert level_names(composed) == expected
    for name in composed.added_levels:
        composed.remove_level(name)
        expected.remove(name)
        assert level_names(composed) == expected


@pytest.mark.parametrize(("behavior", "above"), [(Walk, "swing"), (Stand, "balance"), (Reach, "left foot")])
def test_levels_are_placed_below_what_keeps_the_robot_from_falling(
    behavior: type[Walk | Stand | Reach], above: str
) -> None:
    names = level_names(behavior(ROBOT).with_levels(hand_level("wish")))
    assert names[names.index("wish") - 1] == above


def test_a_wish_below_balance_does_not_change_the_slack_of_the_levels_above() -> None:
    """The same states, with and without hands that are asked to be 5 m away."""
    plain, composed = Walk(ROBOT, steps=4, speed=(0.3, 0.0, 0.0)), Walk(ROBOT, steps=4, speed=(0.3, 0.0, 0.0))
    wish = Level("wish", [tasks.Position(hand, (5.0, 0.0, 1.0)) for hand in (LEFT, RIGHT)])
    first, second = poise.TorqueController(plain), poise.TorqueController(composed.with_levels(wish))
    worst, count = 0.0, 0
    for tick in poise.steps(first, poise.IdealPlant(plain.start), 1.5):
        solution, other = not_none(tick.command.solution), not_none(second.step(tick.state).solution)
        for name in ("physics", "always", "contact", "balance", "swing"):
            level = solution.program.names.index(name)
            assert other.program.names[level] == name
            cost, other_cost = (float(np.square(each.slack[level]).sum()) for each in (solution, other))
            worst, count = max(worst, abs(cost - other_cost)), count + 1
    assert count > 3000
    assert worst < 1e-9


def test_levels_that_come_and_go_during_a_walk_cause_no_fallback() -> None:
    """Every tenth of a second a level is added or removed, also within steps, transitions and changes of the phase."""
    walk = Walk(ROBOT, steps=6, speed=(0.3, 0.0, 0.0))
    composed = ComposedBehavior(walk)
    plant = poise.MujocoPlant(walk.start)
    controller = poise.TorqueController(composed)
    levels = [Level("gaze", tasks.Gaze(not_none(ROBOT.head), (3.0, 0.5, 1.0)), damping=0.1), hand_level("left hand")]
    last = np.zeros(0)
    for number in range(30):
        level = levels[number // 2 % 2]
        if level.name in composed.added_levels:
            composed.remove_level(level.name)
        else:
            composed.add_level(level)
        for tick in poise.steps(controller, plant, 0.1):
            assert tick.command.fallback == ""
            last = not_none(tick.command.torque)
    assert not plant.fall
    assert np.isfinite(last).all()
    assert walk.phase().steps >= 3


def test_the_command_passes_over_to_an_added_level_while_the_levels_above_stay_exact() -> None:
    composed = ComposedBehavior(base_hierarchy(), transition_time=0.2)
    controller, plant = poise.KinematicController(composed), poise.IdealPlant(START)
    *_, before = poise.steps(controller, plant, 0.4)
    composed.add_level(hand_level("reach", (0.45, 0.2, 1.1)), below="balance")
    velocities = [before.command.velocity]
    for tick in poise.steps(controller, plant, 0.4):
        velocities.append(tick.command.velocity)
        solution = not_none(tick.command.solution)
        upper = solution.program.slice(solution.program.names.index("balance")).stop
        rows = slice(0, upper)
        assert np.abs(solution.program.slack(tick.command.velocity)[rows]).max() < 1e-8
    steps = np.abs(np.diff(velocities, axis=0)).max(axis=1)
    speed = np.abs(velocities).max()
    assert speed > 0.3, "it moves"
    assert steps.max() < 0.1 * speed, "no tick changes the command much"


def test_a_transition_continues_into_the_next_phase_of_a_behavior_without_transitions() -> None:
    """The base changes its hierarchy at once (ramp 0) in the middle of a transition to an added level."""

    class TwoPhases(Behavior):
        ramp = 0.0

        def __init__(self) -> None:
            first = base_hierarchy()
            self.hierarchies = (first, first.with_tasks("posture", tasks.Posture(ROBOT.stance("standing"))))

        def __call__(self, snapshot: Snapshot) -> Hierarchy:
            return self.hierarchies[snapshot.time > 0.25]

    composed = ComposedBehavior(TwoPhases(), transition_time=0.2)
    controller, plant = poise.KinematicController(composed), poise.IdealPlant(START)
    list(poise.steps(controller, plant, 0.2))
    composed.add_level(hand_level("reach", (0.45, 0.2, 1.1)), below="balance")
    velocities = [tick.command.velocity for tick in poise.steps(controller, plant, 0.4)]
    assert np.abs(np.diff(velocities, axis=0)).max() < 0.1 * np.abs(velocities).max()


def test_levels_of_another_behavior_run_beside_the_base() -> None:
    reach = Reach(ROBOT, targets="near")
    stand = Stand(ROBOT, start=reach.start)
    composed = stand.with_behavior(reach, levels=["right hand", "gaze"])
    seen = set()
    for phase in reach.phases:
        state = reach.start.replace(time=0.5 * (phase.begin + phase.end))
        hierarchy = composed(Snapshot(ROBOT).at(state))
        seen.add("gaze" in [level.name for level in hierarchy.levels])
        (hand,) = hierarchy.level("right hand").tasks
        assert hand.name == f"right hand to {phase.name}"
    assert seen == {True, False}, "a level that the other behavior lacks in a phase is left out"
    composed.remove_level("gaze")
    assert composed.added_levels == ("right hand",)


def test_a_level_without_a_place_in_a_phase_is_left_out_and_named() -> None:
    full = base_hierarchy()
    bare = full.without_level("balance")
    composed = ComposedBehavior(lambda snapshot: full if snapshot.time < 1.0 else bare)
    composed.add_level(hand_level("reach"), below="balance")
    assert level_names(composed) == ["feet", "balance", "reach", "posture"]
    assert composed.fallback == ""
    later = composed(Snapshot(ROBOT).at(START.replace(time=2.0)))
    assert [level.name for level in later.levels] == ["feet", "posture"]
    assert composed.fallback == "no place for level reach"


def test_the_same_hierarchy_is_returned_until_something_changes() -> None:
    composed = Walk(ROBOT).with_levels(hand_level("reach"))
    before = composed.hierarchies
    assert len(before) == 6, "walking and recovering from a push, each with both feet, the left and the right one"
    assert all(a is b for a, b in zip(before, composed.hierarchies, strict=True))
    composed.replace_level(hand_level("reach", (0.2, 0.2, 0.9)))
    assert not set(before) & set(composed.hierarchies)
    both, left = composed.hierarchies[:2]
    assert composed.transition(before[0], both) == (0.2, 3), "contact, balance and swing are exact"
    assert composed.transition(before[0], left) == (0.2, 3), "also if the phase changes at the same time"
    assert composed.transition(both, left).seconds == 0.0, "the phases of a walk change at once"


def test_an_added_level_has_the_geometric_mean_of_its_neighbours_for_a_weighted_solver() -> None:
    stand = Stand(ROBOT)
    composed = stand.with_levels(hand_level("reach"))
    contact, balance, reach, trunk, posture = not_none(composed.weights)
    assert (contact, balance, trunk, posture) == tuple(not_none(stand.weights))
    assert math.isclose(reach, math.sqrt(balance * trunk))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.add_level(hand_level("new"), below="balance", above="feet"), "expected one of the two"),
        (lambda c: c.add_level(hand_level("new"), below="balanse"), "no level 'balanse'; did you mean 'balance'"),
        (lambda c: c.add_level(hand_level("new")), "give below= or above= the name of a level; there are feet"),
        (lambda c: c.add_level(hand_level("posture"), below="feet"), "two levels are named 'posture'"),
        (lambda c: c.add_level("reach", below="feet"), "levels contains 'r'"),
        (lambda c: c.remove_level("feet"), "no added level 'feet'"),
        (lambda c: c.replace_level(hand_level("new")), "no added level 'new'"),
        (lambda c: c.add_behavior(base_hierarchy(), ["head"], below="feet"), "joined behavior has no level 'head'"),
        (lambda c: ComposedBehavior(c, transition_time=-1.0), "transition_time is -1.0"),
    ],
)
def test_bad_changes_are_one_line_and_change_nothing(change: object, message: str) -> None:
    composed = ComposedBehavior(base_hierarchy())
    composed.add_level(hand_level("reach"), below="balance")
    assert callable(change)
    with pytest.raises(HierarchyError, match=message) as raised:
        change(composed)
    assert "\n" not in str(raised.value)
    assert level_names(composed) == ["feet", "balance", "reach", "posture"]
