"""The report on a gait study: methods, walks, reproduced postures and the whole page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from poise.analysis import EQUIVALENCE_BOUND, EQUIVALENCE_REMARK, EVENT_RULE
from poise.arrays import Array
from poise.html import (
    NONE,
    Section,
    assembled,
    bullets,
    facing,
    heading,
    number,
    paragraph,
    row,
    saved,
    stick,
    table,
    wordy,
)
from poise.human import BEST, PAPER, TWO_PHASES, Fit, GaitStudy, Measures, Reproduction, Simulated, Study
from poise.report.key_frames import gathered, strip
from poise.report.moment_charts import dynamics
from poise.report.recording_view import moments_of
from poise.report.study_ranges import curves, ranges, short, shown, signed, statistics, swing_knee, told, variants
from poise.robots import State

WORDS = (
    "A measured walk is reproduced by a simulated body that knows very little of it: where the heels and the center "
    "of mass go, and a few whole postures on the way, the keys. Each step of the simulation solves a strict "
    "hierarchy: the joints stay in their ranges and the feet above the ground; then the tasks follow in their order, "
    "and a later one never disturbs an earlier one. What is compared is how far the twelve rotations of the legs come "
    "out as measured ([Boukheddimi2019], M. Boukheddimi, F. Bailly, P. Souères, B. Watier: Human-like gait generation "
    "from a reduced set of tasks using the hierarchical control framework from robotics, ROBIO 2019)."
)


def asked(study: Study, fits: Sequence[Fit] = ()) -> Section:
    """Variants in words, the rule of events, the filter."""
    rows = [(each.variant.name, *told(each.variant)) for each in study.outcomes]
    head = ["variant", "key postures", "known at a key", "posture moves", "tasks, the first the most important"]
    filters = list(dict.fromkeys(fit.motion.note for fit in fits))
    period = float(np.median(np.diff(study.outcomes[0].measures[0].reproduction.time)))
    rules = [
        f"Events: {EVENT_RULE[0].lower()}{EVENT_RULE[1:]}",
        *(f"{each[0].upper()}{each[1:]}." for each in filters),
        f"Simulation: {1.0 / period:.0f} steps a second, begun as the measured motion begins.",
        f"Range of motion: largest less smallest angle over one gait cycle. Two ranges count as the same within "
        f"{EQUIVALENCE_BOUND:g} degrees, which is what gait laboratories differ by among themselves.",
    ]
    return Section("What was asked", paragraph(WORDS) + wordy(head, rows) + heading("Rules") + bullets(rules))


def walks(study: Study, fits: Sequence[Fit] = (), failed: Mapping[str, str] | None = None) -> Section:
    """A row for each walk, with the cycle that was taken and the largest difference; then what failed, and why."""
    first, outcomes = study.outcomes[0], shown(study)
    known = fits if len(fits) == len(first.measures) else [None] * len(first.measures)
    rows = []
    for k, (each, fit) in enumerate(zip(first.measures, known, strict=True)):
        worst = [signed(max(o.measures[k].differences, key=abs)) if k < len(o.measures) else NONE for o in outcomes]
        rows.append((short(each.reproduction.reference.name), *_body(each, fit), *_cycle(each), *worst))
    head = ["walk", "trial", "height (m)", "mass (kg)", "markers rms (mm)", "foot", "from (s)", "lasts (s)",
            "steps/min", "belt (m/s)", *(f"worst of '{o.variant.name}' (deg)" for o in outcomes)]  # fmt: skip
    caption = "One gait cycle of each walk; 'worst' is the largest difference of a range of motion."
    parts = [paragraph(_count(len(rows), len(failed or {}))), table(head, rows, caption)]
    if failed:
        wrong = [(short(name), reason) for name, reason in failed.items()]
        parts += [heading("Walks that could not be used"), wordy(["walk", "why"], wrong)]
    return Section("Walks", "".join(parts))


def _count(good: int, bad: int) -> str:
    many = "One walk was reproduced" if good == 1 else f"{good} walks were reproduced"
    return f"{many}." if not bad else f"{many}, {bad} could not be used."


def _body(measures: Measures, fit: Fit | None) -> tuple[str, ...]:
    robot = measures.reproduction.reference.robot
    height = robot.height if fit is None else fit.shape.height
    apart = NONE if fit is None else number(1e3 * fit.rms, 2)
    return (NONE if fit is None else Path(fit.trial.path).name, f"{height:.2f}", f"{robot.mass:.1f}", apart)


def _cycle(measures: Measures) -> tuple[str, ...]:
    cycle, belt = measures.reproduction.cycle, measures.reproduction.reference.belt
    speed = f"{belt:.2f}" if belt > 0.0 else "floor"
    return (cycle.side, f"{cycle.initial_contact:.2f}", f"{cycle.duration:.2f}", f"{cycle.cadence:.0f}", speed)


# -- Looks -----------------------------------------------------------------------------------------------------------


#: Variants whose motion is shown, as far as a study has them.
SHOWN = (BEST.name, PAPER.name, TWO_PHASES.name)


def looks(study: Study) -> Section:
    """The first walk: measured behind reproduced from the side, then pictures of both."""
    known = {each.variant.name: each for each in study.outcomes}
    names = [name for name in SHOWN if name in known] or [study.outcomes[0].variant.name]
    runs = [known[name].measures[0].reproduction for name in names]
    first = runs[0]
    who = short(first.reference.name)
    times, labels = zip(*moments_of(first.cycle), strict=True)
    measured = [first.reference.sample(t)[0] for t in times]
    robot = first.reference.robot
    forward = facing(measured[-1][:3] - measured[0][:3])
    grey = [stick(robot, q) for q in measured]
    words = (
        f"One gait cycle of {who}, at its key events. Grey, behind: as it was measured; in colours, blue on the left "
        "and orange on the right: as it was reproduced, in the same world, so that whatever is not grey behind a line "
        "was reproduced elsewhere."
    )
    parts = [paragraph(words)]
    for name, run in zip(names, runs, strict=True):
        figures = [stick(robot, _at(run, t)) for t in times]
        parts.append(
            row(figures, labels, forward, "side", f"'{name}' in front of the measured walk, seen from the right.", grey)
        )
    parts.append(heading("The same as pictures"))
    plain, inner = [label.partition("\n")[0] for label in labels], slice(0, 6)
    rows = [
        ("measured", measured),
        *((f"'{n}'", [_at(r, t) for t in times]) for n, r in zip(names, runs, strict=True)),
    ]
    for name, configurations in rows:
        states = gathered([State(robot, q / _length(q)) for q in configurations[inner]], turned=True)
        parts.append(strip(states, plain[inner], f"{name}: {', '.join(plain[inner])}."))
    return Section("Measured and reproduced", "".join(parts))


def _at(run: Reproduction, time: float) -> Array:
    """The simulated configuration nearest to a time."""
    return np.asarray(run.q[int(np.argmin(np.abs(run.time - time)))])


def _length(q: Array) -> Array:
    """One for each number, and the length of the quaternion for its four: splines leave it a little off."""
    ones = np.ones(len(q))
    ones[3:7] = np.linalg.norm(q[3:7])
    return ones


# -- The page of a study ---------------------------------------------------------------------------------------------


def study_page(
    study: Study,
    fits: Sequence[Fit] = (),
    failed: Mapping[str, str] | None = None,
    simulated: Sequence[tuple[str, Fit, Simulated]] = (),
) -> str:
    """HTML about a study, with all figures in it: nothing is fetched from anywhere.

    Args:
        study: what `poise.human.gait.population_study` found.
        fits: of its walks, in the order of `study.people`, for what is known of trials and markers; or none.
        failed: walks that could not be used, with the reason of each.
        simulated: of walks that were simulated with dynamics, name, fit and what came of it.

    >>> study_page(gait.study([gait.reproduce(fit, variant=v) for fit in fits for v in gait.VARIANTS]), fits)
    """
    count = len(study.people)
    sections = [
        asked(study, fits),
        walks(study, fits, failed),
        variants(study),
        ranges(study),
        curves(study),
        statistics(study),
        looks(study),
        swing_knee(study),
        dynamics(simulated),
        Section(
            "What else to know", bullets(each for each in study.notes if each not in (EVENT_RULE, EQUIVALENCE_REMARK))
        ),
    ]
    title = f"Reproduced gait of {count} walk{'s' if count != 1 else ''}"
    return assembled(title, [section for section in sections if section is not None])


def save_study_page(path: str | os.PathLike[str], study: GaitStudy | Study) -> Path:
    """Writes the page of a study to a file and returns its path; the file appears whole or not at all.

    Args:
        path: of the page, ``study/report.html``.
        study: what `poise.human.study_gait` found; or statistics alone, without what is known of trials and markers.
    """
    if isinstance(study, Study):
        return saved(path, lambda: study_page(study))
    fits = [trial.fit for trial in study.trials]
    failed = {failure.trial: failure.reason for failure in study.failures}
    simulated = [
        (Path(trial.fit.trial.path).stem, trial.fit, trial.simulated)
        for trial in study.trials
        if trial.simulated is not None
    ]
    return saved(path, lambda: study_page(study.statistics, fits, failed, simulated))
