"""A robot at rest on its contacts before the first step.

A contact of MuJoCo carries only what it is pressed for: soles that just touch the ground carry nothing, and a robot
that starts so falls a tenth of a millimetre with a jolt. So a robot that starts at rest is pressed into the ground by
the depth d at which its contacts, held still, carry its weight,

    |N(d)| = weight · N_z / |N|,

with N the sum of their normal forces: on a floor the weight, on a slope its part across the slope. These forces are
also what its sensors say before anything has moved.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

#: Deeper than this (m) no start is pressed: ten times what the heaviest library robot needs.
DEEPEST = 0.002
#: Halvings of that depth: to a nanometre.
HALVINGS = 21


def press(model: mujoco.MjModel, data: mujoco.MjData, weight: float, others: Sequence[int] = ()) -> bool:
    """Lowers the base by what its contacts give way, and leaves their forces in `data`.

    `others` are coordinates that sink with the base: heights of what is carried.

    Returns False, and changes nothing, if the contacts do not carry the robot: it starts in the air.
    """
    heights = [2, *others]
    height = data.qpos[heights]

    def carried(depth: float) -> bool:
        data.qpos[heights] = height - depth
        return _carried(model, data, weight)

    if not carried(DEEPEST) or carried(0.0):
        data.qpos[heights] = height
        mujoco.mj_forward(model, data)
        return False
    low, high = 0.0, DEEPEST
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if carried(middle) else (middle, high)
    carried(high)
    return True


def _carried(model: mujoco.MjModel, data: mujoco.MjData, weight: float) -> bool:
    """Whether the contacts of a robot that is held still carry its weight."""
    mujoco.mj_forward(model, data)
    data.qacc[:] = 0.0
    mujoco.mj_inverse(model, data)
    place, ground = data.contact.efc_address, model.geom_bodyid.take(data.contact.geom[:, 0]) == 0
    normal = np.where(ground, 1.0, -1.0)[:, None] * data.contact.frame[:, :3]
    N = (data.efc_force.take(np.maximum(place, 0), mode="clip") * (place >= 0)) @ normal if data.nefc else np.zeros(3)
    return bool(N[2] > 0.0 and weight * N[2] <= N @ N)
