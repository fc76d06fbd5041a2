"""Controls: what a scene lets its user turn, choose and press, as data that a page can draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from poise.parameters import Parameter

#: A style has some twenty lines; nobody writes one of a quarter of a megabyte.
MAX_UPLOAD_BYTES = 256_000
#: Positions of a slider that is given no step.
SLIDER_POSITIONS = 200


@dataclass(frozen=True, kw_only=True)
class Control:
    """Something to turn, choose or press.

    Args:
        name: by which the scene knows it.
        label: what the user reads.
        group: under which heading it stands.
        help: one sentence.
    """

    kind: ClassVar[str] = ""
    name: str
    label: str
    group: str = ""
    help: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class Slider(Control):
    """A number within limits.

    Args:
        step: 0: two hundred positions.
    """

    kind = "slider"
    low: float
    high: float
    value: float
    unit: str = ""
    step: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "step": self.step or (self.high - self.low) / SLIDER_POSITIONS}


@dataclass(frozen=True, kw_only=True)
class Dropdown(Control):
    """One word of several."""

    kind = "dropdown"
    options: tuple[str, ...]
    value: str


@dataclass(frozen=True, kw_only=True)
class Switch(Control):
    """On or off."""

    kind = "switch"
    value: bool


@dataclass(frozen=True, kw_only=True)
class Button(Control):
    """Something that happens when it is pressed."""

    kind = "button"


@dataclass(frozen=True, kw_only=True)
class Upload(Control):
    """A file of the user's."""

    kind = "upload"
    accept: str
    max_bytes: int = MAX_UPLOAD_BYTES


@dataclass(frozen=True, kw_only=True)
class Save(Control):
    """A file for the user."""

    kind = "save"


@dataclass(frozen=True, kw_only=True)
class TaskItem:
    """One thing among several that have an order.

    Args:
        constraint_type: "equality" or "box"; "" if there is no choice.
        weight: for a weighted solver; None if it has none.
    """

    name: str
    label: str
    constraint_type: str = ""
    weight: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "constraint_type": self.constraint_type or None,
            "weight": self.weight,
        }


@dataclass(frozen=True, kw_only=True)
class TaskOrder(Control):
    """Things in order of importance, which can be moved."""

    kind = "task_order"
    items: tuple[TaskItem, ...]

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "items": [item.as_json() for item in self.items]}


def control_for(parameter: Parameter, value: Any, group: str, name: str = "") -> Control | None:
    """The control of a declared parameter: a slider, a choice or a switch; None for a free text or a list.

    Args:
        parameter: its declaration, with unit, range and sentence.
        value: that it has now.
        group: heading under which it stands.
        name: by which the scene knows it; "": that of the parameter.
    """
    common: dict[str, Any] = {
        "name": name or parameter.name,
        "label": (name or parameter.name).rpartition(".")[2].replace("_", " "),
        "group": group,
        "help": parameter.description,
    }
    if parameter.kind == "flag":
        return Switch(**common, value=bool(value))
    options = parameter.choices or parameter.suggestions
    if options:
        return Dropdown(**common, options=options if value in options else (*options, str(value)), value=str(value))
    low, high = parameter.typical_range or (parameter.low, parameter.high)
    if parameter.kind in ("number", "integer") and math.isfinite(low) and math.isfinite(high):
        step = 1.0 if parameter.kind == "integer" else 0.0
        return Slider(**common, low=low, high=high, value=value, unit=parameter.unit, step=step)
    return None


def value_from_page(control: Control, value: object) -> Any:
    """What a page sent for a control, inside its limits; nonsense is the lowest, the first, or off."""
    if isinstance(control, Slider):
        return clamp_number(value, control.low, control.high)
    if isinstance(control, Dropdown):
        return option_or_first(value, control.options)
    return bool(value)


def clamp_number(value: object, low: float, high: float) -> float:
    """What a page sent for a slider, inside its limits; nonsense is the lower one."""
    parsed = float(value) if isinstance(value, (int, float)) and value == value else low
    return min(max(parsed, low), high)


def option_or_first(value: object, options: Sequence[str]) -> str:
    """What a page sent for a choice; the first option if it is none of them."""
    return value if isinstance(value, str) and value in options else options[0]
