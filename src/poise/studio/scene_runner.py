"""Runner of a scene in real time: pacing, dead-man switch, control periods and recording."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from poise.control import ControlStep
from poise.errors import PoiseError
from poise.parsing import is_number
from poise.plants import control_step
from poise.recording import Recorder, WriteError, controller_facts
from poise.studio.operator_input import OperatorInput
from poise.studio.scene_base import ControlledPlant, Scene

#: Largest lag that is caught up (s); more is dropped, since the robot would visibly jump.
MAX_LAG = 0.1
#: Time constant of the average of the real-time factor (s).
FACTOR_WINDOW = 1.0


class RealTimePacer:
    """Number of control periods to simulate, from the elapsed real time.

    Args:
        period: control period (s).

    Attributes:
        time_scale: desired simulated time per real time: 1, or less in slow motion.
        real_time_factor: achieved simulated time per real time.
    """

    def __init__(self, period: float) -> None:
        self.period, self.time_scale, self.real_time_factor = period, 1.0, 1.0
        self._last_time = time.monotonic()
        self._lag = 0.0

    def periods_due(self) -> int:
        """Return the number of periods to simulate since the last call."""
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
        """Discard the elapsed time; call it repeatedly while the simulation is paused."""
        self._last_time, self._lag, self.real_time_factor = time.monotonic(), 0.0, self.time_scale

    @property
    def time_to_next(self) -> float:
        """Real time until the next period is due (s)."""
        return max((self.period - self._lag) / self.time_scale - (time.monotonic() - self._last_time), 0.0)


# -- Dead-man switch -------------------------------------------------------------------------------------------------


#: A stick without a message for this time (s) counts as released.
STICK_TIMEOUT = 0.5
#: A page without a message for this time (s) counts as gone; pages in the background send one per second.
PAGE_TIMEOUT = 2.5

StickPosition = tuple[float, float, float]
CENTERED: StickPosition = (0.0, 0.0, 0.0)


class DeadManSwitch:
    """Dead-man switch: releases sticks and keys when the page that holds them stops sending messages.

    Attributes:
        timed_out: whether the last input was released by a timeout rather than by the user.
    """

    def __init__(self) -> None:
        self._stick, self._stick_time = CENTERED, -math.inf
        self._input_active, self._input_time = False, -math.inf
        self._alive_time = time.monotonic()
        self.timed_out = False

    def set_stick(self, value: object) -> None:
        """Set the position of the stick; a value that is not three numbers counts as released."""
        parts = value if isinstance(value, (list, tuple)) and len(value) == 3 else CENTERED
        is_valid = all(is_number(part) for part in parts)
        forward, left, turn = (min(max(float(part), -1.0), 1.0) for part in (parts if is_valid else CENTERED))
        self._stick, self._stick_time, self.timed_out = (forward, left, turn), time.monotonic(), False
        self.keep_alive()

    def set_input(self, operator_input: OperatorInput) -> None:
        """Note that a page sent its inputs, held or released."""
        self._input_active, self._input_time, self.timed_out = not operator_input.is_idle, time.monotonic(), False
        self.keep_alive()

    @property
    def input_timed_out(self) -> bool:
        """Whether held inputs have timed out; true once per timeout."""
        if not self._input_active or time.monotonic() - self._input_time <= STICK_TIMEOUT:
            return False
        self._input_active, self.timed_out = False, True
        return True

    def keep_alive(self) -> None:
        """Note that a page is connected."""
        self._alive_time = time.monotonic()

    @property
    def stick(self) -> StickPosition:
        """Position of the stick: forward, left, turn; zeros after a timeout."""
        if self._stick != CENTERED and time.monotonic() - self._stick_time > STICK_TIMEOUT:
            self._stick, self.timed_out = CENTERED, True
        return self._stick

    @property
    def is_unattended(self) -> bool:
        """Whether no page has sent a message for `PAGE_TIMEOUT`."""
        return time.monotonic() - self._alive_time > PAGE_TIMEOUT


# -- SceneRunner -----------------------------------------------------------------------------------------------------


#: Number of events that are kept.
MAX_EVENTS = 50
#: Simulated time over which late control steps are counted (s), as long as the plots.
TIMING_WINDOW = 10.0


def late_steps(milliseconds: Iterable[float], period: float) -> dict[str, Any]:
    """Return how many control steps took longer than the period (s), for pages.

    Returns:
        "late" and "steps", numbers of steps; "worst_ms", the longest one (ms); "period_ms", the period (ms).
    """
    period_ms = round(1e3 * period, 6)
    durations = [each for each in milliseconds if math.isfinite(each)]
    late = sum(each > period_ms for each in durations)
    return {
        "late": late,
        "steps": len(durations),
        "worst_ms": round(max(durations, default=0.0), 2),
        "period_ms": period_ms,
    }


class SceneRunner:
    """Steps the controlled plants of a scene, applies inputs, and records.

    Args:
        scene: scene to run.

    Attributes:
        scene: scene that runs.
        deadman: dead-man switch of the inputs.
        controlled_plants: plants and controllers by name.
        steps: last control step of each plant by name.
        fall_reason: description of a fall; "" if the robot has not fallen.
        events: fallbacks of the controller and falls, latest last.
        recorder: active recorder; None if nothing is recorded.
        durations: computation times of the last control steps (ms), see `TIMING_WINDOW`.
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
        """Start again, with the current values of the controls."""
        self.controlled_plants: dict[str, ControlledPlant] = self.scene.controlled_plants()
        for controlled in self.controlled_plants.values():
            controlled.controller.prepare(controlled.plant.start or controlled.plant.state())
        self.steps: dict[str, ControlStep] = {}
        self.fall_reason = self._fallback = ""
        self.durations: deque[float] = deque(maxlen=max(1, round(TIMING_WINDOW / self.period)))
        self.deadman.keep_alive()  # messages could not be received while the plants were built

    @property
    def primary(self) -> ControlledPlant:
        """The first plant, the robot; there may be a ghost as a second one."""
        return next(iter(self.controlled_plants.values()))

    @property
    def period(self) -> float:
        return float(self.primary.controller.period)

    @property
    def time(self) -> float:
        return float(self.primary.plant.state().time)

    # -- one period ------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance all plants by one control period."""
        self._apply_input()
        for name, controlled in self.controlled_plants.items():
            self.steps[name] = control_step(controlled.controller, controlled.plant)
        first = self.steps[next(iter(self.controlled_plants))]
        self.durations.append(first.milliseconds)
        if self.recorder is not None:
            self.recorder.note_fall(self.primary.plant, first.state.time)
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
        """Apply the keys, gamepad and sticks of a page.

        This happens at once and not in `step`, so that each of two messages between two periods takes effect.
        """
        operator_input = OperatorInput.from_page(message)
        self.deadman.set_input(operator_input)
        self.scene.set_operator_input(operator_input)

    def _log_events(self, step: ControlStep) -> None:
        """Log new fallbacks of the controller, and a fall."""
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
        """Start recording to a file, which is written while the robot moves."""
        provenance = {
            **controller_facts(self.primary.controller, self.primary.plant),
            "scene": self.scene.name,
            **self.scene.provenance(),
        }
        self.recorder = Recorder(self.scene.robot, path, provenance)

    def stop_recording(self) -> str:
        """Complete the recording; return its file name, or "" if there was none. Raise PoiseError if writing fails."""
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
        """State of the recording for pages: "active", "seconds" and "file"."""
        recorder = self.recorder
        if recorder is None or recorder.path is None:
            return {"active": False, "seconds": 0.0, "file": ""}
        return {"active": True, "seconds": recorder.samples * self.period, "file": recorder.path.name}
