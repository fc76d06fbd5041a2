"""A page shows the angles of every joint, and the differences between the cycles of a squat."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from page_reader import Page, value
from recorded_motions import BIPED, PARTS, kinematic_recording

from poise import Recording, runs
from poise.analysis import cycle_difference
from poise.recording import Channel
from poise.report.joint_angles import joint_angles_section
from poise.report.recording_view import recording_views
from poise.robots import Robot, load_robot

TITLE = "Joint angles by limb"


@cache
def squat_recording(cycles: float = 4.0, seconds: float | None = None) -> Recording:
    settings = {"cycles": cycles, "frequency": 1.0}
    request = runs.Squat(robot="hoap3", mode="kinematic", plant="ideal", seconds=seconds, settings=settings)
    return request.run()[0]


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(BIPED, **PARTS)


def read_section(recordings: dict[str, Recording]) -> Page:
    """The section, as a page of its own."""
    return Page(f"<section><h2>{TITLE}</h2>{joint_angles_section(recording_views(recordings)).html}</section>")


def test_every_joint_is_named_in_the_figure_of_its_limb(robot: Robot) -> None:
    section_page = read_section({"reach": kinematic_recording(robot, 0.4)})
    captions = section_page.captions[TITLE]
    for limb in ("left leg", "right leg", "left arm", "right arm"):
        assert sum(f"reach, {limb}:" in caption for caption in captions) == 1
    assert sum("knee" in figure for figure in section_page.labels) == 2
    assert all(axes == ("time (s)", "angle (°)") for axes in section_page.axes())


def test_the_joint_that_moves_most_is_the_one_of_the_recording(robot: Robot) -> None:
    recording = kinematic_recording(robot, 0.4)
    ranges = np.degrees(np.ptp(recording["q"][:, 7:], axis=0))
    name = recording.labels["q"][7:][int(ranges.argmax())]
    text = read_section({"reach": recording}).sections[TITLE]
    count = int((ranges >= 1.0).sum())
    assert f"Of {len(ranges)} joints of reach, {count} move by 1° or more; {name} moves most" in text
    assert f"by {ranges.max():.3g}°" in text


def test_cycles_are_compared_as_the_analysis_does() -> None:
    section_page = read_section({"squat": squat_recording()})
    apart = 1e3 * cycle_difference(squat_recording(), 1.0)
    row = next(cells for cells in section_page.tables[TITLE] if cells[0] == "squat")
    assert row[1:3] == ["4", "1.00"]
    for cell, each in ((row[3], apart[0]), (row[4], apart[1]), (row[5], apart[-1])):
        whole, worst = (value(word.strip("()")) for word in cell.split())
        assert whole == pytest.approx(np.sqrt(np.mean(each**2)), rel=5e-3)
        assert worst == pytest.approx(each.max(), rel=5e-3)
    assert row[6] == squat_recording().labels["q"][7:][int(apart[-1].argmax())]
    assert ("cycle (count)", "difference (mrad)") in section_page.axes()


def test_rest_after_the_last_cycle_is_no_cycle() -> None:
    longer = read_section({"squat": squat_recording(3.0, 6.0)})
    assert next(cells for cells in longer.tables[TITLE] if cells[0] == "squat")[1] == "3"


def test_cycles_that_are_the_same_can_be_drawn() -> None:
    time = np.arange(400) * 0.01
    labels = ("x", "y", "z", "qx", "qy", "qz", "qw", "knee")
    q = Channel("q", ("m",) * 3 + ("",) * 4 + ("rad",), np.zeros((400, 8)), labels)
    still = Recording([Channel("time", "s", time), q], {"behavior": "squat", "settings": {"frequency": 1.0}})
    section_page = read_section({"still": still})
    assert next(cells for cells in section_page.tables[TITLE] if cells[0] == "still")[3:6] == ["0 (0)"] * 3


@pytest.mark.parametrize("cycles", [1.0, 0.5])
def test_one_cycle_is_not_compared(cycles: float) -> None:
    assert "From cycle to cycle" not in read_section({"squat": squat_recording(cycles)}).sections[TITLE]


def test_a_motion_without_cycles_has_no_cycle_comparison(robot: Robot) -> None:
    assert "cycle" not in read_section({"reach": kinematic_recording(robot, 0.4)}).sections[TITLE]


def test_recordings_are_compared_and_those_without_angles_are_listed(robot: Robot) -> None:
    bare = Recording([Channel("time", "s", np.arange(5) * 0.1)])
    section_page = read_section({"reach": kinematic_recording(robot, 0.4), "squat": squat_recording(), "bare": bare})
    assert "bare: no joint angles were recorded." in section_page.sections[TITLE]
    assert sum("left leg" in caption for caption in section_page.captions[TITLE]) == 2
