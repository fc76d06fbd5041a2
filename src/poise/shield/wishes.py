"""`Wish`: what a client asks of the robot in one message, checked: finite, bounded, and of parts that it has."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import PoiseError, suggestion
from poise.parsing import check_vector, format_value, is_number

#: Frames in which the pose of a hand is wished: the world, or the chest.
HAND_FRAMES = ("world", "body")
HandFrame = Literal["world", "body"]
#: Largest magnitude of any number of a wish (m, rad, m/s, rad/s); larger ones are mistakes of units, or hostile.
MAX_VALUE = 1000.0
#: Keys of a message that are not wishes.
ENVELOPE_KEYS = ("kind", "sequence", "time")
WISH_KEYS = ("joints", "hands", "gaze", "velocity")


class WishError(PoiseError, ValueError):
    """A message that is not a valid wish; it has no effect."""


@dataclass(frozen=True, eq=False)
class HandWish:
    """Wished pose of a hand.

    Args:
        position: of the origin of the hand (m, 3).
        rotation: frame_from_hand, 3 x 3; None: any.
        frame: "world", or "body": the chest.
    """

    position: Array
    rotation: Array | None = None
    frame: HandFrame = "world"


@dataclass(frozen=True, eq=False)
class Wish:
    """Wishes of one message; a part that it does not name keeps its last wish until that expires.

    Args:
        joints: angles of joints of arms and head by name (rad, m).
        hands: poses of hands by side, "left" or "right".
        gaze: point in the world to look at (m, 3).
        velocity: of the walk: forward (m/s), to the left (m/s), turning (rad/s).
        time: time of the robot at which the wish was made, as in the last answer (s); None: not given.
    """

    joints: Mapping[str, float] = field(default_factory=dict)
    hands: Mapping[str, HandWish] = field(default_factory=dict)
    gaze: Array | None = None
    velocity: Array | None = None
    time: float | None = None

    @classmethod
    def parse(cls, message: Mapping[str, Any], joints: Collection[str], sides: Collection[str] = ()) -> Wish:
        """Return the wishes of a decoded message; raise a `WishError` of one line if anything in it is invalid.

        Args:
            message: maps "joints" to angles by name; "hands" to maps by side with "position" (3), optionally
                "orientation" (quaternion x, y, z, w) and "frame"; "gaze" to 3 and "velocity" to 3 numbers; "time" to a
                number. All are optional; null counts as absent.
            joints: names of the joints that may be wished.
            sides: sides of the hands of the robot.
        """
        for key in message:
            if key not in (*ENVELOPE_KEYS, *WISH_KEYS):
                raise WishError(f"unknown key {format_value(key)}; {suggestion(str(key)[:60], WISH_KEYS)}")
        time = message.get("time")
        if time is not None and not is_number(time):
            raise WishError(f"time is {format_value(time)}; expected the time of the last answer in s, or none")
        return cls(
            joints={name: _number(angle, f"joint {name}", "rad") for name, angle in _named(message, "joints", joints)},
            hands={side: _hand(wish, side) for side, wish in _named(message, "hands", sides)},
            gaze=None if message.get("gaze") is None else _vector(message["gaze"], 3, "gaze", "m"),
            velocity=None
            if message.get("velocity") is None
            else _vector(message["velocity"], 3, "velocity", "m/s, m/s, rad/s"),
            time=None if time is None else float(time),
        )


def _named(message: Mapping[str, Any], key: str, known: Collection[str]) -> list[tuple[str, Any]]:
    """Return the entries of a map inside the message, whose keys are known names."""
    entries = message.get(key)
    if entries is None:
        return []
    if not isinstance(entries, Mapping):
        raise WishError(f"{key} is {format_value(entries)}; expected a map of names to wishes")
    for name in entries:
        if not isinstance(name, str) or name not in known:
            singular = key.removesuffix("s")
            raise WishError(f"there is no {singular} {format_value(name)}; {suggestion(str(name)[:60], sorted(known))}")
    return list(entries.items())


def _hand(wish: Any, side: str) -> HandWish:
    if not isinstance(wish, Mapping):
        raise WishError(f"{side} hand is {format_value(wish)}; expected a map with position, orientation and frame")
    for key in wish:
        if key not in ("position", "orientation", "frame"):
            raise WishError(f"{side} hand has unknown key {format_value(key)}; expected position, orientation, frame")
    frame = wish.get("frame", "world")
    if frame not in HAND_FRAMES:
        raise WishError(f"frame of the {side} hand is {format_value(frame)}; expected 'world' or 'body'")
    position = _vector(wish.get("position"), 3, f"position of the {side} hand", "m")
    orientation = wish.get("orientation")
    if orientation is None:
        return HandWish(position, None, frame)
    quaternion = _vector(orientation, 4, f"orientation of the {side} hand")
    length = math.sqrt(quaternion @ quaternion)
    if not 0.9 < length < 1.1:
        raise WishError(
            f"orientation of the {side} hand has length {length:.3g}; expected a unit quaternion x, y, z, w"
        )
    return HandWish(position, pinocchio.Quaternion(*np.roll(quaternion / length, 1)).toRotationMatrix(), frame)


def _number(value: Any, label: str, unit: str) -> float:
    if not is_number(value) or abs(value) > MAX_VALUE:
        raise WishError(f"{label} is {format_value(value)}; expected a finite number in {unit}, at most {MAX_VALUE:g}")
    return float(value)


def _vector(values: Any, size: int, label: str, unit: str = "") -> Array:
    error: Callable[[str], Exception] = WishError
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) != size or not all(map(is_number, values)):
        unit_text = f" in {unit}" if unit else ""
        raise WishError(f"{label} is {format_value(values)}; expected {size} finite numbers{unit_text}")
    array = check_vector(values, size, label, error, unit)
    if np.abs(array).max() > MAX_VALUE:
        raise WishError(f"{label} is {format_value(values)}; expected numbers of at most {MAX_VALUE:g}")
    return array
