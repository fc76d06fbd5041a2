"""Comparison: recordings laid over each other after their time is normalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis import aligned
from poise.report.page.drawing import THIRD
from poise.report.page.html import beside, heading, listed, note, number, paragraph
from poise.report.page.joints import angles, efforts
from poise.report.page.overlay import Scaled, heights, overlay
from poise.report.page.section import Section
from poise.report.page.subject import Subject

#: What a figure of the center of mass spans at least, mm or % of the height: less is noise.
LEAST = 2.0


def comparison(subjects: Sequence[Subject]) -> Section:
    """Center of mass, hands, joints that differ, torques of limbs: what can be compared of these recordings."""
    title = "Comparison after time normalisation"
    if len(subjects) < 2:
        return Section(title, note("There is one recording only; give two or more to compare them."))
    lasting = [s for s in subjects if len(s.recording) > 1 and s.recording.time[-1] > s.recording.time[0]]
    if len(lasting) < 2:
        return Section(title, note("Fewer than two of the recordings have a duration."))
    scaled = list(zip(lasting, aligned([s.recording for s in lasting]), strict=True))
    parts = [paragraph(_scale(scaled)), *_centers(scaled), *_hands(scaled), *angles(scaled), *efforts(scaled)]
    return Section(title, "".join(parts))


def _scale(scaled: Sequence[Scaled]) -> str:
    times = listed([f"{s.label} {s.recording.time[-1] - s.recording.time[0]:.2f} s" for s, _ in scaled])
    how = "phase by phase, since all have the same phases" if scaled[0][1].phases else "each as a whole"
    return f"Motions last: {times}. They are stretched to 0 to 100 %, {how}."


def _centers(scaled: Sequence[Scaled]) -> list[str]:
    """How the centers of mass move from where they start, per height of the robot if these are different robots."""
    having = [(s, own) for s, own in scaled if "center_of_mass" in s.recording]
    if len(having) < 2:
        return [note("Fewer than two of the recordings tell of the center of mass.")]
    sizes = heights(having)
    unit, scales = ("% of height", [100.0 / size for size in sizes]) if sizes else ("mm", [1e3] * len(having))
    figures = []
    for k, axis in enumerate(("x, forward", "y, to the left", "z, up")):
        moved = []
        for (s, own), scale in zip(having, scales, strict=True):
            moved.append(scale * (own["center_of_mass"][:, k] - s.recording["center_of_mass"][0, k]))
        figures.append(overlay(having, moved, f"{axis[0]} ({unit})", f"{axis}, from its start.", THIRD, least=LEAST))
    return [heading("Center of mass"), beside(figures, 3)]


def _hands(scaled: Sequence[Scaled]) -> list[str]:
    """How fast each hand moves, in heights of the robot per second if these are different robots."""
    figures = []
    for side in ("left", "right"):
        having, speeds = [], []
        for s, own in scaled:
            hand = next((hand for hand in (s.robot.hands if s.robot else ()) if hand.side == side), None)
            if hand is not None and s.tracks is not None:
                having.append((s, own))
                speeds.append(own.at(np.linalg.norm(s.tracks.velocity(hand), axis=1)))
        if len(having) < 2:
            continue
        sizes = heights(having)
        values = [speed / size for speed, size in zip(speeds, sizes, strict=True)] if sizes else speeds
        most = [f"{number(float(np.nanmax(v)))} m/s ({s.label})" for v, (s, _) in zip(speeds, having, strict=True)]
        label = "speed (heights/s)" if sizes else "speed (m/s)"
        figures.append(overlay(having, values, label, f"{side} hand: at most {listed(most)}.", from_zero=True))
    if not figures:
        return [note("Hands are not compared: fewer than two of the recordings have hands and a model.")]
    return [heading("Speed of the hands"), beside(figures)]
