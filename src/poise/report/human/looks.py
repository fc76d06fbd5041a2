"""Looks: one walk as it was measured and as it was reproduced, as stick figures and as pictures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.human.gait import BEST, PAPER, TWO_PHASES, Reproduction, Study
from poise.report.human.words import short
from poise.report.page.frames import gathered, strip
from poise.report.page.gait import moments_of
from poise.report.page.html import heading, paragraph
from poise.report.page.postures import facing, row, stick
from poise.report.page.section import Section
from poise.robots import State

Array = NDArray[np.float64]

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
