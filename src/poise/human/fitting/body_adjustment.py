"""Least-squares adjustment of body shape and marker placement together with the postures of some frames.

One least-squares problem over the shape parameters s, the positions p_i of the markers on their links, and the postures
q_k of some frames k of the walk and of the static trial:

    min  Σ_k Σ_i w_i L(|y_ik - T_i(q_k, s) p_i|) + Σ_k r² |q_k - q°|²
         + K c² Σ_i w_i |p_i - p_i°(s)|² / d_i² + K c² Σ_j ((s_j - s_j°) / d_j)²

y_ik is the measured position of marker i in frame k (m), T_i(q, s) the pose of its link, w_i its weight, L the robust
loss of `marker_tracking`. q° is the rest posture and r the cost of a radian away from it (`REST_COST`, m/rad). p_i° is
the expected position of a marker on a body of that shape and d_i its standard deviation (m): small for a landmark, the
whole segment for other markers; s_j° is the initial shape and d_j the standard deviation between people. The
priors are weighted with the systematic error c of a marker (m), times the number of frames K, because soft tissue
artefacts and misplacement are the same in all frames. In static frames the sole points are markers at floor height, of
which only z is used. The problem is solved by Gauss-Newton; the postures, which are coupled only through s and p, are
eliminated frame by frame (Schur complement).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio

from poise.arrays import Array, Mask
from poise.human.fitting.marker_tracking import OUTLIER_SCALE, BodyPoints
from poise.human.markers import Marker
from poise.robots import SIDES, BodyShape, Robot, foot_points, human_joints, landmarks

#: Spread of a marker around its landmark on the mean body (m: forward, lateral, up), from palpation and anatomical
#: variation. On legs the forward direction matters most: markers at knee and ankle determine the direction of the joint
#: axis, and those at the side of thigh and shank are in the plane of the joint below. Trunk, head and arms vary more
#: between people. Pelvis landmarks are measured. A marker known only by its segment may be anywhere along it.
JOINT_AXIS_SPREAD, JOINT_PLANE_SPREAD = (0.005, 0.015, 0.012), (0.012, 0.15, 0.20)
LEG_LINKS = ("_thigh", "_shank", "_foot", "_toes")
LEG_SPREAD, UPPER_BODY_SPREAD = (0.015, 0.015, 0.015), (0.035, 0.035, 0.035)
#: Spread of a joint centre of a skeleton: that of the joint itself, but for different toe joints.
JOINT_CENTER_SPREAD = (0.008, 0.008, 0.008)
#: Spread of what a calibrated person determines: practically fixed, yet numerically harmless.
FIXED_SPREAD = 1e-4
MEASURED_SPREAD, SEGMENT_SPREAD = (0.003, 0.003, 0.003), (0.30, 0.30, 0.30)


@dataclass(frozen=True)
class MarkerPrior:
    """Prior of the placement of M markers on the model.

    Attributes:
        links: link that carries each marker.
        locations: expected position of each marker in the frame of its link (M x 3, m).
        spread: standard deviation of that position along the axes of the link (M x 3, m).
        landmarks: landmark whose position each marker follows when the shape changes; None for a fixed position.
    """

    links: tuple[str, ...]
    locations: Array
    spread: Array
    landmarks: tuple[str | None, ...]

    @classmethod
    def of(cls, markers: Sequence[Marker], shape: BodyShape, measured: Mapping[str, Array]) -> MarkerPrior:
        """Make the prior from the landmarks of a shape, and from measured positions of landmarks if there are any."""
        known = landmarks(shape)
        locations = [
            measured[str(marker.landmark)]
            if marker.landmark in measured
            else known[marker.landmark][1]
            if marker.landmark is not None
            else np.zeros(3)
            for marker in markers
        ]
        spread = [_marker_spread(marker, marker.landmark in measured) for marker in markers]
        followed_landmarks = tuple(None if marker.landmark in measured else marker.landmark for marker in markers)
        return cls(
            tuple(marker.segment for marker in markers), np.array(locations), np.array(spread), followed_landmarks
        )

    def locations_on(self, shape: BodyShape) -> Array:
        """Return the expected positions on another shape (M x 3, m); a knee marker, e.g., moves with thigh length."""
        known = landmarks(shape)
        return np.array(
            [
                location if name is None else known[name][1]
                for name, location in zip(self.landmarks, self.locations, strict=True)
            ]
        )

    def with_locations(self, locations: Sequence[Array | None]) -> MarkerPrior:
        """Return the prior with the placement of a calibrated person; None where that has none (M).

        Markers of pelvis and legs are fixed and those of trunk and head are near their place. Those of the arms are as
        on a new person: a static trial hardly determines rotations of straight arms.
        """
        known = np.array([location is not None for location in locations])
        known &= [link in ("pelvis", "torso", "head") or link.endswith(LEG_LINKS) for link in self.links]
        fixed = known & np.array([link == "pelvis" or link.endswith(LEG_LINKS) for link in self.links])
        placed = [new if here else old for old, new, here in zip(self.locations, locations, known, strict=True)]
        spread = np.where(fixed[:, None], FIXED_SPREAD, np.minimum(self.spread, UPPER_BODY_SPREAD))
        followed = tuple(None if here else name for name, here in zip(self.landmarks, known, strict=True))
        return replace(
            self, locations=np.array(placed), spread=np.where(known[:, None], spread, self.spread), landmarks=followed
        )

    def anywhere_on_segment(self, markers: Mask) -> MarkerPrior:
        """Return the prior with some markers (mask, M) known only by their segment."""
        followed = tuple(None if free else name for name, free in zip(self.landmarks, markers, strict=True))
        spread = np.where(markers[:, None], SEGMENT_SPREAD, self.spread)
        return replace(self, spread=spread, landmarks=followed)

    @property
    def segment_only(self) -> Array:
        """Boolean mask of the markers of which only the segment is known (M)."""
        return np.asarray(self.spread[:, 0] >= SEGMENT_SPREAD[0])


def _marker_spread(marker: Marker, measured: bool) -> tuple[float, float, float]:
    if measured:
        return MEASURED_SPREAD
    if marker.landmark is None:
        return SEGMENT_SPREAD
    if marker.landmark.endswith("_center"):
        return UPPER_BODY_SPREAD if marker.segment == "torso" else JOINT_CENTER_SPREAD
    if marker.landmark.endswith(("_knee", "_ankle", "_elbow")):
        return JOINT_AXIS_SPREAD
    if marker.landmark.endswith("_side"):
        return JOINT_PLANE_SPREAD
    return LEG_SPREAD if marker.segment.endswith(("_thigh", "_shank", "_foot", "_toes")) else UPPER_BODY_SPREAD


# -- Adjustment --------------------------------------------------------------------------------------------------------


#: Shape parameters that markers determine, and their standard deviation between people (m, rad); lengths have 4 %.
SHAPE_LENGTHS = ("torso", "thigh", "shank", "foot", "ankle_height", "upper_arm", "forearm", "hand")
SHAPE_SPREAD = {
    "l5s1_forward": 0.01, "l5s1_up": 0.01, "shoulder_width": 0.03, "shoulder_drop": 0.02, "shoulder_forward": 0.02,
    "tibial_torsion": 0.3, "knee_varus": 0.09, "ankle_height": 0.006, "foot": 0.010, "hand": 0.010,
}  # fmt: skip
RELATIVE_LENGTH_SPREAD = 0.04
#: Systematic error of a marker, the same in all frames (m): skin and palpation. It scales the weight of the priors.
SYSTEMATIC_ERROR = 0.010
#: Largest number of Gauss-Newton iterations (about ten are needed), and the step size that ends them (m, rad).
MAX_ITERATIONS, TOLERANCE = 20, 1e-3
#: Cost of one radian away from the rest posture in each frame, as an equivalent marker error (m).
REST_COST = 0.003
FINITE_DIFFERENCE_STEP = 1e-6
#: Initial scale of the robust loss (m), larger than any outlier because the initial body is far off, and the factor by
#: which it decreases at each iteration.
INITIAL_OUTLIER_SCALE, OUTLIER_SCALE_DECAY = 0.5, 0.7


@dataclass(frozen=True)
class AdjustmentResult:
    """Result of a `BodyAdjustment`.

    Attributes:
        shape: adjusted body shape.
        locations: positions of the M markers in the frames of their links (M x 3, m).
        postures: configurations of the K frames (K x nq).
        rms: root mean square marker error (m).
        iterations: number of Gauss-Newton iterations.
        errors: distance of each marker from the body in each frame (K x M, m; NaN where not visible).
    """

    shape: BodyShape
    locations: Array
    postures: Array
    rms: float
    iterations: int
    errors: Array


class BodyAdjustment:
    """The least-squares problem for one person.

    Args:
        robot: a model of about that shape; it is copied.
        shape: initial value and prior mean of the shape.
        prior: of the marker placement.
        frames: positions of the M markers in K frames (K x M x 3, m; NaN where not visible).
        weights: weight of each marker in each frame (K x M).
        floor_heights: height of the floor (m) in frames with flat soles on it (K, NaN for other frames).
        fixed_shape: keep the shape, of a person who is calibrated already.
    """

    def __init__(
        self,
        robot: Robot,
        shape: BodyShape,
        prior: MarkerPrior,
        frames: Array,
        weights: Array,
        floor_heights: Array,
        fixed_shape: bool = False,
    ) -> None:
        self.robot, self.shape, self.prior, self.fixed_shape = robot, shape, prior, fixed_shape
        self.model = robot.model.copy()
        sole_points = [point for side in SIDES for point in foot_points(shape, side).values() if "toes" not in point[0]]
        links = [*prior.links, *(link for link, _ in sole_points)]
        m = len(prior.links)
        self.points = BodyPoints.from_links(
            self.model, links, np.vstack([prior.locations, np.zeros((len(sole_points), 3))])
        )
        #: Joint placements and foot points of recently used shapes.
        self._shape_cache: dict[bytes, tuple[list[tuple[int, pinocchio.SE3]], Array]] = {}
        self.y = np.concatenate([frames, np.zeros((len(frames), len(sole_points), 3))], axis=1)
        self.w = np.concatenate([weights, np.zeros((len(frames), len(sole_points)))], axis=1)[:, :, None] * np.ones(3)
        self.w[:, :m][~np.isfinite(frames)] = 0.0
        self.y[~np.isfinite(self.y)] = 0.0
        for k, floor in enumerate(floor_heights):
            if np.isfinite(floor):
                self.y[k, m:, 2], self.w[k, m:, 2] = floor, np.median(weights[k][weights[k] > 0.0])
        self.parameters = _shape_parameters(shape)
        self._q_index = np.array([joint.q for joint in robot.joints])
        self._v_index = np.array([joint.v for joint in robot.joints])

    def solve(self, postures: Array, iterations: int = MAX_ITERATIONS) -> AdjustmentResult:
        """Solve the problem from approximate postures."""
        s0 = np.array([_shape_value(self.shape, name) for name in self.parameters])
        spread = np.array([_shape_spread(self.shape, name) for name in self.parameters])
        spread = np.full_like(spread, FIXED_SPREAD) if self.fixed_shape else spread
        K, m = len(self.y), len(self.prior.links)
        s, locations, q = s0.copy(), self.prior.locations.copy(), postures.copy()
        prior_weight = K * (SYSTEMATIC_ERROR / spread) ** 2
        location_weight = K * np.mean(self.w[:, :m, 0], axis=0)[:, None] * (SYSTEMATIC_ERROR / self.prior.spread) ** 2
        count = 0
        for _ in range(iterations):
            count += 1
            C, c = self._prior_equations(s, locations, prior_weight, prior_weight * (s0 - s), location_weight.ravel())
            outlier_scale = max(OUTLIER_SCALE, INITIAL_OUTLIER_SCALE * OUTLIER_SCALE_DECAY**count)
            ds, dp, posture_steps = self._gauss_newton_step(s, locations, q, C, c, outlier_scale)
            s, locations = s + ds, locations + dp
            q = np.array(
                [
                    self._clip_to_limits(pinocchio.integrate(self.model, a, d))
                    for a, d in zip(q, posture_steps, strict=True)
                ]
            )
            if max(np.abs(ds).max(), np.abs(dp).max(), np.abs(posture_steps).max()) < TOLERANCE:
                break
        shape = self.shape if self.fixed_shape else _with_values(self.shape, self.parameters, s)
        errors = self._errors(shape, locations, q)
        return AdjustmentResult(shape, locations, q, float(np.sqrt(np.nanmean(errors**2))), count, errors)

    def _prior_equations(
        self, s: Array, locations: Array, prior_weight: Array, prior_gradient: Array, location_weight: Array
    ) -> tuple[Array, Array]:
        """Return the normal equations of the priors; expected positions depend on the shape, ``p°(s)``."""
        n = len(s)
        reference = self.prior.locations_on(_with_values(self.shape, self.parameters, s)).ravel()
        D = np.empty((len(reference), n))
        for j in range(n):
            shifted = s.copy()
            shifted[j] += FINITE_DIFFERENCE_STEP
            D[:, j] = (
                self.prior.locations_on(_with_values(self.shape, self.parameters, shifted)).ravel() - reference
            ) / FINITE_DIFFERENCE_STEP
        G, e = np.hstack([-D, np.eye(len(reference))]), reference - locations.ravel()
        C, c = G.T @ (location_weight[:, None] * G), G.T @ (location_weight * e)
        C[range(n), range(n)] += prior_weight
        c[:n] += prior_gradient
        return C, c

    def _gauss_newton_step(
        self, s: Array, locations: Array, q: Array, C: Array, c: Array, outlier_scale: float
    ) -> tuple[Array, Array, Array]:
        """Return the steps of shape, marker positions and postures.

        C and c are the normal equations ``C x = c`` of the priors; those of the frames are added to them in place.
        """
        n_s, m, nv = len(s), len(locations), self.model.nv
        size = n_s + 3 * m
        blocks = []
        for k in range(len(q)):
            e, J, S = self._linearize(s, locations, q[k], k)
            squared = np.einsum("mi,mi->m", e, e * (self.w[k] > 0.0))
            w = self.w[k] / (1.0 + squared[:, None] / outlier_scale**2) ** 2
            G = np.zeros((len(w), 3, size))
            G[:, :, :n_s] = S
            R = self.points.rotations()
            for i in range(m):
                G[i, :, n_s + 3 * i : n_s + 3 * i + 3] = R[i]
            root = np.sqrt(w).ravel()[:, None]
            A, B, b = J.reshape(-1, nv) * root, G.reshape(-1, size) * root, e.ravel() * root[:, 0]
            H, g = A.T @ A, A.T @ b
            H[self._v_index, self._v_index] += REST_COST**2
            g[self._v_index] -= REST_COST**2 * (q[k][self._q_index] - self.robot.rest[self._q_index])
            H[range(nv), range(nv)] += 1e-8
            F = A.T @ B
            eliminated = np.linalg.solve(H, np.column_stack([F, g]))
            C += B.T @ B - F.T @ eliminated[:, :-1]
            c += B.T @ b - F.T @ eliminated[:, -1]
            blocks.append(eliminated)
        step = np.asarray(np.linalg.solve(C + 1e-10 * np.eye(size), c), dtype=np.float64)
        posture_steps = np.array([eliminated[:, -1] - eliminated[:, :-1] @ step for eliminated in blocks])
        return step[:n_s], step[n_s:].reshape(m, 3), np.clip(posture_steps, -0.5, 0.5)

    def _linearize(self, s: Array, locations: Array, q: Array, k: int) -> tuple[Array, Array, Array]:
        """Return the errors of the P points (markers and sole points) in frame k, measured minus model (P x 3, m).

        Also their derivatives: of the model points by posture (P x 3 x nv) and by shape parameters (P x 3 x n_s).
        """
        S = np.empty((len(self.points.joints), 3, len(s)))
        self._set_shape(s, locations)
        reference = self.points.positions(q)
        for j in range(len(s)):
            shifted = s.copy()
            shifted[j] += FINITE_DIFFERENCE_STEP
            self._set_shape(shifted, locations)
            S[:, :, j] = (self.points.positions(q) - reference) / FINITE_DIFFERENCE_STEP
        self._set_shape(s, locations)
        p, J = self.points.positions_and_jacobians(q)
        return np.where(self.w[k] > 0.0, self.y[k] - p, 0.0), J, S

    def _set_shape(self, s: Array, locations: Array) -> None:
        """Set the joint placements of the model and the foot points to those of a shape."""
        shape = _with_values(self.shape, self.parameters, s)
        key = s.tobytes()
        if key not in self._shape_cache:
            if len(self._shape_cache) > 4 * len(s) + 8:
                self._shape_cache.clear()
            sole_points = [
                location for side in SIDES for link, location in foot_points(shape, side).values() if "toes" not in link
            ]
            self._shape_cache[key] = (
                [
                    (
                        self.model.getJointId(joint.name),
                        pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*joint.rotation), np.array(joint.position)),
                    )
                    for joint in human_joints(shape)
                ],
                np.array(sole_points),
            )
        placements, points = self._shape_cache[key]
        for joint, placement in placements:
            self.model.jointPlacements[joint] = placement
        self.points.locations = np.vstack([locations, points])

    def _errors(self, shape: BodyShape, locations: Array, q: Array) -> Array:
        """Return the distance of each marker from the body in each frame (K x M, m; NaN where not visible)."""
        self._set_shape(np.array([_shape_value(shape, name) for name in self.parameters]), locations)
        m = len(locations)
        differences = np.array([self.y[k, :m] - self.points.positions(q[k])[:m] for k in range(len(q))])
        return np.where(self.w[:, :m, 0] > 0.0, np.linalg.norm(differences, axis=2), np.nan)

    def _clip_to_limits(self, q: Array) -> Array:
        out = q.copy()
        out[self._q_index] = np.clip(out[self._q_index], self.robot.limits.lower, self.robot.limits.upper)
        return out


def _shape_parameters(shape: BodyShape) -> list[tuple[str, int | None]]:
    """Return the estimated shape parameters: name, and for pairs the side (0 left, 1 right), else None."""
    entries: list[tuple[str, int | None]] = []
    for name in (*SHAPE_LENGTHS, *(name for name in SHAPE_SPREAD if name not in SHAPE_LENGTHS)):
        entries += [(name, 0), (name, 1)] if isinstance(getattr(shape, name), tuple) else [(name, None)]
    return entries


def _shape_value(shape: BodyShape, parameter: tuple[str, int | None]) -> float:
    value = getattr(shape, parameter[0])
    return float(value if parameter[1] is None else value[parameter[1]])


def _shape_spread(shape: BodyShape, parameter: tuple[str, int | None]) -> float:
    return SHAPE_SPREAD.get(parameter[0], RELATIVE_LENGTH_SPREAD * _shape_value(shape, parameter))


def _with_values(shape: BodyShape, parameters: Sequence[tuple[str, int | None]], values: Array) -> BodyShape:
    changes: dict[str, float | tuple[float, float]] = {}
    for (name, side), value in zip(parameters, values.tolist(), strict=True):
        if side is None:
            changes[name] = value
        elif side == 0:
            changes[name] = (value, value)
        else:
            changes[name] = (changes[name][0], value)  # type: ignore[index]
    return replace(shape, **changes)  # type: ignore[arg-type]
