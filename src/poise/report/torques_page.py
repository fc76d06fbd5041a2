"""Report page on the joint torques of a person who walked over force plates, with a comparison with robots."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from poise.analysis import TOE_OFF_PERCENT, AnatomicalWalk, StrideComparison, anatomical_walk, compare_strides
from poise.errors import GaitError, PoiseError
from poise.html import (
    GRID_COLOR,
    THIRD_WIDTH,
    Section,
    assemble_page,
    figure,
    grid,
    grouped_table,
    heading,
    new_chart,
    no_break,
    note,
    number,
    paragraph,
    percent,
    save_page_file,
    table,
)
from poise.human import Torques, human_anatomical_walk
from poise.recording import Recording, robot_from_provenance
from poise.report.moment_charts import (
    back_moments_section,
    file_comparison_section,
    ground_forces_section,
    leg_moments_section,
    residual_section,
    trial_section,
)
from poise.report.recording_view import LINE_STYLES

ROBOTS_DESCRIPTION = (
    "Torques per kg of body mass over the gait cycle, joint by joint; the anatomical function of each robot joint is "
    "derived from its geometry. Time is scaled so that toe-off is at 60 %, and strides of both feet are pooled. Signs "
    "are those of the human body: flexion, adduction, internal rotation and dorsiflexion are positive."
)
TABLE_LEGEND = (
    "Correlation: of the curve shapes. Peak: largest torque of the person, and of the robot in the same direction. "
    "Jerk: log dimensionless jerk of the torque, closer to zero is smoother. Effort: share of the mean torque of all "
    "these joints."
)


def robot_comparison_section(torques: Torques, recordings: Mapping[str, Recording]) -> Section | None:
    """Build the section that compares torques of robots with those of the person; None if there are no robots."""
    if not recordings:
        return None
    title = "Comparison with robots"
    try:
        person = human_anatomical_walk(torques, "person")
    except GaitError as error:
        return Section(title, note(f"{error}."))
    comparisons: dict[str, tuple[AnatomicalWalk, StrideComparison]] = {}
    notes = []
    for name, recording in recordings.items():
        try:
            walk = _robot_walk(name, recording)
            comparisons[name] = walk, compare_strides(walk, person)
        except PoiseError as error:
            notes.append(note(f"{name}: {str(error).removeprefix(f'{name}: ')}."))
    parts = [paragraph(ROBOTS_DESCRIPTION), *notes]
    if comparisons:
        parts += [_curve_figures(person, comparisons), _summary_table(comparisons)]
        parts += [_joint_table(name, comparison) for name, (_, comparison) in comparisons.items()]
    return Section(title, "".join(parts))


def _robot_walk(name: str, recording: Recording) -> AnatomicalWalk:
    robot = recording.robot or robot_from_provenance(recording.provenance)
    if isinstance(robot, str):
        raise PoiseError(f"the robot of the recording is unknown: {robot}")
    return anatomical_walk(recording, robot, name)


def _curve_figures(person: AnatomicalWalk, comparisons: Mapping[str, tuple[AnatomicalWalk, StrideComparison]]) -> str:
    names = list(dict.fromkeys(row.degree_of_freedom for _, each in comparisons.values() for row in each.rows))
    figures = []
    for rotation in names:
        with new_chart(f"Torque of {rotation} over the gait cycle", THIRD_WIDTH) as chart:
            axes, person_torque = chart.axes, person.curves("torque", rotation).mean / person.mass
            share = np.linspace(0.0, 100.0, len(person_torque))
            axes.plot(share, person_torque, color=LINE_STYLES[4].color, linewidth=1.6, label="person")
            texts = []
            for k, (label, (walk, each)) in enumerate(comparisons.items()):
                row = next((row for row in each.rows if row.degree_of_freedom == rotation), None)
                if row is not None:
                    texts.append(f"{label} {number(row.torque.correlation, 2)}")
                    line_style = LINE_STYLES[k % len(LINE_STYLES)]
                    values = walk.curves("torque", rotation).mean / walk.mass
                    axes.plot(
                        share, values, color=line_style.color, linestyle=line_style.dashes, linewidth=1.1, label=label
                    )
            axes.axvline(TOE_OFF_PERCENT, color=GRID_COLOR, linewidth=0.6)
            axes.axhline(0.0, color=GRID_COLOR, linewidth=0.6)
            axes.set(xlabel="gait cycle, toe-off at 60 (%)", ylabel="torque (N m/kg)", xlim=(0.0, 100.0))
            chart.legend(3)
        figures.append(figure(chart.svg, f"{rotation.capitalize()}: correlation {', '.join(texts)}."))
    return grid(figures, 3)


def _summary_table(comparisons: Mapping[str, tuple[AnatomicalWalk, StrideComparison]]) -> str:
    """Return a table with one row per robot: distribution of effort, smoothness, and torques of back and neck."""
    rows = []
    for name, (walk, each) in comparisons.items():
        rows.append(
            (
                name,
                f"{walk.mass:.1f}",
                percent(each.effort_overlap),
                number(each.rank_correlation, 2),
                f"{each.dominant_joints[0]}, {each.dominant_joints[1]}",
                _pair_text(each.jerk),
                _pair_text(each.crest_factor, 2),
                _pair_text(each.back, 2),
                _pair_text(each.neck, 2),
            )
        )
    head = ["robot", "mass (kg)", "effort overlap", "rank correlation", "largest effort", "jerk", "crest",
            "back, rms (N m/kg)", "neck, rms (N m/kg)"]  # fmt: skip
    caption = (
        "Pairs of values are robot and person. Effort overlap: 100 % if each joint has the same share of the effort. "
        "Crest: largest rate of change divided by its root mean square; a sine has 1.4, sudden peaks 10 and more. The "
        "motion of the person was low-pass filtered, which contributes to its smoothness."
    )
    return heading("Summary") + table(head, rows, caption)


def _pair_text(values: tuple[float, float], digits: int = 3) -> str:
    return no_break(f"{number(values[0], digits)} / {number(values[1], digits)}")


def _joint_table(name: str, comparison: StrideComparison) -> str:
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
    first = ["joint angle", "correlation", "rms (N m/kg)", "peak, share of person", "correlation of angles"]
    each = ("peak (N m/kg)", "jerk", "effort")
    return heading(name) + grouped_table(first, [name, "person"], each, rows, TABLE_LEGEND)


# -- Page ------------------------------------------------------------------------------------------------------------


def torques_page(torques: Torques, recordings: Mapping[str, Recording] | None = None) -> str:
    """Return a self-contained HTML page about the joint torques of a person; the page loads no other files.

    Args:
        torques: result of `poise.human.compute_torques`.
        recordings: recordings of robot walks with torques to compare with, by label.

    >>> torques_page(compute_torques(fit(walk, static)), {"g1": poise.load_recording("g1_walk.poise")})
    """
    sections = [
        trial_section(torques),
        ground_forces_section(torques),
        leg_moments_section(torques),
        back_moments_section(torques),
        file_comparison_section(torques),
        residual_section(torques),
    ]
    robot_section = robot_comparison_section(torques, recordings or {})
    person_name = torques.trial.subject.name or Path(torques.trial.path).stem
    return assemble_page(
        f"Torques of {person_name}", [section for section in (*sections, robot_section) if section is not None]
    )


def save_torques_page(
    path: str | os.PathLike[str], torques: Torques, recordings: Mapping[str, Recording] | None = None
) -> Path:
    """Write a `torques_page` to a file atomically and return its path."""
    return save_page_file(path, lambda: torques_page(torques, recordings))
