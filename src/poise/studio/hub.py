"""Hub of the studio: connects pages and the 3D view to the simulation process, and restarts it after a crash."""

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
from poise.plants import EnvironmentGeometry
from poise.recording import load_recording
from poise.rendering import recorded_environment
from poise.robots import Robot, library_names, load_robot
from poise.studio.fit_service import BUTTONS, FIT_JOB, FitService
from poise.studio.output_folder import OutputFolder
from poise.studio.player import GaitPlayer, Player, RecordingPlayer
from poise.studio.scene_base import Point
from poise.studio.scenes import all_scenes, find_scene
from poise.studio.simulation_process import CRASH_WINDOW, MAX_CRASHES, SimulationClient, SimulationStart
from poise.viewer import Viewer, ViewFrame

#: Number of messages that are kept for pages that connect later.
MESSAGE_HISTORY = 100
#: Frames per second of the view.
VIEW_RATE = 30.0
#: Seconds between two checks for new files.
FILE_CHECK_PERIOD = 1.0
#: Commands that run in a worker thread, since they load robots or read files and would block the pages.
SLOW_COMMANDS = ("scene", "robot", "record", "replay", "export")
#: State of the replay while there is none.
NO_REPLAY = {"file": "", "time": 0.0, "duration": 0.0, "loop": False, "uses_controls": True}
#: Color of a ghost, the second figure beside the robot: transparent blue.
GHOST_COLOR = (0.25, 0.5, 0.95, 0.35)


class Hub:
    """A studio: one scene with a robot in the simulation process, a view, an output folder and any number of pages.

    Args:
        robot: name of the first robot, or the path of a robot file.
        folder: output folder of recordings and exports.
        scene: name of the first scene.

    Attributes:
        output: output folder.
        viewer: 3D view.
        viewer_port: port of viser on loopback.
        hello_version: increases whenever `hello` changes.
    """

    def __init__(self, robot: str, folder: Path, scene: str = "walk") -> None:
        self._robot_names = tuple(library_names())
        if robot not in self._robot_names:
            self._robot_names = (robot, *self._robot_names)  # a file
        self._robots: dict[str, Robot] = {}
        self.output = OutputFolder(folder)
        self.viewer = Viewer()
        self.viewer_port = self.viewer.port
        self.hello_version = 0
        self._lock, self._view_lock = threading.RLock(), threading.Lock()
        self._scene_name, self._robot_name = scene, robot
        self._saved_states: dict[str, dict[str, Any]] = {}  # state of the controls by scene, see `Scene.saved_state`
        self._scene_info: dict[str, Any] = {"controls": [], "limbs": []}
        self._saved_state: dict[str, Any] = {}  # of the latest frame
        self._latest_frame: dict[str, Any] | None = None
        self._latest_view: ViewFrame | None = None
        self._message_numbers = itertools.count(1)
        self._messages: deque[dict[str, Any]] = deque(maxlen=MESSAGE_HISTORY)
        self._player: Player | None = None
        self._fit_service: FitService | None = None
        self._crash_times: deque[float] = deque(maxlen=MAX_CRASHES)
        self._recording_path: Path | None = None
        self._limb = "left leg"
        self._output_revision = self.output.revision
        self._stopping = threading.Event()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="studio")
        self._simulation = SimulationClient(self._on_simulation_message)
        self._view_thread = threading.Thread(target=self._update_view, name="studio view", daemon=True)

    def start(self) -> None:
        """Start the simulation and the view."""
        self._start_simulation()
        self._view_thread.start()

    def stop(self) -> None:
        """Stop the simulation, fits, exports and the view; an active recording is completed."""
        self._stopping.set()
        if self._view_thread.is_alive():
            self._view_thread.join(1.0)
        self._simulation.stop()
        if self._fit_service is not None:
            self._fit_service.close()
        self.output.stop()
        self.viewer.close()
        self._worker.shutdown(wait=False, cancel_futures=True)

    # -- interface of pages, see `HubInterface` --------------------------------------------------------------------

    def hello(self) -> dict[str, Any]:
        """Return what a page needs to draw itself: scenes, robots, controls, files and the gait result."""
        with self._lock:
            player = self._player
            return {
                "version": installed_version(),
                "scenes": [
                    {"name": scene_class.name, "title": scene_class.title, "hint": scene_class.hint}
                    for scene_class in all_scenes()
                ],
                "robots": list(find_scene(self._scene_name).robots or self._robot_names),
                "scene": self._scene_name,
                "robot": self._robot_in_scene,
                "stick_driven": find_scene(self._scene_name).stick_driven,
                "guidance": find_scene(self._scene_name).guidance_info,
                "limbs": list(player.limbs) if player is not None and player.limbs else self._scene_info["limbs"],
                "controls": self._scene_info["controls"],
                "files": self.output.files(),
                "gait": None if self._fit_service is None else self._fit_service.result_data(),
            }

    def frame(self) -> dict[str, Any] | None:
        """Return the latest data of the simulation, overlaid with those of a replay; None before the first frame."""
        frame, player, service = self._latest_frame, self._player, self._fit_service
        if frame is None:
            return None
        replay_data: dict[str, Any] = {"replay": NO_REPLAY} if player is None else player.page_data()
        fits = [] if service is None else service.jobs()
        if fits and player is None:  # the scene itself does not know of the fit
            replay_data["status_lines"] = [f"The trial is being fitted: {fits[0]['activity']}."]
        return {**frame, **replay_data, "jobs": [*fits, *self.output.exports()]}

    def messages(self, since: int) -> list[dict[str, Any]]:
        """Return the messages after number `since`, oldest first."""
        return [message for message in list(self._messages) if message["number"] > since]

    def set_page_count(self, count: int) -> None:
        """Set the number of connected pages; without any, sticks and keys are released."""
        if count == 0:
            self._simulation.send("stick", [0.0, 0.0, 0.0])
            self._simulation.send("operator_input", None)

    def handle_command(self, name: str, value: Any) -> None:
        """Execute a command of a page (see `poise.studio.page_session.COMMANDS`); errors become messages."""
        if name in SLOW_COMMANDS:
            self._worker.submit(self._run_command, name, value)
        else:
            self._run_command(name, value)

    def _run_command(self, name: str, value: Any) -> None:
        try:
            self._dispatch_command(name, value)
        except PoiseError as error:
            self._post_message("error", str(error))

    def upload(self, control: str, filename: str, data: bytes) -> str:
        """Pass an uploaded file to the fit service or the scene; return "" or one line that says what is wrong."""
        service = self._fit_service
        if service is not None:
            return service.upload(control, filename, data)
        try:
            value = find_scene(self._scene_name).parse_upload(control, filename, data)
        except PoiseError as error:
            return str(error)
        self._simulation.send("control", [control, value])
        return ""

    def file_to_save(self, control: str) -> tuple[str, str]:
        """Return name and text of the file of a save control."""
        return find_scene(self._scene_name).file_to_save(control, self._current_values())

    # -- commands of pages -----------------------------------------------------------------------------------------

    def _dispatch_command(self, name: str, value: Any) -> None:
        match name:
            case "scene":
                self._restart_with(scene=find_scene(value).name)
            case "robot":
                if value not in self._robot_names:
                    raise UsageError(f"unknown robot '{value}'; expected one of {', '.join(self._robot_names)}")
                self._restart_with(robot=value)
            case "record":
                self._record(value)
            case "replay":
                self._replay(value)
            case "export":
                self.output.export(value["file"], value["format"], self._post_message)
            case "cancel_job":
                self._cancel_job(value)
            case "play" if self._player is not None:
                self._player.play(value)
            case "loop":
                if self._player is not None:
                    self._player.loop = value
            case "replay_speed":
                if self._player is not None:
                    self._player.time_scale = value
            case "time_scale" if self._player is not None:
                self._player.time_scale = value
                self._simulation.send(name, value)
            case "control" if self._fit_service is not None and value[0] in BUTTONS:
                self._worker.submit(self._fit_service.handle_button, value[0])
            case "reset" if self._fit_service is not None and self._fit_service.player is not None:
                self._worker.submit(self._show_gait, self._fit_service.player)
            case "reset" if self._player is not None:
                self._player.seek(0.0)
            case "limb":
                self._limb = value
                self._simulation.send(name, value)
            case _:
                self._simulation.send(name, value)

    def _cancel_job(self, name: str) -> None:
        if name == FIT_JOB and self._fit_service is not None:
            self._fit_service.cancel_fit()
        elif not self.output.cancel_export(name):
            raise UsageError(f"'{name}' has already ended")

    def _restart_with(self, **names: str) -> None:
        with self._lock:
            if self._latest_frame is not None:
                self._saved_states[self._scene_name] = self._saved_state
            self._scene_name, self._robot_name = (
                names.get("scene", self._scene_name),
                names.get("robot", self._robot_name),
            )
            service, self._fit_service, self._player = self._fit_service, None, None
        if service is not None:
            service.close()
        self._start_simulation()

    @property
    def _robot_in_scene(self) -> str:
        """Name of the robot in the scene: the chosen one, or the first that the scene supports."""
        supported = find_scene(self._scene_name).robots
        return self._robot_name if not supported or self._robot_name in supported else supported[0]

    def _start_simulation(self) -> None:
        """Start the simulation of the chosen scene and robot, with the stored values of its controls."""
        with self._lock:
            initial = SimulationStart(
                self._scene_name, self._robot_in_scene, self._saved_states.get(self._scene_name, {}), self._limb
            )
            if self._fit_service is None:
                self._fit_service = find_scene(self._scene_name).fit_service(
                    self._post_message, self._show_gait, self._current_values
                )
            self._scene_info, self._recording_path = {"controls": [], "limbs": []}, None
            self._latest_frame = self._latest_view = None
            self.hello_version += 1
        self._simulation.start(initial)
        robot = self._load_robot(initial.robot)
        if self._player is not None:  # after a crash, a replay stays in the view
            return
        self._set_view({"robot": (robot, None)}, {})
        if self._latest_view is None:  # shown until the first frame of the simulation
            self.viewer.show(ViewFrame.from_state(robot.stance("standing")))

    def _record(self, on: bool) -> None:
        if on:
            self._recording_path = self.output.new_path(
                f"{self._scene_name}-{Path(self._robot_in_scene).stem}", ".poise"
            )
            self._simulation.send("record", str(self._recording_path))
        else:
            self._simulation.send("stop_recording")

    def _replay(self, value: dict[str, Any] | None) -> None:
        gait = None if self._fit_service is None else self._fit_service.player
        if gait is not None and gait is not self._player and (value is None or value["file"] == gait.file):
            self._show_gait(gait)
            return
        if value is None:
            self._player = None
            self.hello_version += 1
            self._show_scene()
            self._simulation.send("play", True)
            return
        player = self._player
        if player is None or player.file != value["file"]:
            recording = load_recording(self.output.path(value["file"]), partial=True)
            name = str(recording.provenance.get("robot", self._robot_name))
            robot = next((loaded for loaded in self._robots.values() if loaded.name == name), None) or load_robot(name)
            player = RecordingPlayer(value["file"], recording, robot, lambda: self._limb)
            self._simulation.send("play", False)
            self._set_view({"robot": (robot, None)}, {})
            self.viewer.set_environment(recorded_environment(recording, robot))
            self._player = player
            self.hello_version += 1
        player.seek(value["time"])

    def _show_gait(self, player: GaitPlayer) -> None:
        """Show the result of the fit service in the view, from its beginning."""
        if self._fit_service is None or self._fit_service.player is not player:  # the user has left the scene
            return
        self._simulation.send("play", False)
        robot = player.robot
        self._set_view({"robot": (robot, None), "ghost": (robot, GHOST_COLOR)}, {})
        self.viewer.set_camera_direction(player.camera_direction)
        self.viewer.set_environment(EnvironmentGeometry())
        player.seek(0.0)
        self._player = player
        self.hello_version += 1

    def _current_values(self) -> Mapping[str, Any]:
        """Return the latest values of the controls by name."""
        frame = self._latest_frame
        return {} if frame is None else frame["values"]

    def _on_drag(self, name: str, position: tuple[float, float, float]) -> None:
        self._simulation.send("move_handle", (name, position))

    # -- messages of the simulation --------------------------------------------------------------------------------

    def _on_simulation_message(self, kind: str, *payload: Any) -> None:
        match kind:
            case "frame":
                self._latest_frame, self._latest_view, self._saved_state = payload
            case "ready":
                with self._lock:
                    self._scene_info = payload[0]
                    self.hello_version += 1
                if self._player is None:
                    self._show_scene()
            case "controls":
                with self._lock:
                    self._scene_info = {**self._scene_info, "controls": payload[0]}
                    self.hello_version += 1
            case "message":
                self._post_message(*payload)
            case "recording_saved":
                self._on_recording_saved(payload[0])
            case "failed":
                self._crash_times.extend([time.monotonic()] * MAX_CRASHES)  # no restart: it would fail again
                self._post_message("error", payload[0])
            case "crashed":
                self._post_message("error", f"the simulation crashed: {payload[0]}")
            case "exited":
                self._restart_after_crash(payload[0])

    def _on_recording_saved(self, name: str) -> None:
        self._recording_path = None
        if name:
            self._post_message("info", f"recorded to {name}")
            self._refresh_files()

    def _show_scene(self) -> None:
        robot = self._load_robot(self._robot_in_scene)
        names = self._scene_info.get("figures", ["robot"])
        figures = {name: (robot, GHOST_COLOR if name == "ghost" else None) for name in names}
        self._set_view(figures, self._scene_info.get("drag_handles", {}))
        environment = self._scene_info.get("environment")
        if environment is not None:
            self.viewer.set_camera_direction(self._scene_info.get("camera_direction"))
            self.viewer.set_environment(environment)

    def _set_view(self, figures: Mapping[str, tuple[Robot, Any]], drag_handles: Mapping[str, Point]) -> None:
        """Set the robots and the drag handles in the view."""
        with self._view_lock:
            self.viewer.set_drag_handles({}, self._on_drag)
            self.viewer.set_figures(figures)
            self.viewer.set_drag_handles(drag_handles, self._on_drag)

    def _restart_after_crash(self, code: int | None) -> None:
        """Save the recording of a crashed simulation, and restart it with the last values of its controls.

        There is no restart after `MAX_CRASHES` crashes within `CRASH_WINDOW` seconds.
        """
        if self._stopping.is_set():
            return
        path, self._recording_path = self._recording_path, None
        if path is not None and path.exists():
            load_recording(path, partial=True).save(path)
            self._post_message("info", f"the recording up to the crash is in {path.name}")
            self._refresh_files()
        now = time.monotonic()
        too_often = len(self._crash_times) == MAX_CRASHES and now - self._crash_times[0] < CRASH_WINDOW
        self._crash_times.append(now)
        if too_often:
            self._post_message("error", "the simulation keeps failing; choose another robot or scene")
            return
        self._post_message("error", f"the simulation process ended (exit {code}) and is restarted")
        with self._lock:
            if self._latest_frame is not None:
                self._saved_states[self._scene_name] = {**self._saved_state, "walking": False}
        self._start_simulation()

    def _load_robot(self, name: str) -> Robot:
        with self._lock:
            if name not in self._robots:
                self._robots[name] = load_robot(name)
            return self._robots[name]

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _post_message(self, kind: str, text: str) -> None:
        self._messages.append({"number": next(self._message_numbers), "kind": kind, "text": text})
        self._refresh_files()

    def _refresh_files(self) -> None:
        """Make pages update their list of files if the output folder has changed."""
        if self.output.revision != self._output_revision:
            self._output_revision = self.output.revision
            self.hello_version += 1

    def _update_view(self) -> None:
        """Thread of the view: show the latest frame at `VIEW_RATE`, and check for new files from time to time."""
        last_view, last_check = None, 0.0
        while not self._stopping.wait(1.0 / VIEW_RATE):
            view = self._current_view()
            if view is not None and view is not last_view:
                last_view = view
                self.viewer.show(view)
            if time.monotonic() > last_check + FILE_CHECK_PERIOD:
                last_check = time.monotonic()
                self._refresh_files()

    def _current_view(self) -> ViewFrame | None:
        player = self._player
        return self._latest_view if player is None else player.view_frame()
