"""Kinematics and dynamics of a robot at one state, each quantity computed at most once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import StateError
from poise.parsing import format_value
from poise.robots import Frame, Robot, State
from poise.state import _motion


def center_of_mass_writer(model: pinocchio.Model, data: Any, center: Array, jacobian: Array) -> _motion.CenterOfMass:
    """Return a writer of the center of mass (3, m) and its Jacobian (3 x nv, column by column).

    Call its `write` after pinocchio has computed the joint placements and Jacobians.
    """
    joints, inertias = range(model.njoints), model.inertias
    parents, columns, counts = (np.array(values, dtype=np.int32) for values in (model.parents, model.idx_vs, model.nvs))
    return _motion.CenterOfMass(
        data.J,
        [data.oMi[joint].rotation for joint in joints],
        [data.oMi[joint].translation for joint in joints],
        np.array([inertias[joint].mass for joint in joints]),
        np.array([inertias[joint].lever for joint in joints]),
        parents,
        columns,
        counts,
        center,
        jacobian,
    )


def momentum_drift_writer(model: pinocchio.Model, data: Any, momentum: Array, center: Array) -> _motion.MomentumDrift:
    """Return a writer of Ȧ_g v (6, N and N m) and of the drift of the center of mass (3, m/s²).

    Call its `write` after pinocchio has computed the rate of the centroidal momentum for zero accelerations.
    """
    mass = sum(inertia.mass for inertia in model.inertias)
    weight = mass * np.array(model.gravity.linear)
    rate, root = data.dhg, data.f[0]
    return _motion.MomentumDrift(rate.linear, rate.angular, root.linear, root.angular, weight, mass, momentum, center)


# -- Snapshot --------------------------------------------------------------------------------------------------------


# Terms to compute, as bits of a mask; see `Snapshot.compute`.
#: Placements and Jacobians of frames.
FRAMES = 1 << 0
#: The center of mass and its Jacobian.
CENTER_OF_MASS = 1 << 1
#: Momentum about the center of mass and its matrix.
MOMENTUM = 1 << 2
#: Drift J̇ v of frames, center of mass and momentum: their accelerations for v̇ = 0.
DRIFT = 1 << 3
#: The mass matrix and the bias forces.
DYNAMICS = 1 << 4
#: Displacement of the fastest coordinate from a state to either side of its stencil, rad or m. It is the cube root of
#: machine precision, where truncation and rounding errors of a central difference are equally small (some 1e-10 of the
#: second derivative).
STENCIL_DISPLACEMENT = 1e-5
#: Largest time step (s) to either side, for a robot that is nearly at rest; targets are smooth over this time.
STENCIL_SECONDS = 1e-3


def frame_rows(
    robot: Robot, data: Any, frame: Frame, frame_from_other: pinocchio.SE3 | None = None
) -> _motion.FrameRows:
    """Return the compiled reader of placement, Jacobian and drift of one frame, from the pinocchio data of its joint.

    With a pose `frame_from_other`, the reader is that of another frame fixed to the given one.
    """
    model, joint = robot.model, frame.joint
    carrier, velocity, acceleration = data.oMi[joint], data.v[joint], data.a[joint]
    joint_from_frame = model.frames[frame.index].placement
    if frame_from_other is not None:
        joint_from_frame = joint_from_frame * frame_from_other
    columns = [i for j in model.supports[joint] for i in range(model.idx_vs[j], model.idx_vs[j] + model.nvs[j])]
    return _motion.FrameRows(
        data.J,
        np.array(columns, dtype=np.int32),
        np.array(joint_from_frame.translation),
        np.ascontiguousarray(joint_from_frame.rotation),
        carrier.translation,
        carrier.rotation,
        velocity.linear,
        velocity.angular,
        acceleration.linear,
        acceleration.angular,
    )


class Stencil(NamedTuple):
    """Snapshots a short time later and earlier, with the same velocity, and the seconds between the two."""

    later: Snapshot
    earlier: Snapshot
    seconds: float


class Snapshot:
    """Kinematics and dynamics of a robot at one state, computed by pinocchio in memory that is reused.

    Use one snapshot per control loop: `at(state)` moves it to a new state, and each quantity is computed when it is
    first read. Arrays that it returns may be views: do not write to them, and do not use them after the next `at`.

    All quantities are in world axes. The velocity of a frame is that of its origin, then its angular velocity.

    Attributes:
        robot: the robot.
        model, data: pinocchio model and data.
        q, v: configuration and velocity of the current state.
        time: time of the current state (s).
        state: the current state; None before the first `at`.
        loads: point masses that it carries, see `carry`.
        magnitude: sum of the absolute values of all entries of q and v; not finite if one of them is not.

    >>> snapshot = Snapshot(robot).at(robot.stance("standing"))
    >>> snapshot.position(robot.hand("left")), snapshot.center_of_mass
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model = robot.model
        self.data = robot.model.createData()
        self.q: Array = np.array(pinocchio.neutral(robot.model))
        self.v: Array = np.zeros(robot.model.nv)
        self.time = 0.0
        self.state: State | None = None
        self.magnitude = 0.0
        self._load: Callable[[Array, Array], float] = _motion.StateLoader(self.q, self.v).load
        self._zero = np.zeros(robot.model.nv)
        self._computed = 0
        self._frames: dict[int, _motion.FrameRows] = {}
        self._center_of_mass: Array = np.zeros(3)
        self._center_of_mass_jacobian: Array = np.zeros((3, robot.model.nv), order="F")
        self._center_of_mass_drift: Array = np.zeros(3)
        # Not pinocchio's array, which includes the weight after _compute_dynamics.
        self._momentum_drift: Array = np.zeros(6)
        self._make_writers()
        self.loads: Mapping[Frame, float] = MappingProxyType({})
        self._stencil: Stencil | None = None
        self._stencil_state: State | None = None  # state at the middle of the stencil
        self._steps_for: dict[int, tuple[Callable[[], None], ...]] = {}
        self._steps: tuple[tuple[int, Callable[[], None]], ...] = (
            (DYNAMICS, self._compute_dynamics),
            (FRAMES, self._compute_frames),
            (MOMENTUM, self._compute_momentum),
            (CENTER_OF_MASS, self._compute_center_of_mass),
            (DRIFT, self._compute_drift),
        )

    @property
    def is_finite(self) -> bool:
        """Whether all entries of q and v are finite."""
        return math.isfinite(self.magnitude)

    def at(self, state: State) -> Snapshot:
        """Move the snapshot to another state of the same robot and return it."""
        if state is self.state:  # keep the quantities that are already computed
            return self
        self.state = state
        self.magnitude = self._load(state.q, state.v)
        self.time = state.time
        self._computed = 0
        return self

    def carry(self, loads: Mapping[Frame, float]) -> None:
        """Add point masses to the robot, in place of those of an earlier call: all quantities then include them.

        Args:
            loads: mass at the origin of each frame (kg, zero or more).

        >>> snapshot.carry({robot.hand("left"): 1.5})
        """
        inertias = self.robot.model.inertias
        joints = {frame.joint for frame in (*self.loads, *loads)}
        if not joints:
            return
        if self.model is self.robot.model:
            self.model = pinocchio.Model(self.model)
        for joint in joints:
            self.model.inertias[joint] = inertias[joint]
        for frame, mass in loads.items():
            if not 0.0 <= mass < math.inf:
                raise StateError(f"load at '{frame.name}' is {mass!r}; expected a mass in kg, zero or more")
            point = self.model.frames[frame.index].placement.translation
            self.model.inertias[frame.joint] += pinocchio.Inertia(float(mass), point, np.zeros((3, 3)))
        self.loads = MappingProxyType(dict(loads))
        self._make_writers()
        self._stencil, self._computed = None, 0

    def _make_writers(self) -> None:
        """Make the compiled writers that contain the masses of the bodies."""
        self._center_of_mass_writer = center_of_mass_writer(
            self.model, self.data, self._center_of_mass, self._center_of_mass_jacobian
        )
        self._drift_writer = momentum_drift_writer(
            self.model, self.data, self._momentum_drift, self._center_of_mass_drift
        )

    def stencil(self) -> Stencil:
        """Return snapshots of ``q ⊕ εv`` and ``q ⊕ -εv``, for central differences along the motion.

        They give ``J̇ v`` of any J(q, t).
        They have their own memory, allocated at the first call and then reused; this snapshot does not change. Further
        calls at the same state return the same two snapshots, with the quantities computed in them.
        """
        if self._stencil is not None and self.state is not None and self._stencil_state is self.state:
            return self._stencil
        if self._stencil is None:
            later, earlier = Snapshot(self.robot), Snapshot(self.robot)
            for side in (later, earlier):
                side.carry(self.loads)
        else:
            later, earlier, _ = self._stencil
        speed = float(np.abs(self.v).max())
        seconds = min(STENCIL_SECONDS, STENCIL_DISPLACEMENT / speed) if speed > 0.0 else STENCIL_SECONDS
        contacts = () if self.state is None else self.state.contacts
        for side, step in ((later, seconds), (earlier, -seconds)):
            q = pinocchio.integrate(self.model, self.q, step * self.v)
            side.at(State._unchecked(self.robot, q, self.v.copy(), self.time + step, contacts))
        self._stencil, self._stencil_state = Stencil(later, earlier, 2.0 * seconds), self.state
        return self._stencil

    # -- memory ----------------------------------------------------------------------------------------------------

    def compute(self, terms: int) -> None:
        """Compute those terms (a sum of FRAMES, CENTER_OF_MASS, MOMENTUM, DRIFT, DYNAMICS) that are still missing."""
        missing = terms & ~self._computed
        if missing:
            steps = self._steps_for.get(missing)
            if steps is None:
                steps = self._steps_for[missing] = self._plan_steps(missing)
            for step in steps:
                step()

    def _plan_steps(self, missing: int) -> tuple[Callable[[], None], ...]:
        """Return the steps that compute the missing terms, in order; the dynamics include all other terms."""
        included = FRAMES | CENTER_OF_MASS | MOMENTUM | DRIFT if missing & DYNAMICS else 0
        return tuple(step for bit, step in self._steps if missing & bit and not included & bit)

    def frame(self, frame: Frame) -> _motion.FrameRows:
        """Return the compiled reader of a frame.

        Placement and Jacobian are up to date after `compute(FRAMES)`, the drift after `compute(DRIFT)`.
        """
        rows = self._frames.get(frame.index)
        if rows is None:
            if not isinstance(frame, Frame):
                raise StateError(f"{format_value(frame)} is not a frame; give e.g. robot.frame('torso_link')")
            rows = self._frames[frame.index] = frame_rows(self.robot, self.data, frame)
        return rows

    def _compute_frames(self) -> None:
        pinocchio.computeJointJacobians(self.model, self.data, self.q)
        self._computed |= FRAMES

    def _compute_center_of_mass(self) -> None:
        self.compute(FRAMES)  # the writer reads the joint placements
        self._center_of_mass_writer.write()
        self._computed |= CENTER_OF_MASS

    def _compute_momentum(self) -> None:
        pinocchio.ccrba(self.model, self.data, self.q, self.v)
        self._computed |= MOMENTUM

    def _compute_drift(self) -> None:
        # With v̇ = 0, every acceleration is equal to its drift.
        pinocchio.computeCentroidalMomentumTimeVariation(self.model, self.data, self.q, self.v, self._zero)
        self._drift_writer.write()
        self._computed |= DRIFT

    def _compute_dynamics(self) -> None:
        self._drift_writer.reset_root_force()
        pinocchio.computeAllTerms(self.model, self.data, self.q, self.v)
        self._center_of_mass_writer.write()
        self._drift_writer.write_adding_weight()
        self._computed |= DYNAMICS | FRAMES | CENTER_OF_MASS | MOMENTUM | DRIFT

    # -- frames ----------------------------------------------------------------------------------------------------

    def pose(self, frame: Frame) -> pinocchio.SE3:
        """Return the pose world_from_frame."""
        return pinocchio.SE3(self.rotation(frame), self.position(frame))

    def position(self, frame: Frame) -> Array:
        """Return the origin of the frame in the world, m."""
        self.compute(FRAMES)
        out = np.empty(3)
        self.frame(frame).position(out)
        return out

    def rotation(self, frame: Frame) -> Array:
        """Return the rotation world_from_frame, 3 x 3."""
        self.compute(FRAMES)
        out = np.empty((3, 3))
        self.frame(frame).rotation(out)
        return out

    def jacobian(self, frame: Frame) -> Array:
        """Return J with (velocity of the origin, angular velocity) = J v, 6 x nv, in world axes."""
        self.compute(FRAMES)
        J = np.zeros((6, self.model.nv))
        self.frame(frame).jacobian(J)
        return J

    def drift(self, frame: Frame) -> Array:
        """Return J̇ v, the acceleration of the frame for v̇ = 0, m/s² and rad/s²."""
        self.compute(FRAMES | DRIFT)
        out = np.empty(6)
        self.frame(frame).drift(out)
        return out

    def velocity(self, frame: Frame) -> Array:
        """Return (velocity of the origin, angular velocity), m/s and rad/s."""
        if not self._computed & DRIFT:
            return self.jacobian(frame) @ self.v
        out = np.empty(6)
        self.frame(frame).velocity(out)  # of the bodies, which are computed with the drift
        return out

    # -- center of mass and momentum -------------------------------------------------------------------------------

    @property
    def center_of_mass(self) -> Array:
        """Center of mass in the world (3), m."""
        self.compute(CENTER_OF_MASS)
        return self._center_of_mass

    @property
    def center_of_mass_jacobian(self) -> Array:
        """Jacobian of the center of mass, 3 x nv."""
        self.compute(CENTER_OF_MASS)
        return self._center_of_mass_jacobian

    @property
    def center_of_mass_velocity(self) -> Array:
        """Velocity of the center of mass (3), m/s."""
        return self.center_of_mass_jacobian @ self.v

    @property
    def center_of_mass_drift(self) -> Array:
        """Drift of the center of mass, its acceleration for v̇ = 0 (3), m/s²."""
        self.compute(DRIFT)
        return self._center_of_mass_drift

    @property
    def momentum_matrix(self) -> Array:
        """Centroidal momentum matrix A_g, 6 x nv: (linear, angular momentum about the center of mass) = A_g v."""
        self.compute(MOMENTUM)
        matrix: Array = self.data.Ag
        return matrix

    @property
    def momentum(self) -> Array:
        """(linear, angular momentum about the center of mass), kg m/s and kg m²/s."""
        momentum: Array = self.momentum_matrix @ self.v
        return momentum

    @property
    def momentum_drift(self) -> Array:
        """Ȧ_g v, the rate of the momentum for v̇ = 0 (6), N and N m."""
        self.compute(DRIFT)
        return self._momentum_drift

    # -- dynamics --------------------------------------------------------------------------------------------------

    @property
    def mass_matrix(self) -> Array:
        """Mass matrix M, nv x nv, including the rotor inertia."""
        self.compute(DYNAMICS)
        matrix: Array = self.data.M
        return matrix

    @property
    def nonlinear_effects(self) -> Array:
        """Bias forces h of gravity, Coriolis and centrifugal effects (nv), N and N m."""
        self.compute(DYNAMICS)
        forces: Array = self.data.nle
        return forces
