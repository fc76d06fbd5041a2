"""Parameters by name mean what the command line means."""

from __future__ import annotations

import math
import shlex
from typing import Any

import pytest

from poise.cli import parse
from poise.errors import UsageError
from poise.plans import PARAMETERS as STYLE_PARAMETERS
from poise.plants import Push
from poise.runs import PARAMETERS, Request, command_of, request_of
from poise.runs.run_parameters import push_text

GIVEN: dict[str, Any] = {
    "robot": "talos",
    "mode": "torque",
    "plant": "mujoco",
    "solver": "weighted",
    "seconds": 3.5,
    "style": "proud",
    "steps": 7,
    "push": "10,0,0,0.1@2; 0,5,0,0.2@3",
    "terrain": "slope:3",
    "friction": 0.1 + 0.2,
    "mass_error": -5,
    "delay": 4,
    "noise": 0.01,
    "break": "cell:left:2:dead@3",
    "style.step_length": 0.2,
    "set.patience": 2.0,
    "push.size": 30,
    "push.direction": 180,
    "speed.forward": 1 / 3,
    "speed.turning": -0.1,
}


def typed(command: str) -> Request:
    """What the command line makes of a command, before it runs."""
    words = shlex.split(command)[1:]
    options = vars(parse(words))
    plain = {name: options[name] for name in Request.__dataclass_fields__ if options.get(name) is not None}
    return Request(**{**plain, "settings": dict(options["settings"])})


def test_the_command_asks_for_the_same_request() -> None:
    request = request_of("walk", GIVEN, seed=3)
    asked = typed(command_of("walk", GIVEN, seed=3))
    assert tuple(asked.pushes) == tuple(request.pushes)
    assert tuple(asked.breakdowns) == tuple(request.breakdowns)
    names = set(Request.__dataclass_fields__) - {"pushes", "breakdowns"}
    assert {name: getattr(asked, name) for name in names} == {name: getattr(request, name) for name in names}
    assert request.speed == (1 / 3, 0.0, -0.1)


def test_the_command_leaves_out_what_is_empty_and_takes_numbers_below_zero_however_written() -> None:
    given: dict[str, Any] = {"push": "", "break": "", "mass_error": -1e-05, "robot": "nao"}
    asked = typed(command_of("stand", given))
    assert (tuple(asked.pushes), tuple(asked.breakdowns), asked.mass_error) == ((), (), -1e-05)


def test_every_option_of_a_run_is_a_parameter() -> None:
    options = vars(parse(["run", "walk"])).keys()
    not_asked = {"behavior", "action", "settings", "seed", "out", "json", "random", "remote"}
    known = {parameter.field for parameter in PARAMETERS.values()}
    assert options - not_asked == known


def test_every_number_of_a_style_is_a_parameter() -> None:
    for name, parameter in STYLE_PARAMETERS.items():
        assert request_of("walk", {f"style.{name}": parameter.high}).settings == {f"style.{name}": parameter.high}


@pytest.mark.parametrize("direction", [0, 30, 90, 135, 180, 270])
def test_a_push_has_its_size_and_its_direction(direction: float) -> None:
    push = Push.parsed(push_text({"size": 50.0, "direction": direction, "time": 1.25}))
    x, y, z = push.force
    assert math.hypot(x, y) == pytest.approx(50.0)
    assert math.cos(math.atan2(y, x) - math.radians(direction)) == pytest.approx(1.0)
    assert (z, push.duration, push.time) == (0.0, 0.1, 1.25)


@pytest.mark.parametrize(
    ("given", "evidence"),
    [
        ({"frction": 1}, "did you mean 'friction'?"),
        ({"style.step_lenght": 1}, "did you mean 'style.step_length'?"),
        ({"push.direction": 90}, "push.size is missing"),
        ({"push.size": "hard"}, "'hard' is not a number"),
        ({"friction": -1}, "friction: '-1' is not a positive number"),
        ({"speed": "0.3", "speed.left": 0.1}, "both given"),
        ({"script": "a.json"}, "'script' is for 'navigate'"),
        ({"set.x": "nan"}, "set.x: 'nan' is not a number"),
    ],
)
def test_what_makes_no_sense_is_said(given: dict[str, Any], evidence: str) -> None:
    with pytest.raises(UsageError) as error:
        request_of("walk", given)
    assert evidence in str(error.value)
