"""The page of a guided motion shows planned and actual paths, and the outcomes of its segments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from page_reader import Page, read_sections
from recorded_motions import BIPED, PARTS, kinematic_recording

from poise import Recording, runs
from poise.report.guided_motion import (
    MAX_TABLE_ROWS,
    POINT_COLORS,
    actual_paths,
    guided_motion_section,
    planned_paths,
    segment_summary,
)
from poise.report.recording_page import recording_page
from poise.report.recording_view import RecordingView, recording_views
from poise.robots import load_robot
from robot_states import installed_robot

TITLE = "Guided-point navigation"


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@cache
def guided_recording() -> Recording:
    return runs.Navigate(robot="mighty", seconds=4.0, seed=3).run()[0]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(recording_page({"guided": guided_recording()}))


def test_the_section_stands_after_the_key_frames(page: Page) -> None:
    assert list(page.sections)[3] == TITLE


def test_it_is_absent_without_guidance() -> None:
    still = kinematic_recording(load_robot(BIPED, **PARTS), 0.3)
    assert guided_motion_section(recording_views({"still": still})) is None


def test_there_are_loci_from_above_and_from_the_side_planned_and_actual(page: Page) -> None:
    captions = page.captions[TITLE]
    for view in ("above", "the side"):
        for word in ("planned", "actual"):
            assert f"guided: {word} paths, from {view}." in captions
    assert any("durations of segments" in caption for caption in captions)
    assert any("zero-moment point" in caption for caption in captions)


def test_every_segment_has_a_row(page: Page) -> None:
    found = guided_recording().provenance["segments"]
    rows = [row for row in page.tables[TITLE] if row[0].isdigit()]
    assert [row[2] for row in rows] == [each["mode"] for each in found]
    assert [float(row[3]) for row in rows] == pytest.approx([each["duration"] for each in found], abs=0.006)
    assert [row[5] for row in rows] == [each["outcome"] for each in found]


def test_of_many_segments_only_the_remarkable_ones_are_shown() -> None:
    (view,) = recording_views({"guided": guided_recording()})
    dull = {**guided_recording().provenance["segments"][0], "corrections": 0, "notes": [], "outcome": "commanded"}
    held = {**dull, "outcome": "stopped", "notes": ["stopped: a <reason>"]}
    page = Page("<section><h2>S</h2>" + segment_summary(view, [dull] * 2 * MAX_TABLE_ROWS + [held]) + "</section>")
    rows = [row for row in page.tables["S"] if row[0].isdigit()]
    assert [row[0] for row in rows] == [str(2 * MAX_TABLE_ROWS + 1)]
    assert rows[0][-1] == "stopped: a <reason>"


def test_planned_paths_are_those_of_the_recording_with_a_gap_between_segments() -> None:
    found = guided_recording().provenance["segments"]
    paths = planned_paths(found)
    assert set(paths) == set(POINT_COLORS)
    for name, path in paths.items():
        assert np.isnan(path).all(axis=1).sum() == len(found)
        first = np.array(found[0]["planned_paths"][name])
        assert (path[: len(first)] == first).all()


def test_actual_paths_are_those_of_the_model() -> None:
    recording, robot = guided_recording(), installed_robot("mighty")
    (view,) = recording_views({"guided": recording})
    actual_points = actual_paths(view, list(POINT_COLORS))
    assert actual_points is not None
    for i in (0, recording.samples // 2):
        state = recording.state(i, robot)
        foot = robot.foot("left")
        assert actual_points["left foot"][i] == pytest.approx(state.pose(foot).act(foot.sole.center))
        assert actual_points["right hand"][i] == pytest.approx(state.pose(robot.hand("right")).translation)
        assert actual_points["center"][i] == pytest.approx(state.center_of_mass)


def test_without_a_model_the_planned_paths_are_still_shown() -> None:
    section = guided_motion_section([RecordingView("guided", guided_recording(), None)])
    assert section is not None
    page = Page(f"<section><h2>{section.title}</h2>{section.html}</section>")
    assert any("planned paths" in caption for caption in page.captions[TITLE])
    assert not any("actual paths" in caption for caption in page.captions[TITLE])
    assert "since the model of its robot is missing" in page.sections[TITLE]


def test_the_world_is_drawn_if_the_recording_describes_it() -> None:
    recording = guided_recording()
    world = {
        "profile": [[-1, 0], [0.1, 0], [0.1, -0.1]],
        "edges": [[0.1, -1, 0.1, 1]],
        "door": [],
        "target": [[0.2, 0, 0]],
    }
    described = Recording(tuple(recording.channels.values()), {**recording.provenance, "world": world}, recording.robot)
    chart = [read_sections({"guided": each}, guided_motion_section).labels for each in (recording, described)]
    goals = [sum("goal B" in label for labels in each for label in labels) for each in chart]
    assert goals == [0, 4]
