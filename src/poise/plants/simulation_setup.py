"""Setup of a simulation: actuators, sensors, the start on a slope, and validation of all arguments of `MujocoPlant`.

Start states are defined on a floor. On a slope each foot in contact is rotated with the plane and placed on it, with
its middle moved only vertically; the base keeps its orientation, and the center of mass is again above the middle of
the soles. The posture changes as much as needed, mostly at ankles and knees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.constraints import JointRange
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.parsing import format_value
from poise.plants.disturbances import CarriedBox, HardwareFault, Load, ModelError, Push
from poise.plants.environment import EnvironmentObject, Plate, SolidBox, Terrain
from poise.plants.plant_errors import PlantError, require_members, require_number, require_positive, require_vector
from poise.robots import Foot, Frame, Robot, State
from poise.tasks import CenterOfMass, Orientation, Pose, Posture


@dataclass(frozen=True)
class TorqueMotors:
    """Motors that apply the commanded torque up to the robot's limits; saturated commands are counted."""


@dataclass(frozen=True, eq=False)
class PositionServos:
    """Position servos: ``torque = K (target - q) + D (rate - v)``, up to the robot's limits.

    The initial targets hold the robot in its start: they differ from its angles by ``torque / K``. They move with the
    commanded velocities: ``target += rate · dt``. So a velocity controller that measures the deflection of a joint
    moves its target until the joint is in place. A target stays within ``limit / K`` of the joint's angle, since a
    larger error gives no more torque. Torques in commands are ignored.

    Args:
        stiffness: K (N m/rad), a number or one per joint; None: that of the robot's data file, or else the stiffness
            with which a joint reaches its largest torque at an error of 0.02 rad.
        stiffness_scale: factor of the default stiffness, like the adjustable gain of a drive; ignored if `stiffness` is
            given.
        damping: D (N m s/rad), a number or one per joint; None: critical damping with the joint's inertia at the start,
            ``D = 2 √(K M_ii)``.

    >>> plant = poise.MujocoPlant(start, actuators=PositionServos())
    """

    stiffness: ArrayLike | None = None
    damping: ArrayLike | None = None
    stiffness_scale: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.stiffness_scale, "PositionServos.stiffness_scale")
        for name in ("stiffness", "damping"):
            value = getattr(self, name)
            if value is not None:
                values = require_vector(np.ravel(value), np.size(value), f"PositionServos.{name}")
                if not (values >= 0.0).all() or (name == "stiffness" and not (values > 0.0).all()):
                    raise PlantError(f"PositionServos.{name} is {format_value(value)}; expected positive numbers", name)


# -- Sensors ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sensors:
    """Noise, delay and resolution of all sensors of a robot; ideal sensors by default.

    Noise is white: a new value at every tick of the controller, normally distributed, with the standard deviations
    below. One number, the level L, scales all of them; 0.01 corresponds to good sensors with a simple estimator.

    | what | deviation |
    |---|---|
    | velocity of the base, linear and angular | L m/s, L rad/s |
    | rates of the joints | 5 L rad/s |
    | position and orientation of the base, angles of the joints | 0.1 L m, 0.1 L rad |
    | orientation and angular velocity of the IMU, its acceleration | 0.1 L rad, L rad/s, 10 L m/s² |
    | force cells and forces on parts; moments on them | 20 L N; 2 L N m |

    Args:
        noise: the level L.
        delay: delay of all readings (s): an integer multiple of the simulation step.
        encoder_step: resolution of joint angles (rad).
        force_step: resolution of forces of cells and ankles (N); that of moments is a tenth of it (N m).

    >>> Sensors(noise=0.01, delay=0.004, encoder_step=2e-5)
    """

    noise: float = 0.0
    delay: float = 0.0
    encoder_step: float = 0.0
    force_step: float = 0.0

    def __post_init__(self) -> None:
        require_number(self.noise, "Sensors.noise", low=0.0)
        require_number(self.delay, "Sensors.delay", low=0.0, unit="s")
        require_number(self.encoder_step, "Sensors.encoder_step", low=0.0, unit="rad")
        require_number(self.force_step, "Sensors.force_step", low=0.0, unit="N")


# -- Start on a slope ------------------------------------------------------------------------------------------------


#: Distance (m) and tilt (rad) at which a sole counts as flat on the plane: less than contacts sink in.
FLATNESS_TOLERANCE = 1e-4


def start_on_terrain(start: State, ground: Terrain) -> State:
    """Return the start with its soles on the plane of the terrain; the same object if they already are.

    Raises:
        PlantError: if the robot cannot reach a balanced start on the terrain.
    """
    feet = [part for part in start.contacts if isinstance(part, Foot)]
    if np.abs(ground.plane.rotation[:, 2] - [0.0, 0.0, 1.0]).max() < FLATNESS_TOLERANCE or not feet:
        return start  # with steps and boxes the ground under the start is horizontal
    sole_targets = [_on_plane(start, foot, ground) for foot in feet]
    if all(goal.isApprox(start.pose(foot), FLATNESS_TOLERANCE) for goal, foot in zip(sole_targets, feet, strict=True)):
        return start
    robot = start.robot
    center_target = np.mean([goal.act(foot.sole.center) for goal, foot in zip(sole_targets, feet, strict=True)], axis=0)
    base = robot.frame(robot.model.names[1])
    solution = solve_pose(
        Hierarchy(
            always=[JointRange(robot)],
            levels=[
                Level("soles", [Pose(foot, goal) for foot, goal in zip(feet, sole_targets, strict=True)]),
                Level("balance", [CenterOfMass(target=center_target[:2], axes="xy")]),
                Level("base", [Orientation(base, start.pose(base))]),
                Level("posture", [Posture(start)]),
            ],
        ),
        start,
    )
    if {"soles", "balance"} & set(solution.unmet):
        raise PlantError(f"{robot.name} cannot stand on {ground}; give a start with its soles on the ground", "ground")
    return State(robot, solution.state.q, start.v, start.time, start.contacts)


def _on_plane(start: State, foot: Foot, ground: Terrain) -> pinocchio.SE3:
    """Return world_from_foot with the sole on the plane."""
    pose = start.pose(foot)
    normal = ground.plane.rotation[:, 2]
    turn = pinocchio.Quaternion.FromTwoVectors(pose.rotation[:, 2], normal).matrix()
    rotation = turn @ pose.rotation
    middle = pose.act(foot.sole.center)
    middle[2] = ground.elevation(middle[0], middle[1])
    return pinocchio.SE3(rotation, middle - rotation @ foot.sole.center)


# -- SimulationSetup: validated arguments of MujocoPlant -------------------------------------------------------------


#: Longest step of a simulation (s): half the time constant of a contact, the stability limit.
MAX_PERIOD = 0.005


@dataclass(frozen=True, eq=False)
class SimulationSetup:
    """Validated arguments of `MujocoPlant`, which documents them."""

    start: State
    parts: tuple[Frame, ...]
    ground: Terrain
    objects: tuple[EnvironmentObject, ...]
    friction: float
    pushes: tuple[Push, ...]
    loads: tuple[Load, ...]
    carried_box: CarriedBox | None
    actuators: TorqueMotors | PositionServos
    sensors: Sensors
    faults: tuple[HardwareFault, ...]
    model_error: ModelError
    period: float
    seed: int
    self_collision: bool
    speed_limits: bool
    visuals: bool

    @property
    def robot(self) -> Robot:
        return self.start.robot

    @property
    def delay_steps(self) -> int:
        """Delay of the sensors in simulation steps."""
        return round(self.sensors.delay / self.period)


def make_setup(start: Any, contact_frames: Sequence[Frame], **settings: Any) -> SimulationSetup:
    """Validate the arguments of `MujocoPlant` and place the start on the terrain.

    Raises:
        PlantError: if an argument is invalid.
    """
    if isinstance(start, Robot):
        start = start.stance("standing")
    if not isinstance(start, State):
        raise PlantError(f"MujocoPlant starts from {format_value(start)}; expected a Robot or a State", "start")
    kinds: dict[str, tuple[Any, str]] = {
        "actuators": ((TorqueMotors, PositionServos), "TorqueMotors() or PositionServos()"),
        "sensors": (Sensors, "Sensors(noise=0.01)"),
        "carried_box": ((CarriedBox, type(None)), "CarriedBox.of_mass_fraction(robot, 0.10)"),
        "model_error": (ModelError, "ModelError(mass=0.1)"),
        "self_collision": (bool, "True or False"),
        "speed_limits": (bool, "True or False"),
        "visuals": (bool, "True or False"),
    }
    for name, (kind, example) in kinds.items():
        if not isinstance(settings[name], kind):
            raise PlantError(f"{name} is {format_value(settings[name])}; expected {example}", name)
    if not isinstance(settings["ground"], Terrain):
        raise PlantError(
            f"ground is {format_value(settings['ground'])}; "
            "expected FlatTerrain(), Slope(5), Stairs(...), RoughTerrain(...)",
            "ground",
        )
    require_number(settings["friction"], "friction", low=0.0)
    period, seed, delay = (
        require_positive(settings["period"], "period", "s"),
        settings["seed"],
        settings["sensors"].delay,
    )
    if period > MAX_PERIOD:
        raise PlantError(f"period is {period:g} s; expected at most {MAX_PERIOD:g} s for stable contacts", "period")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise PlantError(f"seed is {seed!r}; expected a whole number, zero or more", "seed")
    if abs(round(delay / period) * period - delay) > 1e-6 * period:
        advice = f"expected a multiple of the period of the simulation, {period:g} s"
        raise PlantError(f"Sensors.delay is {delay:g} s; {advice}", "delay")
    settings["objects"] = require_members(settings["objects"], (SolidBox, Plate), "objects", "[Wall(...), Table(...)]")
    settings["pushes"] = require_members(settings["pushes"], Push, "pushes", "[Push((100, 0, 0), 0.1, time=1.0)]")
    settings["loads"] = require_members(settings["loads"], Load, "loads", "[Load(robot.hand('left'), mass=1.0)]")
    settings["faults"] = require_members(
        settings["faults"], HardwareFault, "faults", "[ForceCellFault(1.0, 'left', corner=2)]"
    )
    robot, parts = (
        start.robot,
        require_members(contact_frames, Frame, "contact_frames", "[robot.frame('left_knee_link')]"),
    )
    parts = tuple(dict.fromkeys((*robot.feet, *robot.hands, *parts)))
    for what, frames in (
        ("contact_frames", parts),
        ("pushes", [push.frame for push in settings["pushes"] if push.frame is not None]),
        ("loads", [load.frame for load in settings["loads"]]),
    ):
        for frame in frames:
            if frame.robot_name != robot.name:
                raise PlantError(
                    f"{what}: '{frame.name}' belongs to {frame.robot_name}; give parts of {robot.name}", what
                )
    for fault in settings["faults"]:
        fault.check(robot)
    if settings["carried_box"] is not None:
        settings["carried_box"].check(robot)
    return SimulationSetup(start=start_on_terrain(start, settings["ground"]), parts=parts, **settings)
