"""viser as the studio wants it: on loopback, quiet, without panel, tunnel or visitors from other sites."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import rich
from viser import ViserServer

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
        server = ViserServer(host="127.0.0.1", port=port, verbose=False)
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
