"""The report on the joint torques of a person, with a comparison with robots."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from poise.analysis import TOE_OFF_PERCENT, AnatomicalWalk, StrideComparison, anatomical_walk, compare_strides
from poise.errors import GaitError, PoiseError
from poise.html import (
    FAINT,
    THIRD,
    Section,
    assembled,
    beside,
    drawing,
    figure,
    grouped,
    heading,
    note,
    number,
    paragraph,
    percent,
    saved,
    table,
    unbroken,
)
from poise.human import Torques, human_strides
from poise.recording import Recording, named_robot
from poise.report.moment_charts import back, forces, legs, residual, stored, trial
from poise.report.recording_view import LINES

WORDS = (
    "Torques per kg of body mass over the gait cycle, joint by joint; which joint of a robot does what was found from "
    "its geometry. Time is stretched so that every foot leaves the ground at 60 %, and strides of both feet are taken "
    "together. Signs are those of the human body: flexion, adduction, internal rotation, dorsiflexion positive."
)
LEGEND = (
    "Correlation: of the shapes. Peak: the largest torque of the person, and the robot's to the same side. Jerk: log "
    "dimensionless jerk of the torque, closer to zero is smoother. Effort: part of the mean torque of all these joints."
)


def robots(torques: Torques, recordings: Mapping[str, Recording]) -> Section | None:
    """Tables and curves for robots against the person; None if no robot was given."""
    if not recordings:
        return None
    title = "Against robots"
    try:
        person = human_strides(torques, "person")
    except GaitError as error:
        return Section(title, note(f"{error}."))
    found: dict[str, tuple[AnatomicalWalk, StrideComparison]] = {}
    notes = []
    for name, recording in recordings.items():
        try:
            walk = _walk(name, recording)
            found[name] = walk, compare_strides(walk, person)
        except PoiseError as error:
            notes.append(note(f"{name}: {str(error).removeprefix(f'{name}: ')}."))
    parts = [paragraph(WORDS), *notes]
    if found:
        parts += [_curves(person, found), _whole(found)]
        parts += [_table(name, comparison) for name, (_, comparison) in found.items()]
    return Section(title, "".join(parts))


def _walk(name: str, recording: Recording) -> AnatomicalWalk:
    owner = recording.robot or named_robot(recording.provenance)
    if isinstance(owner, str):
        raise PoiseError(f"whose recording it is cannot be told: {owner}")
    return anatomical_walk(recording, owner, name)


def _curves(person: AnatomicalWalk, found: Mapping[str, tuple[AnatomicalWalk, StrideComparison]]) -> str:
    names = list(dict.fromkeys(row.degree_of_freedom for _, each in found.values() for row in each.rows))
    figures = []
    for rotation in names:
        with drawing(f"Torque of {rotation} over the gait cycle", THIRD) as drawn:
            axes, own = drawn.axes, person.curves("torque", rotation).mean / person.mass
            share = np.linspace(0.0, 100.0, len(own))
            axes.plot(share, own, color=LINES[4].color, linewidth=1.6, label="person")
            said = []
            for k, (label, (walk, each)) in enumerate(found.items()):
                row = next((row for row in each.rows if row.degree_of_freedom == rotation), None)
                if row is not None:
                    said.append(f"{label} {number(row.torque.correlation, 2)}")
                    line = LINES[k % len(LINES)]
                    values = walk.curves("torque", rotation).mean / walk.mass
                    axes.plot(share, values, color=line.color, linestyle=line.dash, linewidth=1.1, label=label)
            axes.axvline(TOE_OFF_PERCENT, color=FAINT, linewidth=0.6)
            axes.axhline(0.0, color=FAINT, linewidth=0.6)
            axes.set(xlabel="gait cycle, foot off at 60 (%)", ylabel="torque (N m/kg)", xlim=(0.0, 100.0))
            drawn.legend(3)
        figures.append(figure(drawn.svg, f"{rotation.capitalize()}: correlation {', '.join(said)}."))
    return beside(figures, 3)


def _whole(found: Mapping[str, tuple[AnatomicalWalk, StrideComparison]]) -> str:
    """Each robot as a whole: how effort is divided, how smooth it is, and how it falls from the back to the head."""
    rows = []
    for name, (walk, each) in found.items():
        rows.append(
            (
                name,
                f"{walk.mass:.1f}",
                percent(each.overlap),
                number(each.order, 2),
                f"{each.most[0]}, {each.most[1]}",
                _both(each.jerk),
                _both(each.crest, 2),
                _both(each.back, 2),
                _both(each.neck, 2),
            )
        )
    head = ["robot", "mass (kg)", "effort divided alike", "rank correlation", "most in", "jerk", "crest",
            "back, rms (N m/kg)", "neck, rms (N m/kg)"]  # fmt: skip
    caption = (
        "Two values are those of the robot and of the person. Effort divided alike: 100 % if each joint takes the "
        "same part. Crest: largest rate of change over its root mean square; a sine has 1.4, sudden peaks ten and "
        "more. The person's motion was low-pass filtered, which is a part of that smoothness."
    )
    return heading("As a whole") + table(head, rows, caption)


def _both(values: tuple[float, float], digits: int = 3) -> str:
    return unbroken(f"{number(values[0], digits)} / {number(values[1], digits)}")


def _table(name: str, comparison: StrideComparison) -> str:
    rows = []
    for row in comparison.rows:
        rows.append(
            (
                row.degree_of_freedom,
                number(row.torque.correlation, 2),
                number(row.torque.error, 2),
                percent(row.torque.peak_ratio),
                number(row.angle.correlation, 2),
                number(row.torque.peak),
                number(row.smoothness[0].jerk),
                percent(row.effort[0]),
                number(row.torque.reference_peak),
                number(row.smoothness[1].jerk),
                percent(row.effort[1]),
            )
        )
    first = ["rotation", "correlation", "rms (N m/kg)", "peak, of the person's", "correlation of angles"]
    each = ("peak (N m/kg)", "jerk", "effort")
    return heading(name) + grouped(first, [name, "person"], each, rows, LEGEND)


# -- The page of the torques of a person who walked over force plates ------------------------------------------------


def torques_page(torques: Torques, recordings: Mapping[str, Recording] | None = None) -> str:
    """HTML about the torques of a person, with all figures in it: nothing is fetched from anywhere.

    Args:
        torques: what `poise.human.torques.compute_torques` found.
        recordings: walks of robots with torques, by the names that the page uses, to compare with.

    >>> torques_page(compute_torques(fit(walk, static)), {"g1": poise.load_recording("g1_walk.poise")})
    """
    made = [trial(torques), forces(torques), legs(torques), back(torques), stored(torques), residual(torques)]
    compared = robots(torques, recordings or {})
    who = torques.trial.subject.name or Path(torques.trial.path).stem
    return assembled(f"Torques of {who}", [*made, *([compared] if compared is not None else [])])


def save_torques_page(
    path: str | os.PathLike[str], torques: Torques, recordings: Mapping[str, Recording] | None = None
) -> Path:
    """Writes a `torques_page` to a file and returns its path; the file appears whole or not at all."""
    return saved(path, lambda: torques_page(torques, recordings))
