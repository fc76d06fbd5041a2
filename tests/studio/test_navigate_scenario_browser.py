"""The scenario of [Sugihara2008] in a real browser: a gamepad guides mighty down the stairs and to the door.

`poise.devices.GoalOperator` moves the gamepad and observes the frames that are sent to the view.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pinocchio
import pytest
from test_navigate_scene_browser import (
    LEFT_SHOULDER,
    LEFT_TRIGGER,
    RIGHT_TRIGGER,
    X,
    Y,
    current_frame,
    guided_page,
    hub,
    page,
    press_button,
)

from poise.devices import GoalOperator
from poise.plans import Footstep, HandPoint, NavigationPoints, OperatorCommand
from poise.robots import Frame, Robot
from poise.runs import Scenario
from poise.studio import Hub

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]

#: Buttons of the gamepad that choose a point, and the names of the modes.
BUTTONS = {"left foot": LEFT_SHOULDER, "right foot": 5, "trunk": Y, "left hand": X}
__all__ = ["guided_page", "hub", "page"]  # fixtures


def frame_pose(hub: Hub, frame: Frame, robot: Robot) -> pinocchio.SE3:
    """Pose of a part of the robot in the last frame."""
    view_frame = hub._latest_view
    assert view_frame is not None
    x, y, z, *turn = view_frame.poses["robot"][frame.joint]
    joint = pinocchio.SE3(pinocchio.Quaternion(*turn).matrix(), np.array([x, y, z]))
    return joint * robot.model.frames[frame.index].placement


def observed_points(hub: Hub, robot: Robot) -> NavigationPoints:
    """The navigation points in the last frame of the view."""
    feet = {}
    for foot in robot.feet:
        there = frame_pose(hub, foot, robot)
        x, y, z = there.act(foot.sole.center).tolist()
        feet[foot.side] = Footstep(foot.side, x, y, math.atan2(there.rotation[1, 0], there.rotation[0, 0]), z)
    yaw = 0.5 * (feet["left"].yaw + feet["right"].yaw)
    back = pinocchio.rpy.rpyToMatrix(0.0, 0.0, yaw).T
    hands = {hand.side: HandPoint(back @ frame_pose(hub, hand, robot).translation, np.zeros(3)) for hand in robot.hands}
    lifted = {"left support": "right", "right support": "left"}.get(current_frame(hub)["phase"])
    return NavigationPoints(np.zeros(3), np.array([0.0, 0.0, yaw]), feet, hands, lifted)  # type: ignore[arg-type]


def hold_gamepad(page: Any, stick: OperatorCommand) -> None:
    """Move the gamepad by a command: left stick ahead and aside, right stick to turn, triggers up and down."""
    forward, left, up, _, _, yaw = stick.axes
    buttons = f"{{ [{RIGHT_TRIGGER}]: {max(up, 0.0)}, [{LEFT_TRIGGER}]: {max(-up, 0.0)} }}"
    page.evaluate(f"held = [{-left}, {-forward}, {-yaw}, 0]; down = {buttons}")


def test_a_gamepad_guides_it_down_the_stairs_through_the_room_and_its_hand_to_the_door(
    guided_page: Any, hub: Hub
) -> None:
    page, robot = guided_page, hub._load_robot("mighty")
    page.get_by_label("world", exact=True).select_option("stairs and door")
    page.get_by_text("m to go").wait_for()
    scenario = Scenario.of(robot)
    pilot, mode, end = GoalOperator(scenario.goals, scenario.workspace), "trunk", time.monotonic() + 400.0
    used = set()
    while time.monotonic() < end and "Well done" not in " ".join(current_frame(hub)["status_lines"]):
        assert not current_frame(hub)["fall_reason"]
        pilot.observe(observed_points(hub, robot))
        stick = pilot.read(0.0)
        if stick.mode != mode:
            page.evaluate("held = [0, 0, 0, 0]; down = {}")
            press_button(page, hub, BUTTONS[stick.mode], stick.mode)
            mode = stick.mode
        used.add(mode)
        hold_gamepad(page, stick)
        page.wait_for_timeout(60)
    page.get_by_text("The left hand is at the door. Well done.").wait_for()
    assert used == {"left foot", "right foot", "trunk", "left hand"}
    page.get_by_label("world", exact=True).select_option("flat")
