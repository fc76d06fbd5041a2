"""Base class `ServoBalance` of standing, squatting and walking, which also run on position servos.

On servos, one control law with ZMP regulation from force cells follows the reference trajectory of the motion
([Galdeano2014]).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise.analysis import base_displacement, capture_point_error, middle_of_feet
from poise.arrays import Array
from poise.behaviors import SoleLoad, ZmpBalance, ZmpBalanceSettings, zmp_error
from poise.errors import UsageError
from poise.parameters import current_settings, settings_from
from poise.plans import ReferenceTrajectory, SquatReference, WalkingPattern
from poise.plants import Push
from poise.recording import Recording, printable
from poise.robots import Robot, State
from poise.runs.execution import CompletedRun, Result
from poise.runs.motion import Motion, ResultColumn, Setup
from poise.state import sole_pressure

#: Control period (s), as on the robot of the paper.
CONTROL_PERIOD = 0.001
#: Time before a squat in which the joints settle to the comfort posture (s): this drift is not periodic.
SETTLING_TIME = 4.0
#: Gain of the posture (1/s) while torques hold a box whose mass the controller does not know: arms of G1 that hold a
#: tenth of its mass sink by 26 cm with the usual gain of 4/s, and by 12 cm with this one.
CARRYING_POSTURE_GAIN = 20.0
#: Largest distance of the capture point from the middle of the feet at the end, as a fraction of the sole length.
LARGEST_CAPTURE_ERROR = 0.25
#: Largest ZMP error after which the robot counts as recovered from a push (m).
RECOVERED_ERROR = 0.005
#: Largest difference of joint angles between the last two squats (rad, rms): the squats of [Galdeano2014] repeat.
LARGEST_CYCLE_DIFFERENCE = 0.02
#: Smallest such difference that counts if the differences grow (rad): smaller ones are noise.
LEAST_GROWING_DIFFERENCE = 0.005
#: Time constant of the low-pass filter of ε_ZMP before it is judged (s): force cells are noisy.
FILTER_TIME = 0.02

SERVO_COLUMNS = {
    "zmp_rms_m": ResultColumn(
        "number", "m", "root mean square of the weighted ZMP error from the middle of the soles", "regulation.zmp_rms_m"
    ),
    "zmp_max_m": ResultColumn("number", "m", "largest weighted ZMP error", "regulation.zmp_max_m"),
    "recovery_time_s": ResultColumn(
        "number", "s", "time from the last push until the ZMP error stays below 5 mm", "regulation.recovery_time_s"
    ),
}


@dataclass(frozen=True, kw_only=True)
class ServoBalance(Motion):
    """Motion with torque control or, with ``mode="position"``, on position servos with ZMP regulation.

    Attributes:
        torque_settings: dataclass that `settings` changes with torque control.
        servo_settings: dataclass that `settings` changes on servos.
    """

    available: ClassVar[tuple[tuple[str, str], ...]] = (
        ("torque", "mujoco"),
        ("position", "mujoco"),
        ("torque", "ideal"),
    )
    can_carry: ClassVar[bool] = True
    torque_settings: ClassVar[type]
    servo_settings: ClassVar[type] = ZmpBalanceSettings

    @property
    def zmp_regulated(self) -> bool:
        return self.mode == "position"

    @classmethod
    def settings_types(cls) -> dict[str, type]:
        return {"": cls.torque_settings, "position": cls.servo_settings}

    def check(self) -> None:
        if self.zmp_regulated and self.world.terrain != "flat":
            raise UsageError("position servos need flat ground; leave --terrain out")

    def build(self, robot: Robot | None = None) -> Setup:
        loaded = robot or self.load()
        return self._build_on_servos(loaded) if self.zmp_regulated else self.build_with_torques(loaded)

    def judge(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        judge = self._judge_on_servos if self.zmp_regulated else self.judge_with_torques
        return judge(setup, run, result)

    def resolved_settings(self) -> Any:
        """Return the settings of the behavior; with torques and an unknown box, the posture is stiffer by default."""
        own = {
            name: value for name, value in self.settings.items() if not name.startswith(tuple(self.prefixed_settings))
        }
        unknown = self.world.carried_mass and self.world.carried_knowledge == "unknown" and not self.zmp_regulated
        stiffer = {"posture_gain": CARRYING_POSTURE_GAIN} if unknown else {}
        return settings_from(self.settings_type, {**stiffer, **own}, self._prefixed_names())

    def start_stance(self, robot: Robot) -> State:
        """Return the stance in which the motion starts: with a box, the one that holds it in both hands.

        Raises:
            UsageError: if the robot has no stance to hold a box.
        """
        if not self.world.carried_mass:
            return robot.stance("standing")
        if "carrying" not in robot.stances:
            raise UsageError(f"{robot.name} has no stance 'carrying' for a box; add one to its data file")
        return robot.stance("carrying")

    # -- torque control: each motion has its own behavior ----------------------------------------------------------

    @abstractmethod
    def build_with_torques(self, robot: Robot) -> Setup:
        """Build behavior, controller and plant for torque control, or for kinematic mode if the motion supports it."""

    @abstractmethod
    def judge_with_torques(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Judge a run with torque control, see `judge`."""

    # -- position servos: one behavior, which follows a reference trajectory ---------------------------------------

    @abstractmethod
    def reference(self, settings: Any, start: State) -> ReferenceTrajectory:
        """Return the reference trajectory of the motion.

        Args:
            settings: resolved settings, an instance of `servo_settings`.
            start: state at the start.
        """

    def servo_defaults(self, robot: Robot) -> dict[str, Any]:
        """Return the robot's own settings for this motion; servos are stiffer on one foot or with a load."""
        return current_settings(self.servo_settings, robot.servos.zmp_balance)

    def reference_provenance(self, reference: Any) -> dict[str, Any]:
        """Return facts about the reference trajectory for the recording."""
        return {}

    def judge_reference(self, reference: Any, run: CompletedRun) -> list[str]:
        """Return the reasons why a run on servos that did not fall failed to follow its reference."""
        return []

    def _build_on_servos(self, robot: Robot) -> Setup:
        settings: Any = settings_from(self.servo_settings, {**self._robot_defaults(robot), **self.settings})
        start = self.start_stance(robot)
        reference = self.reference(settings, start)
        plant = self.world.plant(start, seed=self.seed, servos=True, stiffness=settings.stiffness)
        closed_form = self.solver == "null-space"
        behavior = ZmpBalance(
            robot, reference, settings, start, carries=self.world.carried_mass > 0.0, closed_form=closed_form
        )
        facts = {
            "regulation": {each.name: getattr(settings, each.name) for each in fields(settings)},
            "solver": self.solver,
            **self.reference_provenance(reference),
        }
        return Setup(behavior, self.controller(behavior, period=CONTROL_PERIOD), plant, reference.seconds, facts)

    def _robot_defaults(self, robot: Robot) -> dict[str, Any]:
        known = {each.name for each in fields(self.servo_settings)}
        walking = robot.servos.walk if self.world.carried_mass else {}
        walking_settings = current_settings(self.servo_settings, walking)
        return {
            **self.servo_defaults(robot),
            **{name: value for name, value in walking_settings.items() if name in known},
        }

    def _judge_on_servos(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        reference, states = setup.behavior.trajectory, run.states
        _, result["heading_rad"] = base_displacement(states)
        way = middle_of_feet(states[-1]) - middle_of_feet(states[0])  # not the base, which leans for comfort
        result["distance_m"] = float(np.linalg.norm(way[:2]))
        elapsed = run.recording.time[-1] - run.recording.time[0]
        result["steps"] = reference.phase(elapsed).steps if isinstance(reference, WalkingPattern) else 0
        result["regulation"] = self._regulation(setup, run)
        if result["fell"]:
            return []
        cycles = result["regulation"]["cycle_rms_rad"]
        return [*_steadiness_reasons(states[-1]), *_cycle_reasons(cycles), *self.judge_reference(reference, run)]

    def _regulation(self, setup: Setup, run: CompletedRun) -> dict[str, Any]:
        """Return measures of the ZMP regulation from the force cells, and the detected sensor faults."""
        behavior, recording = setup.behavior, run.recording
        settings, reference = behavior.settings, behavior.trajectory
        begin = reference.begin if isinstance(reference, SquatReference) else 0.0
        error = np.abs(recorded_zmp_error(recording, run.robot))
        assessed_error = error[
            recording.time >= recording.time[0] + max(begin, 1.0)
        ]  # without the transient at the start
        ends = [push.time + push.duration for push in map(Push.parse, self.world.push)]
        squat = reference if isinstance(reference, SquatReference) else None
        return {
            "zmp_regulated": bool(settings.zmp_regulation),
            "stiffness": settings.stiffness,
            "zmp_rms_m": float(np.sqrt(np.mean(assessed_error**2))) if len(assessed_error) else None,
            "zmp_max_m": float(assessed_error.max()) if len(assessed_error) else None,
            "recovery_time_s": recovery_time(recording.time, error, max(ends)) if ends else None,
            "cycle_rms_rad": None if squat is None else _cycle_differences(recording, squat.frequency, begin),
            "sensor_faults": list(behavior.fault_detector.faults),
        }


def recorded_zmp_error(recording: Recording, robot: Robot) -> NDArray[np.complex128]:
    """Return ε_ZMP at every sample of a recording, [Galdeano2014] eq. (9), low-pass filtered (m, as x + i y)."""
    loads = []
    for side in ("left", "right"):
        foot = robot.foot(side)
        name = f"measured/cells/{printable(foot.name)}"
        cells = recording[name] if name in recording else np.zeros((recording.samples, 4))
        amplitude, zmp = sole_pressure(foot, cells)
        loads.append((amplitude, zmp[:, 0] + 1j * zmp[:, 1]))
    (left, at_left), (right, at_right) = loads
    raw = [
        zmp_error(SoleLoad(float(a), complex(p)), SoleLoad(float(b), complex(q)))
        for a, p, b, q in zip(left, at_left, right, at_right, strict=True)
    ]
    share, value, smooth = recording.period / (recording.period + FILTER_TIME), 0j, []
    for each in raw:
        value += share * (each - value)
        smooth.append(value)
    return np.array(smooth)


def recovery_time(time: Array, error: Array, end: float) -> float | None:
    """Return the time from the end of a push until ε_ZMP stays within `RECOVERED_ERROR` (s); None if it never does.

    Args:
        time: times of the samples (s).
        error: magnitude of ε_ZMP at these times (m).
        end: time at which the push ends (s).
    """
    after = time >= end
    if not after.any():
        return None
    outside = np.nonzero(error[after] > RECOVERED_ERROR)[0]
    if not len(outside):
        return 0.0
    last = int(outside[-1]) + 1
    return float(time[after][last] - end) if last < int(after.sum()) else None


def _cycle_differences(recording: Recording, frequency: float, begin: float) -> list[float]:
    """Return the difference of joint angles between successive squats (rad, rms over joints and time)."""
    count = round(1.0 / (frequency * recording.period))
    angles = recording["q"][round(begin / recording.period) :, 7:]
    cycles = len(angles) // count
    each = angles[: cycles * count].reshape(cycles, count, angles.shape[1])
    return [float(np.sqrt(np.mean((after - before) ** 2))) for before, after in pairwise(each)]


def _cycle_reasons(differences: list[float] | None) -> list[str]:
    """Return a reason for failure if successive squats do not repeat, or if their differences grow.

    They grow if the mean of the last third is larger than that of the first third.
    """
    if not differences:
        return []
    third = len(differences) // 3
    growing = third > 0 and sum(differences[-third:]) > sum(differences[:third])
    if differences[-1] <= (LEAST_GROWING_DIFFERENCE if growing else LARGEST_CYCLE_DIFFERENCE):
        return []
    first, last = 1e3 * differences[0], 1e3 * differences[-1]
    return [f"the squats do not repeat: successive ones differ by {first:.0f} mrad at first, {last:.0f} mrad at last"]


def _steadiness_reasons(last: State) -> list[str]:
    """Return a reason for failure if the capture point is too far from the middle of the feet at the end."""
    error = capture_point_error(last, middle_of_feet(last))
    sole = last.robot.feet[0].sole
    if error <= LARGEST_CAPTURE_ERROR * (sole.x_max - sole.x_min):
        return []
    return [f"not at rest at the end: the capture point is {1e3 * error:.0f} mm from the middle of the feet"]
