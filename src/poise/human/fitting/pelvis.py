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

Array = NDArray[np.float64]

LANDMARKS = ("left_asis", "right_asis", "left_psis", "right_psis", "sacrum")


@dataclass(frozen=True)
class Pelvis:
    """A person's pelvis.

    Attributes:
        width, depth: between the anterior spines, and from front to back (m).
        hip_width: between the hip centres (m).
        places: of its landmarks, seen from the middle of the hip centres: x forward and y left in the plane of the
            spines, z up (m).
    """

    width: float
    depth: float
    hip_width: float
    places: Mapping[str, Array]


def spines(seen: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Left and right anterior spine and the middle of the posterior ones over time (n x 3), from named landmarks."""
    missing = [name for name in ("left_asis", "right_asis") if name not in seen]
    if missing:
        raise TrialError(f"no marker on {' and '.join(missing)}; expected both anterior spines of the pelvis")
    if "sacrum" in seen:
        back = seen["sacrum"]
    elif "left_psis" in seen and "right_psis" in seen:
        back = (seen["left_psis"] + seen["right_psis"]) / 2.0
    else:
        raise TrialError("no marker on the back of the pelvis; expected both posterior spines or the sacrum")
    return seen["left_asis"], seen["right_asis"], back


def pelvis_frames(left: Array, right: Array, back: Array) -> tuple[Array, Array]:
    """Rotation (n x 3 x 3, columns x forward, y left, z up) and origin (middle of the anterior spines) over time."""
    origin = (left + right) / 2.0
    y = _unit(left - right)
    forward = origin - back
    z = _unit(np.cross(forward, y))
    return np.stack([np.cross(y, z), y, z], axis=-1), origin


def measure_pelvis(seen: Mapping[str, Array]) -> Pelvis:
    """The pelvis of a person from landmarks over time (n x 3, m); medians over the frames that show all of them."""
    left, right, back = spines(seen)
    whole = np.isfinite(left).all(axis=1) & np.isfinite(right).all(axis=1) & np.isfinite(back).all(axis=1)
    if not whole.any():
        raise TrialError("no frame shows the front and the back of the pelvis at once; expected its markers to be seen")
    left, right, back = left[whole], right[whole], back[whole]
    rotation, origin = pelvis_frames(left, right, back)
    width = float(np.median(np.linalg.norm(left - right, axis=1)))
    depth = float(np.median(np.linalg.norm(origin - back, axis=1)))
    if not (0.1 < width < 0.5 and 0.05 < depth < 0.5):
        message = f"a pelvis {width:.3f} m wide and {depth:.3f} m deep"
        raise TrialError(f"{message}; expected about 0.24 and 0.15 m: check the units and the labels of its markers")
    hip = np.array([-0.24 * depth - 0.0099, 0.0, -0.30 * width - 0.0109])
    places = {}
    for name in LANDMARKS:
        if name in seen:
            local = np.einsum("nji,nj->ni", rotation, seen[name][whole] - origin)
            places[name] = np.nanmedian(local, axis=0) - hip
    return Pelvis(width, depth, 2.0 * (0.33 * width + 0.0073), places)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
