"""The reach of [Saab2012], section 3.2, on two robots and with both profiles."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import pinocchio
import pytest

from poise import ControlStep, IdealPlant, KinematicController, constraints, steps
from poise.arrays import Array
from poise.behaviors import REACH_TARGETS, Reach, ReachSettings, default_targets, load_reach_points
from poise.behaviors.reach import Profile
from poise.errors import PoiseError
from poise.robots import Frame, State
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models

PERIOD = 0.005
#: Drift of linearized tasks before feedback corrects it, m.
DRIFT = 5e-4

each_run = pytest.mark.parametrize(("name", "profile"), [(n, p) for n in ("g1", "talos") for p in get_args(Profile)])


class Run(NamedTuple):
    """A reach, and its steps grouped by phase."""

    reach: Reach
    phases: list[list[ControlStep]]

    @property
    def steps(self) -> list[ControlStep]:
        return [step for phase in self.phases for step in phase]


@cache
def run(name: str, profile: Profile, apart: float = ReachSettings.min_body_distance, targets: str = "middle") -> Run:
    reach = Reach(installed_robot(name), ReachSettings(min_body_distance=apart), profile, targets)
    every = list(steps(KinematicController(reach, period=PERIOD), IdealPlant(reach.start), reach.seconds))
    count = round(reach.settings.phase_duration / PERIOD)
    return Run(reach, [every[i : i + count] for i in range(0, len(every), count)])


def hand_positions(of: list[ControlStep]) -> Array:
    return np.array([step.state.pose(step.state.robot.hand("right")).translation for step in of])


@each_run
def test_every_point_is_reached(name: str, profile: Profile) -> None:
    reach, phases = run(name, profile)
    for phase, part in zip(reach.phases, phases, strict=True):
        distance = np.linalg.norm(hand_positions(part)[-1] - phase.point)
        assert distance < 0.005, phase.name


@each_run
def test_the_free_foot_and_the_hand_with_the_cup_stay_in_their_boxes(name: str, profile: Profile) -> None:
    reach, _ = run(name, profile)
    robot, settings = reach.robot, reach.settings
    for frame, half in (
        (robot.foot("left"), settings.foot_box * robot.height),
        (robot.hand("left"), settings.hand_box * robot.height),
    ):
        middle = reach.start.pose(frame).translation
        away = np.array([step.state.pose(frame).translation - middle for step in run(name, profile).steps])
        assert np.abs(away).max() < half + DRIFT


@each_run
def test_the_supporting_foot_and_the_balance_are_held(name: str, profile: Profile) -> None:
    reach, _ = run(name, profile)
    support = reach.robot.foot("right")
    held = reach.start.pose(support)
    for step in run(name, profile).steps:
        moved = held.actInv(step.state.pose(support))
        assert np.linalg.norm(moved.translation) < 0.001
        assert np.linalg.norm(step.state.center_of_mass[:2] - reach.start.support_center) < 0.001


@each_run
def test_at_the_end_of_its_phase_a_target_is_looked_at(name: str, profile: Profile) -> None:
    reach, phases = run(name, profile)
    gaze = reach.robot.gaze
    assert any(phase.is_target for phase in reach.phases)
    for phase, part in zip(reach.phases, phases, strict=True):
        if phase.is_target:
            relative_position = part[-1].state.pose(gaze).actInv(np.array(phase.point))
            angle = np.arccos(relative_position @ np.array(gaze.axis) / np.linalg.norm(relative_position))
            assert angle < 0.02, phase.name


@each_run
def test_joints_stay_inside_their_ranges_and_below_their_share_of_speed(name: str, profile: Profile) -> None:
    reach, _ = run(name, profile)
    limits = reach.robot.limits
    q = np.array([step.state.q[7:] for step in run(name, profile).steps])
    v = np.array([step.command.velocity[6:] for step in run(name, profile).steps])
    assert (q >= limits.lower - 1e-12).all()
    assert (q <= limits.upper + 1e-12).all()
    assert (np.abs(v) <= reach.settings.speed_share * limits.velocity + 1e-12).all()


@each_run
def test_commands_neither_fall_back_nor_rattle(name: str, profile: Profile) -> None:
    every = run(name, profile).steps
    assert {step.command.fallback for step in every} == {""}
    acceleration = np.diff([step.command.velocity[6:] for step in every], axis=0) / PERIOD
    before, after = acceleration[:-1], acceleration[1:]
    turning = (before * after < 0.0) & (np.minimum(np.abs(before), np.abs(after)) > 2.0)  # rad/s²
    assert turning.any(axis=1).mean() < 0.06  # where a limit becomes active or inactive; rattling is half and more


@each_run
def test_the_hand_stays_well_above_the_ground(name: str, profile: Profile) -> None:
    heights = hand_positions(run(name, profile).steps)[:, 2]
    assert heights.min() > 0.3 * installed_robot(name).height


@pytest.mark.parametrize("name", ["g1", "talos"])
def test_minimum_jerk_starts_without_the_peak_of_the_exponential_profile(name: str) -> None:
    peaks: dict[Profile, tuple[Array, Array, Array]] = {}
    for profile in get_args(Profile):
        reach, phases = run(name, profile, apart=0.0)  # collision avoidance bends the curve
        speed, when, acceleration = [], [], []
        for phase, part in zip(reach.phases, phases, strict=True):
            p = hand_positions(part)
            distance = np.linalg.norm(p[0] - phase.point)
            v = np.diff(p, axis=0) / PERIOD
            sizes = np.linalg.norm(v, axis=1) / distance
            speed.append(sizes.max())
            when.append(sizes.argmax() * PERIOD / reach.settings.phase_duration)
            acceleration.append((np.linalg.norm(np.diff(v, axis=0), axis=1) / PERIOD / distance).max())
        peaks[profile] = np.array(speed), np.array(when), np.array(acceleration)
    (fast, early, hard), (calm, late, soft) = peaks["exponential"], peaks["minimum-jerk"]
    # A minimum-jerk curve is fastest in its middle, 15/8 of its mean speed; it takes nine tenths of the phase.
    np.testing.assert_allclose(calm, 1.875 / (0.9 * ReachSettings.phase_duration), rtol=0.02)
    np.testing.assert_allclose(late, 0.45, atol=0.02)
    assert (early < 0.15).all()
    assert (fast > 2.0 * calm).all()
    assert (hard > 2.0 * soft).all()


def test_the_stack_is_that_of_the_paper_in_every_phase() -> None:
    reach, _ = run("g1", "exponential")
    below = {"IP1": [], "target 1": ["gaze"], "IP2": [], "target 2": ["gaze"], "target 3": ["gaze"]}
    assert [phase.name for phase in reach.phases] == list(below)
    for phase, hierarchy in zip(reach.phases, reach.hierarchies, strict=True):
        names = [level.name for level in hierarchy.levels]
        assert names == ["contact", "balance", "left foot", "left hand", "right hand", *below[phase.name], "posture"]


def test_unchanged_levels_are_the_same_objects_in_all_phases() -> None:
    first, *others = run("g1", "exponential").reach.hierarchies
    assert {first.common_levels(other) for other in others} == {4}


def test_the_phase_is_a_function_of_time() -> None:
    reach, phases = run("g1", "exponential")
    assert reach.phase(-1.0) == reach.phases[0]
    assert reach.phase(1e9) == reach.phases[-1]
    for phase, part in zip(reach.phases, phases, strict=True):
        assert {reach.phase(step.state.time) for step in part} == {phase}


def test_a_longer_reach_puts_the_points_further_out_but_no_higher() -> None:
    near, far = Reach(installed_robot("g1")), Reach(installed_robot("g1"), ReachSettings(reach_scale=1.2))
    foot = near.start.pose(near.robot.foot("right"))
    for one, other in zip(near.phases, far.phases, strict=True):
        a, b = foot.actInv(np.array(one.point)), foot.actInv(np.array(other.point))
        np.testing.assert_allclose(b, a * [1.2, 1.2, 1.0], atol=1e-9)


def test_misses_are_distances_of_the_hand_from_its_points() -> None:
    reach, phases = run("g1", "minimum-jerk")
    ends = {phase.name: part[-1].state for phase, part in zip(reach.phases, phases, strict=True)}
    assert reach.reach_errors(ends).keys() == ends.keys()
    assert max(reach.reach_errors(ends).values()) < 0.005
    assert reach.reach_errors({"target 3": reach.start})["target 3"] > 0.05


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), "2", None])
def test_a_setting_that_is_no_positive_number_is_refused(value: object) -> None:
    with pytest.raises(PoiseError, match=r"reach: phase_duration is .*; expected a positive number"):
        ReachSettings(phase_duration=value)  # type: ignore[arg-type]


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(PoiseError, match="'exponential' or 'minimum-jerk'"):
        Reach(installed_robot("g1"), profile="jerky")  # type: ignore[arg-type]


@each_run
def test_bodies_keep_apart(name: str, profile: Profile) -> None:
    reach, phases = run(name, profile)
    (apart,) = [task for task in reach.hierarchies[0].always if isinstance(task, constraints.SelfCollision)]
    min_gaps = dict(zip(apart.pairs, apart.min_gaps, strict=True))
    start = apart.gaps(reach.start)  # Talos starts with its cup nearer to its pelvis
    for part in phases:
        for step in part[::40]:
            for pair, gap in apart.gaps(step.state).items():
                assert gap > min(min_gaps[pair], start[pair]) - 2e-3, pair


# -- targets -----------------------------------------------------------------------------------------------------------


def test_targets_are_near_the_floor_unless_arms_are_too_short_or_motors_too_weak() -> None:
    for name in ("g1", "human", "talos"):
        assert default_targets(installed_robot(name)) == ("floor", "")
    assert Reach(installed_robot("hoap3")).targets == "middle"
    assert re.fullmatch(r"floor is out of reach by \d+ mm", Reach(installed_robot("hoap3")).targets_reason)
    assert re.fullmatch(
        r"floor needs \d{3} % of the torque limit of RHipYaw", default_targets(installed_robot("romeo")).reason
    )


def test_talos_holds_all_points_near_the_floor_by_bending_its_knee() -> None:
    """The share of the torque limits is measured with inverse dynamics, without the constraint that keeps it."""
    talos = installed_robot("talos")
    knee = talos.joint("leg_right_4_joint").q
    straight = Reach(talos, ReachSettings(holding_share=0.0), targets="floor")
    bent = Reach(talos, targets="floor")
    shares, knees = {}, {}
    for reach in (straight, bent):
        poses = [reach.final_pose(phase) for phase in reach.phases]
        errors = reach.reach_errors({phase.name: pose for phase, pose in zip(reach.phases, poses, strict=True)})
        assert max(errors.values()) < 1e-3
        shares[reach] = max(np.max(np.abs(rest_torques(pose)) / talos.limits.torque) for pose in poses)
        knees[reach] = max(pose.q[knee] for pose in poses)
    assert shares[straight] > 1.2
    assert shares[bent] < 0.9 + 1e-3
    assert knees[bent] > knees[straight] + 0.2


def rest_torques(state: State) -> Array:
    """Return the torques of RNEA at rest, with the weight as a force through the center of mass on the support foot."""
    model, (foot,) = state.robot.model, state.contacts
    data = model.createData()
    pinocchio.forwardKinematics(model, data, state.q)
    joint = model.frames[foot.index].parentJoint
    world_wrench = pinocchio.Force(
        np.array([0.0, 0.0, state.robot.weight]), np.cross(state.center_of_mass, [0.0, 0.0, state.robot.weight])
    )
    forces = pinocchio.StdVec_Force([pinocchio.Force.Zero() for _ in range(model.njoints)])
    forces[joint] = data.oMi[joint].actInv(world_wrench)
    torques = pinocchio.rnea(model, data, state.q, np.zeros(model.nv), np.zeros(model.nv), forces)
    np.testing.assert_allclose(torques[:6], 0.0, atol=1e-8)
    return torques[6:]


def test_each_target_set_in_the_list_is_lower_than_the_one_before() -> None:
    heights = [points["target 1"][2] for points in REACH_TARGETS.values()]
    assert list(REACH_TARGETS) == ["near", "middle", "floor"]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize("targets", ["middle", "floor"])
def test_the_third_target_does_not_bend_the_trunk_backwards(targets: str) -> None:
    for name in ("g1", "talos"):
        reach, phases = run(name, "exponential", targets=targets)
        end = phases[-1][-1].state
        chest = reach.robot.chest
        assert chest is not None
        up = reach.robot.stance("standing").pose(chest).rotation
        lean = (end.pose(chest).rotation @ up.T)[0, 2]
        assert np.degrees(np.arcsin(lean)) > -5.0


@pytest.mark.parametrize("name", ["g1", "talos"])
def test_targets_near_the_floor_are_reached_inside_the_boxes_and_in_balance(name: str) -> None:
    """Fast motions drift from linearized boxes by a few millimeters within a period of 5 ms."""
    reach = Reach(installed_robot(name), profile="minimum-jerk", targets="floor")
    every = list(steps(KinematicController(reach, period=PERIOD), IdealPlant(reach.start), reach.seconds))
    states = [step.state for step in every]
    ends = {phase.name: states[round(phase.end / PERIOD) - 1] for phase in reach.phases}
    errors = reach.reach_errors(ends)
    assert max(errors.values()) < 0.005
    assert float(ends["target 1"].pose(reach.robot.hand("right")).translation[2]) < 0.15 * reach.robot.height
    assert max(reach.box_violation(part, states) for part in ("hand", "foot")) < 0.005
    off = max(np.linalg.norm(state.center_of_mass[:2] - reach.start.support_center) for state in states)
    assert off < 0.005


def test_static_torques_balance_the_change_of_potential_energy() -> None:
    """For a motion δq that keeps the foot in place: τᵀ δq = m g δc_z."""
    reach = Reach(installed_robot("talos"), targets="floor")
    state = reach.final_pose(reach.phases[1])
    robot, (foot,) = state.robot, state.contacts
    torques = constraints.static_torques(state)
    J = robot_jacobian(state, foot)
    generator = np.random.default_rng(5)
    for _ in range(5):
        joints = generator.normal(size=len(torques))
        base = -np.linalg.solve(J[:, :6], J[:, 6:] @ joints)
        step = 1e-6 * np.concatenate([base, joints])
        ahead, behind = (state.replace(q=pinocchio.integrate(robot.model, state.q, s)) for s in (step, -step))
        rise = (ahead.center_of_mass[2] - behind.center_of_mass[2]) / 2e-6
        assert torques @ joints == pytest.approx(robot.weight * rise, rel=1e-5, abs=1e-3)


def robot_jacobian(state: State, frame: Frame) -> Array:
    model, data = state.robot.model, state.robot.model.createData()
    pinocchio.computeJointJacobians(model, data, state.q)
    pinocchio.updateFramePlacements(model, data)
    return pinocchio.getFrameJacobian(model, data, frame.index, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)


def test_targets_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('IP = [0.25, -0.1, 0.5]\n"cup" = [0.28, -0.1, 0.45]\n')
    reach = Reach(installed_robot("g1"), targets=str(file))
    assert [(phase.name, phase.is_target) for phase in reach.phases] == [("IP", False), ("cup", True)]
    assert reach.seconds == pytest.approx(2 * reach.settings.phase_duration)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cup = [0.1, 0.2]", "cup is .*; expected .forward, left, up."),
        ('cup = [0.1, 0.2, "high"]', "cup is .*; expected .forward, left, up."),
        ("IP1 = [0.1, 0.2, 0.3]", "has no target"),
        ("cup = ", "is not a TOML file"),
    ],
)
def test_a_file_of_another_form_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(PoiseError, match=message):
        load_reach_points(str(file))


def test_unknown_targets_are_refused() -> None:
    with pytest.raises(PoiseError, match=r"expected near, middle, floor, or a \.toml file"):
        load_reach_points("ceiling")
