"""The page of a study: methods, results, and the limits of its tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from measured_people import VARIANTS, gait_study, person
from page_reader import Page, value

from poise.analysis import EQUIVALENCE_REMARK, EVENT_RULE, TABLE_I, TABLE_I_JOINTS
from poise.errors import PoiseError
from poise.report import save_study_page
from poise.report.study_page import study_page

FAILED = {"folder/bad & <broken>.c3d": "the file is empty"}


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@pytest.fixture(scope="module")
def text() -> str:
    return study_page(gait_study(), [person(0), person(1)], FAILED)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_it_is_whole_and_fetches_nothing(text: str, page: Page) -> None:
    assert "Methods" in page.sections
    assert not any(address in text for address in ("http://", "https://", "src='", "<script", "url(http"))


def test_it_states_its_rules_and_the_limits_of_a_t_test(page: Page) -> None:
    sections = {name: " ".join(section.split()) for name, section in page.sections.items()}
    assert EVENT_RULE[1:] in sections["Methods"]
    assert "6 Hz" in sections["Methods"]
    assert EQUIVALENCE_REMARK in sections["Statistics"]


def test_every_walk_has_a_row_and_a_failed_one_its_reason(page: Page) -> None:
    names = [cells[0] for cells in page.tables["Walks"]]
    assert {"sample 0", "sample 1"} <= set(names)
    assert page.cell("Walks", "bad & <broken>.c3d", 1) == "the file is empty"
    rms = [cells[4] for cells in page.tables["Walks"] if cells[0].startswith("sample ")]
    assert [value(cell) for cell in rms] == pytest.approx([1e3 * person(k).rms for k in range(2)], rel=0.05)


def test_table_one_stands_beside_the_printed_one(page: Page) -> None:
    study = gait_study()
    paper, best = study.result("paper"), study.result("best")
    for k, rotation in enumerate(TABLE_I):
        row = next(cells for cells in page.tables["Ranges of motion"] if cells[0] == rotation.title)
        assert [value(cell) for cell in row[1:3]] == [rotation.simulation, rotation.reference]
        assert value(row[4]) == pytest.approx(paper.ranges[:, k].mean(), abs=0.051)
        assert value(row[5]) == pytest.approx(paper.reference_ranges[:, k].mean(), abs=0.051)
        assert value(row[6]) == pytest.approx(paper.differences[:, k].mean(), abs=0.051)
        assert value(row[9]) == pytest.approx(best.differences[:, k].mean(), abs=0.051)
    printed = next(cells for cells in page.tables["Ranges of motion"] if cells[0] == "Left knee flexion")
    assert value(printed[3]) == -9.0  # as printed in the paper, although 54 - 66 is -12
    mean = next(cells for cells in page.tables["Ranges of motion"] if cells[0] == "mean absolute difference")
    assert value(mean[3]) == pytest.approx(5.8)


def test_variants_are_compared_in_one_table_with_the_measured_motion(page: Page) -> None:
    rows = {cells[0]: cells for cells in page.tables["Variants side by side"][1:]}
    assert list(rows) == [*(variant.name for variant in VARIANTS), "measured motion"]
    for each in gait_study().results:
        row = rows[each.variant.name]
        assert value(row[1]) == pytest.approx(each.mean_difference, abs=0.051)
        assert value(row[2]) == pytest.approx(each.worst_difference[0], abs=0.051)
        assert row[3] == f"{each.beyond_bound} of 24"
        assert value(row[6]) == pytest.approx(each.largest("heel_error"), abs=0.051)
        assert value(row[10]) == pytest.approx(100 * each.mean("zmp_inside"), abs=0.51)
    inside = gait_study().results[0].mean("reference_zmp_inside")
    assert value(rows["measured motion"][10]) == pytest.approx(100 * inside, abs=0.51)


def test_the_verdict_is_the_interval(page: Page) -> None:
    best = gait_study().result("best")
    rows = [cells for cells in page.tables["Statistics"] if cells and cells[0] == "Right hip flexion"]
    test = best.tests[TABLE_I_JOINTS.index("right_hip_flexion")]
    assert test.interval is not None
    low, high = rows[-1][3].replace("\N{NO-BREAK SPACE}", " ").split(" to ")
    assert (value(low), value(high)) == pytest.approx(test.interval, abs=0.051)
    assert rows[-1][4].replace("\N{NO-BREAK SPACE}", " ") == test.verdict


def test_the_straight_knee_is_shown_with_its_numbers(page: Page) -> None:
    title, k = "Swing knee with two phases", TABLE_I_JOINTS.index("right_knee_flexion")
    two = gait_study().result("two phases")
    assert value(page.cell(title, "Right knee flexion", 1)) == pytest.approx(
        two.reference_ranges[:, k].mean(), rel=1e-2
    )
    assert value(page.cell(title, "Right knee flexion", 3)) == pytest.approx(two.ranges[:, k].mean(), rel=1e-2)


def test_figures_four_to_seven_of_the_paper_are_there(page: Page) -> None:
    captions = page.captions["Curves over the gait cycle"]
    for number, title in ((4, "hip flexion"), (5, "hip adduction"), (6, "knee flexion"), (7, "ankle inversion")):
        assert any(f"Figure {number} of the paper. Right {title}" in caption for caption in captions)
    assert len(captions) == 4 + 12


def test_measured_and_reproduced_motions_share_a_figure_and_missing_pictures_have_a_reason(page: Page) -> None:
    assert [c.partition(" in front")[0] for c in page.captions["Measured and reproduced"]] == [
        "'best'",
        "'paper'",
        "'two phases'",
    ]
    assert "pictures are missing" in page.sections["Measured and reproduced"]


def test_the_page_of_one_walk_has_no_verdict() -> None:
    page = Page(study_page(gait_study(1)))
    verdicts = {cells[4] for cells in page.tables["Statistics"] if len(cells) > 4 and cells[0] in TABLE_I_JOINTS}
    assert verdicts <= {"cannot be judged"}
    assert "one person" in page.sections["Statistics"]
    assert np.isfinite(value(page.cell("Walks", "sample 0", 2)))


def test_a_page_that_cannot_be_written_is_named_before_it_is_made(tmp_path: Path) -> None:
    with pytest.raises(PoiseError, match="is a folder"):
        save_study_page(tmp_path, gait_study(1))
    with pytest.raises(PoiseError, match="there is no folder"):
        save_study_page(tmp_path / "none/page.html", gait_study(1))
    path = save_study_page(tmp_path / "page.html", gait_study(1))
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text().startswith("<!DOCTYPE html>")
