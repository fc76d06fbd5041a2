"""Reproduction: one cycle of a walk, simulated by the tasks of a variant and recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.analysis.gait_cycle import Cycle
from poise.control import KinematicController
from poise.human.gait.levels import PERIOD, hierarchy, path
from poise.human.gait.reference import Reference
from poise.human.gait.variants import PAPER, Variant
from poise.plants import IdealPlant
from poise.recording import Channel, Recording, record
from poise.recording.body import Body
from poise.recording.provenance import circumstances
from poise.robots import State
from poise.tasks import ACCELERATION

if TYPE_CHECKING:
    from poise.human.fitting import Fit

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A simulated gait cycle beside the one that it follows.

    Attributes:
        reference, cycle, variant: of what, and how.
        time: n, s, on the clock of the reference, from strike to strike, every 5 ms.
        q, v, a: n x nq, n x nv, n x nv.
        recording: of the run, with the errors of all tasks and the time of each step.
        fallbacks: steps at which the controller had no solution; none, or something is wrong.
    """

    reference: Reference
    cycle: Cycle
    variant: Variant
    time: Array
    q: Array
    v: Array
    a: Array
    recording: Recording
    fallbacks: int

    @property
    def milliseconds(self) -> float:
        """Time that a step of the controller took, on average; 0 of an interpolation."""
        return float(np.mean(self.recording["control/milliseconds"])) if self.variant.law != "interpolation" else 0.0


def reproduce(
    walk: Reference | Fit, cycle: Cycle | None = None, variant: Variant = PAPER, period: float = PERIOD
) -> Reproduction:
    """Simulates a cycle of a walk from the tasks of a variant; it begins as the reference does.

    Args:
        walk: what is to be reproduced.
        cycle: by default `Reference.cycle`.
        variant: `PAPER`, `BEST` or another.
        period: of control and simulation, s.

    >>> from poise.human import gait
    >>> best = gait.reproduce(human.fit(trial, static), variant=gait.BEST)
    >>> gait.measured(best).worst
    """
    reference = walk if isinstance(walk, Reference) else Reference.of(walk)
    cycle = cycle or reference.cycle()
    count = math.ceil(cycle.duration / period - 1e-6) + 1
    if variant.law == "interpolation":
        return _drawn(reference, cycle, variant, cycle.strike + period * np.arange(count, dtype=np.float64))
    q, v, _ = reference.sample(cycle.strike)
    controller = KinematicController(
        hierarchy(reference, cycle, variant, period), period=period, order=ACCELERATION, ramp=0.0
    )
    plant = IdealPlant(State(reference.robot, q, v, cycle.strike))
    recording = record(
        controller, plant, count * period, progress=lambda _: None, provenance=_provenance(reference, variant)
    )
    fallbacks = sum(recording.fallbacks().values())
    time, q, v, a = (np.array(recording[name]) for name in ("time", "q", "v", "command/acceleration"))
    return Reproduction(reference, cycle, variant, time, q, v, a, recording, fallbacks)


def _drawn(reference: Reference, cycle: Cycle, variant: Variant, time: Array) -> Reproduction:
    """A path through the keys, and nothing else."""
    way = path(reference, cycle, variant)
    q, v, a = (np.array(part) for part in zip(*(way.sample(float(t)) for t in time), strict=True))
    body = Body.of(reference.robot)
    channels = [Channel("time", "s", time), Channel("q", body.q_units, q, body.q_labels)]
    facts = {**circumstances(reference.robot), **_provenance(reference, variant)}
    recording = Recording(channels, facts, reference.robot)
    return Reproduction(reference, cycle, variant, time, q, v, a, recording, 0)


def _provenance(reference: Reference, variant: Variant) -> dict[str, str]:
    return {"behavior": "gait", "walk": reference.name, "variant": repr(variant)}
