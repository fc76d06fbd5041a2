"""The studio: design, guide, push and compare in the browser."""

from poise.studio.hub import Hub
from poise.studio.web_server import Server

__all__ = [
    "Hub",
    "Server",
]
