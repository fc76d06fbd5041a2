"""Places: where the markers of a set sit on a body of the mean shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.human.markers import Marker, MarkerSet
from poise.robots import Robot
from poise.robots.human import BodyShape, landmarks
from poise.robots.parts import SIDES

Array = NDArray[np.float64]

#: Markers that sit anywhere on a segment, one after the other: how far along it, and where around it (degrees, from the
#: outer side to the front): apart from each other, as a laboratory would put them.
AROUND = ((0.50, 0.0), (0.65, 100.0), (0.35, -100.0), (0.80, 60.0), (0.25, 160.0))
#: Half the thickness of segments as a share of their length: thigh 8 cm, shank 5 cm, upper arm 4 cm.
THICK = {"thigh": 0.18, "shank": 0.12, "upper_arm": 0.16, "forearm": 0.13, "torso": 0.30, "foot": 0.20}
#: Where joints are to be seen in a static trial even if the set has no marker there while walking.
JOINTS = ("_knee", "_ankle")


def worn(marker_set: MarkerSet, *, static: bool) -> list[Marker]:
    """The markers that a person wears: those of the set; in a static trial also optional ones on knees and ankles, if
    the set has none there."""
    always = [marker for label, marker in marker_set.markers.items() if label not in marker_set.optional]
    seen = {marker.landmark for marker in always}
    if not static or any(str(landmark).endswith(JOINTS) for landmark in seen):
        return always
    more = [marker_set.markers[label] for label in marker_set.markers if label in marker_set.optional]
    return [*always, *(marker for marker in more if str(marker.landmark).endswith(JOINTS))]


def places(markers: Sequence[Marker], shape: BodyShape) -> list[tuple[str, Array]]:
    """The link of each marker and its place there, m: its landmark, or a place of its own on its segment."""
    known, count = landmarks(shape), Counter[str]()
    found = []
    for marker in markers:
        if marker.landmark is not None:
            found.append(known[marker.landmark])
            continue
        found.append((marker.segment, _anywhere(marker.segment, count[marker.segment], shape)))
        count[marker.segment] += 1
    return found


def positions(robot: Robot, q: Array, worn_at: Sequence[tuple[str, Array]]) -> Array:
    """Where markers are in the world, (n, markers, 3), m, at configurations (n, 43)."""
    model, data = robot.model, robot.model.createData()
    frames = [robot.frame(link).index for link, _ in worn_at]
    out = np.empty((len(q), len(frames), 3))
    for i, each in enumerate(q):
        pinocchio.framesForwardKinematics(model, data, each)
        for k, (frame, (_, place)) in enumerate(zip(frames, worn_at, strict=True)):
            out[i, k] = data.oMf[frame].act(place)
    return out


def _anywhere(segment: str, number: int, shape: BodyShape) -> Array:
    side = next((s for s in SIDES if segment.startswith(s)), None)
    kind = segment.removeprefix(f"{side}_")
    i = SIDES.index(side) if side else 0
    y = 1.0 if side == "left" else -1.0
    pair = getattr(shape, kind, shape.head)
    length = float(pair[i] if isinstance(pair, tuple) else pair)
    along = np.array([0.0, 0.0, length if kind in ("torso", "head", "pelvis") else -length])
    outward, front = np.array([0.0, y, 0.0]), np.array([1.0, 0.0, 0.0])
    if kind in ("foot", "toes"):
        along, front = np.array([length, 0.0, -0.5 * shape.ankle_height[i]]), np.array([0.0, 0.0, 1.0])
    share, degrees = AROUND[number % len(AROUND)]
    if kind == "torso":
        share, degrees = share + 0.2, degrees - 120.0  # on the shoulder blade, behind
    angle = np.radians(degrees)
    return share * along + THICK.get(kind, 0.2) * length * (np.cos(angle) * outward + np.sin(angle) * front)
