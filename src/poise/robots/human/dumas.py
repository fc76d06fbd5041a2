"""Body segment inertial parameters of adults [Dumas2007]: R. Dumas, L. Cheze, J.-P. Verriest, "Adjustments to
McConville et al. and Young et al. body segment inertial parameters", Journal of Biomechanics 40, 2007, and its
corrigendum.

Columns: length (m) of a person of mean stature, mass (% of the body), centre of mass and radii of gyration (% of the
length, from the first of the two points), in the segment's axes X forward, Y up, Z to the right. A radius r gives the
element ``m (r L)²`` of the inertia tensor about the centre of mass; below zero stands for ``-m (r L)²``, which the
paper writes with an imaginary r.

Conflicts between the public copies of the table: the male leg has 4.8 % here (4.5 elsewhere; only 4.8 brings the sum to
100 %), the male forearm 0.283 m (0.253 elsewhere). The foot is the corrected one, for which the length is that from the
ankle to the middle of the metatarsal heads: 0.139 and 0.117 m give the same places (m) as the first print.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sex = Literal["male", "female"]
SEXES: tuple[Sex, Sex] = ("male", "female")

#: Stature of the people behind the lengths (m).
STATURE = {"male": 1.77, "female": 1.61}

#: From the segment's axes to Poise's: x forward, y left, z up.
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class Segment(NamedTuple):
    """One row of the table, as printed; `center` and `tensor` give it in Poise's axes."""

    length: float
    mass: float
    x: float
    y: float
    z: float
    xx: float
    yy: float
    zz: float
    xy: float
    xz: float
    yz: float

    @property
    def center(self) -> Array:
        """Centre of mass of the right or middle segment as a share of its length, x forward, y left, z up."""
        return AXES @ np.array([self.x, self.y, self.z]) / 100.0

    @property
    def tensor(self) -> Array:
        """Inertia about the centre of mass per mass and length squared, in the same axes."""
        r = np.array([[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]]) / 100.0
        return np.asarray(AXES @ (np.sign(r) * r**2) @ AXES.T)


#: Origins and ends: head C7T1 to vertex; torso C7T1 to L5S1; pelvis L5S1 to the middle of the hip centres; thigh hip to
#: knee; shank knee to ankle; foot ankle to the middle of the metatarsal heads; upper arm shoulder to elbow; forearm
#: elbow to wrist; hand wrist to the middle of the knuckles.
TABLE: dict[Sex, dict[str, Segment]] = {
    "male": {
        "head": Segment(0.277, 6.7, 2.0, 53.6, 0.1, 28, 21, 30, -7, -2, 3),
        "torso": Segment(0.477, 33.3, -3.6, -42.0, -0.2, 27, 25, 28, 18, 2, -4),
        "pelvis": Segment(0.094, 14.2, 2.8, -28.0, -0.6, 101, 106, 95, -25, -12, -8),
        "thigh": Segment(0.432, 12.3, -4.1, -42.9, 3.3, 29, 15, 30, 7, -2, -7),
        "shank": Segment(0.433, 4.8, -4.8, -41.0, 0.7, 28, 10, 28, -4, -2, 5),
        "foot": Segment(0.139, 1.2, 50.2, -19.9, 3.4, 22, 49, 48, 17, -11, 0),
        "upper_arm": Segment(0.271, 2.4, 1.7, -45.2, -2.6, 31, 14, 32, 6, 5, 2),
        "forearm": Segment(0.283, 1.7, 1.0, -41.7, 1.4, 28, 11, 27, 3, 2, -8),
        "hand": Segment(0.080, 0.6, 8.2, -83.9, 7.4, 61, 38, 56, 22, 15, -20),
    },
    "female": {
        "head": Segment(0.253, 6.7, 1.6, 57.5, 0.1, 29, 23, 30, -4, 1, 0),
        "torso": Segment(0.429, 30.4, -1.6, -43.6, -0.6, 29, 27, 29, 22, 5, -5),
        "pelvis": Segment(0.107, 14.6, -0.9, -23.2, 0.2, 91, 100, 79, -34, -1, -1),
        "thigh": Segment(0.379, 14.6, -7.7, -37.7, 0.9, 31, 19, 32, 7, -2, -7),
        "shank": Segment(0.388, 4.5, -4.9, -40.4, 3.1, 28, 10, 28, 2, 1, 6),
        "foot": Segment(0.117, 1.0, 38.2, -30.9, 5.5, 24, 51, 50, -15, 9, -5),
        "upper_arm": Segment(0.243, 2.2, -7.3, -45.4, -2.8, 33, 17, 33, 3, -5, 14),
        "forearm": Segment(0.247, 1.3, 2.1, -41.1, 1.9, 26, 14, 25, 10, 4, -13),
        "hand": Segment(0.071, 0.5, 7.7, -76.8, 4.8, 63, 43, 58, 29, 23, -28),
    },
}

#: Distance between the anterior superior iliac spines (m), and from their middle to the hip centres and to L5S1 as
#: shares of it (forward, up, to either side), as [Dumas2007] takes them from Reed.
SPINES = {"male": 0.224, "female": 0.238}
HIP = {"male": (-0.095, -0.370, 0.361), "female": (-0.139, -0.336, 0.372)}
LUMBAR = {"male": (-0.335, -0.032), "female": (-0.340, 0.049)}


def masses(sex: Sex) -> dict[str, float]:
    """Share of the body's mass in each segment: the printed ones divided by their sum (100.2 % for men)."""
    pairs = {"thigh", "shank", "foot", "upper_arm", "forearm", "hand"}
    total = sum(row.mass * (2 if name in pairs else 1) for name, row in TABLE[sex].items())
    return {name: row.mass / total for name, row in TABLE[sex].items()}
