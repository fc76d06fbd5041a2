"""Report section on balance: center of mass and zero-moment point over the support polygon, from above."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.analysis import BodyTrajectories
from poise.arrays import Array
from poise.html import (
    ABOVE,
    BELOW,
    FAINT,
    HALF,
    INK,
    LEFT,
    RIGHT,
    Section,
    beside,
    column,
    drawing,
    figure,
    note,
    number,
    paragraph,
    table,
    thinned,
)
from poise.report.recording_view import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Samples at which the distance to the edge is measured: every 25 ms of a run of ten seconds.
SAMPLES = 400
#: Polygons that are drawn: those of the first stances of a long walk, which are enough to read the rest.
POLYGONS = 40
PRESSURE = "#d55e00"
#: Least and most height of the axes, in units of the drawing: a long walk is flat, a stance is high.
LOWEST, HIGHEST = 110.0, 300.0


class View(NamedTuple):
    """What is seen from above: the recording, its tracks, where the ground pushes and what that is called."""

    subject: Subject
    tracks: BodyTrajectories
    pushing: Array
    name: str

    @property
    def polygons(self) -> list[Array]:
        """One polygon for each stretch in which the same parts stand, (k, 2), m; none if nobody noted what stands."""
        if "contacts" not in self.tracks.recording:
            return []
        names = np.array([str(text) for text in self.tracks.recording["contacts"]])
        starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
        middles = [(a + b) // 2 for a, b in itertools.pairwise(starts)]
        return [polygon for i in middles[:POLYGONS] if len(polygon := self.tracks.support(i)) > 2]

    def margins(self) -> tuple[float, float]:
        """Smallest distance of center of mass and of the pushing point from the edge (m), negative outside."""
        n = len(self.tracks.recording)
        inner = np.unique(np.linspace(min(1, n - 1), max(n - 2, 0), SAMPLES).astype(int)).tolist()
        found = [self.tracks.margins(points, inner) for points in (self.tracks.center[:, :2], self.pushing)]
        least = [float(np.nanmin(each)) if np.isfinite(each).any() else np.nan for each in found]
        return least[0], least[1]

    @property
    def frame(self) -> Array | None:
        """Lower and upper corner of what is to be seen, (2, 2), m.

        Polygons and center of mass are seen whole, and of the other point what is near: at an impact it jumps far.
        """
        shown = np.vstack([*self.polygons, self.tracks.center[:, :2]])
        shown = shown[np.isfinite(shown).all(axis=1)]
        if not len(shown):
            return None
        low, high = shown.min(axis=0), shown.max(axis=0)
        room = 0.5 * float((high - low).max())
        near = self.pushing[np.isfinite(self.pushing).all(axis=1)]
        near = near[((near > low - room) & (near < high + room)).all(axis=1)]
        both = np.vstack([low[np.newaxis], high[np.newaxis], near])
        pad = 0.05 * float(np.ptp(both, axis=0).max()) + 1e-3
        return np.array([both.min(axis=0) - pad, both.max(axis=0) + pad])


def balance(subjects: Sequence[Subject]) -> Section:
    """A view from above for each recording, all at one scale, and how far both points stay inside."""
    absent = [note(s.lacks("soles are known without its robot's model")) for s in subjects if s.tracks is None]
    views = [_view(s, s.tracks) for s in subjects if s.tracks is not None]
    frames = [frame for view in views if (frame := view.frame) is not None]
    size = np.max([np.ptp(frame, axis=0) for frame in frames], axis=0) if frames else np.ones(2)
    figures, rows = [], []
    for view in views:
        center, pushed = view.margins()
        figures.append(_figure(view, size, pushed, column(len(subjects))))
        if np.isfinite(center) or np.isfinite(pushed):
            rows.append((view.subject.label, number(1e3 * center), number(1e3 * pushed), view.name))
    head = ["recording", "center of mass (mm)", "where the ground pushes (mm)", "which is the"]
    caption = "Smallest distance from the edge of the support polygon; negative outside."
    summary = table(head, rows, caption) if rows else ""
    words = "Seen from above, x is forward and y to the left of where the robot started." if views else ""
    return Section("Balance", "".join([paragraph(words), *absent, beside(figures, len(subjects)), summary]))


def _view(subject: Subject, tracks: BodyTrajectories) -> View:
    """With the center of pressure that was sensed, or else the zero-moment point that the motion needs."""
    name = "center_of_pressure"
    if name in subject.recording and np.isfinite(subject.recording[name]).any():
        return View(subject, tracks, subject.recording[name], "sensed center of pressure")
    return View(subject, tracks, tracks.zmp, "zero-moment point of the motion")


def _figure(view: View, size: Array, margin: float, width: float) -> str:
    inside = (width - LEFT - RIGHT) * float(size[1] / size[0])
    height = min(max(inside, LOWEST), HIGHEST) + ABOVE + BELOW
    label, tracks = view.subject.label, view.tracks
    with drawing(f"Center of mass of {label} over its support polygon, from above", width, height) as drawn:
        axes = drawn.axes
        for i, polygon in enumerate(view.polygons):
            name = "support polygon" if i == 0 else None
            axes.fill(*polygon.T, facecolor="#e6efe9", edgecolor="#5a8a72", linewidth=0.7, alpha=0.75, label=name)
        way(axes, view.pushing, view.name, {"color": PRESSURE, "linewidth": 0.7, "linestyle": (0, (3, 1.2))})
        way(axes, tracks.center[:, :2], "center of mass", {"color": INK, "linewidth": 1.4})
        axes.plot(*tracks.center[0, :2], "o", color=INK, markersize=8, markerfacecolor="none", label="start")
        axes.plot(*tracks.center[-1, :2], "s", color=INK, markersize=4, label="end", linestyle="none")
        axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
        if view.frame is not None:
            (left, right), (bottom, top) = (view.frame.mean(axis=0) + np.array([[-0.5], [0.5]]) * size).T
            axes.set(xlim=(left, right), ylim=(bottom, top))
        axes.grid(color=FAINT, alpha=0.25, linewidth=0.5)
        drawn.legend(3 if width >= HALF else 2)
    said = "stays inside" if margin > 0.0 else f"leaves the polygon by up to {number(-1e3 * margin)} mm"
    if not np.isfinite(margin):
        said = "is not known" if np.isnan(view.pushing).all() else "is drawn, but not what the feet stood on"
    return figure(drawn.svg, f"{label}: the {view.name} {said}.")


def way(axes: Axes, points: Array, name: str, style: dict[str, Any]) -> None:
    """The way of a point, thinned along both axes, so that no turn is lost."""
    count = np.arange(len(points), dtype=np.float64)
    kept = np.unique(np.concatenate([thinned(count, points[:, k])[0] for k in range(2)])).astype(int)
    axes.plot(*points[kept].T, label=name, **style)
