"""A guided robot: in kinematics, under torques and on servos."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio
import pytest

import poise
from poise.behaviors import Navigate, NavigateSettings
from poise.behaviors.navigate import held_points
from poise.behaviors.servo_stabilizer import ServoStabilizer, ServoStabilizerSettings
from poise.devices import Device, RandomDevice
from poise.errors import PoiseError
from poise.plans import Footstep, Goal, NavigationPoints, OperatorCommand, standing_points
from poise.plants import PositionServos, Push, steps
from poise.robots import has_position_servos


@cache
def robot_of(name: str) -> poise.Robot:
    return poise.load_robot(name)


class HeldCommand(Device):
    """Device with a stick that is held for some seconds and then released."""

    def __init__(self, mode: str, *axes: float, seconds: float = np.inf) -> None:
        self.stick = OperatorCommand(mode, (*axes, *(0.0,) * (6 - len(axes))))  # type: ignore[arg-type]
        self.seconds_held = seconds
        self.observations: list[NavigationPoints] = []

    def read(self, time: float) -> OperatorCommand:
        return self.stick if time < self.seconds_held else OperatorCommand(self.stick.mode)

    def observe(self, points: NavigationPoints) -> None:
        self.observations.append(points)


def plant_of(name: str, start: poise.State, **world: Any) -> poise.MujocoPlant:
    servos = {"actuators": PositionServos()} if has_position_servos(name) else {}
    return poise.MujocoPlant(start, **servos, **world)  # type: ignore[arg-type]


def controller_of(name: str, navigate: Navigate) -> poise.PositionController | poise.TorqueController:
    return (poise.PositionController if name in ("mighty", "nao") else poise.TorqueController)(navigate)


def run(name: str, device: object, seconds: float, **world: Any) -> tuple[Navigate, poise.MujocoPlant]:
    navigate = Navigate(robot_of(name), device)  # type: ignore[arg-type]
    plant = plant_of(name, navigate.start, **world)
    for _ in steps(controller_of(name, navigate), plant, seconds):
        if plant.fallen:
            break
    return navigate, plant


@pytest.mark.parametrize("robot", ["mighty", "g1"])
def test_in_kinematics_the_body_follows_the_segments(robot: str) -> None:
    navigate = Navigate(robot_of(robot), RandomDevice(4))
    plant, worst = poise.IdealPlant(navigate.start), 0.0
    for step in steps(poise.KinematicController(navigate, ramp=0.0), plant, 4.0):
        segment = navigate.segment
        assert segment is not None
        p = segment.center.at(step.state.time - navigate.segment_begin)[0]
        worst = max(worst, float(np.linalg.norm(step.state.center_of_mass - p)))
        assert np.isfinite(step.command.velocity).all()
        assert not step.command.fallback
    assert worst < 0.002
    assert navigate.outcomes["commanded"] == len(navigate.history)


@pytest.mark.parametrize(
    ("robot", "seed"),
    [
        ("nao", 23),  # G1 is tested by the campaign of random joysticks
        *(pytest.param(*each, marks=pytest.mark.slow) for each in [("mighty", 21), ("g1", 22), ("talos", 24)]),
    ],
)
def test_random_commands_in_physics_cause_no_fall(robot: str, seed: int) -> None:
    """The short form of benchmarks/navigation.py."""
    navigate, plant = run(robot, RandomDevice(seed), 8.0, seed=seed)
    assert not plant.fallen, plant.fall
    assert len(navigate.history) >= 6


@pytest.mark.parametrize("robot", ["g1", pytest.param("mighty", marks=pytest.mark.slow)])
def test_a_trunk_that_is_guided_ahead_walks_by_itself(robot: str) -> None:
    navigate, plant = run(robot, HeldCommand("trunk", 1.0, seconds=6.0), 8.0)
    assert not plant.fallen, plant.fall
    moved = plant.truth().center_of_mass[0] - navigate.start.center_of_mass[0]
    steps_made = [done.segment.goal.step for done in navigate.history if done.segment.goal.step]
    assert moved > 4 * navigate.workspace.trunk_displacement[0]
    assert {"left", "right"} <= set(steps_made)


@pytest.mark.parametrize("robot", ["mighty", "g1"])
def test_a_foot_that_is_lifted_stays_in_the_air_until_it_is_put_down(robot: str) -> None:
    class LiftAndLand(Device):
        def read(self, time: float) -> OperatorCommand:
            return OperatorCommand("left foot", (0.0, 0.0, 0.6 if time < 2.0 else -1.0, 0.0, 0.0, 0.0))

    navigate = Navigate(robot_of(robot), LiftAndLand())
    plant = plant_of(robot, navigate.start)
    highest = 0.0
    foot = robot_of(robot).foot("left")
    for step in steps(controller_of(robot, navigate), plant, 6.0):
        highest = max(highest, float(step.state.pose(foot).translation[2]))
    assert not plant.fallen, plant.fall
    assert highest > 0.5 * navigate.workspace.foot_displacement[2] * 0.6
    assert foot in plant.truth().contacts


def test_a_hand_that_is_guided_forward_draws_the_body_after_it() -> None:
    device = HeldCommand("left hand", 1.0)
    navigate, plant = run("g1", device, 5.0)
    assert not plant.fallen, plant.fall
    assert plant.truth().center_of_mass[0] > navigate.start.center_of_mass[0] + 0.05


def test_another_mode_applies_at_the_next_segment() -> None:
    class SwitchingDevice(Device):
        def read(self, time: float) -> OperatorCommand:
            return OperatorCommand("trunk" if time < 0.3 else "left hand", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))

    navigate = Navigate(robot_of("mighty"), SwitchingDevice())
    for _ in steps(poise.KinematicController(navigate, ramp=0.0), poise.IdealPlant(navigate.start), 2.0):
        pass
    first, second = navigate.history[0], navigate.history[1]
    assert first.command.mode == "trunk"
    assert second.command.mode == "left hand"
    assert second.time == pytest.approx(first.time + first.segment.seconds, abs=0.006)


def test_the_guided_point_starts_to_move_within_one_segment_of_a_command() -> None:
    class DelayedDevice(Device):
        def read(self, time: float) -> OperatorCommand:
            return OperatorCommand("trunk", (1.0 if time > 1.1 else 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))

    navigate = Navigate(robot_of("mighty"), DelayedDevice())
    moves = None
    for step in steps(poise.KinematicController(navigate, ramp=0.0), poise.IdealPlant(navigate.start), 3.0):
        if moves is None and abs(step.state.center_of_mass[0] - navigate.start.center_of_mass[0]) > 0.002:
            moves = step.state.time
    assert moves is not None
    assert moves - 1.1 < navigate.planner.default_duration + 0.15


def test_each_segment_starts_from_where_the_robot_really_is() -> None:
    """A pushed robot: the next segment starts at the measured center of mass, not at the planned one."""
    device = HeldCommand("trunk", 0.0)
    navigate = Navigate(robot_of("g1"), device)
    plant = plant_of("g1", navigate.start, pushes=[Push((0.0, 40.0, 0.0), 0.1, 0.5)])
    measured = {}
    for step in steps(controller_of("g1", navigate), plant, 3.0):
        measured[round(step.state.time, 4)] = step.state.center_of_mass[:2].copy()
    assert not plant.fallen
    for done in list(navigate.history)[1:]:
        assert np.allclose(done.segment.initial.points.center[:2], measured[round(done.time, 4)], atol=1e-9)


def test_at_rest_the_center_of_mass_returns_to_the_last_goal_on_its_feet() -> None:
    begin = standing_points(robot_of("nao"))
    goal = Goal(begin)
    turn, shift = 0.01, 0.002 + 0.001j  # feet that slipped and turned, and a body that drifted a little

    def moved(point: complex) -> complex:
        return shift + point * np.exp(1j * turn)

    feet = {}
    for side, foot in begin.feet.items():
        place = moved(foot.place)
        feet[side] = Footstep(side, place.real, place.imag, foot.yaw + turn, foot.z)
    place = moved(complex(*begin.center[:2]))
    center = np.array([place.real, place.imag, begin.center[2]])
    drifted = begin.replace(feet=feet, center=center + np.array([0.0005, -0.0007, 0.0]))
    assert np.abs(held_points(drifted, goal).center - center).max() < 1e-12
    pushed = begin.replace(center=begin.center + np.array([0.02, 0.0, 0.0]))
    assert held_points(pushed, goal) is pushed
    lifted = drifted.replace(lifted="left")
    assert held_points(lifted, goal) is lifted


def test_a_segment_that_physics_contradicts_is_replaced_at_once() -> None:
    push = Push((0.0, 80.0, 0.0), duration=0.1, time=3.26)
    navigate, plant = run("g1", HeldCommand("trunk", 1.0, seconds=3.5), 5.0, pushes=[push])
    assert not plant.fallen, plant.fall
    replaced = [done for done in navigate.history if done.segment.notes and "replaced" in done.segment.notes[0]]
    assert replaced
    assert push.time < replaced[0].time < push.time + 0.25


def test_an_operator_with_an_observe_method_receives_the_guided_points() -> None:
    device = HeldCommand("trunk", 1.0)
    run("mighty", device, 2.0)
    assert len(device.observations) >= 3
    assert device.observations[-1].center[0] > device.observations[0].center[0]


def test_a_device_that_raises_makes_the_robot_hold_and_is_reported() -> None:
    class UnpluggedDevice(Device):
        def read(self, time: float) -> OperatorCommand:
            if time > 0.4:
                raise RuntimeError("unplugged")
            return OperatorCommand()

    navigate = Navigate(robot_of("g1"), UnpluggedDevice())
    plant = plant_of("g1", navigate.start)
    last = None
    for step in steps(controller_of("g1", navigate), plant, 3.0):
        last = step.command
        assert last.torque is not None
        assert np.isfinite(last.torque).all()
    assert not plant.fallen
    assert last is not None
    assert "unplugged" in last.fallback


def test_bad_settings_are_refused() -> None:
    with pytest.raises(PoiseError, match="dcm_gain is -1"):
        NavigateSettings(dcm_gain=-1.0)
    with pytest.raises(PoiseError, match="admittance"):
        ServoStabilizerSettings(admittance=-1.0)


def test_the_stabilizer_moves_the_body_away_from_a_pressure_that_is_too_far_ahead() -> None:
    """A forward acceleration moves the center of pressure back: the shift is forward and bounded."""
    stabilizer = ServoStabilizer(ServoStabilizerSettings(), 0.05)
    for _ in range(400):
        stabilizer.step(0.02 + 0j, 0j, 0.005)
    assert 0.0 < stabilizer.shift.real <= 0.8 * 0.05
    assert stabilizer.shift.imag == 0.0
    for _ in range(4000):
        stabilizer.step(None, 0j, 0.005)
    assert abs(stabilizer.shift) < 1e-6


def test_feed_forward_rates_and_accelerations_are_derivatives_of_the_targets() -> None:
    """Hands, trunk and feet of a segment that moves all of them, by differences in time."""
    robot, h = robot_of("g1"), 1e-5
    navigate = Navigate(robot, HeldCommand("trunk", 1.0, 0.5, -0.5, 1.0, 1.0, 1.0))
    for _ in steps(poise.KinematicController(navigate, ramp=0.0), poise.IdealPlant(navigate.start), 1.9):
        pass
    segment, task_set = navigate.segment, navigate.task_set
    assert segment is not None
    assert segment.goal.step is not None
    feet = {f"{side} foot": target for side, target in task_set.feet.items()}
    soles = {f"{side} sole": target for side, target in task_set.soles.items()}
    targets = {**task_set.hands, "trunk": task_set.trunk, **feet, **soles}  # type: ignore[misc]
    for time in np.linspace(0.1, 0.9, 7) * segment.seconds:
        found = []
        for at in (time - h, time, time + h):
            task_set.follow(segment.sample(float(at)))
            found.append(
                {
                    name: (target.value, target.rate.copy(), target.acceleration.copy())
                    for name, target in targets.items()
                }
            )
        before, now, after = found
        for name, (value, rate, acceleration) in now.items():
            change = difference(after[name][0], before[name][0]) / (2 * h)
            assert np.allclose(change, rate, atol=2e-5), name
            assert np.allclose((after[name][1] - before[name][1]) / (2 * h), acceleration, atol=2e-3), name
            assert value is not None


def difference(a: object, b: object) -> np.ndarray:
    """Difference from b to a: a vector for positions, a rotation vector for rotations."""
    first, second = np.asarray(a), np.asarray(b)
    return pinocchio.log3(first @ second.T) if first.shape == (3, 3) else first - second
