"""Report page on a gait study: methods, walks, reproduced postures, and assembly of the page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from poise.analysis import EQUIVALENCE_BOUND, EQUIVALENCE_REMARK, EVENT_RULE
from poise.arrays import Array
from poise.html import (
    DASH,
    Section,
    assemble_page,
    bullets,
    heading,
    horizontal_direction,
    number,
    paragraph,
    save_page_file,
    stick_figure,
    stick_figure_row,
    table,
    text_table,
)
from poise.human import (
    BEST,
    PAPER,
    TWO_PHASES,
    DynamicGait,
    Fit,
    GaitStudy,
    Reproduction,
    ReproductionQuality,
    VariantComparison,
)
from poise.report.key_frames import gather_states, picture_strip
from poise.report.moment_charts import dynamics_section
from poise.report.recording_view import cycle_instants
from poise.report.study_ranges import (
    angle_curves_section,
    file_name,
    main_outcomes,
    ranges_of_motion_section,
    signed_degrees,
    statistics_section,
    swing_knee_section,
    variant_columns,
    variants_section,
)
from poise.robots import State

STUDY_DESCRIPTION = (
    "A measured walk is reproduced by a simulated body from little information: the paths of the heels and of the "
    "center of mass, and a few key postures of the whole body. Each simulation step solves a strict hierarchy: first "
    "joint limits and feet above the ground, then the tasks in order of priority; a lower level never degrades a "
    "higher one. The twelve joint angles of the legs are compared with the measured ones ([Boukheddimi2019], M. "
    "Boukheddimi, F. Bailly, P. Souères, B. Watier: Human-like gait generation from a reduced set of tasks using the "
    "hierarchical control framework from robotics, ROBIO 2019)."
)


def methods_section(study: VariantComparison, fits: Sequence[Fit] = ()) -> Section:
    """Build the section on methods: variants, event detection, filter, simulation and range of motion."""
    rows = [(each.variant.name, *variant_columns(each.variant)) for each in study.results]
    head = ["variant", "key postures", "known at a key", "posture task", "tasks, highest priority first"]
    filters = list(dict.fromkeys(fit.motion.note for fit in fits))
    period = float(np.median(np.diff(study.results[0].qualities[0].reproduction.time)))
    rules = [
        f"Events: {EVENT_RULE[0].lower()}{EVENT_RULE[1:]}",
        *(f"{each[0].upper()}{each[1:]}." for each in filters),
        f"Simulation: {1.0 / period:.0f} steps per second, from the start of the measured motion.",
        f"Range of motion: largest minus smallest angle over one gait cycle. Two ranges count as equivalent within "
        f"{EQUIVALENCE_BOUND:g} degrees, the difference between gait laboratories.",
    ]
    return Section("Methods", paragraph(STUDY_DESCRIPTION) + text_table(head, rows) + heading("Rules") + bullets(rules))


def walks_section(
    study: VariantComparison, fits: Sequence[Fit] = (), failures: Mapping[str, str] | None = None
) -> Section:
    """Build the section: a row per walk with its gait cycle and largest difference; then the failures with reasons."""
    first, shown_outcomes = study.results[0], main_outcomes(study)
    fit_list = fits if len(fits) == len(first.qualities) else [None] * len(first.qualities)
    rows = []
    for k, (each, fit) in enumerate(zip(first.qualities, fit_list, strict=True)):
        worst = [
            signed_degrees(max(o.qualities[k].differences, key=abs)) if k < len(o.qualities) else DASH
            for o in shown_outcomes
        ]
        rows.append(
            (file_name(each.reproduction.reference.name), *_body_columns(each, fit), *_cycle_columns(each), *worst)
        )
    head = ["walk", "trial", "height (m)", "mass (kg)", "markers rms (mm)", "verdict", "foot", "start (s)",
            "duration (s)", "steps/min", "belt (m/s)",
            *(f"worst of '{o.variant.name}' (deg)" for o in shown_outcomes)]  # fmt: skip
    caption = "One gait cycle of each walk; 'worst' is the largest difference of a range of motion."
    parts = [paragraph(_count_sentence(len(rows), len(failures or {}))), table(head, rows, caption)]
    if failures:
        failure_rows = [(file_name(name), reason) for name, reason in failures.items()]
        parts += [heading("Walks that could not be used"), text_table(["walk", "reason"], failure_rows)]
    return Section("Walks", "".join(parts))


def _count_sentence(reproduced: int, unusable: int) -> str:
    reproduced_count = "One walk was reproduced" if reproduced == 1 else f"{reproduced} walks were reproduced"
    return f"{reproduced_count}." if not unusable else f"{reproduced_count}, {unusable} could not be used."


def _body_columns(measures: ReproductionQuality, fit: Fit | None) -> tuple[str, ...]:
    robot = measures.reproduction.reference.robot
    height = robot.height if fit is None else fit.shape.height
    marker_rms = DASH if fit is None else number(1e3 * fit.rms, 2)
    name, quality = (DASH, DASH) if fit is None else (Path(fit.trial.path).name, fit.quality.verdict)
    return (name, f"{height:.2f}", f"{robot.mass:.1f}", marker_rms, quality)


def _cycle_columns(measures: ReproductionQuality) -> tuple[str, ...]:
    cycle, belt = measures.reproduction.cycle, measures.reproduction.reference.belt_speed
    speed = f"{belt:.2f}" if belt > 0.0 else "floor"
    return (cycle.side, f"{cycle.initial_contact:.2f}", f"{cycle.duration:.2f}", f"{cycle.cadence:.0f}", speed)


# -- Postures, measured and reproduced -------------------------------------------------------------------------------


#: Variants whose motion is shown, if the study has them.
SHOWN_VARIANTS = (BEST.name, PAPER.name, TWO_PHASES.name)


def posture_comparison_section(study: VariantComparison) -> Section:
    """Build the section on the first walk: stick figures of measured and reproduced postures, then pictures of both."""
    outcomes = {each.variant.name: each for each in study.results}
    names = [name for name in SHOWN_VARIANTS if name in outcomes] or [study.results[0].variant.name]
    runs = [outcomes[name].qualities[0].reproduction for name in names]
    first = runs[0]
    walk_name = file_name(first.reference.name)
    times, labels = zip(*cycle_instants(first.cycle), strict=True)
    measured = [first.reference.sample(t)[0] for t in times]
    robot = first.reference.robot
    forward = horizontal_direction(measured[-1][:3] - measured[0][:3])
    measured_figures = [stick_figure(robot, q) for q in measured]
    description = (
        f"One gait cycle of {walk_name}, at its key events. Gray, behind: measured; in color, blue on the left and "
        "orange on the right: reproduced, in the same world frame, so that gray lines next to colored ones show the "
        "error."
    )
    parts = [paragraph(description)]
    for name, run in zip(names, runs, strict=True):
        figures = [stick_figure(robot, _nearest_configuration(run, t)) for t in times]
        parts.append(
            stick_figure_row(
                figures,
                labels,
                forward,
                "side",
                f"'{name}' in front of the measured walk, seen from the right.",
                measured_figures,
            )
        )
    parts.append(heading("Pictures"))
    short_labels, inner = [label.partition("\n")[0] for label in labels], slice(0, 6)
    rows = [
        ("measured", measured),
        *((f"'{n}'", [_nearest_configuration(r, t) for t in times]) for n, r in zip(names, runs, strict=True)),
    ]
    for name, configurations in rows:
        states = gather_states([State(robot, q / _normalization(q)) for q in configurations[inner]], face_forward=True)
        parts.append(picture_strip(states, short_labels[inner], f"{name}: {', '.join(short_labels[inner])}."))
    return Section("Measured and reproduced", "".join(parts))


def _nearest_configuration(run: Reproduction, time: float) -> Array:
    """Return the simulated configuration nearest to a time (s)."""
    return np.asarray(run.q[int(np.argmin(np.abs(run.time - time)))])


def _normalization(q: Array) -> Array:
    """Return divisors of a configuration that normalize its quaternion, since splines leave it slightly off unit."""
    ones = np.ones(len(q))
    ones[3:7] = np.linalg.norm(q[3:7])
    return ones


# -- The page of a study ---------------------------------------------------------------------------------------------


def study_page(
    study: VariantComparison,
    fits: Sequence[Fit] = (),
    failures: Mapping[str, str] | None = None,
    simulated: Sequence[tuple[str, Fit, DynamicGait]] = (),
) -> str:
    """Return a self-contained HTML page about a gait study; the page loads no other files.

    Args:
        study: statistics of the study.
        fits: fits of its walks, in the order of `study.people`, for facts about trials and markers; may be empty.
        failures: reasons of the walks that could not be used, by name.
        simulated: name, fit and result of each walk that was simulated with dynamics.

    >>> study_page(gait.compare_variants([gait.reproduce(fit, variant=v) for fit in fits for v in gait.VARIANTS]), fits)
    """
    count = len(study.people)
    sections = [
        methods_section(study, fits),
        walks_section(study, fits, failures),
        variants_section(study),
        ranges_of_motion_section(study),
        angle_curves_section(study),
        statistics_section(study),
        posture_comparison_section(study),
        swing_knee_section(study),
        dynamics_section(simulated),
        Section("Notes", bullets(each for each in study.notes if each not in (EVENT_RULE, EQUIVALENCE_REMARK))),
    ]
    title = f"Reproduced gait of {count} walk{'s' if count != 1 else ''}"
    return assemble_page(title, [section for section in sections if section is not None])


def save_study_page(path: str | os.PathLike[str], study: GaitStudy | VariantComparison) -> Path:
    """Write the page of a gait study to a file atomically and return its path.

    Args:
        path: file to write, for example ``study/report.html``.
        study: result of `poise.human.study_gait`; or its statistics alone, without facts about trials and markers.
    """
    if isinstance(study, VariantComparison):
        return save_page_file(path, lambda: study_page(study))
    fits = [trial.fit for trial in study.trials]
    failures = {failure.trial: failure.reason for failure in study.failures}
    simulated = [
        (Path(trial.fit.trial.path).stem, trial.fit, trial.dynamic_gait)
        for trial in study.trials
        if trial.dynamic_gait is not None
    ]
    return save_page_file(path, lambda: study_page(study.statistics, fits, failures, simulated))
