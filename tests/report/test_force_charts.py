"""A page shows the load and the ZMP of each sole, from its force cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from page_reader import Page, value
from recorded_motions import BIPED, PARTS, dynamic_recording, kinematic_recording

from poise import Recording, runs
from poise.recording import Channel
from poise.report.force_charts import low_pass_cells, recorded_pushes, sole_pressure_section, sole_pressures
from poise.report.recording_view import recording_views
from poise.robots import Robot, load_robot
from poise.state import CELL_TIME_CONSTANT, sole_pressure

TITLE = "Load and ZMP under each sole"
CELLS = "measured/cells/left_foot"


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(BIPED, **PARTS)


@cache
def pushed_recording() -> Recording:
    """A push of 10 N for 0.1 s in MuJoCo."""
    return runs.Stand(robot="hoap3", seconds=1.0, push=["10,0,0,0.1@0.3"]).run()[0]  # type: ignore[call-arg]


def read_section(recordings: dict[str, Recording]) -> Page:
    """The section, as a page of its own."""
    section = sole_pressure_section(recording_views(recordings))
    assert section is not None
    assert section.title == TITLE
    return Page(f"<section><h2>{TITLE}</h2>{section.html}</section>")


def with_left_cells(recording: Recording, change: Callable[[np.ndarray], np.ndarray]) -> Recording:
    """The recording with changed cells under the left foot."""
    old = recording.channels[CELLS]
    new = Channel(CELLS, old.units, change(recording[CELLS].copy()), old.labels)
    channels = [new if c.key == CELLS else c for c in recording.channels.values()]
    return Recording(channels, recording.provenance, recording.robot)


def table_row(section_page: Page, name: str) -> list[str]:
    return next(cells for cells in section_page.tables[TITLE] if cells[0] == name)


def test_it_is_absent_without_cells_and_lists_recordings_without_cells(robot: Robot) -> None:
    still = kinematic_recording(robot, 0.3)
    assert sole_pressure_section(recording_views({"still": still})) is None
    mixed = read_section({"still": still, "felt": dynamic_recording(robot, 0.3)})
    assert "still: no force cells were recorded." in mixed.sections[TITLE]
    assert len(mixed.labels) == 6


def test_each_foot_has_its_force_and_both_directions_of_its_zmp_over_time() -> None:
    section_page = read_section({"stand": pushed_recording()})
    across = [("time (s)", name) for name in ("W (N)", "W (N)", "x (mm)", "x (mm)", "y (mm)", "y (mm)")]
    assert section_page.axes() == across
    sides = [("left" if "left foot" in caption else "right") for caption in section_page.captions[TITLE]]
    assert sides == ["left", "right"] * 3
    assert all({"toes", "heel"} <= set(figure) for figure in section_page.labels[2:4])


def test_the_table_has_the_values_of_the_smoothed_cells() -> None:
    recording = pushed_recording()
    section_page, robot = read_section({"stand": recording}), recording.robot
    assert robot is not None
    for foot in robot.feet:
        W, zmp = sole_pressure(foot, low_pass_cells(recording[f"measured/cells/{foot.name}"], recording.period))
        distance = 1e3 * np.hypot(*zmp.T)
        cells = table_row(section_page, f"stand, {foot.side}")
        expected = [W.mean(), np.sqrt(np.mean(distance**2)), distance.max(), recording.time[distance.argmax()]]
        assert [value(cell) for cell in cells[1:5]] == pytest.approx(expected, rel=5e-3, abs=6e-3)
        assert cells[5] == "100 %"


def test_both_soles_carry_the_weight_and_the_push_moves_the_zmp_to_the_toes() -> None:
    (view,) = recording_views({"stand": pushed_recording()})
    left, right = sole_pressures(view)
    assert view.robot is not None
    before, during = pushed_recording().time < 0.3, np.abs(pushed_recording().time - 0.37) < 0.03
    assert (left.amplitude + right.amplitude)[before] == pytest.approx(9.81 * view.robot.mass, rel=0.02)
    for pressure in (left, right):
        assert np.abs(pressure.zmp[before]).max() < 3e-3
        assert pressure.zmp[during, 0].max() > 5e-3


def test_pushes_of_the_recording_are_marked() -> None:
    (view,) = recording_views({"stand": pushed_recording()})
    (push,) = recorded_pushes(view)
    assert (push.time, push.duration) == (0.3, 0.1)
    assert "Bands mark pushes." in read_section({"stand": pushed_recording()}).sections[TITLE]


@pytest.mark.parametrize("push", ["hard", ["hard"], 3, None])
def test_invalid_pushes_are_ignored(robot: Robot, push: object) -> None:
    recording = dynamic_recording(robot, 0.2)
    odd = Recording(recording.channels.values(), {**recording.provenance, "push": push}, robot)
    assert "Bands mark pushes." not in read_section({"odd": odd}).sections[TITLE]


def test_smoothing_is_a_lag_of_first_order() -> None:
    """τ ẏ = x - y: after a step y = 1 - exp(-t / τ); a constant input is not changed."""
    period = 0.001
    step = np.ones((100, 4))
    step[0] = 0.0
    t = period * np.arange(100)
    assert low_pass_cells(step, period)[:, 2] == pytest.approx(1.0 - np.exp(-t / CELL_TIME_CONSTANT))
    assert low_pass_cells(np.full((50, 4), 7.0), period) == pytest.approx(np.full((50, 4), 7.0))


def test_smoothing_holds_through_gaps_and_takes_a_dead_cell_for_zero() -> None:
    cells = np.full((40, 4), 5.0)
    cells[:3] = cells[20:25] = np.nan
    assert low_pass_cells(cells, 0.002) == pytest.approx(np.full((40, 4), 5.0))
    cells[:, 1] = np.nan
    assert low_pass_cells(cells, 0.002) == pytest.approx(np.tile([5.0, 0.0, 5.0, 5.0], (40, 1)))


def test_a_foot_in_the_air_has_no_zmp_and_an_unloaded_one_no_row(robot: Robot) -> None:
    recording = dynamic_recording(robot, 0.3)

    def lift_foot(cells: np.ndarray) -> np.ndarray:
        cells[len(cells) // 2 :] = 0.0
        return cells

    (view,) = recording_views({"run": with_left_cells(recording, lift_foot)})
    left = sole_pressures(view)[0]
    assert np.isfinite(left.zmp[: recording.samples // 2]).all()
    assert np.isnan(left.zmp[-1]).all()
    assert left.amplitude[-1] < 0.02 * 9.81 * robot.mass
    never = read_section({"run": with_left_cells(recording, lambda cells: np.full_like(cells, np.nan))})
    assert [cells[0] for cells in never.tables[TITLE][1:]] == ["run, right"]
    idle = read_section({"run": with_left_cells(recording, np.zeros_like)})
    assert table_row(idle, "run, left")[1:] == ["0", *["\N{EN DASH}"] * 4]


def test_a_zmp_on_the_edge_is_not_inside_and_only_all_samples_are_100_per_cent(robot: Robot) -> None:
    def tip_forward(cells: np.ndarray) -> np.ndarray:
        cells[-1, 1:3] = -1e6  # no load at the back
        return cells

    recording = with_left_cells(dynamic_recording(robot, 0.6), tip_forward)
    (view,) = recording_views({"run": recording})
    left, right = sole_pressures(view)
    assert left.zmp[-1, 0] == pytest.approx(left.half_size[0])
    assert left.inside_share == pytest.approx(1.0 - 1.0 / recording.samples)
    assert right.inside_share == 1.0
    section_page = read_section({"run": recording})
    assert table_row(section_page, "run, right")[5] == "100 %"
    assert value(table_row(section_page, "run, left")[5]) == pytest.approx(100.0 * left.inside_share, abs=0.1)


def test_without_the_model_or_with_other_cells_there_are_no_soles(robot: Robot) -> None:
    recording = dynamic_recording(robot, 0.2)
    lost = Recording(recording.channels.values(), {"robot": "no_such_robot"})
    assert "lost: no soles with these cells, since" in read_section({"lost": lost}).sections[TITLE]
    three = [c for c in recording.channels.values() if "cells" not in c.key]
    three.append(Channel(CELLS, "N", np.ones((recording.samples, 3)), ("a", "b", "c")))
    odd = Recording(three, recording.provenance, robot)
    assert "odd: no soles with these cells, since" in read_section({"odd": odd}).sections[TITLE]
