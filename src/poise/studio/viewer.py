"""Viewer: robots, ground, forces and draggable points in the browser, drawn by viser.

`Scenery` is plain arrays, so that a simulation can make it; `Viewer` draws it, and brings viser with it only when asked
for.

>>> viewer = Viewer()
>>> viewer.figures({"robot": (robot, None)})
>>> viewer.show(Scenery.of(robot.stance("standing")))
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
from poise.plants import Box
from poise.robots import Robot
from poise.studio.scenery import Point, Scenery, finite
from poise.studio.view_marks import Markers, Marks, Plans, Soles
from poise.studio.view_meshes import pieces
from poise.studio.view_objects import Floor, Gizmos, Moved, Shown, Tint

if TYPE_CHECKING:
    from viser import ViserServer


# -- viser as the studio wants it ------------------------------------------------------------------------------------


#: Colours of the background, above and below (0 to 255): a light grey with a breath of blue, as in the pictures.
ABOVE, BELOW = (214, 221, 229), (240, 242, 244)
#: Messages that may go out at once. viser's 128 would tear a picture of two robots, which are two for each joint.
TOGETHER = 1024

#: What viser's page shows beside the scene: panel (a sheet below where it is narrow), notes, palette, dialogs. All
#: controls are in the studio's own page.
SELECTORS = ("Paper-root", "Notifications-root", "Spotlight-root", "Modal-root")
HIDDEN = f"{', '.join(f'.mantine-{name}' for name in SELECTORS)}, [data-dock-region] {{ display: none !important; }}"


def serve(port: int) -> ViserServer:
    """A server on 127.0.0.1; port 0 takes any that is free."""
    with _silent():
        server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
    server._websock_server.get_message_buffer().max_window_size = TOGETHER
    _close(server)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server.gui.add_html(f"<style>{HIDDEN}</style>")
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
    rows = np.linspace(ABOVE, BELOW, 64).round().astype(np.uint8)
    server.scene.set_background_image(np.repeat(rows[:, None], 8, axis=1), format="png")
    return server


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """viser says on the console where it listens, which is not where the studio is."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def stop(server: ViserServer) -> None:
    with _silent():
        server.stop()


def _close(server: ViserServer) -> None:
    """Any client could ask for a tunnel to the outside, and any web page may knock at a port of this machine.

    Browsers always say which site a page that connects is from; the studio's own server, which carries messages between
    pages it has checked and viser, says nothing. So only it may come in, and viser's own page, for looking into things.
    """
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    websockets = server._websock_server
    own = {f"http://{host}:{server.get_port()}" for host in ("127.0.0.1", "localhost")}

    async def check(connection: Any) -> None:
        came = websockets._live_connections.get(connection.client_id)
        if came is not None and came.request is not None:
            origin = came.request.headers.get("Origin")
            if origin is not None and origin not in own:
                await came.close(1008, "this site may not look into the studio")

    websockets.on_client_connect(check)


# -- Viewer ----------------------------------------------------------------------------------------------------------


#: Everything stands under this node. It moves against what is followed, so that the camera stays with the robot while
#: every client may turn and shift its own view.
WORLD = "/world"
#: Angle between the upper and the lower edge of the view (rad): a calm lens that still shows some ground.
FIELD = 0.6
#: Share of the view's height that the robot fills at first, and from where it is seen: from its front and right, and so
#: much from above that its soles are seen on stairs that it climbs.
FILL, DIRECTION = 0.62, (0.8, -0.9, 0.45)
#: The view follows with this lag (s): longer than a step sways, short enough to keep a walk in sight.
LAG = 0.5
#: A robot that is suddenly further away than this (m) was put there, and the view goes with it at once.
JUMP = 1.0


class Viewer:
    """A view of robots in browsers; see `poise.studio.viewer`.

    All methods may be called from any thread; `show` is made for thirty times a second. Browsers connect through the
    studio's server, and however many there are and whatever they send, `show` neither waits for them nor fails.

    Args:
        port: on 127.0.0.1; 0: any that is free.
    """

    def __init__(self, port: int = 0) -> None:
        if not (isinstance(port, int) and 0 <= port < 65536):
            raise PoiseError(f"the port of the view is {port!r}; expected a whole number below 65536, 0 for any")
        self._server = serve(port)
        self.port: int = self._server.get_port()
        self._lock = threading.Lock()
        self._world = self._server.scene.add_frame(WORLD, show_axes=False)
        self._floor = Floor(self._server, f"{WORLD}/ground")
        self._figures: dict[str, Shown] = {}
        self._marks: Marks | None = None
        self._plans: Plans | None = None
        self._soles: Soles | None = None
        self._markers: Markers | None = None
        self._gizmos: Gizmos | None = None
        self._size = 1.5  # m, until there is a robot
        self._direction: Point = DIRECTION
        self._middle: Array | None = None
        self._last = 0.0
        self._nodes = 0
        self._closed = False
        self._frame(self._size, move=False)

    def figures(self, figures: Mapping[str, tuple[Robot, Tint | None]]) -> None:
        """Which robots are shown, by name: in their own colours (None), or in one, with its opacity.

        >>> viewer.figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.8, 0.35))})
        """
        found = {name: pieces(robot) for name, (robot, _) in figures.items()}  # before the lock: it may take seconds
        with self._lock, self._server.atomic():
            before, self._figures = self._figures, {}
            for name, (robot, tint) in figures.items():
                kept = before.get(name)
                if kept is not None and (kept.robot, kept.tint) == (robot, tint):  # meshes take long to send
                    self._figures[name] = before.pop(name)
                else:
                    self._figures[name] = Shown(self._server, self._fresh("figure"), robot, found[name], tint)
            for shown in before.values():
                shown.remove()
            size = max((shown.extent[1] for shown in self._figures.values()), default=self._size)
            for drawn in (self._marks, self._plans, self._soles, self._markers):
                if drawn is not None:
                    drawn.remove()
            self._marks = Marks(self._server, self._fresh("marks"), size)
            self._plans = Plans(self._server, self._fresh("plans"), size)
            self._soles = Soles(self._server, self._fresh("soles"), size)
            self._markers = Markers(self._server, self._fresh("markers"))
            self._middle = None
            if size != self._size:
                self._frame(size, move=True)

    def ground(self, boxes: Sequence[Box], plane: pinocchio.SE3, things: Sequence[Box] = ()) -> None:
        """What the robots stand on: boxes on an endless plane (world_from_plane, z its normal); and what stands around
        them, which is seen through: a wall may be between the camera and a robot."""
        with self._lock, self._server.atomic():
            self._floor.lay(boxes, plane, things)

    def look(self, direction: Point | None) -> None:
        """From where robots are seen, for clients to come and for those that are there; None: as usual. Who has turned
        his own view keeps it until that changes."""
        with self._lock:
            if (direction or DIRECTION) == self._direction or self._closed:
                return
            self._direction = direction or DIRECTION
            self._frame(self._size, move=False)
            camera = self._server.initial_camera
            for client in self._server.get_clients().values():
                with contextlib.suppress(Exception):  # it may be gone
                    client.camera.position = camera.position
                    client.camera.look_at = camera.look_at

    def gizmos(self, gizmos: Mapping[str, Point], moved: Moved) -> None:
        """Points that can be dragged, and who is told; see `poise.studio.view_objects`. "push" is an arrow."""
        with self._lock, self._server.atomic():
            if self._gizmos is not None:
                self._gizmos.remove()
            self._gizmos = Gizmos(self._server, self._fresh("gizmos"), gizmos, moved, self._size)

    def show(self, scenery: Scenery) -> None:
        """The present moment; the last one is what counts, and clients that are slow miss those between."""
        with self._lock, self._server.atomic():
            if self._closed:
                return
            self._follow(scenery)
            for name, shown in self._figures.items():
                shown.present(name in scenery.poses)
                if name in scenery.poses:
                    shown.place(scenery.poses[name])
                    shown.bare(scenery.underfoot is not None)
            if self._marks is not None:
                self._marks.show(scenery)
            if self._plans is not None:
                self._plans.show(scenery.plans)
            if self._soles is not None:
                self._soles.show(scenery.underfoot)
            if self._markers is not None:
                self._markers.show(scenery.markers)
            if self._gizmos is not None:
                self._gizmos.show(scenery.gizmos, scenery.follow)
            gizmos = self._gizmos
        if gizmos is not None:
            gizmos.insist()  # without the lock: it calls others

    def close(self) -> None:
        """Ends it; clients that are still there lose their view."""
        with self._lock:
            self._closed = True
        stop(self._server)

    def _fresh(self, kind: str) -> str:
        """Name of a node that was never there: clients keep the poses of those that were."""
        self._nodes += 1
        return f"{WORLD}/{kind}{self._nodes}"

    def _follow(self, scenery: Scenery) -> None:
        """Moves the world against what is followed:  m' = (p - m) / LAG."""
        now, before = time.monotonic(), self._last
        self._last = now
        place = finite(scenery.follow, 3)
        if place is None or (self._gizmos is not None and self._gizmos.held):  # what is dragged stays under the hand
            return
        support = finite(scenery.support, -1, 3)
        height = 0.0 if self._middle is None else float(self._middle[2])
        if support is not None and len(support):
            height = float(support[:, 2].mean())
        goal = np.array([place[0], place[1], height])
        if self._middle is None or float(np.linalg.norm(goal - self._middle)) > JUMP:
            self._middle = goal
        else:
            self._middle = self._middle + (1.0 - math.exp(-min(now - before, 1.0) / LAG)) * (goal - self._middle)
        self._world.position = -self._middle
        self._floor.under(self._middle)

    def _frame(self, size: float, move: bool) -> None:
        """Cameras for a robot of this height (m): of clients to come, and of those that are there, in proportion."""
        ratio, self._size = size / self._size, size
        direction = np.array(self._direction) / np.linalg.norm(self._direction)
        target = np.array([0.0, 0.0, 0.5 * size])
        camera = self._server.initial_camera
        camera.fov = FIELD
        camera.look_at = target
        camera.position = target + direction * size / (2.0 * FILL * math.tan(FIELD / 2.0))
        for client in self._server.get_clients().values() if move else ():
            with contextlib.suppress(Exception):  # a client may have said nonsense about its camera, or be gone
                away = client.camera.position - client.camera.look_at
                middle = client.camera.look_at * ratio
                client.camera.position = middle + ratio * away
                client.camera.look_at = middle
