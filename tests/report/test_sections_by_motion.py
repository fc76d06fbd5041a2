"""A report has the sections of its motion and no others."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from poise import runs
from poise.recording import Recording
from poise.report import RECORDING_SECTIONS
from poise.report.recording_page import SECTION_NEEDS, applies
from poise.report.recording_view import recording_views

#: Sections of every motion that a controller of Poise made.
CONTROLLED = {"summary", "overview", "key_frames", "joint_angles", "task_errors", "balance", "timing", "smoothness"}
TORQUES, FORCES, CELLS = {"joint_torques", "torque_limits"}, {"contact_forces"}, {"sole_pressure"}
STEPS, WALK, CYCLES = {"footprints"}, {"style_measures", "angular_momentum"}, {"gait_cycle"}
GUIDED = {"guided_motion"}

#: Motion with its parameters, and the sections that apply besides those of every motion.
MOTIONS: dict[str, tuple[type[runs.Motion], dict[str, Any], set[str]]] = {
    "reach, kinematic": (runs.Reach, {"settings": {"phase_duration": 0.4}, "mode": "kinematic"}, set()),
    "reach, torque": (runs.Reach, {"seconds": 0.1, "mode": "torque", "plant": "ideal"}, TORQUES | FORCES),
    "stand, torque": (runs.Stand, {"seconds": 0.2}, TORQUES | FORCES | CELLS),
    "stand, position": (runs.Stand, {"seconds": 0.2, "mode": "position"}, FORCES | CELLS),
    "squat, kinematic": (runs.Squat, {"seconds": 0.5, "mode": "kinematic"}, set()),
    "squat, torque": (runs.Squat, {"seconds": 0.2, "plant": "ideal", "mode": "torque"}, TORQUES | FORCES),
    "walk of two steps": (runs.Walk, {"steps": 2, "plant": "ideal"}, TORQUES | FORCES | STEPS | WALK),
    "navigate, kinematic": (runs.Navigate, {"seconds": 0.3, "random": True, "mode": "kinematic"}, GUIDED),
}


@cache
def run_and_record(name: str) -> Recording:
    motion, parameters, _ = MOTIONS[name]
    return motion(robot="nao", **parameters).run().recording


@pytest.mark.parametrize("name", MOTIONS)
def test_a_report_has_the_sections_of_its_motion_and_no_others(name: str) -> None:
    views = recording_views({"motion": run_and_record(name)})
    sections = {each.__name__.removesuffix("_section"): each for each in RECORDING_SECTIONS}
    expected = CONTROLLED | MOTIONS[name][2]
    for title, section in sections.items():
        if section in SECTION_NEEDS or title in ("summary", "overview"):
            assert applies(section, views) == (title in expected), title
        else:  # these find their data themselves
            assert (section(views) is not None) == (title in expected), title


def test_a_comparison_needs_two_recordings() -> None:
    comparison = next(each for each in RECORDING_SECTIONS if each.__name__ == "comparison_section")
    one, two = run_and_record("reach, kinematic"), run_and_record("squat, kinematic")
    assert not applies(comparison, recording_views({"one": one}))
    assert applies(comparison, recording_views({"one": one, "two": two}))
