"""Treading: a motion changed as little as needed so that its feet stand where they stand, without sliding or sinking.

Norm curves come from other bodies: on this one they would slide by centimetres. The Fourier coefficients of the right
leg, of the way of the pelvis and the stride are found by least squares (Gauss and Newton),

    min  Σ (z / e)² + Σ |p_xy - mean p_xy|² / e²  over the points p under the foot while they stand
       + Σ min(z - clearance, 0)² / l²            while they do not
       + Σ (c - c_norm)² / s²                     how far coefficients c may go
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.human.sample.motion import HALF, ORDERS, PeriodicMotion, series
from poise.human.sample.normal import STEPS

Array = NDArray[np.float64]

#: When the foot leaves the ground, share of its cycle: as people do at 1.1 m/s.
OFF = 0.62
#: The points under a foot and when each stands, shares of the cycle: it lands on its heel, is flat from a tenth on, and
#: rises from the heel at a third; the toes leave last.
CONTACTS = {
    "heel": (0.0, 0.32),
    "first_metatarsal": (0.08, 0.58),
    "fifth_metatarsal": (0.06, 0.54),
    "toe_tip": (0.10, OFF),
}
#: How far a coefficient of each joint of the leg may go from the norm (s, degrees): less than people differ by. What no
#: norm tells, inversion and toes, is freer.
FREEDOM = {
    "hip_flexion": 1.0,
    "hip_adduction": 0.7,
    "hip_rotation": 1.0,
    "knee_flexion": 1.0,
    "ankle_dorsiflexion": 1.0,
    "ankle_inversion": 1.7,
    "toes_extension": 5.0,
}
#: The same for the pelvis along x, y, z, m; and from which harmonic on all of it gets less, so that forces stay small.
SWAY, SMOOTH = (0.007, 0.010, 0.007), 3.0
#: What counts as standing (e), and as too low while swinging (l), m.
STILL, LOW = 0.001, 0.002
#: Height that a swinging foot keeps at least, m: at its ends and, in addition, in the middle.
CLEARANCE = (0.004, 0.010)
#: Rounds of Gauss and Newton; six are enough for every stature from 1.2 to 2.1 m.
ROUNDS = 12
#: A step that changes nothing by more than a hundredth of a millimetre or a thousandth of a degree is the last one.
SETTLED = 1e-5

PHASES = np.arange(STEPS) / STEPS
_BASIS = series(PHASES)


class Footing(NamedTuple):
    """Points under the right foot over the cycle, (steps, points, 3), m, and which of them stand, (steps, points)."""

    points: Array
    standing: NDArray[np.bool_]

    def place(self, point: int) -> Array:
        """Where a point stands, (3,), m."""
        return np.asarray(self.points[self.standing[:, point], point].mean(axis=0))


def treading(motion: PeriodicMotion, norm: PeriodicMotion, *, free: bool = True) -> tuple[PeriodicMotion, Footing]:
    """The motion nearest to the norm whose feet stand; the way of the pelvis along x and y may be held as it is."""
    rows = [0, 1, 2, *(motion.robot.joint(f"right_{name}").v for name in FREEDOM)]
    deviation = np.outer([*SWAY, *np.radians(list(FREEDOM.values()))], 1.0 / (1.0 + (ORDERS / SMOOTH) ** 2))
    # Left is right half a cycle later: x and z have even harmonics only, y odd ones; where the walk begins is free.
    mask = np.ones(deviation.shape, dtype=bool)
    mask[0], mask[1], mask[2] = (ORDERS % 2 == 0) & (ORDERS > 0) & free, (ORDERS % 2 == 1) & free, ORDERS % 2 == 0
    target, s = norm.coefficients[rows][mask], deviation[mask]
    c, stride = motion.coefficients[rows], motion.stride
    for _ in range(ROUNDS):
        footing, J = _footing(_changed(motion, rows, c, stride), rows)
        r, A = _misfit(footing, np.concatenate([J[..., :-1, :][..., mask], J[..., -1:, 0]], axis=-1))
        r = np.concatenate([r, (c[mask] - target) / s])
        A = np.vstack([A, np.eye(mask.sum(), mask.sum() + 1) / s[:, np.newaxis]])
        step = np.linalg.solve(A.T @ A, -A.T @ r)
        c[mask] += step[:-1]
        stride += float(step[-1])
        if np.abs(step).max() < SETTLED:
            break
    found = _changed(motion, rows, c, stride)
    return found, _footing(found, rows)[0]


def _changed(motion: PeriodicMotion, rows: list[int], c: Array, stride: float) -> PeriodicMotion:
    all_rows = motion.coefficients.copy()
    all_rows[rows] = c
    for name in FREEDOM:
        joint = motion.robot.joint
        all_rows[joint(f"left_{name}").v] = all_rows[joint(f"right_{name}").v] * HALF
    return replace(motion, coefficients=all_rows, stride=stride)


def _footing(motion: PeriodicMotion, rows: list[int]) -> tuple[Footing, Array]:
    """Points under the right foot, and their derivatives by the coefficients of rows, (steps, points, 3, rows + 1, 13);
    the first number of the last row is that of the stride."""
    model, data = motion.robot.model, motion.robot.model.createData()
    frames = [motion.robot.frame(f"right_{name}").index for name in CONTACTS]
    q = replace(motion, start=0.0).at(PHASES * motion.period)[0]
    points, J = np.empty((STEPS, len(frames), 3)), np.zeros((STEPS, len(frames), 3, len(rows) + 1, len(ORDERS)))
    for i in range(STEPS):
        pinocchio.computeJointJacobians(model, data, q[i])
        pinocchio.updateFramePlacements(model, data)
        for k, frame in enumerate(frames):
            points[i, k] = data.oMf[frame].translation
            own = pinocchio.getFrameJacobian(model, data, frame, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3, rows]
            own[:, :3] = np.eye(3)  # the way of the pelvis is in the axes of the world
            J[i, k, :, :-1] = own[:, :, np.newaxis] * _BASIS[i]
            J[i, k, 0, -1, 0] = PHASES[i]
    standing = np.array([[a <= phi <= b for a, b in CONTACTS.values()] for phi in PHASES])
    return Footing(points, standing), J


def _misfit(footing: Footing, J: Array) -> tuple[Array, Array]:
    residuals, rows = [], []
    clearance = CLEARANCE[0] + CLEARANCE[1] * np.maximum(np.sin(np.pi * (PHASES - OFF) / (1.0 - OFF)), 0.0)
    for k, on in enumerate(footing.standing.T):
        p, own = footing.points[on, k], J[on, k]
        residuals += [p[:, 2] / STILL, ((p - p.mean(axis=0))[:, :2] / STILL).ravel()]
        rows += [own[:, 2] / STILL, ((own - own.mean(axis=0))[:, :2] / STILL).reshape(-1, own.shape[-1])]
        low = ~on & (footing.points[:, k, 2] < clearance)
        residuals.append((footing.points[low, k, 2] - clearance[low]) / LOW)
        rows.append(J[low, k, 2] / LOW)
    return np.concatenate(residuals), np.vstack(rows)
