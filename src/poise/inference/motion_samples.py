"""Smoothed samples of a motion: configurations, velocities, kinematics, and an estimate of their noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import PoiseError
from poise.robots import Frame, Robot

#: Smallest and largest standard deviation (s) of the Gaussian smoothing kernel. The largest leaves decays of up to 8/s
#: intact: smoothing commutes with the linear law of a decay.
SMOOTHING_RANGE = (0.008, 0.06)
#: Noise (rad or m) at which the kernel has its largest width: 0.2 degrees, that of good marker data.
LARGE_NOISE = 3.5e-3
#: Noise (rad or m) below which a motion counts as exact.
EXACT = 2e-6
#: Time (s) at the beginning of a segment that is left out: controllers pass over to a new hierarchy within it.
TRANSITION = 0.2
#: Samples of a segment that the inference uses: more are not independent after smoothing.
MAX_SAMPLES = 60
#: Fewest samples from which a stack can be inferred.
MIN_SAMPLES = 20


class InferenceError(PoiseError, ValueError):
    """A motion from which no stack of tasks can be inferred, or an invalid file of a stack."""


@dataclass(frozen=True, eq=False)
class MotionSamples:
    """T samples of a motion of a robot, smoothed.

    Attributes:
        robot: the robot.
        time: s (T).
        q: configurations (T x nq).
        v: velocities (T x nv), the rates of the smoothed configurations.
        velocity_noise: standard deviation of the noise of v (nv), after smoothing; at least the accuracy of a
            difference quotient.
        position_noise: standard deviation of the noise of the coordinates (nv), after smoothing.
        period: time between two recorded samples (s).
    """

    robot: Robot
    time: Array
    q: Array
    v: Array
    velocity_noise: Array
    position_noise: Array
    period: float

    @classmethod
    def of(cls, robot: Robot, time: Array, q: Array, begin: float = -np.inf, end: float = np.inf) -> MotionSamples:
        """Return the samples of one segment of a motion, in which the stack of tasks does not change.

        Args:
            robot: the robot.
            time: times of the recorded samples (s).
            q: recorded configurations (one line per sample).
            begin, end: times between which the stack is constant (s).

        Raises:
            InferenceError: the segment is too short.
        """
        inside = (time >= begin - 1e-9) & (time <= end + 1e-9)
        time, q = time[inside], q[inside]
        period = float(np.median(np.diff(time))) if len(time) > 1 else np.nan
        if len(time) < MIN_SAMPLES:
            raise InferenceError(
                f"the motion has {len(time)} samples between {begin:g} and {end:g} s; expected {MIN_SAMPLES} or more"
            )
        coordinates = tangent_coordinates(robot, q)
        noise = estimate_noise(coordinates)
        low, high = SMOOTHING_RANGE
        level = float(np.median(noise))
        width = float(np.clip(high * (level / LARGE_NOISE) ** 0.4, low, high)) if level > EXACT else low
        width = max(width, 1.5 * period)
        margin = min(3.0 * width, 0.15 * (time[-1] - time[0]))
        first, last = time[0] + TRANSITION + margin, time[-1] - margin
        if last - first < 8 * width:
            raise InferenceError(
                f"the segment from {time[0]:.2f} to {time[-1]:.2f} s is too short for its noise "
                f"({np.degrees(level):.2g} degrees); give a longer motion"
            )
        smooth, rates = gaussian_smoothing(time, coordinates, width)
        q_smooth = configurations(robot, q[0], smooth)
        v = np.array([body_velocity(robot, q_smooth[i], smooth[i], rates[i]) for i in range(len(time))])
        chosen = np.flatnonzero((time >= first) & (time <= last))
        chosen = chosen[np.linspace(0, len(chosen) - 1, min(len(chosen), MAX_SAMPLES)).round().astype(int)]
        # Standard deviations of white noise and its derivative after a Gaussian kernel of that width.
        velocity_noise = noise * np.sqrt(period / (4.0 * np.sqrt(np.pi) * width**3))
        position_noise = noise * np.sqrt(period / (2.0 * np.sqrt(np.pi) * width))
        return cls(robot, time[chosen], q_smooth[chosen], v[chosen], velocity_noise, position_noise, period)

    def __len__(self) -> int:
        return len(self.time)

    def kinematics(self, frames: list[Frame]) -> BodyKinematics:
        """Return placements and Jacobians of frames and of the center of mass at all samples."""
        model, T, nv = self.robot.model, len(self), self.robot.model.nv
        data = model.createData()
        p, R, J = np.zeros((len(frames), T, 3)), np.zeros((len(frames), T, 3, 3)), np.zeros((len(frames), T, 6, nv))
        c, Jc = np.zeros((T, 3)), np.zeros((T, 3, nv))
        for t in range(T):
            Jc[t] = pinocchio.jacobianCenterOfMass(model, data, self.q[t])
            c[t] = data.com[0]
            pinocchio.computeJointJacobians(model, data, self.q[t])
            pinocchio.updateFramePlacements(model, data)
            for i, frame in enumerate(frames):
                placement = data.oMf[frame.index]
                p[i, t], R[i, t] = placement.translation, placement.rotation
                J[i, t] = pinocchio.getFrameJacobian(model, data, frame.index, pinocchio.LOCAL_WORLD_ALIGNED)
        names = [frame.name for frame in frames]
        return BodyKinematics(
            dict(zip(names, p, strict=True)), dict(zip(names, R, strict=True)), dict(zip(names, J, strict=True)), c, Jc
        )


@dataclass(frozen=True, eq=False)
class BodyKinematics:
    """Placements and Jacobians at T samples, by name of the frame; the Jacobians are those of the world axes.

    Attributes:
        position: T x 3 (m).
        rotation: T x 3 x 3, world from frame.
        jacobian: T x 6 x nv, linear part first.
        center_of_mass, center_of_mass_jacobian: T x 3 (m), T x 3 x nv.
    """

    position: dict[str, Array]
    rotation: dict[str, Array]
    jacobian: dict[str, Array]
    center_of_mass: Array
    center_of_mass_jacobian: Array


def tangent_coordinates(robot: Robot, q: Array) -> Array:
    """Return smooth coordinates of the configurations: base position, rotation vector from the first sample, joints."""
    first = pinocchio.Quaternion(q[0, 3:7]).toRotationMatrix()
    vectors = np.array([pinocchio.log3(first.T @ pinocchio.Quaternion(x[3:7]).toRotationMatrix()) for x in q])
    for i in range(1, len(vectors)):  # a rotation vector jumps where the angle passes pi
        size = np.linalg.norm(vectors[i])
        if size > 1e-9:
            turns = np.round(
                (np.linalg.norm(vectors[i - 1]) * np.sign(vectors[i - 1] @ vectors[i]) - size) / (2 * np.pi)
            )
            vectors[i] *= 1.0 + 2 * np.pi * turns / size
    return np.hstack([q[:, :3], vectors, q[:, 7:]])


def configurations(robot: Robot, first: Array, coordinates: Array) -> Array:
    """Return the configurations of tangent coordinates relative to a first configuration."""
    base = pinocchio.Quaternion(first[3:7]).toRotationMatrix()
    quaternions = np.array([pinocchio.Quaternion(base @ pinocchio.exp3(x[3:6])).coeffs() for x in coordinates])
    return np.hstack([coordinates[:, :3], quaternions, coordinates[:, 6:]])


def body_velocity(robot: Robot, q: Array, coordinates: Array, rates: Array) -> Array:
    """Return the velocity v (base in its own frame) for rates of the tangent coordinates."""
    v = rates.copy()
    v[:3] = pinocchio.Quaternion(q[3:7]).toRotationMatrix().T @ rates[:3]
    v[3:6] = pinocchio.Jexp3(coordinates[3:6]) @ rates[3:6]
    return v


def estimate_noise(coordinates: Array) -> Array:
    """Return the standard deviation of white noise on each coordinate, from third differences.

    A third difference of white noise has 20 times its variance; that of a smooth motion is negligible.
    """
    if len(coordinates) < 5:
        return np.zeros(coordinates.shape[1])
    third = np.diff(coordinates, 3, axis=0)
    return np.asarray(1.4826 * np.median(np.abs(third), axis=0) / np.sqrt(20.0))


def gaussian_smoothing(time: Array, values: Array, width: float) -> tuple[Array, Array]:
    """Return the values smoothed by a Gaussian kernel, and their rates.

    At each sample a straight line is fitted with Gaussian weights of standard deviation `width` (s), which is right
    at the ends, too, and for uneven sampling; its value and slope are the result.
    """
    period = float(np.median(np.diff(time)))
    half = int(np.ceil(4.0 * width / period))
    smooth, rates = np.empty_like(values), np.empty_like(values)
    for i in range(len(time)):
        low, high = max(0, i - half), min(len(time), i + half + 1)
        s = time[low:high] - time[i]
        w = np.exp(-0.5 * (s / width) ** 2)
        w /= w.sum()
        mean = w @ s
        spread = w @ (s - mean) ** 2
        center = w @ values[low:high]
        slope = (w * (s - mean)) @ values[low:high] / spread
        smooth[i], rates[i] = center - slope * mean, slope
    return smooth, rates
