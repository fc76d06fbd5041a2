"""Viewer: robots, ground, forces and draggable points in the browser, drawn by viser.

`ViewFrame` is plain arrays, so that a simulation can make it; `Viewer` draws it, and brings viser with it only when
asked for.

>>> viewer = Viewer()
>>> viewer.set_figures({"robot": (robot, None)})
>>> viewer.show(ViewFrame.from_state(robot.stance("standing")))
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import PoiseError
from poise.extras import rich, viser
from poise.plants import SolidBox
from poise.robots import Robot
from poise.viewer.view_frame import Point, ViewFrame, finite_array
from poise.viewer.view_marks import BalanceMarks, MarkerSpheres, PlanMarks, SolePressureMarks
from poise.viewer.view_meshes import mesh_parts
from poise.viewer.view_objects import DragCallback, DragHandles, Floor, RobotFigure, Tint

if TYPE_CHECKING:
    from viser import ViserServer


# -- viser as the studio wants it ------------------------------------------------------------------------------------


#: Colours of the background, above and below (0 to 255): a light grey with a breath of blue, as in the pictures.
BACKGROUND_TOP, BACKGROUND_BOTTOM = (214, 221, 229), (240, 242, 244)
#: Messages that may go out at once. viser's 128 would tear a picture of two robots, which are two for each joint.
MESSAGE_WINDOW = 1024

#: What viser's page shows beside the scene: panel (a sheet below where it is narrow), notes, palette, dialogs. All
#: controls are in the studio's own page.
HIDDEN_ELEMENTS = ("Paper-root", "Notifications-root", "Spotlight-root", "Modal-root")
HIDING_STYLE = (
    f"{', '.join(f'.mantine-{name}' for name in HIDDEN_ELEMENTS)}, [data-dock-region] {{ display: none !important; }}"
)


def start_viser(port: int) -> ViserServer:
    """A server on 127.0.0.1; port 0 takes any that is free."""
    with _quiet_console():
        server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
    server._websock_server.get_message_buffer().max_window_size = MESSAGE_WINDOW
    _restrict_access(server)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server.gui.add_html(f"<style>{HIDING_STYLE}</style>")
    server.scene.world_axes.visible = False
    server.scene.configure_default_lights(enabled=False)
    server.scene.configure_environment_map(None)  # light from a picture takes seconds without a graphics card
    # Sky and sun, chosen by eye: white shells stay below white, and the side away from the sun keeps its shapes.
    server.scene.add_light_hemisphere(
        "/lights/sky", sky_color=(255, 255, 255), ground_color=(190, 192, 196), intensity=1.6
    )
    server.scene.add_light_directional(
        "/lights/sun", color=(255, 252, 246), intensity=2.6, position=(3.0, -0.5, 4.0), cast_shadow=False
    )
    rows = np.linspace(BACKGROUND_TOP, BACKGROUND_BOTTOM, 64).round().astype(np.uint8)
    server.scene.set_background_image(np.repeat(rows[:, None], 8, axis=1), format="png")
    return server


@contextlib.contextmanager
def _quiet_console() -> Iterator[None]:
    """viser says on the console where it listens, which is not where the studio is."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def stop_viser(server: ViserServer) -> None:
    with _quiet_console():
        server.stop()


def _restrict_access(server: ViserServer) -> None:
    """Any client could ask for a tunnel to the outside, and any web page may knock at a port of this machine.

    Browsers always say which site a page that connects is from; the studio's own server, which carries messages between
    pages it has checked and viser, says nothing. So only it may come in, and viser's own page, for looking into things.
    """
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    websockets = server._websock_server
    own_origins = {f"http://{host}:{server.get_port()}" for host in ("127.0.0.1", "localhost")}

    async def check(connection: Any) -> None:
        client = websockets._live_connections.get(connection.client_id)
        if client is not None and client.request is not None:
            origin = client.request.headers.get("Origin")
            if origin is not None and origin not in own_origins:
                await client.close(1008, "this site may not look into the studio")

    websockets.on_client_connect(check)


# -- Viewer ----------------------------------------------------------------------------------------------------------


#: Everything stands under this node. It moves against what is followed, so that the camera stays with the robot while
#: every client may turn and shift its own view.
WORLD_NODE = "/world"
#: Angle between the upper and the lower edge of the view (rad): a calm lens that still shows some ground.
FIELD_OF_VIEW = 0.6
#: Share of the view's height that the robot fills at first, and from where it is seen: from its front and right, and so
#: much from above that its soles are seen on stairs that it climbs.
VIEW_FILL, DEFAULT_DIRECTION = 0.62, (0.8, -0.9, 0.45)
#: The view follows with this lag (s): longer than a step sways, short enough to keep a walk in sight.
CAMERA_LAG = 0.5
#: A robot that is suddenly further away than this (m) was put there, and the view goes with it at once.
CAMERA_JUMP = 1.0


class Viewer:
    """A view of robots in browsers; see `poise.viewer.viewer`.

    All methods may be called from any thread; `show` is made for thirty times a second. Browsers connect through the
    studio's server, and however many there are and whatever they send, `show` neither waits for them nor fails.

    Args:
        port: on 127.0.0.1; 0: any that is free.
    """

    def __init__(self, port: int = 0) -> None:
        if not (isinstance(port, int) and 0 <= port < 65536):
            raise PoiseError(f"the port of the view is {port!r}; expected a whole number below 65536, 0 for any")
        self._server = start_viser(port)
        self.port: int = self._server.get_port()
        self._lock = threading.Lock()
        self._world = self._server.scene.add_frame(WORLD_NODE, show_axes=False)
        self._floor = Floor(self._server, f"{WORLD_NODE}/ground")
        self._figures: dict[str, RobotFigure] = {}
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
        """Which robots are shown, by name: in their own colours (None), or in one, with its opacity.

        >>> viewer.set_figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.8, 0.35))})
        """
        parts = {
            name: mesh_parts(robot) for name, (robot, _) in figures.items()
        }  # before the lock: it may take seconds
        with self._lock, self._server.atomic():
            before, self._figures = self._figures, {}
            for name, (robot, tint) in figures.items():
                unchanged = before.get(name)
                if unchanged is not None and (unchanged.robot, unchanged.tint) == (
                    robot,
                    tint,
                ):  # meshes take long to send
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

    def set_ground(self, boxes: Sequence[SolidBox], plane: pinocchio.SE3, obstacles: Sequence[SolidBox] = ()) -> None:
        """What the robots stand on: boxes on an endless plane (world_from_plane, z its normal); and what stands around
        them, which is seen through: a wall may be between the camera and a robot."""
        with self._lock, self._server.atomic():
            self._floor.set_ground(boxes, plane, obstacles)

    def set_camera_direction(self, direction: Point | None) -> None:
        """From where robots are seen, for clients to come and for those that are there; None: as usual. Who has turned
        his own view keeps it until that changes."""
        with self._lock:
            if (direction or DEFAULT_DIRECTION) == self._direction or self._closed:
                return
            self._direction = direction or DEFAULT_DIRECTION
            self._frame_cameras(self._robot_height, move=False)
            camera = self._server.initial_camera
            for client in self._server.get_clients().values():
                with contextlib.suppress(Exception):  # it may be gone
                    client.camera.position = camera.position
                    client.camera.look_at = camera.look_at

    def set_drag_handles(self, drag_handles: Mapping[str, Point], on_drag: DragCallback) -> None:
        """Points that can be dragged, and who is told; see `poise.viewer.view_objects`. "push" is an arrow."""
        with self._lock, self._server.atomic():
            if self._drag_handles is not None:
                self._drag_handles.remove()
            self._drag_handles = DragHandles(
                self._server, self._new_node("handles"), drag_handles, on_drag, self._robot_height
            )

    def show(self, view_frame: ViewFrame) -> None:
        """The present moment; the last one is what counts, and clients that are slow miss those between."""
        with self._lock, self._server.atomic():
            if self._closed:
                return
            self._follow_robot(view_frame)
            for name, figure in self._figures.items():
                figure.set_visible(name in view_frame.poses)
                if name in view_frame.poses:
                    figure.set_poses(view_frame.poses[name])
                    figure.show_soles(view_frame.sole_pressure is not None)
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
            drag_handles.repeat_push()  # without the lock: it calls others

    @property
    def client_count(self) -> int:
        """Number of pages that are connected."""
        return len(self._server.get_clients())

    def close(self) -> None:
        """Ends it; clients that are still there lose their view."""
        with self._lock:
            self._closed = True
        stop_viser(self._server)

    def _new_node(self, kind: str) -> str:
        """Name of a node that was never there: clients keep the poses of those that were."""
        self._nodes += 1
        return f"{WORLD_NODE}/{kind}{self._nodes}"

    def _follow_robot(self, view_frame: ViewFrame) -> None:
        """Moves the world against what is followed:  m' = (p - m) / LAG."""
        now, before = time.monotonic(), self._last_time
        self._last_time = now
        position = finite_array(view_frame.camera_target, 3)
        if position is None or (
            self._drag_handles is not None and self._drag_handles.is_dragging
        ):  # what is dragged stays under the hand
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
        """Cameras for a robot of this height (m): of clients to come, and of those that are there, in proportion."""
        ratio, self._robot_height = size / self._robot_height, size
        direction = np.array(self._direction) / np.linalg.norm(self._direction)
        target = np.array([0.0, 0.0, 0.5 * size])
        camera = self._server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.look_at = target
        camera.position = target + direction * size / (2.0 * VIEW_FILL * math.tan(FIELD_OF_VIEW / 2.0))
        for client in self._server.get_clients().values() if move else ():
            with contextlib.suppress(Exception):  # a client may have said nonsense about its camera, or be gone
                offset = client.camera.position - client.camera.look_at
                middle = client.camera.look_at * ratio
                client.camera.position = middle + ratio * offset
                client.camera.look_at = middle
