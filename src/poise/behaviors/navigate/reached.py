"""What hands and trunk really reached: a goal that was impossible is not asked for again and again."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.behaviors.navigate.levels import Levels
from poise.geometry import so3
from poise.plans.guidance import HandPoint, Points
from poise.state import Snapshot

Array = NDArray[np.float64]

#: A hand is short of its goal beyond this share of the longest reach, a trunk or a grip beyond this angle (rad): less
#: is what tasks lag behind, and is left to them.
SHORT, TURNED = 0.08, 0.1


def reached(points: Points, snapshot: Snapshot, levels: Levels, arm: float) -> tuple[Points, tuple[str, ...]]:
    """The points as they were led, but where hands or trunk are far from that, as they are; and that in words.

    Args:
        points: as they were led.
        snapshot: as they are.
        levels: of the robot's hierarchy, which know how it stands.
        arm: largest distance of a hand from its shoulder (m).
    """
    notes = []
    R = snapshot.pose(levels.part).rotation @ levels.upright.T
    attitude, off = points.attitude, so3.log(R @ points.trunk.T)
    if np.linalg.norm(off) > TURNED:
        roll, pitch, yaw = pinocchio.rpy.matrixToRpy(R)
        yaw = points.attitude[2] + np.remainder(yaw - points.attitude[2] + np.pi, 2 * np.pi) - np.pi
        attitude = np.array([roll, pitch, yaw])
        notes.append(f"trunk: {np.degrees(np.linalg.norm(off)):.0f} degrees from where it was led")
    hands, into = {}, np.asarray(pinocchio.rpy.rpyToMatrix(*attitude)).T
    for hand in snapshot.robot.hands:
        led, place = points.hands[hand.side], points.hand(hand.side)
        pose = snapshot.pose(hand)
        turn = so3.log(R.T @ pose.rotation @ levels.homes[hand.side].T)
        away = float(np.linalg.norm(pose.translation - place))
        if away > SHORT * arm:
            place = pose.translation
            notes.append(f"{hand.side} hand: {100 * away:.0f} cm from where it was led")
        position = into @ (place - points.center)
        if hand.side not in levels.grips or np.linalg.norm(so3.log(so3.exp(turn) @ so3.exp(led.attitude).T)) <= TURNED:
            turn = led.attitude
        hands[hand.side] = HandPoint(position, turn)
    return points.replace(attitude=attitude, hands=MappingProxyType(hands)), tuple(notes)
