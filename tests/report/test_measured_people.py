"""The page of a fitted trial: markers, stick figure and gait angles with the numbers of the fit."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from measured_people import person, standing_person
from page_reader import Page, read_sections, value

from poise.analysis import EVENT_RULE, TABLE_I, gait_cycles, normative_band
from poise.html import new_chart, stick_figure
from poise.html.stick_figures import SEGMENT_CHAINS
from poise.recording import Channel, Recording
from poise.report.cycle_curves import gait_angles_section
from poise.report.key_frames import gather_states, markers_section, stick_figure_section
from poise.report.recording_page import recording_page
from poise.report.recording_view import cycle_instants, recorded_gait, recording_views, stored_events
from poise.robots import State


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@pytest.fixture(scope="module")
def recording() -> Recording:
    return person().recording()


@pytest.fixture(scope="module")
def text(recording: Recording) -> str:
    return recording_page({"walk": recording})


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_a_fitted_trial_has_its_sections_and_none_of_a_controller(page: Page) -> None:
    first = ["Summary", "Overview", "Key frames", "Stick figure", "Markers", "Gait angles"]
    assert list(page.sections) == [*first, "Joint angles by limb", "Smoothness"]
    assert "measured motion of a person" in page.sections["Summary"].lower()
    assert page.cell("Summary", "complete gait cycles", 1).isdigit()


def test_distances_of_markers_are_those_of_the_fit(page: Page) -> None:
    fit = person()
    row = next(cells for cells in page.tables["Markers"] if cells and cells[0] == "walk")
    size, label, time = fit.largest_error
    assert int(row[1]) == len(fit.marker_placement.labels)
    assert value(row[2]) == pytest.approx(1e3 * fit.rms, rel=1e-2)
    assert f"{label} at {time:.2f} s" in row[4]
    assert value(row[4].partition(",")[0]) == pytest.approx(1e3 * size, rel=1e-2)
    for name, rms in list(fit.rms_by_marker.items())[:12]:
        assert value(page.cell("Markers", name, 2)) == pytest.approx(1e3 * rms, rel=1e-2)


def test_every_marker_has_a_bar_with_its_name(page: Page) -> None:
    bars = next(texts for texts in page.labels if "distance (mm)" in texts and "LASIS" in texts)
    assert set(person().marker_placement.labels) <= set(bars)


def test_every_note_of_the_fit_is_on_the_page(page: Page) -> None:
    notes = person().notes
    assert len(notes) > 3
    for note in notes:
        assert note in page.sections["Markers"]


def test_the_overview_describes_the_subject(page: Page) -> None:
    assert page.cell("Overview", "person", 1) == "sample 0, 1.70 m, 64.0 kg, female"
    assert page.cell("Overview", "frame rate (Hz)", 1) == "100"


def test_ranges_of_motion_are_those_of_the_angles_over_the_cycles(page: Page, recording: Recording) -> None:
    fit = person()
    cycles = gait_cycles(fit.trial.events)
    for rotation in TABLE_I:
        side = rotation.joint.partition("_")[0]
        own = [cycle for cycle in cycles if cycle.side == side]
        angle = np.degrees(fit.angles()[rotation.joint])
        fine = [np.linspace(cycle.initial_contact, cycle.end, 101) for cycle in own]
        mean = np.mean([np.interp(at, fit.time, angle) for at in fine], axis=0)
        assert value(page.cell("Gait angles", rotation.title, 2)) == pytest.approx(np.ptp(mean), abs=0.3)
    knee = np.degrees(normative_band("right_knee_flexion").range_of_motion)
    assert value(page.cell("Gait angles", "Right knee flexion", 1)) == pytest.approx(knee, abs=0.1)
    assert normative_band("right_knee_flexion").source in page.sections["Gait angles"]


def test_events_of_the_trial_come_before_those_of_the_rule(page: Page, recording: Recording) -> None:
    fit = person()
    assert EVENT_RULE not in page.sections["Gait angles"]
    assert len(stored_events(recording.provenance)) == len(fit.trial.events)
    facts = {key: value for key, value in recording.provenance.items() if key != "events"}
    found = recorded_gait(Recording(recording.channels.values(), facts, fit.robot), fit.robot)
    assert found is not None
    theirs = gait_cycles(fit.trial.events)
    assert len(found.cycles) >= len(theirs) - 1
    nearest = [min(abs(ours.initial_contact - each.initial_contact) for each in theirs) for ours in found.cycles]
    assert max(nearest) < 0.08  # an event of the sample and one detected by the rule


def test_without_events_the_page_states_the_rule(recording: Recording) -> None:
    facts = {**recording.provenance, "events": [["soon", "left", "initial_contact"], [0.1, "both", "toe_off"]]}
    walk = Recording(recording.channels.values(), facts, person().robot)
    page = read_sections({"walk": walk}, gait_angles_section)
    assert EVENT_RULE in " ".join(page.sections["Gait angles"].split())


def test_phases_follow_each_other_and_name_the_feet(recording: Recording) -> None:
    (view,) = recording_views({"walk": recording})
    names = [phase.name for phase in view.phases]
    assert set(names) == {"double support", "left support", "right support"}
    assert all(a.end == b.begin for a, b in itertools.pairwise(view.phases))
    single = [name for name in names if name != "double support"]
    assert all(a != b for a, b in itertools.pairwise(single))


def test_a_standing_person_has_a_stick_figure_and_no_gait() -> None:
    sections = (stick_figure_section, markers_section, gait_angles_section)
    page = read_sections({"standing": standing_person().recording()}, *sections)
    assert list(page.sections) == ["Stick figure", "Markers"]


def test_two_people_are_compared() -> None:
    people = {"one": person(0).recording(), "two & <co>": person(1).recording()}
    page = read_sections(people, stick_figure_section, gait_angles_section)
    assert any("two & <co>, left foot" in cells for cells in page.tables["Gait angles"])
    assert len([caption for caption in page.captions["Stick figure"] if caption.startswith("two")]) == 2


def test_markers_that_are_never_visible_cause_no_error(recording: Recording) -> None:
    apart, measured = np.array(recording["markers/distance"]), np.array(recording["markers/measured"])
    apart[:, 4], measured[:, 12:15] = np.nan, np.nan
    apart[:3], measured[:3] = np.nan, np.nan
    changed = {"markers/distance": apart, "markers/measured": measured}
    channels = [
        Channel(c.key, c.units, changed.get(name, c.values), c.labels) if name in changed else c
        for name, c in recording.channels.items()
    ]
    with warnings.catch_warnings(action="error", category=RuntimeWarning):
        walk = Recording(channels, recording.provenance, person().robot)
        page = read_sections({"walk": walk}, markers_section, stick_figure_section)
    row = next(cells for cells in page.tables["Markers"] if cells and cells[0] == "walk")
    assert int(row[1]) == apart.shape[1]
    assert value(row[2]) == pytest.approx(1e3 * np.sqrt(np.nanmean(apart**2)), rel=1e-2)
    assert value(row[5]) == pytest.approx(100.0 * np.isfinite(apart).mean(), abs=1.0)
    assert recording.labels["markers/distance"][4] in page.sections["Markers"]


def test_lines_of_the_stick_figure_are_as_long_as_the_bones() -> None:
    fit = person()
    body = stick_figure(fit.robot, fit.q[40])
    for (side, chain), points in zip(SEGMENT_CHAINS, body.chains, strict=True):
        if side and chain[1] == f"{side}_thigh":
            k = ("left", "right").index(side)
            assert np.linalg.norm(points[1] - points[2]) == pytest.approx(fit.shape.thigh[k], abs=1e-9)
            assert np.linalg.norm(points[2] - points[3]) == pytest.approx(fit.shape.shank[k], abs=1e-9)


def test_gathered_postures_keep_their_joints_and_stand_in_one_place_facing_forward() -> None:
    fit = person()
    states = [State(fit.robot, q) for q in fit.q[::40]]
    moved = gather_states(states, face_forward=True)
    facing = np.zeros(3)
    for before, after in zip(states, moved, strict=True):
        assert np.array_equal(before.q[7:], after.q[7:])
        assert np.allclose(after.q[:2], 0.0)
        assert after.q[2] == before.q[2]
        facing += after.pose(fit.robot.frame("pelvis")).rotation[:, 0]
    assert facing[1] == pytest.approx(0.0, abs=1e-9)
    assert facing[0] > 0.0
    assert gather_states(states[:1]) == states[:1]


def test_moments_of_a_cycle_are_in_order_and_end_with_it() -> None:
    cycle = gait_cycles(person().trial.events)[0]
    times = [at for at, _ in cycle_instants(cycle)]
    assert times == sorted(times)
    assert (times[0], times[-1]) == (cycle.initial_contact, cycle.end)


def test_a_legend_of_long_names_takes_fewer_columns() -> None:
    with new_chart("names") as chart:
        for k in range(8):
            chart.axes.plot([0, 1], [0, k], label=f"shoulder_adduction_{k}")
        chart.legend(4)
        box = chart.figure.legends[0].get_window_extent(FigureCanvasAgg(chart.figure).get_renderer())
        assert box.x0 >= -1.0
        assert box.x1 <= chart.figure.bbox.x1 + 1.0
