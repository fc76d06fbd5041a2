"""Style: how a walk looks, as numbers that mean the same on every robot ([Dalibard2012] sections IV and VI)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from poise.errors import UsageError, suggestion
from poise.files import atomic_write_text, failure_reason
from poise.parsing import parse_toml


class Parameter(NamedTuple):
    """What a number of a style is.

    Attributes:
        unit: of it.
        low, high: between which it makes sense.
        about: a sentence.
    """

    unit: str
    low: float
    high: float
    about: str


@dataclass(frozen=True)
class Style:
    """The numbers of a walk. Lengths are shares of the leg, so that a style fits robots of any size.

    `PARAMETERS` tells unit, range and meaning of each.

    >>> STYLES["proud"].mixed(STYLES["sad"], 0.5)
    >>> Style.load("mine.toml")
    """

    name: str = "neutral"
    step_length: float = 0.17
    step_height: float = 0.055
    lateral_step: float = 0.0
    turn: float = 0.0
    single_support: float = 0.5
    double_support: float = 0.12
    height: float = 0.0
    sway: float = 0.04
    sway_phase: float = 0.0
    chest_pitch: float = 0.0
    chest_roll: float = 0.0
    chest_yaw: float = 0.0
    head_pitch: float = 0.0
    angular_momentum: float = 0.0
    torque: float = 0.0
    arm_posture: float = 1.0
    arm_lift: float = 0.0
    arm_spread: float = 0.0
    torque_joints: str = "arms and head"
    rest: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, parameter in PARAMETERS.items():
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and parameter.low <= value <= parameter.high):
                unit = f" {parameter.unit}" if parameter.unit else ""
                raise UsageError(
                    f"style '{self.name}': {name} is {value!r}; expected {parameter.low:g} to {parameter.high:g}{unit}"
                )
        if self.torque_joints not in TORQUE_JOINTS:
            known = ", ".join(repr(word) for word in TORQUE_JOINTS)
            raise UsageError(f"style '{self.name}': torque_joints is {self.torque_joints!r}; expected one of {known}")
        rest: Any = self.rest
        if not isinstance(rest, Mapping) or not all(_angle(value) for value in rest.values()):
            raise UsageError(f"style '{self.name}': rest is {rest!r}; expected joints and their angles in rad")

    def mixed(self, other: Style, share: float) -> Style:
        """Between this style (share 0) and another (share 1)."""
        values = {n: (1.0 - share) * getattr(self, n) + share * getattr(other, n) for n in PARAMETERS}
        if share <= 0.0 or share >= 1.0:
            return self if share <= 0.0 else other
        nearer = self if share < 0.5 else other
        mine, theirs = {**other.rest, **self.rest}, {**self.rest, **other.rest}
        rest = {joint: (1.0 - share) * mine[joint] + share * theirs[joint] for joint in mine}
        return Style(f"{self.name} to {other.name}", **values, torque_joints=nearer.torque_joints, rest=rest)

    def but(self, **values: Any) -> Style:
        """The same with some numbers changed."""
        _check_names(values, self.name)
        changes: dict[str, Any] = dict(values)
        return replace(self, **changes)

    def text(self) -> str:
        """As a TOML file, each number with its unit and what it is."""
        lines = [f"name = {_quoted(self.name)}", ""]
        for name, parameter in PARAMETERS.items():
            unit = parameter.unit or "no unit"
            between = f"{parameter.low:g} to {parameter.high:g}"
            lines.append(f"{name} = {getattr(self, name)!r}  # {unit}, {between}: {parameter.about}")
        lines.append(
            f'torque_joints = "{self.torque_joints}"  # whose torque is kept little: {", ".join(TORQUE_JOINTS)}'
        )
        if self.rest:
            lines += ["", "[rest]  # angles (rad) of joints of one robot, instead of its standing posture"]
            lines += [f"{_quoted(joint)} = {float(angle)!r}" for joint, angle in self.rest.items()]
        return "\n".join(lines) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a TOML file."""
        try:
            atomic_write_text(path, self.text())
        except OSError as error:
            raise UsageError(f"style '{self.name}' cannot be written to '{path}': {failure_reason(error)}") from None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Style:
        """Reads a TOML file; what it does not name is as in the neutral style."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"'{path}' cannot be read: {error.strerror or error}") from None
        return cls.parsed(data, str(path))

    @classmethod
    def parsed(cls, data: bytes, path: str) -> Style:
        """What a TOML file of that path says."""
        try:
            values = parse_toml(data)
        except ValueError as error:
            raise UsageError(f"'{path}' is not a TOML file: {error}") from None
        name = str(values.pop("name", Path(path).stem))
        _check_names(values, name)
        return cls(name=name, **values)


PARAMETERS: dict[str, Parameter] = {
    "step_length": Parameter("leg lengths", -0.6, 0.8, "how far a foot goes beyond the other; negative is backwards"),
    "step_height": Parameter("leg lengths", 0.02, 0.25, "how high the swinging foot is lifted"),
    "lateral_step": Parameter("leg lengths", -0.3, 0.3, "how far a step goes sideways, to the left"),
    "turn": Parameter("rad", -0.6, 0.6, "how far a step turns, to the left"),
    "single_support": Parameter("s", 0.25, 1.2, "time on one foot, of a leg of 0.8 m; shorter legs are faster"),
    "double_support": Parameter("s", 0.04, 0.6, "time on both feet, likewise"),
    "height": Parameter("leg lengths", -0.2, 0.02, "how much higher than usual the centre of mass is carried"),
    "sway": Parameter(
        "leg lengths", 0.0, 0.2, "sideways amplitude of the centre of mass, for the sinusoid of the paper"
    ),
    "sway_phase": Parameter(
        "rad", -math.pi, math.pi, "when the sway is greatest, after the middle of a single support"
    ),
    "chest_pitch": Parameter("rad", -0.6, 0.8, "how far the chest leans; forward is positive"),
    "chest_roll": Parameter("rad", -0.4, 0.4, "how far it leans to the right"),
    "chest_yaw": Parameter("rad", -0.6, 0.6, "how far it is turned to the left"),
    "head_pitch": Parameter("rad", -0.6, 0.8, "how far the head looks down"),
    "angular_momentum": Parameter("", 0.0, 100.0, "weight of little angular momentum beside that of the arms' posture"),
    "torque": Parameter("", 0.0, 100.0, "weight of little torque in arms or head, as a share of their limits"),
    "arm_posture": Parameter("", 0.0, 10.0, "weight of the arms' posture"),
    "arm_lift": Parameter("rad", -0.5, 1.5, "how far the arms are raised in front"),
    "arm_spread": Parameter("rad", -0.1, 1.2, "how far they are spread from the body"),
}
#: Which joints the torque of which is kept little.
TORQUE_JOINTS = ("arms", "head", "arms and head")

NEUTRAL = Style()


def _quoted(text: str) -> str:
    """As TOML writes words, which is as JSON does."""
    return json.dumps(text, ensure_ascii=False)


def _angle(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= math.tau


def _check_names(values: Mapping[str, Any], style: str) -> None:
    for name in values:
        known = [*PARAMETERS, "torque_joints", "rest"]
        if name != "name" and name not in known:
            raise UsageError(f"style '{style}': no parameter '{name}'; {suggestion(name, known)}")


def _styles(**changes: dict[str, Any]) -> dict[str, Style]:
    return {name: replace(NEUTRAL, name=name, **values) for name, values in changes.items()}


#: Section VI of the paper: relaxed, cautious, proud and sad; and some of our own.
STYLES = _styles(
    neutral={},
    # Arms and head sway by themselves against the legs.
    relaxed={"angular_momentum": 3.0, "torque": 0.1, "arm_posture": 0.1},
    # High and slow steps, arms raised, eyes on the ground.
    cautious={
        "step_height": 0.08,
        "step_length": 0.13,
        "single_support": 0.65,
        "double_support": 0.25,
        "arm_lift": 0.6,
        "head_pitch": 0.4,
        "chest_pitch": 0.1,
    },
    # A relaxed walk that leans back.
    proud={"chest_pitch": -0.18, "angular_momentum": 4.0, "torque": 0.1, "arm_posture": 0.15, "head_pitch": -0.15},
    # A relaxed walk with slower, lower and shorter steps that leans forward.
    sad={
        "chest_pitch": 0.25,
        "step_length": 0.13,
        "step_height": 0.03,
        "single_support": 0.55,
        "double_support": 0.2,
        "angular_momentum": 0.3,
        "torque": 0.1,
        "arm_posture": 0.3,
        "head_pitch": 0.45,
    },
    # In a hurry: long, quick steps, leaning into them.
    brisk={
        "step_length": 0.32,
        "single_support": 0.43,
        "double_support": 0.06,
        "chest_pitch": 0.1,
        "angular_momentum": 3.0,
        "arm_posture": 0.3,
    },
    # On tiptoe around a sleeper: knees bent, small, high, slow steps.
    sneaking={
        "step_length": 0.18,
        "step_height": 0.16,
        "single_support": 0.8,
        "double_support": 0.3,
        "height": -0.08,
        "chest_pitch": 0.25,
    },
    # On parade: high knees, a straight back, still arms.
    marching={
        "step_height": 0.2,
        "step_length": 0.3,
        "single_support": 0.5,
        "chest_pitch": -0.05,
        "angular_momentum": 0.1,
        "arm_posture": 3.0,
    },
)
