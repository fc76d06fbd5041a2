"""What can be said about a request before anything is loaded: for who plans thousands of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from poise.behaviors import NavigateSettings, ReachSettings, SquatSettings, UprightSettings
from poise.devices import Script
from poise.robots.loading import described
from poise.runs.regulated import settings_on_servos
from poise.runs.request import Request, filled
from poise.runs.walk import manner_of

SETTINGS: dict[str, Any] = {
    "reach": ReachSettings,
    "stand": UprightSettings,
    "squat": SquatSettings,
    "navigate": NavigateSettings,
}


@cache
def check_robot(name: str) -> None:
    """PoiseError for a robot that there is not."""
    described(name)


def check(request: Request) -> None:
    """PoiseError for a robot, a style, a setting or a script that there is not."""
    check_robot(request.robot)
    if request.regulated:
        filled(settings_on_servos(request.behavior), request.settings)
    elif request.behavior == "walk":
        manner_of(request)
    else:
        filled(SETTINGS[request.behavior], request.settings)
    if request.script:
        Script.load(request.script)
