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
from poise.robots import Robot, limbs
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


def overruns_of(robot: Robot, *late: int) -> dict[str, float | None]:
    """Figures of a walk whose control steps with these numbers took longer than the period."""
    tracks = synthetic_walk_trajectories(robot, SyntheticWalk(), forces="phase")
    milliseconds = np.full(tracks.recording.samples, 1.0)
    milliseconds[list(late)] = 1e3 * tracks.recording.period + 0.1
    return figures_of(with_channels(tracks, Channel("control/milliseconds", "ms", milliseconds)))


def test_ticks_longer_than_the_period_are_counted(robot: Robot) -> None:
    figures = overruns_of(robot, 3, 50, 51)
    assert (figures["overrun_ticks"], figures["overrun_streak"]) == (3, 2)


def test_late_first_ticks_of_phases_are_counted_but_no_reason_to_warn(robot: Robot) -> None:
    phases = synthetic_walk_trajectories(robot, SyntheticWalk(), forces="phase").recording["phase"]
    firsts = sorted({str(name): i for i, name in reversed(list(enumerate(phases)))}.values())
    assert firsts[0] == 0
    assert len(firsts) > 2
    figures = overruns_of(robot, *firsts)
    assert (figures["overrun_ticks"], figures["overrun_share"], figures["overrun_streak"]) == (len(firsts), 0.0, 0.0)
    assert not [name for name in quality_messages(figures, "stand") if name.startswith("overrun")]


def test_many_late_ticks_and_late_ticks_in_succession_are_warned_about(robot: Robot) -> None:
    assert "overrun_streak" in quality_messages(overruns_of(robot, *range(100, 106)), "walk")
    assert "overrun_streak" not in quality_messages(overruns_of(robot, *range(100, 105)), "walk")
    scattered = overruns_of(robot, *range(20, 500, 20))
    assert [name for name in quality_messages(scattered, "stand") if "overrun" in name] == ["overrun_share"]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("body_overlap_m", 0.0021, "overlap by 2.1 mm (at most 2.0)"),
        ("body_overlap_m", 0.00204, "overlap by 2.04 mm (at most 2.00)"),
        ("body_overlap_m", 0.0041, "overlap by 4 mm (at most 2)"),
        ("pelvis_roll_deg", 15.2, "rolls by 15.2 degrees in each stride (at most 15.0)"),
    ],
)
def test_a_message_has_the_digits_that_tell_its_value_from_the_bound(name: str, value: float, text: str) -> None:
    assert text in quality_messages({name: value}, "walk")[name]


def standing(robot: Robot, at_edge: slice, push: str = "") -> dict[str, float | None]:
    """Figures of a robot that stands for 4 s; its center of pressure is 0.5 mm inside a corner in a part of it."""
    tracks = synthetic_walk_trajectories(robot, SyntheticWalk(steps=0, rest=2.0), forces="contacts")
    recording = tracks.recording
    pressure = np.zeros((recording.samples, 2))
    hull = np.array([tracks.support(i) for i in range(recording.samples)])
    pressure[:] = hull.mean(axis=1)
    front = hull[:, :, 0].max(axis=1)
    pressure[at_edge, 0] = front[at_edge] - 0.0005
    tracks = with_channels(tracks, Channel("center_of_pressure", "m", pressure, ("x", "y")))
    given = Recording(
        list(tracks.recording.channels.values()), {**recording.provenance, **({"push": [push]} if push else {})}
    )
    return figures_of(dataclasses.replace(tracks, recording=given))


def test_the_time_at_an_edge_is_measured_while_standing_and_pushes_do_not_count(robot: Robot) -> None:
    samples = synthetic_walk_trajectories(robot, SyntheticWalk(steps=0, rest=2.0)).recording.samples
    assert standing(robot, slice(0, 0))["edge_time"] == 0.0
    half = standing(robot, slice(0, samples // 2))
    assert half["edge_time"] == pytest.approx(0.5, abs=0.02)
    assert "(ZMP) is at an edge" in quality_messages(half, "stand", failures=True)["edge_time"]
    pushed = standing(robot, slice(samples // 2, samples * 5 // 8), "30,0,0,0.1@1.99")
    assert pushed["edge_time"] == 0.0


def test_arms_deviate_from_where_they_were_before_the_push(robot: Robot) -> None:
    """An arm joint drifts by 0.8 rad until 1 s, and by 0.1 rad after the push at 2 s."""
    tracks = synthetic_walk_trajectories(robot, SyntheticWalk(steps=0, rest=2.0))
    recording, arm = tracks.recording, next(limb for limb in limbs(robot) if limb.name.endswith(" arm"))
    q = np.array(recording["q"])
    q[:, robot.joint(arm.joints[0]).q] += 0.8 * np.minimum(recording.time, 1.0) + 0.1 * (recording.time > 2.5)
    channels = [each for key, each in recording.channels.items() if key != "q"]
    drifting = [*channels, Channel("q", "", q, CoordinateLabels.of(robot).q_labels)]

    def deviation(**facts: object) -> float | None:
        found = Recording(drifting, {**recording.provenance, **facts}, recording.robot)
        return figures_of(dataclasses.replace(tracks, recording=found))["arm_deviation_deg"]

    assert deviation() is None
    assert deviation(push=["30,0,0,0.1@2"]) == pytest.approx(math.degrees(0.1), abs=1e-6)
    joint = robot.joint(arm.joints[0])
    middle = 0.5 * (robot.limits.lower[joint.v - 6] + robot.limits.upper[joint.v - 6])
    towards = 1.0 if middle > robot.stance("standing").q[joint.q] + 0.9 else 0.0  # the drift is on the way there
    beyond = deviation(push=["30,0,0,0.1@2"], regulation={"comfort_posture": "middle"})
    assert beyond == pytest.approx((1.0 - towards) * math.degrees(0.1), abs=1e-6)


def test_a_spike_of_torque_is_measured_relative_to_the_limit(robot: Robot) -> None:
    tracks = synthetic_walk_trajectories(robot, SyntheticWalk())
    names = [joint.name for joint in robot.joints]
    limits = np.array([robot.limits.torque[joint.v - 6] for joint in robot.joints])
    smooth = 0.3 * np.sin(tracks.recording.time)[:, np.newaxis] * limits
    spike = smooth.copy()
    spike[200, 2] -= 1.1 * limits[2]  # from +0.27 to -0.83 of the limit

    def figures(torque: Array) -> dict[str, float | None]:
        still = Channel("v", "", np.zeros((len(torque), 6 + len(names))), CoordinateLabels.of(robot).v_labels)
        return figures_of(with_channels(tracks, still, Channel("command/torque", "N m", torque, tuple(names))))

    step = 0.3 * tracks.recording.period
    assert figures(smooth)["torque_jump"] == pytest.approx(step, rel=0.01)
    assert figures(spike)["torque_jump"] == pytest.approx(1.1, abs=2.0 * step)
    assert "torque_jump" in quality_messages(figures(spike), "walk")
    assert "torque_jump" not in quality_messages(figures(smooth), "walk")


def test_a_motion_without_steps_has_no_figures_of_a_walk(robot: Robot) -> None:
    figures = figures_of(synthetic_walk_trajectories(robot, SyntheticWalk(steps=0)))
    names = ("pelvis_pitch_deg", "pelvis_yaw_deg", "arm_swing_deg", "hand_correlation", "step_asymmetry")
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
    """The left forearm of the G1 overlaps its right arm by far more than a millimeter."""
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
        assert warning == (", ".join(f"{bound.warning:g} ({motion})" for motion, bound in bounds.items()) or "-")
        failing = [f"{each.failure:g} ({motion})" for motion, each in bounds.items() if math.isfinite(each.failure)]
        assert failure == (", ".join(failing) or "-")
