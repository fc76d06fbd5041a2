"""Settings of earlier versions, in campaign specs and on the command line, have their former meaning."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poise import runs
from poise.behaviors import WalkSettings, ZmpBalanceSettings, regulation_settings
from poise.campaign import Spec
from poise.errors import UsageError
from poise.parameters import FormerNames, current_settings, parameters, settings_from
from poise.plans import PARAMETERS, Style
from robot_states import installed_robot

#: Motions with a mode for each dataclass of settings.
MOTIONS: dict[str, runs.Motion] = {
    "reach": runs.Reach(),
    "stand": runs.Stand(),
    "stand on servos": runs.Stand(mode="position"),
    "squat": runs.Squat(),
    "squat on servos": runs.Squat(mode="position"),
    "walk": runs.Walk(),
    "walk on servos": runs.Walk(mode="position"),
    "navigate": runs.Navigate(),
}


def former_settings() -> list[tuple[str, str, str]]:
    """Motion, former name and name of each setting that was renamed, also of dataclasses inside the settings."""
    found = []
    for motion, request in MOTIONS.items():
        known = [request.settings_type, *(type(part) for part in vars(request.resolved_settings()).values())]
        tables = [each.former_names for each in known if issubclass(each, FormerNames)]
        found += [(motion, former, name) for table in tables for former, name in table.items()]
    return found


def another_value(cls: type, name: str) -> Any:
    """An allowed value that is not the default."""
    declared = parameters(cls)[name]
    if declared.kind == "choice":
        return next(each for each in declared.choices if each != declared.default)
    return not declared.default if declared.kind == "flag" else 1.25 * declared.default + 0.1


@pytest.mark.parametrize(("motion", "former", "name"), former_settings())
def test_a_former_setting_gives_the_same_settings_as_the_current_one(motion: str, former: str, name: str) -> None:
    request = MOTIONS[motion]
    value = another_value(request.settings_type, name)
    assert former not in parameters(request.settings_type)
    by_former, by_name = (replace(request, settings={word: value}) for word in (former, name))
    assert by_former == by_name
    assert by_former.resolved_settings() == settings_from(request.settings_type, {name: value})
    assert by_former.resolved_settings() != request.resolved_settings()
    with pytest.raises(UsageError, match=f"'{former}' is the former name of '{name}'; give only '{name}'"):
        replace(request, settings={former: value, name: value})


def test_a_former_value_of_a_setting_becomes_the_current_one() -> None:
    for former, value in WalkSettings.former_values["com_reference"].items():
        walk = runs.Walk(settings={"center": former})
        assert walk.settings == {"com_reference": value}
        assert walk.resolved_settings() == WalkSettings(com_reference=value)  # type: ignore[arg-type]
    assert runs.Walk(settings={"center": "sinusoid"}).settings == {"com_reference": "sinusoid"}


def test_settings_of_another_mode_keep_their_meaning() -> None:
    """`spin` and `center` had different meanings in torque mode and on servos."""
    former = {"spin": 0.5, "center": "sinusoid"}
    assert current_settings(WalkSettings, former) == {"angular_momentum_tolerance": 0.5, "com_reference": "sinusoid"}
    assert current_settings(ZmpBalanceSettings, {"spin": 0.5, "center": 9.0}) == {
        "momentum_recovery_gain": 0.5,
        "com_gain": 9.0,
    }


def test_a_data_file_of_an_earlier_version_gives_the_same_gains_on_servos() -> None:
    robot = installed_robot("hoap3")
    now: dict[str, float | str] = {"filter_time": 0.3, "integral": 0.2, "comfort_posture": "stance"}
    former: dict[str, float | str] = {"smooth": 0.3, "trim": 0.2, "comfort": "stance"}
    settings = []
    for table in (now, former):
        servos = replace(robot.servos, zmp_balance=table, walk={**table, "step_length": 0.1})
        changed = copy.copy(robot)
        object.__setattr__(changed, "servos", servos)
        walk = runs.Walk(mode="position", settings={"integral": 0.4})
        settings.append((regulation_settings(changed, integral=0.4), walk.servo_defaults(changed)))
    assert settings[0] == settings[1]
    assert settings[0][0] == ZmpBalanceSettings(filter_time=0.3, integral=0.4, comfort_posture="stance")
    assert settings[0][1] == {**now, "step_length": 0.1}


@pytest.mark.parametrize(
    ("former", "name"), [(old, new) for old, new in Style.former_names.items() if new in PARAMETERS]
)
def test_a_former_parameter_of_a_style_changes_the_same_parameter(former: str, name: str) -> None:
    value = 0.5 * PARAMETERS[name].high
    by_former, by_name = (runs.Walk(settings={f"style.{word}": value}) for word in (former, name))
    assert by_former == by_name
    assert getattr(by_former.resolved_style(), name) == value


def test_both_names_of_one_parameter_are_refused() -> None:
    with pytest.raises(UsageError, match="'turn' is the former name of 'step_turn'; give only"):
        runs.Walk(settings={"style.turn": 0.1, "style.step_turn": 0.1})


def test_a_campaign_spec_of_an_earlier_version_plans_the_same_runs(tmp_path: Path) -> None:
    text = 'kind = "walk"\n[fixed]\nstyle.{turn} = 0.1\n[grid]\nstyle.{torque} = [0.1, 0.2]\n'
    former = Spec.parse(text.format(turn="turn", torque="torque"), str(tmp_path / "former.toml"))
    now = Spec.parse(text.format(turn="step_turn", torque="torque_weight"), str(tmp_path / "now.toml"))
    pairs = list(zip(former.runs, now.runs, strict=True))
    assert len(pairs) == 2
    assert all(one.parameters == other.parameters for one, other in pairs)
    assert former.plan_digest == now.plan_digest
