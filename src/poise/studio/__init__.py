"""Browser application to design, guide, push and compare motions of simulated robots.

`Hub` runs a scene in a simulation process, `Server` serves it to web browsers.
"""

from poise.studio.hub import Hub
from poise.studio.web_server import Server

__all__ = [
    "Hub",
    "Server",
]
