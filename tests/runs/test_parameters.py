"""Parameters by name have the meaning of the command-line options."""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from poise import load_recording, runs
from poise.behaviors import WalkSettings
from poise.campaign.kinds.motion_runs import MotionRuns
from poise.cli import _build_parser, _OneLineErrorParser, parse
from poise.cli.run import add_motion
from poise.errors import UsageError
from poise.parameters import parameter
from poise.plans import PARAMETERS as STYLE_PARAMETERS
from poise.plans import SINUSOID_PARAMETERS
from poise.plants import Push
from poise.runs import command_line, motion_from
from poise.runs.motions import push_text
from poise.studio.controls import Slider
from poise.studio.scene_base import MotionControls
from robot_states import installed_robot

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
    "fault": "cell:left:2:dead@3",
    "style.step_length": 0.2,
    "set.patience": 2.0,
    "push.size": 30,
    "push.direction": 180,
    "speed.forward": 1 / 3,
    "speed.turning": -0.1,
}


def parse_motion(command: str) -> runs.Motion:
    """The motion that the command line makes of a command, before it runs."""
    options = vars(parse(shlex.split(command)[1:]))
    names = {*options["motion"].__dataclass_fields__, *runs.World.__dataclass_fields__} - {"settings", "world"}
    arguments = {name: options[name] for name in names if name in options}
    motion: runs.Motion = options["motion"](**arguments, settings=dict(options["settings"]))
    return motion


def test_the_command_runs_the_same_motion() -> None:
    motion = motion_from("walk", GIVEN, seed=3)
    assert parse_motion(command_line("walk", GIVEN, seed=3)) == motion
    assert isinstance(motion, runs.Walk)
    assert motion.speed == (1 / 3, 0.0, -0.1)


def test_the_command_omits_empty_parameters_and_accepts_negative_numbers() -> None:
    parameters: dict[str, Any] = {"push": "", "fault": "", "mass_error": -1e-05, "robot": "nao"}
    world = parse_motion(command_line("stand", parameters)).world
    assert (world.push, world.faults, world.mass_error) == ((), (), -1e-05)


@pytest.mark.parametrize("name", runs.MOTIONS)
def test_the_options_of_a_run_are_its_parameters_and_no_others(name: str) -> None:
    help_ = subparser(_build_parser("run"), "run", name).format_help()
    options = set(re.findall(r"^  --([a-z-]+)", help_, flags=re.MULTILINE))
    known = {each.option for each in runs.motion_parameters(runs.MOTIONS[name]).values()}
    assert options == known | {"set", "out", "json", "verbose"}


def subparser(parser: argparse.ArgumentParser, *words: str) -> argparse.ArgumentParser:
    """The parser of a subcommand."""
    for word in words:
        (action,) = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        parser = action.choices[word]
    return parser


def test_every_number_of_a_style_is_a_parameter() -> None:
    for name, declared in STYLE_PARAMETERS.items():
        style = {f"style.{name}": declared.high}
        reference = {"com_reference": "sinusoid"} if name in SINUSOID_PARAMETERS else {}
        motion = motion_from("walk", {**style, **{f"set.{key}": value for key, value in reference.items()}})
        assert motion.settings == {**style, **reference}


@dataclass(frozen=True, kw_only=True)
class WalkWithHat(runs.Walk):
    """A walk with one parameter more."""

    hat: float = parameter(0.1, "height of the hat", unit="m", low=0.0, high=0.5)


def test_a_parameter_that_is_declared_once_appears_everywhere() -> None:
    assert WalkWithHat(hat=0.2).hat == 0.2
    with pytest.raises(UsageError, match=r"walk: hat is 3; expected 0 to 0\.5 m"):
        WalkWithHat(hat=3)
    parser = _OneLineErrorParser(prog="poise run")
    add_motion(parser.add_subparsers(), WalkWithHat)
    options = parser.parse_args(["walk", "--hat", "0.3"])
    assert options.hat == 0.3
    assert "height of the hat (m, default 0.1)" in " ".join(subparser(parser, "walk").format_help().split())
    kind = MotionRuns(WalkWithHat)
    assert kind.check_parameters({"hat": "0.4", "robot": "g1"}, Path())["hat"] == 0.4
    assert "--hat 0.4" in kind.command({"hat": 0.4}, 1)
    with pytest.raises(UsageError, match="there is no parameter 'hat'"):
        MotionRuns("walk").check_parameters({"hat": 0.4}, Path())
    controls = MotionControls(WalkWithHat, installed_robot("g1"))
    (slider,) = [each for each in controls.controls() if each.name == "hat"]
    assert slider == Slider(
        name="hat", label="hat", group="Motion", help="height of the hat", low=0.0, high=0.5, value=0.1, unit="m"
    )
    assert controls.set("hat", 0.25)
    assert controls.build_motion().hat == 0.25


@dataclass(frozen=True)
class SettingsWithPlume(WalkSettings):
    """Settings of a walk, and one more."""

    plume: float = parameter(0.1, "length of the plume", unit="m", low=0.0, high=0.5)


@dataclass(frozen=True, kw_only=True)
class WalkWithPlume(WalkWithHat):
    """A walk with one parameter and one setting more."""

    torque_settings: ClassVar[type] = SettingsWithPlume

    def provenance(self) -> dict[str, Any]:
        return {**super().provenance(), "hat": self.hat}


@pytest.mark.needs_models
def test_a_recording_states_changed_settings_and_the_parameters_that_the_motion_adds_to_its_provenance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser, path = _OneLineErrorParser(prog="poise run"), tmp_path / "walk.poise"
    add_motion(parser.add_subparsers(), WalkWithPlume)
    words = f"walk --robot g1 --hat 0.3 --set plume=0.2 --seconds 0.02 --json --out {path}"
    options = parser.parse_args(shlex.split(words))
    options.action(options)
    provenance = load_recording(path).provenance
    assert (provenance["settings"], provenance["hat"]) == ({"plume": 0.2}, 0.3)
    result = json.loads(capsys.readouterr().out)
    assert provenance["result"] == result
    assert not {"hat", "plume", "settings"} & set(result)


@pytest.mark.parametrize("direction", [0, 30, 90, 135, 180, 270])
def test_a_push_has_its_size_and_its_direction(direction: float) -> None:
    push = Push.parse(push_text({"size": 50.0, "direction": direction, "time": 1.25}))
    x, y, z = np.asarray(push.force)
    assert math.hypot(x, y) == pytest.approx(50.0)
    assert math.cos(math.atan2(y, x) - math.radians(direction)) == pytest.approx(1.0)
    assert (z, push.duration, push.time) == (0.0, 0.1, 1.25)


@pytest.mark.parametrize(
    ("parameters", "evidence"),
    [
        ({"frction": 1}, "did you mean 'friction'?"),
        ({"style.step_lenght": 1}, "did you mean 'style.step_length'?"),
        ({"push.direction": 90}, "push.size is missing"),
        ({"push.size": "hard"}, "'hard' is not a number"),
        ({"friction": -1}, "friction: '-1' is not a positive number"),
        ({"speed": "0.3", "speed.left": 0.1}, "both given"),
        ({"script": "a.json"}, "'script' is a parameter of 'navigate'"),
        ({"set.x": "nan"}, "set.x: 'nan' is not a number"),
    ],
)
def test_invalid_parameters_are_refused(parameters: dict[str, Any], evidence: str) -> None:
    with pytest.raises(UsageError) as error:
        motion_from("walk", parameters)
    assert evidence in str(error.value)
