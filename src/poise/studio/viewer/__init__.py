"""The studio's view in three dimensions: robots, ground, forces, what carries them, and points to drag.

`Scenery` is plain arrays, so that a simulation can make it; `Viewer` draws it, and brings viser with it only when asked
for.

>>> viewer = Viewer()
>>> viewer.figures({"robot": (robot, None)})
>>> viewer.show(Scenery.of(robot.stance("standing")))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.studio.viewer.scenery import Scenery

if TYPE_CHECKING:
    from poise.studio.viewer.viewer import Viewer

__all__ = ["Scenery", "Viewer"]


def __getattr__(name: str) -> Any:
    if name == "Viewer":
        from poise.studio.viewer.viewer import Viewer

        return Viewer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
