"""Robot description: what a URDF lacks (feet, hands, gaze, stances, servos, corrections of joint limits).

The same keys are read from a library file, from ``robot.toml`` beside ``robot.urdf``, and from the arguments of
`load_robot` (those of older files, too: `FORMER_KEYS`):

    urdf = "robot.urdf"              # relative to this file
    packages = ["meshes"]            # directories in which package:// addresses are looked up
    source = "author and license of the description"
    height = 1.32                    # m; measured on the visual shapes if left out
    mass = 33.3                      # kg; mass and dof = 29 (joints) are published values shown in the library listing
    locked = ["{side}_gripper"]      # joints to remove, at angle zero; or a table of angles
    repair_inertias = true           # repair unphysical inertias instead of refusing them
    armature_per_torque = 2e-4       # reflected rotor inertia, kg m² per N m of the torque limit
    chest = "torso_link"
    rest_stance = "standing"         # the default posture; the first stance if left out

    [feet]                           # both feet, or separate tables [feet.left] and [feet.right]
    frame = "{side}_ankle_link"      # {side}, {s}, {S}: left/right, l/r, L/R
    sole = [-0.05, 0.12, -0.03, 0.02]     # x_min, x_max, y_min, y_max (m), of the left foot; mirrored for the right
    position = [0.0, 0.0, -0.035]    # of the sole in that frame (m), if it differs from it; mirrored for the right
    rotation = [0.0, 0.0, 0.0]       # of the sole in that frame: roll, pitch, yaw (rad)

    [hands]                          # position and rotation as above
    frame = "{side}_palm"

    [gaze]
    frame = "head"
    axis = [1.0, 0.0, 0.0]           # viewing direction in that frame

    [armature]                       # reflected rotor inertia by joint, kg m²; "*" is every joint not named
    "{side}_knee" = 0.025

    [limits.velocity]                # lower, upper, velocity, acceleration, torque; "*" is every joint not named
    "*" = 10.0

    [servos]                         # position servos, see `ServoData`
    position_controlled = true       # whether the joints accept angles, and torques only in simulation
    saturation_error = 0.02          # angle error at which a servo reaches its largest torque (rad)
    zmp_balance.proportional = 0.3   # gains on servos, see `poise.behaviors.ZmpBalanceSettings`

    [stances.standing]               # angles not named are zero, or the nearest angle in range
    balanced = true                  # move base and legs until the soles are flat and the CoM is over their middle
    joints."{side}_knee" = 0.4       # one number for both sides or [left, right]
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from poise.arrays import Vector
from poise.errors import RobotError, UsageError
from poise.parsing import KeyTable, parse_toml, rename_former_keys
from poise.robots.parts import SIDES, Side, Sole

#: Default angle error at which a servo reaches its largest torque (rad): one degree. With five times that value, a
#: robot that stands on servos and is pushed sways for seconds, or falls (measured on the library robots).
SATURATION_ERROR = 0.02


@dataclass(frozen=True)
class ServoData:
    """Position servos of a robot, from the table ``[servos]`` of its data file.

    Args:
        position_controlled: whether its joints accept angles, and torques only in simulation.
        saturation_error: angle error at which a servo reaches its largest torque (rad).
        zmp_balance: values of `poise.behaviors.ZmpBalanceSettings` for this robot, by name.
        walk: the same while walking, and values of `poise.plans.style.Style`, by name.
    """

    position_controlled: bool = False
    saturation_error: float = SATURATION_ERROR
    zmp_balance: Mapping[str, float | str] = field(default_factory=lambda: MappingProxyType({}))
    walk: Mapping[str, float | str] = field(default_factory=lambda: MappingProxyType({}))


def parse_servos(table: KeyTable) -> ServoData:
    """Read the table ``[servos]``; an empty table gives the defaults."""
    position_controlled = table.flag("position_controlled", False)
    error = table.number("saturation_error") if table.has("saturation_error") else SATURATION_ERROR
    if not error > 0.0:
        raise table.error("saturation_error", f"is {error:g}; expected a positive angle in rad")
    zmp_balance, walk = (_named_settings(table.table(name)) for name in ("zmp_balance", "walk"))
    table.check_unused()
    return ServoData(position_controlled, error, zmp_balance, walk)


def _named_settings(table: KeyTable) -> Mapping[str, float | str]:
    """Return numbers and texts by name. The code that uses the settings checks the names."""
    texts = {name: value for name, value in table.values.items() if isinstance(value, str)}
    return MappingProxyType({name: texts.get(name) or table.number(name) for name in table.values})


# -- Left and right: names and numbers given once for both sides -----------------------------------------------------


def with_side(pattern: str, side: Side) -> str:
    """Fill the side placeholders of a name: ``with_side("{S}HipYaw", "left") == "LHipYaw"``."""
    return pattern.replace("{side}", side).replace("{s}", side[0]).replace("{S}", side[0].upper())


def has_side_placeholder(name: str) -> bool:
    """Return whether a name contains a placeholder for the side, and so means both sides."""
    return with_side(name, "left") != name


def mirrored_name(name: str, known: Container[str]) -> str | None:
    """Return the name of the same part on the other side, or None if it is not in `known`.

    ``left_knee`` becomes ``right_knee``, ``LKnee`` becomes ``RKnee``.
    """
    swap = {"left": "right", "right": "left", "l": "r", "r": "l", "L": "R", "R": "L"}
    for word in (r"left|right", r"^[lr](?=_)", r"^[LR](?=[A-Z])"):
        other = re.sub(word, lambda match: swap[match[0]], name)
        if other != name and other in known:
            return other
    return None


def expand_sides(table: KeyTable) -> Iterator[tuple[Side, KeyTable, bool]]:
    """Yield (side, table, whether to mirror it) for a part given once for both sides, or under ``left`` and ``right``.

    A part given once describes the left side: on the right side the names change side and the numbers are mirrored.
    """
    if any(side in table.values for side in SIDES):
        yield from ((side, table.table(side), False) for side in SIDES if table.has(side))
        table.check_unused()
    elif table.values:
        for side in SIDES:
            values = {
                key: with_side(text, side) if isinstance(text, str) else text for key, text in table.values.items()
            }
            yield side, KeyTable(values, table.file, table.section), side == "right"


def joint_values(table: KeyTable) -> dict[str, float]:
    """Return numbers by joint name; a name with a side placeholder takes one number or the pair [left, right]."""
    joints: dict[str, float] = {}
    for name, value in table.values.items():
        if not has_side_placeholder(name):
            joints[name] = table.number(name)
        elif isinstance(value, (list, tuple)):
            pair = table.numbers(name, "left right")
            joints.update({with_side(name, side): number for side, number in zip(SIDES, pair, strict=True)})
        else:
            joints.update({with_side(name, side): table.number(name) for side in SIDES})
    return joints


# -- Description -----------------------------------------------------------------------------------------------------


LIMITS = ("lower", "upper", "velocity", "acceleration", "torque")
#: Current names of keys by the names in older files, for each section; "" is the top of a file.
FORMER_KEYS: dict[str, dict[str, str]] = {
    "": {"rest": "rest_stance"},
    "servos": {
        "full_torque": "saturation_error",
        "regulation": "zmp_balance",
        "usual": "position_controlled",
        "walking": "walk",
    },
}


@dataclass(frozen=True)
class Attachment:
    """A frame given by its position (m) and roll, pitch, yaw (rad) in another frame; all zero for that frame itself."""

    frame: str
    name: str
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)

    def mirror_image(self) -> Attachment:
        """Return the mirror image on the other side of the body: y, roll and yaw change sign."""
        (x, y, z), (roll, pitch, yaw) = self.position, self.rotation
        return replace(self, position=(x, -y, z), rotation=(-roll, pitch, -yaw))

    @property
    def is_identity(self) -> bool:
        return not any(self.position) and not any(self.rotation)


@dataclass(frozen=True)
class StanceSpec:
    """A named posture: joint angles (rad), and whether base and legs are moved until it is balanced."""

    joints: Mapping[str, float]
    balanced: bool


@dataclass(frozen=True)
class Description:
    """All data of a robot that are not in its URDF; the module docstring explains the keys.

    ``urdf_text`` is the URDF itself if it was generated, not read from a file. ``load_arguments`` are the arguments of
    `load_robot` that shaped it.
    """

    name: str
    file: str
    urdf: Path
    packages: tuple[Path, ...]
    source: str
    height: float | None
    repair_inertias: bool
    locked: Mapping[str, float]
    feet: Mapping[Side, tuple[Attachment, Sole]]
    hands: Mapping[Side, Attachment]
    gaze: tuple[Attachment, Vector] | None
    chest: str | None
    limits: Mapping[str, Mapping[str, float]]
    armature: Mapping[str, float]
    armature_per_torque: float | None
    stances: Mapping[str, StanceSpec]
    rest_stance: str | None
    servos: ServoData
    urdf_text: str | None = None
    load_arguments: Mapping[str, Any] = field(default_factory=dict)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file; raise `RobotError` if it cannot be read or parsed."""
    try:
        return parse_toml(path.read_bytes())
    except ValueError as error:
        raise RobotError(f"{path}: not a TOML file: {error}", file=str(path)) from None
    except OSError as error:
        raise RobotError(f"{path}: cannot be read: {error.strerror or error}", file=str(path)) from None


def parse_description(
    values: Mapping[str, Any], name: str, file: str, folder: Path, packages: tuple[Path, ...] = ()
) -> Description:
    """Build a description from its keys.

    Args:
        values: the keys, as in the module docstring.
        name: name of the robot if the keys do not give one.
        file: file named in error messages.
        folder: folder to which relative paths refer.
        packages: further folders in which ``package://`` addresses are looked up.
    """
    table = KeyTable(_current_keys(values, file), file)
    description = Description(
        name=table.text("name", name),
        file=file,
        urdf=folder / table.text("urdf"),
        packages=(*(folder / package for package in table.texts("packages")), *packages),
        source=table.text("source", file),
        height=_optional_positive(table, "height"),
        repair_inertias=table.flag("repair_inertias", False),
        locked=_locked(table),
        feet=_feet(table.table("feet")),
        hands=_hands(table.table("hands")),
        gaze=_gaze(table.table("gaze")),
        chest=table.text("chest") if table.has("chest") else None,
        limits=_limits(table.table("limits")),
        armature=joint_values(table.table("armature")),
        armature_per_torque=_optional_positive(table, "armature_per_torque"),
        stances=_stances(table.table("stances")),
        rest_stance=table.text("rest_stance") if table.has("rest_stance") else None,
        servos=parse_servos(table.table("servos")),
    )
    for fact in ("dof", "mass"):  # used only by the library listing and its tests; checked here
        _optional_positive(table, fact)
    table.check_unused()
    return description


def _current_keys(values: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Return the keys of a description with their current names."""
    section = ""
    try:
        renamed = rename_former_keys(values, FORMER_KEYS[section])
        for section in filter(None, FORMER_KEYS):
            if isinstance(renamed.get(section), Mapping):
                renamed[section] = rename_former_keys(renamed[section], FORMER_KEYS[section])
    except UsageError as error:
        raise RobotError(f"{file}: {f'[{section}] ' if section else ''}{error}", file=file, element=section) from None
    return renamed


def _optional_positive(table: KeyTable, key: str) -> float | None:
    if not table.has(key):
        return None
    if (number := table.number(key)) <= 0.0:
        raise table.error(key, f"is {number:g}; expected a positive number")
    return number


def _locked(table: KeyTable) -> dict[str, float]:
    if not table.has("locked"):
        return {}
    if isinstance(table.value("locked"), Mapping):
        return joint_values(table.table("locked"))
    names = table.texts("locked")
    return {
        word: 0.0
        for name in names
        for word in ([with_side(name, s) for s in SIDES] if has_side_placeholder(name) else [name])
    }


def _attachment(table: KeyTable, default_name: str) -> Attachment:
    part = Attachment(
        table.text("frame"), "", _vector(table, "position", "x y z"), _vector(table, "rotation", "roll pitch yaw")
    )
    return replace(part, name=part.frame if part.is_identity else table.text("name", default_name))


def _vector(table: KeyTable, key: str, meaning: str, default: Vector = (0.0, 0.0, 0.0)) -> Vector:
    x, y, z = table.numbers(key, meaning, default)
    return x, y, z


def _feet(table: KeyTable) -> dict[Side, tuple[Attachment, Sole]]:
    feet: dict[Side, tuple[Attachment, Sole]] = {}
    for side, part, mirror in expand_sides(table):
        frame = _attachment(part, f"{side}_sole")
        x_min, x_max, y_min, y_max = part.numbers("sole", "x_min x_max y_min y_max")
        if not (x_min < x_max and y_min < y_max):
            raise part.error("sole", "has no area; expected x_min < x_max and y_min < y_max")
        part.check_unused()
        sole = Sole(x_min, x_max, -y_max, -y_min) if mirror else Sole(x_min, x_max, y_min, y_max)
        feet[side] = (frame.mirror_image() if mirror else frame, sole)
    return feet


def _hands(table: KeyTable) -> dict[Side, Attachment]:
    hands: dict[Side, Attachment] = {}
    for side, part, mirror in expand_sides(table):
        frame = _attachment(part, f"{side}_hand")
        part.check_unused()
        hands[side] = frame.mirror_image() if mirror else frame
    return hands


def _gaze(table: KeyTable) -> tuple[Attachment, Vector] | None:
    if not table.values:
        return None
    frame = _attachment(table, "gaze")
    x, y, z = _vector(table, "axis", "x y z", (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z)
    if length == 0.0:
        raise table.error("axis", "is zero; expected a direction")
    table.check_unused()
    return frame, (x / length, y / length, z / length)


def _limits(table: KeyTable) -> dict[str, dict[str, float]]:
    limits = {kind: joint_values(table.table(kind)) for kind in LIMITS}
    table.check_unused()
    return limits


def _stances(table: KeyTable) -> dict[str, StanceSpec]:
    stances: dict[str, StanceSpec] = {}
    for name in table.values:
        stance = table.table(name)
        stances[name] = StanceSpec(joint_values(stance.table("joints")), stance.flag("balanced", True))
        stance.check_unused()
    return stances
