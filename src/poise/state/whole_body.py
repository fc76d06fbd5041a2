"""Compiled writers of what a snapshot keeps about the whole body, from what pinocchio computes at every tick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.state import _motion  # type: ignore[attr-defined]

Array = NDArray[np.float64]


def center_of_mass_writer(model: pinocchio.Model, data: Any, center: Array, jacobian: Array) -> _motion.CenterOfMass:
    """Writes the centre of mass (3, m) and its Jacobian (3 x nv, column by column) once the joints are placed."""
    joints, inertias = range(model.njoints), model.inertias
    return _motion.CenterOfMass(
        data.J,
        [data.oMi[joint].rotation for joint in joints],
        [data.oMi[joint].translation for joint in joints],
        np.array([inertias[joint].mass for joint in joints]),
        np.array([inertias[joint].lever for joint in joints]),
        *(np.array(values, dtype=np.int32) for values in (model.parents, model.idx_vs, model.nvs)),
        center,
        jacobian,
    )


def momentum_drift_writer(model: pinocchio.Model, data: Any, momentum: Array, center: Array) -> _motion.MomentumDrift:
    """Writes Ȧ_g v (6, N and N m), and the drift of the centre of mass (3, m/s²), once pinocchio knows the former."""
    mass = sum(inertia.mass for inertia in model.inertias)
    weight = mass * np.array(model.gravity.linear)
    rate, root = data.dhg, data.f[0]
    return _motion.MomentumDrift(rate.linear, rate.angular, root.linear, root.angular, weight, mass, momentum, center)
