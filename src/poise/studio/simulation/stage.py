"""Stage: a scene that is played, one period after the other."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

from poise.control import Step
from poise.errors import PoiseError
from poise.plants.loop import stepped
from poise.recording.provenance import settings
from poise.recording.recorder import Recorder, UnwrittenError
from poise.studio.hands import Hands
from poise.studio.scenes import Act, Scene
from poise.studio.simulation.deadman import STILL, DeadMan

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
        fell = getattr(self.main.plant, "fall", "")
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
