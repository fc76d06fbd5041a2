"""The page of a campaign has the values of its table, also of an incomplete one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import Page

from poise.campaign import COST_COLUMNS, Column, Results
from poise.campaign.storage import RUN_COLUMNS, build_table, infer_column
from poise.html import TIMES
from poise.report import RunFiles, worst_runs
from poise.report.campaign_page import campaign_page, reason_pattern
from poise.report.campaign_runs import RunTable, cross_tabulate, group_runs, success_interval
from poise.report.campaign_success import direction_groups

COLUMNS = {
    "motion_seconds": Column("number", "s", "how long it moved"),
    "zmp_margin_m": Column("number", "m", "how far the ZMP was inside the soles"),
    "measure.arm_swing": Column("number", "deg", "range of the arms"),
}
TITLES = {
    "Overview", "Success rate against each parameter", "Success rate over two parameters", "Measures of the runs",
    "Failure reasons", "Worst runs", "Campaign spec",
}  # fmt: skip


def run_row(run: int, succeeded: bool, **more: Any) -> dict[str, Any]:
    """The row of a run in the table of a campaign."""
    outcome, reason = ("succeeded", "") if succeeded else ("failed", f"fell after {run}.5 s")
    outcome_columns = {
        "outcome": outcome,
        "succeeded": succeeded,
        "reason": reason,
        "command": f"poise run walk --seed {run}",
    }
    return {"run": run, "seed": run, **outcome_columns, **more}


def results(rows: list[dict[str, Any]], **facts: Any) -> Results:
    """Results of a campaign with these rows."""
    names = [name for name in (rows[0] if rows else {}) if name not in RUN_COLUMNS and name not in COLUMNS]
    parameters = {name: infer_column(each.get(name) for each in rows) for name in names}
    table = build_table(rows, {**RUN_COLUMNS, **parameters, **COLUMNS})
    costs = build_table([{"run": each["run"], "seconds": 2.0} for each in rows], COST_COLUMNS)
    all_facts = {"title": "Pushes", "kind": "walk", "planned_runs": len(rows), "spec": "a < b & c", **facts}
    return Results(Path("made"), all_facts, parameters, COLUMNS, table, costs)


def push_campaign() -> Results:
    """Two robots, two styles, four directions, three sizes; the largest size always fails, the smallest never."""
    rows = []
    for run in range(96):
        size, direction = (100.0, 200.0, 300.0)[run % 3], (0.0, 90.0, 180.0, 270.0)[run // 3 % 4]
        style, robot = ("neutral", "sad")[run // 12 % 2], ("g1", "talos")[run // 24 % 2]
        good = size == 100.0 or (size == 200.0 and direction == 0.0)
        found = {"motion_seconds": 6.0 if good else 3.0 + 0.01 * run, "zmp_margin_m": 0.001 * run if good else None}
        found["measure.arm_swing"] = 20.0 if style == "neutral" else 10.0
        rows.append(
            run_row(run, good, robot=robot, style=style, **{"push.size": size, "push.direction": direction}, **found)
        )
    return results(rows)


@pytest.fixture(scope="module")
def text() -> str:
    return campaign_page(push_campaign(), {2: RunFiles("c/recordings/2.poise", "page_replays/000002.html", "a <note>")})


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_it_has_every_section_and_fetches_nothing(text: str, page: Page) -> None:
    assert set(page.sections) == TITLES
    assert not any(word in text for word in ("http://", "https://", "<script", "src="))
    assert "a &lt; b &amp; c" in text


def test_the_success_rate_is_shown_with_its_interval(page: Page) -> None:
    assert page.cell("Overview", "succeeded", 1) == "40"
    assert page.cell("Overview", "succeeded (95 % interval)", 1) == "42 % (32 to 52 %)"


def test_the_ends_of_a_wilson_interval_are_where_the_score_test_rejects() -> None:
    for good, count in ((0, 5), (3, 7), (40, 96), (10, 10)):
        for end in success_interval(good, count):
            reach = 1.959964 * np.sqrt(end * (1 - end) / count)
            assert abs(good / count - end) == pytest.approx(
                reach, rel=1e-6, abs=1e-7
            )  # roots magnify rounding at 0 and 1
    assert success_interval(0, 0) == (0.0, 1.0)


def test_cells_of_a_map_hold_every_run_once() -> None:
    runs = RunTable(push_campaign())
    sizes, around = group_runs(runs, "push.size"), group_runs(runs, "push.direction")
    count, good = cross_tabulate(sizes, around, runs.succeeded)
    assert (count == 8).all()
    assert good.tolist() == [[8, 8, 8, 8], [8, 0, 0, 0], [0, 0, 0, 0]]


def test_random_numbers_are_put_in_ranges_of_equally_many_runs() -> None:
    values = np.random.default_rng(0).uniform(-1.0, 1.0, 400)
    runs = RunTable(results([run_row(k, True, friction=float(value)) for k, value in enumerate(values)]))
    groups = group_runs(runs, "friction")
    assert groups.counts().tolist() == [50] * 8
    assert groups.edges is not None
    for k, (low, high) in enumerate(groups.edges):
        inside = values[groups.index == k]
        assert low <= inside.min() <= inside.max() <= high


def test_directions_of_one_angle_are_one_and_random_ones_become_sectors() -> None:
    angles = (-90.0, 270.0, 0.0, 360.0)
    few = direction_groups(
        RunTable(results([run_row(k, True, **{"push.direction": angle}) for k, angle in enumerate(angles)]))
    )
    assert few.labels == ("0", "270")
    assert few.index.tolist() == [1, 1, 0, 0]
    chart = [float(angle) for angle in np.linspace(0.0, 359.0, 100)]
    many = direction_groups(
        RunTable(results([run_row(k, True, **{"push.direction": angle}) for k, angle in enumerate(chart)]))
    )
    assert many.positions is not None
    off = (np.array(chart) - many.positions[many.index] + 180.0) % 360.0 - 180.0
    assert np.abs(off).max() <= 22.5


def test_a_style_is_compared_with_the_neutral_one(page: Page) -> None:
    assert page.sections["Measures of the runs"].count(f"({TIMES}0.500)") == 2  # one table for each robot


def test_reasons_that_differ_in_numbers_are_one(page: Page) -> None:
    assert reason_pattern("g1 fell after 3.21 s at -1.5e-3 m") == "g1 fell after # s at # m"
    assert [cells[:4] for cells in page.tables["Failure reasons"]][1:] == [["failed", "56", "100 %", "fell after # s"]]


def test_the_worst_fell_soonest_and_then_had_the_smallest_margin() -> None:
    results = push_campaign()
    failed = [k for k, good in enumerate(results["succeeded"]) if not good]
    assert worst_runs(results) == failed[:10]  # later runs moved longer
    good = [k for k, good in enumerate(results["succeeded"]) if good]
    assert worst_runs(results, 58)[56:] == good[:2]


def test_the_worst_have_their_command_and_links(text: str, page: Page) -> None:
    assert "poise run walk --seed 2" in page.sections["Worst runs"]
    links = [value for tag, name, value in page.attributes if tag == "a" and name == "href"]
    assert {"c/recordings/2.poise", "page_replays/000002.html"} <= set(links)
    assert "a &lt;note&gt;" in text


def test_an_unfinished_campaign_is_marked() -> None:
    unfinished_page = Page(
        campaign_page(results([run_row(k, k > 2, friction=0.1 * k) for k in range(8)], planned_runs=20))
    )
    assert "12 of 20 runs are missing" in unfinished_page.sections["Overview"]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [run_row(0, True)],
        [run_row(0, False, robot="g1", friction=0.5)],
        [run_row(k, False, robot=f"r{k % 6}", friction=0.1 * k) for k in range(20)],
        [run_row(k, k % 2 == 0, robot="g1", motion_seconds=float("nan")) for k in range(5)],
        [run_row(k, k % 3 > 0, mode=(None, "a")[k % 2], delay=(None, 5.0, 6.0)[k % 3], bent=k % 2 > 0)
         for k in range(9)],
        [run_row(k, k % 3 > 0, friction=(None, 0.5)[k % 2]) for k in range(6)],
        [run_row(k, k % 5 > 0, trial=f"a/very/long/folder/of/trials/trial_{k}<&>.c3d") for k in range(40)],
    ],
    ids=["none", "one", "one failed", "all failed", "constant", "holes", "one number and holes", "many words"],
)  # fmt: skip
def test_a_page_is_made_of_incomplete_results(rows: list[dict[str, Any]]) -> None:
    text = campaign_page(results(rows))
    assert set(Page(text).sections) == TITLES
    assert ">nan<" not in text


def test_a_recording_whose_place_is_not_known_is_named_and_not_linked() -> None:
    text = campaign_page(results([run_row(0, False, recording="recordings/0.poise"), run_row(1, True)]))
    assert "recordings/0.poise" in text
    assert 'href="recordings' not in text
