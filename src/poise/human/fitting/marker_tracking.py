"""Marker tracking: inverse kinematics of a whole trial, [Boukheddimi2019] eq. (1), frame after frame.

    min_q  Σ_i w_i L(|y_i - p_i(q)|) + r_p² |q ⊖ q_p|² + r_0² |q - q_0|²     s.t.  q_lo <= q <= q_hi

with the measured markers y_i, the points p_i of the body, weights w_i, a prediction q_p from the frames before, the
rest posture q_0, and a loss L that forgets outliers: ``L(e) = e² / (1 + e²/c²)`` (Geman and McClure), so that a marker
10 cm off weighs 4 % of a good one. Solved by Levenberg and Marquardt's method; joints at a bound are held there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.arrays import Array
from poise.robots import Robot


class Points:
    """Places fixed to joints of a model, all evaluated at once.

    With the Jacobian of a joint in world coordinates, ``(J_l, J_a)``, a point p of it moves with ``J_l + J_a x p``.

    Args:
        model: a pinocchio model; its joint placements may change between calls.
        joints: number of the joint that carries each point, m.
        places: of the points in the frames of their joints (m x 3, m).
    """

    def __init__(self, model: pinocchio.Model, joints: Sequence[int], places: ArrayLike) -> None:
        self.model, self.data = model, model.createData()
        self.joints = np.array(joints, dtype=np.int64)
        self.places = np.array(places, dtype=np.float64).reshape(-1, 3)
        self._used, self._which = np.unique(self.joints, return_inverse=True)
        self._carried = np.zeros((len(self.joints), model.nv))
        for row, joint in enumerate(self.joints):
            for above in model.supports[int(joint)]:
                if above > 0:
                    at = model.idx_vs[above]
                    self._carried[row, at : at + model.nvs[above]] = 1.0

    @classmethod
    def on(cls, model: pinocchio.Model, links: Sequence[str], places: ArrayLike) -> Points:
        """Places in the frames of links, which are those of the joints that move them."""
        return cls(model, [model.frames[model.getFrameId(link)].parentJoint for link in links], places)

    def world(self, q: Array) -> Array:
        """Positions in the world (m x 3, m)."""
        pinocchio.forwardKinematics(self.model, self.data, q)
        return self._placed()

    def moving(self, q: Array) -> tuple[Array, Array]:
        """Positions (m x 3) and their Jacobians (m x 3 x nv)."""
        J = pinocchio.computeJointJacobians(self.model, self.data, q)
        p = self._placed()
        out = np.empty((len(p), 3, self.model.nv))
        x, y, z = (p[:, k, None] for k in range(3))
        out[:, 0] = J[0] + J[4] * z - J[5] * y
        out[:, 1] = J[1] + J[5] * x - J[3] * z
        out[:, 2] = J[2] + J[3] * y - J[4] * x
        out *= self._carried[:, None, :]
        return p, out

    def rotations(self) -> Array:
        """Rotation of each point's joint at the last configuration (m x 3 x 3)."""
        return np.array([self.data.oMi[int(j)].rotation for j in self._used])[self._which]

    def _placed(self) -> Array:
        poses = [self.data.oMi[int(joint)] for joint in self._used]
        rotation = np.array([pose.rotation for pose in poses])[self._which]
        origin = np.array([pose.translation for pose in poses])[self._which]
        return np.asarray(np.einsum("mij,mj->mi", rotation, self.places) + origin)


# -- Tracking --------------------------------------------------------------------------------------------------------


#: Where the loss bends (m): skin slides by up to 4 cm over a bone, a lost or swapped marker is off by more.
OUTLIER = 0.05
#: A marker this far from where the prediction has it (m) is not believed in that frame if it was seen in the one
#: before: to get there, limbs would have to speed up at 1000 m/s² at 100 Hz. Where more than this share of the markers
#: is so far, it is the prediction that is not believed.
JUMP, LOST = 0.06, 0.3
#: What a radian away from the prediction, and from the rest posture, costs as a distance of one marker (m). They keep
#: joints in place that markers hardly move: rotations of a straight arm.
PREDICTED, RESTING = 0.01, 0.003
#: They also draw all others a little away from the best fit: rotations of an arm by up to a degree. So each frame is
#: solved once more with this cost of a radian away from its first solution, which leaves 1 % of that.
AGAIN = 0.003
#: Share of the last step that the prediction goes on with: what is not seen any more comes to rest.
ONWARD = 0.7
#: A step below this (rad, m) ends the first search, and the second: 0.006 degrees. More than ten iterations are needed
#: only at the beginning.
ROUGHLY, CONVERGED, ITERATIONS, FIRST = 1e-3, 1e-4, 10, 60
#: Passes in which joints that would leave their range are fixed at its end.
PASSES = 4


@dataclass(frozen=True)
class Tracked:
    """What was found in n frames.

    Attributes:
        q: configurations, n x nq.
        errors: distances between the m markers and the body, n x m, m; NaN where not seen.
        ignored: which markers were not believed, n x m.
        iterations: n.
    """

    q: Array
    errors: Array
    ignored: NDArray[np.bool_]
    iterations: Array


class Tracker:
    """Finds configurations of a body from its markers, one frame after the other.

    Args:
        robot: the body.
        points: places of the markers on it.
        weights: of the markers (m).
        rest: configuration that unseen joints tend to.
        outlier: where the loss bends (m).
    """

    def __init__(
        self, robot: Robot, points: Points, weights: Array, rest: Array | None = None, outlier: float = OUTLIER
    ) -> None:
        self.robot, self.points, self.weights = robot, points, np.asarray(weights, dtype=np.float64)
        self.rest = robot.rest if rest is None else rest
        self.outlier = outlier
        self._at = np.array([joint.q for joint in robot.joints])
        self._free = np.array([joint.v for joint in robot.joints])
        self._low, self._high = robot.limits.lower, robot.limits.upper

    def track(self, positions: Array, start: Array, progress: Callable[[int], object] | None = None) -> Tracked:
        """All frames (n x m x 3, m, NaN where not seen), from a configuration near the first."""
        q, before = start, None
        seen_before = np.zeros(positions.shape[1], dtype=bool)
        found, errors, doubts, counts = [], [], [], []
        for k, seen in enumerate(positions):
            onward = np.zeros(self.robot.model.nv) if before is None else ONWARD * before
            guess = self._inside(pinocchio.integrate(self.robot.model, q, onward))
            doubted = self._doubted(seen, guess, seen_before)
            believed = np.where(doubted[:, None], np.nan, seen)
            prior, most = (0.0, FIRST) if k == 0 else (PREDICTED, ITERATIONS)
            solved, count = self.solve(believed, guess, prior, RESTING, most, ROUGHLY)
            before = None if k == 0 else pinocchio.difference(self.robot.model, q, solved)
            q, seen_before = solved, np.isfinite(seen).all(axis=1)
            best, more = self.solve(believed, q, AGAIN, 0.0, ITERATIONS)
            found.append(best)
            count += more
            errors.append(np.linalg.norm(seen - self.points.world(best), axis=1))
            doubts.append(doubted)
            counts.append(count)
            if progress is not None:
                progress(k)
        return Tracked(np.array(found), np.array(errors), np.array(doubts), np.array(counts))

    def _doubted(self, seen: Array, guess: Array, seen_before: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Markers that jumped away from where they must be (m)."""
        far = np.linalg.norm(seen - self.points.world(guess), axis=1) > JUMP  # False where not seen
        doubted = far & seen_before
        return doubted if doubted.sum() <= LOST * np.isfinite(seen).all(axis=1).sum() else np.zeros_like(doubted)

    def solve(
        self, seen: Array, guess: Array, prior: float, resting: float, most: int, near: float = CONVERGED
    ) -> tuple[Array, int]:
        """One frame, with the costs of a radian away from guess and rest posture: configuration, iterations."""
        there = np.asarray(np.isfinite(seen).all(axis=1))
        target, weight = np.where(there[:, None], seen, 0.0), np.where(there, self.weights, 0.0)
        model, q, damping = self.robot.model, guess, 1e-6
        p, J = self.points.moving(q)
        e = target - p
        cost = self._cost(e, weight, q, guess, prior, resting)
        count = 0
        for _ in range(most):
            count += 1
            step = self._step(e, J, weight, q, guess, prior, resting, damping)
            largest = float(np.abs(step).max())
            new = self._inside(pinocchio.integrate(model, q, step))
            p, J_new = self.points.moving(new)
            e_new = target - p
            cost_new = self._cost(e_new, weight, new, guess, prior, resting)
            if cost_new <= cost:
                q, e, J, cost, damping = new, e_new, J_new, cost_new, max(0.1 * damping, 1e-9)
            else:
                damping = max(10.0 * damping, 1e-6)
            if largest < near or damping > 1e6:
                break
        return q, count

    def _cost(self, e: Array, weight: Array, q: Array, guess: Array, prior: float, resting: float) -> float:
        squared = np.einsum("mi,mi->m", e, e)
        markers = float(weight @ (squared / (1.0 + squared / self.outlier**2)))
        away = pinocchio.difference(self.robot.model, guess, q)
        rest = q[self._at] - self.rest[self._at]
        return markers + prior**2 * float(away @ away) + resting**2 * float(rest @ rest)

    def _step(
        self, e: Array, J: Array, weight: Array, q: Array, guess: Array, prior: float, resting: float, damping: float
    ) -> Array:
        """Solves ``(Jᵀ W J + R + λ D) d = Jᵀ W e + ...`` with joints held that would leave their range."""
        nv = self.robot.model.nv
        squared = np.einsum("mi,mi->m", e, e)
        root = np.repeat(np.sqrt(weight) / (1.0 + squared / self.outlier**2), 3)
        A, b = J.reshape(-1, nv) * root[:, None], e.ravel() * root
        H, g = A.T @ A, A.T @ b
        diagonal = H.ravel()[:: nv + 1]
        if prior > 0.0:
            diagonal += prior**2
            g -= prior**2 * pinocchio.difference(self.robot.model, guess, q)
        g[self._free] -= resting**2 * (q[self._at] - self.rest[self._at])
        diagonal[self._free] += resting**2
        diagonal += damping * diagonal + 1e-12
        return self._bounded(H, g, q)

    def _bounded(self, H: Array, g: Array, q: Array) -> Array:
        angle = q[self._at]
        step = np.linalg.solve(H, g)
        held = np.zeros(len(g), dtype=bool)
        fixed = np.zeros(len(g))
        for _ in range(PASSES):
            new = angle + step[self._free]
            low, high = new < self._low - 1e-12, new > self._high + 1e-12
            if not (low | high).any():
                break
            which = self._free[low | high]
            held[which] = True
            fixed[self._free[low]] = (self._low - angle)[low]
            fixed[self._free[high]] = (self._high - angle)[high]
            free = ~held
            step = fixed.copy()
            step[free] = np.linalg.solve(H[np.ix_(free, free)], g[free] - H[np.ix_(free, held)] @ fixed[held])
        return np.asarray(step)

    def _inside(self, q: Array) -> Array:
        out = q.copy()
        out[self._at] = np.clip(out[self._at], self._low, self._high)
        return out


# -- Placed: where the markers of a person sit on the body -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Placed:
    """Where markers sit: labels, links, places in the link's frame (m x 3, m), weights."""

    labels: tuple[str, ...]
    links: tuple[str, ...]
    places: Array
    weights: Array

    def points(self, robot: Robot) -> Points:
        """The same on a body."""
        return Points.on(robot.model, self.links, self.places)
