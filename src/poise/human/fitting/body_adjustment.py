"""Least-squares adjustment of body shape and marker placement together with the postures of some frames.

One least-squares problem over the numbers s of the shape, the places p_i of the markers on their links, and the
postures q_k of some frames k of the walk and of the static trial:

    min  Σ_k Σ_i w_i L(|y_ik - T_i(q_k, s) p_i|) + Σ_k r² |q_k - q°|²
         + K c² Σ_i w_i |p_i - p_i°(s)|² / d_i² + K c² Σ_j ((s_j - s_j°) / d_j)²

L is the loss of `tracking`. p_i° is where the marker belongs on a body of that shape, d_i how far it may be from there:
little for a landmark, anywhere on the segment for all others; d_j is how much people differ. What is expected counts
with the error c that a marker has in each frame alike, and as much as all K frames together, for skin slides the same
way in each. Solved by Gauss and Newton's method; the postures, which meet only through s and p, are eliminated frame by
frame (Schur's complement).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.human.fitting.marker_tracking import OUTLIER, Points
from poise.human.markers import Marker
from poise.robots import SIDES, BodyShape, Robot, foot_points, landmarks
from poise.robots import joints as built_joints

#: How far a marker is from its landmark on the mean body (m: forward, across, up): palpation, and bodies that differ.
#: On legs the first matters most: markers at knee and ankle tell where the axis of the joint points, and those at the
#: side of thigh and shank stand in the plane of the joint below. Trunk, head and arms of two people differ by more. On
#: the pelvis it was measured. A marker that is on a segment only may be anywhere along it.
AXIS, PLANE = (0.005, 0.015, 0.012), (0.012, 0.15, 0.20)
LEG, UPPER = (0.015, 0.015, 0.015), (0.035, 0.035, 0.035)
#: Of the centre of a joint in a skeleton: it is that of the joint, but for how far another's toes bend.
CENTER = (0.008, 0.008, 0.008)
MEASURED, ANYWHERE = (0.003, 0.003, 0.003), (0.30, 0.30, 0.30)


@dataclass(frozen=True)
class Expected:
    """Links of the markers (m), their places there (m x 3, m), how far off they may be (m x 3, m), and which landmarks
    they follow when the shape changes (m)."""

    links: tuple[str, ...]
    places: Array
    spread: Array
    landmarks: tuple[str | None, ...]

    @classmethod
    def of(cls, markers: Sequence[Marker], shape: BodyShape, measured: Mapping[str, Array]) -> Expected:
        """From the landmarks of a shape; of those that were measured, from that."""
        known = landmarks(shape)
        places = [
            measured[str(marker.landmark)]
            if marker.landmark in measured
            else known[marker.landmark][1]
            if marker.landmark is not None
            else np.zeros(3)
            for marker in markers
        ]
        spread = [_marker_spread(marker, marker.landmark in measured) for marker in markers]
        follow = tuple(None if marker.landmark in measured else marker.landmark for marker in markers)
        return cls(tuple(marker.segment for marker in markers), np.array(places), np.array(spread), follow)

    def on(self, shape: BodyShape) -> Array:
        """The places on another shape (m x 3, m): a knee marker is at the end of a longer thigh."""
        known = landmarks(shape)
        return np.array(
            [place if name is None else known[name][1] for name, place in zip(self.landmarks, self.places, strict=True)]
        )

    @property
    def anywhere(self) -> Array:
        """Which markers are known by their segment alone (m)."""
        return np.asarray(self.spread[:, 0] >= ANYWHERE[0])


def _marker_spread(marker: Marker, measured: bool) -> tuple[float, float, float]:
    if measured:
        return MEASURED
    if marker.landmark is None:
        return ANYWHERE
    if marker.landmark.endswith("_center"):
        return UPPER if marker.segment == "torso" else CENTER
    if marker.landmark.endswith(("_knee", "_ankle", "_elbow")):
        return AXIS
    if marker.landmark.endswith("_side"):
        return PLANE
    return LEG if marker.segment.endswith(("_thigh", "_shank", "_foot", "_toes")) else UPPER


# -- Adjusting -------------------------------------------------------------------------------------------------------


#: Numbers of the shape that markers tell, and how far people are from the mean body (m, rad): lengths 4 %, see below.
LENGTHS = ("torso", "thigh", "shank", "foot", "ankle_height", "upper_arm", "forearm", "hand")
SPREAD = {
    "lumbar_forward": 0.01, "lumbar_up": 0.01, "shoulder_width": 0.03, "shoulder_drop": 0.02, "shoulder_forward": 0.02,
    "torsion": 0.3, "varus": 0.09, "ankle_height": 0.006, "foot": 0.010, "hand": 0.010,
}  # fmt: skip
LENGTH_SPREAD = 0.04
#: One marker is off by so much in each frame alike (m): skin and palpation. It makes expectations comparable.
SYSTEMATIC = 0.010
#: Gauss and Newton's method needs ten steps or so; it ends when nothing moves by more than (m, rad).
STEPS, CONVERGED = 20, 1e-3
#: What a radian away from the rest posture costs in each frame, as a distance of one marker (m).
RESTING = 0.003
DIFFERENCE = 1e-6
#: A body that is not fitted yet is off by more than any outlier: the loss bends here at first (m), and nearer by this
#: factor at each step.
WIDE, NARROWER = 0.5, 0.7


@dataclass(frozen=True)
class Adjusted:
    """Shape, places of the markers (m x 3), postures of the frames (K x nq), rms distance (m), steps taken."""

    shape: BodyShape
    places: Array
    postures: Array
    rms: float
    steps: int


class Adjustment:
    """The problem for one person.

    Args:
        robot: a body of about that shape; its model is copied.
        shape: where the search begins, and what is expected.
        expected: of the markers: link, place, how sure.
        frames: positions of the markers (K x m x 3, m).
        weights: of frames and markers (K x m).
        flat: which frames show a person on flat soles on a floor of this height (m; K, NaN: no).
    """

    def __init__(
        self, robot: Robot, shape: BodyShape, expected: Expected, frames: Array, weights: Array, flat: Array
    ) -> None:
        self.robot, self.shape, self.expected = robot, shape, expected
        self.model = robot.model.copy()
        under = [point for side in SIDES for point in foot_points(shape, side).values() if "toes" not in point[0]]
        links = [*expected.links, *(link for link, _ in under)]
        m = len(expected.links)
        self.points = Points.on(self.model, links, np.vstack([expected.places, np.zeros((len(under), 3))]))
        #: Placements of the joints, and the points under the feet, of shapes that were asked for.
        self._kept: dict[bytes, tuple[list[tuple[int, pinocchio.SE3]], Array]] = {}
        self.y = np.concatenate([frames, np.zeros((len(frames), len(under), 3))], axis=1)
        self.w = np.concatenate([weights, np.zeros((len(frames), len(under)))], axis=1)[:, :, None] * np.ones(3)
        self.w[:, :m][~np.isfinite(frames)] = 0.0
        self.y[~np.isfinite(self.y)] = 0.0
        for k, floor in enumerate(flat):
            if np.isfinite(floor):
                self.y[k, m:, 2], self.w[k, m:, 2] = floor, np.median(weights[k][weights[k] > 0.0])
        self.names = _numbers(shape)
        self._at = np.array([joint.q for joint in robot.joints])
        self._free = np.array([joint.v for joint in robot.joints])

    def solve(self, postures: Array, steps: int = STEPS) -> Adjusted:
        """From postures near the true ones."""
        s0 = np.array([_value(self.shape, name) for name in self.names])
        spread = np.array([_shape_spread(self.shape, name) for name in self.names])
        K, m = len(self.y), len(self.expected.links)
        s, places, q = s0.copy(), self.expected.places.copy(), postures.copy()
        sure = K * (SYSTEMATIC / spread) ** 2
        kappa = K * np.mean(self.w[:, :m, 0], axis=0)[:, None] * (SYSTEMATIC / self.expected.spread) ** 2
        taken = 0
        for _ in range(steps):
            taken += 1
            C, c = self._expectations(s, places, sure, sure * (s0 - s), kappa.ravel())
            bend = max(OUTLIER, WIDE * NARROWER**taken)
            ds, dp, moves = self._step(s, places, q, C, c, bend)
            s, places = s + ds, places + dp
            q = np.array([self._inside(pinocchio.integrate(self.model, a, d)) for a, d in zip(q, moves, strict=True)])
            if max(np.abs(ds).max(), np.abs(dp).max(), np.abs(moves).max()) < CONVERGED:
                break
        shape = _with(self.shape, self.names, s)
        return Adjusted(shape, places, q, self._rms(shape, places, q), taken)

    def _expectations(self, s: Array, places: Array, sure: Array, pull: Array, kappa: Array) -> tuple[Array, Array]:
        """Normal equations of what is expected of shape and places; the latter move with the shape, ``p°(s)``."""
        n = len(s)
        here = self.expected.on(_with(self.shape, self.names, s)).ravel()
        D = np.empty((len(here), n))
        for j in range(n):
            moved = s.copy()
            moved[j] += DIFFERENCE
            D[:, j] = (self.expected.on(_with(self.shape, self.names, moved)).ravel() - here) / DIFFERENCE
        G, e = np.hstack([-D, np.eye(len(here))]), here - places.ravel()
        C, c = G.T @ (kappa[:, None] * G), G.T @ (kappa * e)
        C[range(n), range(n)] += sure
        c[:n] += pull
        return C, c

    def _step(self, s: Array, places: Array, q: Array, C: Array, c: Array, bend: float) -> tuple[Array, Array, Array]:
        """Changes of shape, places and postures; C and c, which hold what is expected, are added to."""
        n_s, m, nv = len(s), len(places), self.model.nv
        size = n_s + 3 * m
        blocks = []
        for k in range(len(q)):
            e, J, S = self._linear(s, places, q[k], k)
            squared = np.einsum("mi,mi->m", e, e * (self.w[k] > 0.0))
            w = self.w[k] / (1.0 + squared[:, None] / bend**2) ** 2
            G = np.zeros((len(w), 3, size))
            G[:, :, :n_s] = S
            R = self.points.rotations()
            for i in range(m):
                G[i, :, n_s + 3 * i : n_s + 3 * i + 3] = R[i]
            root = np.sqrt(w).ravel()[:, None]
            A, B, b = J.reshape(-1, nv) * root, G.reshape(-1, size) * root, e.ravel() * root[:, 0]
            H, g = A.T @ A, A.T @ b
            H[self._free, self._free] += RESTING**2
            g[self._free] -= RESTING**2 * (q[k][self._at] - self.robot.rest[self._at])
            H[range(nv), range(nv)] += 1e-8
            F = A.T @ B
            solved = np.linalg.solve(H, np.column_stack([F, g]))
            C += B.T @ B - F.T @ solved[:, :-1]
            c += B.T @ b - F.T @ solved[:, -1]
            blocks.append(solved)
        both = np.asarray(np.linalg.solve(C + 1e-10 * np.eye(size), c), dtype=np.float64)
        moves = np.array([solved[:, -1] - solved[:, :-1] @ both for solved in blocks])
        return both[:n_s], both[n_s:].reshape(m, 3), np.clip(moves, -0.5, 0.5)

    def _linear(self, s: Array, places: Array, q: Array, k: int) -> tuple[Array, Array, Array]:
        """Errors (M x 3), and how the points move with the posture (M x 3 x nv) and the shape (M x 3 x n_s)."""
        S = np.empty((len(self.points.joints), 3, len(s)))
        self._shaped(s, places)
        here = self.points.world(q)
        for j in range(len(s)):
            moved = s.copy()
            moved[j] += DIFFERENCE
            self._shaped(moved, places)
            S[:, :, j] = (self.points.world(q) - here) / DIFFERENCE
        self._shaped(s, places)
        p, J = self.points.moving(q)
        return np.where(self.w[k] > 0.0, self.y[k] - p, 0.0), J, S

    def _shaped(self, s: Array, places: Array) -> None:
        """Gives the model the lengths of a shape, and the points under the feet their places."""
        shape = _with(self.shape, self.names, s)
        key = s.tobytes()
        if key not in self._kept:
            if len(self._kept) > 4 * len(s) + 8:
                self._kept.clear()
            under = [place for side in SIDES for link, place in foot_points(shape, side).values() if "toes" not in link]
            self._kept[key] = (
                [
                    (
                        self.model.getJointId(b.name),
                        pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*b.turn), np.array(b.place)),
                    )
                    for b in built_joints(shape)
                ],
                np.array(under),
            )
        placements, points = self._kept[key]
        for joint, placement in placements:
            self.model.jointPlacements[joint] = placement
        self.points.places = np.vstack([places, points])

    def _rms(self, shape: BodyShape, places: Array, q: Array) -> float:
        self._shaped(np.array([_value(shape, name) for name in self.names]), places)
        m = len(places)
        seen = self.w[:, :m, 0] > 0.0
        errors = np.array([self.y[k, :m] - self.points.world(q[k])[:m] for k in range(len(q))])
        return float(np.sqrt(np.mean(np.sum(errors[seen] ** 2, axis=1))))

    def _inside(self, q: Array) -> Array:
        out = q.copy()
        out[self._at] = np.clip(out[self._at], self.robot.limits.lower, self.robot.limits.upper)
        return out


def _numbers(shape: BodyShape) -> list[tuple[str, int | None]]:
    """Names of the numbers that are sought, with the side of pairs."""
    found: list[tuple[str, int | None]] = []
    for name in (*LENGTHS, *(name for name in SPREAD if name not in LENGTHS)):
        found += [(name, 0), (name, 1)] if isinstance(getattr(shape, name), tuple) else [(name, None)]
    return found


def _value(shape: BodyShape, which: tuple[str, int | None]) -> float:
    value = getattr(shape, which[0])
    return float(value if which[1] is None else value[which[1]])


def _shape_spread(shape: BodyShape, which: tuple[str, int | None]) -> float:
    return SPREAD.get(which[0], LENGTH_SPREAD * _value(shape, which))


def _with(shape: BodyShape, names: Sequence[tuple[str, int | None]], values: Array) -> BodyShape:
    changes: dict[str, float | tuple[float, float]] = {}
    for (name, side), value in zip(names, values.tolist(), strict=True):
        if side is None:
            changes[name] = value
        elif side == 0:
            changes[name] = (value, value)
        else:
            changes[name] = (changes[name][0], value)  # type: ignore[index]
    return replace(shape, **changes)  # type: ignore[arg-type]
