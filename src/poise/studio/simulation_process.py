"""The simulation in a process of its own, and the client that starts it and talks to it."""

from __future__ import annotations

import gc
import multiprocessing
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from poise.errors import PoiseError
from poise.extras import load
from poise.robots import load_robot
from poise.studio.scene_runner import Pacer, Stage
from poise.studio.scenes import scene
from poise.studio.telemetry import Sketch, explained

#: Pictures a second, and explanations, which cost more.
PICTURES, EXPLANATIONS = 30.0, 2.0
#: While nothing moves, commands are looked for this often (s).
IDLE = 0.01
#: Explaining may take this share of the time.
EXPLAINING = 0.05


class Begin(NamedTuple):
    """What a simulation begins with.

    Attributes:
        scene, robot: names.
        values: of controls, which the user had chosen before; none: the scene's own.
        limb: whose torques are shown.
    """

    scene: str
    robot: str
    values: dict[str, Any]
    limb: str = "left leg"


def main(wire: Connection, begin: Begin) -> None:
    """Runs until the wire is cut."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    try:
        Simulation(wire, begin).run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except PoiseError as error:
        _tell(wire, "failed", str(error))
    except Exception as error:
        traceback.print_exc()
        _tell(wire, "crashed", f"{type(error).__name__}: {error}")


def _tell(wire: Connection, kind: str, text: str) -> None:
    with suppress(OSError):
        wire.send((kind, text))


class Simulation:
    """A stage on a wire. Whoever is at the other end asks for each picture; one that is not asked for is never sent."""

    def __init__(self, wire: Connection, begin: Begin) -> None:
        self._wire = wire
        load("scipy", "optimize")  # explanations need it; now, and not in the middle of a motion
        robot = load_robot(begin.robot)
        self._scene = scene(begin.scene)(robot)
        for name, value in begin.values.items():
            self._tried(name, value)
        self._stage, self._sketch = Stage(self._scene), Sketch(robot)
        self._pacer = Pacer(self._stage.period)
        self._playing, self._wanted, self._limb = True, False, begin.limb
        self._number = 0
        self._next_picture = self._next_explanation = 0.0
        self._explained: tuple[list[str], list[str]] = ([], [])
        wire.send(("ready", self._about()))

    def _about(self) -> dict[str, Any]:
        return {
            "controls": [control.as_json() for control in self._scene.controls()],
            "limbs": list(self._sketch.limbs),
            "figures": list(self._stage.acts),
            "gizmos": self._scene.gizmos(),
            "ground": self._scene.ground,
            "look": self._scene.look,
            "things": [thing.box for thing in self._scene.things],
        }

    def run(self) -> None:
        gc.collect()
        gc.freeze()
        while True:
            self._hear()
            if self._playing:
                for _ in range(self._pacer.due()):
                    self._stage.tick()
            else:
                self._pacer.rest()
            self._show()
            self._wire.poll(min(self._pacer.wait, IDLE) if self._playing else IDLE)

    # -- what is heard ---------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        while self._wire.poll():
            name, value = self._wire.recv()
            try:
                self._do(name, value)
            except PoiseError as error:
                self._wire.send(("message", "error", str(error)))

    def _do(self, name: str, value: Any) -> None:
        stage = self._stage
        match name:
            case "next":
                self._wanted = True
            case "alive":
                stage.deadman.hear()
            case "stick":
                stage.deadman.hold(value)
            case "hands":
                stage.touch(value)
            case "play":
                self._playing = bool(value)
                self._pacer.rest()
            case "pace":
                self._pacer.pace = min(max(float(value), 0.05), 1.0) if isinstance(value, (int, float)) else 1.0
            case "reset":
                self._reset()
            case "limb":
                self._limb = str(value)
            case "record":
                stage.record(Path(value))
            case "cut":
                self._wire.send(("recorded", stage.cut()))
            case "drag":
                self._scene.drag(*value)
            case "control":
                self._control(*value)
            case "end":
                stage.cut()
                raise EOFError

    def _control(self, name: str, value: Any) -> None:
        said = self._scene.do(name, value)
        if said:
            self._wire.send(("message", "info", said))
        if self._scene.stale:
            self._reset()

    def _tried(self, name: str, value: Any) -> None:
        """A value from before; one that does not fit any more is left."""
        with suppress(PoiseError):
            self._scene.do(name, value)

    def _reset(self) -> None:
        if self._stage.tape is not None:
            self._wire.send(("recorded", self._stage.cut()))
        self._scene.stale = False
        self._stage.reset()
        self._pacer.period = self._stage.period  # another controller may have another one
        self._pacer.rest()
        self._wire.send(("ready", self._about()))

    # -- what is shown ---------------------------------------------------------------------------------------------

    def _show(self) -> None:
        now = time.monotonic()
        if not self._wanted or now < self._next_picture:
            return
        self._wanted, self._next_picture = False, now + 1.0 / PICTURES
        self._number += 1
        stage = self._stage
        if now >= self._next_explanation:
            self._explained = explained(stage.steps.get(next(iter(stage.acts))))
            self._next_explanation = now + max(1.0 / EXPLANATIONS, (time.monotonic() - now) / EXPLAINING)
        limits, lines = self._explained
        numbers = {
            "number": self._number,
            **self._sketch.numbers(stage, self._limb),
            "factor": round(self._pacer.factor, 3) if self._playing else 0.0,
            "playing": self._playing,
            "pace": self._pacer.pace,
            "fell": stage.fell,
            "values": self._scene.values(),
            "limits": limits,
            "explain": lines,
            "words": self._scene.words(),
            "guide": self._scene.guide(),
            "recording": stage.recorded,
            "deadman": stage.deadman.stopped,
            "events": list(stage.events),
        }
        self._wire.send(("picture", numbers, self._sketch.scenery(stage)))


# -- Link ------------------------------------------------------------------------------------------------------------


#: Who crashes so often within so many seconds is not started again.
CRASHES, WITHIN = 3, 30.0
#: Seconds that a simulation is given to end by itself.
ENDING = 2.0

Heard = Callable[..., None]
Outbox = queue.SimpleQueue[tuple[str, Any] | None]


class Link:
    """A wire to the process of the simulation.

    Args:
        heard: called from a thread of its own with each thing that the simulation says: a word and what belongs to it.
            When the process has gone, whatever the reason, it hears "gone".
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._outbox: Outbox = queue.SimpleQueue()

    def start(self, begin: Begin) -> None:
        """Begins a simulation; one that runs is ended before."""
        self.stop()
        ours, theirs = self._context.Pipe()
        self._process = self._context.Process(target=main, args=(theirs, begin), daemon=True, name="poise simulation")
        self._process.start()
        theirs.close()
        outbox: Outbox = queue.SimpleQueue()
        self._outbox = outbox
        threading.Thread(target=self._write, args=(ours, outbox), daemon=True).start()
        threading.Thread(target=self._read, args=(ours, outbox, self._process), daemon=True).start()

    def send(self, name: str, value: Any = None) -> None:
        """Tells the simulation something; returns at once."""
        self._outbox.put((name, value))

    def stop(self) -> None:
        """Ends the simulation; what it records is closed properly."""
        process, self._process = self._process, None
        if process is None:
            return
        self._outbox.put(("end", None))
        self._outbox.put(None)
        process.join(ENDING)
        if process.is_alive():
            process.kill()
            process.join(ENDING)

    @property
    def number(self) -> int | None:
        """Of the process, as the system counts."""
        return None if self._process is None else self._process.pid

    def _write(self, wire: Connection, outbox: Outbox) -> None:
        while (entry := outbox.get()) is not None:
            try:
                wire.send(entry)
            except (OSError, ValueError):
                return

    def _read(self, wire: Connection, outbox: Outbox, process: Any) -> None:
        outbox.put(("next", None))
        try:
            while True:
                entry = wire.recv()
                if entry[0] == "picture":
                    outbox.put(("next", None))  # only now may the next one be sent: the latest wins
                if process is self._process:  # else another one has begun
                    self._heard(*entry)
        except (EOFError, OSError):
            pass
        outbox.put(None)
        if process is self._process:  # nobody asked it to end
            process.join(ENDING)
            self._heard("gone", process.exitcode)
