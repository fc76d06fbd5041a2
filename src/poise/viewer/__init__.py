"""Live 3D view in the browser: robots, contacts, targets and support polygon, drawn with viser.

`view` shows the robot of a running program; the studio builds its own page around a `Viewer`.

>>> with poise.view(robot) as view:
...     for step in poise.steps(controller, plant, seconds=5.0):
...         view(step)
"""

from poise.viewer.live_view import LiveView, view
from poise.viewer.view_frame import (
    Plan,
    Point,
    SolePressureFrame,
    ViewFrame,
    contact_force_arrows,
    force_arrows,
    joint_poses,
    pressure_point,
)
from poise.viewer.viewer import Viewer

__all__ = [
    "LiveView",
    "Plan",
    "Point",
    "SolePressureFrame",
    "ViewFrame",
    "Viewer",
    "contact_force_arrows",
    "force_arrows",
    "joint_poses",
    "pressure_point",
    "view",
]
