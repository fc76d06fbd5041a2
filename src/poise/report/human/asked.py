"""What a study was asked, and of whom: the rules behind every number on the page, and a row for each walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from poise.analysis.equivalence import BOUND
from poise.analysis.gait_events import RULE
from poise.human.fitting import Fit
from poise.human.gait import Measures, Study
from poise.report.human.words import short, shown, signed, told
from poise.report.page.html import NONE, bullets, heading, number, paragraph, table, wordy
from poise.report.page.section import Section

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
        f"Events: {RULE[0].lower()}{RULE[1:]}",
        *(f"{each[0].upper()}{each[1:]}." for each in filters),
        f"Simulation: {1.0 / period:.0f} steps a second, begun as the measured motion begins.",
        f"Range of motion: largest less smallest angle over one gait cycle. Two ranges count as the same within "
        f"{BOUND:g} degrees, which is what gait laboratories differ by among themselves.",
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
    return (cycle.side, f"{cycle.strike:.2f}", f"{cycle.duration:.2f}", f"{cycle.cadence:.0f}", speed)
