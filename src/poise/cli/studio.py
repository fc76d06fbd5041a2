"""Command ``poise studio``: start the web server of the studio and open it in the browser."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path

from poise.cli.options import integer_argument
from poise.extras import require

#: Default folder for recordings and exports.
OUTPUT_FOLDER = "poise-output"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise studio`` to a parser."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; other machines need the token")
    parser.add_argument(
        "--port", type=integer_argument, default=8080, metavar="N", help="port; 0: any free port (default 8080)"
    )
    parser.add_argument("--robot", default="g1", metavar="NAME|FILE", help="robot to load at the start (default g1)")
    parser.add_argument("--scene", default="walk", metavar="NAME", help="scene to open at the start (default walk)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(OUTPUT_FOLDER),
        metavar="FOLDER",
        help=f"folder for recordings and exports (default {OUTPUT_FOLDER})",
    )
    parser.add_argument("--token", help="access token (default: random; none if only this machine has access)")
    parser.add_argument("--no-browser", action="store_true", help="print the address, do not open the browser")
    parser.set_defaults(action=_studio)


def _studio(options: argparse.Namespace) -> int:
    require("viser", "websockets")
    from poise.studio import Hub, Server, scenes  # imported late so that the help appears fast

    scenes.find_scene(options.scene)
    stop_event = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop_event.set())
    with ExitStack() as stack:
        hub = Hub(options.robot, options.out, options.scene)
        stack.callback(hub.stop)  # also if the port is in use
        server = Server(hub, options.host, options.port, options.token)
        stack.callback(server.stop)
        hub.start()
        server.start()
        print(f"The studio is open at {server.url}   (press Ctrl-C to stop; files go to {options.out})", flush=True)
        if not options.no_browser and sys.stdout.isatty():
            webbrowser.open(server.url)
        stop_event.wait()
    return 0
