"""`LoadEstimate`: masses in the hands that nobody announced, from contact forces and joint torques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.robots import Frame, Robot
from poise.state import SensorReadings, Snapshot

#: Time constant of the averages (s): the estimate has 95 % of a load after 0.6 s.
AVERAGE_TIME = 0.2
#: Lever (m) at which a moment of the ground counts like a force: that of a hand, seen from the center of mass.
LEVER = 0.3
#: Weight of an arm joint relative to a moment of the ground. Its torque depends on the load at its hand alone, but
#: friction of the joint hides it.
ARM_WEIGHT = 1.0
#: Standard deviation of the mass error of the whole robot that is expected (relative), and of a load (kg): without it
#: a load cannot be told from an error of the model if both hands are near the center of mass.
MODEL_DEVIATION, LOAD_DEVIATION = 0.05, 3.0
#: Deviation of the averaged forces from the model, relative to the weight: of the contact forces at impacts.
FORCE_DEVIATION = 0.003
#: Load, relative to the mass of the robot, below which none is carried (twice that when none is carried yet), and the
#: largest one.
LEAST_SHARE, LARGEST_SHARE = 0.003, 0.15
#: Change of a load, relative to the mass of the robot, from which on the model is changed.
STEP_SHARE = 0.002
#: Longest time between two states that are compared (s).
LONGEST_PERIOD = 0.02


class _Tick(NamedTuple):
    """Begin of a period: velocity, torques and half of the contact forces, M and h without loads, J_i and J̇_i v."""

    time: float
    v: Array
    applied: Array
    M: Array
    h: Array
    jacobians: list[Array]
    drifts: list[Array]


class LoadEstimate:
    """Point masses at the hands, by least squares from the equation of motion.

    With the measured velocities v before and after a period T, the motion of the model without loads leaves a residual
    of the torques τ and the measured contact wrenches w_c ([Saab2012] eq. 5, written for the measured motion)::

        r = S τ + Σ J_cᵀ w_c - M (v⁺ - v) / T - h  =  Σ m_i J_iᵀ (a_i - g) + ε (M (v⁺ - v) / T + h)

    with a_i the acceleration of hand i of mass m_i, and ε an error of all masses of the model, which is not a load. The
    rows of the base and of the arm joints are averaged over `AVERAGE_TIME`, both sides alike, and solved for (m_i, ε)
    then: noise of velocities averages out before it can bias the fit.

    Args:
        robot: robot with hands.

    Attributes:
        masses: estimated mass at each hand (kg); zero if it is not distinguishable from none.

    >>> estimate = LoadEstimate(robot)
    >>> estimate.update(snapshot, torque, readings)   # at every tick, with the torque of the last one
    >>> estimate.masses
    """

    def __init__(self, robot: Robot) -> None:
        self.hands: Sequence[Frame] = robot.hands
        self.masses: Mapping[Frame, float] = dict.fromkeys(self.hands, 0.0)
        self._robot = robot
        supports = robot.model.supports
        of_legs = {joint for foot in robot.feet for joint in supports[foot.joint]}
        arms = {joint for hand in self.hands for joint in supports[hand.joint]} - of_legs
        # Joints of the trunk carry both arms and the weight of the body: their rows say nothing new.
        shared = [joint for joint in arms if sum(joint in supports[hand.joint] for hand in self.hands) > 1]
        columns = [joint.v for joint in robot.joints if joint.index in arms and joint.index not in shared]
        self._rows = np.array([*range(6), *columns], dtype=np.intp)
        self._weights = np.concatenate(
            [np.ones(3), np.full(3, LEVER**-2), np.full(len(columns), ARM_WEIGHT * LEVER**-2)]
        )
        count = len(self.hands)
        deviation = FORCE_DEVIATION * robot.weight
        prior = np.append(np.full(count, LOAD_DEVIATION), MODEL_DEVIATION)
        self._regularization = np.diag((deviation / prior) ** 2)
        self._Y, self._residual = np.zeros((len(self._rows), count + 1)), np.zeros(len(self._rows))
        self._before: _Tick | None = None
        self._ticks = 0

    def update(self, snapshot: Snapshot, torque: Array, readings: SensorReadings | None) -> bool:
        """Add a tick; return whether the masses changed.

        Args:
            snapshot: measured state, of a model with or without loads.
            torque: joint torques that are applied from now on (nv - 6; N m).
            readings: sensor readings at this state; None: nothing is estimated.
        """
        if readings is None or not self.hands:
            return False
        before, self._before = self._before, None
        if not snapshot.is_finite:
            return False
        wrench = self._contact_forces(snapshot, readings)
        changed = False
        if before is not None and 0.0 < snapshot.time - before[0] < LONGEST_PERIOD:
            changed = self._add(before, snapshot, wrench)
        hand_rows = [snapshot.jacobian(hand)[:3] for hand in self.hands]
        drifts = [snapshot.drift(hand)[:3] for hand in self.hands]
        M, h = self._unloaded(snapshot, hand_rows, drifts)
        applied = np.concatenate([np.zeros(6), torque]) + 0.5 * wrench
        self._before = _Tick(snapshot.time, snapshot.v.copy(), applied, M, h, hand_rows, drifts)
        return changed

    def interrupt(self) -> None:
        """Leave out the period that begins now: its torques are not known."""
        self._before = None

    def _add(self, before: _Tick, snapshot: Snapshot, wrench: Array) -> bool:
        """Add the residual of the last period to the averages, and solve for the loads."""
        period = snapshot.time - before.time
        acceleration = (snapshot.v - before.v) / period
        motion = (before.M @ acceleration + before.h)[self._rows]
        residual = (before.applied + 0.5 * wrench)[self._rows] - motion
        g = self._robot.model.gravity.linear
        Y = np.empty((len(self._rows), len(self.hands) + 1))
        for i, (J, drift) in enumerate(zip(before.jacobians, before.drifts, strict=True)):
            Y[:, i] = (J.T @ (J @ acceleration + drift - g))[self._rows]
        Y[:, -1] = motion
        self._ticks += 1
        share = max(period / AVERAGE_TIME, 1.0 / self._ticks)
        self._Y += share * (Y - self._Y)
        self._residual += share * (residual - self._residual)
        if not (np.isfinite(self._Y).all() and np.isfinite(self._residual).all()):
            self._Y[:], self._residual[:], self._ticks = 0.0, 0.0, 0
            return False
        if self._ticks * period <= AVERAGE_TIME:
            return False
        weighted = self._Y.T * self._weights
        return self._apply(np.linalg.solve(weighted @ self._Y + self._regularization, weighted @ self._residual))

    def _apply(self, solution: NDArray[np.floating]) -> bool:
        """Take over the estimated masses if they changed enough."""
        mass, masses = self._robot.mass, dict(self.masses)
        for hand, estimated in zip(self.hands, solution.tolist(), strict=False):
            carried = masses[hand]
            least = LEAST_SHARE * mass * (1.0 if carried else 2.0)
            new = 0.0 if estimated < least else min(estimated, LARGEST_SHARE * mass)
            if abs(new - carried) > STEP_SHARE * mass or (new == 0.0) != (carried == 0.0):
                masses[hand] = new
        changed = masses != self.masses
        self.masses = masses
        return changed

    def _unloaded(self, snapshot: Snapshot, hand_rows: list[Array], drifts: list[Array]) -> tuple[Array, Array]:
        """Return copies of mass matrix and bias forces without the loads of the snapshot."""
        M, h = np.array(snapshot.mass_matrix), np.array(snapshot.nonlinear_effects)
        g = self._robot.model.gravity.linear
        for hand, J, drift in zip(self.hands, hand_rows, drifts, strict=True):
            carried = snapshot.loads.get(hand, 0.0)
            if carried:
                M -= carried * J.T @ J
                h -= carried * J.T @ (drift - g)
        return M, h

    def _contact_forces(self, snapshot: Snapshot, readings: SensorReadings) -> Array:
        """Return the generalised forces of the measured contact wrenches (nv)."""
        total = np.zeros(snapshot.model.nv)
        forces = readings.forces
        parts: dict[str, Frame] = {part.name: part for part in (*self._robot.feet, *self._robot.hands)}
        for name, wrench, point in zip(forces.names, forces.wrenches, forces.points, strict=True):
            part = parts.get(name)
            if part is None or not wrench.any():
                continue
            (x, y, z), (fx, fy, fz) = (point - snapshot.position(part)).tolist(), wrench[:3].tolist()
            moved = wrench.copy()
            moved[3:] += (y * fz - z * fy, z * fx - x * fz, x * fy - y * fx)
            total += snapshot.jacobian(part).T @ moved
        return total
