"""BodyShape: the numbers of one person's body, from stature, mass and sex or as measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from poise.errors import RobotError
from poise.robots.human import dumas
from poise.robots.human.dumas import SEXES, Sex
from poise.robots.names import unknown

#: One number for each side, left first.
Sided = tuple[float, float]

#: Shares of the stature [Drillis & Contini 1966, in Winter 2009]: height of the ankle, length and width of the foot.
ANKLE_HEIGHT, FOOT_LENGTH, FOOT_WIDTH = 0.039, 0.152, 0.055
#: Distance of the shoulder centres as a share of the stature, as models after [Dumas2007] have it.
SHOULDER_WIDTH = 0.2401
#: Of a foot of 0.271 m, 0.064 m is behind the ankle; shoulders are 4 cm below C7T1 and 2 cm before it on a man of
#: 1.77 m, so that they are at 0.818 of the stature (Drillis & Contini); fingers are longer than the
#: hand to the knuckles by a third.
BEHIND_ANKLE, SHOULDER_DROP, SHOULDER_FORWARD, FINGERS = 0.064 / 0.271, 0.040 / 1.77, 0.020 / 1.77, 1.33

#: What a person can be (m, kg): from a child that walks to the tallest and heaviest ever measured.
HEIGHTS, MASSES = (0.7, 2.8), (8.0, 450.0)


@dataclass(frozen=True)
class BodyShape:
    """Lengths (m), angles (rad) and mass (kg) of a body; of pairs, left first.

    Attributes:
        sex, height, mass: whose tables, stature, mass.
        hip_width: between the hip centres; lumbar_forward, lumbar_up: L5S1 seen from their middle.
        spines_width: between the anterior superior iliac spines.
        torso: L5S1 to C7T1; head: C7T1 to vertex.
        shoulder_width: between the shoulder centres; shoulder_drop, shoulder_forward: seen from C7T1.
        thigh, shank: hip to knee, knee to ankle.
        torsion: turn of the shank below the knee about its own axis, toes outwards positive.
        varus: turn of the shank at the knee in the frontal plane, knees apart positive.
        ankle_height: above the sole; foot: ankle to the metatarsal heads, toes: from there to the tip, heel: ankle to
            the back of the heel, all along the sole; foot_width.
        upper_arm, forearm, hand, fingers: shoulder to elbow to wrist to knuckles to tip of the middle finger.

    >>> BodyShape.of(height=1.79, mass=66.5, sex="male").changed(thigh=(0.44, 0.43)).thigh
    (0.44, 0.43)
    """

    sex: Sex
    height: float
    mass: float
    hip_width: float
    lumbar_forward: float
    lumbar_up: float
    spines_width: float
    torso: float
    head: float
    shoulder_width: float
    shoulder_drop: float
    shoulder_forward: float
    thigh: Sided
    shank: Sided
    torsion: Sided
    varus: Sided
    ankle_height: Sided
    foot: Sided
    toes: Sided
    heel: Sided
    foot_width: Sided
    upper_arm: Sided
    forearm: Sided
    hand: Sided
    fingers: Sided

    @classmethod
    def of(cls, height: float | None = None, mass: float | None = None, sex: str = "male") -> BodyShape:
        """The mean body [Dumas2007] of that sex, scaled to a stature (m) and a mass (kg).

        Without a stature that of the table; without a mass 22.5 kg/m² times the stature squared, a usual body.
        """
        if sex not in SEXES:
            raise unknown("a human is male or female in the tables of its segments, not", str(sex), SEXES)
        kind: Sex = "male" if sex == "male" else "female"
        tall = _number("height", dumas.STATURE[kind] if height is None else height, HEIGHTS, "m")
        heavy = _number("mass", 22.5 * tall**2 if mass is None else mass, MASSES, "kg")
        scale = tall / dumas.STATURE[kind]
        lengths = {name: row.length * scale for name, row in dumas.TABLE[kind].items()}
        spines, hip, lumbar = dumas.SPINES[kind] * scale, dumas.HIP[kind], dumas.LUMBAR[kind]
        whole, ball = FOOT_LENGTH * tall, lengths["foot"]
        heel = BEHIND_ANKLE * whole
        return cls(
            sex=kind,
            height=tall,
            mass=heavy,
            hip_width=2.0 * hip[2] * spines,
            lumbar_forward=(lumbar[0] - hip[0]) * spines,
            lumbar_up=(lumbar[1] - hip[1]) * spines,
            spines_width=spines,
            torso=lengths["torso"],
            head=lengths["head"],
            shoulder_width=SHOULDER_WIDTH * tall,
            shoulder_drop=SHOULDER_DROP * tall,
            shoulder_forward=SHOULDER_FORWARD * tall,
            thigh=_both(lengths["thigh"]),
            shank=_both(lengths["shank"]),
            torsion=_both(0.0),
            varus=_both(0.0),
            ankle_height=_both(ANKLE_HEIGHT * tall),
            foot=_both(ball),
            toes=_both(whole - heel - ball),
            heel=_both(heel),
            foot_width=_both(FOOT_WIDTH * tall),
            upper_arm=_both(lengths["upper_arm"]),
            forearm=_both(lengths["forearm"]),
            hand=_both(lengths["hand"]),
            fingers=_both(FINGERS * lengths["hand"]),
        )

    def changed(self, **numbers: Any) -> BodyShape:
        """The same body with other numbers; a single one for a pair counts for both sides."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        values: dict[str, Any] = {}
        for name, value in numbers.items():
            if name not in known or name == "sex":
                raise unknown("the shape of a human has no number", name, [each for each in known if each != "sex"])
            values[name] = _checked(name, value, isinstance(known[name], tuple))
        return replace(self, **values)

    def numbers(self) -> dict[str, Any]:
        """All but sex, height and mass as plain values; `changed` gives the shape back from them."""
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in out.items() if k not in ("sex", "height", "mass")}

    @property
    def hip_height(self) -> float:
        """Of the hip centres above the sole with straight legs, the mean of both (m)."""
        return sum(sum(pair) for pair in (self.thigh, self.shank, self.ankle_height)) / 2.0


def shape_of(parts: Mapping[str, Any]) -> BodyShape:
    """The shape that arguments of `load_robot` speak of: height, mass, sex, and numbers of their own in ``shape``."""
    shape = BodyShape.of(parts.get("height"), parts.get("mass"), parts.get("sex", "male"))
    numbers = parts.get("shape", {})
    if not isinstance(numbers, Mapping):
        raise RobotError(f"shape is {numbers!r}; expected a table of numbers, such as shape={{'thigh': [0.44, 0.43]}}")
    return shape.changed(**numbers)


def _both(value: float) -> Sided:
    return value, value


def _number(name: str, value: Any, between: tuple[float, float], unit: str) -> float:
    low, high = between
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        message = f"the {name} of a human is {value!r}; expected {low:g} to {high:g} {unit}"
        raise RobotError(message, element=name)
    return float(value)


def _checked(name: str, value: Any, sided: bool) -> Any:
    """A length is positive and below 2 m, an angle within a right angle; L5S1 may lie behind, shoulders too."""
    given = list(value) if isinstance(value, (tuple, list)) else [value] * (2 if sided else 1)
    angle, signed = name in ("torsion", "varus"), name in ("lumbar_forward", "shoulder_forward", "shoulder_drop")
    low, high = (-math.pi / 2, math.pi / 2) if angle else (-1.0, 1.0) if signed else (1e-3, 2.0)
    low, high = {"mass": MASSES, "height": HEIGHTS}.get(name, (low, high))
    ok = len(given) == (2 if sided else 1) and all(
        isinstance(x, (int, float)) and not isinstance(x, bool) and low <= x <= high for x in given
    )
    if not ok:
        what = "two numbers, left and right," if sided else "a number"
        raise RobotError(f"shape: {name} is {value!r}; expected {what} from {low:.3g} to {high:.3g}", element=name)
    return tuple(float(x) for x in given) if sided else float(given[0])
