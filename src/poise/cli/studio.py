"""``poise studio``: the application in the browser."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import webbrowser
from pathlib import Path

from poise.cli.options import integer_argument
from poise.extras import require

#: Where recordings and exports go.
OUTPUT_FOLDER = "poise-output"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="what to listen on; from elsewhere a token is needed")
    parser.add_argument(
        "--port", type=integer_argument, default=8080, metavar="N", help="0 for any free one (default 8080)"
    )
    parser.add_argument("--robot", default="g1", metavar="NAME|FILE", help="to begin with (default g1)")
    parser.add_argument("--scene", default="walk", metavar="NAME", help="to begin with (default walk)")
    parser.add_argument(
        "--out", type=Path, default=Path(OUTPUT_FOLDER), metavar="FOLDER", help="for recordings and exports"
    )
    parser.add_argument("--token", help="what opens the studio from elsewhere; made if none is given")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.set_defaults(action=_studio)


def _studio(options: argparse.Namespace) -> int:
    require("viser", "websockets")
    from poise.studio import Hub, Server, scenes  # here, so that help comes fast

    scenes.find_scene(options.scene)
    hub = Hub(options.robot, options.out, options.scene)
    server = Server(hub, options.host, options.port, options.token)
    stop_event = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop_event.set())
    try:
        hub.start()
        server.start()
        print(f"The studio is open at {server.url}   (Ctrl-C ends it; files go to {options.out})", flush=True)
        if not options.no_browser and sys.stdout.isatty():
            webbrowser.open(server.url)
        stop_event.wait()
    finally:
        server.stop()
        hub.stop()
    return 0
