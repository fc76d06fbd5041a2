"""Controls of a scene (sliders, dropdowns, switches, buttons, files) as data that the page draws.

A scene declares its controls; the page renders them from `Control.as_json` and sends back values, which
`value_from_page`, `clamp_number` and `option_or_first` bring into the declared limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from poise.parameters import Parameter

#: Default size limit of an uploaded file (bytes). A style file has about twenty lines.
MAX_UPLOAD_BYTES = 256_000
#: Number of positions of a slider that declares no step.
SLIDER_POSITIONS = 200


@dataclass(frozen=True, kw_only=True)
class Control:
    """Base class of the controls of a scene.

    Args:
        name: identifier, passed to `Scene.set_control`.
        label: text beside the control.
        group: heading of the panel that contains it.
        help: tooltip, one sentence.
        enabled: whether the control has an effect at present; else the page grays it out.
    """

    kind: ClassVar[str] = ""
    name: str
    label: str
    group: str = ""
    help: str = ""
    enabled: bool = True

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class Slider(Control):
    """Slider for a number between `low` and `high`.

    Args:
        step: increment; 0: the range divided by `SLIDER_POSITIONS`.
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
    """Choice of one of several options.

    Args:
        option_labels: text of each option on the page, in their order; empty: the options themselves.
    """

    kind = "dropdown"
    options: tuple[str, ...]
    value: str
    option_labels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TextField(Control):
    """Line of text, like a name."""

    kind = "text"
    value: str


@dataclass(frozen=True, kw_only=True)
class Switch(Control):
    """Switch, on or off."""

    kind = "switch"
    value: bool


@dataclass(frozen=True, kw_only=True)
class Button(Control):
    """Button that triggers an action."""

    kind = "button"


@dataclass(frozen=True, kw_only=True)
class Upload(Control):
    """Upload of a file by the user.

    Args:
        accept: file suffixes that the file dialog offers, separated by commas, like ``".c3d,.trc"``.
        max_bytes: size limit of the file (bytes).
    """

    kind = "upload"
    accept: str
    max_bytes: int = MAX_UPLOAD_BYTES


@dataclass(frozen=True, kw_only=True)
class Save(Control):
    """Download of a file, see `Scene.file_to_save`."""

    kind = "save"


@dataclass(frozen=True, kw_only=True)
class TaskItem:
    """One task of a `TaskOrder`.

    Args:
        constraint_type: "equality" or "box"; "" if the user cannot choose.
        weight: weight for the weighted solver; None if it has none.
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
    """List of tasks in order of priority, which the user can reorder."""

    kind = "task_order"
    items: tuple[TaskItem, ...]

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "items": [item.as_json() for item in self.items]}


def control_for(parameter: Parameter, value: Any, group: str, name: str = "") -> Control | None:
    """Return the control of a declared parameter: a slider, a dropdown or a switch; None for free text or a list.

    Args:
        parameter: declaration with unit, range and description.
        value: current value.
        group: heading of the panel that contains the control.
        name: identifier of the control; "": the name of the parameter.
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
    """Return a value that a page sent, within the limits of its control.

    A number beyond the limits of a slider is clamped. An invalid value becomes the lower limit of a slider or the first
    option of a dropdown; any value is accepted for a switch: `bool` of it.
    """
    if isinstance(control, Slider):
        return clamp_number(value, control.low, control.high)
    if isinstance(control, Dropdown):
        return option_or_first(value, control.options)
    return bool(value)


def clamp_number(value: object, low: float, high: float) -> float:
    """Clamp the value that a page sent for a slider; a value that is no number becomes `low`."""
    parsed = float(value) if isinstance(value, (int, float)) and value == value else low
    return min(max(parsed, low), high)


def option_or_first(value: object, options: Sequence[str]) -> str:
    """Return the option that a page sent for a dropdown; the first option if it sent none of them."""
    return value if isinstance(value, str) and value in options else options[0]
