"""Simulation process of the studio, and the client that starts it and exchanges messages with it."""

from __future__ import annotations

import gc
import math
import multiprocessing
import queue
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from poise.errors import PoiseError
from poise.extras import load
from poise.robots import load_robot
from poise.studio.scene_runner import RealTimePacer, SceneRunner
from poise.studio.scenes import find_scene
from poise.studio.telemetry import Telemetry, solver_explanation

#: Frames per second, and solver explanations per second, which cost more.
FRAME_RATE, EXPLANATION_RATE = 30.0, 2.0
#: Longest time between two checks for commands (s).
IDLE_PERIOD = 0.01
#: Largest share of the time spent on explanations.
EXPLANATION_SHARE = 0.05
#: Number of changes of controls that can be undone.
UNDO_DEPTH = 100
#: Changes of one control within this time (s) are undone together: a slider that is dragged sends 20 values a second.
UNDO_MERGE_TIME = 1.0


class SimulationStart(NamedTuple):
    """Initial state of a simulation.

    Attributes:
        scene, robot: names.
        values: saved state of the scene, see `Scene.saved_state`; empty: its defaults.
        limb: limb whose joint torques are sent.
    """

    scene: str
    robot: str
    values: dict[str, Any]
    limb: str = "left leg"


def main(connection: Connection, initial: SimulationStart) -> None:
    """Main function of the process: run the simulation until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent process, which stops this one
    try:
        SimulationLoop(connection, initial).run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except PoiseError as error:
        _send_failure(connection, "failed", str(error))
    except Exception as error:
        traceback.print_exc()
        _send_failure(connection, "crashed", f"{type(error).__name__}: {error}")


def _send_failure(connection: Connection, kind: str, text: str) -> None:
    with suppress(OSError):
        connection.send((kind, text))


class SimulationLoop:
    """Main loop of the process: receives commands, steps the scene, and sends frames on request.

    Args:
        connection: connection to the client.
        initial: scene, robot and values to start with.
    """

    def __init__(self, connection: Connection, initial: SimulationStart) -> None:
        self._connection = connection
        load("scipy", "optimize")  # needed by explanations; loaded now to avoid a pause during the motion
        robot = load_robot(initial.robot)
        self._scene = find_scene(initial.scene)(robot)
        self._scene.restore(initial.values)
        self._scene.needs_reset = False  # the plants are built below
        self._runner, self._telemetry = SceneRunner(self._scene), Telemetry(robot)
        self._pacer = RealTimePacer(self._runner.period)
        self._playing, self._frame_requested, self._limb = True, False, initial.limb
        self._number = 0
        self._next_frame_time = self._next_explanation_time = 0.0
        self._explanation: tuple[list[str], list[str]] = ([], [])
        self._history: deque[tuple[str, dict[str, Any]]] = deque(maxlen=UNDO_DEPTH)  # control, state before its change
        self._last_change = -math.inf
        connection.send(("ready", self._scene_info()))

    def _scene_info(self) -> dict[str, Any]:
        return {
            "controls": [control.as_json() for control in self._scene.controls()],
            "limbs": list(self._telemetry.limbs),
            "figures": list(self._runner.controlled_plants),
            "drag_handles": self._scene.drag_handles(),
            "environment": self._runner.primary.plant.environment,
            "camera_direction": self._scene.camera_direction,
        }

    def run(self) -> None:
        gc.collect()
        gc.freeze()
        while True:
            self._receive_commands()
            if self._playing:
                for _ in range(self._pacer.periods_due()):
                    self._runner.step()
            else:
                self._pacer.pause()
            self._send_frame()
            self._connection.poll(min(self._pacer.time_to_next, IDLE_PERIOD) if self._playing else IDLE_PERIOD)

    # -- commands --------------------------------------------------------------------------------------------------

    def _receive_commands(self) -> None:
        while self._connection.poll():
            name, value = self._connection.recv()
            try:
                self._handle_command(name, value)
            except PoiseError as error:
                self._connection.send(("message", "error", str(error)))

    def _handle_command(self, name: str, value: Any) -> None:
        runner = self._runner
        match name:
            case "request_frame":
                self._frame_requested = True
            case "keep_alive":
                runner.deadman.keep_alive()
            case "stick":
                runner.deadman.set_stick(value)
            case "operator_input":
                runner.set_input(value)
            case "play":
                self._playing = bool(value)
                self._pacer.pause()
            case "time_scale":
                self._pacer.time_scale = min(max(float(value), 0.05), 1.0) if isinstance(value, (int, float)) else 1.0
            case "reset":
                self._remember("reset")
                self._scene.on_reset()
                self._reset()
            case "undo":
                self._undo()
            case "limb":
                self._limb = str(value)
            case "record":
                runner.start_recording(Path(value))
            case "stop_recording":
                self._connection.send(("recording_saved", runner.stop_recording()))
            case "move_handle":
                self._remember(value[0])
                self._scene.move_handle(*value)
            case "control":
                self._set_control(*value)
            case "stop":
                runner.stop_recording()
                raise EOFError

    def _set_control(self, name: str, value: Any) -> None:
        self._remember(name)
        text = self._scene.set_control(name, value)
        if text:
            self._connection.send(("message", "info", text))
        if self._scene.needs_reset:
            self._reset()
        self._send_changed_controls()

    def _send_changed_controls(self) -> None:
        if self._scene.controls_changed:
            self._scene.controls_changed = False
            self._connection.send(("controls", [control.as_json() for control in self._scene.controls()]))

    def _remember(self, name: str) -> None:
        """Store the state of controls and targets before a change of one of them."""
        now, last_name = time.monotonic(), self._history[-1][0] if self._history else ""
        if name != last_name or now > self._last_change + UNDO_MERGE_TIME:
            state = self._scene.saved_state()
            if self._history and self._history[-1][1] == state:  # the last change made no difference, like a push
                self._history.pop()
            self._history.append((name, state))
        self._last_change = now

    def _undo(self) -> None:
        """Bring controls and targets back to their state before the last change that made a difference."""
        current = self._scene.saved_state()
        while self._history:
            name, saved = self._history.pop()
            if saved != current:
                self._scene.restore(saved)
                label = next((each.label for each in self._scene.controls() if each.name == name), name)
                self._connection.send(("message", "info", f"undone: {label.replace('_', ' ')}"))
                if self._scene.needs_reset:
                    self._reset()
                self._send_changed_controls()
                return
        self._connection.send(("message", "info", "nothing to undo"))

    def _reset(self) -> None:
        if self._runner.recorder is not None:
            self._connection.send(("recording_saved", self._runner.stop_recording()))
        self._scene.needs_reset = False
        self._runner.reset()
        self._pacer.period = self._runner.period  # a different controller may have a different period
        self._pacer.pause()
        self._connection.send(("ready", self._scene_info()))

    # -- frames ----------------------------------------------------------------------------------------------------

    def _send_frame(self) -> None:
        now = time.monotonic()
        if not self._frame_requested or now < self._next_frame_time:
            return
        self._frame_requested, self._next_frame_time = False, now + 1.0 / FRAME_RATE
        self._number += 1
        runner = self._runner
        for text in self._scene.before_frame():
            self._connection.send(("message", "info", text))
        self._send_changed_controls()
        if now >= self._next_explanation_time:
            self._explanation = solver_explanation(runner.steps.get(next(iter(runner.controlled_plants))))
            self._next_explanation_time = now + max(
                1.0 / EXPLANATION_RATE, (time.monotonic() - now) / EXPLANATION_SHARE
            )
        limits, lines = self._explanation
        page_data = {
            "number": self._number,
            **self._telemetry.page_data(runner, self._limb),
            "real_time_factor": round(self._pacer.real_time_factor, 3) if self._playing else 0.0,
            "playing": self._playing,
            "time_scale": self._pacer.time_scale,
            "fall_reason": runner.fall_reason,
            "values": self._scene.values(),
            "feasible_ranges": self._scene.feasible_ranges(),
            "limits": limits,
            "explanation": lines,
            "status_lines": self._scene.status_lines(),
            "guidance": self._scene.guidance_status(),
            "recording": runner.recording_status,
            "input_timed_out": runner.deadman.timed_out,
            "events": list(runner.events),
        }
        self._connection.send(("frame", page_data, self._telemetry.view_frame(runner), self._scene.saved_state()))


# -- SimulationClient ------------------------------------------------------------------------------------------------


#: No restart after this number of crashes within this time (s).
MAX_CRASHES, CRASH_WINDOW = 3, 30.0
#: Time for the process to end before it is killed (s).
STOP_TIMEOUT = 2.0

MessageCallback = Callable[..., None]
Outbox = queue.SimpleQueue[tuple[str, Any] | None]


class SimulationClient:
    """Client of the simulation process.

    Args:
        on_message: called from a reader thread with each message of the simulation: its kind and its payload. When the
            process ends without `stop`, the message is "exited" with the exit code.
    """

    def __init__(self, on_message: MessageCallback) -> None:
        self._on_message = on_message
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._outbox: Outbox = queue.SimpleQueue()

    def start(self, initial: SimulationStart) -> None:
        """Start a simulation process; stop a running one first."""
        self.stop()
        parent_end, child_end = self._context.Pipe()
        self._process = self._context.Process(
            target=main, args=(child_end, initial), daemon=True, name="poise simulation"
        )
        self._process.start()
        child_end.close()
        outbox: Outbox = queue.SimpleQueue()
        self._outbox = outbox
        threading.Thread(target=self._write, args=(parent_end, outbox), daemon=True).start()
        threading.Thread(target=self._read, args=(parent_end, outbox, self._process), daemon=True).start()

    def send(self, name: str, value: Any = None) -> None:
        """Send a command to the simulation; return at once."""
        self._outbox.put((name, value))

    def stop(self) -> None:
        """Stop the simulation; an active recording is completed."""
        process, self._process = self._process, None
        if process is None:
            return
        self._outbox.put(("stop", None))
        self._outbox.put(None)
        process.join(STOP_TIMEOUT)
        if process.is_alive():
            process.kill()
            process.join(STOP_TIMEOUT)

    @property
    def pid(self) -> int | None:
        """Process identifier; None if no simulation is running."""
        return None if self._process is None else self._process.pid

    def _write(self, connection: Connection, outbox: Outbox) -> None:
        while (entry := outbox.get()) is not None:
            try:
                connection.send(entry)
            except (OSError, ValueError):
                return

    def _read(self, connection: Connection, outbox: Outbox, process: Any) -> None:
        outbox.put(("request_frame", None))
        try:
            while True:
                entry = connection.recv()
                if entry[0] == "frame":
                    outbox.put(("request_frame", None))  # requested after receipt, so that frames never queue up
                if process is self._process:  # else another simulation was started
                    self._on_message(*entry)
        except (EOFError, OSError):
            pass
        outbox.put(None)
        if process is self._process:  # it ended without `stop`
            process.join(STOP_TIMEOUT)
            self._on_message("exited", process.exitcode)
