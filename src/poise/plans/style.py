"""Walking styles: parameters of a walk that apply to every robot ([Dalibard2012] sections IV and VI).

`STYLES` has the built-in styles by name; `Style.load` reads one from a TOML file, and `Style.blend` interpolates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from poise.errors import UsageError, suggestion
from poise.files import atomic_write_text, failure_reason
from poise.parameters import FormerNames, Parameter, check_parameters, current_settings, parameter, parameters
from poise.parsing import parse_toml

#: Groups of joints whose torque can be minimized.
TORQUE_JOINTS = ("arms", "head", "arms and head")


@dataclass(frozen=True)
class Style(FormerNames):
    """Parameters of a walk. Lengths are fractions of the leg length, so that a style fits robots of any size.

    Each parameter is declared with its unit, range and description; `PARAMETERS` has these declarations by name.
    `rest_posture` has joint angles (rad) that replace those of the standing posture.

    >>> STYLES["proud"].blend(STYLES["sad"], 0.5)
    >>> Style.load("own_rest.toml")
    """

    name: str = "neutral"
    step_length: float = parameter(
        0.3,
        "distance of a step ahead of the other foot; negative is backwards",
        unit="leg lengths",
        low=-0.4,
        high=0.35,
    )
    step_height: float = parameter(0.045, "lift of the swing foot", unit="leg lengths", low=0.02, high=0.25)
    lateral_step: float = parameter(
        0.0, "sideways displacement per step, positive to the left", unit="leg lengths", low=-0.13, high=0.13
    )
    step_width: float = parameter(
        1.0, "lateral distance of the feet, relative to that of a usual walk", low=0.9, high=1.5
    )
    step_turn: float = parameter(0.0, "rotation per step, positive to the left", unit="rad", low=-0.6, high=0.6)
    single_support: float = parameter(
        0.46, "single-support time for a leg of 0.8 m; shorter legs are faster", unit="s", low=0.25, high=1.2
    )
    double_support: float = parameter(0.14, "double-support time for a leg of 0.8 m", unit="s", low=0.04, high=0.6)
    com_height_offset: float = parameter(
        0.0, "height of the center of mass above its default", unit="leg lengths", low=-0.2, high=0.02
    )
    knee_flexion: float = parameter(
        0.2, "flexion of the knee when the body passes over the stance foot", unit="rad", low=0.1, high=0.9
    )
    heel_rise: float = parameter(
        0.15,
        "pitch of the rear foot when it leaves the ground, in steps of a quarter leg or more",
        unit="rad",
        low=0.0,
        high=0.7,
    )
    heel_strike: float = parameter(
        0.0,
        "pitch with which a foot lands on its heel, in steps of a quarter leg or more",
        unit="rad",
        low=0.0,
        high=0.4,
    )
    sway: float = parameter(
        0.04,
        "sideways amplitude of the center of mass, only with com_reference=sinusoid",
        unit="leg lengths",
        low=0.0,
        high=0.2,
    )
    sway_phase: float = parameter(
        0.0,
        "phase of the largest sway, after the middle of a single support, only with com_reference=sinusoid",
        unit="rad",
        low=-math.pi,
        high=math.pi,
    )
    chest_pitch: float = parameter(0.0, "pitch of the chest, positive forward", unit="rad", low=-0.6, high=0.8)
    chest_roll: float = parameter(0.0, "roll of the chest, positive to the right", unit="rad", low=-0.4, high=0.4)
    chest_yaw: float = parameter(0.0, "yaw of the chest, positive to the left", unit="rad", low=-0.6, high=0.6)
    head_pitch: float = parameter(0.0, "pitch of the head, positive down", unit="rad", low=-0.6, high=0.8)
    angular_momentum_weight: float = parameter(
        0.0, "weight of the angular momentum, relative to the arm posture", low=0.0, high=100.0
    )
    torque_weight: float = parameter(
        0.0, "weight of the torque of arms or head, relative to their limits", low=0.0, high=100.0
    )
    arm_posture_weight: float = parameter(1.0, "weight of the arm posture", low=0.0, high=10.0)
    arm_swing: float = parameter(
        0.7, "swing of each arm against the leg of its side, relative to the angle of the leg", low=0.0, high=1.5
    )
    arm_lift: float = parameter(0.0, "elevation of the arms in front", unit="rad", low=-0.5, high=1.5)
    arm_spread: float = parameter(0.0, "abduction of the arms from the body", unit="rad", low=-0.1, high=1.2)
    torque_joints: str = parameter("arms and head", "joints whose torque is minimized", choices=TORQUE_JOINTS)
    rest_posture: Mapping[str, float] = field(default_factory=dict)

    former_names = MappingProxyType(
        {
            "turn": "step_turn",
            "height": "com_height_offset",
            "angular_momentum": "angular_momentum_weight",
            "torque": "torque_weight",
            "arm_posture": "arm_posture_weight",
            "rest": "rest_posture",
        }
    )

    def __post_init__(self) -> None:
        check_parameters(self, f"style '{self.name}'", UsageError)
        rest: Any = self.rest_posture
        if not isinstance(rest, Mapping) or not all(_is_angle(value) for value in rest.values()):
            raise UsageError(f"style '{self.name}': rest_posture is {rest!r}; expected joints and their angles in rad")

    def blend(self, other: Style, share: float) -> Style:
        """Return the interpolation between this style (share 0) and another (share 1)."""
        values = {n: _interpolate(getattr(self, n), getattr(other, n), share) for n in PARAMETERS}
        if share <= 0.0 or share >= 1.0:
            return self if share <= 0.0 else other
        nearer = self if share < 0.5 else other
        own_rest = {**other.rest_posture, **self.rest_posture}
        other_rest = {**self.rest_posture, **other.rest_posture}
        rest = {joint: _interpolate(own_rest[joint], other_rest[joint], share) for joint in own_rest}
        return Style(f"{self.name} to {other.name}", **values, torque_joints=nearer.torque_joints, rest_posture=rest)

    def replace(self, **values: Any) -> Style:
        """Return a copy with some parameters changed."""
        _check_parameter_names(values, self.name)
        changes: dict[str, Any] = dict(values)
        return replace(self, **changes)

    def to_toml(self) -> str:
        """Return the text of a TOML file, with unit, range and description of each parameter as a comment."""
        lines = [f"name = {_toml_string(self.name)}", ""]
        for name, declared in PARAMETERS.items():
            unit = declared.unit or "no unit"
            bounds = f"{declared.low:g} to {declared.high:g}"
            lines.append(f"{name} = {getattr(self, name)!r}  # {unit}, {bounds}: {declared.description}")
        lines.append(
            f'torque_joints = "{self.torque_joints}"  # joints whose torque is minimized: {", ".join(TORQUE_JOINTS)}'
        )
        if self.rest_posture:
            lines += ["", "[rest_posture]  # angles (rad) of joints of one robot, instead of its standing posture"]
            lines += [f"{_toml_string(joint)} = {float(angle)!r}" for joint, angle in self.rest_posture.items()]
        return "\n".join(lines) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write a TOML file."""
        try:
            atomic_write_text(path, self.to_toml())
        except OSError as error:
            raise UsageError(f"style '{self.name}' cannot be written to '{path}': {failure_reason(error)}") from None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Style:
        """Read a TOML file; parameters that it does not contain are those of the neutral style."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"'{path}' cannot be read: {error.strerror or error}") from None
        return cls.from_toml(data, str(path))

    @classmethod
    def from_toml(cls, data: bytes, path: str) -> Style:
        """Parse the contents of a TOML file; `path` gives the default name and is used in error messages.

        Keys of earlier versions are accepted, see `former_names`.
        """
        try:
            values = parse_toml(data)
        except ValueError as error:
            raise UsageError(f"'{path}' is not a TOML file: {error}") from None
        name = str(values.pop("name", Path(path).stem))
        values = current_settings(cls, values)
        _check_parameter_names(values, name)
        return cls(name=name, **values)


#: Numeric parameters of a style by name, in the order of its fields.
PARAMETERS: dict[str, Parameter] = {
    name: declared for name, declared in parameters(Style).items() if declared.kind == "number"
}

#: Parameters that act only with the sinusoid reference of the center of mass.
SINUSOID_PARAMETERS = ("sway", "sway_phase")

NEUTRAL = Style()


def _toml_string(text: str) -> str:
    """Return a TOML string literal, which has the syntax of a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _interpolate(first: float, second: float, share: float) -> float:
    """Return a value between two, rounded to 12 decimals: a file has 0.0425 instead of 0.042499999999999996."""
    low, high = sorted((first, second))
    return min(max(round((1.0 - share) * first + share * second, 12), low), high)


def _is_angle(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= math.tau


def _check_parameter_names(values: Mapping[str, Any], style: str) -> None:
    for name in values:
        known_names = [*PARAMETERS, "torque_joints", "rest_posture"]
        if name != "name" and name not in known_names:
            raise UsageError(f"style '{style}': no parameter '{name}'; {suggestion(name, known_names)}")


def _make_styles(**changes: dict[str, Any]) -> dict[str, Style]:
    return {name: replace(NEUTRAL, name=name, **values) for name, values in changes.items()}


#: Built-in styles: relaxed, cautious, proud and sad of [Dalibard2012] section VI, and further ones.
STYLES = _make_styles(
    neutral={},
    # Arms and head swing passively against the legs.
    relaxed={"angular_momentum_weight": 3.0, "torque_weight": 0.1, "arm_posture_weight": 0.1},
    # High and slow steps, arms raised, eyes on the ground.
    cautious={
        "step_height": 0.08,
        "step_length": 0.13,
        "single_support": 0.65,
        "double_support": 0.25,
        "knee_flexion": 0.35,
        "arm_swing": 0.1,
        "arm_lift": 0.6,
        "head_pitch": 0.4,
        "chest_pitch": 0.1,
    },
    # A relaxed walk that leans back.
    proud={
        "chest_pitch": -0.18,
        "angular_momentum_weight": 4.0,
        "torque_weight": 0.1,
        "arm_posture_weight": 0.15,
        "head_pitch": -0.15,
    },
    # A relaxed walk with slower, lower and shorter steps that leans forward.
    sad={
        "chest_pitch": 0.25,
        "step_length": 0.13,
        "step_height": 0.03,
        "single_support": 0.55,
        "double_support": 0.2,
        "knee_flexion": 0.35,
        "heel_rise": 0.1,
        "arm_swing": 0.25,
        "angular_momentum_weight": 0.3,
        "torque_weight": 0.1,
        "arm_posture_weight": 0.3,
        "head_pitch": 0.45,
    },
    # Hurried: long, quick steps, leaning forward.
    brisk={
        "step_length": 0.32,
        "single_support": 0.43,
        "double_support": 0.06,
        "chest_pitch": 0.1,
        "angular_momentum_weight": 3.0,
        "arm_posture_weight": 0.3,
    },
    # Quiet: bent knees, small, high, slow steps.
    sneaking={
        "step_length": 0.18,
        "step_height": 0.16,
        "single_support": 0.8,
        "double_support": 0.3,
        "com_height_offset": -0.08,
        "arm_swing": 0.1,
        "chest_pitch": 0.25,
    },
    # Parade: high knees, straight back, still arms. With higher steps the chest needs the arms to stay upright.
    marching={
        "step_height": 0.1,
        "step_length": 0.3,
        "single_support": 0.5,
        "chest_pitch": -0.05,
        "arm_swing": 0.1,
        "angular_momentum_weight": 0.1,
        "arm_posture_weight": 3.0,
    },
)
