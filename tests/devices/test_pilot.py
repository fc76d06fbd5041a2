"""An operator who looks at the robot guides it where it should go."""

from __future__ import annotations

import numpy as np
import pytest

from poise.devices import FootTo, HandTo, Pilot, TrunkTo
from poise.plans import Legs, Points, Stick, Workspace, guided, standing
from robot_states import robot_of


def led(pilot: Pilot, most: int = 60) -> tuple[Points, list[Stick]]:
    """Where a robot ends that does each goal exactly, and what it was told."""
    robot = robot_of("mighty")
    legs = Legs.of(robot)
    points, sticks = standing(robot), []
    for k in range(most):
        pilot.see(points)
        sticks.append(pilot.read(0.5 * k))
        if pilot.done:
            break
        points = guided(points, sticks[-1], pilot.workspace, legs).points
    return points, sticks


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return Workspace.of(robot_of("mighty"))


def test_a_foot_is_lifted_moved_and_put_down(workspace: Workspace) -> None:
    points, sticks = led(Pilot([FootTo("left", 0.08, 0.05)], workspace))
    assert points.feet["left"].place == pytest.approx(0.08 + 0.05j, abs=0.004)
    assert points.lifted is None
    ups = [stick.axes[2] for stick in sticks]
    assert (ups[0], ups[-3]) == (1.0, -1.0)
    assert {stick.mode for stick in sticks} == {"left foot"}


def test_a_trunk_is_led_to_its_place_and_turned(workspace: Workspace) -> None:
    points, _ = led(Pilot([TrunkTo(0.3, 0.1, 0.2)], workspace))
    middle = 0.5 * (points.feet["left"].place + points.feet["right"].place)
    assert middle == pytest.approx(0.3 + 0.1j, abs=0.12 * workspace.leg)
    assert points.attitude[2] == pytest.approx(0.2, abs=0.06)


def test_a_hand_is_led_farther_than_its_arm_reaches(workspace: Workspace) -> None:
    goal = (0.35, 0.16, 0.3)
    points, sticks = led(Pilot([HandTo("left", *goal)], workspace))
    assert points.hand("left") == pytest.approx(goal, abs=0.004)
    assert points.center[0] > 0.1
    assert {stick.mode for stick in sticks} == {"left hand"}


def test_who_looks_at_the_real_hand_leads_it_further_when_it_lags_behind(workspace: Workspace) -> None:
    """The hand hangs 1 cm below where it is led: it is led 1 cm above its place."""
    goal, robot = np.array([0.12, 0.16, 0.3]), robot_of("mighty")
    seen: list[Points] = []
    lag = np.array([0.0, 0.0, 0.01])
    pilot = Pilot([HandTo("left", *goal)], workspace, eyes=lambda: {"left": seen[-1].hand("left") - lag})
    legs, points = Legs.of(robot), standing(robot)
    for k in range(30):
        seen.append(points)
        pilot.see(points)
        stick = pilot.read(0.5 * k)
        points = guided(points, stick, workspace, legs).points
    assert pilot.done
    assert points.hand("left") == pytest.approx(goal + lag, abs=0.004)


def test_errands_are_run_in_their_order_and_then_the_stick_is_centred(workspace: Workspace) -> None:
    pilot = Pilot([TrunkTo(0.1, 0.0), HandTo("right", 0.25, -0.15, 0.28)], workspace)
    _, sticks = led(pilot)
    modes = list(dict.fromkeys(stick.mode for stick in sticks))
    assert (modes, pilot.done, pilot.at) == (["trunk", "right hand"], True, 2)
    assert sticks[-1] == sticks[-2] == Stick("right hand")


def test_who_has_seen_nothing_says_nothing(workspace: Workspace) -> None:
    assert Pilot([TrunkTo(1.0, 0.0)], workspace).read(0.0).still


def test_what_is_done_already_needs_no_stick(workspace: Workspace) -> None:
    pilot = Pilot([], workspace)
    _, sticks = led(pilot)
    assert pilot.done
    assert all(stick.still for stick in sticks)
