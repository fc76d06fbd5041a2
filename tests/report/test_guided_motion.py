"""A page of a guided motion shows where its points were to go and went, and what became of its segments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from reading_pages import Page
from recorded_motions import BIPED, PARTS, kinematic

from poise import Recording, runs
from poise.report.guided_motion import POINTS, ROWS, actual, loci, planned, segments
from poise.report.recording_page import page
from poise.report.recording_view import Subject, subjects
from poise.robots import load_robot
from robot_states import robot_of

TITLE = "Guided-point navigation"


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@cache
def guided() -> Recording:
    return runs.Navigate(robot="mighty", seconds=4.0, seed=3).run()[0]


@pytest.fixture(scope="module")
def read() -> Page:
    return Page(page({"guided": guided()}))


def test_the_section_stands_after_the_key_frames(read: Page) -> None:
    assert list(read.sections)[2] == TITLE


def test_it_is_absent_where_nobody_is_guided() -> None:
    still = kinematic(load_robot(BIPED, **PARTS), 0.3)
    assert loci(subjects({"still": still})) is None


def test_there_are_loci_from_above_and_from_the_side_planned_and_actual(read: Page) -> None:
    captions = read.captions[TITLE]
    for view in ("above", "the side"):
        for word in ("planned", "actual"):
            assert f"guided: {word} loci, from {view}." in captions
    assert any("durations of segments" in caption for caption in captions)
    assert any("zero-moment point" in caption for caption in captions)


def test_every_segment_has_a_row(read: Page) -> None:
    found = guided().provenance["segments"]
    rows = [row for row in read.tables[TITLE] if row[0].isdigit()]
    assert [row[2] for row in rows] == [each["mode"] for each in found]
    assert [float(row[3]) for row in rows] == pytest.approx([each["seconds"] for each in found], abs=0.006)
    assert [row[5] for row in rows] == [each["outcome"] for each in found]


def test_of_many_segments_those_are_shown_of_which_there_is_something_to_say() -> None:
    (subject,) = subjects({"guided": guided()})
    dull = {**guided().provenance["segments"][0], "corrections": 0, "notes": [], "outcome": "commanded"}
    held = {**dull, "outcome": "held", "notes": ["held: a <reason>"]}
    read = Page("<section><h2>S</h2>" + segments(subject, [dull] * 2 * ROWS + [held]) + "</section>")
    rows = [row for row in read.tables["S"] if row[0].isdigit()]
    assert [row[0] for row in rows] == [str(2 * ROWS + 1)]
    assert rows[0][-1] == "held: a <reason>"


def test_planned_ways_are_those_of_the_recording_with_a_gap_between_segments() -> None:
    found = guided().provenance["segments"]
    ways = planned(found)
    assert set(ways) == set(POINTS)
    for name, way in ways.items():
        assert np.isnan(way).all(axis=1).sum() == len(found)
        first = np.array(found[0]["planned"][name])
        assert (way[: len(first)] == first).all()


def test_actual_ways_are_where_the_model_says() -> None:
    recording, robot = guided(), robot_of("mighty")
    (subject,) = subjects({"guided": recording})
    did = actual(subject, list(POINTS))
    assert did is not None
    for i in (0, len(recording) // 2):
        state = recording.state(i, robot)
        foot = robot.foot("left")
        assert did["left foot"][i] == pytest.approx(state.pose(foot).act(foot.sole.center))
        assert did["right hand"][i] == pytest.approx(state.pose(robot.hand("right")).translation)
        assert did["center"][i] == pytest.approx(state.center_of_mass)


def test_without_a_model_what_was_planned_is_still_shown() -> None:
    section = loci([Subject("guided", guided(), None)])
    assert section is not None
    read = Page(f"<section><h2>{section.title}</h2>{section.html}</section>")
    assert any("planned loci" in caption for caption in read.captions[TITLE])
    assert not any("actual loci" in caption for caption in read.captions[TITLE])
    assert "without its robot's model" in read.sections[TITLE]


def test_the_world_is_drawn_where_the_recording_tells_of_it() -> None:
    recording = guided()
    world = {
        "profile": [[-1, 0], [0.1, 0], [0.1, -0.1]],
        "edges": [[0.1, -1, 0.1, 1]],
        "door": [],
        "target": [[0.2, 0, 0]],
    }
    told = Recording(tuple(recording.channels.values()), {**recording.provenance, "world": world}, recording.robot)
    drawn = [Page(page({"guided": each})).labels for each in (recording, told)]
    goals = [sum("goal B" in label for labels in each for label in labels) for each in drawn]
    assert goals == [0, 4]
