"""Footprints have the positions and times of the steps, detected from forces, phases or speeds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poise.analysis import RecordedWalk, analyze_walk, posture_frames, support_phases
from poise.analysis.body_trajectories import first_fallen_sample
from poise.analysis.step_detection import find_footprints
from poise.errors import RecordingError
from poise.recording import Channel, Recording
from poise.robots import Robot
from synthetic_walks import SyntheticWalk, biped, synthetic_trajectories

GAITS = {
    "forward": SyntheticWalk(),
    "backward": SyntheticWalk(length=-0.15),
    "in place": SyntheticWalk(length=0.0),
    "small and low": SyntheticWalk(length=0.01, height=0.004, width=0.1),
    "a circle from behind": SyntheticWalk(turn=0.5, heading=math.pi - 0.01, steps=24),
    "slow": SyntheticWalk(single=0.9, double=0.5, period=0.002),
}
SOURCES = ("measured/force", "force", "phase", "contacts", "")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


def detect_steps(
    robot: Robot, synthetic_walk: SyntheticWalk, forces: str = "measured/force", **more: Any
) -> RecordedWalk:
    tracks = synthetic_trajectories(robot, synthetic_walk, forces, **more)
    return analyze_walk(tracks.recording, robot, tracks)


@pytest.mark.parametrize("name", GAITS)
def test_footprints_are_those_of_the_synthetic_walk(robot: Robot, name: str) -> None:
    synthetic_walk = GAITS[name]
    walk = detect_steps(robot, synthetic_walk)
    assert len(walk.footprints) == synthetic_walk.steps + 2
    for each, (side, place, yaw) in zip(walk.footprints, synthetic_walk.footprints(), strict=True):
        assert each.side == side
        assert each.position == pytest.approx(place, abs=1e-9)
        assert each.yaw == pytest.approx(yaw, abs=1e-9)
        assert each.slip == pytest.approx(0.0, abs=1e-9)
    for k, step in enumerate(walk.steps):
        assert step.after.touchdown == pytest.approx(synthetic_walk.touchdown(k), abs=1.01 * synthetic_walk.period)
        assert step.before.lift_off == pytest.approx(synthetic_walk.lift_off(k), abs=1.01 * synthetic_walk.period)


@pytest.mark.parametrize("name", GAITS)
def test_steps_have_the_dimensions_of_the_synthetic_walk(robot: Robot, name: str) -> None:
    synthetic_walk = GAITS[name]
    walk = detect_steps(robot, synthetic_walk)
    assert [step.side for step in walk.steps] == ["left", "right"] * (synthetic_walk.steps // 2)
    for k, step in enumerate(walk.steps):
        assert (step.length, step.width, step.turn) == pytest.approx(
            (synthetic_walk.length, synthetic_walk.width, synthetic_walk.turn), abs=1e-9
        )
        assert step.height == pytest.approx(synthetic_walk.height, rel=1e-3)
        assert step.single == pytest.approx(synthetic_walk.single, abs=2.01 * synthetic_walk.period)
        if k:  # both feet stand before the first step
            assert step.double == pytest.approx(synthetic_walk.double, abs=2.01 * synthetic_walk.period)
            assert step.duration == pytest.approx(
                synthetic_walk.single + synthetic_walk.double, abs=2.01 * synthetic_walk.period
            )
    assert math.isnan(walk.steps[0].double)


@pytest.mark.parametrize("forces", SOURCES)
def test_forces_phases_and_speeds_give_the_same_footprints(robot: Robot, forces: str) -> None:
    walk, expected = detect_steps(robot, SyntheticWalk(), forces), detect_steps(robot, SyntheticWalk())
    assert [each.side for each in walk.footprints] == [each.side for each in expected.footprints]
    for each, other in zip(walk.footprints, expected.footprints, strict=True):
        assert each.position == pytest.approx(other.position, abs=1e-3)
        if each.begin:  # detection from speeds is a little later, when the foot is at rest
            assert each.touchdown == pytest.approx(other.touchdown, abs=0.05)


def test_a_foot_that_slides_slips_by_as_much(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk()
    time = synthetic_walk.time
    begin = synthetic_walk.touchdown(2) + 0.02  # the left foot slides to and fro while the right one swings and lands
    slide = np.zeros((len(time), 3))
    slide[:, 0] = 0.012 * np.sin(np.clip((time - begin) / 0.5, 0.0, 1.0) * math.pi)
    walk = detect_steps(robot, synthetic_walk, changes={"left": slide})
    slips = [each.slip for each in walk.footprints]
    assert slips[4] == pytest.approx(0.012, abs=1e-4)
    assert max(np.delete(slips, 4)) < 1e-9


def test_a_foot_that_bounces_makes_one_footprint_and_does_not_slip_in_the_air(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk()
    tracks = synthetic_trajectories(robot, synthetic_walk)
    name = f"measured/force/{robot.foot('left').name}"
    force = np.array(tracks.recording[name])
    jump = np.zeros(len(synthetic_walk.time))
    for k in (0, 2, 4):
        begin = round((synthetic_walk.touchdown(k) + 0.03) / synthetic_walk.period)
        force[begin : begin + 8, 2] = 0.0  # 40 ms in the air, in which the foot moves by 5 mm
        jump += np.clip((np.arange(len(jump)) - begin) / 7.0, 0.0, 1.0) * 0.005
    channels = [Channel(name, "N", force, c.labels) if c.key == name else c for c in tracks.recording.channels.values()]
    moved = synthetic_trajectories(robot, synthetic_walk, changes={"left": np.outer(jump, [0.0, 1.0, 0.0])})
    object.__setattr__(moved, "recording", Recording(channels))
    prints = find_footprints(moved)
    assert len(prints) == synthetic_walk.steps + 2
    assert max(each.slip for each in prints) < 1e-9


def test_a_foot_that_is_unloaded_in_place_makes_no_step(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk(length=0.0, height=0.0005)
    walk = detect_steps(robot, synthetic_walk)
    assert (len(walk.footprints), len(walk.steps), walk.is_walk) == (2, 0, False)


def test_a_short_contact_during_swing_is_no_footprint(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk(single=0.6)
    tracks = synthetic_trajectories(robot, synthetic_walk)
    name = f"measured/force/{robot.foot('left').name}"
    force = np.array(tracks.recording[name])
    middle = round((synthetic_walk.lift_off(2) + 0.3) / synthetic_walk.period)
    force[middle : middle + 4, 2] = 100.0
    channels = [Channel(name, "N", force, c.labels) if c.key == name else c for c in tracks.recording.channels.values()]
    object.__setattr__(tracks, "recording", Recording(channels))
    assert len(find_footprints(tracks)) == synthetic_walk.steps + 2


def test_the_first_and_the_last_two_steps_are_not_steady(robot: Robot) -> None:
    walk = detect_steps(robot, SyntheticWalk(steps=11))
    assert walk.steady_steps == walk.steps[3:9]  # an even number, so that left and right have the same weight
    assert walk.window == slice(walk.steps[2].after.begin, walk.steps[8].after.begin)
    assert [stride.stop - stride.start for stride in walk.stride_samples] == pytest.approx([200] * 5, abs=1)
    few = detect_steps(robot, SyntheticWalk(steps=4))
    assert few.steady_steps == few.steps


@pytest.mark.parametrize("turn", [0.0, 0.1])
@pytest.mark.parametrize("steps", [4, 5, 6, 7, 10])
def test_the_speed_is_that_of_whole_strides_in_which_the_sway_cancels(robot: Robot, steps: int, turn: float) -> None:
    synthetic_walk = SyntheticWalk(steps=steps, turn=turn, sway=0.06)
    speed, step_time = detect_steps(robot, synthetic_walk).speed, synthetic_walk.single + synthetic_walk.double
    assert speed.forward == pytest.approx(synthetic_walk.length / step_time, rel=0.03)
    assert speed.sideways == pytest.approx(0.0, abs=0.01)
    assert speed.turning == pytest.approx(turn / step_time, abs=0.01)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_walk_without_a_whole_stride_before_its_last_step_has_no_speed(robot: Robot, steps: int) -> None:
    assert all(map(math.isnan, detect_steps(robot, SyntheticWalk(steps=steps)).speed))


def test_a_foot_that_pauses_in_the_air_makes_no_footprint(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk(steps=0, rest=2.0)
    pauses = np.floor(synthetic_walk.time / 0.5) % 2 == 0.0  # half a second of motion, half a second at rest
    raised = np.zeros((len(synthetic_walk.time), 3))
    raised[:, 2] = 0.1
    raised[:, 0] = np.cumsum(np.where(pauses, 0.0, 0.2 * synthetic_walk.period))
    tracks = synthetic_trajectories(robot, synthetic_walk, "", changes={"left": raised})
    standing = [robot.foot("right").name] * len(synthetic_walk.time)
    channels = [*tracks.recording.channels.values(), Channel("contacts", "", standing)]
    object.__setattr__(tracks, "recording", Recording(channels))
    walk = analyze_walk(tracks.recording, robot, tracks)
    assert ([each.side for each in walk.footprints], walk.steps) == (["right"], ())


def test_contacts_that_never_change_do_not_hide_the_steps_of_feet_that_move(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk()
    tracks = synthetic_trajectories(robot, synthetic_walk, "")
    both = [", ".join(foot.name for foot in robot.feet)] * len(synthetic_walk.time)
    object.__setattr__(
        tracks, "recording", Recording([*tracks.recording.channels.values(), Channel("contacts", "", both)])
    )
    assert len(analyze_walk(tracks.recording, robot, tracks).steps) == synthetic_walk.steps


def test_steps_of_one_foot_alone_are_no_walk(robot: Robot) -> None:
    walk = detect_steps(robot, SyntheticWalk(steps=4))
    hopping = replace(walk, steps=tuple(step for step in walk.steps if step.side == "left"))
    assert (walk.is_walk, hopping.is_walk) == (True, False)


def test_support_phases_are_those_of_the_synthetic_walk(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk(steps=4)
    parts = support_phases(detect_steps(robot, synthetic_walk))
    names = ["standing", "right support", "double support", "left support", "double support", "right support"]
    assert [part.name for part in parts] == [*names, "double support", "left support", "standing"]
    assert [part.end for part in parts[:-1]] == [part.begin for part in parts[1:]]
    assert parts[1].begin == pytest.approx(synthetic_walk.lift_off(0), abs=1.01 * synthetic_walk.period)


def test_a_gait_cycle_goes_from_touchdown_to_touchdown(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk(steps=12)
    walk = detect_steps(robot, synthetic_walk)
    stride = 2 * (synthetic_walk.single + synthetic_walk.double)
    own = walk.curves((synthetic_walk.time - synthetic_walk.touchdown(0)) / stride % 1.0, "left")
    assert own.values.shape[0] >= 3
    assert own.mean[5:95] == pytest.approx(own.percent[5:95] / 100.0, abs=0.01)
    assert own.toe_off == pytest.approx(100.0 * (1.0 - synthetic_walk.single / stride), abs=1.5)
    assert (own.low <= own.mean + 1e-12).all()
    assert (own.mean <= own.high + 1e-12).all()
    with pytest.raises(RecordingError, match="7 values for a walk"):
        walk.curves(np.zeros(7), "left")


def test_invalid_states_do_not_prevent_step_detection(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk()
    tracks = synthetic_trajectories(robot, synthetic_walk)
    tracks.positions[100:110] = np.nan
    tracks.rotations[100:110] = np.nan
    tracks.center_of_mass[100:110] = np.nan
    walk = analyze_walk(tracks.recording, robot, tracks)
    assert len(walk.steps) == synthetic_walk.steps
    assert np.isfinite(walk.pressure_margin.margin).any()
    tracks.positions[:] = tracks.rotations[:] = np.nan
    assert analyze_walk(tracks.recording, robot, tracks).is_walk is False


@pytest.mark.parametrize("how", ["tilted", "low"])
def test_no_steps_are_counted_after_a_fall(robot: Robot, how: str) -> None:
    synthetic_walk = SyntheticWalk()
    tracks = synthetic_trajectories(robot, synthetic_walk)
    fall = round(synthetic_walk.lift_off(5) / synthetic_walk.period)
    if how == "low":
        tracks.center_of_mass[fall:, 2] = 0.2
    else:
        tracks.rotations[fall:, tracks.parts.index(posture_frames(robot).chest)] = np.diag([1.0, -1.0, -1.0])
    walk = analyze_walk(tracks.recording, robot, tracks)
    assert walk.fall_time == pytest.approx(synthetic_walk.lift_off(5), abs=synthetic_walk.period)
    assert len(walk.steps) == 5
    assert math.isnan(detect_steps(robot, synthetic_walk).fall_time)


@pytest.mark.parametrize("how", ["tilted", "low"])
def test_a_robot_that_bends_down_and_rises_again_has_not_fallen(robot: Robot, how: str) -> None:
    """Without a fall in the provenance; a second bend, from which it does not rise, is the fall."""
    synthetic_walk = SyntheticWalk()
    tracks = synthetic_trajectories(robot, synthetic_walk)
    assert "fall" not in tracks.recording.provenance
    chest, samples = tracks.parts.index(posture_frames(robot).chest), tracks.recording.samples

    def bend(begin: int, end: int) -> None:
        if how == "low":
            tracks.center_of_mass[begin:end, 2] = 0.2
        else:
            tracks.rotations[begin:end, chest] = np.diag([1.0, -1.0, -1.0])

    bend(50, 100)
    assert first_fallen_sample(tracks) == samples
    bend(samples - 30, samples)
    assert first_fallen_sample(tracks) == samples - 30
    tracks.center_of_mass[-10:] = tracks.rotations[-10:] = np.nan  # invalid states are no recovery
    assert first_fallen_sample(tracks) == samples - 30
