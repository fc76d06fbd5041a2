"""Body segment inertial parameters of adults [Dumas2007]: R. Dumas, L. Cheze, J.-P. Verriest, "Adjustments to
McConville et al. and Young et al. body segment inertial parameters", Journal of Biomechanics 40, 2007, and its
corrigendum.

Columns: length (m) of a person of mean stature, mass (% of the body), center of mass and radii of gyration (% of the
length, from the first of the two points), in the segment's axes X forward, Y up, Z to the right. A radius r gives the
element ``m (r L)²`` of the inertia tensor about the center of mass; a negative r means ``-m (r L)²``, which the paper
writes with an imaginary r.

Conflicts between the public copies of the table: the male leg has 4.8 % here (4.5 elsewhere; only 4.8 brings the sum to
100 %), the male forearm 0.283 m (0.253 elsewhere). The foot is that of the corrigendum, with the length measured from
the ankle to the middle of the metatarsal heads: 0.139 and 0.117 m give the same positions (m) as the first print.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from poise.arrays import Array
from poise.errors import RobotError, UsageError, unknown_name_error
from poise.parsing import is_number, rename_former_keys

Sex = Literal["male", "female"]
SEXES: tuple[Sex, Sex] = ("male", "female")

#: Mean stature of the subjects of the table (m).
MEAN_STATURE = {"male": 1.77, "female": 1.61}

#: Rotation from the segment's axes to Poise's axes: x forward, y left, z up.
POISE_FROM_SEGMENT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class SegmentParameters(NamedTuple):
    """One row of the table, as printed; `center` and `unit_inertia` convert it to Poise's axes."""

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
        """Center of mass of the right or middle segment as a fraction of its length, x forward, y left, z up."""
        center: Array = POISE_FROM_SEGMENT @ np.array([self.x, self.y, self.z]) / 100.0
        return center

    @property
    def unit_inertia(self) -> Array:
        """Inertia about the center of mass, divided by mass and squared length, in the same axes."""
        r = np.array([[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]]) / 100.0
        return np.asarray(POISE_FROM_SEGMENT @ (np.sign(r) * r**2) @ POISE_FROM_SEGMENT.T)


#: Start and end of each segment: head C7T1 to vertex; torso C7T1 to L5S1; pelvis L5S1 to the middle of the hip centers;
#: thigh hip to knee; shank knee to ankle; foot ankle to the middle of the metatarsal heads; upper arm shoulder to
#: elbow; forearm elbow to wrist; hand wrist to the middle of the knuckles.
SEGMENT_TABLE: dict[Sex, dict[str, SegmentParameters]] = {
    "male": {
        "head": SegmentParameters(0.277, 6.7, 2.0, 53.6, 0.1, 28, 21, 30, -7, -2, 3),
        "torso": SegmentParameters(0.477, 33.3, -3.6, -42.0, -0.2, 27, 25, 28, 18, 2, -4),
        "pelvis": SegmentParameters(0.094, 14.2, 2.8, -28.0, -0.6, 101, 106, 95, -25, -12, -8),
        "thigh": SegmentParameters(0.432, 12.3, -4.1, -42.9, 3.3, 29, 15, 30, 7, -2, -7),
        "shank": SegmentParameters(0.433, 4.8, -4.8, -41.0, 0.7, 28, 10, 28, -4, -2, 5),
        "foot": SegmentParameters(0.139, 1.2, 50.2, -19.9, 3.4, 22, 49, 48, 17, -11, 0),
        "upper_arm": SegmentParameters(0.271, 2.4, 1.7, -45.2, -2.6, 31, 14, 32, 6, 5, 2),
        "forearm": SegmentParameters(0.283, 1.7, 1.0, -41.7, 1.4, 28, 11, 27, 3, 2, -8),
        "hand": SegmentParameters(0.080, 0.6, 8.2, -83.9, 7.4, 61, 38, 56, 22, 15, -20),
    },
    "female": {
        "head": SegmentParameters(0.253, 6.7, 1.6, 57.5, 0.1, 29, 23, 30, -4, 1, 0),
        "torso": SegmentParameters(0.429, 30.4, -1.6, -43.6, -0.6, 29, 27, 29, 22, 5, -5),
        "pelvis": SegmentParameters(0.107, 14.6, -0.9, -23.2, 0.2, 91, 100, 79, -34, -1, -1),
        "thigh": SegmentParameters(0.379, 14.6, -7.7, -37.7, 0.9, 31, 19, 32, 7, -2, -7),
        "shank": SegmentParameters(0.388, 4.5, -4.9, -40.4, 3.1, 28, 10, 28, 2, 1, 6),
        "foot": SegmentParameters(0.117, 1.0, 38.2, -30.9, 5.5, 24, 51, 50, -15, 9, -5),
        "upper_arm": SegmentParameters(0.243, 2.2, -7.3, -45.4, -2.8, 33, 17, 33, 3, -5, 14),
        "forearm": SegmentParameters(0.247, 1.3, 2.1, -41.1, 1.9, 26, 14, 25, 10, 4, -13),
        "hand": SegmentParameters(0.071, 0.5, 7.7, -76.8, 4.8, 63, 43, 58, 29, 23, -28),
    },
}

#: Distance between the anterior superior iliac spines (m), and offsets from their middle to the hip centers and to L5S1
#: as fractions of it (forward, up, to either side), which [Dumas2007] takes from Reed.
ASIS_WIDTH = {"male": 0.224, "female": 0.238}
HIP_CENTER_OFFSET = {"male": (-0.095, -0.370, 0.361), "female": (-0.139, -0.336, 0.372)}
LUMBAR_OFFSET = {"male": (-0.335, -0.032), "female": (-0.340, 0.049)}


def mass_fractions(sex: Sex) -> dict[str, float]:
    """Return the mass of each segment as a fraction of the body mass: the printed values divided by their sum.

    The sum of the printed values is 100.2 % for men.
    """
    pairs = {"thigh", "shank", "foot", "upper_arm", "forearm", "hand"}
    total = sum(row.mass * (2 if name in pairs else 1) for name, row in SEGMENT_TABLE[sex].items())
    return {name: row.mass / total for name, row in SEGMENT_TABLE[sex].items()}


# -- BodyShape -------------------------------------------------------------------------------------------------------


#: One number for each side, left first.
LeftRight = tuple[float, float]

#: Fractions of the stature [Drillis & Contini 1966, in Winter 2009]: height of the ankle, length and width of the foot.
ANKLE_HEIGHT, FOOT_LENGTH, FOOT_WIDTH = 0.039, 0.152, 0.055
#: Distance of the shoulder centers as a fraction of the stature, as in models based on [Dumas2007].
SHOULDER_WIDTH = 0.2401
#: Of a foot of 0.271 m, 0.064 m is behind the ankle. On a man of 1.77 m the shoulders are 4 cm below C7T1 and 2 cm in
#: front of it, so that they are at 0.818 of the stature (Drillis & Contini). Fingers are a third longer than the hand
#: from wrist to knuckles.
HEEL_SHARE, SHOULDER_DROP, SHOULDER_FORWARD, FINGER_TO_HAND_RATIO = 0.064 / 0.271, 0.040 / 1.77, 0.020 / 1.77, 1.33

#: Accepted stature (m) and mass (kg): from a child that can walk to the tallest and heaviest people ever measured.
HEIGHT_RANGE, MASS_RANGE = (0.7, 2.8), (8.0, 450.0)


#: Current names of values of a `BodyShape` by the names in older files, accepted by `body_shape`.
FORMER_SHAPE_NAMES = {
    "lumbar_forward": "l5s1_forward",
    "lumbar_up": "l5s1_up",
    "spines_width": "asis_width",
    "torsion": "tibial_torsion",
    "varus": "knee_varus",
}


@dataclass(frozen=True)
class BodyShape:
    """Lengths (m), angles (rad) and mass (kg) of a human body; pairs are (left, right).

    Attributes:
        sex, height, mass: sex (selects the table), stature, body mass.
        hip_width: between the hip centers; l5s1_forward, l5s1_up: position of L5S1 relative to their middle.
        asis_width: between the anterior superior iliac spines.
        torso: L5S1 to C7T1; head: C7T1 to vertex.
        shoulder_width: between the shoulder centers; shoulder_drop, shoulder_forward: distance of their middle below
            and in front of C7T1.
        thigh, shank: hip to knee, knee to ankle.
        tibial_torsion: rotation of the shank below the knee about its own axis, toes outwards positive.
        knee_varus: rotation of the shank at the knee in the frontal plane, knees apart positive.
        ankle_height: above the sole; foot: ankle to the metatarsal heads, toes: from there to the tip, heel: ankle to
            the back of the heel, all along the sole; foot_width.
        upper_arm, forearm, hand, fingers: shoulder to elbow, elbow to wrist, wrist to knuckles, knuckles to the tip of
            the middle finger.

    >>> BodyShape.of(height=1.79, mass=66.5, sex="male").with_parameters(thigh=(0.44, 0.43)).thigh
    (0.44, 0.43)
    """

    sex: Sex
    height: float
    mass: float
    hip_width: float
    l5s1_forward: float
    l5s1_up: float
    asis_width: float
    torso: float
    head: float
    shoulder_width: float
    shoulder_drop: float
    shoulder_forward: float
    thigh: LeftRight
    shank: LeftRight
    tibial_torsion: LeftRight
    knee_varus: LeftRight
    ankle_height: LeftRight
    foot: LeftRight
    toes: LeftRight
    heel: LeftRight
    foot_width: LeftRight
    upper_arm: LeftRight
    forearm: LeftRight
    hand: LeftRight
    fingers: LeftRight

    @classmethod
    def of(cls, height: float | None = None, mass: float | None = None, sex: str = "male") -> BodyShape:
        """Return the mean body [Dumas2007] of a sex, scaled to a stature (m) and a mass (kg).

        Default stature: mean of the table. Default mass: 22.5 kg/m² (a normal body mass index) times stature squared.
        """
        if sex not in SEXES:
            raise unknown_name_error("sex of a human: expected male or female, not", str(sex), SEXES)
        kind: Sex = "male" if sex == "male" else "female"
        stature = _check_number("height", MEAN_STATURE[kind] if height is None else height, HEIGHT_RANGE, "m")
        body_mass = _check_number("mass", 22.5 * stature**2 if mass is None else mass, MASS_RANGE, "kg")
        scale = stature / MEAN_STATURE[kind]
        lengths = {name: row.length * scale for name, row in SEGMENT_TABLE[kind].items()}
        spines, hip, lumbar = ASIS_WIDTH[kind] * scale, HIP_CENTER_OFFSET[kind], LUMBAR_OFFSET[kind]
        foot_length, ball = FOOT_LENGTH * stature, lengths["foot"]
        heel = HEEL_SHARE * foot_length
        return cls(
            sex=kind,
            height=stature,
            mass=body_mass,
            hip_width=2.0 * hip[2] * spines,
            l5s1_forward=(lumbar[0] - hip[0]) * spines,
            l5s1_up=(lumbar[1] - hip[1]) * spines,
            asis_width=spines,
            torso=lengths["torso"],
            head=lengths["head"],
            shoulder_width=SHOULDER_WIDTH * stature,
            shoulder_drop=SHOULDER_DROP * stature,
            shoulder_forward=SHOULDER_FORWARD * stature,
            thigh=_symmetric(lengths["thigh"]),
            shank=_symmetric(lengths["shank"]),
            tibial_torsion=_symmetric(0.0),
            knee_varus=_symmetric(0.0),
            ankle_height=_symmetric(ANKLE_HEIGHT * stature),
            foot=_symmetric(ball),
            toes=_symmetric(foot_length - heel - ball),
            heel=_symmetric(heel),
            foot_width=_symmetric(FOOT_WIDTH * stature),
            upper_arm=_symmetric(lengths["upper_arm"]),
            forearm=_symmetric(lengths["forearm"]),
            hand=_symmetric(lengths["hand"]),
            fingers=_symmetric(FINGER_TO_HAND_RATIO * lengths["hand"]),
        )

    def with_parameters(self, **numbers: Any) -> BodyShape:
        """Return a copy with other values; for a pair, a single number applies to both sides."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        values: dict[str, Any] = {}
        for name, value in numbers.items():
            if name not in known or name == "sex":
                raise unknown_name_error(
                    "the shape of a human has no parameter", name, [each for each in known if each != "sex"]
                )
            values[name] = _check_parameter(name, value, isinstance(known[name], tuple))
        return replace(self, **values)

    def parameters(self) -> dict[str, Any]:
        """Return all values except sex, height and mass as numbers and lists, the arguments of `with_parameters`."""
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in out.items() if k not in ("sex", "height", "mass")}

    @property
    def hip_height(self) -> float:
        """Height of the hip centers above the sole with straight legs, mean of both sides (m)."""
        return sum(sum(pair) for pair in (self.thigh, self.shank, self.ankle_height)) / 2.0


def body_shape(parts: Mapping[str, Any]) -> BodyShape:
    """Build the shape from arguments of `load_robot`: height, mass, sex, and shape, a table of `BodyShape` values."""
    shape = BodyShape.of(parts.get("height"), parts.get("mass"), parts.get("sex", "male"))
    numbers = parts.get("shape", {})
    if not isinstance(numbers, Mapping):
        raise RobotError(f"shape is {numbers!r}; expected a table of numbers, such as shape={{'thigh': [0.44, 0.43]}}")
    try:
        current = rename_former_keys(numbers, FORMER_SHAPE_NAMES)
    except UsageError as error:
        raise RobotError(f"shape: {error}") from None
    return shape.with_parameters(**current)


def _symmetric(value: float) -> LeftRight:
    return value, value


def _check_number(name: str, value: Any, allowed: tuple[float, float], unit: str) -> float:
    low, high = allowed
    if not is_number(value) or not low <= value <= high:
        message = f"the {name} of a human is {value!r}; expected {low:g} to {high:g} {unit}"
        meters = (
            [value / scale for scale in (100.0, 1000.0) if low <= value / scale <= high] if is_number(value) else []
        )
        message += f"; did you mean {meters[0]:g} m?" if unit == "m" and meters else ""
        raise RobotError(message, element=name)
    return float(value)


def _check_parameter(name: str, value: Any, sided: bool) -> Any:
    """Check one value of a shape: a length is 0.001 to 2 m, an angle within ±90 degrees.

    The offsets of L5S1 and of the shoulders may be negative, within ±1 m.
    """
    numbers = list(value) if isinstance(value, (tuple, list)) else [value] * (2 if sided else 1)
    angle, signed = (
        name in ("tibial_torsion", "knee_varus"),
        name in ("l5s1_forward", "shoulder_forward", "shoulder_drop"),
    )
    low, high = (-math.pi / 2, math.pi / 2) if angle else (-1.0, 1.0) if signed else (1e-3, 2.0)
    low, high = {"mass": MASS_RANGE, "height": HEIGHT_RANGE}.get(name, (low, high))
    ok = len(numbers) == (2 if sided else 1) and all(is_number(x) and low <= x <= high for x in numbers)
    if not ok:
        what = "two numbers, left and right," if sided else "a number"
        raise RobotError(f"shape: {name} is {value!r}; expected {what} from {low:.3g} to {high:.3g}", element=name)
    return tuple(float(x) for x in numbers) if sided else float(numbers[0])
