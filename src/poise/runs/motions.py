"""Table of all motions by name, and conversion of campaign parameters to a motion or to a command line.

>>> motion_from("walk", {"robot": "talos", "friction": 0.5, "style.step_length": 0.2, "push.size": 80}, seed=3)
>>> command_line("walk", {"robot": "talos", "friction": 0.5}, seed=3)
'poise run walk --robot talos --friction 0.5 --seed 3'

Parameters are the options of ``poise run`` with ``_`` for ``-``, and

- ``style.NAME``: a parameter of the walking style, see `poise.plans.Style` (``--set style.NAME=...``);
- ``set.NAME``: a setting of the behavior (``--set NAME=...``);
- ``push.size`` (N), ``push.direction`` (degrees, 0: forward, 90: to the left; default 0), ``push.duration`` (s, default
  0.1), ``push.time`` (s, default 3): one additional horizontal push;
- ``speed.forward``, ``speed.left`` (m/s), ``speed.turning`` (rad/s): speed of a walk; default 0 each.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any

from poise import parsing
from poise.errors import UsageError, suggestion
from poise.parameters import Parameter
from poise.plans import PARAMETERS as STYLE_PARAMETERS
from poise.plants import Push
from poise.runs.motion import Motion, motion_parameters
from poise.runs.navigate_motion import Navigate
from poise.runs.standing_motions import Reach, Squat, Stand
from poise.runs.walk_motion import Walk

Value = str | int | float | bool | None

MOTIONS: dict[str, type[Motion]] = {cls.name: cls for cls in (Reach, Stand, Squat, Walk, Navigate)}
#: Parts of a horizontal push, with their defaults; the size has none and must be given.
PUSH_DEFAULTS: dict[str, float] = {"size": math.nan, "direction": 0.0, "duration": 0.1, "time": 3.0}
SPEED_DEFAULTS: dict[str, float] = {"forward": 0.0, "left": 0.0, "turning": 0.0}
#: Parameters that are tables, with their keys; empty: the keys depend on the motion.
PARAMETER_TABLES: dict[str, tuple[str, ...]] = {
    "style": tuple(STYLE_PARAMETERS),
    "set": (),
    "push": tuple(PUSH_DEFAULTS),
    "speed": tuple(SPEED_DEFAULTS),
}
#: Tables whose entries are combined into one option.
COMPOSED_TABLES = ("push", "speed")


def motion_named(name: str) -> type[Motion]:
    """Return the motion class with this name; `UsageError` if there is none."""
    if name not in MOTIONS:
        raise UsageError(f"there is no motion '{name}'; {suggestion(name, MOTIONS)}")
    return MOTIONS[name]


def campaign_parameters(cls: type[Motion]) -> dict[str, Parameter]:
    """Return the parameters of a motion by their names in campaign specs."""
    parameters = {each.option.replace("-", "_"): each for each in motion_parameters(cls).values()}
    del parameters["seed"]  # the campaign chooses the seed of each run
    return parameters


def motion_from(motion: str | type[Motion], values: Mapping[str, Value], seed: int = 0) -> Motion:
    """Return the motion that campaign parameters describe.

    Args:
        motion: name or class of the motion.
        values: values or texts by parameter name; None keeps the default.
        seed: random seed of the run.

    Raises:
        UsageError: for an unknown parameter or an invalid value.
    """
    cls = motion_named(motion) if isinstance(motion, str) else motion
    arguments: dict[str, Any] = {"seed": seed, "settings": {}}
    for name, value in values.items():
        table, dot, key = name.partition(".")
        if value is None or (dot and table in COMPOSED_TABLES):
            continue
        if dot and table in PARAMETER_TABLES:
            _check_key(table, key)
            arguments["settings"][name if table == "style" else key] = _setting(name, value)
            continue
        parameter = known_parameter(name, cls)
        try:
            arguments[parameter.name] = parameter.parse(_text(value))
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from None
    options = _compose_options(values)
    if "push" in options:
        arguments["push"] = (*arguments.get("push", ()), options["push"])
    if "speed" in options:
        if "speed" in arguments:
            raise UsageError("speed and its parts (speed.NAME) are both given; give one of them")
        arguments["speed"] = known_parameter("speed", cls).parse(options["speed"])
    described: Motion = cls(**arguments)
    return described


def command_line(motion: str | type[Motion], values: Mapping[str, Value], seed: int = 0) -> str:
    """Return the command line that runs the motion with these campaign parameters."""
    cls = motion_named(motion) if isinstance(motion, str) else motion
    known = campaign_parameters(cls)
    words = ["poise", "run", cls.name]
    for name, value in values.items():
        table, dot, key = name.partition(".")
        if value is None or (dot and table in COMPOSED_TABLES):
            continue
        text = _text(value)
        if dot and table in PARAMETER_TABLES:
            words += ["--set", f"{name if table == 'style' else key}={text}"]
        elif known[name].kind == "list":
            words += [word for each in text.split(";") if each.strip() for word in (f"--{name}", each.strip())]
        elif known[name].kind == "flag":
            words += [f"--{known[name].option}"] if known[name].parse(text) else []
        else:
            option = f"--{known[name].option}"
            words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    for name, text in _compose_options(values).items():
        words += [f"--{name}", text]
    return shlex.join([*words, "--seed", str(seed)])


def known_parameter(name: str, cls: type[Motion]) -> Parameter:
    """Return the parameter of a motion with this name in campaign specs; `UsageError` if there is none."""
    known = campaign_parameters(cls)
    if name in known:
        return known[name]
    for other in MOTIONS.values():
        if name in campaign_parameters(other):
            raise UsageError(f"'{name}' is a parameter of '{other.name}', not of '{cls.name}'; leave it out")
    names = [*known, *(f"{table}.{key}" for table, keys in PARAMETER_TABLES.items() for key in keys or ("NAME",))]
    raise UsageError(f"there is no parameter '{name}'; {suggestion(name, names)}")


def push_text(push: Mapping[str, float]) -> str:
    """Return the text of ``--push`` for a horizontal push given by size, direction, duration and time."""
    parts = {**PUSH_DEFAULTS, **push}
    if math.isnan(parts["size"]):
        raise UsageError("push.size is missing; give the size of the push in N")
    angle = math.radians(parts["direction"])
    # Rounded to nine digits so that the cosine of a right angle is zero.
    x, y = (round(parts["size"] * part, 9) + 0.0 for part in (math.cos(angle), math.sin(angle)))
    text = f"{x:.12g},{y:.12g},0,{parts['duration']:g}@{parts['time']:.12g}"
    Push.parse(text)
    return text


def _compose_options(values: Mapping[str, Value]) -> dict[str, str]:
    """Return the texts of the options that are given by their parts (push, speed)."""
    parts: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        table, dot, key = name.partition(".")
        if dot and table in COMPOSED_TABLES and value is not None:
            _check_key(table, key)
            number = parsing.parse_number(_text(value))
            if number is None:
                raise UsageError(f"{name}: '{value}' is not a number")
            parts.setdefault(table, {})[key] = number
    texts = {"push": push_text, "speed": _speed_text}
    return {table: texts[table](numbers) for table, numbers in parts.items()}


def _speed_text(speed: Mapping[str, float]) -> str:
    return ",".join(repr(value) for value in {**SPEED_DEFAULTS, **speed}.values())


def _check_key(table: str, key: str) -> None:
    known = PARAMETER_TABLES[table]
    if known and key not in known:
        hint = suggestion(f"{table}.{key}", [f"{table}.{each}" for each in known])
        raise UsageError(f"there is no parameter '{table}.{key}'; {hint}")


def _setting(name: str, value: Value) -> float | str | bool:
    if isinstance(value, bool):
        return value
    try:
        return parsing.parse_setting(f"{name}={_text(value)}")[1]
    except UsageError:
        raise UsageError(f"{name}: '{value}' is not a number") from None


def _text(value: Value) -> str:
    """Return a value as command line text; a float keeps all digits."""
    return str(value).lower() if isinstance(value, bool) else str(value)
