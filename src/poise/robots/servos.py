"""ServoData: what is known of position servos in the joints of a robot, and of its balance on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from poise.robots.table import Table

#: A servo of which nothing else is said gives its largest torque at this error (rad): one degree. With five times that,
#: a robot that stands on servos and is pushed sways for seconds, or falls (measured on the library robots).
FULL_TORQUE = 0.02


@dataclass(frozen=True)
class ServoData:
    """Position servos of a robot, from the table ``[servos]`` of its data file.

    Args:
        usual: whether its joints take angles, and torques only in simulation.
        full_torque: error of an angle at which a servo gives its largest torque (rad).
        regulation: what suits this robot of `poise.behaviors.RegulatedSettings`, by name.
        walking: likewise while it walks, and numbers of its `poise.plans.style.Style`.
    """

    usual: bool = False
    full_torque: float = FULL_TORQUE
    regulation: Mapping[str, float | str] = field(default_factory=lambda: MappingProxyType({}))
    walking: Mapping[str, float | str] = field(default_factory=lambda: MappingProxyType({}))


def servo_data(table: Table) -> ServoData:
    """Read from the table ``[servos]``; an empty one is as good as none."""
    usual = table.flag("usual", False)
    error = table.number("full_torque") if table.has("full_torque") else FULL_TORQUE
    if not error > 0.0:
        raise table.error("full_torque", f"is {error:g}; expected a positive angle in rad")
    regulation, walking = (_settings(table.table(name)) for name in ("regulation", "walking"))
    table.done()
    return ServoData(usual, error, regulation, walking)


def _settings(table: Table) -> Mapping[str, float | str]:
    """Numbers, and words, by name; which names there are is for those to say who use them."""
    words = {name: value for name, value in table.values.items() if isinstance(value, str)}
    return MappingProxyType({name: words.get(name) or table.number(name) for name in table.values})
