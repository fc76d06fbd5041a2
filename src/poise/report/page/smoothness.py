"""Smoothness of movement and torques, in tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from poise.analysis import (
    log_dimensionless_jerk,
    peak_rate,
    root_mean_square,
    root_mean_square_rate,
    spectral_arc_length,
    torque_arc_length,
)
from poise.report.page.html import MINUS, NONE, grouped, note, number, paragraph, table
from poise.report.page.section import Section
from poise.report.page.subject import Subject

Array = NDArray[np.float64]
Measure = Callable[[Array, float], float]

#: A part that never moves faster than this (m/s) stands still, and stillness has no smoothness.
STILL = 0.01
#: What is measured of a movement.
MOVEMENT: dict[str, Measure] = {"spectral arc length": spectral_arc_length, "log jerk": log_dimensionless_jerk}
#: What is measured of torques, and whether one is so many times another.
TORQUES: dict[str, tuple[Measure, bool]] = {
    "root mean square (N m)": (lambda torque, _: root_mean_square(torque), True),
    "root mean square of the rate (N m/s)": (root_mean_square_rate, True),
    "peak rate (N m/s)": (lambda torque, period: peak_rate(torque, period).value, True),
    "spectral arc length": (torque_arc_length, False),
}
WORDS = (
    "Spectral arc length and log dimensionless jerk have no unit, do not depend on the size or the duration of a "
    f"movement, and rise towards zero as it gets smoother: one minimum-jerk stroke has {MINUS}1.41 and {MINUS}5.32."
)
PHASES = "A motion of several strokes has less; by phase, each phase counts as one stroke and the mean is given."
OF_TORQUES = "Torques are those of all joints together; the peak rate is that of the fastest joint."


def smoothness(subjects: Sequence[Subject]) -> Section:
    """Tables of movement and of torques, with a column per recording."""
    still = "movement of its parts is known without its robot's model"
    notes = [note(s.lacks("torques were recorded")) for s in subjects if s.torque is None]
    notes += [note(s.lacks(still)) for s in subjects if s.robot is None]
    phased = any(len(s.phases) > 1 for s in subjects)
    words = paragraph(WORDS, PHASES if phased else "")
    return Section("Smoothness", words + _movements(subjects, phased) + _torques(subjects) + "".join(notes))


def _movements(subjects: Sequence[Subject], phased: bool) -> str:
    moving = [_velocities(s) for s in subjects]
    parts = list(dict.fromkeys(name for own in moving for name in own))
    each = [f"{title}{how}" for title in MOVEMENT for how in (("", ", by phase") if phased else ("",))]
    rows = []
    for part in parts:
        cells = []
        for subject, own in zip(subjects, moving, strict=True):
            for measure in MOVEMENT.values():
                velocity = own.get(part, np.zeros((len(subject.recording), 3)))  # at rest it has none
                cells.append(measure(velocity, subject.recording.period))
                cells += [by_phase(subject, velocity, measure)] if phased else []
        rows.append((part, *map(number, cells)))
    return grouped(["movement of"], [s.label for s in subjects], each, rows) if rows else ""


def _velocities(subject: Subject) -> dict[str, Array]:
    """Of what moves: feet, hands and center of mass, (n, 3), m/s."""
    tracks = subject.tracks
    if tracks is None:
        return {}
    moving = {f"{foot.side} foot": tracks.velocity(foot) for foot in tracks.robot.feet}
    moving |= {f"{hand.side} hand": tracks.velocity(hand) for hand in tracks.robot.hands}
    moving["center of mass"] = tracks.center_velocity
    return {name: v for name, v in moving.items() if np.isfinite(v).all() and _fastest(v) > STILL}


def by_phase(subject: Subject, velocity: Array, measure: Measure) -> float:
    """Mean of a measure over the phases in which something moves; NaN if there are none."""
    time, values = subject.recording.time, []
    for phase in subject.phases:
        own = velocity[(time >= phase.begin - 1e-9) & (time < phase.end - 1e-9)]
        if _fastest(own) > STILL:
            values.append(measure(own, subject.recording.period))
    return float(np.mean(values)) if values else np.nan


def _torques(subjects: Sequence[Subject]) -> str:
    given = [s for s in subjects if s.torque is not None]
    if not given:
        return ""
    rows = []
    for title, (measure, compared) in TORQUES.items():
        values = [measure(s.torque, s.recording.period) for s in given if s.torque is not None]
        ratios = [number(value / values[0]) if compared and values[0] else "" for value in values[1:]]
        rows.append((title, *map(number, values), *ratios))
    rows.append(("joint of the peak rate", *map(_hasty, given), *[""] * (len(given) - 1)))
    head = ["torques", *(s.label for s in given), *(f"{s.label} / {given[0].label}" for s in given[1:])]
    return paragraph(OF_TORQUES) + table(head, rows)


def _hasty(subject: Subject) -> str:
    """Name of the joint whose torque changes fastest."""
    fastest = peak_rate(np.zeros((0, 1)) if subject.torque is None else subject.torque, subject.recording.period)
    return subject.joints[fastest.column] if fastest.sample >= 0 else NONE


def _fastest(velocity: Array) -> float:
    return float(np.linalg.norm(velocity, axis=1).max(initial=0.0))
