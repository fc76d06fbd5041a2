"""Open-loop replay: a simulated robot with position servos follows a joint trajectory without balance feedback.

[Dalibard2012], section V, transfers walks to a real robot in this way: joint angles are computed in simulation, saved,
and played on servos. The forces and the feedback of the original controller are lost, so that a replay shows whether
the motion itself is robust.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.analysis import base_displacement
from poise.arrays import Array
from poise.control import Command, Controller, ControlStep
from poise.exports.joint_trajectory import ExportError, Trajectory, reorder_joints, reorder_torques
from poise.geometry import minimum_jerk, so3
from poise.plants import FLOOR_FRICTION, FlatTerrain, PositionServos, Push, Terrain, steps
from poise.recording import Progress, Recording, controller_facts, record_steps
from poise.robots import Robot, State
from poise.runs import SECONDS_AFTER_FALL, CompletedRun, Result, finish_result, measure, store_result

if TYPE_CHECKING:
    from poise.plants import MujocoPlant


#: Time between two servo targets (s), equal to the time step of the simulation.
PERIOD = 0.001
#: Time for which the robot holds the first posture before the motion and the last posture after it (s); swaying decays
#: in about half of it.
LEAD_IN, LEAD_OUT = 1.0, 1.0


class OpenLoopController(Controller):
    """Controller that plays a joint trajectory on position servos, without feedback of balance or base pose.

    The command holds the velocities of the targets of `PositionServos`. During `LEAD_IN` the targets move from those
    that hold the robot still at the start to the first posture; then ``target(t) = q(t)``, linear between samples. A
    servo at its torque limit stops its target from moving further away from the joint. The controller simulates the
    targets by the same rule; a target that was stopped moves back to the trajectory at the velocity limit of the joint.

    Args:
        robot: robot that plays the trajectory.
        trajectory: joint trajectory of this robot.
        start: servo targets at the start (rad).
        gains: stiffness K (N m/rad) and damping D (N m s/rad) of the servos; a target is at most torque limit / K away
            from its joint.
        torque_feedforward: whether to add an offset o to the targets by which the servos also give the torques of the
            trajectory, see `torque_offsets`.
    """

    def __init__(
        self,
        robot: Robot,
        trajectory: Trajectory,
        start: Array,
        gains: tuple[Array, Array],
        torque_feedforward: bool,
    ) -> None:
        self.period, self.robot = PERIOD, robot
        self.seconds = LEAD_IN + trajectory.duration + LEAD_OUT
        self._time, self._angles = trajectory.time - trajectory.time[0], reorder_joints(trajectory, robot)[0][:, 7:]
        if torque_feedforward:
            ticks = np.append(np.arange(0.0, self._time[-1], PERIOD), self._time[-1])
            torque = _interpolate(ticks, self._time, np.nan_to_num(reorder_torques(trajectory, robot)))
            self._angles = _interpolate(ticks, self._time, self._angles) + torque_offsets(torque, gains)
            self._time = ticks
        self._start, self._target, self._max_deflection = start, start.copy(), robot.limits.torque / gains[0]
        self._max_speed = robot.limits.velocity
        self._last = -1.0

    def target_at(self, time: float) -> Array:
        """Return the desired servo targets (rad) at a time of the run (s)."""
        trajectory_time = time - LEAD_IN
        if trajectory_time <= 0.0:
            share = float(minimum_jerk(min(max(time / LEAD_IN, 0.0), 1.0))[0])
            return self._start + share * (self._angles[0] - self._start)
        i = int(np.searchsorted(self._time, trajectory_time, side="right"))
        if i >= len(self._time):
            return self._angles[-1]
        share = (trajectory_time - self._time[i - 1]) / (self._time[i] - self._time[i - 1])
        return (1.0 - share) * self._angles[i - 1] + share * self._angles[i]

    def step(self, state: State) -> Command:
        target, next_target = self.target_at(state.time), self.target_at(state.time + PERIOD)
        correction = np.clip((target - self._target) / PERIOD, -self._max_speed, self._max_speed)
        rate = (next_target - target) / PERIOD + correction
        self._target = np.clip(
            self._target + PERIOD * rate, state.q[7:] - self._max_deflection, state.q[7:] + self._max_deflection
        )
        return Command(np.concatenate([np.zeros(6), rate]), None, None, PERIOD)


def torque_offsets(torque: Array, gains: tuple[Array, Array]) -> Array:
    """Return offsets o of servo targets (rad), every `PERIOD`, by which servos add torques to those of their errors.

    A servo gives ``K (target - q) + D (rate - v)``, so the rate of an offset adds a torque too: ``K o + D ȯ = torque``.
    The offset ``torque / K`` would add ``(D / K)`` times the rate of the torque, which at a touchdown is as much as the
    torque itself. The servo moves its target before it computes its torque, so ȯ is the last difference of o.

    Args:
        torque: torques (N m), one row per `PERIOD`.
        gains: stiffness K (N m/rad) and damping D (N m s/rad).
    """
    K, D = gains
    offsets = np.empty_like(torque)
    offsets[0] = torque[0] / K
    for i in range(1, len(torque)):
        offsets[i] = (PERIOD * torque[i - 1] + D * offsets[i - 1]) / (PERIOD * K + D)
    return offsets


def _interpolate(time: Array, sample_times: Array, values: Array) -> Array:
    """Return the columns of an array, linear between its samples, at other times."""
    return np.column_stack([np.interp(time, sample_times, column) for column in values.T])


# -- Replay ----------------------------------------------------------------------------------------------------------


#: Control steps per recorded sample: 200 samples per second.
RECORD_EVERY = 5


def replay_trajectory(
    robot: Robot,
    trajectory: Trajectory,
    *,
    friction: float = FLOOR_FRICTION,
    ground: Terrain = FlatTerrain(),  # noqa: B008  frozen
    pushes: Sequence[Push] = (),
    servos: PositionServos = PositionServos(),  # noqa: B008  frozen
    torque_feedforward: bool | None = None,
    seed: int = 0,
    path: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> tuple[Recording, Result]:
    """Play a joint trajectory on a robot with position servos in MuJoCo, until its end or a fall.

    The robot starts at rest in the first posture of the trajectory. The result has the keys of a run, and

    - ``drift_m``: horizontal distance between the displacement of the base over the motion and that of the trajectory;
    - ``drift_rad``: heading of the base at the end of the motion minus that of the trajectory, positive to the left;
    - ``torque_feedforward``: whether the servos had it;
    - ``tracking_rad``: rms and largest joint tracking error (rad, or m) during the motion.

    Args:
        robot: robot to simulate.
        trajectory: joint trajectory of this robot.
        friction: friction coefficient between soles and ground.
        ground: terrain.
        pushes: pushes on the robot, in time of the run; the motion begins at `LEAD_IN` (1 s).
        servos: servo parameters.
        torque_feedforward: whether to offset the servo targets so that the servos give the recorded torques; without
            it, joints deflect by torque / stiffness, and most walks fall. None: if the trajectory has torques.
        seed: seed of uneven ground.
        path: ``.poise`` file to record to; None records in memory.
        progress: called with the time of the run after each sample (s).

    Returns:
        The recording of the run and its result.

    Raises:
        ExportError: the trajectory does not fit the robot, or the robot has no feet.

    >>> recording, result = replay_trajectory(robot, exports.read_trajectory("walk.csv"), friction=0.4)
    >>> result["fell"], result["reason"], result["drift_m"]
    """
    from poise.plants import MujocoPlant, servo_gains

    if torque_feedforward is None:
        torque_feedforward = trajectory.torque is not None and bool(np.isfinite(trajectory.torque).any())
    start = _start_state(robot, trajectory)
    plant = MujocoPlant(
        start, friction=friction, ground=ground, pushes=pushes, actuators=servos, period=PERIOD, seed=seed
    )
    gains = servo_gains(servos, plant.start)
    controller = OpenLoopController(robot, trajectory, plant.data.ctrl.copy(), gains, torque_feedforward)
    provenance = {
        **controller_facts(controller, plant),
        "behavior": "replay",
        "mode": "position",
        "seed": seed,
        "friction": friction,
        "torque_feedforward": torque_feedforward,
    }
    begin = time.perf_counter()
    recording = record_steps(_steps_until_fall(controller, plant), robot, path, progress, provenance)
    run = CompletedRun(recording, robot, controller.seconds, time.perf_counter() - begin, plant.fall)
    result = {"behavior": "replay", "robot": robot.name, "mode": "position", "plant": "mujoco", **measure(run)}
    result["torque_feedforward"] = torque_feedforward
    result["distance_m"], result["heading_rad"] = base_displacement(run.states_before_fall)
    judged = finish_result({**result, **_tracking_error(recording, trajectory, robot)}, [], "any")
    return store_result(recording, judged, path), judged


def _start_state(robot: Robot, trajectory: Trajectory) -> State:
    q, _ = reorder_joints(trajectory, robot)
    if not robot.feet:
        raise ExportError(f"{robot.name} has no feet; declare feet= to replay a motion")
    first = State(robot, q[0])
    lowest = min(float(first.pose(foot).translation[2]) for foot in robot.feet)
    lowered = q[0].copy()
    lowered[2] -= lowest  # rounding in the file, or another ground height, would leave a gap below the feet
    contacts = [f for f in robot.feet if first.pose(f).translation[2] - lowest < 0.01]
    return State(robot, lowered, contacts=tuple(contacts))


def _steps_until_fall(controller: OpenLoopController, plant: MujocoPlant) -> Iterator[ControlStep]:
    """Yield every `RECORD_EVERY`-th control step, until the end or `SECONDS_AFTER_FALL` after a fall."""
    end = math.inf
    for i, step in enumerate(steps(controller, plant, controller.seconds)):
        if i % RECORD_EVERY == 0:
            yield step
        if plant.fallen:
            end = min(end, step.state.time + SECONDS_AFTER_FALL)
        if step.state.time >= end:
            return


def _tracking_error(recording: Recording, trajectory: Trajectory, robot: Robot) -> dict[str, Any]:
    """Return drift of the base and tracking error of the joints; None for values that a fall leaves undefined."""
    trajectory_time = recording.time - LEAD_IN
    inside = (trajectory_time >= 0.0) & (trajectory_time <= trajectory.duration)
    unknown = {"drift_m": None, "drift_rad": None, "tracking_rad": None}
    if not inside.any():
        return unknown
    reference = trajectory.at(trajectory.time[0] + trajectory_time[inside])
    q = reorder_joints(reference, robot)[0]
    error = recording["q"][inside][:, 7:] - q[:, 7:]
    tracking = {"tracking_rad": {"rms": float(np.sqrt(np.mean(error**2))), "max": float(np.abs(error).max())}}
    completed = trajectory_time[inside][-1] >= trajectory.duration - RECORD_EVERY * PERIOD
    if not completed:
        return {**unknown, **tracking}
    at = int(np.flatnonzero(inside)[-1])
    first, last = State(robot, q[0]), State(robot, q[-1])
    final_state = recording.state(at, robot)
    base = robot.frame("root_joint")
    rotation = so3.log(final_state.pose(base).rotation @ last.pose(base).rotation.T)
    start_offset = recording.state(0, robot).q[:2] - first.q[:2]
    drift = float(np.linalg.norm(final_state.q[:2] - start_offset - last.q[:2]))
    return {"drift_m": drift, "drift_rad": float(rotation[2]), **tracking}
