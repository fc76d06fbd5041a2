"""Parameters of a run by the names of the command line: requests, commands and checks.

>>> request_of("walk", {"robot": "talos", "friction": 0.5, "style.step_length": 0.2, "push.size": 80}, seed=3)
>>> command_of("walk", {"robot": "talos", "friction": 0.5}, seed=3)
'poise run walk --robot talos --friction 0.5 --seed 3'

Beside those of the command line there are

- ``style.NAME``: a number of the style of a walk, see `poise.plans.style.PARAMETERS` (``--set style.NAME=...``);
- ``set.NAME``: a number of the behavior (``--set NAME=...``);
- ``push.size`` (N), ``push.direction`` (degrees: 0 pushes forward, 90 to the left), ``push.duration`` (s, 0.1 if left
  out), ``push.time`` (s, 3): one more push, in the plane of the ground;
- ``speed.forward``, ``speed.left`` (m/s), ``speed.turning`` (rad/s): of a walk; those left out are zero.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from poise import parsing as words
from poise.behaviors import NavigateSettings, ReachSettings, SquatSettings, UprightSettings
from poise.devices import Script
from poise.errors import UsageError
from poise.plans import PARAMETERS as STYLE_PARAMETERS
from poise.plants import Breakdown, Push, terrain
from poise.robots import described
from poise.runs.request import Request, filled, known_behavior
from poise.runs.servo_run import settings_on_servos
from poise.runs.walk_run import manner_of

Value = str | int | float | bool | None


class Parameter(NamedTuple):
    """One option of the command line.

    Attributes:
        field: of `Request`.
        read: what a text means.
        only: the behavior it is for; "": any.
    """

    field: str
    read: Callable[[str], Any]
    only: str = ""


def _checked(reader: Callable[[str], object]) -> Callable[[str], str]:
    """Leaves a text as it is, if it makes sense."""

    def read(text: str) -> str:
        reader(text)
        return text

    return read


def _several(reader: Callable[[str], object]) -> Callable[[str], tuple[str, ...]]:
    """Texts with ``;`` between them."""

    def read(text: str) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in text.split(";") if part.strip())
        for part in parts:
            reader(part)
        return parts

    return read


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise UsageError(f"'{text}' is neither true nor false")
    return text.lower() == "true"


PARAMETERS: dict[str, Parameter] = {
    "robot": Parameter("robot", str),
    "mode": Parameter("mode", str),
    "plant": Parameter("plant", str),
    "solver": Parameter("solver", str),
    "seconds": Parameter("seconds", words.seconds),
    "profile": Parameter("profile", str, "reach"),
    "style": Parameter("style", str, "walk"),
    "steps": Parameter("steps", words.whole, "walk"),
    "speed": Parameter("speed", words.speed, "walk"),
    "script": Parameter("script", str, "navigate"),
    "scenario": Parameter("scenario", _flag, "navigate"),
    "push": Parameter("pushes", _several(Push.parsed)),
    "terrain": Parameter("terrain", _checked(terrain)),
    "friction": Parameter("friction", words.positive),
    "mass_error": Parameter("mass_error", words.percent),
    "delay": Parameter("delay", words.amount),
    "noise": Parameter("noise", words.amount),
    "break": Parameter("breakdowns", _several(Breakdown.parsed)),
    "carry": Parameter("carry", words.amount),
}
#: Parts of a push in the plane, with what they are if left out; its size has to be given.
PUSH: dict[str, float] = {"size": math.nan, "direction": 0.0, "duration": 0.1, "time": 3.0}
SPEED: dict[str, float] = {"forward": 0.0, "left": 0.0, "turning": 0.0}
#: Parameters that are whole tables of numbers, and what they can hold; the settings depend on the behavior.
TABLES: dict[str, tuple[str, ...]] = {
    "style": tuple(STYLE_PARAMETERS),
    "set": (),
    "push": tuple(PUSH),
    "speed": tuple(SPEED),
}
#: Tables that together are one option.
JOINT = ("push", "speed")


def request_of(behavior: str, given: Mapping[str, Value], seed: int = 0) -> Request:
    """The request that these parameters describe; UsageError for one that is not known or makes no sense."""
    known_behavior(behavior)
    values: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for name, value in given.items():
        table, dot, key = name.partition(".")
        if value is None or (dot and table in JOINT):
            continue
        if dot and table in TABLES:
            _check_key(table, key)
            settings[name if table == "style" else key] = _setting(name, value)
            continue
        parameter = _known(name, behavior)
        try:
            values[parameter.field] = parameter.read(_text(value))
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from None
    joint = _joint(given)
    if "push" in joint:
        values["pushes"] = (*values.get("pushes", ()), joint["push"])
    if "speed" in joint:
        if "speed" in values:
            raise UsageError("speed and its parts are both given; give one of them")
        values["speed"] = _known("speed", behavior).read(joint["speed"])
    return Request(behavior, **values, settings=settings, seed=seed)


def command_of(behavior: str, given: Mapping[str, Value], seed: int = 0) -> str:
    """The command that runs these parameters."""
    parts = ["poise", "run", behavior]
    for name, value in given.items():
        table, dot, key = name.partition(".")
        if value is None or (dot and table in JOINT):
            continue
        if dot and table in TABLES:
            parts += ["--set", f"{name if table == 'style' else key}={_text(value)}"]
        elif name in ("push", "break"):
            parts += [word for each in _text(value).split(";") if each.strip() for word in (f"--{name}", each.strip())]
        elif isinstance(value, bool):
            parts += [f"--{name}"] if value else []
        else:
            option, text = f"--{name.replace('_', '-')}", _text(value)
            parts += [f"{option}={text}"] if text.startswith("-") else [option, text]
    for name, text in _joint(given).items():
        parts += [f"--{name}", text]
    return shlex.join([*parts, "--seed", str(seed)])


def _joint(given: Mapping[str, Value]) -> dict[str, str]:
    """Options that are given by their parts, as the command line takes them."""
    parts: dict[str, dict[str, float]] = {}
    for name, value in given.items():
        table, dot, key = name.partition(".")
        if dot and table in JOINT and value is not None:
            _check_key(table, key)
            parts.setdefault(table, {})[key] = _number(name, value)
    texts = {"push": push_text, "speed": speed_text}
    return {table: texts[table](values) for table, values in parts.items()}


def push_text(push: Mapping[str, float]) -> str:
    """A push in the plane as the command line takes it."""
    whole = {**PUSH, **push}
    if math.isnan(whole["size"]):
        raise UsageError("push.size is missing; give the size of the push in N")
    angle = math.radians(whole["direction"])
    # Nine digits: the cosine of a right angle is to be zero.
    x, y = (round(whole["size"] * part, 9) + 0.0 for part in (math.cos(angle), math.sin(angle)))
    text = f"{x:.12g},{y:.12g},0,{whole['duration']:g}@{whole['time']:.12g}"
    Push.parsed(text)
    return text


def speed_text(speed: Mapping[str, float]) -> str:
    """A speed as the command line takes it."""
    return ",".join(repr(value) for value in {**SPEED, **speed}.values())


def _known(name: str, behavior: str) -> Parameter:
    parameter = PARAMETERS.get(name)
    if parameter is None:
        names = [*PARAMETERS, *(f"{table}.{key}" for table, keys in TABLES.items() for key in keys or ("NAME",))]
        near = get_close_matches(name, names, n=1)
        tables = (f"{table}.NAME" for table in TABLES)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join([*PARAMETERS, *tables])}"
        raise UsageError(f"there is no parameter '{name}'; {hint}")
    if parameter.only not in ("", behavior):
        raise UsageError(f"'{name}' is for '{parameter.only}', not for '{behavior}'; leave it out")
    return parameter


def _check_key(table: str, key: str) -> None:
    known = TABLES[table]
    if known and key not in known:
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean '{table}.{near[0]}'?" if near else f"there are {', '.join(known)}"
        raise UsageError(f"there is no parameter '{table}.{key}'; {hint}")


def _number(name: str, value: Value) -> float:
    meant = words.number(_text(value))
    if meant is None:
        raise UsageError(f"{name}: '{value}' is not a number")
    return meant


def _setting(name: str, value: Value) -> float | str:
    try:
        return words.setting(f"{name}={_text(value)}")[1]
    except UsageError:
        raise UsageError(f"{name}: '{value}' is not a number") from None


def _text(value: Value) -> str:
    """As on the command line; a float keeps all its digits."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# -- What can be said about a request before anything is loaded: for who plans thousands of them ---------------------


SETTINGS: dict[str, Any] = {
    "reach": ReachSettings,
    "stand": UprightSettings,
    "squat": SquatSettings,
    "navigate": NavigateSettings,
}


@cache
def check_robot(name: str) -> None:
    """PoiseError for a robot that there is not."""
    described(name)


def check_request(request: Request) -> None:
    """PoiseError for a robot, a style, a setting or a script that there is not."""
    check_robot(request.robot)
    if request.regulated:
        filled(settings_on_servos(request.behavior), request.settings)
    elif request.behavior == "walk":
        manner_of(request)
    else:
        filled(SETTINGS[request.behavior], request.settings)
    if request.script:
        Script.load(request.script)
