"""Base of the scene Walk: a walk whose style is checked, and repaired if the robot would fall with it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from poise import runs
from poise.behaviors import Walk, WalkSettings
from poise.plans import SINUSOID_PARAMETERS, STYLES, FeasibilityCheck, Style, StyleRepair
from poise.robots import Robot
from poise.studio.scene_base import FeasibleRange, MotionControls, PushableScene
from poise.studio.style_checker import (
    CHECKED_PARAMETERS,
    RangeReply,
    SimulatedRanges,
    StyleChecker,
    StyleReply,
    shared_simulated_check,
)

#: Status of a simulated repair.
SEARCHING = (
    "In simulation the robot falls with this style: searching for the smallest change of steps and timing that keeps "
    "it balanced, for up to a minute."
)


class _Request(NamedTuple):
    """The last request to the style checker.

    Attributes:
        number: number of the request; 0: none yet.
        announce: whether to report that there was nothing to repair.
        com_reference: reference of the center of mass, which the check depends on.
    """

    number: int = 0
    announce: bool = False
    com_reference: str = ""


class BalancedWalkScene(PushableScene):
    """A walk with a style that can be changed while the robot walks.

    A requested style is checked by the pendulum, in a worker process, before the robot walks with it; the walk that the
    controls describe is also simulated. With `keep_balance`, a style that fails one of the two is repaired.

    Attributes:
        style: the style as requested; the walk has it as soon as it is checked.
        walk: the behavior; None before the first reset.
        walking: whether the robot walks at the speed of its style.
        keep_balance: whether styles are repaired.
        com_reference: reference of the center of mass, on which the check depends.
    """

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.style = STYLES["neutral"]
        self.walk: Walk | None = None
        self.walking = False
        self.keep_balance = True
        self.com_reference: str = WalkSettings.com_reference
        self.parameters = MotionControls(runs.Walk, robot, exclude=("style", "steps", "speed"))
        self.checker = StyleChecker()
        self.simulated_check = shared_simulated_check()
        self._simulated: FeasibilityCheck | None = None  # result for the current walk, if it is known
        self._simulated_style: Style | None = None  # style of that walk
        self._simulated_ranges: SimulatedRanges | None = None  # of the current walk, if it passes the check
        self._passed_style: Style | None = None  # the last style that passed the simulated check
        self._repaired_motion: runs.Walk | None = None  # walk for which a simulated repair was requested
        self._last_slider = ""  # parameter of the style that was changed last
        self._messages: list[str] = []  # for the user, returned by `before_frame`
        self._request = _Request()
        self._ranges: dict[str, tuple[float, float]] = {}  # by the pendulum
        self._estimated: set[str] = set()  # parameters whose range is that of the last request
        self._repair_line = ""
        self._stick = (0.0, 0.0, 0.0)
        self._balance_line = ""
        self._last_check = -math.inf

    def keep_repaired_style(self, style: Style) -> None:
        """Set `style` to a repaired style, and show it on the controls."""
        raise NotImplementedError

    def forget_check(self) -> None:
        """Discard the results of checks that are not valid after a reset."""
        if self._request.com_reference != self.com_reference:  # else the last check is still valid
            self._request, self._ranges = _Request(com_reference=self.com_reference), {}
        self._cancel_simulated_repair()

    def update_balance_line(self, now: float) -> None:
        """Update the sentence about the balance of the walk, five times per second: a check takes several periods."""
        assert self.walk is not None
        if now - self._last_check > 0.2 or now < self._last_check:
            check = self.walk.check_feasibility()
            margin = f"{100.0 * check.margin:+.1f} cm"
            self._balance_line = (
                f"balanced, ZMP margin {margin} in the next two steps" if check.feasible else f"{check} ({margin})"
            )
            self._update_simulated_check()
            if self._simulated is not None:
                self._balance_line = f"simulated: {self._simulated}"
            self._last_check = now

    def _apply_style(self, style: Style) -> None:
        """Request a style. The walk gets what needs no check at once, and the rest at once or after the check."""
        if self.walk is not None:
            checked = {name: getattr(self.walk.style, name) for name in CHECKED_PARAMETERS}
            needs_check = any(getattr(style, name) != value for name, value in checked.items())
            self._set_walk_style(style.replace(**checked))
            self.style = style
            if needs_check and not (self._check_style(repair=self.keep_balance) and self.keep_balance):
                self._set_walk_style(style)
        self.style = style

    def _set_walk_style(self, style: Style) -> None:
        """Change the style of the walk; one that differs only by its name does not begin a transition."""
        if self.walk is not None and replace(style, name=self.walk.style.name) != self.walk.style:
            self.walk.style = style

    def _check_style(self, repair: bool, announce: bool = False) -> bool:
        """Request a check of the style in the worker process; return whether there is one."""
        assert self.walk is not None
        number = self.checker.request(self.style, self.walk.body, self.com_reference, repair)
        self._request, self._estimated = _Request(number, announce, self.com_reference), set()
        self._repair_line = ""
        return number > 0

    def _repair(self) -> str:
        """Start a repair: by the pendulum, or by simulation if the walk passes the pendulum's check but falls."""
        if self.walk is None:
            return ""
        if self._simulated is not None and not self._simulated.feasible and self.walk.check_feasibility().feasible:
            self._start_simulated_repair(self._motion())
            return SEARCHING
        self._check_style(repair=True, announce=True)
        return ""

    def _motion(self) -> runs.Walk:
        """Return the walk that the controls describe: style, world, and the speed if a stick sets it."""
        assert self.walk is not None
        stick_speed = self.walk.speed if any(self._stick) else None
        speed = None if stick_speed is None else tuple(round(part, 2) for part in stick_speed)
        settings = {"com_reference": self.com_reference}
        motion: runs.Walk = self.parameters.build_motion(style=self.style, speed=speed, settings=settings)
        return motion

    def _update_simulated_check(self) -> None:
        """Update the simulated check of the current walk, and what follows from it: repair, and marks of sliders."""
        motion = self._motion()
        if self._repaired_motion not in (None, motion):  # the controls were changed meanwhile
            self._cancel_simulated_repair()
        if self._simulated_ranges is not None and self._simulated_ranges.motion != motion:
            self._simulated_ranges = None
        self._simulated, self._simulated_style = None, self.style
        if self.walking or any(self._stick) or self.style != STYLES["neutral"]:
            self._simulated = self.simulated_check.update(motion)
        repair = self.simulated_check.repair(motion)
        if repair is not None:
            self._apply_simulated_repair(repair)
        elif self._simulated is not None and not any(self._stick):
            if self._simulated.feasible:
                self._passed_style = self.style
                self._update_simulated_ranges(motion)
            elif self.keep_balance and self._repaired_motion is None:
                self._start_simulated_repair(motion)
                if self._passed_style is not None:
                    self._set_walk_style(self._passed_style)

    def _start_simulated_repair(self, motion: runs.Walk) -> None:
        self._repaired_motion, self._repair_line = motion, SEARCHING
        self.simulated_check.request_repair(motion)

    def _cancel_simulated_repair(self) -> None:
        self._repaired_motion = None
        self.simulated_check.cancel_repair()
        if self._repair_line == SEARCHING:
            self._repair_line = ""

    def _apply_simulated_repair(self, repair: StyleRepair) -> None:
        assert self.walk is not None
        if repair.changes:
            self.keep_repaired_style(repair.style)
            self._set_walk_style(self.style)
            self.walk.speed = repair.speed
            self._repair_line = f"Changed to keep balance: {', '.join(repair.changes)}."
            self._messages.append(f"repaired: {', '.join(repair.changes)}")
        elif repair.check.feasible:
            self._repair_line = "nothing to repair"
        else:
            self._repair_line = "No change of steps and timing keeps the robot balanced with this style."
            self._messages.append(self._repair_line)

    def _update_simulated_ranges(self, motion: runs.Walk) -> None:
        """Continue the search for the ranges of sliders by simulation, the slider that was changed last first."""
        if self._simulated_ranges is None:
            expected = set(CHECKED_PARAMETERS) - (
                set() if self.com_reference == "sinusoid" else set(SINUSOID_PARAMETERS)
            )
            if not expected <= self._estimated:  # the estimates of this style have not arrived yet
                return
            names = sorted(expected, key=lambda name: (name != self._last_slider, CHECKED_PARAMETERS.index(name)))
            self._simulated_ranges = SimulatedRanges(motion, {name: self._ranges[f"style.{name}"] for name in names})
        self._simulated_ranges.update(self.simulated_check.check)

    def before_frame(self) -> list[str]:
        """Apply the results of checks that have arrived; return what was repaired, as text."""
        if self.walk is None:
            return []
        if not self._request.number and self.checker.available:
            self._check_style(repair=self.keep_balance)  # also for the ranges of the sliders
        messages, self._messages = self._messages, []
        for reply in self.checker.replies():
            if isinstance(reply, RangeReply):
                if reply.number == self._request.number:
                    self._ranges[f"style.{reply.parameter}"] = (reply.low, reply.high)
                    self._estimated.add(reply.parameter)
            else:
                messages += self._apply_reply(reply)
        if not self.checker.running:  # the worker has failed: walk without a check
            self._set_walk_style(self.style)
        return messages

    def _apply_reply(self, reply: StyleReply) -> list[str]:
        """Walk with a checked style; if no newer request is waiting, also show it on the sliders."""
        assert self.walk is not None
        latest = reply.number == self._request.number
        if reply.feasible and self.keep_balance:
            self._set_walk_style(reply.style)
        if not latest:
            return []
        if not reply.changes:
            self._repair_line = "" if reply.feasible else "No change of steps and timing makes this style feasible."
            return ["nothing to repair" if reply.feasible else self._repair_line] if self._request.announce else []
        self._repair_line = f"Changed to keep balance: {', '.join(reply.changes)}."
        self.keep_repaired_style(reply.style)
        self._set_walk_style(self.style)
        return [f"repaired: {', '.join(reply.changes)}"]

    def feasible_ranges(self) -> dict[str, FeasibleRange]:
        """Return the ranges by the pendulum as a first answer, and by simulation as soon as they are known."""
        ranges = {name: FeasibleRange(low, high, False) for name, (low, high) in self._ranges.items()}
        if self._simulated_style != self.style:  # the last update was before a change of the style
            return ranges
        if self._simulated is not None and not self._simulated.feasible:
            values = {name: float(getattr(self.style, name.removeprefix("style."))) for name in ranges}
            return {name: FeasibleRange(value, value, True) for name, value in values.items()}
        if self._simulated_ranges is not None:
            simulated = self._simulated_ranges.ranges.items()
            ranges.update({f"style.{name}": FeasibleRange(low, high, True) for name, (low, high) in simulated})
        return ranges
