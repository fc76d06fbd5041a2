"""`MujocoPlant`, a robot in a physics engine that shares no code with its controller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.control import Command
from poise.plants.control_loop import Plant
from poise.plants.disturbances import CarriedBox, HardwareFault, Load, ModelError, Push
from poise.plants.engine.contact_sensors import SensorModel
from poise.plants.engine.drives_and_faults import (
    CommandErrors,
    FaultySensors,
    Motors,
    Servos,
    SpeedLimitedDrive,
    with_motor_faults,
)
from poise.plants.engine.simulation import MujocoSimulation, compile_scene
from poise.plants.environment import FLOOR_FRICTION, EnvironmentObject, FlatTerrain, Terrain
from poise.plants.environment_geometry import EnvironmentGeometry
from poise.plants.fall_detection import FallDetector
from poise.plants.simulation_setup import PositionServos, Sensors, TorqueMotors, make_setup
from poise.robots import Frame, Robot, State
from poise.state import SensorReadings


class MujocoPlant(Plant):
    """A robot simulated in MuJoCo, built from the same pinocchio model that its controller uses.

    Each `apply` and `advance` simulates the period of the command. `state` is the state measured by the sensors, for
    the controller; `truth` is the true state. No method raises after construction: missing values of a command are
    replaced and counted, and if the engine fails, the robot is frozen and `failure` has the reason.

    Args:
        start: initial State, or a Robot, which starts in its stance "standing". On a slope the soles are placed on the
            plane, see `poise.plants.simulation_setup`; `plant.start` is the resulting state.
        ground: `FlatTerrain`, `Slope`, `Stairs` or `RoughTerrain`.
        objects: walls, tables, plates and boxes in the environment.
        friction: coefficient between the robot and all that it touches; 0.8 is rubber on a dry floor.
        pushes: external forces on any body at any time.
        loads: loads that it carries, unknown to its controller.
        carried_box: a box that it holds with both hands, unknown to its controller.
        actuators: `TorqueMotors`, which need commands with torques, or `PositionServos`, which need velocities.
        sensors: noise, delay and resolution of the sensors; ideal by default.
        faults: hardware faults during the motion: force cells, the cables of the soles, motors.
        model_error: differences between the robot and the model of its controller.
        contact_frames: parts that may touch the environment besides feet and hands, each with a ball at its frame: they
            appear in contacts and forces. These, and hands named here, do not count as a fall if they touch the ground.
        period: simulation step (s), independent of the sampling period of the controller.
        seed: seed of noise and uneven ground. The same seed and commands give bit-identical motions.
        self_collision: whether its bodies collide with each other, as convex hulls.
        speed_limits: whether its motors lose their torque at their speed limits, see `SPEED_MARGIN` of the engine.
        visuals: whether `model` contains the visual meshes, for rendering.

    Attributes:
        model, data: model and data of MuJoCo, for rendering or inspection.
        start: initial state.
        notes: parts that could not be built, then the first occurrence of each error, one sentence each.

    >>> plant = poise.MujocoPlant(robot, pushes=[Push((80, 0, 0), duration=0.1, time=1.0)])
    >>> recording = poise.record(controller, plant, seconds=3.0)
    >>> plant.fallen, plant.fall
    """

    def __init__(
        self,
        start: State | Robot,
        *,
        ground: Terrain = FlatTerrain(),  # noqa: B008  frozen, as are the others
        objects: Sequence[EnvironmentObject] = (),
        friction: float = FLOOR_FRICTION,
        pushes: Sequence[Push] = (),
        loads: Sequence[Load] = (),
        carried_box: CarriedBox | None = None,
        actuators: TorqueMotors | PositionServos = TorqueMotors(),  # noqa: B008
        sensors: Sensors = Sensors(),  # noqa: B008
        faults: Sequence[HardwareFault] = (),
        model_error: ModelError = ModelError(),  # noqa: B008
        contact_frames: Sequence[Frame] = (),
        period: float = 0.001,
        seed: int = 0,
        self_collision: bool = False,
        speed_limits: bool = False,
        visuals: bool = False,
    ) -> None:
        setup = make_setup(
            start,
            contact_frames,
            ground=ground,
            objects=objects,
            friction=friction,
            pushes=pushes,
            loads=loads,
            carried_box=carried_box,
            actuators=actuators,
            sensors=sensors,
            faults=faults,
            model_error=model_error,
            period=period,
            seed=seed,
            self_collision=self_collision,
            speed_limits=speed_limits,
            visuals=visuals,
        )
        scene = compile_scene(setup)
        self.robot: Robot = setup.robot
        self.start: State = setup.start
        self.ground: Terrain = ground
        self._environment = EnvironmentGeometry.of(ground, setup.start, seed, setup.objects, setup.carried_box)
        self.model, self.data = scene.model, scene.data
        self.notes: list[str] = list(scene.notes)
        self._command_errors = CommandErrors(self.notes)
        self._simulation = MujocoSimulation(setup, scene)
        self._drive: Motors | Servos | SpeedLimitedDrive = Motors(self.robot, self.data, self._command_errors)
        if scene.gains is not None:
            self._drive = Servos(self.robot, scene, self._command_errors, self._simulation.holding_torque, scene.gains)
        if speed_limits:
            self._drive = SpeedLimitedDrive(self._drive, self.robot, scene, self._command_errors)
        weight = self.robot.weight
        self._sensor_model = SensorModel(self.robot, setup.parts, sensors, weight, np.random.default_rng(seed))
        self._noise = self._sensor_model.draw_noise()
        self._faulty_sensors = FaultySensors(self._sensor_model, self._simulation, setup.faults)
        self._faulty_sensors.update(self._noise)
        self._faulty_drive = with_motor_faults(self._drive, self.robot, self._simulation, setup.faults)
        self._fall_detector = FallDetector(self.start, self.model, ground, setup.parts, contact_frames)
        self._command: Command | None = None
        self._true_state: State | None = None
        self._measured_state: State | None = None

    # -- observation -----------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time of the simulation (s), in the time of the states."""
        return self._simulation.clock.time

    def state(self) -> State:
        """Return the measured state: joint angles from encoders, an estimate of the base, and contacts from forces.

        With a sensor delay, all values except the time are older by the delay.
        """
        if self._measured_state is None:
            sample = self._simulation.delayed_sample()
            if self._sensor_model.exact and sample is self._simulation.sample():
                self._measured_state = self.truth()
            else:
                self._measured_state = self._sensor_model.state(sample, self._noise, self.time)
        return self._measured_state

    def readings(self) -> SensorReadings:
        """Return the sensor readings at the time of the state."""
        return self._faulty_sensors.readings(self._noise, self.state(), self.truth())

    def truth(self) -> State:
        """Return the true state, which is not available on a real robot."""
        if self._true_state is None:
            sample = self._simulation.sample()
            contacts = self._sensor_model.contacts(sample, None)
            self._true_state = State._unchecked(self.robot, sample.q, sample.v, self.time, contacts)
        return self._true_state

    @property
    def environment(self) -> EnvironmentGeometry:
        """Shape of ground, objects and the box in the hands, for recordings and views."""
        return self._environment

    def joint_torques(self) -> Array:
        """Return the torques of motors or servos in the last simulation step (nv - 6; N m, N)."""
        return np.array(self.data.actuator_force)

    @property
    def failure(self) -> str:
        """Why the simulation failed; empty if it did not."""
        return self._simulation.failure

    @property
    def fallen(self) -> bool:
        """True after the first fall, or after the simulation failed."""
        return bool(self._fall_detector.reason or self.failure)

    @property
    def fall(self) -> str:  # type: ignore[override]  # a property, not an attribute
        """Time and cause of the first fall or failure, one sentence; empty: no fall."""
        return self._fall_detector.reason or self.failure

    @property
    def counts(self) -> Counter[str]:  # type: ignore[override]  # a property, not an attribute
        """Number of errors in commands by name."""
        return self._command_errors.counts

    @property
    def saturation_counts(self) -> NDArray[np.int64]:
        """Number of commands with a torque at or beyond its limit, per joint."""
        return self._drive.saturation_counts

    # -- commands --------------------------------------------------------------------------------------------------

    def push(self, push: Push) -> None:
        """Add a push during the motion.

        >>> plant.push(Push((60, 0, 0), duration=0.1, time=plant.time))
        """
        self._simulation.push(push)

    def apply(self, command: Command) -> None:
        """Set the command, valid until the next one."""
        self._command = command
        self._drive.set_command(command)

    def advance(self) -> None:
        """Simulate the period of the command."""
        if self._command is None:
            return
        self._simulation.run(self._command.period, self._faulty_drive)
        self._true_state = self._measured_state = None
        self._noise = self._sensor_model.draw_noise()
        self._faulty_sensors.update(self._noise)
        if not self.failure:
            self._fall_detector.update(self.data, self.time)
