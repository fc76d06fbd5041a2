"""Run a scene in real time: pacing, dead-man switch, control periods and recording."""

from __future__ import annotations

import math
import time
from collections import deque
from pathlib import Path
from typing import Any

from poise.control import ControlStep
from poise.errors import PoiseError
from poise.parsing import is_number
from poise.plants import control_step
from poise.recording import Recorder, WriteError, controller_facts
from poise.studio.operator_input import OperatorInput
from poise.studio.scene_base import ControlledPlant, Scene

#: What is late by more than this (s) is given up: a robot that hurries to catch up would be seen to jump.
MAX_LAG = 0.1
#: The real-time factor is that of about the last second.
FACTOR_WINDOW = 1.0


class RealTimePacer:
    """Tells how many periods to simulate now.

    Args:
        period: of the controller (s).

    Attributes:
        time_scale: simulated seconds per second that are wanted: 1, or less in slow motion.
        real_time_factor: simulated seconds per second that are reached.
    """

    def __init__(self, period: float) -> None:
        self.period, self.time_scale, self.real_time_factor = period, 1.0, 1.0
        self._last_time = time.monotonic()
        self._lag = 0.0

    def periods_due(self) -> int:
        """Periods to simulate, since it was asked last."""
        now = time.monotonic()
        elapsed, self._last_time = now - self._last_time, now
        self._lag = min(self._lag + self.time_scale * elapsed, MAX_LAG)
        count = int(self._lag / self.period)
        self._lag -= count * self.period
        if elapsed > 0.0:
            share = min(elapsed / FACTOR_WINDOW, 1.0)
            self.real_time_factor += share * (count * self.period / elapsed - self.real_time_factor)
        return count

    def pause(self) -> None:
        """Nothing is simulated for now."""
        self._last_time, self._lag, self.real_time_factor = time.monotonic(), 0.0, self.time_scale

    @property
    def time_to_next(self) -> float:
        """Seconds until the next period is due, in real time."""
        return max((self.period - self._lag) / self.time_scale - (time.monotonic() - self._last_time), 0.0)


# -- Dead-man --------------------------------------------------------------------------------------------------------


#: A stick of which nothing was heard for so long (s) has been let go of.
STICK_TIMEOUT = 0.5
#: A page of which nothing was heard for so long (s) has gone; pages in the background speak once a second.
PAGE_TIMEOUT = 2.5

StickPosition = tuple[float, float, float]
CENTERED: StickPosition = (0.0, 0.0, 0.0)


class DeadManSwitch:
    """What a stick asks for, as long as somebody holds it, and whether anybody is there.

    Attributes:
        timed_out: whether silence, and not its holder, stopped the stick.
    """

    def __init__(self) -> None:
        self._stick, self._stick_time = CENTERED, -math.inf
        self._input_active, self._input_time = False, -math.inf
        self._alive_time = time.monotonic()
        self.timed_out = False

    def set_stick(self, value: object) -> None:
        """The stick is held so; what is no three numbers is a stick that is let go."""
        parts = value if isinstance(value, (list, tuple)) and len(value) == 3 else CENTERED
        is_valid = all(is_number(part) for part in parts)
        forward, left, turn = (min(max(float(part), -1.0), 1.0) for part in (parts if is_valid else CENTERED))
        self._stick, self._stick_time, self.timed_out = (forward, left, turn), time.monotonic(), False
        self.keep_alive()

    def set_input(self, operator_input: OperatorInput) -> None:
        """Somebody holds something, or nothing any more."""
        self._input_active, self._input_time, self.timed_out = not operator_input.is_idle, time.monotonic(), False
        self.keep_alive()

    @property
    def input_timed_out(self) -> bool:
        """Whether hands that held something fell silent; that is told once."""
        if not self._input_active or time.monotonic() - self._input_time <= STICK_TIMEOUT:
            return False
        self._input_active, self.timed_out = False, True
        return True

    def keep_alive(self) -> None:
        """Somebody is there."""
        self._alive_time = time.monotonic()

    @property
    def stick(self) -> StickPosition:
        """What counts now."""
        if self._stick != CENTERED and time.monotonic() - self._stick_time > STICK_TIMEOUT:
            self._stick, self.timed_out = CENTERED, True
        return self._stick

    @property
    def is_unattended(self) -> bool:
        """Whether nobody watches."""
        return time.monotonic() - self._alive_time > PAGE_TIMEOUT


# -- SceneRunner: a scene, one period after the other ---------------------------------------------------------------


#: How many events are remembered.
MAX_EVENTS = 50


class SceneRunner:
    """The controlled plants of a scene, the last step of each, and the recorder.

    Attributes:
        steps: the last of each plant.
        fall_reason: how the robot fell; "" if it stands.
        events: what happened that was not meant to, the latest last.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.deadman = DeadManSwitch()
        self.events: deque[str] = deque(maxlen=MAX_EVENTS)
        self.recorder: Recorder | None = None
        self._applied_stick = CENTERED
        self._was_unattended = False
        self.reset()

    def reset(self) -> None:
        """Begins anew, with the controls as they are."""
        self.controlled_plants: dict[str, ControlledPlant] = self.scene.controlled_plants()
        self.steps: dict[str, ControlStep] = {}
        self.fall_reason = self._fallback = ""
        self.deadman.keep_alive()  # what was said while it was made could not be heard

    @property
    def primary(self) -> ControlledPlant:
        """The robot, beside which there may be a ghost."""
        return next(iter(self.controlled_plants.values()))

    @property
    def period(self) -> float:
        return float(self.primary.controller.period)

    @property
    def time(self) -> float:
        return float(self.primary.plant.state().time)

    # -- one period ------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One period of all plants."""
        self._apply_input()
        for name, controlled in self.controlled_plants.items():
            self.steps[name] = control_step(controlled.controller, controlled.plant)
        first = self.steps[next(iter(self.controlled_plants))]
        if self.recorder is not None:
            self.recorder(first)
        self._log_events(first)
        self.scene.after_step(self.steps)

    def _apply_input(self) -> None:
        stick = self.deadman.stick
        if stick != self._applied_stick:
            self._applied_stick = stick
            self.scene.set_stick(*stick)
        if self.deadman.input_timed_out:
            self.scene.set_operator_input(None)
        unattended = self.deadman.is_unattended
        if unattended and not self._was_unattended:
            self.scene.on_unattended()
        self._was_unattended = unattended

    def set_input(self, message: object) -> None:
        """Keys, pads and sticks of a page are held so. At once: of two that come between two periods both count."""
        operator_input = OperatorInput.from_page(message)
        self.deadman.set_input(operator_input)
        self.scene.set_operator_input(operator_input)

    def _log_events(self, step: ControlStep) -> None:
        """Notes what was not meant to happen."""
        fallback = step.command.fallback
        if fallback and fallback != self._fallback:
            self.events.append(f"{step.state.time:.2f} s: {fallback}")
        self._fallback = fallback
        fall = self.primary.plant.fall
        if fall and not self.fall_reason:
            self.fall_reason = fall
            self.events.append(fall)

    # -- recording -------------------------------------------------------------------------------------------------

    def start_recording(self, path: Path) -> None:
        """From now on everything goes to this file, along with the motion."""
        provenance = {
            **controller_facts(self.primary.controller, self.primary.plant),
            "scene": self.scene.name,
            **self.scene.provenance(),
        }
        self.recorder = Recorder(self.scene.robot, path, provenance)

    def stop_recording(self) -> str:
        """Ends the recording; its name, or "" if there was none."""
        recorder, self.recorder = self.recorder, None
        if recorder is None or recorder.path is None:
            return ""
        try:
            recorder.finish()
        except WriteError as error:
            raise PoiseError(str(error)) from None
        return recorder.path.name

    @property
    def recording_status(self) -> dict[str, Any]:
        """What a page is told of the recording."""
        recorder = self.recorder
        if recorder is None or recorder.path is None:
            return {"active": False, "seconds": 0.0, "file": ""}
        return {"active": True, "seconds": recorder.samples * self.period, "file": recorder.path.name}
