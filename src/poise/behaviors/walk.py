"""Walk: the state machine of a walk, from style and footsteps to hierarchies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from poise.behaviors.gait_tasks import Footing, TickClock
from poise.behaviors.walk_tasks import Levels, Manner, WalkSettings
from poise.errors import PoiseError
from poise.hierarchy import Behavior, Hierarchy
from poise.plans import (
    STOP,
    BodyDimensions,
    Divergent,
    Footstep,
    Kind,
    Motion,
    Phase,
    Reference,
    Route,
    Sinusoid,
    Speed,
    Stepping,
    Style,
    Swing,
    Verdict,
    repaired,
    swinging,
    verdict,
)
from poise.robots import Robot, Side, State, other_side
from poise.state import Snapshot

#: A swing that is ended by a force is so far at least; before, a foot may only scrape.
FELT = 0.6
#: A foot that finds no ground is waited for so long, s.
PATIENCE = 0.1
#: Who stands takes a step when ξ is nearer to the edge of the support than this share of the sole's width: the ankles
#: alone would need all of it.
EDGE = 0.15
#: A capture step lasts so long on one foot, s, for a leg of 0.8 m.
CAPTURE = 0.4


class Walk(Behavior):
    """Walks with a style, for a number of steps, and stops side by side; catches itself when pushed while standing.

    Everything may be changed while it walks: `style` and `speed` are taken over within `settings.change` seconds, and
    `stop()` ends the walk after the next step.

    Args:
        robot: with two feet.
        style: how; a `Style`, or the name of one.
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the style's own step lengths.
        steps: after how many it stops; infinite: when told to; zero: it stands.
        settings: see `WalkSettings`.
        start: standing at rest on both feet; None: the robot's standing stance.
        ground: puts a footstep on ground that is known, e.g. onto stairs; None: the ground goes on as it is.

    >>> walk = Walk(robot, style="proud", steps=20)
    >>> poise.record(poise.TorqueController(walk), poise.MujocoPlant(walk.start), walk.seconds)
    """

    #: Its plan is smooth and its contacts come and go as planned: the controller neither blends nor doubts.
    ramp, lost_after = 0.0, math.inf

    def __init__(
        self,
        robot: Robot,
        style: Style | str = "neutral",
        speed: Speed | None = None,
        steps: float = 20,
        settings: WalkSettings | None = None,
        start: State | None = None,
        ground: Callable[[Footstep], Footstep] | None = None,
    ) -> None:
        if len(robot.feet) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.feet)} feet; a walk takes two")
        self.robot, self.steps = robot, steps
        self.settings = settings or WalkSettings()
        self.start: State = robot.stance("standing") if start is None else start
        self.levels = Levels(robot, self.start, self.settings)
        self.weights = self.levels.weights
        self.hierarchies = tuple(self.levels.hierarchies.values())
        left, right = (Footstep.of(self.start, robot.foot(side), 0.0) for side in ("left", "right"))
        self.body = BodyDimensions.of(self.start)
        self.manner = Manner(robot, self.body, self.levels, style, speed, self.settings.change)
        self.footing = Footing(self.start)
        self.levels.tilt = self.footing.tilt
        self._ground = ground
        # A sinusoid knows nothing of footsteps: to move them for its sake would chase its lag.
        self._adapts = bool(self.settings.adapt) and self.settings.center == "divergent"
        self._phase = Phase("standing", self.start.time, math.inf, right, left, right)
        self._clock = TickClock(0.002)
        self._made: tuple[Phase, Stepping] | None = None
        self._swing = Swing.of(left, left, 0.0)
        self._now = Motion(complex(*self.start.center_of_mass[:2]), 0j)
        self.error = 0j

    # -- what may be changed at any time ---------------------------------------------------------------------------

    @property
    def style(self) -> Style:
        """How it walks; assigned, it is taken over within `settings.change` seconds."""
        return self.manner.wanted

    @style.setter
    def style(self, style: Style | str) -> None:
        self.manner.want(style)

    @property
    def speed(self) -> Speed | None:
        """At which it walks, unless that is the style's own; assigned, it is taken over likewise."""
        return self.manner.speed

    @speed.setter
    def speed(self, speed: Speed | None) -> None:
        self.manner.hurry(speed)

    def stop(self) -> None:
        """Ends side by side after the step that is being made; who stands goes on standing."""
        if self._phase.kind == "standing":
            self.steps = self._phase.steps
            return
        swinging = self._phase.kind == "single"  # that step is under way; the one after it comes to stand beside
        self.steps = min(self.steps, self._phase.steps + (2 if swinging else 1))

    def go(self, steps: float = math.inf) -> None:
        """So many steps more."""
        self.steps = self._phase.steps + steps

    # -- what is the case ------------------------------------------------------------------------------------------

    def phase(self, time: float = 0.0) -> Phase:
        """The phase it is in."""
        return self._phase

    @property
    def route(self) -> Route:
        """What is to be walked from now on."""
        return Route(self.manner.pace, self.steps, self._ground, self.footing.slope)

    @property
    def reference(self) -> Reference:
        """How the centre of mass is led."""
        return self._reference(self.manner.style)

    def _reference(self, style: Style) -> Reference:
        if self.settings.center == "sinusoid":
            return Sinusoid(style.sway * self.body.leg, style.sway_phase)
        return Divergent(self.settings.feedback)

    def verdict(self, snapshot: Snapshot | None = None) -> Verdict:
        """Whether it will keep its balance in its next two steps, and why not; see `poise.plans.feasibility`.

        Args:
            snapshot: where the body is; None: where it was at the last tick.
        """
        now, time = (self._now, self._clock.time) if snapshot is None else (_motion(snapshot), snapshot.time)
        phase = self._phase
        begin = phase.begin if math.isinf(time) else time
        route = replace(self.route, pace=self.manner.coming)
        if phase.kind == "standing":  # as if it went on at once
            stays, goes = phase.first_support(self.own_speed)
            phase = phase.starting(begin, self.settings.start, stays, goes)
        adapt = Stepping(self.body, phase, self.settings.feedback).adapted if self._adapts else None
        return verdict(route, phase, begin, now, self._reference(self.style), self.body, adapt)

    def repair(self) -> tuple[str, ...]:
        """Takes over the smallest change of its style's balance, or a lower speed, that makes it walk; in words."""
        better = repaired(self.style, self.body, self.settings.center, self.speed)
        if better.changes:
            self.style, self.speed = better.style, better.speed
        return better.changes

    @property
    def own_speed(self) -> Speed:
        """The speed that is asked for: given, or that of the style (m/s, m/s, rad/s)."""
        return self.manner.asked

    @property
    def seconds(self) -> float:  # type: ignore[override]  # its steps may change
        """How long it takes, to the end of which it stands for a second."""
        steps = self.steps if math.isfinite(self.steps) else 0
        return self.settings.wait + self.settings.start + steps * self.manner.pace.timing.whole + STOP + 1.5

    # -- at every tick ---------------------------------------------------------------------------------------------

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        if self._clock.tick(snapshot.time):
            self._advance(snapshot)
        phase = self._phase
        return self.levels.hierarchies[other_side(phase.support.side) if phase.kind == "single" else "both"]

    def _advance(self, snapshot: Snapshot) -> None:
        time = snapshot.time
        self.manner.advance(self._clock.period)
        c = snapshot.center_of_mass
        self._now = now = _motion(snapshot)
        route = self.route
        omega = route.pace.omega
        xi = now.place + now.velocity / omega
        self._switch(snapshot, route, xi)
        phase = self._phase
        stepping = self._stepping(phase)
        if phase.kind == "single" and self._adapts:
            phase = self._phase = stepping.adapted(route, phase, time, xi, self._clock.period)
        wish = self.reference.wish(route, phase, time, now)
        self.error = xi - wish.xi
        z = stepping.soles.inside(wish.pressure)
        pull = omega**2 * (now.place - z)
        levels = self.levels
        # The error of the task is that of ξ: nobody acts on it, and whoever records sees it.
        levels.center.lead(c - (self.error.real, self.error.imag, 0.0), 0.0, (pull.real, pull.imag, 0.0))
        tall = route.pace.height if self.steps > 0 else self.body.height  # who is to stand need not rise
        height, rising, faster = self.footing.carry(phase, tall, float(c[2]), self._clock.period)
        levels.rise.lead(np.array([0.0, 0.0, height]), (0.0, 0.0, rising), (0.0, 0.0, faster))
        yaw = 0.5 * (phase.support.yaw + (self._swing.turn[0].real if phase.kind == "single" else phase.last.yaw))
        levels.turn_trunk(yaw, self.manner.style)
        if phase.kind == "single":
            self._move_foot(snapshot, phase)

    def _move_foot(self, snapshot: Snapshot, phase: Phase) -> None:
        """The swinging foot goes on; one that meets the ground early rests there, and does not push into it."""
        elapsed, side = phase.elapsed(snapshot.time), phase.goal.side
        if elapsed > FELT * phase.seconds and self._feels(snapshot, side):
            self._swing = self._swing.resting(Footstep.of(snapshot, self.robot.foot(side), phase.goal.yaw))
        else:
            self._swing = self._swing.after(phase.goal, elapsed, phase.seconds - elapsed, self._clock.period)
        self.levels.lead_foot(side, self._swing)

    def _feels(self, snapshot: Snapshot, side: Side) -> bool:
        """Whether a foot touches something."""
        return snapshot.state is not None and self.robot.foot(side) in snapshot.state.contacts

    # -- phases ----------------------------------------------------------------------------------------------------

    def _switch(self, snapshot: Snapshot, route: Route, xi: complex) -> None:
        """The next phase, when it is time for it."""
        phase, time, numbers = self._phase, snapshot.time, self.settings
        timing = route.pace.timing
        if phase.kind in ("standing", "stopping") and self._must_step(phase, xi):
            self._capture(time, route, xi)
        elif phase.kind == "standing":
            if phase.elapsed(time) >= numbers.wait and self.steps > phase.steps:
                stays, goes = phase.first_support(self.own_speed)
                self._phase = phase.starting(time, numbers.start, stays, goes)
        elif phase.kind == "single":
            if self._touches(snapshot, phase, time):
                landed = self._stood(snapshot, phase.goal)
                last = phase.steps + 1 >= self.steps
                self.footing.stood(snapshot.pose(self.robot.foot(phase.support.side)).rotation[:, 2])
                self.levels.tilt = self.footing.tilt
                kind: Kind = "stopping" if last else "double"
                self._phase = phase.landed(time, STOP if last else timing.double, landed, kind)
        elif phase.over(time):
            if phase.kind == "stopping":
                self._phase = phase.rest(time)
            else:
                self._lift(time, route, self._stood(snapshot, phase.support), timing.single)

    def _lift(self, time: float, route: Route, support: Footstep, seconds: float) -> None:
        goal = route.footstep(support, self._phase.steps + 1)
        self._phase = replace(self._phase.single(time, seconds, goal), support=support)
        self._swing = Swing.of(self._phase.last, goal, route.pace.lift)

    def _stood(self, snapshot: Snapshot, planned: Footstep) -> Footstep:
        """Where a foot stands; one that is not felt to stand yet will do so on the ground that was planned."""
        foot = self.robot.foot(planned.side)
        found = Footstep.of(snapshot, foot, planned.yaw)
        self.levels.places[foot.side].lead(snapshot.pose(foot).copy())
        return found if self._feels(snapshot, foot.side) else found.moved(found.place, planned.z)

    def _touches(self, snapshot: Snapshot, phase: Phase, time: float) -> bool:
        """Whether a swing is over: by its time, or by what is felt; a foot that then finds no ground is waited for."""
        elapsed, felt = phase.elapsed(time), self._feels(snapshot, phase.goal.side)
        if self.settings.contact == "time":
            return phase.over(time)
        return (felt and elapsed > FELT * phase.seconds) or elapsed > phase.seconds + PATIENCE

    def _must_step(self, phase: Phase, xi: complex) -> bool:
        return self._stepping(phase).soles.margin(xi) < EDGE * self.body.sole[1]

    def _capture(self, time: float, route: Route, xi: complex) -> None:
        """A step without a shift of weight: the foot that is further from ξ catches the body."""
        stays, _ = swinging(self._phase, xi)
        self.steps = max(self.steps, self._phase.steps + 1)
        seconds = CAPTURE * math.sqrt(self.body.leg / 0.8)
        self._lift(time, route, stays, seconds)

    # -- parts -----------------------------------------------------------------------------------------------------

    def _stepping(self, phase: Phase) -> Stepping:
        """What the feet of a phase allow, made once for it."""
        made = self._made
        if made is None or made[0].kind != phase.kind or made[0].begin != phase.begin:
            self._made = made = (phase, Stepping(self.body, phase, self.settings.feedback))
        return made[1]


def _motion(snapshot: Snapshot) -> Motion:
    """Of the centre of mass, seen from above."""
    c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
    return Motion(complex(c[0], c[1]), complex(v[0], v[1]))
