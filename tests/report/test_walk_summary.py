"""A page of walks shows footprints, gait cycles and momentum, with the measures of the analysis."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np
import pytest
from page_reader import Page, read_sections, value
from recorded_motions import BIPED, PARTS, kinematic_recording

from poise.analysis import STYLE_MEASURES, analyze_walk, style_measures
from poise.recording import Recording
from poise.report.cycle_curves import gait_cycle_section
from poise.report.recording_page import recording_page
from poise.report.walk_summary import (
    angular_momentum_section,
    compare_measure,
    footprints_section,
    format_measure,
    sole_outline,
    style_measures_section,
)
from poise.robots import Robot, load_robot
from robot_states import not_none
from synthetic_walks import SyntheticWalk, biped, synthetic_recording

TITLES = ["Footprints", "Style measures", "Gait cycle", "Angular momentum"]
WALK_SECTIONS = (footprints_section, style_measures_section, gait_cycle_section, angular_momentum_section)
RAILS = {
    "neutral": SyntheticWalk(steps=8, period=0.01),
    "slow": SyntheticWalk(steps=8, period=0.01, length=0.1, single=0.7, double=0.2, height=0.1),
}


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


@pytest.fixture(scope="module")
def walks(robot: Robot) -> dict[str, Recording]:
    return {
        name: synthetic_recording(robot, synthetic_walk, 0.2 * (k + 1))
        for k, (name, synthetic_walk) in enumerate(RAILS.items())
    }


@pytest.fixture(scope="module")
def page(walks: dict[str, Recording]) -> Page:
    return Page(recording_page(walks))


def test_walks_have_their_sections_after_the_key_frames(page: Page, walks: dict[str, Recording]) -> None:
    titles = list(page.sections)
    assert titles[3:7] == TITLES
    alone = read_sections({"neutral": walks["neutral"]}, *WALK_SECTIONS)
    assert list(alone.sections) == TITLES


def test_walk_sections_are_absent_without_a_walk_and_list_recordings_without_one(walks: dict[str, Recording]) -> None:
    still = kinematic_recording(load_robot(BIPED, **PARTS), 0.3)
    assert not read_sections({"still": still}, *WALK_SECTIONS).sections
    mixed = read_sections({"still": still, "walk": walks["neutral"]}, *WALK_SECTIONS)
    assert list(mixed.sections) == TITLES
    assert "still: no walk with two or more steps" in mixed.sections["Style measures"]


def test_the_table_of_style_holds_the_measures_and_compares_them(page: Page, walks: dict[str, Recording]) -> None:
    found = {
        name: style_measures(analyze_walk(recording, not_none(recording.robot))) for name, recording in walks.items()
    }
    for name, measure in STYLE_MEASURES.items():
        values = [getattr(own, name) for own in found.values()]
        row = next((cells for cells in page.tables["Style measures"] if measure.description in cells[0]), None)
        if all(map(math.isnan, values)):
            assert row is None, name
            continue
        assert row is not None, name
        assert row[0].startswith(name.replace("_", " "))
        assert row[1:] == [
            *(format_measure(measure, each) for each in values),
            compare_measure(measure, values[1], values[0]),
        ]
    cadence = next(cells for cells in page.tables["Style measures"] if cells[0].startswith("cadence"))
    assert value(cadence[1]) == pytest.approx(120.0, rel=0.02)
    assert value(cadence[3].removeprefix("\N{MULTIPLICATION SIGN}")) == pytest.approx(0.5 / 0.9, rel=0.02)


def test_steps_are_shown_with_their_spread(page: Page) -> None:
    assert page.cell("Footprints", "steps", 1) == "neutral"
    rows = {cells[0]: cells[1:] for cells in page.tables["Footprints"][1:]}
    assert rows["steps"] == ["8", "8"]
    assert rows["of which steady"] == ["4", "4"]
    assert [value(cell.split(" (")[0]) for cell in rows["length (mm)"]] == pytest.approx([200.0, 100.0])
    assert [value(cell.split(" (")[0]) for cell in rows["height (mm)"]] == pytest.approx([50.0, 100.0], rel=0.02)


def test_a_short_walk_has_no_steady_steps(robot: Robot) -> None:
    recording = synthetic_recording(robot, SyntheticWalk(steps=4, period=0.01))
    rows = {cells[0]: cells[1] for cells in Page(recording_page({"short": recording})).tables["Footprints"][1:]}
    assert (rows["steps"], rows["of which steady"]) == ("4", "none; all count")


def test_soles_are_drawn_as_large_and_where_they_are(robot: Robot, walks: dict[str, Recording]) -> None:
    walk = analyze_walk(walks["neutral"], robot)
    for each, (side, place, _) in zip(walk.footprints, RAILS["neutral"].footprints(), strict=True):
        corners = sole_outline(walk, each)
        size = robot.foot(side).sole
        assert np.ptp(corners, axis=0) == pytest.approx([size.x_max - size.x_min, size.y_max - size.y_min])
        assert corners.mean(axis=0) == pytest.approx(place[:2], abs=1e-8)


def test_the_range_of_a_joint_over_the_gait_cycle_is_shown(
    page: Page, robot: Robot, walks: dict[str, Recording]
) -> None:
    recording = walks["neutral"]
    walk = analyze_walk(recording, robot)
    own = [np.ptp(walk.curves(np.degrees(recording[f"q/{side}_knee"]), side).mean) for side in ("left", "right")]
    caption = next(text for text in page.captions["Gait cycle"] if text.startswith("knee"))
    match = re.search(r"neutral ([\d.]+) deg", caption)
    assert match is not None
    assert float(match[1]) == pytest.approx(np.mean(own), rel=0.05)


def test_every_figure_of_a_walk_has_axes_with_units(page: Page) -> None:
    texts = [figure for figure in page.labels if "gait cycle (%)" in figure]
    assert len(texts) == 10  # five joints of a leg, angles and torques
    assert all(len(axes) == 2 for axes, figure in zip(page.axes(), page.labels, strict=True) if figure in texts)
    assert any("L (kg m²/s)" in figure for figure in page.labels)


def test_phases_of_a_walk_are_counted_and_not_listed(page: Page) -> None:
    rows = {cells[0]: cells[1:] for cells in page.tables["Overview"] if cells}
    assert rows["left support"][0] == "4"
    assert value(rows["right support"][1]) == pytest.approx(0.4, abs=0.02)


def test_a_walk_without_torques_is_reported(walks: dict[str, Recording], robot: Robot) -> None:
    bare = [c for c in walks["neutral"].channels.values() if c.key != "command/torque"]
    text = read_sections({"bare": Recording(bare, {}, robot)}, gait_cycle_section).sections["Gait cycle"]
    assert "bare: no torques were recorded" in text
