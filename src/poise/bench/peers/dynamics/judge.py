"""What an answer is worth, whoever gave it: from accelerations and torques alone, by one piece of code for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.bench.peers.dynamics import problem
from poise.bench.peers.dynamics.motion import Followed, Motion
from poise.state import Snapshot

#: Standard gravity, m/s^2, for forces as shares of the weight.
GRAVITY = 9.81


class Answer(NamedTuple):
    """What a contender answered to one step: accelerations (nv) and torques (one per joint, N m)."""

    acceleration: Array
    torque: Array


class Judge:
    """Measures answers along a motion.

    Two rigid soles leave no choice of contact wrenches once accelerations and torques are known: with M and h of the
    dynamics, J the Jacobian of both soles and S the choice of the joints, ::

        M a + h - S^T torque = J^T w

    has nv equations for 12 numbers w. What they miss is how far the answer is from the equation of motion; w must then
    lie in the friction cone, its center of pressure in the sole.

    >>> Judge(motion("g1")).errors(0, answer)["hand"]  # m/s^2
    """

    def __init__(self, motion: Motion) -> None:
        self.motion, self.robot = motion, motion.robot
        self.weight = motion.robot.mass * GRAVITY
        self._snapshot = Snapshot(motion.robot)
        self._soles = [(foot.sole.center, foot.corners.max(axis=0) - foot.sole.center) for foot in motion.robot.feet]

    def errors(self, step: int, answer: Answer) -> dict[str, float]:
        """How far an answer is from what was asked, with the keys and units of ``problem.ALLOWED``."""
        a, torque = answer
        if not (np.isfinite(a).all() and np.isfinite(torque).all()):
            return dict.fromkeys(problem.ALLOWED, np.inf)
        now = self._snapshot.at(self.motion.states[step])
        J = np.vstack([now.jacobian(foot) for foot in self.robot.feet])
        drift = np.concatenate([now.drift(foot) for foot in self.robot.feet])
        missing = now.mass_matrix @ a + now.nonlinear_effects
        missing[6:] -= torque
        w = np.asarray(np.linalg.lstsq(J.T, missing, rcond=None)[0], dtype=np.float64)
        outside = [self._outside(sole, wrench) for sole, wrench in zip(self._soles, w.reshape(-1, 6), strict=True)]
        beyond = np.abs(torque) / self.robot.limits.torque - 1.0
        return {
            "motion": _largest(missing - J.T @ w) / self.weight,
            "cone": max(outside) / self.weight,
            "torque": max(0.0, float(beyond.max())),
            "contact": _largest(J @ a + drift),
            **{name: _largest(value) for name, value in self._tasks(now, step, a).items()},
        }

    def _tasks(self, now: Snapshot, step: int, a: Array) -> dict[str, Array]:
        """What each task misses: m/s^2, rad/s^2."""
        robot, start = self.robot, self.motion.start
        hand, chest = robot.hand(problem.SIDE), robot.chest
        assert chest is not None
        turned = pinocchio.log3(now.rotation(chest) @ start.pose(chest).rotation.T)
        hand_motion, turning = now.velocity(hand)[:3], now.velocity(chest)[3:]
        sway, reach = self.motion.sway, self.motion.reach
        balance = _wanted("balance", now.center_of_mass, now.center_of_mass_velocity, sway, step)
        return {
            "balance": now.center_of_mass_jacobian @ a + now.center_of_mass_drift - balance,
            "hand": (now.jacobian(hand) @ a + now.drift(hand))[:3]
            - _wanted("hand", now.position(hand), hand_motion, reach, step),
            "torso": (now.jacobian(chest) @ a + now.drift(chest))[3:] - _pulled("torso", turned, turning),
        }

    @staticmethod
    def _outside(sole: tuple[Array, Array], wrench: Array) -> float:
        """How far a wrench at the origin of a sole, in world axes, is outside its cone: N, zero inside."""
        (x, y, z), (middle, half) = wrench[:3], sole
        about_x, about_y, _ = wrench[3:] - np.cross(middle, wrench[:3])  # soles stand flat, their axes are the world's
        least = [-z, abs(x) - problem.SLOPE * z, abs(y) - problem.SLOPE * z]
        pressure = [abs(about_x) / half[1] - z, abs(about_y) / half[0] - z]
        return max(0.0, *map(float, least + pressure))


def differences(own: Mapping[int, Answer], others: Mapping[int, Answer]) -> dict[str, float] | None:
    """How far two contenders are apart at the steps that both were looked at: root mean square and largest.

    Accelerations in rad/s^2 (and m/s^2 for the base), torques in N m; None if there is no such step.
    """
    common = sorted(own.keys() & others.keys())
    if not common:
        return None
    a = np.array([own[step].acceleration - others[step].acceleration for step in common])
    torque = np.array([own[step].torque - others[step].torque for step in common])
    return {
        "acceleration": float(np.sqrt(np.mean(a**2))),
        "acceleration_max": _largest(a),
        "torque": float(np.sqrt(np.mean(torque**2))),
        "torque_max": _largest(torque),
    }


def _wanted(task: str, value: Array, rate: Array, target: Followed, step: int) -> Array:
    """``a* - 2 g (rate - rate*) - g^2 (value - value*)``."""
    return target.acceleration[step] + _pulled(task, value - target.value[step], rate - target.rate[step])


def _pulled(task: str, error: Array, rate: Array) -> Array:
    g = problem.RATES[task]
    return -2.0 * g * rate - g * g * error


def _largest(values: Array) -> float:
    return float(np.abs(values).max())
