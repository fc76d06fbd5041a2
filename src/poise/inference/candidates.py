"""Candidate tasks: quantities of the body that a level of a stack may control, and how their error depends on a target.

Each candidate gives, at T samples of a motion, the Jacobian of its rows and its error as a function of an unknown
target. The tasks of `poise.tasks` that they stand for are built by `stack_of_tasks.build_task`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.inference.motion_samples import BodyKinematics, MotionSamples
from poise.robots import Frame, Robot

AXES = "xyz"


class Candidate(ABC):
    """A quantity that a task may control.

    Attributes:
        kind: name of the task class, e.g. "Position".
        part: name of the frame, or "" for the whole body.
        settings: further arguments of the task, e.g. ``{"axes": "xy"}``.
        J: T x m x nv, the Jacobian of the rows.
        unit: "m" or "rad".
        prior: small number; of two candidates that explain a motion equally well, the one with the smaller is meant.
    """

    kind = ""
    unit = "m"
    prior = 0.0
    #: Whether the quantity is linear in the joint angles, so that no solver damps it.
    linear = False
    #: Damping of the steps of the target, for directions that levels above have taken.
    step_damping = 1e-6

    def __init__(self, part: str, J: Array, **settings: Any) -> None:
        self.part, self.J, self.settings = part, np.ascontiguousarray(J), settings

    @property
    def rows(self) -> int:
        return int(self.J.shape[1])

    @property
    def parameters(self) -> int:
        """Number of parameters of the target."""
        return self.rows

    @property
    def name(self) -> str:
        """Short text, unique among the candidates of one robot."""
        extras = ", ".join(f"{value}" for value in self.settings.values() if value != "")
        return " ".join(filter(None, [self.kind, self.part])) + (f" ({extras})" if extras else "")

    def jacobian(self, target: Any) -> Array:
        """Return the Jacobian of the rows for a target, T x m x nv."""
        return self.J

    @abstractmethod
    def first_target(self) -> Any:
        """Return a target near which the target of the motion lies: the value at the last sample."""

    @abstractmethod
    def error(self, target: Any) -> Array:
        """Return the error at all samples, T x m."""

    @abstractmethod
    def error_derivative(self, target: Any) -> Array:
        """Return the derivative of the error by the parameters of the target, T x m x parameters."""

    @abstractmethod
    def moved_target(self, target: Any, step: Array) -> Any:
        """Return the target after a step of its parameters."""

    def __repr__(self) -> str:
        return self.name


class VectorCandidate(Candidate):
    """A quantity whose error is ``x - x*``: position, center of mass, joint angles.

    Args:
        x: T x m, the quantity.
    """

    def __init__(self, kind: str, part: str, x: Array, J: Array, unit: str = "m", prior: float = 0.0, **settings: Any):
        super().__init__(part, J, **settings)
        self.kind, self.unit, self.x, self.prior = kind, unit, x, prior

    def first_target(self) -> Array:
        return self.x[-1].copy()

    def error(self, target: Array) -> Array:
        return self.x - target

    def error_derivative(self, target: Array) -> Array:
        return np.broadcast_to(-np.eye(self.rows), (len(self.x), self.rows, self.rows))

    def moved_target(self, target: Array, step: Array) -> Array:
        return np.asarray(target + step)


class OrientationCandidate(Candidate):
    """Orientation of a frame in the world: ``e = log(R R*ᵀ)``."""

    kind, unit, step_damping = "Orientation", "rad", 1e-4

    def __init__(self, part: str, R: Array, J: Array, prior: float = 0.0) -> None:
        super().__init__(part, J)
        self.R, self.prior = R, prior

    def first_target(self) -> Array:
        return self.R[-1].copy()

    def error(self, target: Array) -> Array:
        return np.array([pinocchio.log3(R @ target.T) for R in self.R])

    def error_derivative(self, target: Array) -> Array:
        # R* -> exp(d) R*: log(R R*ᵀ exp(-d)) = e - Jr⁻¹(e) d.
        return np.array([-np.linalg.inv(pinocchio.Jexp3(e)) for e in self.error(target)])

    def moved_target(self, target: Array, step: Array) -> Array:
        size = float(np.linalg.norm(step))
        return np.asarray(pinocchio.exp3(step * min(1.0, 0.5 / max(size, 1e-9))) @ target)


class AimCandidate(Candidate):
    """An axis of a frame that points along a direction of the world, or at a point: `Direction` and `Gaze`."""

    unit = "rad"

    def __init__(self, part: str, axis: Array, J: Array, R: Array, prior: float) -> None:
        self.axis = axis / np.linalg.norm(axis)
        self.B = np.linalg.svd(self.axis[None, :])[2][1:].T
        self.R, self.prior = R, prior
        super().__init__(part, J)

    def _error_of_directions(self, n: Array) -> Array:
        """Return the error for directions n in the axes of the frame, T x 3: the angle, along the shortest rotation."""
        c, across = n @ self.axis, n @ self.B
        sine = np.linalg.norm(across, axis=1)
        angle = np.arctan2(sine, c)
        return np.asarray(across * np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 1.0)[:, None])

    def _rate_matrix(self, n: Array) -> Array:
        """Return E with ``ė = E ṅ``, T x 2 x 3; see `poise.tasks.aim`."""
        c, across = np.clip(n @ self.axis, -0.99, 1.0), n @ self.B
        near = 1.0 - c < 1e-4
        sine_squared = np.where(near, 1.0, 1.0 - c * c)
        f = np.where(near, 1.0 + (1.0 - c) / 3.0, np.arccos(c) / np.sqrt(sine_squared))
        slope = np.where(near, -1.0 / 3.0, (c * f - 1.0) / sine_squared)
        return np.asarray(f[:, None, None] * self.B.T + slope[:, None, None] * across[:, :, None] * self.axis)

    @abstractmethod
    def error(self, target: Any) -> Array: ...

    def error_derivative(self, target: Any) -> Array:
        """Central differences: the target has few parameters."""
        h = 1e-5
        columns = []
        for i in range(self.parameters):
            step = np.zeros(self.parameters)
            step[i] = h
            columns.append(
                (self.error(self.moved_target(target, step)) - self.error(self.moved_target(target, -step))) / (2 * h)
            )
        return np.stack(columns, axis=2)


class DirectionCandidate(AimCandidate):
    """An axis of a frame that shall become vertical, such as that of a cup or of the trunk."""

    kind = "Direction"

    def __init__(self, part: str, axis: Array, R: Array, J: Array, prior: float) -> None:
        up = np.array([0.0, 0.0, 1.0])
        super().__init__(part, axis, J, R, prior)
        n = np.einsum("tji,j->ti", R, up)
        # With n = Rᵀ d: ṅ = Rᵀ [d]x ω.
        self.J = np.ascontiguousarray(
            self._rate_matrix(n) @ np.einsum("tji,jk,tkn->tin", R, pinocchio.skew(up), J, optimize=True)
        )
        self.n = n
        self.settings = {"axis": tuple(float(x) for x in self.axis)}

    @property
    def parameters(self) -> int:
        return 0

    def first_target(self) -> Array:
        return np.array([0.0, 0.0, 1.0])

    def error(self, target: Any) -> Array:
        return self._error_of_directions(self.n)

    def error_derivative(self, target: Any) -> Array:
        return np.zeros((len(self.n), 2, 0))

    def moved_target(self, target: Array, step: Array) -> Array:
        return target


class GazeCandidate(AimCandidate):
    """The viewing axis passes through a point of the world. The distance of the point is poorly determined."""

    kind = "Gaze"

    def __init__(self, part: str, axis: Array, p: Array, R: Array, J: Array, prior: float) -> None:
        super().__init__(part, axis, J[:, :2], R, prior)
        self.p, self.frame_jacobian = p, J

    @property
    def parameters(self) -> int:
        return 3

    def first_target(self) -> Array:
        return np.asarray(self.p[-1] + 1.5 * (self.R[-1] @ self.axis))

    def first_targets(self) -> list[Array]:
        """Return points along the last line of sight: an obeyed gaze ends on its target."""
        return [np.asarray(self.p[-1] + d * (self.R[-1] @ self.axis)) for d in (0.4, 0.6, 0.9, 1.3, 2.0, 3.5, 8.0)]

    def jacobian(self, target: Any) -> Array:
        """Return the Jacobian, which depends on the distance of the target."""
        r = target - self.p
        y = np.einsum("tji,tj->ti", self.R, r)
        distance = np.linalg.norm(y, axis=1)[:, None, None]
        n = y / distance[:, :, 0]
        across = (np.eye(3) - n[:, :, None] * n[:, None, :]) / distance
        turn = across @ self.R.transpose(0, 2, 1)
        skew = np.array([pinocchio.skew(x) for x in r])
        return np.asarray(
            self._rate_matrix(n) @ (turn @ (skew @ self.frame_jacobian[:, 3:] - self.frame_jacobian[:, :3]))
        )

    def error(self, target: Array) -> Array:
        y = np.einsum("tji,tj->ti", self.R, target - self.p)
        return self._error_of_directions(y / np.linalg.norm(y, axis=1)[:, None])

    def moved_target(self, target: Array, step: Array) -> Array:
        return np.asarray(target + step)

    def parameters_of(self, target: Array) -> Array:
        """Return two angles from the last line of sight (rad) and the logarithm of the distance of a target."""
        y = self.R[-1].T @ (target - self.p[-1])
        return np.array([*np.arctan2(self.B.T @ y, self.axis @ y), np.log(np.linalg.norm(y))])

    def point(self, parameters: Array) -> Array:
        """Return the target of such parameters, at 0.2 to 50 m."""
        y = self.axis + self.B @ np.tan(np.clip(parameters[:2], -1.5, 1.5))
        distance = np.exp(np.clip(parameters[2], np.log(0.2), np.log(50.0)))
        return np.asarray(self.p[-1] + distance * (self.R[-1] @ y) / np.linalg.norm(y))


class PostureCandidate(VectorCandidate):
    """Angles of all joints, or of some: the usual last level."""

    linear = True

    def __init__(self, robot: Robot, q: Array, joints: Sequence[str] = (), prior: float = 0.0, group: str = "") -> None:
        chosen = [joint for joint in robot.joints if not joints or joint.name in joints]
        J = np.zeros((len(chosen), robot.model.nv))
        J[np.arange(len(chosen)), [joint.v for joint in chosen]] = 1.0
        super().__init__(
            "Posture", group, q[:, [joint.q for joint in chosen]], np.broadcast_to(J, (len(q), *J.shape)), "rad", prior
        )
        self.joints = tuple(joint.name for joint in chosen)


def candidates(samples: MotionSamples) -> list[Candidate]:
    """Return the candidate tasks of a robot at the samples of a motion.

    Feet, hands, chest, head and base: position, orientation, an axis that stays upright; height of the base; hands
    also relative to the chest; gaze; center of mass; all joints.
    """
    robot = samples.robot
    base = next(frame for frame in robot.frames.values() if frame.joint == 1)
    parts: dict[str, Frame] = {frame.name: frame for frame in (*robot.feet, *robot.hands)}
    for frame in (robot.chest, robot.gaze, base):
        if frame is not None:
            parts.setdefault(frame.name, frame)
    body = samples.kinematics(list(parts.values()))
    hands = {hand.name for hand in robot.hands}
    feet = {foot.name for foot in robot.feet}
    found: list[Candidate] = []
    for name in parts:
        p, R, J = body.position[name], body.rotation[name], body.jacobian[name]
        trunk = name not in hands and name not in feet
        found.append(VectorCandidate("Position", name, p, J[:, :3], "m", 0.3 if trunk else 0.0, axes="xyz"))
        found.append(OrientationCandidate(name, R, J[:, 3:], 0.1 if name in hands else 0.0))
        if name == base.name:
            found.append(VectorCandidate("Position", name, p[:, 2:], J[:, 2:3], "m", 0.1, axes="z"))
        if name not in feet:
            axis = R[-1].T @ np.array([0.0, 0.0, 1.0])
            nearest = np.zeros(3)
            nearest[np.argmax(np.abs(axis))] = np.sign(axis[np.argmax(np.abs(axis))])
            found.append(DirectionCandidate(name, nearest, R, J[:, 3:], 0.1))
    for hand in robot.hands:
        if robot.chest is not None:
            found.append(_relative_position(body, hand.name, robot.chest.name))
    c, Jc = body.center_of_mass, body.center_of_mass_jacobian
    found.append(VectorCandidate("CenterOfMass", "", c[:, :2], Jc[:, :2], "m", -0.1, axes="xy"))
    found.append(VectorCandidate("CenterOfMass", "", c, Jc, "m", 0.0, axes="xyz"))
    if robot.gaze is not None:
        name = robot.gaze.name
        found.append(
            GazeCandidate(
                name, np.array(robot.gaze.axis), body.position[name], body.rotation[name], body.jacobian[name], -0.1
            )
        )
    found.append(PostureCandidate(robot, samples.q))
    return found


def _relative_position(body: BodyKinematics, name: str, reference: str) -> Candidate:
    """Return the position of a frame in the axes of another: ``x = R_aᵀ (p_b - p_a)``."""
    p, R = body.position, body.rotation[reference]
    r = p[name] - p[reference]
    Ja, Jb = body.jacobian[reference], body.jacobian[name]
    skew = np.array([pinocchio.skew(x) for x in r])
    J = R.transpose(0, 2, 1) @ (Jb[:, :3] - Ja[:, :3] + skew @ Ja[:, 3:])
    x = np.einsum("tji,tj->ti", R, r)
    return VectorCandidate("RelativePosition", name, x, J, "m", 0.2, reference=reference)
