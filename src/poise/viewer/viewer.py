"""Viewer: robots, ground, forces and drag handles in the browser, drawn with viser.

A `ViewFrame` consists of plain arrays, so that a simulation process can build it without viser; `Viewer` draws it.

>>> viewer = Viewer()
>>> viewer.set_figures({"robot": (robot, None)})
>>> viewer.show(ViewFrame.from_state(robot.stance("standing")))
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arrays import Array
from poise.errors import PoiseError
from poise.extras import rich, viser
from poise.plants import EnvironmentGeometry
from poise.robots import Robot
from poise.viewer.view_frame import Point, ViewFrame, finite_array
from poise.viewer.view_marks import BalanceMarks, MarkerSpheres, PlanMarks, SolePressureMarks
from poise.viewer.view_meshes import mesh_parts
from poise.viewer.view_objects import DragCallback, DragHandles, Floor, HeldBoxFigure, RobotFigure, Tint

if TYPE_CHECKING:
    from viser import ViserServer


# -- viser server ----------------------------------------------------------------------------------------------------


#: Colors of the background, top and bottom, for light and dark pages: a bluish gray. It is a style of the page rather
#: than part of the scene, since clients may differ.
LIGHT_BACKGROUND, DARK_BACKGROUND = ("#d6dde5", "#f0f2f4"), ("#20262e", "#3b434e")
#: Largest number of messages sent as one batch. viser's default of 128 would split a frame of two robots, which has two
#: messages per joint.
MESSAGE_WINDOW = 1024

#: Elements of viser's page that are hidden: panel (a sheet at the bottom of narrow windows), notifications, palette and
#: dialogs. All controls are on the page of the studio.
HIDDEN_ELEMENTS = ("Paper-root", "Notifications-root", "Spotlight-root", "Modal-root")
PAGE_STYLE = (
    f"{', '.join(f'.mantine-{name}' for name in HIDDEN_ELEMENTS)}, [data-dock-region] {{ display: none !important; }}"
    f"canvas[data-engine] {{ background: linear-gradient({', '.join(LIGHT_BACKGROUND)}); }}"
    "@media (prefers-color-scheme: dark) {"
    f"canvas[data-engine] {{ background: linear-gradient({', '.join(DARK_BACKGROUND)}); }} }}"
)


def start_viser(port: int) -> ViserServer:
    """Start a viser server on 127.0.0.1; port 0: any free port."""
    with _quiet_console():
        server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
    server._websock_server.get_message_buffer().max_window_size = MESSAGE_WINDOW
    _restrict_access(server)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server.gui.add_html(f"<style>{PAGE_STYLE}</style>")
    server.scene.world_axes.visible = False
    server.scene.configure_default_lights(enabled=False)
    server.scene.configure_environment_map(None)  # image-based lighting takes seconds without a graphics card
    # Intensities chosen by eye: white shells are not overexposed, and shapes on the shaded side stay visible.
    server.scene.add_light_hemisphere(
        "/lights/sky", sky_color=(255, 255, 255), ground_color=(190, 192, 196), intensity=1.6
    )
    server.scene.add_light_directional(
        "/lights/sun", color=(255, 252, 246), intensity=2.6, position=(3.0, -0.5, 4.0), cast_shadow=False
    )
    return server


@contextlib.contextmanager
def _quiet_console() -> Iterator[None]:
    """Suppress viser's console output: the address that it prints is not that of the studio."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def stop_viser(server: ViserServer) -> None:
    """Stop a viser server without its console output."""
    with _quiet_console():
        server.stop()


def _restrict_access(server: ViserServer) -> None:
    """Disable viser's public share tunnel, and refuse websockets from web pages of other sites.

    Any web page can connect to a port of this machine, but browsers send the site of the page as `Origin`. The studio's
    server, which forwards messages of pages that it has checked, sends none. Accepted are therefore connections without
    `Origin`, and those of viser's own page, for debugging.
    """
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    websockets = server._websock_server
    own_origins = {f"http://{host}:{server.get_port()}" for host in ("127.0.0.1", "localhost")}

    async def check(connection: Any) -> None:
        client = websockets._live_connections.get(connection.client_id)
        if client is not None and client.request is not None:
            origin = client.request.headers.get("Origin")
            if origin is not None and origin not in own_origins:
                await client.close(1008, "pages of other sites may not connect")

    websockets.on_client_connect(check)


# -- Viewer ----------------------------------------------------------------------------------------------------------


#: Parent node of the whole scene. To follow the robot, this node is moved rather than the cameras, so that each client
#: can still turn and shift its own view.
WORLD_NODE = "/world"
#: Vertical field of view (rad): little perspective distortion, and still some ground in sight.
FIELD_OF_VIEW = 0.6
#: Initial share of the view's height that the robot fills, and direction to the camera: from the front right, and high
#: enough to see the soles of a robot that climbs stairs.
VIEW_FILL, DEFAULT_DIRECTION = 0.62, (0.8, -0.9, 0.45)
#: Time constant of following (s): long enough to filter the sway of steps, short enough to keep a walk in sight.
CAMERA_LAG = 0.5
#: Distance (m) beyond which the camera jumps to the robot instead of following smoothly, as after a reset.
CAMERA_JUMP = 1.0


class Viewer:
    """3D view of robots in browsers; see `poise.viewer.viewer`.

    All methods may be called from any thread; `show` is fast enough for 30 Hz. It neither waits for browsers nor fails,
    whatever their number and whatever they send.

    Args:
        port: port on 127.0.0.1; 0: any free port.

    Attributes:
        port: port of viser.
    """

    def __init__(self, port: int = 0) -> None:
        if not (isinstance(port, int) and 0 <= port < 65536):
            raise PoiseError(f"port of the view is {port!r}; expected an integer from 0 to 65535, 0 for any free port")
        self._server = start_viser(port)
        self.port: int = self._server.get_port()
        self._lock = threading.Lock()
        self._world = self._server.scene.add_frame(WORLD_NODE, show_axes=False)
        self._floor = Floor(self._server, f"{WORLD_NODE}/ground")
        self._figures: dict[str, RobotFigure] = {}
        self._held_box: HeldBoxFigure | None = None
        self._balance_marks: BalanceMarks | None = None
        self._plan_marks: PlanMarks | None = None
        self._sole_marks: SolePressureMarks | None = None
        self._marker_spheres: MarkerSpheres | None = None
        self._drag_handles: DragHandles | None = None
        self._robot_height = 1.5  # m, until there is a robot
        self._direction: Point = DEFAULT_DIRECTION
        self._followed_point: Array | None = None
        self._last_time = 0.0
        self._nodes = 0
        self._closed = False
        self._frame_cameras(self._robot_height, move=False)

    def set_figures(self, figures: Mapping[str, tuple[Robot, Tint | None]]) -> None:
        """Set the robots that are shown, by name, each with a color and opacity, or None for its own colors.

        >>> viewer.set_figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.8, 0.35))})
        """
        parts = {
            name: mesh_parts(robot) for name, (robot, _) in figures.items()
        }  # outside the lock: this may take seconds
        with self._lock, self._server.atomic():
            before, self._figures = self._figures, {}
            for name, (robot, tint) in figures.items():
                unchanged = before.get(name)
                if unchanged is not None and (unchanged.robot, unchanged.tint) == (
                    robot,
                    tint,
                ):  # kept, since meshes take long to send
                    self._figures[name] = before.pop(name)
                else:
                    self._figures[name] = RobotFigure(self._server, self._new_node("figure"), robot, parts[name], tint)
            for figure in before.values():
                figure.remove()
            size = max((figure.height_range[1] for figure in self._figures.values()), default=self._robot_height)
            for marks in (self._balance_marks, self._plan_marks, self._sole_marks, self._marker_spheres):
                if marks is not None:
                    marks.remove()
            self._balance_marks = BalanceMarks(self._server, self._new_node("marks"), size)
            self._plan_marks = PlanMarks(self._server, self._new_node("plans"), size)
            self._sole_marks = SolePressureMarks(self._server, self._new_node("soles"), size)
            self._marker_spheres = MarkerSpheres(self._server, self._new_node("markers"))
            self._followed_point = None
            if size != self._robot_height:
                self._frame_cameras(size, move=True)

    def set_environment(self, environment: EnvironmentGeometry) -> None:
        """Set ground, objects and the box in the hands of the figure "robot".

        Objects are drawn transparently, since a wall may be between the camera and a robot.
        """
        with self._lock, self._server.atomic():
            self._floor.set_environment(environment)
            if self._held_box is not None:
                self._held_box.remove()
            held = environment.held_box
            self._held_box = None if held is None else HeldBoxFigure(self._server, self._new_node("held"), held)

    def set_camera_direction(self, direction: Point | None) -> None:
        """Set the direction from the robot to the camera, for present and future clients; None: the default.

        Nothing happens if the direction is the current one, so a client that has turned its view keeps it.
        """
        with self._lock:
            if (direction or DEFAULT_DIRECTION) == self._direction or self._closed:
                return
            self._direction = direction or DEFAULT_DIRECTION
            self._frame_cameras(self._robot_height, move=False)
            camera = self._server.initial_camera
            for client in self._server.get_clients().values():
                with contextlib.suppress(Exception):  # the client may have disconnected
                    client.camera.position = camera.position
                    client.camera.look_at = camera.look_at

    def set_drag_handles(self, drag_handles: Mapping[str, Point], on_drag: DragCallback) -> None:
        """Set the draggable points and the callback of drags; see `poise.viewer.view_objects.DragHandles`.

        The handle "push" is drawn with an arrow while it is dragged.
        """
        with self._lock, self._server.atomic():
            if self._drag_handles is not None:
                self._drag_handles.remove()
            self._drag_handles = DragHandles(
                self._server, self._new_node("handles"), drag_handles, on_drag, self._robot_height
            )

    def show(self, view_frame: ViewFrame) -> None:
        """Show a frame; slow clients skip frames and receive the latest one."""
        with self._lock, self._server.atomic():
            if self._closed:
                return
            self._follow_robot(view_frame)
            for name, figure in self._figures.items():
                figure.set_visible(name in view_frame.poses)
                if name in view_frame.poses:
                    figure.set_poses(view_frame.poses[name])
                    figure.show_soles(view_frame.sole_pressure is not None)
            self._hide_coincident_ghost(view_frame)
            if self._held_box is not None and "robot" in self._figures and "robot" in view_frame.poses:
                self._held_box.show(self._figures["robot"].robot, view_frame.poses["robot"])
            if self._balance_marks is not None:
                self._balance_marks.show(view_frame)
            if self._plan_marks is not None:
                self._plan_marks.show(view_frame.plans)
            if self._sole_marks is not None:
                self._sole_marks.show(view_frame.sole_pressure)
            if self._marker_spheres is not None:
                self._marker_spheres.show(view_frame.markers)
            if self._drag_handles is not None:
                self._drag_handles.show(view_frame.drag_handles, view_frame.camera_target)
            drag_handles = self._drag_handles
        if drag_handles is not None:
            drag_handles.repeat_push()  # outside the lock: it calls foreign code

    def _hide_coincident_ghost(self, view_frame: ViewFrame) -> None:
        """Hide the links of the ghost that coincide with those of the robot."""
        robot, ghost = self._figures.get("robot"), self._figures.get("ghost")
        if robot is not None and ghost is not None and robot.robot is ghost.robot and "robot" in view_frame.poses:
            ghost.hide_coincident_links(view_frame.poses["robot"])

    @property
    def client_count(self) -> int:
        """Number of connected pages."""
        return len(self._server.get_clients())

    def close(self) -> None:
        """Stop the server; connected clients lose their view."""
        with self._lock:
            self._closed = True
        stop_viser(self._server)

    def _new_node(self, kind: str) -> str:
        """Return an unused node name: clients keep the poses of removed nodes by name."""
        self._nodes += 1
        return f"{WORLD_NODE}/{kind}{self._nodes}"

    def _follow_robot(self, view_frame: ViewFrame) -> None:
        """Move the world node opposite to the followed point m, which tracks the target p:  m' = (p - m) / LAG."""
        now, before = time.monotonic(), self._last_time
        self._last_time = now
        position = finite_array(view_frame.camera_target, 3)
        if position is None or (
            self._drag_handles is not None and self._drag_handles.is_dragging
        ):  # a dragged handle stays under the pointer
            return
        support = finite_array(view_frame.support, -1, 3)
        height = 0.0 if self._followed_point is None else float(self._followed_point[2])
        if support is not None and len(support):
            height = float(support[:, 2].mean())
        goal = np.array([position[0], position[1], height])
        if self._followed_point is None or float(np.linalg.norm(goal - self._followed_point)) > CAMERA_JUMP:
            self._followed_point = goal
        else:
            self._followed_point = self._followed_point + (1.0 - math.exp(-min(now - before, 1.0) / CAMERA_LAG)) * (
                goal - self._followed_point
            )
        self._world.position = -self._followed_point
        self._floor.follow(self._followed_point)

    def _frame_cameras(self, size: float, move: bool) -> None:
        """Set the initial camera for a robot of this height (m); with `move`, scale the cameras of present clients."""
        ratio, self._robot_height = size / self._robot_height, size
        direction = np.array(self._direction) / np.linalg.norm(self._direction)
        target = np.array([0.0, 0.0, 0.5 * size])
        camera = self._server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.look_at = target
        camera.position = target + direction * size / (2.0 * VIEW_FILL * math.tan(FIELD_OF_VIEW / 2.0))
        for client in self._server.get_clients().values() if move else ():
            with contextlib.suppress(Exception):  # a client may have sent an invalid camera, or have disconnected
                offset = client.camera.position - client.camera.look_at
                middle = client.camera.look_at * ratio
                client.camera.position = middle + ratio * offset
                client.camera.look_at = middle
