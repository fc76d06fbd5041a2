"""Report sections on contact forces: commanded and measured forces, and load and ZMP under each sole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.arrays import Array
from poise.errors import PoiseError
from poise.extras import scipy
from poise.html import (
    DASH,
    GRID_COLOR,
    HALF_WIDTH,
    Section,
    chart_width,
    curve,
    figure,
    grid,
    heading,
    join_words,
    new_chart,
    note,
    number,
    paragraph,
    percent,
    shade_phases,
    table,
)
from poise.plants import Push
from poise.recording import MIN_CONTACT_LOAD, printable
from poise.report.recording_view import RecordingView, time_range
from poise.robots import Foot
from poise.state import CELL_TIME_CONSTANT, sole_pressure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Channels of contact forces with their names on the page, and how they are drawn.
FORCE_CHANNELS = {"force": "commanded", "measured/force": "measured", "plate/force": "plate"}
FORCE_LINE_STYLES: dict[str, Any] = {
    "force": {"linewidth": 1.3, "linestyle": (0, (4, 1.2))},
    "measured/force": {"linewidth": 1.0, "alpha": 0.45},
    "plate/force": {"linewidth": 1.2},
}
VERTICAL_COLOR, HORIZONTAL_COLOR = "#00568a", "#d55e00"
#: A contact whose forces never exceed this (N) is unloaded.
MIN_CONTACT_FORCE = 1.0


def contact_forces_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: a figure per contact and recording, and a table of commanded and measured forces."""
    no_forces_note = "contact forces were recorded; its controller and plant provide none"
    missing = [note(view.missing_note(no_forces_note)) for view in views if not view.contact_names]
    loaded_contacts = {
        view.label: [name for name in view.contact_names if _peak_component(view, name) > MIN_CONTACT_FORCE]
        for view in views
    }
    unloaded = sorted(
        {name for view in views for name in view.contact_names if name not in loaded_contacts[view.label]}
    )
    names = list(dict.fromkeys(name for contacts in loaded_contacts.values() for name in contacts))
    parts = [paragraph("Forces on the robot, in world axes.", _unloaded_note(unloaded)) if names else "", *missing]
    is_single = (
        sum(bool(contacts) for contacts in loaded_contacts.values()) == 1
    )  # contacts are then shown side by side
    rows, figures = [], []
    for name in names:
        available = [view for view in views if name in loaded_contacts[view.label]]
        y_max = max(_peak_component(view, name) for view in available)
        figures.append(
            [
                _force_figure(view, name, y_max, HALF_WIDTH if is_single else chart_width(len(views)))
                for view in available
            ]
        )
        rows += [_force_row(view, name) for view in available]
    parts += [grid(itertools.chain(*figures))] if is_single else [grid(row, len(views)) for row in figures]
    head = ["contact", "commanded (N)", "measured (N)", "rms difference (N)", "share of weight"]
    parts.append(table(head, rows, "Vertical forces: means, and rms difference if both are known.") if rows else "")
    return Section("Contact forces", "".join(parts))


def vertical_force(view: RecordingView, kind: str, name: str) -> Array:
    """Return the vertical force at a contact per sample (N), NaN if unknown; ``kind`` is a key of `FORCE_CHANNELS`."""
    channel = f"{kind}/{name}/fz"
    return view.recording[channel] if channel in view.recording else np.full(view.recording.samples, np.nan)


def _force_figure(view: RecordingView, name: str, y_max: float, width: float) -> str:
    time, recording = view.recording.time, view.recording
    with new_chart(f"Forces at {name} of {view.label} over time", width) as chart:
        axes = chart.axes
        for kind, source in reversed(FORCE_CHANNELS.items()):  # commanded forces are drawn last, on top
            if f"{kind}/{name}" in recording:
                wrench = recording[f"{kind}/{name}"]
                curve(
                    axes,
                    time,
                    wrench[:, 2],
                    color=VERTICAL_COLOR,
                    label=f"vertical, {source}",
                    **FORCE_LINE_STYLES[kind],
                )
                horizontal = np.hypot(*wrench[:, :2].T)
                curve(
                    axes,
                    time,
                    horizontal,
                    color=HORIZONTAL_COLOR,
                    label=f"horizontal, {source}",
                    **FORCE_LINE_STYLES[kind],
                )
        shade_phases(axes, view.phases, width)
        axes.set(xlabel="time (s)", ylabel="force (N)", xlim=time_range(view))
        axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1.05 * y_max)
        chart.legend(2)
    known = {source: vertical_force(view, kind, name) for kind, source in FORCE_CHANNELS.items()}
    peak = [
        f"{number(_finite_max(values))} N {source}" for source, values in known.items() if np.isfinite(values).any()
    ]
    return figure(chart.svg, f"{view.label}, {name}: at most {join_words(peak)}.")


def _force_row(view: RecordingView, name: str) -> tuple[str, ...]:
    commanded, measured = vertical_force(view, "force", name), vertical_force(view, "measured/force", name)
    measured = measured if np.isfinite(measured).any() else vertical_force(view, "plate/force", name)
    both = np.isfinite(commanded) & np.isfinite(measured)
    difference = float(np.sqrt(np.mean((commanded[both] - measured[both]) ** 2))) if both.any() else float("nan")
    weight = float("nan") if view.robot is None else view.robot.weight
    share = percent(difference / weight) if np.isfinite(difference / weight) else DASH
    return (
        f"{view.label}, {name}",
        number(_finite_mean(commanded)),
        number(_finite_mean(measured)),
        number(difference),
        share,
    )


def _finite_mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _finite_max(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else float("nan")


def _peak_component(view: RecordingView, name: str) -> float:
    """Return the largest absolute force component, commanded or measured, at a contact (N)."""
    known = [f"{kind}/{name}" for kind in FORCE_CHANNELS if f"{kind}/{name}" in view.recording]
    parts = np.concatenate([np.abs(view.recording[channel][:, :3]).ravel() for channel in known])
    return float(parts[np.isfinite(parts)].max(initial=0.0))


def _unloaded_note(names: Sequence[str]) -> str:
    return f"Unloaded: {', '.join(names)}." if names else ""


# -- Pressure under each sole ----------------------------------------------------------------------------------------


#: A ZMP closer to an edge than this (m) counts as on the edge: force cells at the corners cannot sense a ZMP outside,
#: and 1 mm is less than the shift that tips a foot.
EDGE_TOLERANCE = 1e-3
#: Colors of the feet, as in the figures of paths, and of pushes.
SIDE_COLORS = {"left": "#00568a", "right": "#d55e00"}
PUSH_COLOR = "#e8c9c9"
#: Directions of the ZMP: name and symbol as in the paper, and the parts of the foot at the upper and the lower edge.
ZMP_AXES = (("frontal", "x", "toes", "heel"), ("lateral", "y", "left", "right"))
SOLE_DESCRIPTION = (
    "From the four force cells of each sole: W is the sum of the cell forces, and the zero-moment point (ZMP) their "
    "center, relative to the center of the sole, x forward and y to the left. Horizontal lines are the edges of the "
    f"sole. Cell forces are low-pass filtered with a time constant of {1e3 * CELL_TIME_CONSTANT:.0f} ms."
)
SOLE_CAPTION = (
    "W is the mean over all samples. ZMP values are for samples in which the foot carries "
    f"{100 * MIN_CONTACT_LOAD:.0f} % of the weight or more: distance from the center of the sole, and share of these "
    "samples inside the sole. Cells at the corners cannot sense a ZMP outside the sole: within "
    f"{1e3 * EDGE_TOLERANCE:.0f} mm of an edge, it does not count as inside."
)


class SolePressureSeries(NamedTuple):
    """Load and ZMP of a foot from its force cells, at each sample.

    Attributes:
        foot: the foot.
        amplitude: W, sum of the cell forces, (n,), N; NaN if no cell was measured.
        zmp: ZMP relative to the center of the sole, (n, 2), m; NaN if the foot is not loaded.
    """

    foot: Foot
    amplitude: Array
    zmp: Array

    @property
    def half_size(self) -> Array:
        """Half length and half width of the sole, (2,), m."""
        return np.array(self.foot.sole.half_size)

    @property
    def inside_share(self) -> float:
        """Share of the loaded time in which the ZMP is inside the sole, 0 to 1; NaN if the foot is never loaded."""
        known = self.zmp[np.isfinite(self.zmp).all(axis=1)]
        return float(np.mean((np.abs(known) < self.half_size - EDGE_TOLERANCE).all(axis=1))) if len(known) else np.nan


def sole_pressure_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: W and ZMP of both feet over time, and a table; None if no force cells were recorded."""
    if not any(_has_force_cells(view) for view in views):
        return None
    parts = [paragraph(SOLE_DESCRIPTION, "Bands mark pushes." if any(recorded_pushes(view) for view in views) else "")]
    rows = []
    for view in views:
        if len(views) > 1:
            parts.append(heading(view.label))
        if not _has_force_cells(view):
            parts.append(note(view.missing_note("force cells were recorded")))
            continue
        pressures = sole_pressures(view)
        if not pressures:
            parts.append(
                note(view.missing_note("soles with these cells, since the model of its robot is missing or different"))
            )
            continue
        y_max = max(float(np.nanmax(each.amplitude)) for each in pressures) or 1.0  # both feet have the same scale
        parts.append(grid([_load_figure(view, each, y_max) for each in pressures]))
        parts += [grid([_zmp_figure(view, each, k) for each in pressures]) for k in range(2)]
        rows += [_pressure_row(view, each) for each in pressures]
    head = ["foot", "mean W (N)", "rms of the ZMP (mm)", "maximum (mm)", "at (s)", "inside the sole"]
    return Section("Load and ZMP under each sole", "".join([*parts, table(head, rows, SOLE_CAPTION) if rows else ""]))


def sole_pressures(view: RecordingView) -> list[SolePressureSeries]:
    """Return load and ZMP of each foot with force cells, left foot first; empty without the model of the robot."""
    recording, robot = view.recording, view.robot
    if robot is None:
        return []
    pressures = []
    for foot in sorted(robot.feet, key=lambda foot: foot.side):
        name = f"measured/cells/{printable(foot.name)}"
        cells: Array = recording[name] if name in recording else np.zeros((0, 4))
        if cells.shape[1:] == (4,) and np.isfinite(cells).any():
            W, zmp = sole_pressure(foot, low_pass_cells(cells, recording.period))
            W[~np.isfinite(cells).any(axis=1)] = np.nan
            zmp[~(MIN_CONTACT_LOAD * robot.weight <= W)] = np.nan
            pressures.append(SolePressureSeries(foot, W, zmp))
    return pressures


def low_pass_cells(cells: Array, period: float) -> Array:
    """Low-pass filter of first order for cell forces, ``τ ẏ = x - y`` with τ = `CELL_TIME_CONSTANT`.

    The filter starts at the first sample. A cell without a finite value counts as zero, as in `sole_pressure`; if no
    cell has one, all keep their last values.

    Args:
        cells: cell forces x, (n, 4), N.
        period: sampling period, s.

    Returns:
        Filtered forces y, (n, 4), N.
    """
    known = np.isfinite(cells).any(axis=1)
    if not (known.any() and period > 0.0):
        return cells
    last = np.maximum.accumulate(np.where(known, np.arange(len(cells)), known.argmax()))
    x = np.nan_to_num(cells[last], nan=0.0, posinf=0.0, neginf=0.0)
    b = math.exp(-period / CELL_TIME_CONSTANT)
    return np.asarray(scipy.signal.lfilter([1.0 - b], [1.0, -b], x, axis=0, zi=b * x[:1])[0])


def recorded_pushes(view: RecordingView) -> list[Push]:
    """Return the pushes listed in the provenance of a recording."""
    texts = view.recording.provenance.get("push", ())
    pushes = []
    for text in texts if isinstance(texts, (list, tuple)) else ():
        try:
            pushes.append(Push.parse(str(text)))
        except PoiseError:  # not written by Poise
            continue
    return pushes


def _has_force_cells(view: RecordingView) -> bool:
    names = [name for name in view.recording.channels if name.startswith("measured/cells/")]
    return any(np.isfinite(view.recording[name]).any() for name in names)


def _load_figure(view: RecordingView, pressure: SolePressureSeries, y_max: float) -> str:
    side = pressure.foot.side
    with new_chart(f"Force under the {side} sole of {view.label} over time", HALF_WIDTH) as chart:
        curve(chart.axes, view.recording.time, pressure.amplitude, color=SIDE_COLORS[side])
        _mark_phases_and_pushes(chart.axes, view)
        chart.axes.set(xlabel="time (s)", ylabel="W (N)", xlim=time_range(view), ylim=(0.0, 1.05 * y_max))
    mean, peak = float(np.nanmean(pressure.amplitude)), float(np.nanmax(pressure.amplitude))
    return figure(chart.svg, f"{view.label}, {side} foot: W, {number(mean)} N on average, at most {number(peak)} N.")


def _zmp_figure(view: RecordingView, pressure: SolePressureSeries, k: int) -> str:
    side, edge, (direction, letter, upper_label, lower_label) = (
        pressure.foot.side,
        1e3 * float(pressure.half_size[k]),
        ZMP_AXES[k],
    )
    values = 1e3 * pressure.zmp[:, k]
    with new_chart(
        f"{direction} position of the ZMP under the {side} sole of {view.label} over time", HALF_WIDTH
    ) as chart:
        axes = chart.axes
        curve(axes, view.recording.time, values, color=SIDE_COLORS[side])
        _mark_phases_and_pushes(axes, view)
        axes.axhline(0.0, color=GRID_COLOR, linewidth=0.4)
        for sign, name in ((1.0, upper_label), (-1.0, lower_label)):
            axes.axhline(sign * edge, color=GRID_COLOR, linewidth=0.9, linestyle=(0, (4, 2)))
            place, across = (
                (1.0, 0.94 * sign * edge),
                axes.get_yaxis_transform(),
            )  # inside the sole, next to its edge line
            axes.text(*place, name, transform=across, ha="right", va="top" if sign > 0.0 else "bottom", fontsize=7.5)
        axes.set(xlabel="time (s)", ylabel=f"{letter} (mm)", xlim=time_range(view), ylim=(-1.1 * edge, 1.1 * edge))
    known = np.abs(values[np.isfinite(values)])
    peak = f"at most {number(round(float(known.max()), 2))} mm from the center" if len(known) else "foot not loaded"
    return figure(chart.svg, f"{view.label}, {side} foot: {direction} ZMP, {peak}.")


def _mark_phases_and_pushes(axes: Axes, view: RecordingView) -> None:
    """Shade the phases and mark each push with a band."""
    shade_phases(axes, view.phases, HALF_WIDTH)
    for push in recorded_pushes(view):
        axes.axvspan(push.time, push.time + push.duration, color=PUSH_COLOR, linewidth=0.8, zorder=0.5)


def _pressure_row(view: RecordingView, pressure: SolePressureSeries) -> tuple[str, ...]:
    distance = np.hypot(*pressure.zmp.T)
    known = np.isfinite(distance)
    name, W = f"{view.label}, {pressure.foot.side}", number(float(np.nanmean(pressure.amplitude)))
    if not known.any():
        return (name, W, *[number(None)] * 4)
    rms, at = float(np.sqrt(np.mean(distance[known] ** 2))), int(np.nanargmax(distance))
    peak = (number(1e3 * rms), number(1e3 * distance[at]), f"{view.recording.time[at]:.2f}")
    return (name, W, *peak, _format_share(pressure.inside_share))


def _format_share(share: float) -> str:
    """Format a share in percent, rounded down, so that 100 % means all samples."""
    return percent(share) if share == 1.0 else f"{math.floor(1e3 * share) / 10:.1f} %"
