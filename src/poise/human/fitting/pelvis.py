"""The pelvis: its anatomical frame from the markers on its spines, and the hip centres in it.

The hip centres are those of Harrington et al. 2007 ("Prediction of the hip joint centre in adults, children, and
patients with cerebral palsy based on magnetic resonance imaging", Journal of Biomechanics 40), with the pelvic width W
between the anterior spines and its depth D from their middle to the middle of the posterior ones (m):

    forward  -0.24 D - 0.0099,   up  -0.30 W - 0.0109,   to either side  0.33 W + 0.0073
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.human.errors import TrialError
from poise.human.fitting.measured import median
from poise.robots.human import dumas

Array = NDArray[np.float64]

SKIN = ("left_asis", "right_asis", "left_psis", "right_psis", "sacrum")
CENTERS = ("left_hip_center", "right_hip_center", "lumbar_center")
#: Where L5S1 is, seen from the middle of the hip centres of the mean man: forward and up [Dumas2007].
LUMBAR = (dumas.LUMBAR["male"][0] - dumas.HIP["male"][0], dumas.LUMBAR["male"][1] - dumas.HIP["male"][1])


@dataclass(frozen=True)
class Pelvis:
    """A person's pelvis.

    Attributes:
        width, depth: between the anterior spines, and from front to back (m).
        hip_width: between the hip centres (m).
        places: of its landmarks, seen from the middle of the hip centres: x forward and y left in the plane of the
            spines, z up (m).
        origin: of the frame that its points span, seen from there as well (m).
    """

    width: float
    depth: float
    hip_width: float
    places: Mapping[str, Array]
    origin: Array


@dataclass(frozen=True)
class Girdle:
    """Three points that tell where a pelvis is: two at its sides and one behind, each n x 3 or 3 (m).

    They are the anterior spines and the middle of the posterior ones; or, of a skeleton without skin, the hip centres
    and the lumbar joint (`centers`).
    """

    left: Array
    right: Array
    back: Array
    centers: bool

    @classmethod
    def of(cls, seen: Mapping[str, Array]) -> Girdle:
        """From landmarks by name; an error says what is missing."""
        if "left_asis" not in seen and all(name in seen for name in CENTERS):
            return cls(seen["left_hip_center"], seen["right_hip_center"], seen["lumbar_center"], True)
        missing = [name for name in ("left_asis", "right_asis") if name not in seen]
        if missing:
            raise TrialError(f"no marker on {' and '.join(missing)}; expected both anterior spines of the pelvis")
        if "sacrum" in seen:
            return cls(seen["left_asis"], seen["right_asis"], seen["sacrum"], False)
        if "left_psis" not in seen or "right_psis" not in seen:
            raise TrialError("no marker on the back of the pelvis; expected both posterior spines or the sacrum")
        back = (seen["left_psis"] + seen["right_psis"]) / 2.0
        return cls(seen["left_asis"], seen["right_asis"], back, False)

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Which frames show all three (n)."""
        parts = [np.isfinite(part).all(axis=-1) for part in (self.left, self.right, self.back)]
        return np.asarray(parts[0] & parts[1] & parts[2])

    def during(self, frames: NDArray[np.bool_]) -> Girdle:
        """The same in some frames."""
        return Girdle(self.left[frames], self.right[frames], self.back[frames], self.centers)

    def frames(self) -> tuple[Array, Array]:
        """Rotation (n x 3 x 3, columns x forward, y left, z up) and origin, the middle of the first two (n x 3, m).

        With spines, the three points lie in the plane that is level. With centres, the lumbar joint is where the mean
        body has it: up and behind.
        """
        origin = (self.left + self.right) / 2.0
        y = _unit(self.left - self.right)
        if not self.centers:
            z = _unit(np.cross(origin - self.back, y))
            return np.stack([np.cross(y, z), y, z], axis=-1), origin
        to_lumbar = self.back - origin
        up = _unit(to_lumbar - np.sum(to_lumbar * y, axis=-1, keepdims=True) * y)
        ahead = np.cross(y, up)
        sine, cosine = np.array(LUMBAR) / np.hypot(*LUMBAR)
        return np.stack([cosine * ahead + sine * up, y, cosine * up - sine * ahead], axis=-1), origin


def measure_pelvis(seen: Mapping[str, Array]) -> Pelvis:
    """The pelvis of a person from landmarks over time (n x 3, m); medians over the frames that show all of them."""
    girdle = Girdle.of(seen)
    whole = girdle.shown
    if not whole.any():
        raise TrialError("no frame shows the front and the back of the pelvis at once; expected its markers to be seen")
    girdle = girdle.during(whole)
    rotation, origin = girdle.frames()
    across = float(np.median(np.linalg.norm(girdle.left - girdle.right, axis=1)))
    depth = float(np.median(np.linalg.norm(origin - girdle.back, axis=1)))
    if not (0.1 < across < 0.5 and 0.05 < depth < 0.5):
        message = f"a pelvis {across:.3f} m wide and {depth:.3f} m deep"
        raise TrialError(f"{message}; expected about 0.24 and 0.15 m: check the units and the labels of its markers")
    if girdle.centers:
        middle, width, hip_width = np.zeros(3), across / (2.0 * dumas.HIP["male"][2]), across
    else:
        middle = np.array([0.24 * depth + 0.0099, 0.0, 0.30 * across + 0.0109])
        width, hip_width = across, 2.0 * (0.33 * across + 0.0073)
    places = {}
    for name in (*SKIN, *CENTERS):
        if name in seen:
            local = np.einsum("nji,nj->ni", rotation, seen[name][whole] - origin)
            places[name] = median(local) + middle
    return Pelvis(width, depth, hip_width, places, middle)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
