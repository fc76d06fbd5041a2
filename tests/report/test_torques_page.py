"""The page of the torques of a person: moments, plates, stored moments, residual, and comparison with robots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from measured_people import person, torques
from page_reader import Page, value

from poise.human import LEG_MOMENTS, PLUG_IN_GAIT_UNIT, compare_stored_moments, compute_torques, internal_joint_moments
from poise.report.recording_page import recording_page
from poise.report.torques_page import torques_page
from poise.robots import GRAVITY


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(torques_page(torques(), {"itself": torques().recording(), "no torques": person().recording()}))


def test_every_moment_has_its_figures_with_its_extremes(page: Page) -> None:
    captions = page.captions["Joint moments of the legs"]
    own = internal_joint_moments(torques())
    for each in LEG_MOMENTS:
        for side in ("Left", "Right"):
            text = next(caption for caption in captions if caption.startswith(f"{side} {each.title}:"))
            low, high = text.partition(": ")[2].removesuffix(" N m/kg.").split(" to ")
            values = own[f"{side.lower()} {each.title}"]
            assert value(low) == pytest.approx(np.nanmin(values), rel=0.06)
            assert value(high) == pytest.approx(np.nanmax(values), rel=0.06)
    assert len(page.captions["Moments of the lower back"]) == 3


def test_the_residual_is_shown_in_newtons_and_as_a_share_of_the_weight(page: Page) -> None:
    rms, weight = torques().residual_rms, GRAVITY * torques().mass
    for k, axis in enumerate(("x", "y", "z, up")):
        title = "Residual at the pelvis"
        assert value(page.cell(title, axis, 1)) == pytest.approx(rms[k], rel=1e-2)
        assert value(page.cell(title, axis, 2)) == pytest.approx(100 * rms[k] / weight, rel=0.06, abs=0.5)
        assert value(page.cell(title, axis, 3)) == pytest.approx(rms[k + 3], rel=1e-2)


def test_a_file_without_moments_is_reported(page: Page) -> None:
    assert "stores no moments" in page.sections["Comparison with the moments in the file"]


def test_moments_of_the_file_are_compared_where_it_has_some() -> None:
    own = internal_joint_moments(torques(), include_unknown=True)
    ankle = np.ones((len(torques().time), 3))
    ankle[:, 0] = 0.9 * own["left ankle plantarflexor"] / PLUG_IN_GAIT_UNIT
    fit = person()
    trial = fit.trial.replace(moments={"LAnkleMoment": ankle})
    found = compute_torques(replace(fit, trial=trial))
    page = Page(torques_page(found))
    (row,) = (each for each in compare_stored_moments(found) if each.title == "ankle plantarflexor")
    assert row.agreement.correlation == pytest.approx(1.0)
    assert value(page.cell("Comparison with the moments in the file", "Left ankle plantarflexor", 2)) == pytest.approx(
        1.0
    )
    assert value(page.cell("Comparison with the moments in the file", "Left ankle plantarflexor", 6)) == pytest.approx(
        111, abs=1
    )
    assert "Dashed, black" in page.sections["Joint moments of the legs"]
    assert "Comparison with robots" not in page.sections


def test_a_walk_compared_with_itself_agrees_in_every_joint(page: Page) -> None:
    title = "Comparison with robots"
    rows = [cells for cells in page.tables[title] if len(cells) == 11 and cells[0].startswith(("hip", "knee", "ankle"))]
    assert len(rows) == 6
    for cells in rows:
        assert value(cells[1]) > 0.95
        assert value(cells[3]) == pytest.approx(100, abs=12)
        assert abs(value(cells[7]) - value(cells[10])) < 3.0


def test_a_recording_without_torques_is_reported_in_the_comparison(page: Page) -> None:
    assert "no torques: " in page.sections["Comparison with robots"]


def test_the_report_of_its_recording_has_torques_and_ground_forces() -> None:
    page = Page(recording_page({"walk": torques().recording()}))
    assert {"Torques by limb", "Contact forces", "Gait angles"} <= set(page.sections)
    assert "Task errors by level" not in page.sections
    foot = torques().robot.foot("left").name
    assert any(cells[0] == f"walk, {foot}" for cells in page.tables["Contact forces"])
