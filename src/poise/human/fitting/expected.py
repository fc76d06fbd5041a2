"""Expected: where each marker of a set belongs on a body, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.human.markers import Marker
from poise.robots.human import BodyShape, landmarks

Array = NDArray[np.float64]

#: How far a marker is from its landmark on the mean body (m: forward, across, up): palpation, and bodies that differ.
#: On legs the first matters most: markers at knee and ankle tell where the axis of the joint points, and those at the
#: side of thigh and shank stand in the plane of the joint below. Trunk, head and arms of two people differ by more. On
#: the pelvis it was measured. A marker that is on a segment only may be anywhere along it.
AXIS, PLANE = (0.005, 0.015, 0.012), (0.012, 0.15, 0.20)
LEG, UPPER = (0.015, 0.015, 0.015), (0.035, 0.035, 0.035)
#: Of the centre of a joint in a skeleton: it is that of the joint, but for how far another's toes bend.
CENTER = (0.008, 0.008, 0.008)
MEASURED, ANYWHERE = (0.003, 0.003, 0.003), (0.30, 0.30, 0.30)


@dataclass(frozen=True)
class Expected:
    """Links of the markers (m), their places there (m x 3, m), how far off they may be (m x 3, m), and which landmarks
    they follow when the shape changes (m)."""

    links: tuple[str, ...]
    places: Array
    spread: Array
    landmarks: tuple[str | None, ...]

    @classmethod
    def of(cls, markers: Sequence[Marker], shape: BodyShape, measured: Mapping[str, Array]) -> Expected:
        """From the landmarks of a shape; of those that were measured, from that."""
        known = landmarks(shape)
        places = [
            measured[str(marker.landmark)]
            if marker.landmark in measured
            else known[marker.landmark][1]
            if marker.landmark is not None
            else np.zeros(3)
            for marker in markers
        ]
        spread = [_spread(marker, marker.landmark in measured) for marker in markers]
        follow = tuple(None if marker.landmark in measured else marker.landmark for marker in markers)
        return cls(tuple(marker.segment for marker in markers), np.array(places), np.array(spread), follow)

    def on(self, shape: BodyShape) -> Array:
        """The places on another shape (m x 3, m): a knee marker is at the end of a longer thigh."""
        known = landmarks(shape)
        return np.array(
            [place if name is None else known[name][1] for name, place in zip(self.landmarks, self.places, strict=True)]
        )

    @property
    def anywhere(self) -> Array:
        """Which markers are known by their segment alone (m)."""
        return np.asarray(self.spread[:, 0] >= ANYWHERE[0])


def _spread(marker: Marker, measured: bool) -> tuple[float, float, float]:
    if measured:
        return MEASURED
    if marker.landmark is None:
        return ANYWHERE
    if marker.landmark.endswith("_center"):
        return UPPER if marker.segment == "torso" else CENTER
    if marker.landmark.endswith(("_knee", "_ankle", "_elbow")):
        return AXIS
    if marker.landmark.endswith("_side"):
        return PLANE
    return LEG if marker.segment.endswith(("_thigh", "_shank", "_foot", "_toes")) else UPPER
