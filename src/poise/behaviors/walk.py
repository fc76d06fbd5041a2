"""Walk: steps in physics, planned by the divergent component of motion."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise import constraints, tasks
from poise.behaviors.settings import check_settings
from poise.geometry import polygon
from poise.geometry.curves import Quintic
from poise.hierarchy import Hierarchy, Level
from poise.plans.adaptation import Reachable, adapted
from poise.plans.divergent import Timing, before_double, before_single, natural_frequency, steady_offset, where_to_begin
from poise.plans.footsteps import Footstep, Gait, other
from poise.plans.swing import Swing
from poise.robots import Foot, Robot, State
from poise.robots.parts import Side
from poise.state import Contact, Snapshot

Array = NDArray[np.float64]
Kind = Literal["standing", "starting", "single", "double", "stopping"]

#: Weights of the levels for a weighted solver.
WEIGHTS = (100.0, 50.0, 10.0, 1.0, 0.02)


@dataclass(frozen=True)
class WalkSettings:
    """Numbers of a walk, the same on all robots; lengths are in metres unless said otherwise.

    Args:
        single, double: seconds on one foot and on both.
        lift: height of a step, as a share of the leg.
        lower: how much lower than standing the centre of mass is, as a share of its height.
        feedback: k of the divergent component, 1/s: its error decays as e^{-kt}.
        start: seconds in which the weight shifts before the first step.
        swing, trunk, posture, height: rates of these tasks, 1/s.
        spin: weight of little angular momentum beside that of the posture, relative to m h.
        ease: weight of the posture beside that of the trunk.
        friction: μ that contacts are trusted with.
    """

    single: float = 0.4
    double: float = 0.1
    lift: float = 0.07
    lower: float = 0.0
    feedback: float = 4.0
    start: float = 1.0
    swing: float = 20.0
    trunk: float = 12.0
    posture: float = 6.0
    height: float = 9.0
    spin: float = 1.0
    ease: float = 0.3
    friction: float = 0.7

    def __post_init__(self) -> None:
        check_settings(self, zero=("lower",))


@dataclass
class Walking:
    """Where a walk is: its phase, the feet, and since when."""

    kind: Kind
    begin: float
    support: Footstep
    last: Footstep
    goal: Footstep
    seconds: float
    steps: int = 0


class Walk:
    """Walks at a speed, for a number of steps, and stops side by side.

    Args:
        robot: with two feet.
        speed: (forward m/s, to the left m/s, turning rad/s); may be changed while walking.
        steps: after how many it stops.
        settings: see `WalkSettings`.

    >>> walk = Walk(robot, speed=(0.3, 0.0, 0.0), steps=20)
    >>> poise.record(poise.TorqueController(walk, ramp=0.0), poise.MujocoPlant(walk.start), walk.seconds)
    """

    weights = WEIGHTS

    def __init__(
        self,
        robot: Robot,
        speed: tuple[float, float, float] = (0.3, 0.0, 0.0),
        steps: int = 20,
        settings: WalkSettings | None = None,
        start: State | None = None,
    ) -> None:
        self.robot, self.speed, self.steps = robot, speed, steps
        self.settings = numbers = settings or WalkSettings()
        self.start = robot.stance("standing") if start is None else start
        self.timing = Timing(numbers.single, numbers.double)
        feet = {foot.side: self._standing(self.start, foot) for foot in robot.feet}
        self.width = float(np.linalg.norm(feet["left"].point - feet["right"].point))
        self.height = float(self.start.center_of_mass[2] - feet["left"].z) * (1.0 - numbers.lower)
        self.omega = natural_frequency(self.height)
        self.period = 0.002
        self.now = Walking("standing", self.start.time, feet["right"], feet["left"], feet["left"], math.inf)
        self._time = -math.inf
        self._reach = self._reachable()
        self._make()
        self.seconds = 0.5 + numbers.start + (steps + 1) * self.timing.whole + 2.0
        self.xi_error = 0.0

    # -- at every tick ---------------------------------------------------------------------------------------------

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        time = snapshot.time
        if time > self._time:
            self.period = min(max(time - self._time, 1e-4), 0.02) if math.isfinite(self._time) else self.period
            self._time = time
            self._advance(snapshot)
        return self._hierarchy()

    def _advance(self, snapshot: Snapshot) -> None:
        now, time = self.now, snapshot.time
        elapsed = time - now.begin
        if now.kind == "standing" and elapsed >= 0.5 and self.steps > now.steps:
            self._begin_start(time)
        elif elapsed >= now.seconds - 1e-9:
            self._next_phase(snapshot)
        now = self.now
        elapsed = time - now.begin
        c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
        xi = c[:2] + v[:2] / self.omega
        if now.kind == "single":
            self._adapt(snapshot, xi, elapsed)
            now = self.now
        wanted, z = self._reference(elapsed)
        self.xi_error = float(np.linalg.norm(xi - wanted))
        z = z + (1.0 + self.settings.feedback / self.omega) * (xi - wanted)
        z = polygon.project(self._support(), z)
        self._center.lead(np.append(c[:2], 0.0), 0.0, np.append(self.omega**2 * (c[:2] - z), 0.0))
        self._rise.lead(np.array([0.0, 0.0, self._ground() + self.height]))
        yaw = 0.5 * (now.support.yaw + (self._swing.value[3] if now.kind == "single" else now.last.yaw))
        turn = _about_z(yaw)
        self._chest.lead(turn @ self._upright)
        self._pelvis.lead(turn @ self._level)
        if now.kind == "single":
            self._swing.advance(now.goal, elapsed, now.seconds - elapsed, self.period)
            self._lead_foot(now.goal.side)

    # -- phases ----------------------------------------------------------------------------------------------------

    def _begin_start(self, time: float) -> None:
        """The weight shifts to the foot that stands first: the right one, unless the walk goes or turns right."""
        now = self.now
        first = "left" if self.speed[1] < 0.0 or (self.speed[1] == 0.0 and self.speed[2] < 0.0) else "right"
        stays, goes = (now.support, now.last) if now.support.side == first else (now.last, now.support)
        middle = 0.5 * (stays.point + goes.point)
        self.now = Walking("starting", time, stays, goes, goes, self.settings.start, now.steps)
        end = before_single(stays.point, self._after_single(stays), self.timing.single, self.omega)
        rate = self.omega * (end - stays.point)
        acceleration = self.omega * rate
        self._shift = Quintic((middle, np.zeros(2), np.zeros(2)), (end, rate, acceleration), self.settings.start)

    def _next_phase(self, snapshot: Snapshot) -> None:
        now, time = self.now, snapshot.time
        if now.kind == "starting":
            self._begin_single(time, now.support, now.last)
        elif now.kind == "single":
            landed = self._standing(snapshot, self.robot.foot(now.goal.side), now.goal.yaw)
            steps = now.steps + 1
            kind: Kind = "stopping" if steps > self.steps else "double"
            self.now = Walking(kind, time, landed, now.support, landed, self.timing.double, steps)
            if kind == "stopping":
                self.now.seconds = 0.3
        elif now.kind == "double":
            self._begin_single(time, now.support, now.last)
        elif now.kind == "stopping":
            self.now = replace(now, kind="standing", begin=time, seconds=math.inf)

    def _begin_single(self, time: float, support: Footstep, swinging: Footstep) -> None:
        goal = self._wanted(support, self.now.steps + 1)
        self.now = Walking("single", time, support, swinging, goal, self.timing.single, self.now.steps)
        self._swing = Swing.of(swinging, goal, self.settings.lift * self._leg)

    def _wanted(self, support: Footstep, number: int) -> Footstep:
        """Footstep of that number, as the speed wants it; the last one ends side by side."""
        gait = self._gait()
        return gait.beside(support) if number > self.steps else gait.after(support)

    def _gait(self) -> Gait:
        return Gait.of_speed(self.speed, self.timing.whole, self.width)

    # -- the plan --------------------------------------------------------------------------------------------------

    def _after_single(self, support: Footstep, goal: Footstep | None = None) -> Array:
        """Where ξ is to be at the end of a single support: it follows from the next footsteps."""
        number = self.now.steps + 1
        feet = [support]
        for i in range(3):
            feet.append(goal if i == 0 and goal is not None else self._wanted(feet[-1], number + i))
        if number > self.steps:  # the last step: to rest in the middle
            middle = 0.5 * (feet[0].point + feet[1].point)
            end, _ = before_double(feet[0].point, middle, middle, 0.3, 0.3, self.omega)
            return end
        points = [foot.point for foot in feet]
        offset = steady_offset(points[3] - points[2], points[2] - points[1], self.timing, self.omega)
        return where_to_begin(points[:3], points[2] + offset, self.timing, self.omega)

    def _reference(self, elapsed: float) -> tuple[Array, Array]:
        """ξ and z of the plan."""
        now, omega = self.now, self.omega
        if now.kind == "standing":
            middle = 0.5 * (now.support.point + now.last.point)
            return middle, middle
        if now.kind == "starting":
            xi, rate, _ = self._shift.sample(min(elapsed, now.seconds))
            return np.asarray(xi), np.asarray(xi - rate / omega)
        left = max(now.seconds - elapsed, 0.0)
        if now.kind == "single":
            end = self._after_single(now.support, now.goal)
            return before_single(now.support.point, end, left, omega), now.support.point
        if now.kind == "stopping":
            middle = 0.5 * (now.support.point + now.last.point)
            return before_double(now.last.point, middle, middle, left, now.seconds, omega)
        end = before_single(now.support.point, self._after_single(now.support), self.timing.single, omega)
        return before_double(now.last.point, now.support.point, end, left, now.seconds, omega)

    def _adapt(self, snapshot: Snapshot, xi: Array, elapsed: float) -> None:
        """Moves the next footstep, and its time, to where the body will need it."""
        now = self.now
        left = now.seconds - elapsed
        if left < 0.08 or elapsed < 0.02:
            return
        support = now.support
        R = support.rotation[:2, :2]
        planned = self._wanted(support, now.steps + 1)
        # What the ankle can do comes first: up to six tenths of the sole.
        wanted = before_single(support.point, self._after_single(support, planned), left, self.omega)
        push = R.T @ (xi - wanted) * (1.0 + self.settings.feedback / self.omega)
        sole = self.robot.foot(support.side).sole
        half = 0.6 * 0.5 * np.array([sole.x_max - sole.x_min, sole.y_max - sole.y_min])
        pressure = np.clip(push, -half, half)
        step = R.T @ (planned.point - support.point)
        end = R.T @ (self._after_single(support, planned) - support.point)
        offset = end - step
        nominal = self.timing.single - elapsed
        limits = Reachable(
            self._reach.forward,
            self._reach.narrowest,
            self._reach.widest,
            max(0.08, 0.25 - elapsed),
            max(nominal + 0.15, 0.1),
        )
        outward = 1.0 if planned.side == "left" else -1.0
        place, time = adapted(
            R.T @ (xi - support.point), pressure, step, offset, max(nominal, 0.02), self.omega, limits, outward
        )
        old = R.T @ (now.goal.point - support.point)
        share = min(self.period / 0.02, 1.0)
        place = old + share * (place - old)
        at = support.point + R @ place
        now.goal = replace(planned, x=float(at[0]), y=float(at[1]), z=support.z)
        now.seconds += share * (elapsed + time - now.seconds)

    # -- bodies ----------------------------------------------------------------------------------------------------

    def _standing(self, where: State | Snapshot, foot: Foot, yaw: float | None = None) -> Footstep:
        """A foot as it stands now."""
        pose = where.pose(foot)
        x, y, z = (float(value) for value in pose.act(foot.sole.center))
        turn = math.atan2(pose.rotation[1, 0], pose.rotation[0, 0])
        if yaw is not None:
            turn = yaw + math.remainder(turn - yaw, math.tau)
        return Footstep(foot.side, x, y, turn, z)

    def _support(self) -> Array:
        """Where the pressure may be: the soles that stand, a little smaller."""
        now = self.now
        standing = [now.support] if now.kind == "single" else [now.support, now.last]
        corners = [
            step.position[:2]
            + (self.robot.foot(step.side).corners - self.robot.foot(step.side).sole.center)[:, :2]
            * 0.95
            @ step.rotation[:2, :2].T
            for step in standing
        ]
        return polygon.convex_hull(np.vstack(corners))

    def _ground(self) -> float:
        now = self.now
        return now.support.z if now.kind == "single" else 0.5 * (now.support.z + now.last.z)

    def _lead_foot(self, side: Side) -> None:
        swing, foot = self._swing, self.robot.foot(side)
        R = _about_z(swing.value[3])
        arm = -R @ foot.sole.center
        rate = np.array([*swing.rate[:3], 0.0, 0.0, swing.rate[3]])
        acceleration = np.array([*swing.acceleration[:3], 0.0, 0.0, swing.acceleration[3]])
        rate[:3] += np.cross(rate[3:], arm)
        self._feet[side].lead(pinocchio.SE3(R, swing.value[:3] + arm), rate, acceleration)

    def _reachable(self) -> Reachable:
        from poise.behaviors.upright import leg_length

        self._leg = leg_length(self.robot)
        soles = self.robot.feet[0].sole
        narrow = (soles.y_max - soles.y_min) + 0.03 * self._leg / 0.7
        return Reachable(0.65 * self._leg, max(narrow, 0.6 * self.width), 0.7 * self._leg + self.width, 0.25, 1.0)

    # -- tasks -----------------------------------------------------------------------------------------------------

    def _hierarchy(self) -> Hierarchy:
        now = self.now
        return self.hierarchies[other(now.support.side) if now.kind == "single" else "both"]

    def _make(self) -> None:
        robot, start, numbers = self.robot, self.start, self.settings
        trunk, base = robot.chest or robot.frame("root_joint"), robot.frame("root_joint")
        stance = robot.stance("standing")
        self._upright, self._level = stance.pose(trunk).rotation, stance.pose(base).rotation
        self._center = tasks.Led(np.zeros(3))
        self._rise = tasks.Led(np.array(start.center_of_mass))
        self._chest, self._pelvis = tasks.Led(self._upright), tasks.Led(self._level)
        self._feet = {foot.side: tasks.Led(start.pose(foot)) for foot in robot.feet}
        self._swing = Swing(np.zeros(4), 0.0)
        contacts = {foot.side: Contact(foot, friction=numbers.friction) for foot in robot.feet}
        lever = robot.mass * self.height
        balance = [
            tasks.CenterOfMass(self._center, axes="xy", reference=tasks.Given(), name="balance"),
            tasks.CenterOfMass(self._rise, axes="z", reference=tasks.Decay(numbers.height), name="height"),
        ]
        style = [
            tasks.Orientation(trunk, self._chest, reference=tasks.Decay(numbers.trunk), name="chest"),
            tasks.Orientation(base, self._pelvis, reference=tasks.Decay(numbers.trunk), weight=0.3, name="pelvis"),
        ]
        # Beside the trunk, not below it: a trunk that must be upright to the last bit throws the arms about.
        posture = [
            tasks.Posture(start, weight=numbers.ease, reference=tasks.Decay(numbers.posture)),
            tasks.AngularMomentum(weight=numbers.spin * lever**-2, reference=tasks.Decay(8.0)),
        ]
        always = [constraints.JointRange(robot)]

        def hierarchy(*swinging: Side) -> Hierarchy:
            held = [constraints.RigidContact(contacts[side]) for side in contacts if side not in swinging]
            swing = [
                tasks.Pose(robot.foot(side), self._feet[side], reference=tasks.Decay(numbers.swing), name="swing")
                for side in swinging
            ]
            return Hierarchy(
                always=always,
                levels=[
                    Level("contact", held),
                    Level("balance", balance),
                    Level("swing", swing),
                    Level("style", [*style, *posture]),
                ],
            )

        self.hierarchies = {"both": hierarchy(), "left": hierarchy("left"), "right": hierarchy("right")}


def _about_z(yaw: float) -> Array:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
