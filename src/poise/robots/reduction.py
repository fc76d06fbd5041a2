"""Locked joints: which joints to remove from a model, and the posture in which they stay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio
from numpy.typing import NDArray

Array = NDArray[np.float64]


def reduction(model: pinocchio.Model, locked: Mapping[str, float]) -> tuple[list[int], Array]:
    """Numbers of the locked joints, and a configuration with their angles (rad)."""
    q = pinocchio.neutral(model)
    indices = [int(model.getJointId(name)) for name in locked]
    for index, angle in zip(indices, locked.values(), strict=True):
        joint = model.joints[index]
        if joint.nv == 1:  # a planar or floating joint is locked where it is
            q[joint.idx_q : joint.idx_q + joint.nq] = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
    return indices, q
