"""Moments of hips, knees, ankles and back per kg, over time and over the gait cycle, and as the file has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.analysis.gait_error import GaitError
from poise.analysis.strides import Span
from poise.human.torques import Torques, against_stored, human_strides, moments
from poise.human.torques.moments import BACK, LEG, STORED_UNIT, Convention
from poise.report.human.loads import marked
from poise.report.page.cycle import DASHES, LEGS, SCALE
from poise.report.page.drawing import COLORS, FAINT, HALF, THIRD, curve, drawing
from poise.report.page.html import beside, figure, heading, note, number, paragraph, percent, table
from poise.report.page.section import Section
from poise.robots.parts import SIDES, Side

Array = NDArray[np.float64]

STORED, UNIT = "#222222", "moment (N m/kg)"
#: Steps of a gait cycle: per cent.
COUNT = 101
SIGNS = (
    "Moments are internal, those of muscles and ligaments, per kg of body mass; positive is what the title says. "
    "Solid: all that the ground does to the leg is known (grey ground: the foot is wholly on its plates; else it is "
    "in the air). Faint: a plate bears only a part of the foot, and the moment is too small by an unknown amount. No "
    "line: the foot stands beside the plates."
)
FILE = "Dashed, black: the moment that the laboratory's software stored in the file."


def legs(torques: Torques) -> Section:
    """Moments of both legs over time, with those of the file, then over the gait cycle."""
    known, every = moments(torques), moments(torques, everywhere=True)
    stored = any(_stored(torques, side, own) is not None for side in SIDES for own in LEG)
    figures = [
        _over_time(torques, side, own, known, every, _reach(torques, own, every)) for own in LEG for side in SIDES
    ]
    parts = [paragraph(SIGNS, FILE if stored else ""), beside(figures), heading("Over the gait cycle")]
    return Section("Moments of the legs", "".join([*parts, _cycles(torques, known)]))


def back(torques: Torques) -> Section:
    """Moments of the lower back, which need no plate: all that is above it hangs on nothing else."""
    words = (
        "Moments of the lower back carry trunk, head and arms. They follow from the motion of these alone: no plate is "
        "needed, and they are known in every frame."
    )
    own = moments(torques)
    figures = []
    for k, each in enumerate(BACK):
        with drawing(f"{each.title} moment over time", THIRD) as drawn:
            curve(drawn.axes, torques.time, own[each.title], color=COLORS[k])
            drawn.axes.axhline(0.0, color=FAINT, linewidth=0.6)
            drawn.axes.set(xlabel="time (s)", ylabel=UNIT, xlim=(torques.time[0], torques.time[-1]))
        low, high = (number(float(f(own[each.title])), 2) for f in (np.nanmin, np.nanmax))
        figures.append(figure(drawn.svg, f"{each.title.capitalize()}: {low} to {high} N m/kg."))
    return Section("Moments of the lower back", paragraph(words) + beside(figures, 3))


def stored(torques: Torques) -> Section:
    """How alike our moments and those of the file are."""
    rows = against_stored(torques)
    if not rows:
        return Section("Against the file", note("The file stores no moments that could be compared."))
    words = (
        "Frames in which a plate bears the foot. The correlation is that of the shapes over time: 1 where they are the "
        "same but for size and offset. Laboratories place the center of the hip otherwise, by a centimetre or two, "
        "which changes the moment of the hip the most."
    )
    cells = [
        (
            f"{row.side.capitalize()} {row.title}",
            str(row.agreement.samples),
            f"{row.agreement.correlation:.3f}",
            number(row.agreement.error, 2),
            number(row.agreement.peak),
            number(row.agreement.reference_peak),
            percent(row.agreement.peak_ratio),
        )
        for row in rows
    ]
    head = ["moment", "frames", "correlation", "rms difference (N m/kg)", "peak here (N m/kg)", "in the file (N m/kg)",
            "here of the file's"]  # fmt: skip
    return Section("Against the file", paragraph(words) + table(head, cells))


def _stored(torques: Torques, side: Side, own: Convention) -> Array | None:
    """What the file stores, N m per kg, NaN where it stores nothing; None if it has no such moment."""
    values = torques.trial.moments.get(f"{side[0].upper()}{own.stored}") if own.stored else None
    if values is None:
        return None
    there = np.isfinite(values).all(axis=1) & (values != 0.0).any(axis=1)
    return np.where(there, STORED_UNIT * values[:, own.component], np.nan) if there.any() else None


def _reach(torques: Torques, own: Convention, every: dict[str, Array]) -> tuple[float, float]:
    """Least and most of a moment on both sides, with a little room: they are drawn at one scale."""
    values = [every[f"{side} {own.title}"][torques.ground.carried(side)] for side in SIDES]
    values += [file for side in SIDES if (file := _stored(torques, side, own)) is not None]
    both = np.concatenate(values)
    both = both[np.isfinite(both)] if np.isfinite(both).any() else np.zeros(1)
    room = 0.06 * float(np.ptp(both)) + 0.01
    return float(both.min()) - room, float(both.max()) + room


def _over_time(
    torques: Torques,
    side: Side,
    own: Convention,
    known: dict[str, Array],
    every: dict[str, Array],
    reach: tuple[float, float],
) -> str:
    title, ground = f"{side} {own.title}", torques.ground
    partly = np.where(ground.carried(side), every[title], np.nan)
    file = _stored(torques, side, own)
    with drawing(f"Moment of the {title} over time", HALF, 120.0) as drawn:
        axes = drawn.axes
        marked(axes, torques.time, ground.loaded[side] & ground.measured[side])
        curve(axes, torques.time, partly, color=LEGS[side], alpha=0.35, linewidth=1.0)
        curve(axes, torques.time, known[title], color=LEGS[side], linewidth=1.4)
        if file is not None:
            curve(axes, torques.time, file, color=STORED, linestyle=(0, (3.0, 1.6)), linewidth=0.9)
        axes.axhline(0.0, color=FAINT, linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel=UNIT, xlim=(torques.time[0], torques.time[-1]), ylim=reach)
    ours = known[title][np.isfinite(known[title])]
    said = f"{number(float(ours.min()), 2)} to {number(float(ours.max()), 2)} N m/kg" if len(ours) else "not known"
    return figure(drawn.svg, f"{title.capitalize()}: {said}.")


def _cycles(torques: Torques, known: dict[str, Array]) -> str:
    try:
        spans = human_strides(torques).spans
    except GaitError as error:
        return note(f"{error}.")
    figures = [drawn for own in LEG if (drawn := _cycle(torques, own, spans, known))]
    words = (
        "From one touchdown of a foot to its next, each leg over the cycles of its own foot, where its moment is "
        "known; the vertical line is where the foot leaves the ground."
    )
    return paragraph(words) + beside(figures, 3)


def _cycle(torques: Torques, own: Convention, spans: tuple[Span, ...], known: dict[str, Array]) -> str:
    share, peaks = np.linspace(0.0, 100.0, COUNT), dict[str, float]()
    with drawing(f"Moment of the {own.title} over the gait cycle", THIRD) as drawn:
        axes = drawn.axes
        for side in SIDES:
            values, first = known[f"{side} {own.title}"], True
            for span in (span for span in spans if span.side == side):
                moment = np.interp(np.linspace(span.begin, span.end, COUNT), torques.time, values)
                if np.isfinite(moment).any():
                    axes.plot(share, moment, color=LEGS[side], linestyle=DASHES[side], label=side if first else None)
                    off = 100.0 * (span.off - span.begin) / (span.end - span.begin)
                    axes.axvline(off, color=LEGS[side], linestyle=DASHES[side], linewidth=0.5, alpha=0.7)
                    first = False
                    peaks[side] = max(peaks.get(side, -np.inf), float(np.nanmax(moment)))
        axes.axhline(0.0, color=FAINT, linewidth=0.6)
        axes.set(xlabel=SCALE, ylabel=UNIT, xlim=(0.0, 100.0))
        drawn.legend(2)
    said = ", ".join(f"{side} {number(most, 2)}" for side, most in peaks.items())
    return figure(drawn.svg, f"{own.title.capitalize()}: at most {said} N m/kg.") if peaks else ""
