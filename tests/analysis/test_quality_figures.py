"""Figures of quality are those of motions whose formulas are known; warnings come beyond the declared bounds."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest

from poise.analysis import QUALITY_FIGURES, BodyTrajectories, analyze_walk, quality_figures, quality_messages
from poise.arrays import Array
from poise.constraints import body_overlap
from poise.extras import scipy
from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import Robot
from robot_states import installed_robot
from synthetic_walks import SyntheticWalk, biped, synthetic_trajectories

PAGE = Path(__file__).parents[2] / "docs/quality.md"


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


def with_channels(tracks: BodyTrajectories, *channels: Channel) -> BodyTrajectories:
    recording = tracks.recording
    others = [channel for key, channel in recording.channels.items() if key not in {each.key for each in channels}]
    return dataclasses.replace(tracks, recording=Recording([*others, *channels], recording.provenance, recording.robot))


def synthetic_walk_trajectories(
    robot: Robot, walk: SyntheticWalk, angles: Array | None = None, **options: object
) -> BodyTrajectories:
    """A synthetic walk with the joints as standing, and the base with these angles (yaw, pitch, roll; rad)."""
    tracks = synthetic_trajectories(robot, walk, **options)  # type: ignore[arg-type]
    q = np.tile(robot.stance("standing").q, (len(walk.time), 1))
    q[:, :3] = tracks.center_of_mass
    if angles is not None:
        q[:, 3:7] = scipy.spatial.transform.Rotation.from_euler("ZYX", angles).as_quat()
    return with_channels(tracks, Channel("q", "", q, CoordinateLabels.of(robot).q_labels))


def moving_base(
    robot: Robot, roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0, turning: float = 0.0
) -> BodyTrajectories:
    """A walk whose base oscillates once per stride with these amplitudes (rad), and turns (rad/s)."""
    walk = SyntheticWalk(turn=turning * 0.5)
    wave = np.sin(math.pi * (walk.time - walk.rest) / (walk.single + walk.double))
    return synthetic_walk_trajectories(
        robot, walk, np.stack([yaw * wave + turning * walk.time, pitch * wave, roll * wave], axis=1)
    )


def figures_of(tracks: BodyTrajectories) -> dict[str, float | None]:
    return quality_figures(tracks.recording, tracks.robot, analyze_walk(tracks.recording, tracks.robot, tracks))


@pytest.mark.parametrize("axis", ["roll", "pitch", "yaw"])
@pytest.mark.parametrize("turning", [0.0, 0.3])
def test_the_range_of_the_pelvis_is_twice_its_amplitude_also_while_turning(
    robot: Robot, axis: str, turning: float
) -> None:
    figures = figures_of(moving_base(robot, **{axis: math.radians(7.0)}, turning=turning))
    for name in ("roll", "pitch", "yaw"):
        assert figures[f"pelvis_{name}_deg"] == pytest.approx(14.0 if name == axis else 0.0, abs=0.3)


def swing_figures(robot: Robot, left: float, right: float) -> dict[str, float | None]:
    """Figures of a walk whose hands move with (1) or against (-1) the foot of their side, fore and aft."""
    walk = SyntheticWalk()
    tracks = synthetic_walk_trajectories(robot, walk)
    positions = np.array(tracks.positions)
    base = tracks.recording["q"][:, :3]
    for side, sign in (("left", left), ("right", right)):
        foot, hand = (tracks.parts.index(part) for part in (robot.foot(side), robot.hand(side)))  # type: ignore[arg-type]
        positions[:, hand] = base + np.array([0.0, 0.0, -0.5])
        positions[:, hand, 0] += 0.5 * sign * (positions[:, foot, 0] - base[:, 0])
    return figures_of(dataclasses.replace(tracks, positions=positions))


def test_human_like_arm_swing_is_distinguished_from_other_arm_swing(robot: Robot) -> None:
    people = swing_figures(robot, -1.0, -1.0)
    assert people["hand_foot_correlation"] == pytest.approx(-1.0, abs=1e-6)
    assert people["hand_correlation"] == pytest.approx(-1.0, abs=0.2)
    same_side = swing_figures(robot, 1.0, 1.0)
    assert same_side["hand_foot_correlation"] == pytest.approx(1.0, abs=1e-6)
    together = swing_figures(robot, 1.0, -1.0)
    assert together["hand_correlation"] == pytest.approx(1.0, abs=0.2)
    for figures, wrong in ((people, ()), (same_side, ("hand_foot_correlation",)), (together, ("hand_correlation",))):
        messages = quality_messages(figures, "walk")
        assert [name for name in ("hand_correlation", "hand_foot_correlation") if name in messages] == list(wrong)


def test_symmetric_steps_have_no_asymmetry_and_a_shifted_foot_has(robot: Robot) -> None:
    walk = SyntheticWalk()
    one_sample = walk.period / (walk.single + walk.double)
    assert figures_of(synthetic_walk_trajectories(robot, walk))["step_asymmetry"] == pytest.approx(0.0, abs=one_sample)
    ahead = np.zeros((len(walk.time), 3))
    ahead[:, 0] = 0.05
    limping = figures_of(synthetic_walk_trajectories(robot, walk, changes={"left": ahead}))["step_asymmetry"]
    assert limping is not None
    assert limping > 0.05


def test_ticks_longer_than_the_period_are_counted(robot: Robot) -> None:
    tracks = synthetic_walk_trajectories(robot, SyntheticWalk())
    milliseconds = np.full(tracks.recording.samples, 1.0)
    milliseconds[[3, 50, 51]] = 1e3 * tracks.recording.period + 0.1
    figures = figures_of(with_channels(tracks, Channel("control/milliseconds", "ms", milliseconds)))
    assert figures["overrun_ticks"] == 3
    assert quality_messages(figures, "stand")["overrun_ticks"].startswith("3 control steps took longer")


def test_a_motion_without_steps_has_no_figures_of_a_walk(robot: Robot) -> None:
    figures = figures_of(synthetic_walk_trajectories(robot, SyntheticWalk(steps=0)))
    names = ("pelvis_pitch_deg", "pelvis_yaw_deg", "arm_swing_deg", "hand_correlation", "step_asymmetry", "edge_time")
    assert all(figures[name] is None for name in names)


def test_every_bound_warns_just_above_and_not_just_below() -> None:
    for name, figure in QUALITY_FIGURES.items():
        for motion, bound in figure.bounds.items():
            size = max(abs(bound.warning), 1.0)
            assert name in quality_messages({name: bound.warning + 0.01 * size}, motion)
            assert name not in quality_messages({name: bound.warning - 0.01 * size}, motion)
            if math.isfinite(bound.failure):
                assert name in quality_messages({name: 1.01 * bound.failure}, motion, failures=True)
                assert name not in quality_messages({name: 0.99 * bound.failure}, motion, failures=True)


@pytest.mark.needs_models
def test_bodies_that_overlap_are_measured() -> None:
    """The left forearm of the G1 overlaps its right arm by far more than a millimetre."""
    g1 = installed_robot("g1")
    standing = g1.stance("standing").q
    assert body_overlap(g1, standing[np.newaxis]) == 0.0
    crossed = np.array(standing)
    crossed[g1.joint("left_shoulder_roll_joint").q] = -0.5  # the arm into the trunk
    depth = body_overlap(g1, np.stack([standing, crossed]))
    assert 0.005 < depth < 0.2
    assert body_overlap(g1, np.stack([crossed, standing])) == pytest.approx(depth)


def test_the_page_lists_every_figure_with_its_bounds() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE.read_text(), flags=re.MULTILINE))
    assert set(rows) == set(QUALITY_FIGURES)
    for name, figure in QUALITY_FIGURES.items():
        unit, description, warning, failure = (cell.strip() for cell in rows[name].split("|"))
        assert (unit, description) == (figure.unit or "-", figure.description)
        bounds = figure.bounds
        assert warning == ", ".join(f"{bound.warning:g} ({motion})" for motion, bound in bounds.items())
        failing = [f"{each.failure:g} ({motion})" for motion, each in bounds.items() if math.isfinite(each.failure)]
        assert failure == (", ".join(failing) or "-")
