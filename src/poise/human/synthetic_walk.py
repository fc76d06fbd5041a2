"""Synthetic walk of a human model: normative joint angles as Fourier series, corrected for foot contact and ZMP.

The required ground reaction follows from the motion: it is the wrench at the base in the equation of motion. Without a
correction its zero-moment point p would be decimetres outside the feet, because at the higher harmonics a sway of
millimetres has a large effect: a horizontal displacement δ(t) of the whole body (m) moves p by

    δ - (m c_z / F_z) d²δ/dt²

with the mass m, the height c_z of the center of mass and the vertical ground force F_z. This is linear in the Fourier
coefficients of δ, which are chosen such that p moves from heel to toe of one foot and on to the other; then the legs
are adapted, as in [Kagami2002], and both corrections are repeated.

Normative curves come from other subjects; on this model the feet would slide by centimetres. The Fourier coefficients
of the right leg and of the pelvis position, and the stride length, are found by nonlinear least squares (Gauss-Newton),

    min  Σ (z / e)² + Σ |p_xy - mean p_xy|² / e²  over the points p under the foot in stance
       + Σ min(z - clearance, 0)² / l²            in swing
       + Σ (c - c_norm)² / s²                     deviation of the coefficients c from the norm

where z is the height of a point (m), e and l are tolerances (m), and s is a standard deviation (m, rad).

[Kagami2002] S. Kagami, T. Kitagawa, K. Nishiwaki, T. Sugihara, M. Inaba, H. Inoue. *A fast dynamically equilibrated
walking trajectory generation method of humanoid robot.* Autonomous Robots, 2002.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.analysis import normative_band, normative_joints
from poise.arrays import Array
from poise.robots import SIDES, Robot, State

#: Number of harmonics of the stride: at a stride of 1.1 s the sixth has 5.5 Hz, below the usual cut-off of 6 Hz.
HARMONICS = 6
#: Harmonic of each coefficient: constant, cosines, sines.
ORDERS = np.concatenate([[0], np.arange(1, HARMONICS + 1), np.arange(1, HARMONICS + 1)])
#: Factors that shift the coefficients of a curve by half a cycle, to those of the other side.
HALF_CYCLE_SIGNS = (-1.0) ** ORDERS


def fourier_basis(phase: ArrayLike, order: int = 0) -> Array:
    """Evaluate the Fourier basis at n phases φ (1 per cycle): 1, cos 2πkφ, sin 2πkφ for k = 1 to 6, (n, 13).

    `order` 1 or 2 gives the first or second derivative by φ.
    """
    phi = np.atleast_1d(np.asarray(phase, dtype=np.float64))
    k = 2.0 * np.pi * np.arange(1, HARMONICS + 1)
    angle = np.outer(phi, k) + order * np.pi / 2.0  # each derivative adds a quarter turn and a factor k
    return np.hstack([np.full((len(phi), 1), float(order == 0)), k**order * np.cos(angle), k**order * np.sin(angle)])


def fourier_coefficients(values: ArrayLike) -> Array:
    """Compute the coefficients (..., 13) of curves sampled at n equal steps of the cycle, (..., n)."""
    x = np.asarray(values, dtype=np.float64)
    return x @ np.linalg.pinv(fourier_basis(np.arange(x.shape[-1]) / x.shape[-1])).T


@dataclass(frozen=True, eq=False)
class PeriodicMotion:
    """A periodic walk along x with phase φ = t / T + start at time t.

        x(t) = stride φ + c_x·s(φ),   all other coordinates c·s(φ),   pelvis rotation Rz(yaw) Ry(pitch) Rx(roll)

    with s the basis of `fourier_basis`.

    Attributes:
        robot: the human model.
        coefficients: c, (42, 13): position (m), roll, pitch, yaw (rad) of the base, then the joints (rad).
        stride: m; period: T, s.
        start: phase at time 0; initial contacts of the right foot are at integers.
    """

    robot: Robot
    coefficients: Array
    stride: float
    period: float
    start: float = 0.0

    def at(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Return configurations (n, 43), velocities and accelerations (n, 42) of pinocchio at times (s)."""
        phi = np.atleast_1d(np.asarray(time, dtype=np.float64)) / self.period + self.start
        x = fourier_basis(phi) @ self.coefficients.T
        x[:, 0] += self.stride * phi
        rate = fourier_basis(phi, 1) @ self.coefficients.T / self.period
        rate[:, 0] += self.stride / self.period
        second = fourier_basis(phi, 2) @ self.coefficients.T / self.period**2
        each = [_free_flyer_motion(x[i], rate[i], second[i]) for i in range(len(phi))]
        q, v, a = (np.stack(parts) for parts in zip(*each, strict=True))
        return q, v, a


def _free_flyer_motion(x: Array, rate: Array, second: Array) -> tuple[Array, Array, Array]:
    """Convert position and angles of the base in the world frame to velocity and acceleration in its own frame."""
    local = pinocchio.ReferenceFrame.LOCAL
    R = pinocchio.rpy.rpyToMatrix(x[3:6])
    J = pinocchio.rpy.computeRpyJacobian(x[3:6], local)
    Jdot = pinocchio.rpy.computeRpyJacobianTimeDerivative(x[3:6], rate[3:6], local)
    w, u = J @ rate[3:6], R.T @ rate[:3]
    q = np.concatenate([x[:3], pinocchio.Quaternion(R).coeffs(), x[6:]])
    v = np.concatenate([u, w, rate[6:]])
    a = np.concatenate([R.T @ second[:3] - np.cross(w, u), J @ second[3:6] + Jdot @ rate[3:6], second[6:]])
    return q, v, a


# -- Normative motion --------------------------------------------------------------------------------------------------


#: Phase shift of the normative curves, which begin at the largest heel lead, 40 ms of 1.1 s before initial contact.
NORM_PHASE_OFFSET = 0.035
#: Samples of the cycle: enough for six harmonics and their products.
PHASE_SAMPLES = 100
#: Stride time (s) for a leg length of 0.91 m; it scales with the square root of the leg length, as for a pendulum.
STRIDE_TIME, REFERENCE_LEG_LENGTH = 1.08, 0.91
#: Initial stride length as a share of the leg length; the foot contact correction adapts it.
STRIDE_RATIO = 1.4
#: Forward lean of the trunk, rad: shoulders two or three centimetres in front of the hips.
TRUNK_LEAN = math.radians(3.0)
#: Arm angles, rad: a little away from the body, palms inwards, fingers half open.
ARM_ANGLES = {"shoulder_adduction": -0.12, "forearm_pronation": 1.40, "fingers_flexion": 0.30}


def normative_motion(robot: Robot) -> PeriodicMotion:
    """Return the normative motion: legs, arms, pelvis and back as in the norms, head upright, hips at leg height.

    The left side is the right side shifted by half a cycle. Pelvis and back are made symmetric: the part that is
    unchanged by mirroring and a shift of half a cycle is kept, the rest is asymmetry of the subjects.
    """
    c = np.zeros((robot.model.nv, len(ORDERS)))
    phi = np.arange(PHASE_SAMPLES) / PHASE_SAMPLES + NORM_PHASE_OFFSET

    def curve(joint: str, mirrored: bool) -> Array:
        own = normative_band(joint, cycle="right")
        return fourier_coefficients((own.at(phi) + (-1.0 if mirrored else 1.0) * own.at(phi + 0.5)) / 2.0)

    tilt, up, turn = curve("pelvis_tilt", False), curve("pelvis_obliquity", True), curve("pelvis_rotation", True)
    back, bend, twist = (curve(f"lumbar_{word}", word != "extension") for word in ("extension", "bending", "rotation"))
    back[0] = tilt[0] - TRUNK_LEAN
    c[3], c[4], c[5] = -up, tilt, turn
    trunk = {"lumbar_extension": back, "lumbar_bending": bend, "lumbar_rotation": twist}
    head = {"neck_extension": TRUNK_LEAN * (ORDERS == 0), "neck_bending": up - bend, "neck_rotation": -turn - twist}
    for joint, own in {**trunk, **head}.items():
        c[robot.joint(joint).v] = own
    limbs = [name for name in normative_joints() if not name.startswith(("pelvis", "lumbar"))]
    for side in SIDES:
        later = HALF_CYCLE_SIGNS if side == "left" else 1.0
        for joint in limbs:
            c[robot.joint(f"{side}_{joint}").v] = fourier_coefficients(normative_band(f"right_{joint}").at(phi)) * later
        for joint, angle in ARM_ANGLES.items():
            c[robot.joint(f"{side}_{joint}").v, 0] = angle
    leg = -float(State(robot, pinocchio.neutral(robot.model)).pose(robot.foot("right")).translation[2])
    c[2, 0] = leg
    return PeriodicMotion(robot, c, STRIDE_RATIO * leg, STRIDE_TIME * math.sqrt(leg / REFERENCE_LEG_LENGTH))


# -- Foot contact ------------------------------------------------------------------------------------------------------


#: Toe-off as a share of the gait cycle, as in people walking at 1.1 m/s.
TOE_OFF = 0.62
#: Points under a foot and their contact intervals, shares of the cycle: the foot lands on the heel, is flat from a
#: tenth on, lifts the heel at a third; the toes leave last.
CONTACT_PHASES = {
    "heel": (0.0, 0.32),
    "first_metatarsal": (0.08, 0.58),
    "fifth_metatarsal": (0.06, 0.54),
    "toe_tip": (0.10, TOE_OFF),
}
#: Standard deviation s of the coefficients of each leg joint from the norm (degrees): less than between subjects.
#: Inversion and toes, which have no norm, are freer.
JOINT_DEVIATIONS = {
    "hip_flexion": 1.0,
    "hip_adduction": 0.7,
    "hip_rotation": 1.0,
    "knee_flexion": 1.0,
    "ankle_dorsiflexion": 1.0,
    "ankle_inversion": 1.7,
    "toes_extension": 5.0,
}
#: Likewise for the pelvis along x, y, z, m; and the harmonic from which all deviations decrease, to keep forces small.
PELVIS_DEVIATIONS, DEVIATION_HARMONIC = (0.007, 0.010, 0.007), 3.0
#: Tolerances of the position in stance (e) and of the clearance in swing (l), m.
STANCE_TOLERANCE, CLEARANCE_TOLERANCE = 0.001, 0.002
#: Minimum height of the swing foot, m: at the ends of swing, and additional height at mid-swing.
CLEARANCE = (0.004, 0.010)
#: Largest number of Gauss-Newton iterations; six are enough for statures from 1.2 to 2.1 m.
CONTACT_ITERATIONS = 12
#: Step size that ends the iterations: a hundredth of a millimetre, or a thousandth of a degree.
STEP_TOLERANCE = 1e-5

PHASES = np.arange(PHASE_SAMPLES) / PHASE_SAMPLES
_BASIS = fourier_basis(PHASES)


class FootContact(NamedTuple):
    """Points under the right foot at the phases `PHASES` of the cycle.

    Attributes:
        points: positions in the world frame, (phases, points, 3), m.
        standing: mask of the points that are on the ground, (phases, points).
    """

    points: Array
    standing: NDArray[np.bool_]

    def stance_position(self, point: int) -> Array:
        """Return the mean position of a point in stance, (3,), m."""
        return np.asarray(self.points[self.standing[:, point], point].mean(axis=0))


def correct_foot_contact(
    motion: PeriodicMotion, norm: PeriodicMotion, *, free_pelvis: bool = True
) -> tuple[PeriodicMotion, FootContact]:
    """Find the motion nearest to the norm with stationary stance feet; `free_pelvis` also adapts pelvis x and y."""
    rows = [0, 1, 2, *(motion.robot.joint(f"right_{name}").v for name in JOINT_DEVIATIONS)]
    deviation = np.outer(
        [*PELVIS_DEVIATIONS, *np.radians(list(JOINT_DEVIATIONS.values()))],
        1.0 / (1.0 + (ORDERS / DEVIATION_HARMONIC) ** 2),
    )
    # Symmetry of half a cycle: x and z have only even harmonics, y only odd ones; the constant of x is arbitrary.
    mask = np.ones(deviation.shape, dtype=bool)
    mask[0], mask[1], mask[2] = (
        (ORDERS % 2 == 0) & (ORDERS > 0) & free_pelvis,
        (ORDERS % 2 == 1) & free_pelvis,
        ORDERS % 2 == 0,
    )
    target, s = norm.coefficients[rows][mask], deviation[mask]
    c, stride = motion.coefficients[rows], motion.stride
    for _ in range(CONTACT_ITERATIONS):
        foot_contact, J = _foot_contact(_with_coefficients(motion, rows, c, stride), rows)
        r, A = _contact_residuals(foot_contact, np.concatenate([J[..., :-1, :][..., mask], J[..., -1:, 0]], axis=-1))
        r = np.concatenate([r, (c[mask] - target) / s])
        A = np.vstack([A, np.eye(mask.sum(), mask.sum() + 1) / s[:, np.newaxis]])
        step = np.linalg.solve(A.T @ A, -A.T @ r)
        c[mask] += step[:-1]
        stride += float(step[-1])
        if np.abs(step).max() < STEP_TOLERANCE:
            break
    corrected = _with_coefficients(motion, rows, c, stride)
    return corrected, _foot_contact(corrected, rows)[0]


def _with_coefficients(motion: PeriodicMotion, rows: list[int], c: Array, stride: float) -> PeriodicMotion:
    all_rows = motion.coefficients.copy()
    all_rows[rows] = c
    for name in JOINT_DEVIATIONS:
        joint = motion.robot.joint
        all_rows[joint(f"left_{name}").v] = all_rows[joint(f"right_{name}").v] * HALF_CYCLE_SIGNS
    return replace(motion, coefficients=all_rows, stride=stride)


def _foot_contact(motion: PeriodicMotion, rows: list[int]) -> tuple[FootContact, Array]:
    """Compute the points under the right foot and their derivatives, (phases, points, 3, rows + 1, 13).

    The derivatives are by the coefficients of the coordinates `rows`; the first number of the additional last row is
    the derivative by the stride.
    """
    model, data = motion.robot.model, motion.robot.model.createData()
    frames = [motion.robot.frame(f"right_{name}").index for name in CONTACT_PHASES]
    q = replace(motion, start=0.0).at(PHASES * motion.period)[0]
    points, J = (
        np.empty((PHASE_SAMPLES, len(frames), 3)),
        np.zeros((PHASE_SAMPLES, len(frames), 3, len(rows) + 1, len(ORDERS))),
    )
    for i in range(PHASE_SAMPLES):
        pinocchio.computeJointJacobians(model, data, q[i])
        pinocchio.updateFramePlacements(model, data)
        for k, frame in enumerate(frames):
            points[i, k] = data.oMf[frame].translation
            point_jacobian = pinocchio.getFrameJacobian(
                model, data, frame, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )[:3, rows]
            point_jacobian[:, :3] = np.eye(3)  # the pelvis position is in the world frame
            J[i, k, :, :-1] = point_jacobian[:, :, np.newaxis] * _BASIS[i]
            J[i, k, 0, -1, 0] = PHASES[i]
    standing = np.array([[a <= phi <= b for a, b in CONTACT_PHASES.values()] for phi in PHASES])
    return FootContact(points, standing), J


def _contact_residuals(foot_contact: FootContact, J: Array) -> tuple[Array, Array]:
    residuals, rows = [], []
    clearance = CLEARANCE[0] + CLEARANCE[1] * np.maximum(np.sin(np.pi * (PHASES - TOE_OFF) / (1.0 - TOE_OFF)), 0.0)
    for k, stance in enumerate(foot_contact.standing.T):
        p, point_jacobian = foot_contact.points[stance, k], J[stance, k]
        residuals += [p[:, 2] / STANCE_TOLERANCE, ((p - p.mean(axis=0))[:, :2] / STANCE_TOLERANCE).ravel()]
        rows += [
            point_jacobian[:, 2] / STANCE_TOLERANCE,
            ((point_jacobian - point_jacobian.mean(axis=0))[:, :2] / STANCE_TOLERANCE).reshape(
                -1, point_jacobian.shape[-1]
            ),
        ]
        low = ~stance & (foot_contact.points[:, k, 2] < clearance)
        residuals.append((foot_contact.points[low, k, 2] - clearance[low]) / CLEARANCE_TOLERANCE)
        rows.append(J[low, k, 2] / CLEARANCE_TOLERANCE)
    return np.concatenate(residuals), np.vstack(rows)


# -- Walk ------------------------------------------------------------------------------------------------------------


#: Iterations of balance and foot contact: after the second the ZMP changes by less than a millimetre.
BALANCE_ITERATIONS = 3
#: Position of the ZMP on the foot at toe-off and at initial contact of the other foot, from heel (0) to first
#: metatarsal (1): a little behind the ankle, and in front of the ball.
ZMP_START, ZMP_END = 0.25, 0.90


def synthesize_walk(robot: Robot) -> PeriodicMotion:
    """Synthesize a steady walk along x, with right initial contact at phase 0; takes a third of a second.

    The model must be symmetric: the left side is the right side shifted by half a cycle.

    >>> q, v, a = synthesize_walk(robot).at(0.25)
    """
    norm = normative_motion(robot)
    walk, foot_contact = correct_foot_contact(norm, norm)
    for _ in range(BALANCE_ITERATIONS):
        walk, foot_contact = correct_foot_contact(_balance_zmp(walk, foot_contact), norm, free_pelvis=False)
    return walk


def ground_wrench(motion: PeriodicMotion, time: ArrayLike) -> tuple[Array, Array, Array]:
    """Compute the ground reaction: force (n, 3) N, zero-moment point (n, 2) m, moment about it (n) N m.

    With (f, τ) the first six rows of M a + h, in world axes about the world's origin: ``p = (-τ_y, τ_x) / f_z`` and the
    vertical moment ``τ_z - (p_x f_y - p_y f_x)``.
    """
    model, data = motion.robot.model, motion.robot.model.createData()
    forces, moments = [], []
    for q, v, a in zip(*motion.at(time), strict=True):
        root = pinocchio.rnea(model, data, q, v, a)[:6]
        pinocchio.forwardKinematics(model, data, q)  # rnea does not compute placements in the world frame
        wrench = data.oMi[1].act(pinocchio.Force(root))
        forces.append(wrench.linear.copy())
        moments.append(wrench.angular.copy())
    f, m = np.array(forces), np.array(moments)
    p = np.stack([-m[:, 1], m[:, 0]], axis=1) / f[:, 2:]
    return f, p, m[:, 2] - (p[:, 0] * f[:, 1] - p[:, 1] * f[:, 0])


def _balance_zmp(motion: PeriodicMotion, foot_contact: FootContact) -> PeriodicMotion:
    """Add a horizontal sway that moves the ZMP under the feet; the stance feet then slide a little."""
    time = PHASES * motion.period
    force, point, _ = ground_wrench(replace(motion, start=0.0), time)
    model, data = motion.robot.model, motion.robot.model.createData()
    height = np.array([pinocchio.centerOfMass(model, data, q)[2] for q in motion.at(time)[0]])
    lag = (motion.robot.mass * height / force[:, 2])[:, np.newaxis]
    effect = fourier_basis(PHASES) - lag * fourier_basis(PHASES, 2) / motion.period**2
    zmp_reference = _zmp_reference(foot_contact, motion.stride)
    coefficients = motion.coefficients.copy()
    for axis, mask in ((0, (ORDERS % 2 == 0) & (ORDERS > 0)), (1, ORDERS % 2 == 1)):
        coefficients[axis, mask] += np.linalg.lstsq(effect[:, mask], (zmp_reference - point)[:, axis], rcond=None)[0]
    return replace(motion, coefficients=coefficients)


def _zmp_reference(foot_contact: FootContact, stride: float) -> Array:
    """Return the desired ZMP at each of `PHASES`, (phases, 2), m: straight lines between the gait events."""
    heel, ball, outer = (
        foot_contact.stance_position(list(CONTACT_PHASES).index(name))[:2] for name in list(CONTACT_PHASES)[:3]
    )
    y = (heel[1] + (ball[1] + outer[1]) / 2.0) / 2.0
    first, last = (heel[0] + share * (ball[0] - heel[0]) for share in (ZMP_START, ZMP_END))
    # Left toe-off, left initial contact, right toe-off, right initial contact, and left toe-off one stride later.
    events = [TOE_OFF - 0.5, 0.5, TOE_OFF, 1.0, TOE_OFF + 0.5]
    before = events[0] > PHASES
    phase, half = PHASES + before, stride / 2.0
    x = np.interp(phase, events, [first, last, first + half, last + half, first + stride]) - stride * before
    return np.stack([x, np.interp(phase, events, [y, y, -y, -y, y])], axis=1)
