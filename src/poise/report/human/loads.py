"""Loads: what the ground did to a person who walked, and what inverse dynamics could not explain."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise.human.torques import Torques
from poise.report.page.cycle import LEGS
from poise.report.page.drawing import COLORS, DASHES, FAINT, HALF, SHADE, curve, drawing
from poise.report.page.html import beside, bullets, figure, heading, number, paragraph, percent, table, wordy
from poise.report.page.section import Section
from poise.robots.parts import SIDES, Side
from poise.state.balance import GRAVITY

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]

FORCES = (
    "Forces of the ground on each foot as the plates measured them, as a share of the body's weight. Grey: the foot is "
    "wholly on its plates, and all that the ground does to it is known."
)
RESIDUAL = (
    "What would have to act on the pelvis beside the ground to make the measured motion out of the measured forces, in "
    "world axes. With a perfect body, perfect markers and perfect plates it would be zero. Grey: frames in which both "
    "feet are wholly on plates or in the air; only these count."
)


def trial(torques: Torques) -> Section:
    """Who walked, on which plates, and what was decided on the way."""
    person, robot = torques.trial.subject, torques.robot
    rows = [
        ("person", person.name or "not named"),
        ("mass (kg)", f"{torques.mass:.1f}"),
        ("body", f"{robot.height:.2f} m, {len(robot.joints)} joints"),
        ("frames", f"{len(torques.time)} at {torques.trial.rate:g} Hz, {torques.time[-1] - torques.time[0]:.2f} s"),
        ("force plates", str(len(torques.trial.plates))),
    ]
    steps = [
        (
            torques.trial.plates[each.plate].name,
            each.side,
            f"{torques.time[each.begin]:.2f} to {torques.time[each.end - 1]:.2f}",
            "all of it"
            if each.whole
            else "not alone"
            if each.shared
            else f"{1e3 * each.beyond:.0f} mm beyond the edge",
        )
        for each in torques.ground.intervals
    ]
    whole = wordy(["", torques.trial.path.rpartition("/")[2]], rows)
    whole += wordy(["plate", "foot", "loaded (s)", "the plate measures"], steps) if steps else ""
    return Section("The trial", whole + heading("How it was done") + bullets(torques.notes))


def forces(torques: Torques) -> Section:
    """Forces of the ground under each foot over time."""
    figures = [_force(torques, side, *_reach(torques)) for side in SIDES]
    return Section("Ground forces", paragraph(FORCES) + beside(figures))


def residual(torques: Torques) -> Section:
    """Force and moment at the pelvis that nothing explains, over time and on average."""
    known = torques.ground.known
    groups = (("force", "N", slice(0, 3)), ("moment", "N m", slice(3, 6)))
    figures = []
    for name, unit, columns in groups:
        values = torques.residual[:, columns]
        with drawing(f"Residual {name} at the pelvis over time", HALF) as drawn:
            marked(drawn.axes, torques.time, known)
            for k, axis in enumerate("xyz"):
                shown = np.where(known, values[:, k], np.nan)
                curve(drawn.axes, torques.time, shown, color=COLORS[k], linestyle=DASHES[k], label=axis)
            drawn.axes.axhline(0.0, color=FAINT, linewidth=0.6)
            drawn.axes.set(xlabel="time (s)", ylabel=f"{name} ({unit})", xlim=_span(torques))
            drawn.legend(3)
        figures.append(figure(drawn.svg, f"Residual {name} in the axes of the world, where all contact is measured."))
    rms, weight = torques.residual_rms, GRAVITY * torques.mass
    rows = [
        (axis, number(float(rms[k])), percent(float(rms[k]) / weight), number(float(rms[k + 3])))
        for k, axis in enumerate(("x", "y", "z, up"))
    ]
    head = ["axis of the world", "force, rms (N)", "of the weight", "moment, rms (N m)"]
    caption = f"Root mean square over {int(known.sum())} of {len(known)} frames."
    return Section("What stays unexplained", paragraph(RESIDUAL) + beside(figures) + table(head, rows, caption))


def marked(axes: Axes, time: Array, marks: Marks) -> None:
    """Times at which something holds, on a grey ground."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(np.int8)))
    for begin, end in edges.reshape(-1, 2).tolist():
        axes.axvspan(time[begin], time[min(end, len(time) - 1)], color=SHADE, linewidth=0, zorder=0)


def _share(torques: Torques, side: Side) -> Array:
    """Force of the ground in % of the weight, n x 3; NaN where no plate is loaded."""
    loaded = torques.ground.loaded[side][:, np.newaxis]
    return np.where(loaded, 100.0 * torques.ground.force[side] / (GRAVITY * torques.mass), np.nan)


def _reach(torques: Torques) -> tuple[float, float]:
    """Least and most of all forces, with a little room: both feet are drawn at one scale."""
    both = np.concatenate([_share(torques, side).ravel() for side in SIDES])
    both = both[np.isfinite(both)]
    return (1.1 * min(float(both.min()), 0.0), 1.05 * float(both.max())) if len(both) else (0.0, 100.0)


def _force(torques: Torques, side: Side, low: float, high: float) -> str:
    ground, share = torques.ground, _share(torques, side)
    loaded = ground.loaded[side]
    with drawing(f"Ground force under the {side} foot over time", HALF, 150.0) as drawn:
        axes = drawn.axes
        marked(axes, torques.time, loaded & ground.measured[side])
        curve(axes, torques.time, share[:, 2], color=LEGS[side], label="vertical", linewidth=1.4)
        for k, axis in enumerate("xy"):
            curve(axes, torques.time, share[:, k], color=COLORS[2 + k], linestyle=DASHES[1 + k], label=f"along {axis}")
        axes.axhline(0.0, color=FAINT, linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel="force (% of weight)", xlim=_span(torques), ylim=(low, high))
        drawn.legend(3)
    most = float(np.nanmax(share[:, 2])) if loaded.any() else 0.0
    said = f"at most {most:.0f} % of the weight" if loaded.any() else "on no plate"
    return figure(drawn.svg, f"{side.capitalize()} foot: {said}.")


def _span(torques: Torques) -> tuple[float, float]:
    return float(torques.time[0]), float(torques.time[-1])
