"""Synthetic walk of a human body: normative joint angles as Fourier series, corrected for foot contact and ZMP.

What the ground must do follows from the motion alone: the wrench that the equation of motion asks for at the base. Its
zero-moment point p leaves the feet by decimetres if nothing is done, since a sway of millimetres counts at the higher
harmonics: moving the whole body by δ(t) along the ground moves p by

    δ - (m c_z / F_z) d²δ/dt²

which is linear in the coefficients of δ. So δ is chosen for a p that runs from heel to toe of one foot and on to the
other, then the legs follow ([Kagami2002] corrects walks in this way), and the same once more.

[Kagami2002] S. Kagami, T. Kitagawa, K. Nishiwaki, T. Sugihara, M. Inaba, H. Inoue. *A fast dynamically equilibrated
walking trajectory generation method of humanoid robot.* Autonomous Robots, 2002.

Norm curves come from other bodies: on this one they would slide by centimetres. The Fourier coefficients of the right
leg, of the way of the pelvis and the stride are found by least squares (Gauss and Newton),

    min  Σ (z / e)² + Σ |p_xy - mean p_xy|² / e²  over the points p under the foot while they stand
       + Σ min(z - clearance, 0)² / l²            while they do not
       + Σ (c - c_norm)² / s²                     how far coefficients c may go
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

#: Harmonics of the stride: the sixth, at a stride of 1.1 s, has 5.5 Hz, below the 6 Hz at which gait is filtered.
HARMONICS = 6
#: The harmonic of each coefficient: constant, cosines, sines.
ORDERS = np.concatenate([[0], np.arange(1, HARMONICS + 1), np.arange(1, HARMONICS + 1)])
#: Coefficients times these are those of the same curve half a cycle later, as those of the other side are.
HALF_CYCLE_SIGNS = (-1.0) ** ORDERS


def fourier_basis(phase: ArrayLike, order: int = 0) -> Array:
    """Values of the basis (n, 13), 1, cos 2πkφ ..., sin 2πkφ ..., or their first or second derivative by φ."""
    phi = np.atleast_1d(np.asarray(phase, dtype=np.float64))
    k = 2.0 * np.pi * np.arange(1, HARMONICS + 1)
    angle = np.outer(phi, k) + order * np.pi / 2.0  # each derivative turns by a quarter and multiplies with k
    return np.hstack([np.full((len(phi), 1), float(order == 0)), k**order * np.cos(angle), k**order * np.sin(angle)])


def fourier_coefficients(values: ArrayLike) -> Array:
    """Coefficients (..., 13) of curves that are known at n equal steps of the cycle, (..., n)."""
    x = np.asarray(values, dtype=np.float64)
    return x @ np.linalg.pinv(fourier_basis(np.arange(x.shape[-1]) / x.shape[-1])).T


@dataclass(frozen=True, eq=False)
class PeriodicMotion:
    """A body that walks along x: at time t its phase is φ = t / T + start.

        x(t) = stride φ + c_x·s(φ),   all other coordinates c·s(φ),   pelvis turned by Rz(yaw) Ry(pitch) Rx(roll)

    Attributes:
        robot: whose motion it is.
        coefficients: c, (42, 13): position (m), roll, pitch, yaw (rad) of the base, then the joints (rad).
        stride: m; period: T, s.
        start: phase at time 0; the right foot strikes at whole numbers.
    """

    robot: Robot
    coefficients: Array
    stride: float
    period: float
    start: float = 0.0

    def at(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Configurations (n, 43), velocities and accelerations (n, 42) at times (s), as pinocchio has them."""
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
    """From position and angles of the base in the world to its velocity and acceleration in its own axes."""
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


#: The norms begin with the heel's largest lead, 40 ms of 1.1 s before the strike.
NORM_PHASE_OFFSET = 0.035
#: Steps of the cycle at which curves are read: enough for six harmonics and their products.
PHASE_SAMPLES = 100
#: Stride time (s) of a leg of 0.91 m; others as the root of the length, as pendulums do.
STRIDE_TIME, REFERENCE_LEG_LENGTH = 1.08, 0.91
#: First guess of the stride as a share of the leg; the feet have the last word.
STRIDE_RATIO = 1.4
#: Lean of the trunk, rad: shoulders two or three centimetres before the hips.
TRUNK_LEAN = math.radians(3.0)
#: Arms hang a little off the body with palms turned inwards and fingers half open, rad.
ARM_ANGLES = {"shoulder_adduction": -0.12, "forearm_pronation": 1.40, "fingers_flexion": 0.30}


def normative_motion(robot: Robot) -> PeriodicMotion:
    """Legs, arms, pelvis and back as in the norms, the head upright; the hip centres at the height of straight legs.

    Left is right half a cycle later. The pelvis and the back are made symmetrical: what a mirror and half a cycle leave
    as it is stays, the rest is the difference between the people's sides.
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


#: When the foot leaves the ground, share of its cycle: as people do at 1.1 m/s.
TOE_OFF = 0.62
#: The points under a foot and when each stands, shares of the cycle: it lands on its heel, is flat from a tenth on, and
#: rises from the heel at a third; the toes leave last.
CONTACT_PHASES = {
    "heel": (0.0, 0.32),
    "first_metatarsal": (0.08, 0.58),
    "fifth_metatarsal": (0.06, 0.54),
    "toe_tip": (0.10, TOE_OFF),
}
#: How far a coefficient of each joint of the leg may go from the norm (s, degrees): less than people differ by. What no
#: norm tells, inversion and toes, is freer.
JOINT_DEVIATIONS = {
    "hip_flexion": 1.0,
    "hip_adduction": 0.7,
    "hip_rotation": 1.0,
    "knee_flexion": 1.0,
    "ankle_dorsiflexion": 1.0,
    "ankle_inversion": 1.7,
    "toes_extension": 5.0,
}
#: The same for the pelvis along x, y, z, m; and from which harmonic on all of it gets less, so that forces stay small.
PELVIS_DEVIATIONS, DEVIATION_HARMONIC = (0.007, 0.010, 0.007), 3.0
#: What counts as standing (e), and as too low while swinging (l), m.
STANCE_TOLERANCE, CLEARANCE_TOLERANCE = 0.001, 0.002
#: Height that a swinging foot keeps at least, m: at its ends and, in addition, in the middle.
CLEARANCE = (0.004, 0.010)
#: Rounds of Gauss and Newton; six are enough for every stature from 1.2 to 2.1 m.
CONTACT_ITERATIONS = 12
#: A step that changes nothing by more than a hundredth of a millimetre or a thousandth of a degree is the last one.
STEP_TOLERANCE = 1e-5

PHASES = np.arange(PHASE_SAMPLES) / PHASE_SAMPLES
_BASIS = fourier_basis(PHASES)


class FootContact(NamedTuple):
    """Points under the right foot over the cycle, (steps, points, 3), m, and which of them stand, (steps, points)."""

    points: Array
    standing: NDArray[np.bool_]

    def stance_position(self, point: int) -> Array:
        """Where a point stands, (3,), m."""
        return np.asarray(self.points[self.standing[:, point], point].mean(axis=0))


def correct_foot_contact(
    motion: PeriodicMotion, norm: PeriodicMotion, *, free_pelvis: bool = True
) -> tuple[PeriodicMotion, FootContact]:
    """The motion nearest to the norm whose feet stand; the way of the pelvis along x and y may be held as it is."""
    rows = [0, 1, 2, *(motion.robot.joint(f"right_{name}").v for name in JOINT_DEVIATIONS)]
    deviation = np.outer(
        [*PELVIS_DEVIATIONS, *np.radians(list(JOINT_DEVIATIONS.values()))],
        1.0 / (1.0 + (ORDERS / DEVIATION_HARMONIC) ** 2),
    )
    # Left is right half a cycle later: x and z have even harmonics only, y odd ones; where the walk begins is free.
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
    found = _with_coefficients(motion, rows, c, stride)
    return found, _foot_contact(found, rows)[0]


def _with_coefficients(motion: PeriodicMotion, rows: list[int], c: Array, stride: float) -> PeriodicMotion:
    all_rows = motion.coefficients.copy()
    all_rows[rows] = c
    for name in JOINT_DEVIATIONS:
        joint = motion.robot.joint
        all_rows[joint(f"left_{name}").v] = all_rows[joint(f"right_{name}").v] * HALF_CYCLE_SIGNS
    return replace(motion, coefficients=all_rows, stride=stride)


def _foot_contact(motion: PeriodicMotion, rows: list[int]) -> tuple[FootContact, Array]:
    """Points under the right foot, and their derivatives by the coefficients of rows, (steps, points, 3, rows + 1, 13);
    the first number of the last row is that of the stride."""
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
            own = pinocchio.getFrameJacobian(model, data, frame, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3, rows]
            own[:, :3] = np.eye(3)  # the way of the pelvis is in the axes of the world
            J[i, k, :, :-1] = own[:, :, np.newaxis] * _BASIS[i]
            J[i, k, 0, -1, 0] = PHASES[i]
    standing = np.array([[a <= phi <= b for a, b in CONTACT_PHASES.values()] for phi in PHASES])
    return FootContact(points, standing), J


def _contact_residuals(foot_contact: FootContact, J: Array) -> tuple[Array, Array]:
    residuals, rows = [], []
    clearance = CLEARANCE[0] + CLEARANCE[1] * np.maximum(np.sin(np.pi * (PHASES - TOE_OFF) / (1.0 - TOE_OFF)), 0.0)
    for k, on in enumerate(foot_contact.standing.T):
        p, own = foot_contact.points[on, k], J[on, k]
        residuals += [p[:, 2] / STANCE_TOLERANCE, ((p - p.mean(axis=0))[:, :2] / STANCE_TOLERANCE).ravel()]
        rows += [
            own[:, 2] / STANCE_TOLERANCE,
            ((own - own.mean(axis=0))[:, :2] / STANCE_TOLERANCE).reshape(-1, own.shape[-1]),
        ]
        low = ~on & (foot_contact.points[:, k, 2] < clearance)
        residuals.append((foot_contact.points[low, k, 2] - clearance[low]) / CLEARANCE_TOLERANCE)
        rows.append(J[low, k, 2] / CLEARANCE_TOLERANCE)
    return np.concatenate(residuals), np.vstack(rows)


# -- Walk ------------------------------------------------------------------------------------------------------------


#: Rounds of balance and feet: after the second the zero-moment point moves by less than a millimetre.
BALANCE_ITERATIONS = 3
#: Where on the foot the zero-moment point is when the other foot leaves and when it lands, from heel (0) to the first
#: metatarsal (1): a little behind the ankle, and before the ball.
ZMP_START, ZMP_END = 0.25, 0.90


def synthesize_walk(robot: Robot) -> PeriodicMotion:
    """A steady walk along x of a human body, in which the right foot strikes at phase 0; found in a third of a second.

    Its sides must be alike: left is right half a cycle later.

    >>> q, v, a = synthesize_walk(robot).at(0.25)
    """
    norm = normative_motion(robot)
    walk, foot_contact = correct_foot_contact(norm, norm)
    for _ in range(BALANCE_ITERATIONS):
        walk, foot_contact = correct_foot_contact(_balance_zmp(walk, foot_contact), norm, free_pelvis=False)
    return walk


def ground_wrench(motion: PeriodicMotion, time: ArrayLike) -> tuple[Array, Array, Array]:
    """What the ground does to the body: force (n, 3) N, zero-moment point (n, 2) m, moment about it (n) N m.

    With (f, τ) the first six rows of M a + h, in world axes about the world's origin: ``p = (-τ_y, τ_x) / f_z`` and the
    moment ``τ_z - (p_x f_y - p_y f_x)`` about the vertical.
    """
    model, data = motion.robot.model, motion.robot.model.createData()
    forces, moments = [], []
    for q, v, a in zip(*motion.at(time), strict=True):
        root = pinocchio.rnea(model, data, q, v, a)[:6]
        pinocchio.forwardKinematics(model, data, q)  # rnea leaves the placements in the world as they were
        wrench = data.oMi[1].act(pinocchio.Force(root))
        forces.append(wrench.linear.copy())
        moments.append(wrench.angular.copy())
    f, m = np.array(forces), np.array(moments)
    p = np.stack([-m[:, 1], m[:, 0]], axis=1) / f[:, 2:]
    return f, p, m[:, 2] - (p[:, 0] * f[:, 1] - p[:, 1] * f[:, 0])


def _balance_zmp(motion: PeriodicMotion, foot_contact: FootContact) -> PeriodicMotion:
    """The same motion, swaying so that its zero-moment point goes under the feet; the feet no longer stand quite."""
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
    """Where the zero-moment point should be at each phase, (steps, 2): straight lines between the events."""
    heel, ball, outer = (
        foot_contact.stance_position(list(CONTACT_PHASES).index(name))[:2] for name in list(CONTACT_PHASES)[:3]
    )
    y = (heel[1] + (ball[1] + outer[1]) / 2.0) / 2.0
    first, last = (heel[0] + share * (ball[0] - heel[0]) for share in (ZMP_START, ZMP_END))
    # The left foot leaves, lands, the right foot leaves, lands, and the same again one stride on.
    events = [TOE_OFF - 0.5, 0.5, TOE_OFF, 1.0, TOE_OFF + 0.5]
    before = events[0] > PHASES
    phase, half = PHASES + before, stride / 2.0
    x = np.interp(phase, events, [first, last, first + half, last + half, first + stride]) - stride * before
    return np.stack([x, np.interp(phase, events, [y, y, -y, -y, y])], axis=1)
