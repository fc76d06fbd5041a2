"""Standing, squatting and walking on position servos with ZMP regulation ([Galdeano2014]): one law for all of them."""

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
from poise.parameters import settings_from
from poise.plans import ReferenceTrajectory, SquatReference, WalkingPattern
from poise.plants import Push
from poise.recording import Recording, printable
from poise.robots import Robot, State
from poise.runs.execution import CompletedRun, Result
from poise.runs.motion import Motion, ResultColumn, Setup
from poise.state import sole_pressure

#: Period of the control (s): that of the paper's robot.
CONTROL_PERIOD = 0.001
#: Before a squat the joints find their comfort for so long (s): what drifts there is not periodic.
SETTLING_TIME = 4.0
#: The capture point at the end is this near to the middle of the feet, as a share of the sole's length.
LARGEST_CAPTURE_ERROR = 0.25
#: Back at the middle, after a push (m).
RECOVERED_ERROR = 0.005
#: Time constant of the filter with which ε_ZMP is judged (s): cells are noisy.
FILTER_TIME = 0.02

SERVO_COLUMNS = {
    "zmp_rms_m": ResultColumn(
        "number", "m", "weighted ZMP from the middle of the soles, root mean square", "regulation.zmp_rms_m"
    ),
    "zmp_largest_m": ResultColumn("number", "m", "the same at worst", "regulation.zmp_largest_m"),
    "returned_s": ResultColumn(
        "number", "s", "from the last push until it was back within 5 mm", "regulation.returned_s"
    ),
}


@dataclass(frozen=True, kw_only=True)
class ServoBalance(Motion):
    """A motion on both feet that runs under torques or, with ``mode="position"``, on servos with ZMP regulation.

    Attributes:
        torque_settings, servo_settings: what `settings` changes in each mode.
    """

    available: ClassVar[tuple[tuple[str, str], ...]] = (
        ("torque", "mujoco"),
        ("position", "mujoco"),
        ("torque", "ideal"),
    )
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
            raise UsageError("on servos there is flat ground; leave --terrain out")

    def build(self, robot: Robot | None = None) -> Setup:
        loaded = robot or self.load()
        return self._build_on_servos(loaded) if self.zmp_regulated else self.build_with_torques(loaded)

    def judge(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        judge = self._judge_on_servos if self.zmp_regulated else self.judge_with_torques
        return judge(setup, run, result)

    # -- with torques: each motion has its own behavior ------------------------------------------------------------

    @abstractmethod
    def build_with_torques(self, robot: Robot) -> Setup:
        """Behavior, controller and plant under torques (or in kinematics, where the motion runs so)."""

    @abstractmethod
    def judge_with_torques(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """As `judge`, for a run under torques."""

    # -- on servos: one behavior, which follows a reference trajectory ---------------------------------------------

    @abstractmethod
    def reference(self, settings: Any, start: State) -> ReferenceTrajectory:
        """The reference trajectory of the motion."""

    def servo_defaults(self, robot: Robot) -> dict[str, Any]:
        """What suits the robot: on one foot, or with a weight, servos are set stiff."""
        return dict(robot.servos.regulation)

    def reference_provenance(self, reference: Any) -> dict[str, Any]:
        """Facts about the reference trajectory for the recording."""
        return {}

    def judge_reference(self, reference: Any, run: CompletedRun) -> list[str]:
        """Reasons why a run on servos did not follow its reference, where it did not fall."""
        return []

    def _build_on_servos(self, robot: Robot) -> Setup:
        settings: Any = settings_from(self.servo_settings, {**self._robot_defaults(robot), **self.settings})
        if self.world.carry and "carrying" not in robot.stances:
            raise UsageError(f"{robot.name} has no stance 'carrying' to hold a box in; give it one in its data file")
        start = robot.stance("carrying" if self.world.carry else "standing")
        reference = self.reference(settings, start)
        plant = self.world.plant(start, seed=self.seed, servos=True, stiffness=settings.stiffness)
        closed_form = self.solver == "null-space"
        behavior = ZmpBalance(
            robot, reference, settings, start, carries=self.world.carry > 0.0, closed_form=closed_form
        )
        facts = {
            "regulation": {each.name: getattr(settings, each.name) for each in fields(settings)},
            "solver": self.solver,
            **self.reference_provenance(reference),
        }
        return Setup(behavior, self.controller(behavior, period=CONTROL_PERIOD), plant, reference.seconds, facts)

    def _robot_defaults(self, robot: Robot) -> dict[str, Any]:
        known = {each.name for each in fields(self.servo_settings)}
        walking_settings = robot.servos.walking if self.world.carry else {}
        return {
            **self.servo_defaults(robot),
            **{name: value for name, value in walking_settings.items() if name in known},
        }

    def _judge_on_servos(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        reference, states = setup.behavior.trajectory, run.states
        _, result["heading_rad"] = base_displacement(states)
        way = middle_of_feet(states[-1]) - middle_of_feet(states[0])  # the base leans to and fro for comfort
        result["distance_m"] = float(np.linalg.norm(way[:2]))
        elapsed = run.recording.time[-1] - run.recording.time[0]
        result["steps"] = reference.phase(elapsed).steps if isinstance(reference, WalkingPattern) else 0
        result["regulation"] = self._regulation(setup, run)
        if result["fell"]:
            return []
        return [*_steadiness_reasons(states[-1]), *self.judge_reference(reference, run)]

    def _regulation(self, setup: Setup, run: CompletedRun) -> dict[str, Any]:
        """What the force cells measured, and which sensor faults were found."""
        behavior, recording = setup.behavior, run.recording
        settings, reference = behavior.settings, behavior.trajectory
        begin = reference.begin if isinstance(reference, SquatReference) else 0.0
        error = np.abs(recorded_zmp_error(recording, run.robot))
        assessed_error = error[recording.time >= recording.time[0] + max(begin, 1.0)]  # the start shakes
        ends = [push.time + push.duration for push in map(Push.parse, self.world.push)]
        squat = reference if isinstance(reference, SquatReference) else None
        return {
            "regulating": bool(settings.regulate),
            "stiffness": settings.stiffness,
            "zmp_rms_m": float(np.sqrt(np.mean(assessed_error**2))) if len(assessed_error) else None,
            "zmp_largest_m": float(assessed_error.max()) if len(assessed_error) else None,
            "returned_s": recovery_time(recording.time, error, max(ends)) if ends else None,
            "cycle_rms_rad": None if squat is None else _cycle_differences(recording, squat.frequency, begin),
            "notes": list(behavior.fault_detector.faults),
        }


def recorded_zmp_error(recording: Recording, robot: Robot) -> NDArray[np.complex128]:
    """ε_ZMP of a recording, [Galdeano2014] eq. (9), lightly filtered (m, as x + i y), at every sample."""
    loads = []
    for side in ("left", "right"):
        foot = robot.foot(side)
        name = f"sensed/cells/{printable(foot.name)}"
        cells = recording[name] if name in recording else np.zeros((len(recording), 4))
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
    """Seconds from the end of a push to when ε_ZMP is back within `RECOVERED_ERROR` for good; None: it never is."""
    after = time >= end
    if not after.any():
        return None
    outside = np.nonzero(error[after] > RECOVERED_ERROR)[0]
    if not len(outside):
        return 0.0
    last = int(outside[-1]) + 1
    return float(time[after][last] - end) if last < int(after.sum()) else None


def _cycle_differences(recording: Recording, frequency: float, begin: float) -> list[float]:
    """Of each squat, how far its joint angles are from the squat before (rad, rms over joints and time)."""
    count = round(1.0 / (frequency * recording.period))
    angles = recording["q"][round(begin / recording.period) :, 7:]
    cycles = len(angles) // count
    each = angles[: cycles * count].reshape(cycles, count, angles.shape[1])
    return [float(np.sqrt(np.mean((after - before) ** 2))) for before, after in pairwise(each)]


def _steadiness_reasons(last: State) -> list[str]:
    """Whether the capture point is off the middle of the feet at the end, as a reason."""
    error = capture_point_error(last, middle_of_feet(last))
    sole = last.robot.feet[0].sole
    if error <= LARGEST_CAPTURE_ERROR * (sole.x_max - sole.x_min):
        return []
    return [f"not at rest at the end: the capture point is {1e3 * error:.0f} mm off the middle of the feet"]
