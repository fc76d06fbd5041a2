"""Velocities that a stack of tasks predicts, and the gains and targets with which it predicts a motion best.

A level with Jacobian J and error e wants ``J v = -g e``. Below the levels above it, with the projector N on their null
space and their velocity v, it adds ``Δv = (J N)⁺ (-g e - J v)`` ([Saab2012] eq. 4, [Siciliano1991]). What is left over
is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.extras import scipy
from poise.inference.candidates import Candidate, GazeCandidate
from poise.inference.motion_samples import MotionSamples

#: Singular values of ``J N`` below which a direction counts as not free, relative to one radian or meter.
RANK_TOLERANCE = 4e-3
#: Singular values of ``J N`` below which a direction says nothing about a task: rounding and damping decide there.
TRUSTED = 0.05
#: Factor of the damping that controllers of Poise apply to levels near a singularity, `native/motion/task_bounds.hpp`:
#: damping² = 8 T |g e| - s², with T the period and s the smallest singular value.
DAMPING_FACTOR = 8.0
#: Range of gains (1/s) that can be told from a motion.
GAIN_RANGE = (0.1, 30.0)
#: Gain (1/s) of a quantity that is held: its error is always zero, so that its gain cannot be seen.
HOLDING_GAIN = 50.0
#: Smallest mean number of free directions of a level: with less, it says nothing.
LEAST_FREEDOM = 0.5
#: Displacement (m, rad) up to which a quantity counts as held; feet in contact drift by a millimeter or two.
REST_RANGE = {"m": 5e-4, "rad": 1e-3}
CONTACT_RANGE = {"m": 3e-3, "rad": 6e-3}
#: Iterations of the fit of a task: rotations are not linear in their target, and the damping depends on the gain.
ITERATIONS = 5
#: Share of the speed that counts as noise: errors of discretisation, and of the damping near singularities.
RELATIVE_ACCURACY = 0.02


@dataclass(frozen=True, eq=False)
class FittedTask:
    """A candidate with its gain and target.

    Attributes:
        candidate: the quantity.
        gain: 1/s.
        target: target of the candidate.
        held: whether the quantity does not move, so that the gain is not known.
        misfit: root mean square of the residual of ``J v = -g e``, in standard deviations of the noise, in the
            directions that the levels above leave free.
    """

    candidate: Candidate
    gain: float
    target: Any
    held: bool = False
    misfit: float = 0.0

    @cached_property
    def J(self) -> Array:
        """Jacobian of the rows, T x m x nv."""
        return self.candidate.jacobian(self.target)

    @cached_property
    def desired_rate(self) -> Array:
        """``-g e``, T x m; zero if the quantity is held."""
        error = self.candidate.error(self.target)
        return np.zeros_like(error) if self.held else -self.gain * error


@dataclass(frozen=True, eq=False)
class Projection:
    """Velocity and null space below some levels, at all samples.

    Attributes:
        v: T x nv, velocity of the levels above.
        N: T x nv x nv, projector on their common null space.
        unexplained: sum of the squared velocities, (rad/s)² and (m/s)², that were taken as measured.
        doubt: T, variance of the rates of the levels below: controllers filter what is below a damped level.
    """

    v: Array
    N: Array
    unexplained: float = 0.0
    doubt: Array | float = 0.0

    @classmethod
    def of(cls, samples: MotionSamples) -> Projection:
        """Return the projection below no level."""
        T, nv = samples.v.shape
        return cls(np.zeros((T, nv)), np.broadcast_to(np.eye(nv), (T, nv, nv)).copy())

    def below(self, samples: MotionSamples, task: FittedTask) -> Projection:
        """Return the projection below one more level.

        In its poorly determined directions the level takes the measured velocity.
        """
        J = task.J
        free = FreeDirections.of(J, self.N)
        basis = free.A.transpose(0, 2, 1) @ (free.U * np.sqrt(free.inverse)[:, None, :])
        step = np.einsum("tmk,tm->tk", free.U, task.desired_rate - np.einsum("tmn,tn->tm", J, self.v))
        measured = np.einsum("tnk,tn->tk", basis, samples.v)
        trusted = free.trusted(task.candidate.linear or task.held)
        damped = free.damping_factor(samples, task.desired_rate, task.candidate.linear)
        moved = np.where(trusted, damped * np.sqrt(free.inverse) * step, measured)
        return Projection(
            self.v + np.einsum("tnk,tk->tn", basis, moved),
            self.N - basis @ basis.transpose(0, 2, 1),
            self.unexplained + float((np.where(trusted, 0.0, measured) ** 2).sum()),
            self.doubt + (np.where(trusted, (1.0 - damped) * step, 0.0) ** 2).sum(axis=1),
        )


@dataclass(frozen=True, eq=False)
class FreeDirections:
    """Directions of the rows of a level that the levels above leave free, at T samples.

    Attributes:
        A: ``J N``, T x m x nv.
        U: T x m x m, orthonormal directions of the rows.
        values: their squared singular values (T x m).
        inverse: 1 / values, zero where a direction is not free.
    """

    A: Array
    U: Array
    values: Array
    inverse: Array

    @classmethod
    def of(cls, J: Array, N: Array) -> FreeDirections:
        A = J @ N
        values, U = np.linalg.eigh(A @ A.transpose(0, 2, 1))
        inverse = np.where(values > RANK_TOLERANCE**2, 1.0 / np.maximum(values, RANK_TOLERANCE**2), 0.0)
        return cls(A, U, values, inverse)

    def trusted(self, linear: bool) -> Array:
        """Return which directions tell about the task, T x m."""
        return np.asarray(self.values > (RANK_TOLERANCE if linear else TRUSTED) ** 2)

    def damping_factor(self, samples: MotionSamples, desired_rate: Array, linear: bool) -> Array:
        """Return ``s² / (s² + damping²)`` of each direction, T x m."""
        if linear:
            return np.ones_like(self.values)
        free = np.where(self.inverse > 0.0, self.values, np.inf)
        squared = DAMPING_FACTOR * samples.period * np.linalg.norm(desired_rate, axis=1) - free.min(axis=1)
        return np.asarray(self.values / (self.values + np.maximum(squared, 0.0)[:, None] + 1e-12))

    def projector(self, factors: Array) -> Array:
        """Return the matrix with these factors along the directions, T x m x m."""
        return np.asarray((self.U * factors[:, None, :]) @ self.U.transpose(0, 2, 1))


def fit_task(samples: MotionSamples, candidate: Candidate, above: Projection, target: Any = None) -> FittedTask | None:
    """Fit gain and target of a candidate below some levels; return None if it does not decay at all.

    The optimality condition of a level is ``P (J v + g e) = 0``, with P the projector on the directions of its rows
    that are still free. It is linear in g and, for errors ``x - x*``, in ``g x*``; rotations take a few iterations.

    Args:
        samples: the motion.
        candidate: the quantity.
        above: the levels above it.
        target: a target to begin with; None: the last value of the quantity.
    """
    target = candidate.first_target() if target is None else target
    middle = held_target(candidate)
    rates = FreeRates(samples, candidate, above, middle, linear=True)
    if rates.freedom > LEAST_FREEDOM and (rates.are_noise or is_at_rest(samples, candidate, middle)):
        task = FittedTask(candidate, HOLDING_GAIN, middle, held=True)
        return replace(task, misfit=rates.misfit(task.desired_rate))
    if isinstance(candidate, GazeCandidate):
        return _fit_gaze(samples, candidate, above)
    rates = FreeRates(samples, candidate, above, target)
    if rates.freedom < LEAST_FREEDOM:
        return None
    gain, rate = 0.0, np.zeros_like(rates.free)
    for _ in range(ITERATIONS):
        F = rates.projector(rate)
        error = candidate.error(target)
        columns = np.concatenate([error[:, :, None], candidate.error_derivative(target)], axis=2)
        scale = rates.scale(rate)
        columns = (F @ columns) * scale[:, :, None]
        goal = -(rates.free + np.einsum("tij,tj->ti", F, rates.above)) * scale
        normal, right = np.einsum("tmi,tmj->ij", columns, columns), np.einsum("tmi,tm->i", columns, goal)
        count = len(normal) - 1
        damping = candidate.step_damping * np.trace(normal[1:, 1:]) / max(count, 1)
        normal[1:, 1:] += damping * np.eye(count)
        if not np.isfinite(normal).all() or np.trace(normal) <= 0.0:
            return None
        solution = np.linalg.lstsq(normal, right, rcond=1e-13)[0]
        gain = float(solution[0])
        if not GAIN_RANGE[0] < gain < GAIN_RANGE[1]:
            return None
        target = candidate.moved_target(target, solution[1:] / gain)
        rate = -gain * candidate.error(target)
    task = FittedTask(candidate, gain, target)
    return replace(task, misfit=rates.misfit(task.desired_rate))


def _fit_gaze(samples: MotionSamples, candidate: GazeCandidate, above: Projection) -> FittedTask | None:
    """Fit gain and target of a gaze by least squares in direction and distance; the best gain follows from both."""

    def evaluate(parameters: Array) -> tuple[float, Array]:
        point = candidate.point(parameters)
        rates = FreeRates(samples, candidate, above, point)
        error = candidate.error(point)
        gain, rate = 0.0, np.zeros_like(error)
        for _ in range(2):
            F = rates.projector(rate)
            scale = rates.scale(rate)
            column = np.einsum("tij,tj->ti", F, error) * scale
            goal = -(rates.free + np.einsum("tij,tj->ti", F, rates.above)) * scale
            gain = float(np.clip((column * goal).sum() / max(float((column**2).sum()), 1e-12), *GAIN_RANGE))
            rate = -gain * error
        return gain, rates.residual(rate)

    starts = [candidate.parameters_of(first) for first in candidate.first_targets()]
    best = min(starts, key=lambda start: float((evaluate(start)[1] ** 2).sum()))
    best = scipy.optimize.least_squares(lambda x: evaluate(x)[1].ravel(), best, method="lm", max_nfev=60).x
    gain, _ = evaluate(best)
    target = candidate.point(best)
    rates = FreeRates(samples, candidate, above, target)
    if not GAIN_RANGE[0] < gain < GAIN_RANGE[1] or rates.freedom < LEAST_FREEDOM:
        return None
    task = FittedTask(candidate, gain, target)
    return replace(task, misfit=rates.misfit(task.desired_rate))


class FreeRates:
    """The rates of a candidate in the directions that the levels above leave free, beside their noise.

    With v_a the velocity of the levels above, a level moves by ``U F Uᵀ (-g e - J v_a)``, F the factors of its damping.

    Attributes:
        free: measured ``P J N v``, T x m, with P the projector on the free directions.
        above: ``J v_a``, T x m.
        freedom: mean number of free directions.
        noise: standard deviation of the noise of each row (m).
    """

    def __init__(
        self, samples: MotionSamples, candidate: Candidate, above: Projection, target: Any, linear: bool = False
    ) -> None:
        J = candidate.jacobian(target)
        self.samples, self.linear = samples, linear or candidate.linear
        self.directions = FreeDirections.of(J, above.N)
        self.trusted = self.directions.trusted(self.linear)
        rate = np.einsum("tmn,tn->tm", J, samples.v)
        free = np.einsum("tmn,tn->tm", self.directions.A, samples.v)
        self.above = rate - free
        self.free = np.einsum("tij,tj->ti", self.directions.projector(self.trusted), free)
        self.freedom = float(self.trusted.sum()) / len(free)
        noise = np.sqrt(np.einsum("tmn,n->tm", J**2, samples.velocity_noise**2)).mean(axis=0)
        body_speed = float(np.sqrt(np.mean(samples.v[:, 6:] ** 2)))
        self.noise = np.sqrt(noise**2 + (0.5 * RELATIVE_ACCURACY * body_speed) ** 2 + 1e-12)
        speed = np.sqrt(np.mean(rate**2, axis=0))
        self.doubt = np.broadcast_to(above.doubt, (len(rate),))[:, None]
        self.variance = self.noise**2 + (RELATIVE_ACCURACY * speed) ** 2

    @property
    def are_noise(self) -> bool:
        """Whether the quantity does not move in the free directions beyond what the levels above move it."""
        moved = self.free + np.einsum("tij,tj->ti", self.directions.projector(self.trusted), self.above)
        relative = moved / self.noise
        return bool(np.sqrt(np.mean(relative**2)) < 1.3 and np.abs(relative).max() < 5.0)

    def projector(self, desired_rate: Array) -> Array:
        """Return ``U F Uᵀ`` for desired rates ``-g e``, T x m x m."""
        factors = self.directions.damping_factor(self.samples, desired_rate, self.linear)
        return self.directions.projector(np.where(self.trusted, factors, 0.0))

    def scale(self, desired_rate: Array) -> Array:
        """Return 1 / standard deviation of each row, T x m; what a damping takes away is known only roughly."""
        factors = self.directions.damping_factor(self.samples, desired_rate, self.linear)
        wanted = np.einsum("tmk,tm->tk", self.directions.U, desired_rate - self.above)
        lost = np.where(self.trusted, (1.0 - factors) * wanted, 0.0)
        return np.asarray(1.0 / np.sqrt(self.variance + self.doubt + (lost**2).sum(axis=1)[:, None]))

    def residual(self, desired_rate: Array) -> Array:
        """Return what the free rates differ from those that a level with these desired rates has, over their noise."""
        F = self.projector(desired_rate)
        return np.asarray(
            (self.free - np.einsum("tij,tj->ti", F, desired_rate - self.above)) * self.scale(desired_rate)
        )

    def misfit(self, desired_rate: Array) -> float:
        """Return the root mean square of the residual per free direction."""
        return float(np.sqrt((self.residual(desired_rate) ** 2).sum() / max(self.freedom * len(self.free), 1e-9)))


def is_at_rest(samples: MotionSamples, candidate: Candidate, target: Any) -> bool:
    """Return whether a quantity stays at a target within its range and the noise of the samples."""
    J = candidate.jacobian(target)
    noise = np.sqrt(np.einsum("tmn,n->tm", J**2, samples.position_noise**2)).max()
    feet = [foot.name for foot in samples.robot.feet]
    largest = (CONTACT_RANGE if candidate.part in feet else REST_RANGE)[candidate.unit]
    return bool(np.abs(candidate.error(target)).max() < largest + 4.0 * noise)


def held_target(candidate: Candidate) -> Any:
    """Return the mean of the quantity, the target at which it is held."""
    target = candidate.first_target()
    if candidate.parameters == 0:
        return target
    error = candidate.error(target)
    slope = candidate.error_derivative(target)
    normal = np.einsum("tmi,tmj->ij", slope, slope) + 1e-9 * np.eye(slope.shape[2])
    step = np.linalg.solve(normal, -np.einsum("tmi,tm->i", slope, error))
    return candidate.moved_target(target, step)
