"""Behavior `Walk`: state machine of gait phases that follows a footstep plan in a style."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from poise.behaviors.gait_tasks import TerrainEstimator, TickClock
from poise.behaviors.recovery import Recovery
from poise.behaviors.walk_tasks import StyleTransition, WalkSettings, WalkTasks
from poise.errors import PoiseError
from poise.hierarchy import Behavior, Hierarchy
from poise.plans import (
    STOPPING_TIME,
    BodyDimensions,
    CenterReference,
    CenterState,
    DcmReference,
    FeasibilityCheck,
    FootRoll,
    Footstep,
    FootstepPlan,
    GaitPhase,
    HeightOscillation,
    PhaseKind,
    SinusoidReference,
    Speed,
    StepAdapter,
    Style,
    SwingTrajectory,
    capture_phase,
    check_feasibility,
    repair_style,
    sinusoid_defaults,
)
from poise.robots import GRAVITY, Robot, Side, State, check_robot, other_side, side_sign
from poise.state import Snapshot

#: Fraction of a swing before which a contact force does not end it: the foot may only have scraped the ground.
LEAST_TOUCHDOWN_SHARE = 0.6
#: Pitch (rad) below which a foot counts as landing flat.
LEAST_LANDING_PITCH = 0.03
#: Seconds of waiting for a contact after the planned touchdown.
TOUCHDOWN_WAIT = 0.1
#: A standing robot makes a capture step if the divergent component of motion (DCM) ξ is nearer to the edge of the
#: support region than this fraction of the sole width: the ankles alone would need all of it.
CAPTURE_MARGIN = 0.15


class Walk(Behavior):
    """Walk in a style for a number of steps, ending with the feet side by side; capture steps after pushes.

    A hierarchy as a function of the state, for a controller; `poise.runs.Walk` is the complete run.

    Style, speed and number of steps may change during the walk: changes of `style` and `speed` are blended in within
    `settings.style_transition_time` seconds, and `stop()` ends the walk after the next step.

    With the sinusoid reference, a style that does not choose its `sway` is repaired (`poise.plans.sinusoid_defaults`).

    Args:
        robot: robot with two feet.
        style: `Style`, or the name of one.
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the step lengths of the style.
        steps: number of steps; infinite: until `stop()`; zero: the robot stands.
        settings: see `WalkSettings`.
        start: initial state, standing at rest on both feet; None: the standing stance of the robot.
        ground: places a footstep on known ground, e.g. onto stairs; None: the slope of the ground is estimated.

    Attributes:
        default_changes: changes of the style for the sinusoid reference, one line of text per parameter.

    >>> walk = Walk(robot, style="proud", steps=20)
    >>> poise.record(poise.TorqueController(walk), poise.MujocoPlant(walk.start), walk.seconds)
    """

    #: The plan is smooth and determines the contacts: the controller neither blends hierarchies nor drops contacts.
    ramp, lost_after = 0.0, math.inf
    essential_level = "swing"

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
        if len(check_robot(robot, type(self).__name__).feet) != 2:
            raise PoiseError(f"{robot.name} has {len(robot.feet)} feet; walking needs two")
        self.robot, self.steps = robot, steps
        self.settings = settings or WalkSettings()
        self.start: State = robot.stance("standing") if start is None else start
        self.task_set = WalkTasks(robot, self.start, self.settings)
        self.weights = self.task_set.weights
        self.hierarchies = tuple(self.task_set.hierarchies.values())
        left, right = (Footstep.of(self.start, robot.foot(side), 0.0) for side in ("left", "right"))
        self.body = BodyDimensions.of(self.start)
        if self.settings.com_reference == "sinusoid":
            self.body = self.body.with_standing_width()
        self.style_transition = StyleTransition(
            robot, self.body, self.task_set, style, speed, self.settings.style_transition_time
        )
        self.default_changes: tuple[str, ...] = ()
        if self.settings.com_reference == "sinusoid":
            defaults = sinusoid_defaults(self.style, self.body, self.speed)
            self.default_changes = defaults.changes
            if defaults.changes:
                self.style_transition = StyleTransition(
                    robot,
                    self.body,
                    self.task_set,
                    defaults.style,
                    defaults.speed,
                    self.settings.style_transition_time,
                )
        self.terrain = TerrainEstimator(self.start, self.settings.com_height_tolerance * self.task_set.height)
        self.task_set.tilt = self.terrain.tilt
        self._ground = ground
        # The sinusoid reference does not depend on footsteps: adapting them would only follow its lag.
        self._adapts_steps = bool(self.settings.adapt_steps) and self.settings.com_reference == "dcm"
        self._phase = GaitPhase("standing", self.start.time, math.inf, right, left, right)
        self._clock = TickClock(0.002)
        self._phase_adapter: tuple[GaitPhase, StepAdapter] | None = None
        self._swing = SwingTrajectory.of(left, left, 0.0)
        self._has_lifted = False
        self._oscillation = HeightOscillation()
        self._roll: FootRoll | None = None
        self._landing: FootRoll | None = None
        self._center_state = CenterState(complex(*self.start.center_of_mass[:2]), 0j)
        self.dcm_error = 0j
        self.recovery = Recovery(self.body)

    # -- commands --------------------------------------------------------------------------------------------------

    @property
    def style(self) -> Style:
        """Requested style; an assigned style is blended in within `settings.style_transition_time` seconds."""
        return self.style_transition.target_style

    @style.setter
    def style(self, style: Style | str) -> None:
        if self.settings.com_reference == "sinusoid" and not isinstance(style, str):
            style = sinusoid_defaults(style, self.body, self.speed).style
        self.style_transition.set_style(style)

    @property
    def speed(self) -> Speed | None:
        """Requested speed, or None for that of the style; an assigned speed is blended in as a style is."""
        return self.style_transition.speed

    @speed.setter
    def speed(self, speed: Speed | None) -> None:
        self.style_transition.set_speed(speed)

    def stop(self) -> None:
        """End the walk with the feet side by side after the current step; a standing robot remains standing."""
        if self._phase.kind == "standing":
            self.steps = self._phase.steps
            return
        capture_feet = self._phase.kind == "single"  # finish the current step; the next one ends beside the other foot
        self.steps = min(self.steps, self._phase.steps + (2 if capture_feet else 1))

    def go(self, steps: float = math.inf) -> None:
        """Walk a number of further steps."""
        self.steps = self._phase.steps + steps

    # -- state -----------------------------------------------------------------------------------------------------

    def phase(self, time: float = 0.0) -> GaitPhase:
        """Return the current phase."""
        return self._phase

    @property
    def footstep_plan(self) -> FootstepPlan:
        """Current footstep plan; in a recovery the weight passes to the next foot at once."""
        return FootstepPlan(
            self.recovery.gait(self.style_transition.gait), self.steps, self._ground, self.terrain.slope
        )

    @property
    def center_reference(self) -> CenterReference:
        """Current reference law of the center of mass."""
        return self._center_reference(self.style_transition.style)

    def _center_reference(self, style: Style) -> CenterReference:
        if self.settings.com_reference == "sinusoid":
            return SinusoidReference(style.sway * self.body.leg_length, style.sway_phase)
        return DcmReference(self.settings.dcm_gain)

    def check_feasibility(self, snapshot: Snapshot | None = None) -> FeasibilityCheck:
        """Check whether the next two steps keep balance with the requested style; see `poise.plans.feasibility`.

        Args:
            snapshot: current state; None: the state at the last tick.
        """
        center, time = (
            (self._center_state, self._clock.time) if snapshot is None else (_center_state_of(snapshot), snapshot.time)
        )
        phase = self._phase
        begin = phase.begin if math.isinf(time) else time
        plan = replace(self.footstep_plan, gait=self.style_transition.target_gait)
        if phase.kind == "standing":  # assume that the walk starts now
            support_foot, swing_foot = phase.first_support_feet(self.requested_speed)
            phase = phase.starting_phase(begin, self.settings.weight_shift_time, support_foot, swing_foot)
        adapt = StepAdapter(self.body, phase, self.settings.dcm_gain).adapt if self._adapts_steps else None
        return check_feasibility(plan, phase, begin, center, self._center_reference(self.style), self.body, adapt)

    def repair(self) -> tuple[str, ...]:
        """Apply the smallest change of style or speed that makes the walk feasible; return the changes as text."""
        style_repair = repair_style(self.style, self.body, self.settings.com_reference, self.speed)
        if style_repair.changes:
            self.style, self.speed = style_repair.style, style_repair.speed
        return style_repair.changes

    @property
    def requested_speed(self) -> Speed:
        """Requested speed, or that of the style if none is given (m/s, m/s, rad/s)."""
        return self.style_transition.requested_speed

    @property
    def seconds(self) -> float:  # type: ignore[override]  # its steps may change
        """Duration of the walk (s), with 1.5 s of standing at its end."""
        steps = self.steps if math.isfinite(self.steps) else 0
        return (
            self.settings.standing_time
            + self.settings.weight_shift_time
            + steps * self.style_transition.gait.timing.step
            + STOPPING_TIME
            + 1.5
        )

    # -- at every tick ---------------------------------------------------------------------------------------------

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        if self._clock.tick(snapshot.time):
            self._advance(snapshot)
        phase = self._phase
        name = other_side(phase.support.side) if phase.kind == "single" else "both"
        return self.task_set.hierarchies[f"recover {name}" if self.recovery.active else name]

    def _advance(self, snapshot: Snapshot) -> None:
        time, recovery = snapshot.time, self.recovery
        self.style_transition.advance(self._clock.period)
        c = snapshot.center_of_mass
        self._center_state = center = _center_state_of(snapshot)
        plan = self.footstep_plan
        omega = plan.gait.omega
        xi = center.place + center.velocity / omega
        self._switch_phase(snapshot, plan, xi)
        phase = self._phase
        adapter = self._step_adapter(phase)
        if phase.kind == "single" and self._adapts_steps:
            phase = self._phase = adapter.adapt(
                plan,
                phase,
                time,
                xi,
                self._clock.period,
                self._swing,
                recovery.landing_delay,
            )
        command = self.center_reference.command(plan, phase, time, center)
        self.dcm_error = xi - command.dcm
        z = adapter.soles.project(command.zmp)
        if self._adapts_steps:
            recovery.update(phase, time, abs(command.zmp - z))
        task_set = self.task_set
        # A robot that stands, or has made its last step, has the height of its stance, from which it can step again.
        target_height = plan.gait.com_height if self.steps > phase.steps else self.body.com_height
        above, above_rate, above_acceleration = self._oscillate(plan, phase, time)
        # Neither a drop nor the oscillation is an error of the height.
        lifted = above - recovery.drop.value
        measured_height = self.terrain.center_height if recovery.active else float(c[2]) - lifted
        height, rising, faster = self.terrain.update_center_height(
            phase, target_height, measured_height, self._clock.period
        )
        # A body that is accelerated upwards falls faster away from its ZMP: ω² = (g + z̈) / h.
        quicker = (1.0 + above_acceleration / GRAVITY) / (1.0 + above / plan.gait.com_height)
        z = adapter.soles.project(center.place - (center.place - command.zmp) / quicker)
        pull = recovery.drop.load * quicker * omega**2 * (center.place - z)
        # The error of this task is that of ξ. It has no feedback on it, but recordings show it.
        task_set.center.set(c - (self.dcm_error.real, self.dcm_error.imag, 0.0), 0.0, (pull.real, pull.imag, 0.0))
        floor = min(phase.support.z, phase.goal.z)
        recovery.update_drop(phase, time, height - floor, center, z, omega, self._clock.period)
        drop = recovery.drop
        height += above - drop.value
        rising += above_rate - drop.rate
        faster += above_acceleration - drop.acceleration
        task_set.com_height.set(np.array([0.0, 0.0, height]), (0.0, 0.0, rising), (0.0, 0.0, faster))
        yaw = 0.5 * (phase.support.yaw + (self._swing.yaw[0].real if phase.kind == "single" else phase.other_foot.yaw))
        task_set.set_heading(yaw, self.style_transition.style)
        task_set.swing_arms(self._feet_apart(phase), self.style_transition.style.arm_swing, self._clock.period)
        for foot in phase.stance_feet:
            task_set.recovery.keep_flat(foot.side, foot.yaw, task_set.tilt)
        if phase.kind == "single":
            self._move_foot(snapshot, phase)
        else:
            self._roll_feet(snapshot, phase, plan.gait.heel_rise)

    def _oscillate(self, plan: FootstepPlan, phase: GaitPhase, time: float) -> tuple[float, float, float]:
        """Advance the oscillation of the height; return its displacement (m), rate and acceleration.

        It rests during a recovery.
        """
        amplitude = 0.0 if self.recovery.active else plan.gait.bounce
        self._oscillation = self._oscillation.advance(
            phase, phase.elapsed(time), amplitude, plan.gait.timing, self._clock.period
        )
        above, rate, acceleration = (part.real for part in self._oscillation.point)
        return above, rate, acceleration

    def _feet_apart(self, phase: GaitPhase) -> float:
        """Return the distance of the left foot ahead of the right one (m)."""
        other = self._swing.plane[0] if phase.kind == "single" else phase.other_foot.place
        ahead = ((other - phase.support.place) * phase.support.heading.conjugate()).real
        return side_sign(phase.other_foot.side) * ahead

    def _roll_feet(self, snapshot: Snapshot, phase: GaitPhase, rise: float) -> None:
        """Lower the toes of the front foot, and let the heel of the rear foot rise (rad) as soon as the front one bears
        weight.
        """
        elapsed, period, task_set = phase.elapsed(snapshot.time), self._clock.period, self.task_set
        front, rear = phase.support.side, phase.other_foot.side
        if self._landing is not None:
            pose = snapshot.pose(self.robot.foot(front))
            self._landing = self._landing.land(elapsed, period)
            if self._landing is None:
                task_set.stand_flat(front, pose.copy())
            else:
                task_set.roll_foot(front, self._landing, pose)
        if self._roll is not None:
            relieved = self._touches_ground(snapshot, front)
            self._roll = self._roll.rise(rise, phase.seconds - elapsed, phase.seconds, period, relieved)
            if self._roll.has_begun:
                task_set.roll_foot(rear, self._roll, snapshot.pose(self.robot.foot(rear)))

    def _move_foot(self, snapshot: Snapshot, phase: GaitPhase) -> None:
        """Advance the swing foot; if it meets the ground early, it rests there and does not push into it."""
        elapsed, side = phase.elapsed(snapshot.time), phase.goal.side
        if elapsed > LEAST_TOUCHDOWN_SHARE * phase.seconds and self._touches_down(snapshot, side):
            self._swing = self._swing.rest_at(Footstep.of(snapshot, self.robot.foot(side), phase.goal.yaw))
        else:
            goal = phase.goal.with_place(phase.goal.place, phase.goal.z - self.recovery.landing_depth)
            self._swing = self._swing.advance(goal, elapsed, phase.seconds - elapsed, self._clock.period)
        self.task_set.follow_swing(side, self._swing)

    def _touches_ground(self, snapshot: Snapshot, side: Side) -> bool:
        """Return whether a foot is in contact."""
        return snapshot.state is not None and self.robot.foot(side) in snapshot.state.contacts

    def _touches_down(self, snapshot: Snapshot, side: Side) -> bool:
        """Return whether the swing foot is in contact again, after it was not: an ideal plant reports no lift-off."""
        contact = self._touches_ground(snapshot, side)
        self._has_lifted |= not contact
        return contact and self._has_lifted

    # -- phases ----------------------------------------------------------------------------------------------------

    def _switch_phase(self, snapshot: Snapshot, plan: FootstepPlan, xi: complex) -> None:
        """Enter the next phase if the current one has ended, or a capture step is needed."""
        phase, time, settings = self._phase, snapshot.time, self.settings
        timing = plan.gait.timing
        if phase.kind in ("standing", "stopping") and self._needs_capture_step(phase, xi):
            self._make_capture_step(time, plan, xi)
        elif phase.kind == "standing":
            if phase.elapsed(time) >= settings.standing_time and self.steps > phase.steps:
                support_foot, swing_foot = phase.first_support_feet(self.requested_speed)
                self._phase = phase.starting_phase(time, settings.weight_shift_time, support_foot, swing_foot)
        elif phase.kind == "single":
            if self._swing_ended(snapshot, phase, time):
                last = phase.steps + 1 >= self.steps
                self.terrain.add_contact(snapshot.pose(self.robot.foot(phase.support.side)).rotation[:, 2])
                self.task_set.tilt = self.terrain.tilt
                kind: PhaseKind = "stopping" if last else "double"
                double = STOPPING_TIME if last else timing.double_support
                if not last and plan.gait.heel_rise > 0.0 and not self.recovery.active:
                    self._roll = FootRoll(snapshot.pose(self.robot.foot(phase.support.side)).copy())
                if self._swing.pitch[0].real < -LEAST_LANDING_PITCH:
                    foot = self.robot.foot(phase.goal.side)
                    self._landing = FootRoll.landing(foot, snapshot.pose(foot), self.terrain.tilt[:, 2], double)
                landed = self._stand_on(snapshot, phase.goal)
                self._phase = phase.touchdown_phase(time, double, landed, kind)
        elif phase.is_over(time):
            if phase.kind == "stopping":
                self._phase = phase.standing_phase(time)
            elif not self.recovery.stays_on_both_feet(
                plan, phase, time, xi, self._capture_margin(phase, xi), settings.dcm_gain
            ):
                self._lift(time, plan, self._stand_on(snapshot, phase.support), timing.single_support)

    def _lift(self, time: float, plan: FootstepPlan, support: Footstep, seconds: float) -> None:
        goal = plan.footstep(support, self._phase.steps + 1)
        self._phase = replace(self._phase.single_support_phase(time, seconds, goal), support=support)
        self._swing = SwingTrajectory.of(self._phase.other_foot, goal, plan.gait.step_height)
        self._has_lifted = False
        if self._roll is not None:
            foot = self.robot.foot(goal.side)
            pose, twist, rate = self._roll.motion(foot, foot.sole.center)
            point = pose.act(foot.sole.center), twist[:3], rate[:3]
            self._swing = self._swing.leaving(point, self._roll.pitch, 0.5 * foot.sole.size[0])
            self._roll = None
        self._landing = None
        if self._phase.steps + 1 < self.steps and not self.recovery.active:  # the last step ends flat
            half = 0.5 * self.robot.foot(goal.side).sole.size[0]
            self._swing = replace(self._swing, landing_pitch=-plan.gait.heel_strike, half_length=half)

    def _stand_on(self, snapshot: Snapshot, planned: Footstep) -> Footstep:
        """Return the measured placement of a foot, at the planned height if it is not in contact yet."""
        foot = self.robot.foot(planned.side)
        footstep = Footstep.of(snapshot, foot, planned.yaw)
        if self._landing is not None:
            footstep = replace(footstep, z=float(self._landing.flat.act(foot.sole.center)[2]))
        self.task_set.stand_flat(foot.side, snapshot.pose(foot).copy())
        return footstep if self._touches_ground(snapshot, foot.side) else footstep.with_place(footstep.place, planned.z)

    def _swing_ended(self, snapshot: Snapshot, phase: GaitPhase, time: float) -> bool:
        """Return whether a swing is over: by time, or by contact (or a limited wait for it), as the settings choose.

        Without a reported lift-off contacts tell nothing, and the time decides.
        """
        elapsed, contact = phase.elapsed(time), self._touches_down(snapshot, phase.goal.side)
        if not self._has_lifted or (self.settings.touchdown == "time" and not self.recovery.active):
            return phase.is_over(time)
        return (contact and elapsed > LEAST_TOUCHDOWN_SHARE * phase.seconds) or elapsed > phase.seconds + TOUCHDOWN_WAIT

    def _needs_capture_step(self, phase: GaitPhase, xi: complex) -> bool:
        return self._capture_margin(phase, xi) < 0.0

    def _capture_margin(self, phase: GaitPhase, xi: complex) -> float:
        """Return the distance of ξ from where a capture step is needed (m)."""
        return self._step_adapter(phase).soles.margin(xi) - CAPTURE_MARGIN * self.body.sole_size[1]

    def _make_capture_step(self, time: float, plan: FootstepPlan, xi: complex) -> None:
        """Start a step without a shift of weight, with the foot whose step catches ξ best."""
        self._roll = self._landing = None
        if self._adapts_steps:
            self.recovery.begin(time)
        # A second step brings the feet side by side.
        self.steps = max(self.steps, self._phase.steps + (2 if self._adapts_steps else 1))
        self._phase = capture_phase(self.footstep_plan, self.body, self._phase, time, xi, self._adapts_steps)
        self._swing = SwingTrajectory.of(self._phase.other_foot, self._phase.goal, plan.gait.step_height)
        self._has_lifted = False

    # -- parts -----------------------------------------------------------------------------------------------------

    def _step_adapter(self, phase: GaitPhase) -> StepAdapter:
        """Return the step adapter of a phase, which is created once per phase."""
        cached = self._phase_adapter
        if cached is None or cached[0].kind != phase.kind or cached[0].begin != phase.begin:
            self._phase_adapter = cached = (phase, StepAdapter(self.body, phase, self.settings.dcm_gain))
        return cached[1]


def _center_state_of(snapshot: Snapshot) -> CenterState:
    """Return the horizontal state of the center of mass."""
    c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
    return CenterState(complex(c[0], c[1]), complex(v[0], v[1]))
