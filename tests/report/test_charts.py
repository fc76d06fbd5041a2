"""Charts: decimated curves keep their peaks, numbers keep their significant digits, SVG is self-contained."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.analysis import MotionPhase
from poise.html import (
    DASH,
    MINUS,
    curve,
    decimate,
    grouped_table,
    join_words,
    new_chart,
    note,
    number,
    paragraph,
    percent,
    shade_phases,
    short_joint_names,
    si_prefix,
    table,
)
from poise.html.charts import inline_svg


@given(st.integers(0, 3000), st.integers(0, 10_000))
def test_thinning_keeps_every_peak_of_every_bin(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.arange(count, dtype=float), rng.normal(size=count)
    fewer, values = decimate(x, y, 50)
    assert len(fewer) <= max(100, 2 * 50)
    assert np.array_equal(values, y[fewer.astype(int)])
    assert (np.diff(fewer) > 0).all()
    if count:
        assert (values.min(), values.max()) == (y.min(), y.max())


def test_thinning_keeps_gaps() -> None:
    y = np.sin(np.arange(5000.0))
    y[1000:2000] = np.nan
    y[3333] = np.nan
    x, values = decimate(np.arange(5000.0), y)
    assert np.isnan(values[(x >= 1000) & (x < 2000)]).all()
    assert 3333.0 in x


def test_the_points_of_a_curve_are_drawn_at_its_values() -> None:
    with new_chart("a line", 400.0, 200.0, 50.0) as chart:
        curve(chart.axes, [0.0, 1.0, 2.0], [0.0, 10.0, 5.0], color="#123456")
        chart.axes.set(xlim=(0.0, 2.0), ylim=(0.0, 10.0), xlabel="time (s)", ylabel="torque (N m)")
    root = ElementTree.fromstring(chart.svg)
    line = next(e for e in root.iter("path") if "#123456" in e.get("style", ""))
    numbers = np.array([float(word) for word in line.get("d", "").replace("M", "").replace("L", "").split()])
    # axes from 50 to 390 across, and from 13 to 166 down
    assert numbers.reshape(-1, 2) == pytest.approx(np.array([[50.0, 166.0], [220.0, 13.0], [390.0, 89.5]]), abs=0.11)


def test_phases_are_named_if_their_names_fit_and_else_numbered() -> None:
    def texts(*names: str) -> str:
        with new_chart("phases") as chart:
            chart.axes.set_xlim(0.0, len(names))
            shade_phases(chart.axes, [MotionPhase(name, float(i), i + 1.0) for i, name in enumerate(names)])
        return chart.svg

    assert ">lift<" in texts("lift", "swing")
    svg = texts("a phase whose name is much longer than its place " * 3, "swing")
    assert ">swing<" not in svg
    assert ">2<" in svg


def test_an_inlined_figure_is_small_and_has_no_head() -> None:
    with new_chart('a "line" & more') as chart:
        curve(chart.axes, np.linspace(0, 1, 100_000), np.random.default_rng(0).normal(size=100_000))
    root = ElementTree.fromstring(chart.svg)
    assert root.tag == "svg"  # without a name space
    assert root.get("aria-label") == 'a "line" & more'
    assert len(chart.svg) < 40_000
    assert "style>" not in chart.svg
    assert "font-family" not in chart.svg


def test_numbers_in_styles_keep_their_digits() -> None:
    svg = '<?xml?><svg viewBox="0 0 9 9"><path d="M 1.23456 -0.01" style="opacity: 0.25"/></svg>'
    assert (
        inline_svg(svg, "x")
        == '<svg viewBox="0 0 9 9" role="img" aria-label="x"><path d="M 1.2 0" style="opacity: 0.25"/></svg>'
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["left_hip_pitch_joint", "left_knee_joint"], ["hip_pitch", "knee"]),
        (["leg_left_1_joint", "leg_left_2_joint"], ["leg_left_1", "leg_left_2"]),
        (["LHipYaw", "LKneePitch"], ["LHipYaw", "LKneePitch"]),
        (["neck_joint"], ["neck"]),
        (["a", "a_b"], ["a", "a_b"]),
        ([], []),
    ],
)
def test_common_parts_of_joint_names_are_removed(names: list[str], expected: list[str]) -> None:
    assert short_joint_names(names) == expected


@given(st.floats(1e-9, 1e9), st.sampled_from([-1.0, 1.0]))
def test_a_number_is_right_to_its_digits(size: float, sign: float) -> None:
    text = number(sign * size).replace(MINUS, "-")
    assert float(text) == pytest.approx(sign * size, rel=5.1e-3)
    assert len(text) <= 10


def test_numbers_are_formatted_readably() -> None:
    values = [0.0, 1234.6, 45.67, 0.012345, 1.2e-7, 999.9, 0.09996, None, float("nan"), float("inf")]
    words = ["0", "1235", "45.7", "0.0123", f"1.20e{MINUS}07", "1000", "0.100", DASH, DASH, "∞"]
    assert [number(each) for each in values] == words
    assert [percent(each) for each in (0.314, 0.0042, 1.62, 0.0, None)] == ["31 %", "0.42 %", "162 %", "0 %", DASH]
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(
    ("unit", "size", "expected"),
    [
        ("m", 0.5, (1.0, "m")),
        ("m, rad", 0.002, (1e3, "mm, mrad")),
        ("rad/s", 1e-5, (1e6, "µrad/s")),
        ("m²/s²", 1e-3, (1.0, "m²/s²")),
        ("", 1e-3, (1.0, "")),
        ("m", 0.0, (1.0, "m")),
    ],
)
def test_small_values_get_a_smaller_unit(unit: str, size: float, expected: tuple[float, str]) -> None:
    assert si_prefix(unit, size) == expected


def test_pieces_of_html_are_well_formed_and_escaped() -> None:
    pieces = [
        paragraph("a < b", "", "c & d"),
        note("x"),
        table(["", "y"], [("<r>", "1")], "z"),
        grouped_table(["a"], ["one", "two"], ("b", "c"), [("r", "1", "2", "3", "4")]),
    ]
    for piece in pieces:
        ElementTree.fromstring(piece)
    assert pieces[0] == "<p>a &lt; b c &amp; d</p>"
    assert paragraph("", "") == ""
