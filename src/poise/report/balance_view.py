"""Report section on balance: center of mass (CoM) and zero-moment point (ZMP) over the support polygon, from above."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.analysis import BodyTrajectories, first_fallen_sample, state_samples
from poise.arrays import Array
from poise.html import (
    GRID_COLOR,
    HALF_WIDTH,
    MARGIN_BOTTOM,
    MARGIN_LEFT,
    MARGIN_RIGHT,
    MARGIN_TOP,
    TEXT_COLOR,
    Section,
    chart_width,
    decimate,
    figure,
    grid,
    new_chart,
    note,
    number,
    paragraph,
    table,
)
from poise.report.recording_view import RecordingView

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Largest number of polygons drawn: the first steps of a long walk are enough to read the rest.
MAX_POLYGONS = 40
PRESSURE_COLOR = "#d55e00"
#: Smallest and largest height of the axes, in drawing units: a long walk is flat, a stance is tall.
MIN_HEIGHT, MAX_HEIGHT = 110.0, 300.0


class BalanceView(NamedTuple):
    """Top view of a recording.

    Attributes:
        recording_view: the recording.
        body_trajectories: motion of its parts and its CoM.
        pressure_points: measured center of pressure (CoP) or ZMP in the world, (n, 2), m.
        name: name of the pressure points on the page.
        is_measured: whether they were measured.
    """

    recording_view: RecordingView
    body_trajectories: BodyTrajectories
    pressure_points: Array
    name: str
    is_measured: bool

    @property
    def polygons(self) -> list[Array]:
        """Support polygon of each interval with the same contacts, (k, 2), m; empty if contacts were not recorded."""
        if "contacts" not in self.body_trajectories.recording:
            return []
        names = np.array([str(text) for text in self.body_trajectories.recording["contacts"]])
        starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
        middles = [(a + b) // 2 for a, b in itertools.pairwise(starts)]
        return [polygon for i in middles[:MAX_POLYGONS] if len(polygon := self.body_trajectories.support(i)) > 2]

    def margins(self) -> tuple[float, float]:
        """Return the smallest distance of CoM and pressure point from the edge of the polygon (m), negative outside."""
        tracks, recording = self.body_trajectories, self.recording_view.recording
        # At the samples of the result of a run, until a fall: so its margin and that on the page are the same.
        samples = state_samples(recording) if self.is_measured else range(recording.samples)
        inner = [i for i in samples if i < first_fallen_sample(tracks)][1:-1]
        margins = [tracks.margins(points, inner) for points in (tracks.center_of_mass[:, :2], self.pressure_points)]
        smallest = [float(np.nanmin(each)) if np.isfinite(each).any() else np.nan for each in margins]
        return smallest[0], smallest[1]

    @property
    def limits(self) -> Array | None:
        """Lower and upper corner of the axes, (2, 2), m; None without data.

        Polygons and CoM are shown completely, pressure points only if they are near: at an impact they jump far away.
        """
        shown = np.vstack([*self.polygons, self.body_trajectories.center_of_mass[:, :2]])
        shown = shown[np.isfinite(shown).all(axis=1)]
        if not len(shown):
            return None
        low, high = shown.min(axis=0), shown.max(axis=0)
        reach = 0.5 * float((high - low).max())
        nearby = self.pressure_points[np.isfinite(self.pressure_points).all(axis=1)]
        nearby = nearby[((nearby > low - reach) & (nearby < high + reach)).all(axis=1)]
        corners = np.vstack([low[np.newaxis], high[np.newaxis], nearby])
        padding = 0.05 * float(np.ptp(corners, axis=0).max()) + 1e-3
        return np.array([corners.min(axis=0) - padding, corners.max(axis=0) + padding])


def balance_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: a top view of each recording, all at one scale, and the smallest margins of both points."""
    missing = [
        note(view.missing_note("support polygon, since the model of its robot is missing"))
        for view in views
        if view.body_trajectories is None
    ]
    top_views = [_top_view(view, view.body_trajectories) for view in views if view.body_trajectories is not None]
    all_limits = [limits for top_view in top_views if (limits := top_view.limits) is not None]
    size = np.max([np.ptp(limits, axis=0) for limits in all_limits], axis=0) if all_limits else np.ones(2)
    figures, rows = [], []
    for top_view in top_views:
        center_margin, pressure_margin = top_view.margins()
        figures.append(_balance_figure(top_view, size, pressure_margin, chart_width(len(views))))
        if np.isfinite(center_margin) or np.isfinite(pressure_margin):
            rows.append(
                (
                    top_view.recording_view.label,
                    number(1e3 * center_margin),
                    number(1e3 * pressure_margin),
                    top_view.name,
                )
            )
    head = ["recording", "center of mass (mm)", "pressure point (mm)", "pressure point"]
    caption = "Smallest distance from the edge of the support polygon; negative is outside."
    summary = table(head, rows, caption) if rows else ""
    description = "Top view; at the start, x points forward and y to the left of the robot." if top_views else ""
    return Section("Balance", "".join([paragraph(description), *missing, grid(figures, len(views)), summary]))


def _top_view(view: RecordingView, tracks: BodyTrajectories) -> BalanceView:
    """Return the top view with the measured CoP if there is one, else with the ZMP computed from the motion."""
    name = "center_of_pressure"
    if name in view.recording and np.isfinite(view.recording[name]).any():
        return BalanceView(view, tracks, view.recording[name], "measured center of pressure", True)
    return BalanceView(view, tracks, tracks.zmp, "zero-moment point of the motion", False)


def _balance_figure(top_view: BalanceView, size: Array, margin: float, width: float) -> str:
    axes_height = (width - MARGIN_LEFT - MARGIN_RIGHT) * float(size[1] / size[0])
    height = min(max(axes_height, MIN_HEIGHT), MAX_HEIGHT) + MARGIN_TOP + MARGIN_BOTTOM
    label, tracks = top_view.recording_view.label, top_view.body_trajectories
    with new_chart(f"Center of mass of {label} over its support polygon, from above", width, height) as chart:
        axes = chart.axes
        for i, polygon in enumerate(top_view.polygons):
            name = "support polygon" if i == 0 else None
            axes.fill(*polygon.T, facecolor="#e6efe9", edgecolor="#5a8a72", linewidth=0.7, alpha=0.75, label=name)
        path_curve(
            axes,
            top_view.pressure_points,
            top_view.name,
            {"color": PRESSURE_COLOR, "linewidth": 0.7, "linestyle": (0, (3, 1.2))},
        )
        path_curve(axes, tracks.center_of_mass[:, :2], "center of mass", {"color": TEXT_COLOR, "linewidth": 1.4})
        axes.plot(
            *tracks.center_of_mass[0, :2], "o", color=TEXT_COLOR, markersize=8, markerfacecolor="none", label="start"
        )
        axes.plot(*tracks.center_of_mass[-1, :2], "s", color=TEXT_COLOR, markersize=4, label="end", linestyle="none")
        axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
        if top_view.limits is not None:
            (left, right), (bottom, top) = (top_view.limits.mean(axis=0) + np.array([[-0.5], [0.5]]) * size).T
            axes.set(xlim=(left, right), ylim=(bottom, top))
        axes.grid(color=GRID_COLOR, alpha=0.25, linewidth=0.5)
        chart.legend(3 if width >= HALF_WIDTH else 2)
    text = "stays inside" if margin > 0.0 else f"leaves the polygon by up to {number(-1e3 * margin)} mm"
    if not np.isfinite(margin):
        text = "is not known" if np.isnan(top_view.pressure_points).all() else "is shown; contacts were not recorded"
    return figure(chart.svg, f"{label}: the {top_view.name} {text}.")


def path_curve(axes: Axes, points: Array, name: str, style: dict[str, Any]) -> None:
    """Plot the path of a point (n, 2), decimated along both axes so that no turn is lost."""
    count = np.arange(len(points), dtype=np.float64)
    indices = np.unique(np.concatenate([decimate(count, points[:, k])[0] for k in range(2)])).astype(int)
    axes.plot(*points[indices].T, label=name, **style)
