"""A report has the sections of its motion and no others."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from page_reader import Page, read_sections, value

from poise import runs
from poise.exports import Trajectory, replay_trajectory
from poise.recording import Recording
from poise.report import RECORDING_SECTIONS
from poise.report.balance_view import balance_section
from poise.report.recording_page import SECTION_NEEDS, applies, recording_page
from poise.report.recording_view import recording_views
from robot_states import installed_robot

#: Sections of every motion that a controller of Poise made.
CONTROLLED = {"summary", "overview", "key_frames", "joint_angles", "task_errors", "balance", "timing", "smoothness"}
TORQUES, FORCES, CELLS = {"joint_torques", "torque_limits"}, {"contact_forces"}, {"sole_pressure"}
STEPS, WALK, CYCLES = {"footprints"}, {"style_measures", "angular_momentum"}, {"gait_cycle"}
GUIDED = {"guided_motion"}

#: Motion with its parameters, and the sections that apply besides those of every motion.
MOTIONS: dict[str, tuple[type[runs.Motion], dict[str, Any], set[str]]] = {
    "reach, kinematic": (runs.Reach, {"settings": {"phase_duration": 0.4}, "mode": "kinematic"}, set()),
    "reach, torque": (runs.Reach, {"seconds": 0.1, "mode": "torque", "plant": "ideal"}, TORQUES | FORCES),
    "reach, MuJoCo": (runs.Reach, {"seconds": 1.5, "mode": "torque", "plant": "mujoco"}, TORQUES | FORCES | CELLS),
    "stand, torque": (runs.Stand, {"seconds": 0.2}, TORQUES | FORCES | CELLS),
    "stand, position": (runs.Stand, {"seconds": 0.2, "mode": "position"}, FORCES | CELLS),
    "squat, kinematic": (runs.Squat, {"seconds": 0.5, "mode": "kinematic"}, set()),
    "squat, torque": (runs.Squat, {"seconds": 0.2, "plant": "ideal", "mode": "torque"}, TORQUES | FORCES),
    "squat, position": (runs.Squat, {"seconds": 0.5, "mode": "position"}, FORCES | CELLS),
    "walk of two steps": (runs.Walk, {"steps": 2, "plant": "ideal"}, TORQUES | FORCES | STEPS | WALK),
    "walk, position": (runs.Walk, {"steps": 2, "mode": "position"}, FORCES | CELLS | STEPS | WALK),
    "navigate, MuJoCo": (
        runs.Navigate,
        {"seconds": 0.5, "random": True, "mode": "torque", "plant": "mujoco"},
        TORQUES | FORCES | CELLS | GUIDED,
    ),
    "navigate, kinematic": (runs.Navigate, {"seconds": 0.3, "random": True, "mode": "kinematic"}, GUIDED),
}


@cache
def run_and_record(name: str) -> Recording:
    motion, parameters, _ = MOTIONS[name]
    return motion(robot="nao", **parameters).run().recording


@cache
def replayed_walk() -> Recording:
    walk = runs.Walk(robot="nao", steps=2).run().recording
    recording, result = replay_trajectory(installed_robot("nao"), Trajectory.of(walk))
    assert not result["fell"]
    return recording


@pytest.mark.parametrize("name", MOTIONS)
def test_a_report_has_the_sections_of_its_motion_and_no_others(name: str) -> None:
    check_sections(run_and_record(name), CONTROLLED | MOTIONS[name][2])


@pytest.mark.parametrize("name", ["reach, kinematic", "stand, torque", "stand, position"])
def test_the_margin_of_the_page_is_that_of_the_result(name: str) -> None:
    recording = run_and_record(name)
    page = read_sections({"motion": recording}, balance_section)
    expected = 1e3 * recording.provenance["result"]["zmp_margin_m"]
    # With the noise of the sensors of servos, the result has the measured postures, and the page the true ones.
    assert value(page.cell("Balance", "motion", 2)) == pytest.approx(
        expected, rel=0.01, abs=4.0 if "position" in name else 0.01
    )


def test_the_report_of_a_replay_has_no_task_errors_but_the_steps_of_the_walk() -> None:
    check_sections(replayed_walk(), CONTROLLED - {"task_errors"} | FORCES | CELLS | STEPS | WALK)


def check_sections(recording: Recording, expected: set[str]) -> None:
    views = recording_views({"motion": recording})
    sections = {each.__name__.removesuffix("_section"): each for each in RECORDING_SECTIONS}
    for title, section in sections.items():
        if section in SECTION_NEEDS or title in ("summary", "overview"):
            assert applies(section, views) == (title in expected), title
        else:  # these find their data themselves
            assert (section(views) is not None) == (title in expected), title


#: Headings of whole pages, in their order.
BEGIN, END = ["Summary", "Overview", "Key frames"], ["Solver times and fallbacks", "Smoothness"]
LOADS = ["Contact forces", "Load and ZMP under each sole"]
REACH_HEADINGS = [
    *BEGIN,
    "Joint angles by limb",
    "Torques by limb",
    "Torques as a share of their limits",
    "Task errors by level",
    "Balance",
    *LOADS,
    *END,
]
REPLAY_HEADINGS = [
    *BEGIN, "Footprints", "Style measures", "Angular momentum", "Joint angles by limb", "Balance", *LOADS, *END
]  # fmt: skip


def test_the_headings_of_the_page_are_those_of_the_motion() -> None:
    for recording, headings in ((run_and_record("reach, MuJoCo"), REACH_HEADINGS), (replayed_walk(), REPLAY_HEADINGS)):
        assert list(Page(recording_page({"motion": recording})).sections) == headings


def test_a_comparison_needs_two_recordings() -> None:
    comparison = next(each for each in RECORDING_SECTIONS if each.__name__ == "comparison_section")
    one, two = run_and_record("reach, kinematic"), run_and_record("squat, kinematic")
    assert not applies(comparison, recording_views({"one": one}))
    assert applies(comparison, recording_views({"one": one, "two": two}))
