"""Hub: what pages and the view talk to; it knows the simulation, and outlives it."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from poise.errors import PoiseError, UsageError
from poise.files import installed_version
from poise.plants import Flat
from poise.recording import load_recording
from poise.rendering import blocks, ground_of
from poise.robots import Robot, library_names, load_robot
from poise.studio.fit_service import BUTTONS, Desk
from poise.studio.output import Output
from poise.studio.player import GaitPlayback, Playback, Player
from poise.studio.scene_base import Point
from poise.studio.scenery import Scenery
from poise.studio.scenes import scene, scenes
from poise.studio.simulation_process import CRASHES, WITHIN, Begin, Link
from poise.studio.viewer import Viewer

#: Messages that are kept for pages that come late.
MESSAGES = 100
#: Pictures a second of the view.
PICTURES = 30.0
#: Seconds between two looks for new files.
LOOKING = 1.0
#: What takes longer than pages may wait: robots are loaded, files are read.
SLOW = ("scene", "robot", "record", "replay", "export")
#: Colour of a ghost: what is there beside the robot is blue and lets light through.
GHOST = (0.25, 0.5, 0.95, 0.35)


class Hub:
    """One studio: a scene with a robot in the simulation, a view, an output folder and any number of pages.

    Args:
        robot: name of the robot to begin with.
        folder: for recordings and what is made of them.
        scene: name of the scene to begin with.
    """

    def __init__(self, robot: str, folder: Path, scene: str = "walk") -> None:
        self._names = tuple(library_names())
        if robot not in self._names:
            self._names = (robot, *self._names)  # a file
        self._robots: dict[str, Robot] = {}
        self.output = Output(folder)
        self.viewer = Viewer()
        self.viewer_port = self.viewer.port
        self.hello_number = 0
        self._lock, self._view = threading.RLock(), threading.Lock()
        self._scene, self._robot = scene, robot
        self._values: dict[str, dict[str, Any]] = {}  # by scene
        self._about: dict[str, Any] = {"controls": [], "limbs": []}
        self._frame: dict[str, Any] | None = None
        self._scenery: Scenery | None = None
        self._count = itertools.count(1)
        self._messages: deque[dict[str, Any]] = deque(maxlen=MESSAGES)
        self._playback: Player | None = None
        self._desk: Desk | None = None
        self._crashes: deque[float] = deque(maxlen=CRASHES)
        self._tape: Path | None = None
        self._limb = "left leg"
        self._changed = self.output.changed
        self._over = threading.Event()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="studio")
        self._link = Link(self._heard)
        self._painter = threading.Thread(target=self._paint, name="studio view", daemon=True)

    def start(self) -> None:
        """Begins the simulation, shows the robot."""
        self._begin()
        self._painter.start()

    def stop(self) -> None:
        """Ends all of it; recordings are closed."""
        self._over.set()
        if self._painter.is_alive():
            self._painter.join(1.0)
        self._link.stop()
        if self._desk is not None:
            self._desk.close()
        self.output.stop()
        self.viewer.close()
        self._worker.shutdown(wait=False, cancel_futures=True)

    # -- for pages -------------------------------------------------------------------------------------------------

    def hello(self) -> dict[str, Any]:
        with self._lock:
            return {
                "version": installed_version(),
                "scenes": [{"name": each.name, "title": each.title, "hint": each.hint} for each in scenes()],
                "robots": list(scene(self._scene).robots or self._names),
                "scene": self._scene,
                "robot": self._chosen,
                "sticks": scene(self._scene).sticks,
                "guided": scene(self._scene).guided,
                "limbs": self._about["limbs"],
                "controls": self._about["controls"],
                "files": self.output.files(),
                "gait": None if self._desk is None else self._desk.hello(),
            }

    def frame(self) -> dict[str, Any] | None:
        frame, playback, desk = self._frame, self._playback, self._desk
        if frame is None:
            return None
        told = {"replay": {"file": "", "time": 0.0, "duration": 0.0}} if playback is None else playback.numbers()
        return {**frame, **told, "gait": None if desk is None else desk.frame()}

    def messages(self, since: int) -> list[dict[str, Any]]:
        return [message for message in list(self._messages) if message["number"] > since]

    def pages(self, count: int) -> None:
        if count == 0:
            self._link.send("stick", [0.0, 0.0, 0.0])
            self._link.send("hands", None)

    def do(self, name: str, value: Any) -> None:
        if name in SLOW:
            self._worker.submit(self._tried, name, value)
        else:
            self._tried(name, value)

    def _tried(self, name: str, value: Any) -> None:
        try:
            self._do(name, value)
        except PoiseError as error:
            self._say("error", str(error))

    def upload(self, control: str, filename: str, data: bytes) -> str:
        desk = self._desk
        if desk is not None:
            return desk.upload(control, filename, data)
        try:
            value = scene(self._scene).read(control, filename, data)
        except PoiseError as error:
            return str(error)
        self._link.send("control", [control, value])
        return ""

    def saved(self, control: str) -> tuple[str, str]:
        return scene(self._scene).written(control, self._controlled())

    # -- what pages ask for ----------------------------------------------------------------------------------------

    def _do(self, name: str, value: Any) -> None:
        match name:
            case "scene":
                self._change(scene=scene(value).name)
            case "robot":
                if value not in self._names:
                    raise UsageError(f"there is no robot '{value}' here; expected one of {', '.join(self._names)}")
                self._change(robot=value)
            case "record":
                self._record(value)
            case "replay":
                self._replay(value)
            case "export":
                self.output.export(value["file"], value["format"], self._say)
            case "play" if self._playback is not None:
                self._playback.playing = value
            case "pace" if self._playback is not None:
                self._playback.pace = value
                self._link.send(name, value)
            case "control" if self._desk is not None and value[0] in BUTTONS:
                self._worker.submit(self._desk.press, value[0])
            case "reset" if self._desk is not None and self._desk.playback is not None:
                self._worker.submit(self._exhibit, self._desk.playback)
            case "limb":
                self._limb = value
                self._link.send(name, value)
            case _:
                self._link.send(name, value)

    def _change(self, **names: str) -> None:
        with self._lock:
            if self._frame is not None:
                self._values[self._scene] = self._frame["values"]
            self._scene, self._robot = names.get("scene", self._scene), names.get("robot", self._robot)
            desk, self._desk, self._playback = self._desk, None, None
        if desk is not None:
            desk.close()
        self._begin()

    @property
    def _chosen(self) -> str:
        """Who is in the scene: not every scene is for every robot."""
        able = scene(self._scene).robots
        return self._robot if not able or self._robot in able else able[0]

    def _begin(self) -> None:
        """Starts the simulation of what is chosen."""
        with self._lock:
            begin = Begin(self._scene, self._chosen, self._values.get(self._scene, {}), self._limb)
            if self._desk is None:
                self._desk = scene(self._scene).desk(self._say, self._exhibit, self._controlled)
            self._about, self._tape = {"controls": [], "limbs": []}, None
            self._frame = self._scenery = None
            self.hello_number += 1
        self._link.start(begin)
        robot = self._loaded(begin.robot)
        if self._playback is not None:  # a crash is no reason to look away
            return
        self._show({"robot": (robot, None)}, {})
        if self._scenery is None:  # until the simulation has something to show
            self.viewer.show(Scenery.of(robot.stance("standing")))

    def _record(self, on: bool) -> None:
        if on:
            self._tape = self.output.fresh(f"{self._scene}-{Path(self._chosen).stem}", ".poise")
            self._link.send("record", str(self._tape))
        else:
            self._link.send("cut")

    def _replay(self, value: dict[str, Any] | None) -> None:
        gait = None if self._desk is None else self._desk.playback
        if gait is not None and gait is not self._playback and (value is None or value["file"] == gait.file):
            self._exhibit(gait)
            return
        if value is None:
            self._playback = None
            self._figures()
            self._link.send("play", True)
            return
        playback = self._playback
        if playback is None or playback.file != value["file"]:
            recording = load_recording(self.output.path(value["file"]), partial=True)
            name = str(recording.provenance.get("robot", self._robot))
            robot = next((known for known in self._robots.values() if known.name == name), None) or load_robot(name)
            playback = Playback(value["file"], recording, robot)
            self._link.send("play", False)
            self._show({"robot": (robot, None)}, {})
            facts, start = recording.provenance, recording.state(0, robot)
            known = next((each.replayed(facts, robot) for each in scenes() if each.name == facts.get("scene")), None)
            ground, things = known or (ground_of(recording, robot), ())
            self.viewer.ground(blocks(ground, start, facts.get("seed", 0)), ground.plane, [each.box for each in things])
            self._playback = playback
        playback.seek(value["time"])

    def _exhibit(self, playback: GaitPlayback) -> None:
        """Shows what the desk has made of a trial, from its beginning."""
        if self._desk is None or self._desk.playback is not playback:  # the scene has been left
            return
        self._link.send("play", False)
        robot = playback.robot
        self._show({"robot": (robot, None), "ghost": (robot, GHOST)}, {})
        self.viewer.look(playback.look)
        self.viewer.ground([], Flat().plane)
        playback.seek(0.0)
        self._playback = playback
        self.hello_number += 1

    def _controlled(self) -> Mapping[str, Any]:
        """What the controls say."""
        frame = self._frame
        return {} if frame is None else frame["values"]

    def _dragged(self, name: str, place: tuple[float, float, float]) -> None:
        self._link.send("drag", (name, place))

    # -- what the simulation says ----------------------------------------------------------------------------------

    def _heard(self, what: str, *told: Any) -> None:
        match what:
            case "picture":
                self._frame, self._scenery = told
            case "ready":
                with self._lock:
                    self._about = told[0]
                    self.hello_number += 1
                if self._playback is None:
                    self._figures()
            case "message":
                self._say(*told)
            case "recorded":
                self._recorded(told[0])
            case "failed":
                self._crashes.extend([time.monotonic()] * CRASHES)  # it would fail again
                self._say("error", told[0])
            case "crashed":
                self._say("error", f"the simulation stopped: {told[0]}")
            case "gone":
                self._revive(told[0])

    def _recorded(self, name: str) -> None:
        self._tape = None
        if name:
            self._say("info", f"recorded to {name}")
            self._refresh()

    def _figures(self) -> None:
        robot = self._loaded(self._chosen)
        names = self._about.get("figures", ["robot"])
        figures = {name: (robot, GHOST if name == "ghost" else None) for name in names}
        self._show(figures, self._about.get("gizmos", {}))
        ground = self._about.get("ground")
        if ground is not None:
            things = self._about.get("things", [])
            self.viewer.look(self._about.get("look"))
            self.viewer.ground(blocks(ground, robot.stance("standing")), ground.plane, things)

    def _show(self, figures: Mapping[str, tuple[Robot, Any]], gizmos: Mapping[str, Point]) -> None:
        """Who is in the view, and what can be dragged there."""
        with self._view:
            self.viewer.gizmos({}, self._dragged)
            self.viewer.figures(figures)
            self.viewer.gizmos(gizmos, self._dragged)

    def _revive(self, code: int | None) -> None:
        """After a crash: what was recorded is saved, the simulation begins anew with the controls as they were."""
        if self._over.is_set():
            return
        tape, self._tape = self._tape, None
        if tape is not None and tape.exists():
            load_recording(tape, partial=True).save(tape)
            self._say("info", f"what was recorded until then is in {tape.name}")
            self._refresh()
        now = time.monotonic()
        often = len(self._crashes) == CRASHES and now - self._crashes[0] < WITHIN
        self._crashes.append(now)
        if often:
            self._say("error", "the simulation does not run; choose another robot or scene, or reset")
            return
        self._say("error", f"the simulation died (exit {code}) and begins anew")
        with self._lock:
            if self._frame is not None:
                self._values[self._scene] = {**self._frame["values"], "walking": False}
        self._begin()

    def _loaded(self, name: str) -> Robot:
        with self._lock:
            if name not in self._robots:
                self._robots[name] = load_robot(name)
            return self._robots[name]

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _say(self, kind: str, text: str) -> None:
        self._messages.append({"number": next(self._count), "kind": kind, "text": text})
        self._refresh()

    def _refresh(self) -> None:
        """Pages learn of new files."""
        if self.output.changed != self._changed:
            self._changed = self.output.changed
            self.hello_number += 1

    def _paint(self) -> None:
        """The view, thirty times a second, from whatever came last; and now and then a look for new files."""
        shown, looked = None, 0.0
        while not self._over.wait(1.0 / PICTURES):
            scenery = self._scenery_shown()
            if scenery is not None and scenery is not shown:
                shown = scenery
                self.viewer.show(scenery)
            if time.monotonic() > looked + LOOKING:
                looked = time.monotonic()
                self._refresh()

    def _scenery_shown(self) -> Scenery | None:
        playback = self._playback
        return self._scenery if playback is None else playback.scenery()
