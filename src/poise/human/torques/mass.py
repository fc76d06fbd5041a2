"""Mass: what the plates say that a person weighs, while he or she walks.

With c_z the height of the centre of mass, over the frames in which all contact is measured,

    m = Σ F_z / Σ (g + d²c_z/dt²)

The mean of the force alone would be wrong by what the body falls and rises in these frames, some per cent.
"""

from __future__ import annotations

import numpy as np
import pinocchio

from poise.human.errors import TrialError
from poise.human.torques.ground import Ground, ground
from poise.human.torques.moved import Moved
from poise.robots.parts import SIDES
from poise.state.balance import GRAVITY

#: What a fit says if it had to guess the mass.
UNKNOWN = "the mass was not given"
#: Least time, s, in which all contact must be measured: a third of a step has both falling and rising in it.
LEAST = 0.2


def mass_from_plates(fit: Moved, under: Ground | None = None) -> float:
    """The mass of a person, kg, from frames in which every foot is in the air or whole on its plates.

    Args:
        fit: body and motion; of the masses only how they are distributed counts.
        under: what the plates say, if it is at hand.

    >>> mass_from_plates(fit(walk, static))
    """
    under = ground(fit) if under is None else under
    standing = np.logical_or.reduce([under.loaded[side] for side in SIDES])
    frames = np.flatnonzero(under.known & standing)
    if len(frames) < LEAST * fit.trial.rate:
        raise TrialError(
            f"{fit.trial.path}: all contact is measured for {len(frames) / fit.trial.rate:.2f} s only; expected "
            f"{LEAST:g} s or more to weigh a person, give the mass",
            path=fit.trial.path,
            element="mass",
        )
    model, data = fit.robot.model, fit.robot.model.createData()
    rising = 0.0
    for k in frames:
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, fit.q[k], fit.v[k], fit.a[k])
        rising += GRAVITY + float(data.dhg.linear[2]) / fit.robot.mass
    borne = sum(float(under.force[side][frames, 2].sum()) for side in SIDES)
    return borne / rising
