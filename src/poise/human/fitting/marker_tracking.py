"""Marker tracking: inverse kinematics of a whole trial, [Boukheddimi2019] eq. (1), frame by frame.

    min_q  Σ_i w_i L(|y_i - p_i(q)|) + r_p² |q ⊖ q_p|² + r_0² |q - q_0|²     s.t.  q_lo <= q <= q_hi

with measured markers y_i and points p_i of the model (m), weights w_i, a prediction q_p from the previous frames, the
rest posture q_0, costs r_p and r_0 of a radian away from them (m/rad), and a robust loss ``L(e) = e² / (1 + e²/c²)``
(Geman-McClure) with c = 5 cm, with which a marker 10 cm off has 4 % of the weight of a good one. Solved by the
Levenberg-Marquardt method; joints at a limit are held there. Each frame is then solved again with the cost r_p to the
first solution and no rest posture, which removes most of the bias of these costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.arrays import Array
from poise.robots import SIDES, Robot


class BodyPoints:
    """Positions and Jacobians of M points fixed to joints of a model.

    With the Jacobian ``(J_l, J_a)`` of a joint in world axes about the world's origin, the Jacobian of a point at the
    position p (m, world frame) is ``J_l + J_a x p``, column by column.

    Args:
        model: a pinocchio model; its joint placements may change between calls.
        joints: index of the joint that carries each point (M).
        locations: positions of the points in the frames of their joints (M x 3, m).

    Attributes:
        support_mask: 1 for the velocity coordinates that move a point, else 0 (M x nv).
    """

    def __init__(self, model: pinocchio.Model, joints: Sequence[int], locations: ArrayLike) -> None:
        self.model, self.data = model, model.createData()
        self.joints = np.array(joints, dtype=np.int64)
        self.locations = np.array(locations, dtype=np.float64).reshape(-1, 3)
        self._unique_joints, self._joint_index = np.unique(self.joints, return_inverse=True)
        self.support_mask = np.zeros((len(self.joints), model.nv))
        for row, joint in enumerate(self.joints):
            for ancestor in model.supports[int(joint)]:
                if ancestor > 0:
                    at = model.idx_vs[ancestor]
                    self.support_mask[row, at : at + model.nvs[ancestor]] = 1.0

    @classmethod
    def from_links(cls, model: pinocchio.Model, links: Sequence[str], locations: ArrayLike) -> BodyPoints:
        """Make points from positions in link frames, which coincide with the frames of their joints."""
        return cls(model, [model.frames[model.getFrameId(link)].parentJoint for link in links], locations)

    def positions(self, q: Array) -> Array:
        """Return the positions in the world frame (M x 3, m)."""
        pinocchio.forwardKinematics(self.model, self.data, q)
        return self._world_positions()

    def positions_and_jacobians(self, q: Array) -> tuple[Array, Array]:
        """Return the positions in the world frame (M x 3, m) and their Jacobians (M x 3 x nv)."""
        J = pinocchio.computeJointJacobians(self.model, self.data, q)
        p = self._world_positions()
        out = np.empty((len(p), 3, self.model.nv))
        x, y, z = (p[:, k, None] for k in range(3))
        out[:, 0] = J[0] + J[4] * z - J[5] * y
        out[:, 1] = J[1] + J[5] * x - J[3] * z
        out[:, 2] = J[2] + J[3] * y - J[4] * x
        out *= self.support_mask[:, None, :]
        return p, out

    def rotations(self) -> Array:
        """Return ``world_from_joint`` of the joint of each point at the last configuration (M x 3 x 3)."""
        return np.array([self.data.oMi[int(j)].rotation for j in self._unique_joints])[self._joint_index]

    def _world_positions(self) -> Array:
        poses = [self.data.oMi[int(joint)] for joint in self._unique_joints]
        rotation = np.array([pose.rotation for pose in poses])[self._joint_index]
        origin = np.array([pose.translation for pose in poses])[self._joint_index]
        return np.asarray(np.einsum("mij,mj->mi", rotation, self.locations) + origin)


# -- Tracking --------------------------------------------------------------------------------------------------------


#: Scale c of the robust loss (m): skin slides by up to 4 cm over a bone; lost or swapped markers are farther off.
OUTLIER_SCALE = 0.05
#: A marker farther than this from its prediction (m) is rejected in that frame if it was visible in the previous one: a
#: real limb would need 1000 m/s² at 100 Hz. If more than this share of the markers is that far, the prediction is wrong
#: and none is rejected.
JUMP_DISTANCE, MAX_JUMP_SHARE = 0.06, 0.3
#: Cost of one radian away from the prediction, and from the rest posture, as an equivalent marker error (m). They
#: stabilise joints that the markers hardly determine, such as rotations of a straight arm.
PREDICTION_COST, REST_COST = 0.01, 0.003
#: These costs bias other joints, arm rotations by up to a degree. Each frame is therefore solved again with this cost
#: of one radian away from the first solution, which leaves 1 % of the bias.
REFINEMENT_COST = 0.003
#: Share of the last step that the prediction continues with; joints that are no longer visible come to rest.
PREDICTION_FACTOR = 0.7
#: Step sizes (rad, m) that end the first and the second solve (0.006 degrees), and largest numbers of iterations; more
#: than ten are needed only in the first frame.
COARSE_TOLERANCE, TOLERANCE, MAX_ITERATIONS, MAX_FIRST_ITERATIONS = 1e-3, 1e-4, 10, 60
#: A marker farther than the first distance from the body after the solution (m) is lost, and its limb is searched
#: again; the robust loss gives it a quarter of its weight. Beyond the second one, with 4 %, it does not count as used.
LOST_DISTANCE, UNUSED_DISTANCE = 0.05, 0.10
#: A limb is found again if its markers agree with each other: from another start, with a loss that is not yet robust
#: (m), those that were lost are this close to the body (m), and the others not farther than this from it (m).
SEARCH_SCALE, AGREEMENT, TOLERATED_CHANGE = 0.5, 0.03, 0.01
#: Distance of a lost marker (m) from the body after the first iterations of a search beyond which it is given up.
SEARCH_DISTANCE = 0.15
#: Lost markers of a limb from which it may be found again at once, since one marker always agrees with itself; time
#: after which a single one may (s), and frames between two searches for the same markers.
FEWEST_AGREEING, SINGLE_MARKER_TIME, SEARCH_INTERVAL = 2, 0.25, 5
#: Postures of an arm from which it is searched, besides hanging (degrees of shoulder flexion and adduction, and elbow
#: flexion): a descent from a hanging arm does not find one raised beyond the shoulder.
ARM_STARTS = ((0, -80, 20), (0, -140, 20), (-100, -60, 20), (80, 0, 30), (160, 0, 20), (60, 20, 110))
#: Passes in which joints that would exceed their limits are fixed at them.
BOUND_PASSES = 4


@dataclass(frozen=True)
class TrackingResult:
    """Result of tracking M markers over n frames.

    Attributes:
        q: configurations (n x nq).
        errors: distances between the markers and the model (n x M, m); NaN where not visible.
        ignored: mask of rejected markers (n x M).
        used: mask of the markers that determined the configurations (n x M).
        iterations: number of iterations in each frame (n).
    """

    q: Array
    errors: Array
    ignored: NDArray[np.bool_]
    used: NDArray[np.bool_]
    iterations: Array


class MarkerTracker:
    """Inverse kinematics of a model from its markers, frame by frame.

    Args:
        robot: the model.
        points: positions of the M markers on it.
        weights: weights of the markers (M).
        rest: configuration to which joints without visible markers tend.
        outlier_scale: scale of the robust loss (m).
    """

    def __init__(
        self,
        robot: Robot,
        points: BodyPoints,
        weights: Array,
        rest: Array | None = None,
        outlier_scale: float = OUTLIER_SCALE,
    ) -> None:
        self.robot, self.points, self.weights = robot, points, np.asarray(weights, dtype=np.float64)
        self.rest = robot.rest if rest is None else rest
        self.outlier_scale = outlier_scale
        self._q_index = np.array([joint.q for joint in robot.joints])
        self._v_index = np.array([joint.v for joint in robot.joints])
        self._low, self._high = robot.limits.lower, robot.limits.upper

    def track(
        self, positions: Array, start: Array, progress: Callable[[int], object] | None = None, rate: float = 100.0
    ) -> TrackingResult:
        """Track all frames.

        Args:
            positions: of the markers in the world frame (n x M x 3, m; NaN where not visible).
            start: configuration near the first frame.
            progress: called with the index of each completed frame.
            rate: of the frames (Hz).
        """
        q, velocity = start, None
        visible_before = np.zeros(positions.shape[1], dtype=bool)
        lost_frames = np.zeros(positions.shape[1], dtype=int)
        postures, errors, rejections, counts = [], [], [], []
        for k, markers in enumerate(positions):
            predicted_step = np.zeros(self.robot.model.nv) if velocity is None else PREDICTION_FACTOR * velocity
            guess = self._clip_to_limits(pinocchio.integrate(self.robot.model, q, predicted_step))
            rejected = self._rejected_markers(markers, guess, visible_before)
            accepted = np.where(rejected[:, None], np.nan, markers)
            prediction_cost, max_iterations = (
                (0.0, MAX_FIRST_ITERATIONS) if k == 0 else (PREDICTION_COST, MAX_ITERATIONS)
            )
            solved, count = self.solve(accepted, guess, prediction_cost, REST_COST, max_iterations, COARSE_TOLERANCE)
            visible = np.asarray(np.isfinite(markers).all(axis=1))
            lost = np.linalg.norm(markers - self.points.positions(solved), axis=1) > LOST_DISTANCE
            lost_frames = np.where(lost, lost_frames + 1, 0)
            found = self._find_again(markers, solved, lost, lost_frames, rate) if lost.any() else None
            if found is not None:
                solved, rejected = found, rejected & ~lost
                accepted = np.where(rejected[:, None], np.nan, markers)
            velocity = None if k == 0 else pinocchio.difference(self.robot.model, q, solved)
            returned = (visible & ~visible_before) | (lost if found is not None else np.zeros_like(lost))
            if velocity is not None and returned.any():  # a step to where the limb is found again is no velocity
                velocity = np.where(self.support_of(returned), 0.0, velocity)
            q, visible_before = solved, visible
            best, refinements = self.solve(accepted, q, REFINEMENT_COST, 0.0, MAX_ITERATIONS)
            postures.append(best)
            count += refinements
            errors.append(np.linalg.norm(markers - self.points.positions(best), axis=1))
            rejections.append(rejected)
            counts.append(count)
            if progress is not None:
                progress(k)
        ignored = np.array(rejections)
        used = ~ignored & (np.array(errors) < UNUSED_DISTANCE)
        return TrackingResult(np.array(postures), np.array(errors), ignored, used, np.array(counts))

    def support_of(self, markers: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the velocity coordinates that move any of the markers, without those of the base (nv)."""
        moved = (self.points.support_mask[markers] > 0.0).any(axis=0)
        moved[:6] = False
        return np.asarray(moved)

    def _find_again(
        self, markers: Array, q: Array, lost: NDArray[np.bool_], lost_frames: NDArray[np.int_], rate: float
    ) -> Array | None:
        """Search the posture of limbs whose markers are lost; return the configuration, None if they do not agree.

        Args:
            markers: positions in the world frame (M x 3, m; NaN where not visible).
            q: configuration without the lost markers.
            lost: mask of the markers far from the body (M).
            lost_frames: number of frames for which each marker has been lost (M).
            rate: of the frames (Hz).
        """
        age = int(lost_frames.max())
        if (age - 1) % SEARCH_INTERVAL or (lost.sum() < FEWEST_AGREEING and age < SINGLE_MARKER_TIME * rate):
            return None
        before = np.linalg.norm(markers - self.points.positions(q), axis=1)
        for start in self.search_starts(q, lost):
            wide, _ = self.solve(markers, start, 0.0, REST_COST, MAX_ITERATIONS, COARSE_TOLERANCE, SEARCH_SCALE)
            if np.linalg.norm(markers - self.points.positions(wide), axis=1)[lost].max() > SEARCH_DISTANCE:
                continue
            new, _ = self.solve(markers, wide, 0.0, REST_COST, MAX_FIRST_ITERATIONS, COARSE_TOLERANCE)
            after = np.linalg.norm(markers - self.points.positions(new), axis=1)
            others = ~lost & np.isfinite(after)
            if (after[lost] < AGREEMENT).all() and (after[others] < before[others] + TOLERATED_CHANGE).all():
                return new
        return None

    def search_starts(self, q: Array, lost: NDArray[np.bool_]) -> Iterator[Array]:
        """Iterate over configurations from which limbs with lost markers (mask, M) are searched."""
        yield q
        at_rest = q.copy()
        joints = self.support_of(lost)[self._v_index]
        at_rest[self._q_index[joints]] = self.rest[self._q_index[joints]]
        yield at_rest
        names = {joint.name: joint for joint in self.robot.joints}
        for angles in ARM_STARTS:
            start = at_rest.copy()
            for side in SIDES:
                arm = [
                    names.get(f"{side}_{name}") for name in ("shoulder_flexion", "shoulder_adduction", "elbow_flexion")
                ]
                if None not in arm and self.support_of(lost)[arm[0].v]:  # type: ignore[union-attr]
                    start[[joint.q for joint in arm if joint is not None]] = np.radians(angles)
            if not np.array_equal(start, at_rest):
                yield start

    def _rejected_markers(self, markers: Array, guess: Array, visible_before: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the markers that jumped away from their predicted positions (M)."""
        far = np.linalg.norm(markers - self.points.positions(guess), axis=1) > JUMP_DISTANCE  # False if not visible
        rejected = far & visible_before
        return (
            rejected
            if rejected.sum() <= MAX_JUMP_SHARE * np.isfinite(markers).all(axis=1).sum()
            else np.zeros_like(rejected)
        )

    def solve(
        self,
        markers: Array,
        guess: Array,
        prediction_cost: float,
        rest_cost: float,
        max_iterations: int,
        tolerance: float = TOLERANCE,
        outlier_scale: float | None = None,
    ) -> tuple[Array, int]:
        """Solve one frame; return its configuration and the number of iterations.

        Args:
            markers: positions in the world frame (M x 3, m; NaN where not visible).
            guess: configuration from which the iteration starts, q_p of the equation.
            prediction_cost, rest_cost: r_p and r_0 (m/rad).
            max_iterations: largest number of iterations.
            tolerance: largest step (rad, m) that ends the iteration.
            outlier_scale: scale of the robust loss (m); None: that of the tracker.
        """
        scale = self.outlier_scale if outlier_scale is None else outlier_scale
        visible = np.asarray(np.isfinite(markers).all(axis=1))
        target, weight = np.where(visible[:, None], markers, 0.0), np.where(visible, self.weights, 0.0)
        model, q, damping = self.robot.model, guess, 1e-6
        p, J = self.points.positions_and_jacobians(q)
        e = target - p
        cost = self._cost(e, weight, q, guess, prediction_cost, rest_cost, scale)
        count = 0
        for _ in range(max_iterations):
            count += 1
            step = self._damped_step(e, J, weight, q, guess, prediction_cost, rest_cost, damping, scale)
            largest = float(np.abs(step).max())
            new = self._clip_to_limits(pinocchio.integrate(model, q, step))
            p, J_new = self.points.positions_and_jacobians(new)
            e_new = target - p
            cost_new = self._cost(e_new, weight, new, guess, prediction_cost, rest_cost, scale)
            if cost_new <= cost:
                q, e, J, cost, damping = new, e_new, J_new, cost_new, max(0.1 * damping, 1e-9)
            else:
                damping = max(10.0 * damping, 1e-6)
            if largest < tolerance or damping > 1e6:
                break
        return q, count

    def _cost(
        self,
        e: Array,
        weight: Array,
        q: Array,
        guess: Array,
        prediction_cost: float,
        rest_cost: float,
        outlier_scale: float,
    ) -> float:
        squared = np.einsum("mi,mi->m", e, e)
        marker_cost = float(weight @ (squared / (1.0 + squared / outlier_scale**2)))
        deviation = pinocchio.difference(self.robot.model, guess, q)
        rest = q[self._q_index] - self.rest[self._q_index]
        return marker_cost + prediction_cost**2 * float(deviation @ deviation) + rest_cost**2 * float(rest @ rest)

    def _damped_step(
        self,
        e: Array,
        J: Array,
        weight: Array,
        q: Array,
        guess: Array,
        prediction_cost: float,
        rest_cost: float,
        damping: float,
        outlier_scale: float,
    ) -> Array:
        """Solve ``(Jᵀ W J + R + λ D) d = Jᵀ W e + ...``, with joints that would exceed their limits held there."""
        nv = self.robot.model.nv
        squared = np.einsum("mi,mi->m", e, e)
        root = np.repeat(np.sqrt(weight) / (1.0 + squared / outlier_scale**2), 3)
        A, b = J.reshape(-1, nv) * root[:, None], e.ravel() * root
        H, g = A.T @ A, A.T @ b
        diagonal = H.ravel()[:: nv + 1]
        if prediction_cost > 0.0:
            diagonal += prediction_cost**2
            g -= prediction_cost**2 * pinocchio.difference(self.robot.model, guess, q)
        g[self._v_index] -= rest_cost**2 * (q[self._q_index] - self.rest[self._q_index])
        diagonal[self._v_index] += rest_cost**2
        diagonal += damping * diagonal + 1e-12
        return self._bounded_step(H, g, q)

    def _bounded_step(self, H: Array, g: Array, q: Array) -> Array:
        angle = q[self._q_index]
        step = np.linalg.solve(H, g)
        held = np.zeros(len(g), dtype=bool)
        fixed = np.zeros(len(g))
        for _ in range(BOUND_PASSES):
            new = angle + step[self._v_index]
            low, high = new < self._low - 1e-12, new > self._high + 1e-12
            if not (low | high).any():
                break
            held[self._v_index[low | high]] = True
            fixed[self._v_index[low]] = (self._low - angle)[low]
            fixed[self._v_index[high]] = (self._high - angle)[high]
            free = ~held
            step = fixed.copy()
            step[free] = np.linalg.solve(H[np.ix_(free, free)], g[free] - H[np.ix_(free, held)] @ fixed[held])
        return np.asarray(step)

    def _clip_to_limits(self, q: Array) -> Array:
        out = q.copy()
        out[self._q_index] = np.clip(out[self._q_index], self._low, self._high)
        return out


# -- Marker placement --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MarkerPlacement:
    """Placement of M markers on a model: labels, links, positions in the link frames (M x 3, m), weights."""

    labels: tuple[str, ...]
    links: tuple[str, ...]
    locations: Array
    weights: Array

    def body_points(self, robot: Robot) -> BodyPoints:
        """Return the points on a model."""
        return BodyPoints.from_links(robot.model, self.links, self.locations)
