"""Run a scene in real time: pacing, dead-man switch, control periods and recording."""

from __future__ import annotations

import math
import time
from collections import deque
from pathlib import Path
from typing import Any

from poise.control import Step
from poise.errors import PoiseError
from poise.parsing import is_number
from poise.plants import stepped
from poise.recording import Recorder, UnwrittenError, settings
from poise.studio.operator_input import Hands
from poise.studio.scene_base import Act, Scene

#: What is late by more than this (s) is given up: a robot that hurries to catch up would be seen to jump.
PATIENCE = 0.1
#: The real-time factor is that of about the last second.
MEMORY = 1.0


class Pacer:
    """Tells how many periods to simulate now.

    Args:
        period: of the controller (s).

    Attributes:
        pace: simulated seconds per second that are wanted: 1, or less in slow motion.
        factor: simulated seconds per second that are reached.
    """

    def __init__(self, period: float) -> None:
        self.period, self.pace, self.factor = period, 1.0, 1.0
        self._last = time.monotonic()
        self._owed = 0.0

    def due(self) -> int:
        """Periods to simulate, since it was asked last."""
        now = time.monotonic()
        elapsed, self._last = now - self._last, now
        self._owed = min(self._owed + self.pace * elapsed, PATIENCE)
        count = int(self._owed / self.period)
        self._owed -= count * self.period
        if elapsed > 0.0:
            share = min(elapsed / MEMORY, 1.0)
            self.factor += share * (count * self.period / elapsed - self.factor)
        return count

    def rest(self) -> None:
        """Nothing is simulated for now."""
        self._last, self._owed, self.factor = time.monotonic(), 0.0, self.pace

    @property
    def wait(self) -> float:
        """Seconds until the next period is due, in real time."""
        return max((self.period - self._owed) / self.pace - (time.monotonic() - self._last), 0.0)


# -- Dead-man --------------------------------------------------------------------------------------------------------


#: A stick of which nothing was heard for so long (s) has been let go of.
SILENCE = 0.5
#: A page of which nothing was heard for so long (s) has gone; pages in the background speak once a second.
ABSENCE = 2.5

Held = tuple[float, float, float]
STILL: Held = (0.0, 0.0, 0.0)


class DeadMan:
    """What a stick asks for, as long as somebody holds it, and whether anybody is there.

    Attributes:
        stopped: whether silence, and not its holder, stopped the stick.
    """

    def __init__(self) -> None:
        self._held, self._heard = STILL, -math.inf
        self._busy, self._told = False, -math.inf
        self._alive = time.monotonic()
        self.stopped = False

    def hold(self, value: object) -> None:
        """The stick is held so; what is no three numbers is a stick that is let go."""
        parts = value if isinstance(value, (list, tuple)) and len(value) == 3 else STILL
        good = all(is_number(part) for part in parts)
        forward, left, turn = (min(max(float(part), -1.0), 1.0) for part in (parts if good else STILL))
        self._held, self._heard, self.stopped = (forward, left, turn), time.monotonic(), False
        self.hear()

    def touch(self, hands: Hands) -> None:
        """Somebody holds something, or nothing any more."""
        self._busy, self._told, self.stopped = not hands.rest, time.monotonic(), False
        self.hear()

    @property
    def dropped(self) -> bool:
        """Whether hands that held something fell silent; that is told once."""
        if not self._busy or time.monotonic() - self._told <= SILENCE:
            return False
        self._busy, self.stopped = False, True
        return True

    def hear(self) -> None:
        """Somebody is there."""
        self._alive = time.monotonic()

    @property
    def held(self) -> Held:
        """What counts now."""
        if self._held != STILL and time.monotonic() - self._heard > SILENCE:
            self._held, self.stopped = STILL, True
        return self._held

    @property
    def alone(self) -> bool:
        """Whether nobody watches."""
        return time.monotonic() - self._alive > ABSENCE


# -- Stage: a scene that is played, one period after the other -------------------------------------------------------


#: How many events are remembered.
EVENTS = 50


class Stage:
    """The acts of a scene, the last step of each, and the tape that records them.

    Attributes:
        steps: the last of each act.
        fell: how the robot fell; "" if it stands.
        events: what happened that was not meant to, the latest last.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.deadman = DeadMan()
        self.events: deque[str] = deque(maxlen=EVENTS)
        self.tape: Recorder | None = None
        self._driven = STILL
        self._left = False
        self.reset()

    def reset(self) -> None:
        """Begins anew, with the controls as they are."""
        self.acts: dict[str, Act] = self.scene.acts()
        self.steps: dict[str, Step] = {}
        self.fell = self._fallback = ""
        self.deadman.hear()  # what was said while it was made could not be heard

    @property
    def main(self) -> Act:
        """The robot, beside which there may be a ghost."""
        return next(iter(self.acts.values()))

    @property
    def period(self) -> float:
        return float(self.main.controller.period)

    @property
    def now(self) -> float:
        return float(self.main.plant.state().time)

    # -- one period ------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """One period of all acts."""
        self._drive()
        for name, act in self.acts.items():
            self.steps[name] = stepped(act.controller, act.plant)
        first = self.steps[next(iter(self.acts))]
        if self.tape is not None:
            self.tape(first)
        self._watch(first)
        self.scene.tick(self.steps)

    def _drive(self) -> None:
        held = self.deadman.held
        if held != self._driven:
            self._driven = held
            self.scene.drive(*held)
        if self.deadman.dropped:
            self.scene.take(None)
        alone = self.deadman.alone
        if alone and not self._left:
            self.scene.leave()
        self._left = alone

    def touch(self, told: object) -> None:
        """Keys, pads and sticks of a page are held so. At once: of two that come between two periods both count."""
        hands = Hands.of(told)
        self.deadman.touch(hands)
        self.scene.take(hands)

    def _watch(self, step: Step) -> None:
        """Notes what was not meant to happen."""
        fallback = step.command.fallback
        if fallback and fallback != self._fallback:
            self.events.append(f"{step.state.time:.2f} s: {fallback}")
        self._fallback = fallback
        fell = self.main.plant.fall
        if fell and not self.fell:
            self.fell = fell
            self.events.append(fell)

    # -- recording -------------------------------------------------------------------------------------------------

    def record(self, path: Path) -> None:
        """From now on everything goes to this file, along with the motion."""
        facts = {**settings(self.main.controller, self.main.plant), "scene": self.scene.name, **self.scene.facts()}
        self.tape = Recorder(self.scene.robot, path, facts)

    def cut(self) -> str:
        """Ends the recording; its name, or "" if there was none."""
        tape, self.tape = self.tape, None
        if tape is None or tape.path is None:
            return ""
        try:
            tape.finish()
        except UnwrittenError as error:
            raise PoiseError(str(error)) from None
        return tape.path.name

    @property
    def recorded(self) -> dict[str, Any]:
        """What a page is told of the tape."""
        tape = self.tape
        if tape is None or tape.path is None:
            return {"on": False, "seconds": 0.0, "file": ""}
        return {"on": True, "seconds": tape.samples * self.period, "file": tape.path.name}
