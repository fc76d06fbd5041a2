"""The scene Walk: parameters of a style that it offers, and results of the balance check that it shows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from poise import runs
from poise.plans import PARAMETERS, SINUSOID_PARAMETERS, STYLES, FeasibilityCheck, StyleRepair
from poise.studio.scenes.walk import WalkScene
from poise.studio.style_checker import SimulatedCheck
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models


class AnsweringChecker:
    """Replacement for the worker process, with immediate answers."""

    def __init__(self, answer: Any) -> None:
        self._answer, self.requests = answer, list[runs.Walk]()

    def request(self, motion: runs.Walk) -> bool:
        self.requests.append(motion)
        return True

    def answer(self) -> Any:
        return self._answer


@pytest.fixture(name="scene")
def _scene() -> WalkScene:
    scene = WalkScene(installed_robot("nao"))
    scene.simulated_check = SimulatedCheck()
    scene.keep_balance = False  # no repair by the pendulum
    scene.controlled_plants()
    return scene


def status(scene: WalkScene) -> list[str]:
    """Status lines of the next check, independent of the time."""
    scene._last_check = -math.inf
    return scene.status_lines()


def offered_controls(scene: WalkScene) -> set[str]:
    names = {control.name for control in scene.controls()}
    return {name.removeprefix("style.") for name in names if name.startswith("style.")}


def test_sway_is_offered_only_with_the_sinusoid_which_starts_from_its_repaired_defaults(scene: WalkScene) -> None:
    assert not offered_controls(scene) & set(SINUSOID_PARAMETERS)
    scene.set_control("com_reference", "sinusoid")
    assert scene.needs_reset
    scene.controlled_plants()
    assert offered_controls(scene) >= set(SINUSOID_PARAMETERS)
    assert scene.values()["style.sway"] > 2.0 * STYLES["neutral"].sway
    assert scene.walk is not None
    assert replace(scene.style, name=scene.walk.style.name) == scene.walk.style


def test_the_simulated_result_replaces_that_of_the_pendulum_once_the_style_rests(scene: WalkScene) -> None:
    checker = AnsweringChecker(FeasibilityCheck(-0.1, 2.0, "falls after 3 steps", True))
    scene.simulated_check.checker = checker  # type: ignore[assignment]
    status(scene)
    assert not any(line.startswith("simulated") for line in status(scene)), "no walk has been requested yet"
    assert checker.requests == []
    scene.set_control("style.chest_pitch", 0.3)
    assert not any("simulated" in line for line in status(scene)), "the slider may still be moving"
    assert "simulated: falls after 3 steps" in status(scene)
    assert [walk.resolved_style().chest_pitch for walk in checker.requests] == [0.3]


def test_a_simulated_repair_is_applied_only_to_the_style_that_it_was_requested_for(scene: WalkScene) -> None:
    falls = FeasibilityCheck(-0.1, 2.0, "falls after 3 steps", True)
    better = STYLES["neutral"].replace(single_support=0.6)
    repair = StyleRepair(better, None, FeasibilityCheck(0.01, 6.0, "walks", True), ("single_support 0.5 -> 0.6 s",))
    scene.simulated_check.checker = AnsweringChecker(falls)  # type: ignore[assignment]
    scene.simulated_check.repairer = AnsweringChecker(repair)  # type: ignore[assignment]
    scene.set_control("style.chest_pitch", 0.3)
    status(scene), status(scene)
    assert "searching" in scene.set_control("repair", None)
    scene.set_control("style.chest_pitch", 0.1)
    status(scene)
    assert scene.style.single_support == STYLES["neutral"].single_support, "the style has changed meanwhile"
    status(scene)
    assert "searching" in scene.set_control("repair", None)
    assert any("single_support 0.5 -> 0.6 s" in line for line in status(scene))
    assert scene.style.single_support == 0.6


def test_every_parameter_of_a_style_has_a_control(scene: WalkScene) -> None:
    scene.com_reference = "sinusoid"
    assert offered_controls(scene) == {*PARAMETERS, "torque_joints"}


def test_the_speed_is_that_of_the_stick_and_at_rest_that_of_the_style(scene: WalkScene) -> None:
    scene.controlled_plants()
    at_rest = next(line for line in status(scene) if "m/s" in line)
    assert at_rest.startswith("stands; the style walks at")
    scene.set_stick(1.0, 0.0, 0.0)
    driven = next(line for line in status(scene) if "m/s" in line)
    assert driven.startswith("speed")
    assert driven.split()[1] != at_rest.split()[5]
    scene.set_stick(0.0, 0.0, 0.0)
    assert next(line for line in status(scene) if "m/s" in line) == at_rest
