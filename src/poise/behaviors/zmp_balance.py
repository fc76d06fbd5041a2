"""Balance on position servos with the ZMP regulated by force cells ([Galdeano2014]), along any reference trajectory."""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.behaviors.gait_tasks import TickClock
from poise.behaviors.sensor_faults import Watch
from poise.behaviors.zmp_regulation import (
    Pressed,
    RegulatedSettings,
    Regulator,
    Sag,
    Spin,
    Splay,
    error_of_zmp,
    pressed,
)
from poise.errors import PoiseError
from poise.geometry import so3
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.plans import BodyDimensions, Course, Footstep, Pattern, Route, Speed, Standing, Style, paced
from poise.robots import Robot, State
from poise.state import Sensed, Snapshot

#: Damping of the spin: what it may ask of the joints (rad/s per kg m²/s).
CALM = 0.05


class Levels:
    """One hierarchy, the same whatever foot bears: nothing is switched.

    Relative feet pose (equations 1 to 6); centre of mass seen from the reference foot, with what the ZMP regulation
    adds to its error (7 to 13); if the robot carries something, the hands; comfort of the joints (14 and 15). All are
    seen from the reference foot, so the base is free to be anywhere, and takes no part.

    Ranges and speeds of the joints stand above all. A solver in closed form (`NullSpace`, equations 16 to 20) does not
    see them: that is what the comfort is for.

    Args:
        robot: with two feet.
        start: where it begins.
        settings: rates of the tasks.
        carries: whether the hands have a task.

    Attributes:
        feet, center: what is led: reference_from_other, frames of the feet; centre of mass in the reference frame.
        grasp: place of the left hand in the reference frame, if the hands have a task.
        spin: what asks for angular momentum, if the settings want it; the reference foot then stays where it is, for
            the motion of the base is part of it.
        reference, other: the feet.
    """

    def __init__(self, robot: Robot, start: State, settings: RegulatedSettings, carries: bool) -> None:
        self.reference, self.other = robot.foot("left"), robot.foot("right")
        a = start.pose(self.reference)
        self.feet = tasks.Led(a.actInv(start.pose(self.other)))
        self.center = tasks.Led(a.actInv(start.center_of_mass))
        rate = tasks.Decay
        levels = [
            Level("feet", [
                tasks.RelativePose(
                    self.other, seen_from=self.reference, target=self.feet, reference=rate(settings.feet),
                    name="relative feet pose",
                ),
            ]),
            Level("center", [
                tasks.CenterOfMass(self.center, frame=self.reference, reference=rate(settings.center)),
            ]),
        ]  # fmt: skip
        self.grasp: tasks.Led | None = None
        if carries:
            levels.append(Level("hands", self._hands(robot, start, settings)))
        self.spin = Spin(start, self.reference, settings.spin) if settings.spin else None
        if self.spin is not None:
            turning = tasks.AngularMomentum(self.spin.momentum, axes="xy", name="spin")
            levels[0] = Level("feet", [*levels[0].tasks, tasks.HoldPose(self.reference, at=start)])
            levels.append(Level("spin", [turning], damping=CALM))
        if settings.comfort == "middle":
            levels.append(Level("comfort", [tasks.JointComfort(robot, settings.beta)]))
        else:
            levels.append(Level("comfort", [tasks.Posture(start, reference=rate(settings.beta), name="joint comfort")]))
        self.hierarchy = Hierarchy(always=[constraints.JointRange(robot), constraints.JointSpeed(robot)], levels=levels)
        #: As the closed form takes it: equalities only.
        self.equalities = Hierarchy(always=[], levels=levels)

    def _hands(self, robot: Robot, start: State, settings: RegulatedSettings) -> list[tasks.Task]:
        """One hand goes with the centre of mass, level; the other stays where it is, seen from the first."""
        left, right, rate = robot.hand("left"), robot.hand("right"), tasks.Decay(settings.hands)
        pose = start.pose(self.reference).actInv(start.pose(left))
        self.grasp = tasks.Led(pose)
        held = start.pose(left).actInv(start.pose(right))
        return [
            tasks.RelativePose(left, seen_from=self.reference, target=self.grasp, reference=rate, name="left hand"),
            tasks.RelativePose(right, seen_from=left, target=held, reference=rate, name="grasp"),
        ]


# -- Regulated -------------------------------------------------------------------------------------------------------


#: So often (s) is looked how much servos sag: in that time a step moves a hundredth of the weight.
WEIGH = 0.005


class Regulated(Behavior):
    """Follows a course of centre of mass and feet, with the ZMP regulated under each foot ([Galdeano2014]).

    For `poise.PositionController`, which asks it at every tick: first to `observe` what was sensed, then for its
    hierarchy, which is always the same one. Standing, squatting and walking differ in their course alone.

    Args:
        robot: with two feet.
        course: references over time, from the middle of the left sole; None: to stand where it is.
        settings: gains; None: those of the robot's data file.
        start: at rest on both feet; None: the standing stance.
        carries: whether the hands hold something: they then have a task before the last one.
        closed: whether joint limits are left to the comfort, for solvers in closed form.

    Attributes:
        pressed: what each sole felt last, by side.
        regulator, splay, sag, watch: see these.
        regulating: whether the ZMP is to be regulated; may be changed at any time, and fades in and out.
        offset: what is added to the angles of the joints, see `Sag`; None before the first tick.

    >>> body = Regulated(robot)
    >>> controller = poise.PositionController(body, period=0.001)
    >>> servos = PositionServos(share=body.settings.stiffness)
    >>> poise.record(controller, poise.MujocoPlant(body.start, actuators=servos), seconds=5.0)
    """

    #: There is one hierarchy: nothing to pass to.
    ramp = 0.0

    def __init__(
        self,
        robot: Robot,
        course: Course | None = None,
        settings: RegulatedSettings | None = None,
        start: State | None = None,
        carries: bool = False,
        closed: bool = False,
    ) -> None:
        if len(robot.feet) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.feet)} feet; this law takes two")
        if carries and len(robot.hands) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.hands)} hands; carrying takes two")
        self.robot, self.settings = robot, settings or regulation_of(robot)
        self.start: State = robot.stance("standing") if start is None else start
        self.levels = Levels(robot, self.start, self.settings, carries)
        self.hierarchy: Hierarchy = self.levels.equalities if closed else self.levels.hierarchy
        self.course: Course = Standing(*standing(self.start)) if course is None else course
        sole = self.levels.reference.sole
        self.regulator = Regulator(self.settings, sole.half[0])
        self.splay = Splay(robot, self.settings)
        self.watch = Watch(robot, self.settings.stiffness)
        self.pressed: Mapping[str, Pressed] = {foot.side: Pressed(0.0, 0j) for foot in robot.feet}
        self._middles = self.levels.reference.sole.center, self.levels.other.sole.center
        self._apart = any(middle.any() for middle in self._middles)  # whether frames are not in the middles of soles
        self._grasp = None
        if self.levels.grasp is not None:
            pose = self.levels.grasp.value
            self._grasp = pose.rotation, pose.translation - self.levels.center.value
        self._begin = self.start.time
        self.regulating = bool(self.settings.regulate)
        self.offset: Array | None = None
        self._weighed = -math.inf
        self._clock = TickClock(0.001)
        self._wanted = self.course.sample(0.0)
        at_first = Snapshot(robot).at(self.start)
        self.sag = Sag(robot, at_first, self.settings.stiffness, self._wanted.share)

    @property
    def seconds(self) -> float:  # type: ignore[override]  # its course knows
        """How long the course takes."""
        return self.course.seconds

    @property
    def fallback(self) -> str:  # type: ignore[override]  # what is watched
        """Why the regulation is off, in words; empty when it is not."""
        words = self.watch.words
        return f"no ZMP regulation: {'; '.join(words)}" if words else ""

    # -- at every tick ---------------------------------------------------------------------------------------------

    def observe(self, real: Snapshot, reference: Snapshot, sensed: Sensed | None) -> None:
        """What the cells and the servos say."""
        self._clock.tick(real.time)
        period = self._clock.period
        if self.offset is None or real.time - self._weighed >= WEIGH - 1e-9:
            self.offset = self.sag.angles(reference, self._wanted.share)
            self._weighed = real.time
        if sensed is None:
            return
        lags = reference.q[7:] + self.offset - sensed.positions
        told = self.watch.look(sensed.cells, lags, self._wanted.share, period, self.regulating)
        left, right = (pressed(foot, forces) for foot, forces in zip(self.robot.feet, told, strict=True))
        self.pressed = {"left": left, "right": right}
        turned = Pressed(right.amplitude, right.zmp * _heading(self._wanted.other))
        error = error_of_zmp(left, turned)
        self.regulator.step(error, period, self.watch.trust)
        self.splay.step(left, right, period, self.watch.trust)
        if self.levels.spin is not None:
            self.levels.spin.step(error, period, self.watch.trust)

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        self._wanted = wanted = self.course.sample(snapshot.time - self._begin)
        levels, shift = self.levels, self.regulator.shift
        mine, others = self._middles
        center, place, rate = wanted.center, wanted.other, wanted.other_rate
        if self.splay.roll:  # each sole by half of it: seen from the reference sole, the ground is tilted
            T = pinocchio.exp3(np.array([0.5 * self.splay.roll, 0.0, 0.0]))
            center, place = T @ center, pinocchio.SE3(T @ place.rotation @ T, T @ place.translation)
        levels.center.lead(center + mine + (shift.real, shift.imag, 0.0), wanted.center_rate)
        if self._apart:
            arm = place.rotation @ others  # from the frame of the other foot to the middle of its sole
            place = pinocchio.SE3(place.rotation, mine + place.translation - arm)
            rate = rate - np.concatenate([np.cross(rate[3:], arm), np.zeros(3)])
        levels.feet.lead(place, rate)
        if levels.grasp is not None and self._grasp is not None:
            R, away = self._grasp
            rates = np.concatenate([wanted.center_rate, np.zeros(3)])
            levels.grasp.lead(pinocchio.SE3(R, wanted.center + mine + away), rates)
        return self.hierarchy


def _heading(pose: pinocchio.SE3) -> complex:
    """Where the x axis of a pose points, from above."""
    return cmath.exp(1j * so3.yaw_of(pose.rotation))


def regulation_of(robot: Robot, **given: float | str) -> RegulatedSettings:
    """The settings of a robot's data file, with some replaced."""
    try:
        return RegulatedSettings(**{**robot.servos.regulation, **given})  # type: ignore[arg-type]
    except TypeError as error:
        known = ", ".join(RegulatedSettings.__dataclass_fields__)
        raise PoiseError(f"{robot.name}: [servos.regulation] or a setting: {error}; there are {known}") from None


def standing(start: State) -> tuple[Array, pinocchio.SE3]:
    """Of a state on both feet: centre of mass above the middle between its soles, and the other sole, both seen from
    the middle of the left one."""
    robot = start.robot
    left, right = robot.foot("left"), robot.foot("right")
    a, b = start.pose(left), start.pose(right)
    a = pinocchio.SE3(a.rotation, a.act(left.sole.center))
    other = a.actInv(pinocchio.SE3(b.rotation, b.act(right.sole.center)))
    height = float(a.actInv(start.center_of_mass)[2])
    return np.append(0.5 * other.translation[:2], height), other


# -- A walk as a course, for a body that stands on both feet ---------------------------------------------------------


def walking(start: State, style: Style, steps: float, speed: Speed | None = None) -> Pattern:
    """A walk of so many steps at the pace of a style, from where a body stands.

    >>> Regulated(robot, walking(robot.stance("standing"), STYLES["neutral"], steps=20))
    """
    body = BodyDimensions.of(start)
    left, right = (Footstep.of(start, start.robot.foot(side), 0.0) for side in ("left", "right"))
    return Pattern(Route(paced(style, body, speed), steps), left, right, body.height)
