"""Stand & squat on position servos, without a browser: actuation, ZMP regulation and sole pressure."""

from __future__ import annotations

import math
from multiprocessing import Pipe
from typing import Any

import numpy as np
import pytest

from poise.behaviors import SoleLoad, SquatSettings
from poise.control import PositionController, TorqueController
from poise.parameters import parameters
from poise.plans import SquatOscillator
from poise.state import center_of_pressure
from poise.studio.scene_base import ACTUATION, uses_servos
from poise.studio.scene_runner import SceneRunner
from poise.studio.scenes import find_scene
from poise.studio.simulation_process import SimulationLoop, SimulationStart
from poise.studio.sole_pressure import SolePressure
from poise.studio.telemetry import Telemetry
from robot_states import installed_robot, not_none


def runner_of(name: str = "hoap3", **chosen: Any) -> SceneRunner:
    """The scene with initial control values."""
    scene = find_scene("stand")(installed_robot(name))
    for control, value in chosen.items():
        scene.set_control(control, value)
    return SceneRunner(scene)


def run_for(runner: SceneRunner, seconds: float) -> None:
    for _ in range(round(seconds / runner.period)):
        runner.deadman.keep_alive()  # each time: no timeout, even on a busy machine
        runner.step()


# -- actuation ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hoap3", "nao", "mighty"])
def test_robots_that_are_built_with_servos_stand_on_them_unless_motors_are_chosen(name: str) -> None:
    assert isinstance(runner_of(name).primary.controller, PositionController)
    assert isinstance(runner_of(name, actuation="torque motors").primary.controller, TorqueController)


@pytest.mark.needs_models
def test_a_robot_with_motors_gets_servos_only_when_they_are_chosen() -> None:
    assert [uses_servos(installed_robot("g1"), actuation) for actuation in ACTUATION] == [False, False, True]


def test_recovery_steps_switch_to_torque_motors_with_a_message() -> None:
    scene = find_scene("stand")(installed_robot("hoap3"))
    assert "torque motors" in scene.set_control("balance_strategy", "steps")
    assert (scene.values()["actuation"], scene.values()["balance_strategy"]) == ("torque motors", "steps")
    assert "ankles" in scene.set_control("actuation", "position servos")
    assert scene.values()["balance_strategy"] == "ankles"


def test_settings_for_motors_are_adapted_to_a_robot_on_servos() -> None:
    """Another robot gets the control values of the one before, in their order."""
    before = {"balance_strategy": "steps", "actuation": "as built", "depth": 0.3}
    scene = runner_of("hoap3", **before).scene
    assert {name: scene.values()[name] for name in before} == {
        "balance_strategy": "ankles",
        "actuation": "as built",
        "depth": 0.25,
    }


def test_sliders_of_squats_have_the_ranges_that_the_settings_declare() -> None:
    scene = find_scene("stand")(installed_robot("hoap3"))
    declared = parameters(SquatSettings)
    for actuation, deepest in (
        ("torque motors", not_none(declared["depth"].typical_range)[1]),
        ("position servos", 0.25),
    ):
        scene.set_control("actuation", actuation)
        sliders = {each.name: each.as_json() for each in scene.controls()}
        assert (sliders["depth"]["low"], sliders["depth"]["high"]) == (0.0, deepest)
        frequency = sliders["frequency"]
        assert (frequency["low"], frequency["high"], frequency["unit"]) == (0.1, 1.0, "1/s")
        assert (frequency["low"], frequency["high"]) == declared["frequency"].typical_range
        for value, slider in ((9.0, "high"), (-1.0, "low")):
            for name in ("depth", "frequency"):
                scene.set_control(name, value)
                assert scene.values()[name] == sliders[name][slider]


def test_another_actuation_changes_the_period_but_not_the_speed_of_time() -> None:
    here, _there = Pipe()
    simulation = SimulationLoop(here, SimulationStart("stand", "hoap3", {}))
    for actuation, period in (("torque motors", 0.002), ("position servos", 0.001)):
        simulation._set_control("actuation", actuation)
        assert simulation._pacer.period == simulation._runner.period == period


def test_the_provenance_has_the_actuation_and_the_zmp_regulation() -> None:
    provenance = {"behavior": "stand", "mode": "position", "zmp_regulation": "off"}
    assert runner_of(zmp_regulation=False).scene.provenance() == provenance
    assert runner_of(actuation="torque motors").scene.provenance() == {"behavior": "stand", "mode": "torque"}


# -- ZMP regulation ----------------------------------------------------------------------------------------------------


def test_the_regulation_is_switched_while_it_stands_and_fades() -> None:
    runner = runner_of()
    scene = runner.scene
    body: Any = runner.primary.controller.behavior
    run_for(runner, 0.3)
    assert body.fault_detector.trust == 1.0
    assert any("is regulated" in line for line in scene.status_lines())
    assert scene.set_control("zmp_regulation", False) == ""
    run_for(runner, 0.1)
    assert 0.0 < body.fault_detector.trust < 1.0
    run_for(runner, 0.2)
    assert body.fault_detector.trust == 0.0
    assert any("no ZMP regulation" in line for line in scene.status_lines())
    scene.set_control("zmp_regulation", True)
    run_for(runner, 0.3)
    assert body.fault_detector.trust == 1.0
    assert not scene.needs_reset, "without a reset"
    assert not runner.fall_reason


def test_a_force_cell_fault_is_reported() -> None:
    scene = find_scene("stand")(installed_robot("hoap3"))
    scene.parameters.overrides["faults"] = "cell:left:1:nan@0.2"  # type: ignore[attr-defined]
    runner = SceneRunner(scene)
    run_for(runner, 0.4)
    assert any("force cell of the left sole" in line for line in runner.scene.status_lines())
    assert any("force cell of the left sole" in event for event in runner.events)
    assert np.isfinite([runner.scene.sole_pressure.force(side) for side in ("left", "right")]).all()  # type: ignore[union-attr]


def test_the_regulation_is_offered_where_it_acts() -> None:
    scene = runner_of(actuation="torque motors").scene

    def offered() -> bool:
        return next(control.enabled for control in scene.controls() if control.name == "zmp_regulation")

    assert not offered()
    scene.set_control("actuation", "position servos")
    assert offered()
    assert scene.controls_changed, "the page has to draw it"


def test_with_torque_motors_there_is_no_regulation_and_no_sole_pressure() -> None:
    runner = runner_of(actuation="torque motors")
    assert "servos only" in runner.scene.set_control("zmp_regulation", False)
    run_for(runner, 0.02)
    telemetry = Telemetry(runner.scene.robot)
    assert telemetry.page_data(runner, "left leg")["plots"]["sole_pressure"] is None
    assert telemetry.view_frame(runner).sole_pressure is None


@pytest.mark.parametrize("direction", [0.0, 45.0, 90.0, 180.0])
def test_hoap3_withstands_the_default_push(direction: float) -> None:
    runner = runner_of()
    run_for(runner, 1.0)
    runner.scene.set_control("push.direction", direction)
    runner.scene.set_control("push", True)
    run_for(runner, 1.5)
    assert not runner.fall_reason


# -- squats ------------------------------------------------------------------------------------------------------------


def test_the_rate_of_squats_is_the_derivative_of_their_height_during_changes() -> None:
    """Against differences of the height, and of the rate for the acceleration; neither jumps."""
    squats, period = SquatOscillator(), 1e-4
    samples = []
    for depth, frequency in ((0.05, 0.5), (0.02, 0.5), (0.02, 1.0), (0.05, 0.1), (0.0, 0.5)):
        for _ in range(round(1.3 / period)):
            squats.advance(period, depth, frequency)
            samples.append((squats.height, squats.rate, squats.acceleration))
    height, rate, acceleration = np.array(samples).T
    assert np.abs(np.diff(height) / period - 0.5 * (rate[1:] + rate[:-1])).max() < 1e-3  # m/s
    assert np.abs(np.diff(rate)).max() < 2.0 * period * np.abs(acceleration).max()
    assert height.min() < -0.045
    assert height.max() <= 0.0


def test_squats_reach_their_depth_at_their_frequency_and_come_to_rest() -> None:
    squats, period = SquatOscillator(), 1e-3
    for _ in range(4000):
        squats.advance(period, 0.04, 0.5)
    heights = []
    for _ in range(2000):
        squats.advance(period, 0.04, 0.5)
        heights.append(squats.height)
    assert min(heights) == pytest.approx(-0.04, abs=1e-4)
    assert max(heights) == pytest.approx(0.0, abs=1e-4)
    assert int((np.diff(np.sign(np.array(heights) + 0.02)) != 0).sum()) == 2, "one squat in two seconds"
    for _ in range(4000):
        squats.advance(period, 0.0, 0.5)
    assert (squats.height, squats.rate, squats.acceleration) == (0.0, 0.0, 0.0)


def test_hoap3_squats_on_servos_to_the_given_depth_after_settling() -> None:
    runner = runner_of(squatting=True, depth=0.2, frequency=1.0)
    plant, sole_pressure = runner.primary.plant, runner.scene.sole_pressure
    assert sole_pressure is not None
    run_for(runner, 1.9)
    assert "settles" in runner.scene.status_lines()[0]
    high, lowest, farthest = plant.truth().center_of_mass[2], math.inf, 0.0
    for _ in range(200):
        run_for(runner, 0.01)
        lowest = min(lowest, plant.truth().center_of_mass[2])
        farthest = max(farthest, *(abs((sole_pressure.zmp(side) or 0j).real) for side in ("left", "right")))
    assert high - lowest == pytest.approx(0.05, abs=0.01), "5 cm, as in the paper"
    assert farthest < 0.0505, "inside the soles"
    assert "squats" in runner.scene.status_lines()[0]
    assert not runner.fall_reason


# -- soles -------------------------------------------------------------------------------------------------------------


def test_the_shown_sole_pressure_agrees_with_the_ankle_sensors() -> None:
    """Cells against the six-axis sensors, which are independent of them."""
    runner = runner_of()
    run_for(runner, 1.5)
    robot, plant = runner.scene.robot, runner.primary.plant
    state, forces = plant.truth(), not_none(plant.readings()).forces
    numbers = Telemetry(robot).page_data(runner, "left leg")["plots"]["sole_pressure"]
    under = Telemetry(robot).view_frame(runner).sole_pressure
    assert under is not None
    for number, side in enumerate(("left", "right")):
        foot = robot.foot(side)
        one = forces.names.index(foot.name)
        wrench, point = forces.wrenches[[one]], forces.points[[one]]
        middle = state.pose(foot).act(foot.sole.center)
        expected = center_of_pressure(point, wrench[:, :3], wrench[:, 3:], float(middle[2]))
        assert numbers["force"][side] == pytest.approx(wrench[0, 2], abs=2.0)
        assert np.allclose(under.zmps[number][:2], expected, atol=0.003)
        assert np.allclose(under.centers[number], middle)
        local = state.pose(foot).actInv(under.zmps[number]) - foot.sole.center
        assert np.allclose(local[:2], [numbers["x"][side], numbers["y"][side]], atol=1e-4)
        assert under.load_shares[number] == pytest.approx(numbers["force"][side] / (9.81 * robot.mass), abs=1e-3)


def test_an_unloaded_sole_has_no_zmp() -> None:
    robot = installed_robot("hoap3")
    sole_pressure = SolePressure(robot)
    for _ in range(500):
        sole_pressure.update({"left": SoleLoad(80.0, 0.01 + 0.002j), "right": SoleLoad(0.1, 0j)}, 0.001)
    numbers = sole_pressure.as_json()
    assert numbers["force"] == {"left": 80.0, "right": 0.1}
    assert numbers["x"] == {"left": 0.01, "right": None}
    assert numbers["half_size"] == [0.0505, 0.033]
    under = sole_pressure.to_frame(robot.stance("standing"))
    assert under.load_shares[1] == 0.0
    assert np.allclose(under.zmps[1], under.centers[1])


def test_the_view_shows_the_true_state_and_not_the_noisy_measurement() -> None:
    runner = runner_of()
    run_for(runner, 0.01)
    plant = runner.primary.plant
    assert np.abs(plant.state().q - plant.truth().q).max() > 1e-4
    assert np.allclose(Telemetry(runner.scene.robot).view_frame(runner).poses["robot"][1, :3], plant.truth().q[:3])
